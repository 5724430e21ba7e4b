"""The Python client: asynchronous, blocking, and what it answers."""
