"""`python -m tests.cluster.replay URL`: every learner of the store from its first entry on; digests as JSON."""

import json
import sys
import time

from galloon.daemon.learner.fold import fold
from galloon.daemon.learner.history import History
from galloon.daemon.learner.learner import Learner
from galloon.daemon.limits import Limits
from galloon.daemon.store.postgres_reader import PostgresReader
from galloon.learners import state
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec

if __name__ == "__main__":
    reader = PostgresReader(sys.argv[1])
    digests = {}
    for stored in reader.learners():
        learner = Learner(stored.name, CombinerSpec.from_json(stored.spec), build, Limits(), time.monotonic)
        learner.read_from(History(reader, stored.key))
        fold(learner, reader.journal(stored.key, 0))
        digests[stored.name] = state.digest(learner.capture())
    print(json.dumps(digests))
