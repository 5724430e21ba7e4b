"""`python -m tests.cluster.replay URL`: every learner of the store from its first entry on, as JSON.

Of each the digest of its state, and how often each utterance was taught.
"""

import json
import sys
import time
from collections import Counter

from galloon.daemon.learner.events import Taught, from_entry
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
    found = {}
    for stored in reader.learners():
        learner = Learner(stored.name, CombinerSpec.from_json(stored.spec), build, Limits(), time.monotonic)
        learner.read_from(History(reader, stored.key))
        fold(learner, reader.journal(stored.key, 0))
        events = (from_entry(entry) for entry in reader.journal(stored.key, 0))
        taught = Counter(event.id for event in events if isinstance(event, Taught))
        found[stored.name] = {"digest": state.digest(learner.capture()), "taught": taught}
    print(json.dumps(found))
