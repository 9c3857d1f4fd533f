"""State of the application, and what a route works with."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request

from fewbits.collection import Collection, Verification
from fewbits.server._errors import ApiError
from fewbits.server._live import Live, Snapshot
from fewbits.server._logs import log
from fewbits.server._metrics import Metrics
from fewbits.server._settings import Settings
from fewbits.server._work import Batcher, TooSlow, Work

if TYPE_CHECKING:
    from fewbits.server.explore.map_updates import MapUpdates

T = TypeVar("T")


class Service:
    """The version that is served, and the threads that answer from it.

    Parameters
    ----------
    live : Live
    settings : Settings
    """

    def __init__(self, live: Live, settings: Settings) -> None:
        self.live, self.settings = live, settings
        most, limit = settings.max_waiting, settings.time_limit
        self.work = Work(settings.n_threads, most, limit)
        #: Changes follow each other, and reads do not wait for them.
        self.changes = Work(1, most, limit, finishes=True)
        #: What takes seconds or more: where it times out, no other request waits.
        self.heavy = Work(1, most, limit)
        #: The last one of this process.
        self.verified: Verification | None = None
        self.metrics = Metrics(live, self._waiting)
        self.batcher = Batcher(
            settings.max_batch,
            settings.max_body_bytes,
            settings.max_waiting,
            settings.time_limit,
            self.metrics.batch,
        )

    @cached_property
    def maps(self) -> "MapUpdates":
        """Maps that are drawn, imported when one is asked for."""
        from fewbits.server.explore.map_updates import MapUpdates

        return MapUpdates()

    def version(self) -> str:
        """Return the version of the newest snapshot."""
        return self.live.snapshot.version

    def _waiting(self) -> int:
        lanes = (self.work, self.changes, self.heavy)
        return self.batcher.waiting + sum(lane.waiting for lane in lanes)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look for changes of the folder until the block ends."""
        # The first request need not wait for the index; nor does the start.
        tasks = [
            asyncio.create_task(asyncio.to_thread(self.live.warm)),
            asyncio.create_task(self._watch()),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            if "maps" in vars(self):
                self.maps.close()
            for lane in (self.work, self.changes, self.heavy):
                lane.close()
            self.batcher.close()

    async def _watch(self) -> None:
        fault = None
        while True:
            await asyncio.sleep(self.settings.refresh_seconds)
            if await asyncio.to_thread(self.live.refresh):
                log("snapshot", snapshot=self.live.snapshot.version)
            if self.live.fault != fault:
                fault = self.live.fault
                log("folder", fault=fault)


@dataclass(frozen=True, eq=False)
class Served:
    """One version for one request, and the means to work with it.

    Routes ask for it by ``served: Current``.

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

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Return what a blocking function returns, which is run in a bounded pool."""
        return await self.service.work.run(function, *args)

    async def run_heavy(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns that takes long: one such is run at a time."""
        return await self.service.heavy.run(function, *args)

    async def run_change(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns that writes: one such is run at a time."""
        return await self.service.changes.run(function, *args)

    async def cached(
        self, key: object, function: Callable[[], T], *, heavy: bool = False
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
            lane = self.service.heavy if heavy else self.service.work
            results[key] = asyncio.ensure_future(lane.finish(function))
            results[key].add_done_callback(forget)
        task: asyncio.Future[T] = results[key]
        # Who waits has a limit; the computation has none, and is kept for the next.
        done, _ = await asyncio.wait([task], timeout=self.settings.time_limit)
        if not done:
            raise TooSlow
        return task.result()

    def check_writable(self) -> None:
        """Refuse the request where the service is read-only."""
        if not self.settings.writable:
            raise ApiError(
                403, "read_only", "this service is read-only: start it with --writable"
            )


async def served(request: Request) -> Served:
    """Return the newest snapshot, for one request."""
    service: Service = request.app.state.service
    snapshot = service.live.snapshot
    request.scope["state"]["snapshot"] = snapshot.version
    return Served(service, snapshot)


#: What the parameter of a route is annotated with.
Current = Annotated[Served, Depends(served)]
