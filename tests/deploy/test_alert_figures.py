import pytest

from tests.deploy.alert_figures import figures


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('up{job="galloon"} < 1', ['up{job="galloon"}']),
        ("a > b", ["a", "b"]),
        ('rate(x{r="a > b and c"}[5m]) > 0.1', ['rate(x{r="a > b and c"}[5m])']),
        ("delta(a[1h]) / (delta(b[1h]) > 0) > 0.5", ["delta(a[1h]) / (delta(b[1h]) > 0)"]),
        ("sum by (i) (a) > 100 and sum by (i) (b) < 1", ["sum by (i) (a)", "sum by (i) (b)"]),
        ("a > 1 and on (instance) b >= 2e3", ["a", "b"]),
        ("bandits > 1", ["bandits"]),
    ],
)
def test_thresholds_are_taken_away_and_nothing_else(expression, expected):
    assert figures(expression) == expected


@pytest.mark.parametrize("expression", ["absent(up)", "1 > 0"])
def test_an_alert_that_compares_no_figure_is_refused(expression):
    with pytest.raises(AssertionError):
        figures(expression)
