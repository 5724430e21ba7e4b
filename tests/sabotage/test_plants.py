"""The suite is worth its time: bugs that are planted on purpose are noticed. `make fault` plants all of them."""

from pathlib import Path

import pytest

from tests.sabotage.planting import ROOT, copied, noticed
from tests.sabotage.plants import PLANTS

QUICK = [plant for plant in PLANTS if plant.quick]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("sabotage") / "tree")


@pytest.mark.parametrize("plant", QUICK, ids=lambda plant: plant.name)
def test_a_planted_bug_is_noticed(tree: Path, tmp_path: Path, plant):
    """The named check fails on a copy of the source with the bug in it."""
    noticed(tree, plant, tmp_path / "scratch")


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_every_plant_still_fits_the_source(plant):
    """Once, so that it is known what is planted."""
    assert (ROOT / plant.file).read_text().count(plant.old) == 1
