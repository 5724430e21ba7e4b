"""What a daemon answers on a stream: `Opened`, `Choice`, `Lesson`, `Problem`, to and from a CombineResponse.

`answer_to_bytes` serialises once, for the journal and for the stream; `answer_from_wire` is its inverse.
`repeated` marks an answer that was given before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from galloon.codec.spec import spec_from_wire, spec_to_wire
from galloon.learners.combiners.contract import ChosenToken
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire


@dataclass(frozen=True, slots=True)
class SlotAlternative:
    """A token that was on offer in a slot, who offered it, and how probable it was."""

    slot: int
    token: str
    experts: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The combination of one utterance. tokens, experts and probabilities are parallel, one of each slot.

    The text has words as an engine wrote them, tokens as the learner's normaliser makes them equal; `words` says
    what each slot adds to the text.
    """

    id: str
    round: int
    text: str
    tokens: Sequence[str]  # empty for null
    experts: Sequence[str]  # or transitions, for an explicit automaton
    probabilities: Sequence[float]
    log_probability: float
    lessons: int  # that the learner had taken in when it chose
    repeated_answer: bool = False
    alternatives: Sequence[SlotAlternative] = ()
    written: Sequence[str] = ()  # parallel to tokens; none where every token is written as it is
    own_text: str | None = None  # of a learner in the shadow: what it would have answered itself
    revised: bool = False  # made anew, with outputs that came later than the first answer

    @property
    def words(self) -> Sequence[str]:
        """What each slot adds to the text: empty for null, and for what the slot before says already."""
        return self.written or self.tokens

    @property
    def slots(self) -> tuple[ChosenToken, ...]:
        """The same slot by slot."""
        rows = zip(self.words, self.experts, self.probabilities, strict=True)
        return tuple(ChosenToken(token, expert, probability) for token, expert, probability in rows)


@dataclass(frozen=True, slots=True)
class Lesson:
    """Feedback that is durable and learned."""

    id: str
    round: int
    gain: float
    expert_gains: Mapping[str, float]  # what each expert alone would have gained, where the truth is known
    lessons: int  # of the learner, this one included
    total_gain: float
    repeated_answer: bool = False
    amended: bool = (
        False  # it took the place of other feedback, and is learned when the learner has been rebuilt
    )


@dataclass(frozen=True, slots=True)
class Opened:
    """What the daemon says when a stream is opened."""

    learner: str
    spec: CombinerSpec
    experts: tuple[str, ...]
    max_in_flight: int
    created: bool
    rounds_started: int
    lessons: int
    run_id: str = ""
    rounds_recovered: int = 0
    rounds: tuple[tuple[str, wire.RoundState.ValueType], ...] = ()  # of the ids that were asked for
    max_page_requests: int = 0  # of a daemon that is older than pages
    max_message_bytes: int = 0
    whole_from: int | None = None  # rounds from this number on are in the history, if they were ever durable


@dataclass(frozen=True, slots=True)
class PassedLimit:
    """A limit of the daemon that a request passed, as its configuration names it."""

    name: str
    allowed: float
    needed: float


@dataclass(frozen=True, slots=True)
class Problem:
    """A request that failed. `code` is the number of a gRPC status code."""

    id: str
    about: wire.RequestKind.ValueType
    code: int
    reason: wire.Reason.ValueType
    message: str
    field: str = ""
    limit: PassedLimit | None = None
    owner: str = ""  # address of the daemon that has the learner


Answer = Opened | Choice | Lesson | Problem


def answer_to_bytes(answer: Answer) -> bytes:
    """A serialised CombineResponse; deterministic, because it becomes part of a learner's state."""
    response = wire.CombineResponse()
    match answer:  # filled in place: a message that is passed to another one is copied
        case Choice():
            _fill_choice(response.choice, answer)
            return response.SerializeToString()  # has no maps, whose order is free
        case Lesson():
            _fill_lesson(response.learned, answer)
        case Opened():
            response.opened.CopyFrom(_opened_to_wire(answer))
        case Problem():
            response.problem.CopyFrom(_problem_to_wire(answer))
    return response.SerializeToString(deterministic=True)


def joined_choice(choices: Sequence[Choice]) -> Choice:
    """The choices of a line that was cut, in one: under the id of the first."""
    if len(choices) == 1:
        return choices[0]
    offsets = [0, *accumulate(len(choice.tokens) for choice in choices)]
    return replace(
        choices[0],
        text=" ".join(filter(None, (choice.text for choice in choices))),
        tokens=[token for choice in choices for token in choice.tokens],
        experts=[expert for choice in choices for expert in choice.experts],
        probabilities=[chance for choice in choices for chance in choice.probabilities],
        log_probability=sum(choice.log_probability for choice in choices),
        alternatives=[
            replace(entry, slot=entry.slot + offset)
            for choice, offset in zip(choices, offsets, strict=False)
            for entry in choice.alternatives
        ],
        written=[word for choice in choices for word in choice.words],
    )


def answer_from_wire(response: wire.CombineResponse) -> Answer | None:
    """None for an answer of a kind that only a later version knows."""
    match response.WhichOneof("response"):
        case "choice":
            return choice_from_wire(response.choice)
        case "learned":
            return lesson_from_wire(response.learned)
        case "opened":
            return _opened_from_wire(response.opened)
        case "problem":
            return _problem_from_wire(response.problem)
        case "page" | None:  # the answers in a page are messages of their own
            return None


def repeated(answer: bytes) -> bytes:
    """The same answer, marked as given before."""
    message = wire.CombineResponse.FromString(answer)
    if message.HasField("choice"):
        message.choice.repeated_answer = True
    else:
        message.learned.repeated_answer = True
    return message.SerializeToString(deterministic=True)


def own_text(choice: wire.Choice) -> str:
    """What the learner itself made of the utterance, whatever was answered."""
    return choice.own_text if choice.HasField("own_text") else choice.text


def _fill_choice(message: wire.Choice, choice: Choice) -> None:
    message.id, message.round, message.text = choice.id, choice.round, choice.text
    message.log_probability, message.lessons = choice.log_probability, choice.lessons
    message.repeated_answer = choice.repeated_answer
    message.tokens.extend(choice.tokens)
    message.experts.extend(choice.experts)
    message.probabilities.extend(choice.probabilities)
    message.alternatives.extend(
        wire.Alternative(
            slot=entry.slot, token=entry.token, experts=entry.experts, probability=entry.probability
        )
        for entry in choice.alternatives
    )
    message.written.extend(choice.written)
    message.revised = choice.revised
    if choice.own_text is not None:
        message.own_text = choice.own_text


def choice_from_wire(message: wire.Choice) -> Choice:
    return Choice(
        message.id,
        message.round,
        message.text,
        tuple(message.tokens),
        tuple(message.experts),
        tuple(message.probabilities),
        message.log_probability,
        message.lessons,
        message.repeated_answer,
        tuple(
            SlotAlternative(entry.slot, entry.token, tuple(entry.experts), entry.probability)
            for entry in message.alternatives
        ),
        tuple(message.written),
        message.own_text if message.HasField("own_text") else None,
        message.revised,
    )


def _fill_lesson(message: wire.Learned, lesson: Lesson) -> None:
    message.id, message.round, message.lessons = lesson.id, lesson.round, lesson.lessons
    message.gain, message.total_gain = lesson.gain, lesson.total_gain
    message.repeated_answer, message.amended = lesson.repeated_answer, lesson.amended
    message.expert_gains.update(lesson.expert_gains)


def lesson_from_wire(message: wire.Learned) -> Lesson:
    return Lesson(
        message.id,
        message.round,
        message.gain,
        dict(message.expert_gains),
        message.lessons,
        message.total_gain,
        message.repeated_answer,
        message.amended,
    )


def _opened_to_wire(opened: Opened) -> wire.Opened:
    return wire.Opened(
        learner=opened.learner,
        spec=spec_to_wire(opened.spec),
        experts=opened.experts,
        max_in_flight=opened.max_in_flight,
        rounds=[wire.RoundStatus(id=name, state=state) for name, state in opened.rounds],
        created=opened.created,
        rounds_started=opened.rounds_started,
        lessons=opened.lessons,
        run_id=opened.run_id,
        rounds_recovered=opened.rounds_recovered,
        max_page_requests=opened.max_page_requests,
        max_message_bytes=opened.max_message_bytes,
        whole_from=opened.whole_from,
    )


def _opened_from_wire(message: wire.Opened) -> Opened:
    return Opened(
        message.learner,
        spec_from_wire(message.spec),
        tuple(message.experts),
        message.max_in_flight,
        message.created,
        message.rounds_started,
        message.lessons,
        message.run_id,
        message.rounds_recovered,
        tuple((status.id, status.state) for status in message.rounds),
        message.max_page_requests,
        message.max_message_bytes,
        message.whole_from if message.HasField("whole_from") else None,
    )


def _problem_to_wire(problem: Problem) -> wire.Problem:
    message = wire.Problem(
        id=problem.id,
        about=problem.about,
        code=problem.code,
        reason=problem.reason,
        message=problem.message,
        field=problem.field,
        owner=problem.owner,
    )
    if problem.limit is not None:
        message.limit.name = problem.limit.name
        message.limit.allowed, message.limit.needed = problem.limit.allowed, problem.limit.needed
    return message


def _problem_from_wire(message: wire.Problem) -> Problem:
    limit = message.limit
    return Problem(
        message.id,
        message.about,
        message.code,
        message.reason,
        message.message,
        message.field,
        PassedLimit(limit.name, limit.allowed, limit.needed) if message.HasField("limit") else None,
        message.owner,
    )
