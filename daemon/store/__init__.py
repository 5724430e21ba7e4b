"""Where learners are durable: the protocol, the journal, SQLite."""
