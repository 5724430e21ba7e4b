"""Logs: one event name per thing that happens; JSON, or pretty on a terminal; never payloads or tokens."""

import logging
import sys

import structlog

from galloon.daemon.config import Log

# Without the values of variables, which are payloads and tokens.
_TRACEBACKS = structlog.processors.ExceptionRenderer(
    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
)


def configure(config: Log) -> None:
    """Set up structlog, on standard error."""
    pretty = config.format == "console" or (config.format == "auto" and sys.stderr.isatty())
    level = logging.getLevelNamesMapping()[config.level.upper()]
    renderer: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if pretty
        else [_TRACEBACKS, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # What libraries say goes the same way; aiohttp's access lines would repeat every scrape.
    logging.basicConfig(level=logging.WARNING, handlers=[_ToStructlog()], force=True)


class _ToStructlog(logging.Handler):
    """Hands records of the standard library's logging on."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        structlog.get_logger().log(record.levelno, record.getMessage(), logger=record.name, exc_info=error)
