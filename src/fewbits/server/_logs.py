"""Logs: JSON, or plain lines for a person at a terminal; no bodies, queries, tokens."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

_ENCODER = json.JSONEncoder(default=str)
_LOGGER = logging.getLogger("fewbits.server")


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event with facts about it."""
    if _LOGGER.isEnabledFor(level):
        # Without looking for the line of code that it comes from, which no line shows.
        record = logging.LogRecord(_LOGGER.name, level, "", 0, event, None, None)
        record.facts = facts
        _LOGGER.handle(record)


def log_failure(event: str, error: BaseException, **facts: Any) -> None:
    """Log an unexpected error, with its traceback."""
    _LOGGER.error(event, exc_info=error, extra={"facts": facts})


class JsonLines(logging.Formatter):
    """One line for each record, of this package or of uvicorn."""

    def format(self, record: logging.LogRecord) -> str:
        made = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": made.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _ENCODER.encode(line)


class PlainLines(logging.Formatter):
    """The same, shorter."""

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        if record.getMessage() == "request":
            shown = "{method} {route} {status} {ms} ms".format(**facts)
        else:
            named = (f"{name}={value}" for name, value in facts.items())
            shown = " ".join([record.getMessage(), *named])
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{self.formatTime(record, '%H:%M:%S')}  {shown}{trace}"


def set_up_logs() -> None:
    """Write the logs of the service to standard error."""
    # No line shows them, and collecting them takes half the time of a record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if sys.stderr.isatty() else JsonLines())
    for name in ("fewbits.server", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").handlers = []
    logging.getLogger("uvicorn.error").propagate = True
