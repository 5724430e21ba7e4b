"""Gives a future its outcome, unless whoever awaited it has gone."""

import asyncio
from typing import Any


def resolve(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
