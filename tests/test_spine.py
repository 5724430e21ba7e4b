"""README's program, followed through client and daemon: it passes the spine's functions in the order of the walk.

The walk stands in docs/architecture.md: whoever renames or moves one of them changes it too.
"""

import asyncio
import queue
import re
import sys
import threading
from pathlib import Path
from types import FrameType

from galloon.learners.kernels import warm_up
from tests.daemon.serving import serving

ROOT = Path(__file__).parents[1]
CHOICE = (
    "CombineStream.choose",
    "Stream.receive",
    "Learner.choose",
    "decode_utterance",
    "TextCombiner.choose",
    "align",
    "OfferModel.score",
    "TiedLearner.choose",
    "Learner.apply",
    "Journal.append",
    "Stream.send",
)
LESSON = (
    "CombineStream.learn",
    "Stream.receive",
    "Learner.teach",
    "Journal.append",
    "Learner.apply",
    "TextCombiner.learn",
    "align_target",
    "Stream.send",
)
SPINE = {*CHOICE, *LESSON}


def test_a_choice_and_its_lesson_pass_the_spine_in_order(tmp_path):
    passed = _passed(_readme_program(), tmp_path)
    begin, lesson = passed.index(CHOICE[0]), passed.index(LESSON[0])
    assert _first_times(passed[begin:lesson]) == list(CHOICE)
    assert _first_times(passed[lesson:]) == list(LESSON)


def test_the_architecture_walks_along_the_spine():
    """Every name stands there, numbered, with its file."""
    walk = (ROOT / "docs" / "architecture.md").read_text()
    steps = re.findall(r"^(\d+)\. `([\w.]+)` \(`([\w/.]+)`\)", walk, flags=re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert {name for _, name, _ in steps} == SPINE
    for _, name, file in steps:
        assert re.search(rf"def {name.rpartition('.')[2]}\(", (ROOT / file).read_text()), name


def _readme_program() -> str:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    return program


def _passed(program: str, data_dir: Path) -> list[str]:
    """The spine's functions as they are entered, by any thread, while the program runs against a daemon."""
    warm_up()
    passed: list[str] = []
    address: queue.SimpleQueue[str] = queue.SimpleQueue()
    stop = threading.Event()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_qualname in SPINE and "galloon" in code.co_filename:
            passed.append(code.co_qualname)

    async def serve() -> None:
        async with serving(data_dir) as daemon:
            address.put(daemon.app.address)
            await asyncio.to_thread(stop.wait)

    daemon = threading.Thread(target=lambda: asyncio.run(serve()))
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        daemon.start()
        exec(program.replace("127.0.0.1:7410", address.get(timeout=60)), {})  # our own README
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        stop.set()
        daemon.join()
    return passed


def _first_times(passed: list[str]) -> list[str]:
    """Each name once: a coroutine is entered again whenever it goes on."""
    return list(dict.fromkeys(passed))
