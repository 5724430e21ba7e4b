"""Named points on both sides of every durable step, where a fault test may kill or delay the daemon.

Off unless GALLOON_FAILPOINTS is set, e.g. `journal.before_sync=kill@20;snapshot.after_sync=sleep:0.5`:
at the 20th passage the process kills itself with SIGKILL; at every passage it sleeps half a second. When off,
`reach` is a call of an empty function.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping

POINTS = (
    "journal.before_write",  # a batch is about to be written
    "journal.after_sync",  # it is durable, nobody has been told
    "lesson.before_apply",  # a feedback is durable and about to be learned
    "lesson.after_apply",  # it is learned, not yet acknowledged
    "snapshot.before_write",
    "snapshot.after_sync",
    "learner.before_create",
    "learner.after_create",
    "learner.before_delete",
    "learner.after_delete",
)
HISTORY_POINTS = (
    "rebuild.before_replay",  # a history is about to be played again
    "rebuild.after_replay",  # it was, up to the last entries
    "retention.before_cut",  # old history is about to go
    "retention.after_cut",
    "exchange.before_write",  # another state is about to take the place of the present one
    "exchange.after_sync",  # it has, on disk
    "erasure.before_list",  # the list is about to say what will be erased
    "erasure.after_list",  # it says so, nothing is erased yet
    "erasure.before_done",  # all is erased, the list does not say so yet
    "vacuum.before",  # what was erased is about to leave the files
    "vacuum.after",
)


def reach(point: str) -> None:
    """Pass a point; does nothing unless a test asked for a fault here."""
    if _ACTIONS:
        action = _ACTIONS.get(point)
        if action is not None:
            action()


def parse(text: str) -> dict[str, Callable[[], None]]:
    """The actions that a setting asks for, by point."""
    actions = {}
    for part in filter(None, text.split(";")):
        point, _, action = part.partition("=")
        if point not in (*POINTS, *HISTORY_POINTS):
            known = ", ".join((*POINTS, *HISTORY_POINTS))
            raise ValueError(f"GALLOON_FAILPOINTS: {point!r} is not one of {known}")
        actions[point] = _action(action)
    return actions


def _action(text: str) -> Callable[[], None]:
    verb, _, count = text.partition("@")
    verb, _, seconds = verb.partition(":")
    first, passages = int(count or 1), 0

    def act() -> None:
        nonlocal passages
        passages += 1
        if passages < first:
            return
        if verb == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(float(seconds))

    if verb not in {"kill", "sleep"} or (verb == "sleep") != bool(seconds):
        raise ValueError(f"GALLOON_FAILPOINTS: {text!r} is neither kill[@N] nor sleep:SECONDS[@N]")
    return act


_ACTIONS: Mapping[str, Callable[[], None]] = parse(os.environ.get("GALLOON_FAILPOINTS", ""))
