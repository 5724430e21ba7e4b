"""Why a text was chosen, for people and programs: `show_explanation` and `explanation_to_json`.

People see agreed slots on one line, and of each other slot every offer with what the scorer counts for and against
it, and the contexts that the learner trusted in. Programs get all that the daemon told.
"""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from galloon.codec.explanation import Explanation, SlotExplanation
from galloon.learners.combiners.explanation import WeighedOffer

NULL = "∅"
REASONS, CONTEXTS = 3, 3  # shown to people


def show_explanation(name: str, explanation: Explanation, console: Console) -> None:
    """Print the slots of one utterance, which people know under this name."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    agreed: list[SlotExplanation] = []
    for slot in explanation.slots:
        if len(slot.offers) == 1:
            agreed.append(slot)
            continue
        _add_agreed(table, agreed)
        agreed = []
        _add_contested(table, slot)
    _add_agreed(table, agreed)
    since = f", explained {explanation.lessons_since:,} later" if explanation.lessons_since else ""
    lessons = f"after {explanation.lessons:,} lessons{since}"
    console.print(
        f"[bold]{escape(name)}[/bold], {lessons}: {escape(explanation.text)}", highlight=False, soft_wrap=True
    )
    if not explanation.detailed:
        console.print("The daemon remembers the answer alone; ask sooner to see what was on offer.")
    console.print(table)
    if explanation.log_probability:
        console.print(f"log probability of the path: {explanation.log_probability:.2f}", highlight=False)


def explanation_to_json(explanation: Explanation) -> dict[str, Any]:
    return {
        "id": explanation.id,
        "round": explanation.round,
        "state": explanation.state,
        "text": explanation.text,
        "log_probability": explanation.log_probability,
        "lessons": explanation.lessons,
        "lessons_since": explanation.lessons_since,
        "detailed": explanation.detailed,
        "slots": [_slot_to_json(slot) for slot in explanation.slots],
    }


def _slot_to_json(slot: SlotExplanation) -> dict[str, Any]:
    return {
        "slot": slot.slot,
        "token": slot.token,
        "expert": slot.expert,
        "probability": slot.probability,
        "offers": [
            {
                "token": offer.text,
                "experts": list(offer.experts),
                "probability": offer.probability,
                "score": offer.score,
                "reasons": [{"phrase": reason.phrase, "part": reason.part} for reason in offer.reasons],
            }
            for offer in slot.offers
        ],
        "trust": dict(slot.trust),
        "contexts": [{"name": context.name, "weight": context.weight} for context in slot.contexts],
    }


def _add_contested(table: Table, slot: SlotExplanation) -> None:
    """An offer a row; a slot whose offers are forgotten has one row."""
    offers = slot.offers or (WeighedOffer(slot.token, (slot.expert,), slot.probability),)
    for rank, offer in enumerate(offers):
        shown = rank == 0
        table.add_row(
            str(slot.slot) if shown else "",
            "▸" if shown else "",
            Text(offer.text or NULL, style="bold" if shown else "dim"),
            _percent(offer.probability),
            ", ".join(offer.experts) + (f" → {slot.expert}" if shown and len(offer.experts) > 1 else ""),
        )
        reasons = (f"{reason.part:+.2f} {reason.phrase}" for reason in offer.reasons[:REASONS])
        _add_remark(table, ", ".join(reasons))
    contexts = (f"{context.name} {_percent(context.weight)}" for context in slot.contexts[:CONTEXTS])
    _add_remark(table, "; ".join(contexts), "looking at ")


def _add_remark(table: Table, text: str, lead: str = "") -> None:
    if text:
        table.add_row("", "", "", "", Text(lead + text, style="dim"))


def _add_agreed(table: Table, agreed: list[SlotExplanation]) -> None:
    if agreed:
        slots = str(agreed[0].slot) + (f"–{agreed[-1].slot}" if len(agreed) > 1 else "")
        text = " ".join(slot.token or NULL for slot in agreed)
        table.add_row(slots, "", Text(text), "", "all agree", style="dim")


def _percent(probability: float | None) -> str:
    return "–" if probability is None else f"{100 * probability:.1f} %"
