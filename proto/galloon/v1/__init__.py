"""The wire contract, with its generated code."""
