"""Why each token was chosen: `explain` makes a row of each slot from a choice with alternatives.

`show_explanation` prints it, `explanation_to_json` is for programs. A row holds what the daemon sent: the token,
whose it was, how probable it was, and who offered what instead.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from galloon.clients.results import Choice

NULL = "∅"


@dataclass(frozen=True, slots=True)
class Offer:
    """A token on offer in a slot, by whom, and its probability there (None where the learner cannot tell)."""

    token: str
    experts: tuple[str, ...]
    probability: float | None


@dataclass(frozen=True, slots=True)
class SlotReason:
    """One slot: the chosen offer first, the others after it, most probable first."""

    slot: int
    expert: str  # that the chosen token is credited to
    offers: tuple[Offer, ...]

    @property
    def token(self) -> str:
        return self.offers[0].token

    @property
    def unanimous(self) -> bool:
        return len(self.offers) == 1


def explain(choice: Choice, experts: tuple[str, ...]) -> tuple[SlotReason, ...]:
    """The slots of a choice that was asked for with alternatives; `experts` are those of the stream's opening.

    A learner may have further experts of its own, such as a scorer: they are known by what they offered elsewhere.
    """
    others: dict[int, list[Offer]] = {}
    own = (name for entry in choice.alternatives for name in entry.experts)
    everyone = tuple(dict.fromkeys((*experts, *own)))
    for entry in choice.alternatives:
        offer = Offer(entry.token, entry.experts, _known(entry.probability))
        others.setdefault(entry.slot, []).append(offer)
    reasons = []
    for slot, (token, expert, probability) in enumerate(
        zip(choice.tokens, choice.experts, choice.probabilities, strict=True)
    ):
        instead = others.get(slot, [])
        elsewhere = {name for offer in instead for name in offer.experts}
        agreed = tuple(name for name in everyone if name not in elsewhere) or (expert,)
        reasons.append(SlotReason(slot, expert, (Offer(token, agreed, _known(probability)), *instead)))
    return tuple(reasons)


def show_explanation(utterance_id: str, choice: Choice, experts: tuple[str, ...], console: Console) -> None:
    """Print the slots of one utterance: agreed ones on one line, the others with what spoke for what."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    agreed: list[SlotReason] = []
    for reason in explain(choice, experts):
        if reason.unanimous:
            agreed.append(reason)
            continue
        _add_agreed(table, agreed)
        agreed = []
        for rank, offer in enumerate(reason.offers):
            shown = rank == 0
            table.add_row(
                str(reason.slot) if shown else "",
                "▸" if shown else "",
                Text(offer.token or NULL, style="bold" if shown else "dim"),
                _percent(offer.probability),
                ", ".join(offer.experts)
                + (f"  → {reason.expert}" if shown and len(offer.experts) > 1 else ""),
            )
    _add_agreed(table, agreed)
    console.print(f"[bold]{utterance_id}[/bold], after {choice.lessons:,} lessons: {escape(choice.text)}")
    console.print(table)


def _add_agreed(table: Table, agreed: list[SlotReason]) -> None:
    if agreed:
        slots = str(agreed[0].slot) + (f"–{agreed[-1].slot}" if len(agreed) > 1 else "")
        text = " ".join(reason.token or NULL for reason in agreed)
        table.add_row(slots, "", Text(text), "", "all agree", style="dim")


def explanation_to_json(choice: Choice, experts: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {
            "slot": reason.slot,
            "token": reason.token,
            "expert": reason.expert,
            "offers": [
                {"token": offer.token, "experts": list(offer.experts), "probability": offer.probability}
                for offer in reason.offers
            ],
        }
        for reason in explain(choice, experts)
    ]


def _percent(probability: float | None) -> str:
    return "–" if probability is None else f"{100 * probability:.1f} %"


def _known(probability: float) -> float | None:
    return probability if isfinite(probability) else None
