"""Names of learners: those that clients choose, and of challengers, which are called after their champion."""

import re

from galloon.daemon.errors import Invalid

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
MARK = ":"  # between a champion's name and its challenger's label; no name of a client has one


def check_name(name: str, field: str) -> None:
    if not NAME.fullmatch(name):
        raise Invalid(
            "a name has 1 to 128 of the characters a-z A-Z 0-9 . _ / - and starts with a letter or "
            f"digit; got {name[:40]!r}",
            field,
        )


def challenger_name(champion: str, label: str, field: str) -> str:
    """The name of a champion's challenger."""
    if not LABEL.fullmatch(label):
        raise Invalid(
            "a label has 1 to 32 of the characters a-z A-Z 0-9 . _ - and starts with a letter or digit; "
            f"got {label[:40]!r}",
            field,
        )
    return f"{champion}{MARK}{label}"


def is_challenger(name: str) -> bool:
    return MARK in name


def champion_of(name: str) -> str:
    """Whom it challenges; itself, where it is no challenger."""
    return name.partition(MARK)[0]


def label_of(name: str) -> str:
    return name.partition(MARK)[2]
