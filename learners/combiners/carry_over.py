"""A learner that goes on with other engines: `carry_over` makes it from the state that there is, without its
history.

An engine that is added has slept until now: it has no record, and the prior of the other engines. One that is
removed takes its record and its weights with it; its place stays empty, so that nothing that was learned of the
others has to move. What was learned of words, letters and tokens, of the votes and of the offer model stays.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners import state
from galloon.learners.combiners.contract import Combiner
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.combiners.text import STATE_VERSION, TextCombiner
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels.quantiles import RING
from galloon.learners.lattices.scales import SCALES_BY_PLACE, fresh_scales
from galloon.learners.present import MANY

REBUILD = "rebuild the learner from its history"
# Arrays with a row for each engine, in the order of the places.
BY_PLACE = (
    "confidence.seen",
    "confidence.bucket_borders",
    "confidence.right",
    "confidence.total",
    "changes.moments",
    "changes.found",
    *SCALES_BY_PLACE,
)


def carry_over(combiner: Combiner, spec: CombinerSpec) -> Combiner:
    """The combiner of a spec that differs in its engines alone, with what this one has learned of those that
    stay.
    """
    if not isinstance(combiner, TextCombiner):
        raise InvalidInput("learners on windows and automata carry nothing over", "engines", REBUILD)
    before = combiner.spec
    for name in CombinerSpec.__match_args__:
        if name not in ("engines", "answer") and getattr(before, name) != getattr(spec, name):
            raise InvalidInput("cannot be carried over", name, REBUILD)
    new = tuple(name for name in spec.engines if name not in before.engines)
    left = [name not in spec.engines for name in combiner.roster]
    roster = (
        *(
            _vacant(place) if gone else name
            for place, (name, gone) in enumerate(zip(combiner.roster, left, strict=True))
        ),
        *new,
    )
    if len(roster) > MANY or len(combiner.roster) > MANY:
        raise InvalidInput(f"more than {MANY} engines, those that left included", "engines", REBUILD)
    made = TextCombiner(spec)
    made.restore(_grown(combiner, made, roster, np.flatnonzero(~np.array(left))))
    return made


def _vacant(place: int) -> str:
    """The name of a place whose engine has left: one that no engine can have."""
    return f"\0{place}"


def _grown(
    combiner: TextCombiner, made: TextCombiner, roster: tuple[str, ...], kept: NDArray[np.int64]
) -> bytes:
    """The state of a combiner on another roster; `kept` are the places of those that stay."""
    found = state.unpack(combiner.to_bytes(), "text_combiner", STATE_VERSION)
    old, players, derived = dict(found.arrays), len(combiner.roster), len(combiner.derived)
    joined = len(roster) - players
    columns = [*kept, *range(players, players + derived)]
    places = [*kept, *range(len(roster), len(roster) + derived)]

    def by_player(array: NDArray[Any], fresh: float = 0.0) -> NDArray[Any]:
        grown = np.full((*array.shape[:-1], len(roster) + derived), fresh, dtype=array.dtype)
        grown[..., places] = array[..., columns]
        return grown

    ordinary = float(combiner.priors[0])
    grown = {name: by_player(old[name]) for name in ("contexts.scores", "contexts.sums")}
    grown |= {name: by_player(old[name]) for name in ("expert_gains", "expected_gains")}
    grown["priors"] = by_player(combiner.priors, ordinary)
    made.begin(roster, grown["priors"])
    fresh = {
        **fresh_scales(len(roster)),
        "agreement.changed": np.zeros(len(roster), dtype=np.bool_),
        **state.unpack(made.to_bytes(), "text_combiner", STATE_VERSION).arrays,
    }
    for name in (name for name in BY_PLACE if name in old):
        grown[name] = fresh[name].copy()
        grown[name][kept] = old[name][kept]
    grown["confidence.recent"] = _rings(old["confidence.recent"], grown["confidence.seen"], kept, kept)
    grown |= _agreement(combiner, made, old, fresh, [combiner.roster[place] for place in kept])
    meta = {**found.meta, "spec": made.spec.to_json(), "roster": roster}
    empty = [[0, 0] for _ in range(joined)]
    meta["writing"] = [
        [pair if place in kept else [0, 0] for place, pair in enumerate(kind)] + empty
        for kind in found.meta["writing"]
    ]
    return state.pack("text_combiner", STATE_VERSION, meta, {**old, **grown})


def _agreement(
    combiner: TextCombiner,
    made: TextCombiner,
    old: Mapping[str, NDArray[Any]],
    fresh: Mapping[str, NDArray[Any]],
    kept: list[str],
) -> dict[str, NDArray[Any]]:
    """What agreement says of each engine, whose rows are in the order of names."""
    before, after = combiner.agreement_rows(), made.agreement_rows()
    rows, places = [before[name] for name in kept], [after[name] for name in kept]
    grown = {}
    names = [
        name for name in fresh if name.startswith("agreement.") and fresh[name].shape[:1] == (len(after),)
    ]
    for name in names:
        if name in old and name not in ("agreement.first", "agreement.ring"):
            grown[name] = fresh[name].copy()
            grown[name][places] = old[name][rows]
    moved = dict(zip(rows, places, strict=True))
    first = fresh["agreement.first"].copy()
    for row, place in moved.items():
        first[place] = moved.get(
            int(old["agreement.first"][row]), place
        )  # a copy of one that has left stands alone
    ring = _rings(old["agreement.ring"], grown["agreement.seen"], np.array(rows), np.array(places))
    return {**grown, "agreement.first": first, "agreement.ring": ring}


def _rings(
    rings: NDArray[np.float64],
    seen: NDArray[np.int64],
    rows: NDArray[np.int64],
    places: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Recent confidences, as wide as the engine that gave most."""
    width = min(RING, int(seen.max(initial=0)))
    grown = np.zeros((len(seen), width))
    grown[places] = rings[rows, :width]
    return grown
