"""Numbers on their way into JSON, which knows neither NaN nor infinity: those become null."""

from math import isfinite


def number(value: float | None, digits: int = 6) -> float | None:
    """The number with so many significant digits, or null."""
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def percent(errors: int, length: int) -> float | None:
    """An error rate; null while nothing was counted."""
    return number(100 * errors / length) if length else None
