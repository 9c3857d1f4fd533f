"""Counts and times for Prometheus."""

import time
from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from fewbits.server._live import Live

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Metrics of one application.

    Parameters
    ----------
    live : Live, default=None
        What is served, where it is served from here.
    waiting : callable, default=None
        Returns how many requests wait for a thread.
    """

    def __init__(
        self, live: Live | None = None, waiting: Callable[[], int] | None = None
    ) -> None:
        self._registry = CollectorRegistry()
        self._of_route: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        labels, registry = ("route", "method"), self._registry
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
        self._active = Gauge(
            "fewbits_requests_in_progress",
            "Requests that are not answered yet.",
            registry=registry,
        )
        self._batches = Histogram(
            "fewbits_batch_queries",
            "Searches that were answered in one go.",
            buckets=_SIZES,
            registry=registry,
        )
        if waiting is not None:
            self._gauge("waiting", "Requests that wait for a thread.", waiting)
        if live is not None:
            self._gauge("items", "Items of the collection.", lambda: _n_items(live))
            self._gauge(
                "snapshot_age_seconds",
                "Time since the newest snapshot went live.",
                lambda: time.time() - live.snapshot.since,
            )

    def _gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        Gauge(f"fewbits_{name}", text, registry=self._registry).set_function(value)

    def begin(self) -> None:
        """Count a request that has come."""
        self._active.inc()

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._active.dec()
        found = self._of_route.get((route, method, status))
        if found is None:  # routes, methods and statuses are few
            counter = self._requests.labels(route, method, status)
            found = counter, self._seconds.labels(route, method)
            self._of_route[route, method, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def batch(self, size: int) -> None:
        """Count a batch of searches."""
        self._batches.observe(size)

    def text(self) -> bytes:
        """Return all of it in Prometheus' text format."""
        return generate_latest(self._registry)


def _n_items(live: Live) -> int:
    return len(live.snapshot.collection)
