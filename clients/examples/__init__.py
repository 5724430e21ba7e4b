"""Examples that run: `python -m galloon.clients.examples.asynchronous [HOST:PORT]`, and `...blocking`."""
