"""Maps that are made in the background, and follow their collection."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fewbits._repr import one_line
from fewbits._runtime import changed
from fewbits.bundle import Bundle
from fewbits.engine.maps._collection_map import CollectionMap, map_collection
from fewbits.errors import one_line as message_of


@dataclass(frozen=True)
class MapState:
    """The progress of a map.

    Attributes
    ----------
    found : CollectionMap or None
    stage : str
        "waiting", "layout", "places", "trust", "ready" or "failed".
    done, total : int
        Of the stage.
    fault : str or None
        Why it failed.
    """

    found: CollectionMap | None = None
    stage: str = "waiting"
    done: int = 0
    total: int = 1
    fault: str | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        progress = {"stage": self.stage, "done": self.done, "total": self.total}
        facts = {} if self.found is None else self.found.to_dict()
        return {
            "ready": self.found is not None,
            **progress,
            "fault": self.fault,
        } | facts


class _Closed(Exception):
    """Nobody waits for the map any more."""


class MapUpdates:
    """Makes the map of each state of a collection once, in a thread of its own.

    A later state keeps the layout of an earlier one as long as the encoder is the same.
    What is being made is finished though the collection changes: the next one is soon
    made of it.

    Parameters
    ----------
    make : callable, default=map_collection
        Called with a bundle, `earlier` and `progress`.
    """

    def __init__(self, make: Callable[..., CollectionMap] = map_collection) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._state = MapState()
        self._version: str | None = None  # of the state, once it is made or failed
        self._wanted: tuple[Bundle, str] | None = None
        self._last: tuple[str, CollectionMap] | None = None
        self._working = self._closed = False

    def state(self, bundle: Bundle, version: str) -> MapState:
        """Return how far the map of a state is; the first call begins it.

        Parameters
        ----------
        bundle : Bundle
        version : str
            Names the state of the bundle.
        """
        with self._lock:
            if version == self._version:
                return self._state
            self._wanted = bundle, version
            if not self._working:
                self._working = True
                self._state, self._version = MapState(), None
                threading.Thread(target=self._work, daemon=True).start()
            return replace(self._state, found=None)

    def close(self) -> None:
        """Stop what is being made."""
        self._closed = True

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._wanted is None or self._closed:
                    self._working = False
                    return
                (bundle, version), self._wanted = self._wanted, None
            made = self._made(bundle)
            with self._lock:
                if self._wanted is not None and self._wanted[1] == version:
                    self._wanted = None  # asked for while it was made
                self._state, self._version = made, version
                if made.found is not None:
                    self._last = bundle.encoder.fingerprint, made.found

    def _made(self, bundle: Bundle) -> MapState:
        try:
            # The other cores answer requests meanwhile.
            with changed(threads=1):
                earlier = self._earlier(bundle)
                made = self._make(bundle, earlier=earlier, progress=self._progress)
        except Exception as error:
            return MapState(stage="failed", fault=message_of(error))
        return MapState(made, "ready", 1, 1)

    def _progress(self, stage: str, done: int, total: int) -> None:
        if self._closed:
            raise _Closed
        with self._lock:
            self._state, self._version = MapState(None, stage, done, total), None

    def _earlier(self, bundle: Bundle) -> CollectionMap | None:
        if self._last is None or self._last[0] != bundle.encoder.fingerprint:
            return None
        return self._last[1]
