"""A few lives whose every write is traced: clean ends, kills, checkpoints. Run by `power_loss` on the
faulty disk.
"""

import sys
from pathlib import Path
from random import Random

from galloon.learners.kernels import warm_up
from tests.fault.lives import Lives


def main() -> None:
    data_dir, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warm_up()
    lives, random = Lives(data_dir, seed, checkpoint_pages=40), Random(seed)
    lives.live(rounds=rounds)  # ends by itself: the log is checkpointed and removed
    lives.live(failpoints=f"journal.after_sync=kill@{random.randint(10, 30)}")
    lives.live(failpoints=f"snapshot.after_sync=kill@{random.randint(1, 2)}")
    lives.live(rounds=rounds)


if __name__ == "__main__":
    main()
