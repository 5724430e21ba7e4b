"""Where messages of the wire stop: questions and feedback go out, answers come in, specs go both ways."""
