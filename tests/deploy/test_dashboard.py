"""The dashboard is one that Grafana loads, every panel explains itself, and none hides another."""

from itertools import combinations

from tests.deploy.dashboard import dashboard, panels

# Of Grafana's many; a misspelt one is shown as it is, in silence.
UNITS = {"none", "short", "reqps", "percentunit", "s", "Bps", "bytes"}
KINDS = {"stat", "timeseries", "heatmap"}


def test_every_panel_has_a_title_a_description_and_a_unit_of_grafana():
    for panel in panels():
        assert panel["title"], panel
        assert len(panel["description"]) > 15, panel["title"]
        assert panel["type"] in KINDS, panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
        assert [target["refId"] for target in panel["targets"]] == list("ABCDEFG")[: len(panel["targets"])]


def test_panels_have_numbers_of_their_own_and_do_not_overlap():
    everything = dashboard()["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    for one, other in combinations([panel["gridPos"] for panel in everything], 2):
        apart_x = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart_y = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert apart_x or apart_y, (one, other)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in everything)


def test_every_variable_that_an_expression_uses_is_defined():
    defined = {variable["name"] for variable in dashboard()["templating"]["list"]} | {"__rate_interval"}
    for panel in panels():
        for target in panel["targets"]:
            used = {word.split("]")[0].split('"')[0] for word in target["expr"].split("$")[1:]}
            assert used <= defined, (panel["title"], used)


def test_it_shows_what_operators_ask_first():
    text = " ".join(target["expr"] for panel in panels() for target in panel["targets"])
    for metric in (
        *("learner_regret", "learner_regret_bound", "learner_gain", "word_edits_total", "char_edits_total"),
        *("learner_context_transitions", "choose_seconds_bucket", "learn_seconds_bucket"),
        *("store_commit_seconds_bucket", "learner_snapshot_age_seconds", "rejects_total"),
    ):
        assert f"galloon_{metric}{{" in text, metric
