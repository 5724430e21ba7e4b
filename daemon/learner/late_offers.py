"""Outputs that come later than others of their utterance: `joined` is the whole utterance with them."""

from galloon.codec.errors import InvalidMessage
from galloon.codec.utterance import canonical_bytes, with_late_outputs
from galloon.daemon.errors import OtherContent
from galloon.v1 import utterance_pb2 as wire


def joined(known: bytes, late: wire.Utterance) -> wire.Utterance | None:
    """An utterance as it was known, and what comes late; None where that was known too."""
    before = wire.Utterance.FromString(known)
    form = before.WhichOneof("said")
    if late.labels:
        raise InvalidMessage("utterance.labels", "labels come with the first outputs", "leave them out")
    if form == "named_tokens" or form != late.WhichOneof("said"):
        raise InvalidMessage(
            "utterance",
            f"the first outputs came as {form}",
            "send late ones as slots or outputs, as the first",
        )
    there = {said.engine: said for said in _entries(before)}
    for said in _entries(late):
        if said.engine in there and canonical_bytes(said) != canonical_bytes(there[said.engine]):
            raise OtherContent(
                f"engine {said.engine!r} has said something else of utterance {late.id!r} already",
                "utterance.id",
            )
    more = [said for said in _entries(late) if said.engine not in there]
    return with_late_outputs(before, late) if more else None


def _entries(message: wire.Utterance) -> list[wire.EngineOutput | wire.SlotOffers]:
    return [*message.outputs.engines, *message.slots.offers]
