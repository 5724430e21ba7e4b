"""`galloon learners history`: the rounds of a learner, listed for people and programs, or as an utterance file."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import click
from rich.console import Console
from rich.table import Table

from galloon.clients.commands.options import OutputFile
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.formats.utterances import utterance_lines, write_utterances
from galloon.codec.past_round import STATES, PastRound
from galloon.learners.combiners.contract import Feedback, Score, ShownGains, TrueText, TrueTokens
from galloon.learners.observation import ExpertOutput, NamedTokens, Utterance, Word
from galloon.learners.offers import Offers
from galloon.learners.unit import Unit

LISTED = 50
_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])


@click.command()
@click.argument("name")
@click.option("--state", type=click.Choice(STATES), help="Only rounds in this state.")
@click.option("--untaught", is_flag=True, help="Only rounds that wait for feedback: --state pending.")
@click.option("--since", type=_TIME, help="Only rounds that began then or later.")
@click.option("--until", type=_TIME, help="Only rounds that began before.")
@click.option("--ids", type=click.File("r", encoding="utf-8"), help="Only these: a file of ids, one a line.")
@click.option(
    "--limit", type=click.IntRange(1), help=f"At most so many. Default: {LISTED} in a list, all in a file."
)
@click.option("--oldest-first", is_flag=True, help="In a list: from the first round on, not from the last.")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    help="Write an utterance file, which `galloon replay` plays; - is stdout.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@connection_options
def history(
    name: str,
    state: str | None,
    untaught: bool,
    since: datetime | None,
    until: datetime | None,
    ids: TextIO | None,
    limit: int | None,
    oldest_first: bool,
    output: Path | None,
    as_json: bool,
    server: ServerOption,
) -> None:
    """List the rounds of a learner's history, or write them to a file.

    A file holds what the engines said, in the order in which it came, and the true text where it was taught;
    rounds of explicit automata have no engines and cannot be written.

    \b
    Examples:
      galloon learners history ocr/lines --untaught
      galloon learners history ocr/lines --since 2026-11-01 -o november.jsonl.gz
      galloon learners history ocr/lines --ids doubtful.txt --json
    """  # noqa: D301  # the command line library wants the character itself
    if untaught and state not in (None, "pending"):
        raise click.UsageError(f"--untaught means --state pending, not {state}")
    if output is not None and str(output) == "-" and as_json:
        raise click.UsageError("--json and -o - would both write to standard output: give a file")
    wanted = [line.strip() for line in ids if line.strip()] if ids is not None else []
    if ids is not None and not wanted:
        raise click.UsageError(f"--ids {ids.name}: there are no ids in it")
    unknown: list[str] = []
    with failing_well(), server.blocking_client() as client:
        unit = client.get_learner(name).spec.unit
        past = client.past_rounds(
            name,
            state="pending" if untaught else state or "",
            since=0.0 if since is None else since.timestamp(),
            until=0.0 if until is None else until.timestamp(),
            ids=wanted,
            newest_first=output is None and not oldest_first,
            with_utterances=output is not None,
            unknown=unknown,
        )
        with closing(past) as found:
            if output is None:
                _list(list(islice(found, limit or LISTED)), unit, as_json, limit is None)
            else:
                _write(islice(found, limit), unit, output, as_json)
    for utterance_id in unknown:
        click.echo(f"{utterance_id}: not in the history", err=True)
    if unknown:
        raise SystemExit(1)


def _list(rounds: list[PastRound], unit: Unit, as_json: bool, limited: bool) -> None:
    if as_json:
        click.echo(json.dumps({"rounds": [_to_json(round_) for round_ in rounds]}, ensure_ascii=False))
        return
    if not rounds:
        click.echo("no such rounds", err=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("round", "began", "id", "state", "answered", "taught"):
        table.add_column(column, overflow="fold")
    for round_ in rounds:
        began = (
            f"{datetime.fromtimestamp(round_.time, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
            if round_.time
            else ""
        )
        taught = _in_words(round_.feedback, unit)
        table.add_row(f"{round_.round:,}", began, round_.id, round_.state, round_.text, taught)
    Console().print(table)
    if limited and len(rounds) == LISTED:
        click.echo(f"{LISTED} rounds are shown; --limit shows more, -o FILE writes all", err=True)


def _write(rounds: Iterator[PastRound], unit: Unit, output: Path, as_json: bool) -> None:
    told: Counter[str] = Counter()

    def utterances() -> Iterator[Utterance]:
        for round_ in rounds:
            utterance = _utterance(round_, unit)
            if utterance is None:
                told["left out"] += 1
                continue
            told["with a true text"] += utterance.target is not None
            told["rounds"] += 1
            yield utterance

    if str(output) == "-":
        for line in utterance_lines(utterances()):
            click.echo(line, nl=False)
    else:
        write_utterances(output, utterances())
        if as_json:
            names = {"rounds": "rounds", "targets": "with a true text", "left_out": "left out"}
            click.echo(
                json.dumps({"output": str(output), **{key: told[value] for key, value in names.items()}})
            )
        else:
            click.echo(f"{output}: {told['rounds']:,} rounds, {told['with a true text']:,} with a true text")
    if told["left out"]:
        why = "of explicit automata, or of versions that did not keep what the engines said"
        click.echo(f"{told['left out']:,} rounds are not in it: {why}", err=True)


def _utterance(round_: PastRound, unit: Unit) -> Utterance | None:
    """What the engines said as texts, with the true text where it was taught; None where no engine is known."""
    utterance = round_.utterance
    if utterance is None:
        return None
    target = _true_text(round_.feedback, unit)
    match utterance.said:
        case NamedTokens():
            return None
        case Offers() as slots:
            said = tuple(
                ExpertOutput(name, tuple(map(Word, unit.join(slots.of(name)).split())))
                for name in slots.experts
            )
            return replace(utterance, said=said, target=target)
        case _:
            return replace(utterance, target=target)


def _true_text(feedback: Feedback | None, unit: Unit) -> str | None:
    match feedback:
        case TrueText(text):
            return text
        case TrueTokens(tokens):
            return unit.join(tokens)
        case _:
            return None


def _in_words(feedback: Feedback | None, unit: Unit) -> str:
    text = _true_text(feedback, unit)
    if text is not None:
        return text
    return "" if feedback is None else str(feedback)


def _to_json(round_: PastRound) -> dict[str, Any]:
    value = {name: getattr(round_, name) for name in ("id", "round", "time", "state", "text")}
    match round_.feedback:
        case TrueText(text):
            value["true_text"] = text
        case TrueTokens(tokens):
            value["true_tokens"] = tokens
        case ShownGains(gains):
            value["shown_gains"] = gains
        case Score(score):
            value["score"] = score
        case None:
            pass
    return value
