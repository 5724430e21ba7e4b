"""The `galloon` command: a table of sub-commands, each loaded from the package that owns it when called.

Nothing heavy is imported before a sub-command is chosen, so that `galloon --help` answers at once.
"""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from galloon import __version__
from galloon.extras import advice

# name: (module, attribute, one line for --help)
SUB_COMMANDS: dict[str, tuple[str, str, str]] = {
    "serve": ("galloon.daemon.serve", "serve", "Serve learners over gRPC; keep what they learn."),
    "demo": (
        "galloon.clients.commands.demo",
        "demo",
        "Start a daemon, play the bundled sample to it, and show what learning was worth.",
    ),
    "combine": (
        "galloon.clients.commands.combine",
        "combine",
        "Combine files of several engines into one text; no truth is needed.",
    ),
    "replay": (
        "galloon.clients.commands.replay",
        "replay",
        "Play a file of engine outputs with true texts, line by line: predict, then learn.",
    ),
    "teach": (
        "galloon.clients.commands.teach",
        "teach",
        "Teach a learner of a daemon corrections in bulk, by the ids of utterances that it has answered.",
    ),
    "score": (
        "galloon.clients.commands.score",
        "score",
        "Word and character error rates of texts, with intervals and paired differences.",
    ),
    "explain": (
        "galloon.clients.commands.explain",
        "explain",
        "Say why a learner of a daemon chose each token of an utterance.",
    ),
    "doctor": (
        "galloon.daemon.operate.doctor.command",
        "doctor",
        "Check everything that the daemon stands on, and say what to fix.",
    ),
    "store": ("galloon.daemon.store.copy", "store", "Copy a store, from SQLite to PostgreSQL or back."),
    "learners": (
        "galloon.clients.commands.learners",
        "learners",
        "List, show, create, delete, snapshot, export and import the learners of a daemon.",
    ),
    "top": ("galloon.clients.commands.top", "top", "Watch the learners of a daemon, live."),
    "convert": (
        "galloon.clients.commands.convert",
        "convert",
        "Bring files of OCR and ASR engines together, or turn one format into another.",
    ),
    "automaton": (
        "galloon.clients.commands.automaton",
        "automaton",
        "Build the paper's context-dependent automaton in two ways, compare, draw and export it.",
    ),
    "simulate": (
        "galloon.clients.commands.simulate",
        "simulate",
        "Play the paper's game on synthetic experts and plot regret against the bound.",
    ),
}


class Table(click.Group):
    """A group that knows its sub-commands by name and loads one only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(SUB_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in SUB_COMMANDS:
            return None
        module, attribute, _ = SUB_COMMANDS[cmd_name]
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(error.message + self._meant(ctx, args[0]), ctx) from error

    def _meant(self, ctx: click.Context, name: str) -> str:
        """What somebody who typed this name may have looked for."""
        known = {each: each for each in SUB_COMMANDS}
        try:
            learners = self.get_command(ctx, "learners")
        except ModuleNotFoundError:
            learners = None
        if isinstance(learners, click.Group):
            known = {each: f"learners {each}" for each in learners.commands} | known
        near = get_close_matches(name, known, n=1, cutoff=0.75)
        return f" Did you mean '{known[near[0]]}'?" if near else ""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the sub-command. A package that is not installed is a sentence, wherever it is missed."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            what = advice(error.name)
            if what is None:
                raise
            raise click.ClickException(f"galloon {ctx.invoked_subcommand}: {what}") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in SUB_COMMANDS.items()])


@click.command(cls=Table, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="galloon")
def main() -> None:
    """Combine the outputs of several OCR or ASR engines, and learn online whom to trust where.

    Each command teaches itself: `galloon COMMAND --help`.
    """


if __name__ == "__main__":
    main()
