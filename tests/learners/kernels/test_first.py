"""What set-up compiles first is all that the default learner calls: no first round waits for a compiler."""

import gzip
import json
import subprocess
import sys

from galloon.clients.samples import ocr_sample

# Prints the compiled signatures of all kernels that Python has called.
TELL = """
import sys
from numba.core.dispatcher import Dispatcher
called = {
    f"{kernel.py_func.__module__.rsplit('.', 1)[1]}.{kernel.py_func.__name__}{signature}"
    for name, module in list(sys.modules.items()) if name.startswith("galloon.learners.kernels.")
    for kernel in vars(module).values() if isinstance(kernel, Dispatcher) for signature in kernel.signatures
}
print(*sorted(called), sep="\\n")
"""
WARM = "from galloon.learners.kernels import warm_up_first; warm_up_first()"
PLAY = """
import json, sys
from galloon import Spec, TrueText, Utterance
from galloon.learners.combiners.build import build
lines = json.load(sys.stdin)
combiner = build(Spec(engines=tuple(lines[0]["said"])))
for number, line in enumerate(lines):
    choice = combiner.choose(Utterance.of_texts(str(number), line["said"]), number)
    combiner.observe(choice.memory, view=choice.view)
    combiner.learn(choice.memory, TrueText(line["target"]), view=choice.view)
"""


def test_set_up_compiles_first_whatever_the_default_learner_calls():
    with gzip.open(ocr_sample(), "rt", encoding="utf-8") as file:
        records = [json.loads(next(file)) for _ in range(30)]
    lines = [
        {"said": {name: said["text"] for name, said in record["experts"].items()}, "target": record["target"]}
        for record in records
    ]
    needed = _called(PLAY, json.dumps(lines))
    assert len(needed) > 5
    assert needed <= _called(WARM)


def _called(program: str, given: str = "") -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program + TELL], input=given, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split("\n")) - {""}
