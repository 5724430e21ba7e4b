"""Galloon: weaves the outputs of several recognisers into one text, and learns whom to trust where.

`galloon.learners` is the science and stands alone, `galloon.daemon` serves it, `galloon.clients` talks to
the daemon, `galloon.v1` is the wire contract. The folders lie at the root of the repository.
"""

__version__ = "0.1.0"
