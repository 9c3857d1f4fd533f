"""Maps that are made in the background, and follow their collection."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fewbits._runtime import changed
from fewbits.errors import one_line
from fewbits.server._service import Snapshot
from fewbits.server.explore.maps import CollectionMap, map_collection

_HELD = 4  # maps of earlier versions, which pages go on to look at


class MadeMap(NamedTuple):
    """A map, and the snapshot that it is of."""

    map: CollectionMap
    snapshot: Snapshot


@dataclass(frozen=True)
class MapState:
    """The newest map, and the progress of the next.

    `stage` is "waiting", "layout", "places", "trust", "ready" or "failed", of which
    `done` of `total` are done; `fault` says why it failed.
    """

    made: MadeMap | None = None
    stage: str = "waiting"
    done: int = 0
    total: int = 1
    fault: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with facts about the map if there is one."""
        state = {name: x for name, x in vars(self).items() if name != "made"}
        facts = {} if self.made is None else self.made.map.facts()
        return {"ready": self.made is not None, **state, **facts}


class MapUpdates:
    """Makes maps of a collection that changes, one at a time in a thread of its own.

    A later map keeps the layout of an earlier one as long as the encoder is the same.
    The newest is shown until the next is made, however often the collection changes
    meanwhile; a few before it are held for those who look at them. `make` is called
    with a collection, `earlier` and `progress`.
    """

    def __init__(self, make: Callable[..., CollectionMap] = map_collection) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._held: dict[str, MadeMap] = {}  # by version, the newest last
        self._progress = MapState()
        self._failed: tuple[str, MapState] | None = None
        self._next: Snapshot | None = None
        self._working = self._closed = False

    def state(self, snapshot: Snapshot) -> MapState:
        """Return the newest map; begin the map of a snapshot that has none."""
        with self._lock:
            version = snapshot.version
            if self._failed is not None and self._failed[0] == version:
                return self._failed[1]
            if version in self._held:
                return MapState(self._held[version], "ready", 1, 1)
            self._next = snapshot
            if not self._working:
                self._working = True
                self._progress = MapState()
                threading.Thread(target=self._make_all, daemon=True).start()
            return replace(self._progress, made=self._newest())

    def held(self, version: str) -> MadeMap | None:
        """Return the map of a snapshot, if it has been made and is held."""
        with self._lock:
            return self._held.get(version)

    def close(self) -> None:
        """Stop what is being made."""
        self._closed = True

    def _newest(self) -> MadeMap | None:
        return next(reversed(self._held.values()), None)

    def _make_all(self) -> None:
        while True:
            with self._lock:
                if self._next is None or self._closed:
                    self._working = False
                    return
                snapshot, self._next = self._next, None
                newest = self._newest()
            version = snapshot.version
            earlier = None if newest is None else newest.map
            fingerprint = snapshot.collection.encoder.fingerprint
            if earlier and earlier.collection.encoder.fingerprint != fingerprint:
                earlier = None
            made, failed = None, None
            try:
                # The other cores answer requests meanwhile.
                with changed(threads=1):
                    plane = self._make(
                        snapshot.collection, earlier=earlier, progress=self._report
                    )
                made = MadeMap(plane, snapshot)
            except Exception as error:
                failed = version, MapState(stage="failed", fault=one_line(error))
            with self._lock:
                if self._next is not None and self._next.version == version:
                    self._next = None  # asked for while it was made
                self._progress, self._failed = MapState(), failed
                if made is not None:
                    self._held[version] = made
                while len(self._held) > _HELD:
                    del self._held[next(iter(self._held))]

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._closed:
            raise RuntimeError("the map is no longer awaited")
        with self._lock:
            self._progress = MapState(None, stage, done, total)
