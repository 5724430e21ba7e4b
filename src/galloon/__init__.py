"""Galloon: weaves the outputs of several recognisers into one text, and learns whom to trust where.

    from galloon import BlockingClient, Spec, TrueText, Utterance

What programs need can be imported from here, and is loaded when it is first used: the client (`Client` for event
loops, `BlockingClient` for everybody else) and the values that go in and out. `galloon.learners` is the science
and stands alone, `galloon.daemon` serves it, `galloon.clients` talks to the daemon, `galloon.codec` and
`galloon.v1` are what travels between them. The folders lie at the root of the repository.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from galloon.clients.api.answered import Answered
    from galloon.clients.api.blocking import BlockingClient
    from galloon.clients.api.client import Client
    from galloon.clients.api.connection import Backoff, Connection
    from galloon.clients.api.errors import ClientError
    from galloon.clients.api.stream import StreamOptions
    from galloon.codec.answer import Choice, Lesson
    from galloon.codec.explanation import Explanation
    from galloon.codec.feedback import Withdrawn
    from galloon.codec.learner import LearnerInfo, Statistics
    from galloon.learners.combiners.contract import Score, ShownGains, TrueText, TrueTokens
    from galloon.learners.combiners.spec import CombinerSpec as Spec
    from galloon.learners.observation import ExpertOutput as EngineOutput
    from galloon.learners.observation import Hypothesis, Lattice, Utterance, Word

__version__ = "0.1.0"

# Where each name lives; the list above says the same to type checkers, and a test holds them together.
_PLACES = {
    "Answered": "clients.api.answered",
    "Backoff": "clients.api.connection",
    "BlockingClient": "clients.api.blocking",
    "Choice": "codec.answer",
    "Client": "clients.api.client",
    "ClientError": "clients.api.errors",
    "Connection": "clients.api.connection",
    "EngineOutput": "learners.observation:ExpertOutput",
    "Explanation": "codec.explanation",
    "Hypothesis": "learners.observation",
    "Lattice": "learners.observation",
    "LearnerInfo": "codec.learner",
    "Lesson": "codec.answer",
    "Score": "learners.combiners.contract",
    "ShownGains": "learners.combiners.contract",
    "Spec": "learners.combiners.spec:CombinerSpec",
    "Statistics": "codec.learner",
    "StreamOptions": "clients.api.stream",
    "TrueText": "learners.combiners.contract",
    "TrueTokens": "learners.combiners.contract",
    "Utterance": "learners.observation",
    "Withdrawn": "codec.feedback",
    "Word": "learners.observation",
}
__all__ = [
    "Answered",
    "Backoff",
    "BlockingClient",
    "Choice",
    "Client",
    "ClientError",
    "Connection",
    "EngineOutput",
    "Explanation",
    "Hypothesis",
    "Lattice",
    "LearnerInfo",
    "Lesson",
    "Score",
    "ShownGains",
    "Spec",
    "Statistics",
    "StreamOptions",
    "TrueText",
    "TrueTokens",
    "Utterance",
    "Withdrawn",
    "Word",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'galloon' has no attribute {name!r}")
    module, _, inside = _PLACES[name].partition(":")
    found: object = getattr(import_module(f"galloon.{module}"), inside or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
