"""The Python client and the commands."""
