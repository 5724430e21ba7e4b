"""The games of `galloon simulate --beyond`, through the command."""

import json

import pytest
from click.testing import CliRunner

from galloon.clients.commands.simulate import simulate
from galloon.learners.paths.beyond.games import GAMES


@pytest.mark.parametrize("name", GAMES)
def test_regret_is_below_its_bound_in_every_game(name):
    done = CliRunner().invoke(simulate, ["--beyond", name, "-T", "120", "--seeds", "2", "--json"])
    assert done.exit_code == 0, done.output
    games = json.loads(done.output)["games"]
    assert len(games) == 2
    assert all(outcome["regret"] <= outcome["bound"] + 1e-9 for game in games for outcome in game)


def test_the_table_names_what_is_competed_with():
    done = CliRunner().invoke(simulate, ["--beyond", "newcomers", "-T", "40", "--seeds", "1"])
    assert done.exit_code == 0
    assert "h3, from its own first round" in done.output
