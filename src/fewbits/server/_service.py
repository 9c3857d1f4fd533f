"""The version that is served, the threads that answer from it, and what a route gets.

A folder's newest version goes live in the place of the one before; a request keeps the
version that it began with.
"""

import asyncio
import contextlib
import hashlib
import itertools
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from fastapi import Depends, Request

from fewbits.collection import Collection, Verification, tools
from fewbits.errors import ArtefactError
from fewbits.server._errors import ApiError
from fewbits.server._settings import Settings
from fewbits.server._telemetry import Metrics, log
from fewbits.server._work import Batcher, Work, too_slow

if TYPE_CHECKING:
    from fewbits.server._maps import MapUpdates

T = TypeVar("T")
Lane = Literal["short", "bulk", "changes", "heavy"]
_EARLIER = 4  # versions that are held, as requests may ask for them again


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version of a collection, to be read only.

    `version` is another text for another state; `results` is what was computed once for
    this one.
    """

    collection: Collection
    version: str
    since: float = field(default_factory=time.time)
    results: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def at(self) -> "Callable[[int | str], Snapshot]":
        """Return the snapshot of an earlier version, by its number or its name."""
        newest, text = self.collection, self.version

        @lru_cache(_EARLIER)
        def earlier(version: int | str) -> Snapshot:
            collection = newest.at(version)
            return Snapshot(collection, f"{text}@{collection.version}")

        return earlier


class Live:
    """The newest version of a folder, or of a collection in memory.

    Reading `snapshot` is one attribute, and the swap is one assignment.
    """

    def __init__(self, source: Collection | str | Path) -> None:
        if not isinstance(source, Collection):
            source = Collection.open(source)
        self._collection, self.folder = source, source.path
        self.name = "memory" if self.folder is None else self.folder.resolve().name
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._fault: str | None = None
        self._damage: str | None = None
        self.snapshot = self._new_snapshot()
        last = source.last_verified()
        if last is not None and not last.report.is_intact:
            self.set_damage(last.report.problems[0])
            self._forget_old_damage()

    def warm(self) -> None:
        """Make the index of the first version, which the start does not wait for."""
        try:
            tools.warm(self.snapshot.collection)
        except ArtefactError as error:
            self.set_damage(str(error))
        except Exception as error:
            self._fault = self.public(str(error))

    @property
    def fault(self) -> str | None:
        """Fault of the folder, None where nothing is known to be wrong."""
        return self._fault or self._damage

    def set_damage(self, text: str | None) -> None:
        """Remember what an error or a verification says; None for nothing wrong."""
        self._damage = None if text is None else self.public(text)

    def public(self, text: str) -> str:
        """Return a message without the path of the folder, for clients."""
        if self.folder is None:
            return text
        for folder in (str(self.folder.absolute()), str(self.folder)):
            if len(folder) > 1:
                text = text.replace(folder + os.sep, "").replace(folder, self.name)
        return text

    def names_file(self, text: str) -> bool:
        """Return whether a message is about the folder, or a file in it."""
        return self.folder is not None and str(self.folder.absolute()) in text

    def refresh(self) -> bool:
        """Take over what the folder has now; return whether that is new.

        A folder that cannot be read leaves the old version, and `fault` says why.
        """
        if self.folder is None:
            return False
        with self._lock:
            try:
                changed = self._collection.refresh()
                self._fault = None  # of a folder that was put right
                if not changed:
                    return False
                self._serve_newest()
            except Exception as error:  # whatever it is, the old one still answers
                self._fault = self.public(str(error))
                return False
            self._forget_old_damage()
            return True

    def change(self, function: Callable[[Collection], T]) -> tuple[Snapshot, T]:
        """Change the collection, and serve what it is then."""
        with self._lock:
            result = function(self._collection)
            return self._serve_newest(), result

    def _serve_newest(self) -> Snapshot:
        newest = self._new_snapshot()
        tools.warm(newest.collection)  # now, not by the first request
        self.snapshot = newest
        return newest

    def _forget_old_damage(self) -> None:
        """Forget damage of files that the newest version does not have."""
        names = tools.file_names(self.snapshot.collection)
        if self._damage and not any(name in self._damage for name in names):
            self._damage = None

    def _new_snapshot(self) -> Snapshot:
        collection = self._collection.frozen()
        text = f"{collection.encoder.fingerprint}/{collection.version}/{self.folder}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        _ = collection.kind  # loads the backbone
        return Snapshot(collection, f"{digest}.{next(self._count)}")


class Service:
    """What all requests share: the newest version, and threads in lanes."""

    def __init__(self, live: Live, settings: Settings) -> None:
        self.live, self.settings, self.metrics = live, settings, Metrics()
        most, limit = settings.max_waiting, settings.time_limit
        self.lanes = {
            "short": Work(settings.n_threads, most, limit),
            # Many items or hits at once: others do not wait for them.
            "bulk": Work(1, most, limit),
            # Changes follow each other, and reads do not wait for them.
            "changes": Work(1, most, limit, finishes=True),
            # What takes seconds or more: where it times out, no other request waits.
            "heavy": Work(1, most, limit),
        }
        observe = self.metrics.batches.observe
        bounds = settings.max_batch, settings.max_body_bytes
        self.batcher = Batcher(*bounds, most, limit, observe)
        #: The last one of this process.
        self.verified: Verification | None = None
        gauge = self.metrics.gauge
        gauge("waiting", "Requests that wait for a thread.", self._waiting)
        gauge(
            "items", "Items of the collection.", lambda: len(live.snapshot.collection)
        )
        gauge(
            "snapshot_age_seconds",
            "Time since the newest snapshot went live.",
            lambda: time.time() - live.snapshot.since,
        )

    def _waiting(self) -> int:
        lanes = self.lanes.values()
        return self.batcher.waiting + sum(lane.waiting for lane in lanes)

    @cached_property
    def maps(self) -> "MapUpdates":
        """Maps that are drawn, imported when one is asked for."""
        from fewbits.server._maps import MapUpdates

        return MapUpdates()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look for changes of the folder until the block ends."""

        async def watch() -> None:
            fault = None
            while True:
                await asyncio.sleep(self.settings.refresh_seconds)
                if await asyncio.to_thread(self.live.refresh):
                    log("snapshot", snapshot=self.live.snapshot.version)
                if self.live.fault != fault:
                    fault = self.live.fault
                    log("folder", fault=fault)

        # The first request need not wait for the index; nor does the start.
        tasks = [
            asyncio.create_task(asyncio.to_thread(self.live.warm)),
            asyncio.create_task(watch()),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            if "maps" in vars(self):
                self.maps.close()
            for lane in self.lanes.values():
                lane.close()
            self.batcher.close()


@dataclass(frozen=True, eq=False)
class View:
    """One version for one request, and the means to work with it.

    Routes ask for it by ``view: Current``.

    Attributes
    ----------
    service : Service
    snapshot : Snapshot
    """

    service: Service
    snapshot: Snapshot

    @property
    def collection(self) -> Collection:
        """The collection at this version, to be read only."""
        return self.snapshot.collection

    @property
    def version(self) -> str:
        """An opaque text that changes with every snapshot."""
        return self.snapshot.version

    @property
    def settings(self) -> Settings:
        return self.service.settings

    @property
    def folder(self) -> Path | None:
        """The folder of the collection; None of one in memory."""
        return self.service.live.folder

    async def at(self, version: int | str | None) -> "View":
        """Return an earlier version, by its number or its name; None for this one."""
        if version is None:
            return self
        return View(self.service, await self.run(self.snapshot.at, version))

    async def run(
        self, function: Callable[..., T], *args: object, lane: Lane = "short"
    ) -> T:
        """Return what a blocking function returns, which is run in a bounded pool.

        All lanes but "short" run one at a time: "bulk" what has much to answer,
        "heavy" what takes long, and "changes" what writes.
        """
        return await self.service.lanes[lane].run(function, *args)

    async def cached(
        self, key: object, function: Callable[[], T], *, lane: Lane = "short"
    ) -> T:
        """Return what a blocking function returns, computed once for each snapshot.

        Requests that come meanwhile wait for the same computation. It goes on where
        one of them gives up, and nothing is kept of one that failed.
        """
        results = self.snapshot.results

        def forget(done: "asyncio.Future[T]") -> None:
            if done.cancelled() or done.exception() is not None:
                results.pop(key, None)

        if key not in results:
            work = self.service.lanes[lane].run(function, has_limit=False)
            results[key] = asyncio.ensure_future(work)
            results[key].add_done_callback(forget)
        task: asyncio.Future[T] = results[key]
        # Who waits has a limit; the computation has none, and is kept for the next.
        done, _ = await asyncio.wait([task], timeout=self.settings.time_limit)
        if not done:
            raise too_slow()
        return task.result()

    def check_writable(self) -> None:
        """Refuse the request where the service is read-only."""
        if not self.settings.writable:
            raise ApiError(
                "read_only", "this service is read-only: start it with --writable"
            )


async def newest_view(request: Request) -> View:
    """Return the newest snapshot, for one request."""
    service: Service = request.app.state.service
    snapshot = service.live.snapshot
    request.scope["state"]["snapshot"] = snapshot.version
    return View(service, snapshot)


#: What the parameter of a route is annotated with.
Current = Annotated[View, Depends(newest_view)]
