"""Logs and metrics: no bodies, queries or tokens."""

import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

_LOGGER = logging.getLogger("fewbits.server")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


def log(
    event: str,
    *,
    level: int = logging.INFO,
    cause: BaseException | None = None,
    **facts: Any,
) -> None:
    """Log an event with facts about it, and the traceback of an unexpected error."""
    _LOGGER.log(level, event, exc_info=cause, extra={"facts": facts})


class _Lines(logging.Formatter):
    """One object for each record, of this package or of uvicorn; or a plain line."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__()
        self._is_plain = plain

    def format(self, record: logging.LogRecord) -> str:
        event, facts = record.getMessage(), getattr(record, "facts", {})
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if not self._is_plain:
            time = datetime.fromtimestamp(record.created, UTC)
            line = {
                "time": time.isoformat(timespec="milliseconds"),
                "level": record.levelname.lower(),
                "event": event,
                **facts,
            }
            if trace:
                line["traceback"] = trace
            return json.dumps(line, default=str)
        pairs = " ".join(f"{name}={value}" for name, value in facts.items())
        text = f"{event} {pairs}".rstrip()
        if event == "request":
            text = "{method} {route} {status} {ms} ms".format(**facts)
        return f"{self.formatTime(record, '%H:%M:%S')}  {text}\n{trace}".rstrip()


def set_up_logs() -> None:
    """Write the logs to standard error: JSON, or plain lines at a terminal."""
    # No line shows them, and collecting them takes half the time of a record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(plain=sys.stderr.isatty()))
    for name, level in (("fewbits.server", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


class Metrics:
    """Counts and times of one application, for Prometheus."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        labels = "route", "method"
        self._requests = Counter(
            "fewbits_requests",
            "Requests that were answered.",
            (*labels, "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "fewbits_request_seconds",
            "Time from the head of a request to the end of its answer.",
            labels,
            buckets=_SECONDS,
            registry=registry,
        )
        #: Requests that are not answered yet.
        self.active = Gauge(
            "fewbits_requests_in_progress",
            "Requests that are not answered yet.",
            registry=registry,
        )
        #: Sizes of batches.
        self.batches = Histogram(
            "fewbits_batch_queries",
            "Searches that were answered in one go.",
            buckets=_SIZES,
            registry=registry,
        )

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Add what is asked for anew each time."""
        Gauge(f"fewbits_{name}", text, registry=self._registry).set_function(value)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.active.dec()
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route, method).observe(seconds)

    def text(self) -> bytes:
        """Return all of it in Prometheus' text format."""
        return generate_latest(self._registry)
