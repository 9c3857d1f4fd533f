"""Maps that are made in the background, and follow their collection."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fewbits._repr import one_line
from fewbits._runtime import changed
from fewbits.collection import Collection
from fewbits.errors import one_line as message_of
from fewbits.server.explore.maps import CollectionMap, map_collection

_HELD = 4  # maps of earlier versions, which pages go on to look at


class Snapshot(Protocol):
    """A version of a collection, with a name for it."""

    @property
    def collection(self) -> Collection: ...
    @property
    def version(self) -> str: ...


@dataclass(frozen=True, eq=False)
class MadeMap:
    """A map, and the snapshot that it is of."""

    map: CollectionMap
    snapshot: Any


@dataclass(frozen=True, repr=False)
class MapState:
    """The newest map, and the progress of the next.

    Attributes
    ----------
    made : MadeMap or None
    stage : str
        "waiting", "layout", "places", "trust", "ready" or "failed".
    done, total : int
        Of the stage.
    fault : str or None
        Why it failed.
    """

    made: MadeMap | None = None
    stage: str = "waiting"
    done: int = 0
    total: int = 1
    fault: str | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with facts about the map if there is one."""
        return {
            "ready": self.made is not None,
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "fault": self.fault,
            **({} if self.made is None else self.made.map.facts()),
        }


class _Closed(Exception):
    """The map is no longer awaited."""


class MapUpdates:
    """Makes maps of a collection that changes, one at a time in a thread of its own.

    A later map keeps the layout of an earlier one as long as the encoder is the same.
    The newest is shown until the next is made, however often the collection changes
    meanwhile; a few before it are held for those who look at them.

    Parameters
    ----------
    make : callable, default=map_collection
        Called with a collection, `earlier` and `progress`.
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
                threading.Thread(target=self._work, daemon=True).start()
            newest = next(reversed(self._held.values()), None)
            return replace(self._progress, made=newest)

    def held(self, version: str) -> MadeMap | None:
        """Return the map of a snapshot, if it has been made and is held."""
        with self._lock:
            return self._held.get(version)

    def close(self) -> None:
        """Stop what is being made."""
        self._closed = True

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._next is None or self._closed:
                    self._working = False
                    return
                snapshot, self._next = self._next, None
            state = self._made(snapshot)
            with self._lock:
                if self._next is not None and self._next.version == snapshot.version:
                    self._next = None  # asked for while it was made
                self._keep(snapshot.version, state)

    def _made(self, snapshot: Snapshot) -> MapState:
        collection = snapshot.collection
        with self._lock:
            newest = next(reversed(self._held.values()), None)
        earlier = None if newest is None else newest.map
        if earlier is not None:
            fingerprint = earlier.collection.encoder.fingerprint
            if fingerprint != collection.encoder.fingerprint:
                earlier = None
        try:
            # The other cores answer requests meanwhile.
            with changed(threads=1):
                made = self._make(collection, earlier=earlier, progress=self._tell)
        except Exception as error:
            return MapState(stage="failed", fault=message_of(error))
        return MapState(MadeMap(made, snapshot), "ready", 1, 1)

    def _keep(self, version: str, state: MapState) -> None:
        self._progress = MapState()
        if state.made is None:
            self._failed = version, state
            return
        self._failed = None
        self._held[version] = state.made
        while len(self._held) > _HELD:
            del self._held[next(iter(self._held))]

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self._closed:
            raise _Closed
        with self._lock:
            self._progress = MapState(None, stage, done, total)
