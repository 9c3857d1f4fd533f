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
    from fewbits.server._maps import Maps

T = TypeVar("T")
Lane = Literal["short", "bulk", "changes", "heavy"]
_EARLIER = 4  # versions that are held, as requests may ask for them again


@dataclass(frozen=True, eq=False)
class View:
    """One version of a collection, and the means to work with it.

    Routes ask for the newest by ``view: Current``. `version` is an opaque text that
    changes with every view.
    """

    service: "Service"
    collection: Collection  # to be read only
    version: str
    since: float = field(default_factory=time.time)
    #: What is computed once.
    results: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def settings(self) -> Settings:
        return self.service.settings

    @property
    def folder(self) -> Path | None:
        """The folder of the collection; None of one in memory."""
        return self.service.folder

    async def at(self, version: int | str | None) -> "View":
        """Return an earlier version, by its number or its name; None for this one."""
        return self if version is None else await self.run(self._earlier, version)

    @cached_property
    def _earlier(self) -> "Callable[[int | str], View]":
        service, newest, text = self.service, self.collection, self.version

        @lru_cache(_EARLIER)
        def earlier(version: int | str) -> View:
            collection = newest.at(version)
            return View(service, collection, f"{text}@{collection.version}")

        return earlier

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
        """Return what a blocking function returns, computed once for this version.

        Requests that come meanwhile wait for the same computation. It goes on where
        one of them gives up, and nothing is kept of one that failed.
        """
        results = self.results

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


class Service:
    """What all requests share: the newest version, and threads in lanes.

    Reading `newest` is one attribute, and the swap is one assignment.
    """

    def __init__(self, source: Collection | str | Path, settings: Settings) -> None:
        if not isinstance(source, Collection):
            source = Collection.open(source)
        self._collection, self.folder = source, source.path
        self.name = "memory" if self.folder is None else self.folder.resolve().name
        self.settings, self.metrics = settings, Metrics()
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
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._fault: str | None = None
        self._damage: str | None = None
        self.newest = self._new_view()
        #: The last verification of this process.
        self.verified: Verification | None = None
        last = source.last_verified()
        if last is not None and not last.report.is_intact:
            self.set_damage(last.report.problems[0])
            self._forget_old_damage()
        gauge = self.metrics.gauge
        gauge(
            "waiting",
            "Requests that wait for a thread.",
            lambda: self.batcher.waiting + sum(x.waiting for x in self.lanes.values()),
        )
        gauge("items", "Items of the collection.", lambda: len(self.newest.collection))
        gauge(
            "snapshot_age_seconds",
            "Time since the newest snapshot went live.",
            lambda: time.time() - self.newest.since,
        )

    @cached_property
    def maps(self) -> "Maps":
        """Maps that are drawn, imported when one is asked for."""
        from fewbits.server._maps import Maps

        return Maps()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look for changes of the folder until the block ends."""

        async def watch() -> None:
            fault = None
            while True:
                await asyncio.sleep(self.settings.refresh_seconds)
                if await asyncio.to_thread(self.refresh):
                    log("snapshot", snapshot=self.newest.version)
                if self.fault != fault:
                    fault = self.fault
                    log("folder", fault=fault)

        # The first request need not wait for the index; nor does the start.
        tasks = [
            asyncio.create_task(asyncio.to_thread(self._warm)),
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

    def _warm(self) -> None:
        """Make the index of the first version."""
        try:
            tools.warm(self.newest.collection)
        except ArtefactError as error:
            self.set_damage(str(error))
        except Exception as error:
            self._fault = self.public(str(error))

    # Versions.

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

    def change(self, function: Callable[[Collection], T]) -> tuple[View, T]:
        """Change the collection, and serve what it is then."""
        with self._lock:
            result = function(self._collection)
            return self._serve_newest(), result

    def _serve_newest(self) -> View:
        newest = self._new_view()
        tools.warm(newest.collection)  # now, not by the first request
        self.newest = newest
        return newest

    def _new_view(self) -> View:
        collection = self._collection.frozen()
        text = f"{collection.encoder.fingerprint}/{collection.version}/{self.folder}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        _ = collection.kind  # loads the backbone
        return View(self, collection, f"{digest}.{next(self._count)}")

    # Faults of the folder.

    @property
    def fault(self) -> str | None:
        """What is wrong with the folder, None where nothing is known to be."""
        return self._fault or self._damage

    def set_damage(self, text: str | None) -> None:
        """Remember what an error or a verification says; None for nothing wrong."""
        self._damage = None if text is None else self.public(text)

    def _forget_old_damage(self) -> None:
        """Forget damage of files that the newest version does not have."""
        names = tools.file_names(self.newest.collection)
        if self._damage and not any(name in self._damage for name in names):
            self._damage = None

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


async def newest_view(request: Request) -> View:
    """Return the newest version, for one request."""
    view: View = request.app.state.service.newest
    request.scope["state"]["snapshot"] = view.version
    return view


#: What the parameter of a route is annotated with.
Current = Annotated[View, Depends(newest_view)]
