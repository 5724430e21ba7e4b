"""OpenFst binary files that are not trusted: read in a child process with limits on its time and memory.

`read_untrusted` is what a server calls. OpenFst may crash on damaged bytes, allocate whatever a header says,
or hold the interpreter for minutes; all that happens in `python -m galloon.learners.automata.untrusted`,
which gets the bytes on its standard input and answers with JSON on its standard output.
"""

import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from galloon.learners.automata.expert import ExplicitAutomaton
from galloon.learners.automata.limits import AutomatonLimits
from galloon.learners.errors import BudgetExceeded, InvalidInput

CHILD = "galloon.learners.automata.untrusted"
PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT")


def read_untrusted(
    data: bytes, limits: AutomatonLimits | None = None, *, ignore_weights: bool = False
) -> ExplicitAutomaton:
    """The automaton of an untrusted OpenFst binary file, or an error that says what is wrong with it."""
    limits = limits or AutomatonLimits()
    limits.check_bytes(len(data))
    request = json.dumps({**asdict(limits), "ignore_weights": ignore_weights})
    try:
        child = subprocess.run(  # noqa: S603  # our own interpreter and module; the data goes in by stdin
            [sys.executable, "-m", CHILD, request],
            input=data,
            capture_output=True,
            timeout=limits.seconds,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ}
            | {"OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BudgetExceeded(
            "seconds to read the automaton", math.inf, limits.seconds, "send a smaller one or raise the limit"
        ) from error
    answer = _answer(child.stdout) if child.returncode == 0 else None
    if answer is None:
        raise InvalidInput(
            "OpenFst could not read the automaton: the bytes are damaged, or too much for the limits"
        )
    return _automaton(answer)


def _answer(text: bytes) -> Mapping[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _automaton(answer: Mapping[str, Any]) -> ExplicitAutomaton:
    if "limit" in answer:
        raise BudgetExceeded(
            answer["limit"], answer["needed"], answer["allowed"], "send a smaller one or raise the limit"
        )
    if "problem" in answer:
        raise InvalidInput(answer["problem"])
    return ExplicitAutomaton(
        answer["states"],
        answer["initial"],
        tuple(answer["finals"]),
        np.array(answer["sources"], dtype=np.int32),
        np.array(answer["targets"], dtype=np.int32),
        tuple(answer["names"]),
    )


def _in_the_child(request: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
    """Read under the limits; what is wrong becomes part of the answer, and a crash stays in here."""
    ignore_weights = bool(request["ignore_weights"])
    limits = AutomatonLimits(**{name: value for name, value in request.items() if name != "ignore_weights"})
    seconds = max(1, round(limits.seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Imported under the limits, and only here: the parent never loads OpenFst for this.
    from galloon.learners.automata.openfst import read_binary

    try:
        automaton = read_binary(data, ignore_weights=ignore_weights, limits=limits)
    except BudgetExceeded as error:
        return {"limit": error.limit, "needed": error.needed, "allowed": error.allowed}
    except InvalidInput as error:
        return {"problem": str(error)}
    return {
        "states": automaton.state_count,
        "initial": automaton.initial,
        "finals": list(automaton.finals),
        "sources": automaton.sources.tolist(),
        "targets": automaton.targets.tolist(),
        "names": list(automaton.names),
    }


if __name__ == "__main__":
    print(json.dumps(_in_the_child(json.loads(sys.argv[1]), sys.stdin.buffer.read())))
