"""The tied learner: weights chosen by what can be seen before choosing, shared by all positions.

`TiedLearner` (n = 1) mixes specialists of contexts from coarse to fine; `bounds` are its theorems;
`estimates` turn partial feedback into losses. `TiedWindows` is the n-gram version for few contexts.
"""

from galloon.learners.tied.learner import MetContexts, SlotView, TiedChoice, TiedLearner, TiedMemory
from galloon.learners.tied.windows import TiedWindows, WindowsChoice

__all__ = [
    "MetContexts",
    "SlotView",
    "TiedChoice",
    "TiedLearner",
    "TiedMemory",
    "TiedWindows",
    "WindowsChoice",
]
