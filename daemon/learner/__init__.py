"""One learner of the daemon: its work queue, its rounds, its events, its books."""
