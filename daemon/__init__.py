"""The server around the learners."""
