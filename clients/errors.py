"""What can go wrong in the clients.

ClientError
└── FormatError         a file is not what its reader takes; says which file, where, what, and what to do
    └── LimitExceeded   the file is larger or deeper than a named number of `ReadLimits` allows
"""


class ClientError(Exception):
    """The root: catch this to catch everything that the clients raise on purpose."""


class FormatError(ClientError):
    """A file that cannot be read. `line` counts from one; None where the format has no lines."""

    def __init__(self, file: str, line: int | None, what: str, advice: str = "") -> None:
        self.file, self.line, self.what, self.advice = file, line, what, advice
        where = file if line is None else f"{file}, line {line}"
        super().__init__(f"{where}: {what}" + (f"; {advice}" if advice else ""))


class LimitExceeded(FormatError):
    """Refused before memory or time is spent; `limit` is the field of `ReadLimits` that says so."""

    def __init__(self, file: str, line: int | None, limit: str, allowed: float, what: str) -> None:
        self.limit, self.allowed = limit, allowed
        super().__init__(
            file, line, f"{what}: the limit {limit} is {allowed:,}", f"raise {limit} if this is meant"
        )
