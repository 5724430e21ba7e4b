"""One replay against a daemon: `replay_session` finds or makes the learner, plays, and saves what was learned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from galloon.clients.api.client import Client
from galloon.clients.api.errors import NotFound, WrongUsage
from galloon.clients.commands.learner_options import check_spec, spec_for
from galloon.clients.commands.temporary_learner import temporary_learner
from galloon.clients.replay.material import Material, same_experts
from galloon.clients.replay.names import GALLOON
from galloon.clients.replay.play import Played, play
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

PURPOSE = "replay"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be played, to whom, and what becomes of the learner."""

    material: Material
    given: Mapping[str, Any]  # fields of the learner's spec that the user named
    also: tuple[str, ...] = ()  # settings to play beside it
    state: Path | None = None  # a saved learner to go on with, and to write back
    name: str | None = None  # of a learner that stays on the daemon
    shared: bool = False  # the daemon is somebody's: leave nothing behind that was not asked for
    alternatives: bool = False
    explained: str | None = None  # the id of an utterance to ask about

    def __post_init__(self) -> None:
        """Refuse what makes no sense before any daemon is troubled."""
        there = self.material.label_names
        for label in self.given.get("labels", ()):
            if label not in there:
                found = f"it has {', '.join(there)}" if there else "it has none"
                raise WrongUsage(f"--labels {label}: no utterance of the file has this field; {found}")
        self.new_spec()

    def new_spec(self) -> CombinerSpec:
        """The learner to make, where there is none to go on with."""
        return spec_for(self.given, self.material.experts, self.material.utterances)


@dataclass(frozen=True, slots=True)
class Session:
    """What was played: the learner that was asked for as "galloon", others by their setting."""

    utterances: tuple[Utterance, ...]
    spec: CombinerSpec
    runs: Mapping[str, Played]


async def replay_session(client: Client, order: Order, advance: Callable[[], None] = lambda: None) -> Session:
    """Play everything that was ordered. The state is written only after a whole run."""
    async with temporary_learner(client, PURPOSE, name=order.name, shared=order.shared) as name:
        spec, create = await _learner(client, order, name)
        utterances, _ = same_experts(order.material.utterances, spec.engines)
        runs = {
            GALLOON: await play(
                client,
                name,
                utterances,
                create,
                alternatives=order.alternatives,
                explained=order.explained,
                advance=advance,
            )
        }
        if order.state is not None:
            write_state(order.state, await client.export_learner(name))
    for setting in order.also:
        other = spec_for({**order.given, "setting": setting}, spec.engines, utterances)
        async with temporary_learner(client, PURPOSE, shared=order.shared) as name:
            runs[f"{GALLOON}, {setting}"] = await play(client, name, utterances, other, advance=advance)
    return Session(utterances, spec, runs)


def write_state(path: Path, data: bytes) -> None:
    """Replace the file as a whole, so that a crash leaves the old one or the new one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    partial.replace(path)


async def _learner(client: Client, order: Order, name: str) -> tuple[CombinerSpec, CombinerSpec | None]:
    """The learner's spec, and the same again where it is still to be made."""
    if order.state is not None and order.state.exists():
        info = await client.import_learner(name, order.state.read_bytes())
        check_spec(order.given, info.spec, str(order.state))
        return info.spec, None
    if order.name is not None:
        try:
            info = await client.get_learner(name)
        except NotFound:
            pass  # it is made now
        else:
            check_spec(order.given, info.spec, f"the daemon under the name {name}")
            return info.spec, None
    spec = order.new_spec()
    return spec, spec
