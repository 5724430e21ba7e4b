"""Which colour means which system, in plots and in the report alike: `colours`.

Colours of Okabe and Ito, which people who see few colours can tell apart; galloon is always the same blue.
"""

from collections.abc import Sequence

from galloon.clients.replay.names import GALLOON, UNIFORM, VOTE

FIXED = {GALLOON: "#0072b2", VOTE: "#d55e00", UNIFORM: "#8a8a8a"}
ENGINES = ("#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7b61c9", "#8c6d46", "#c0504d", "#5f9ea0")
BESIDE = ("#4a90c2", "#7fb2d6")  # other settings of galloon: paler


def colours(engines: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """A colour for each name; engines by their place, so that a picture of some agrees with one of all."""
    by_place = {name: ENGINES[place % len(ENGINES)] for place, name in enumerate(engines)}
    beside = [name for name in names if name not in FIXED and name not in by_place]
    paler = {name: BESIDE[place % len(BESIDE)] for place, name in enumerate(beside)}
    return {name: FIXED.get(name) or by_place.get(name) or paler[name] for name in names}
