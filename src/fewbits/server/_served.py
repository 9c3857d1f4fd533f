"""The snapshot that a route works with."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from fewbits.bundle import Bundle
from fewbits.server._errors import ReadOnly
from fewbits.server._live import Snapshot
from fewbits.server._service import Service
from fewbits.server._settings import Settings
from fewbits.server._work import TooSlow

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Served:
    """One snapshot for one request, and the means to work with it.

    Routes ask for it by ``served: Current``.

    Attributes
    ----------
    service : Service
    snapshot : Snapshot
    """

    service: Service
    snapshot: Snapshot

    @property
    def bundle(self) -> Bundle:
        """The bundle, which does not change."""
        return self.snapshot.bundle

    @property
    def version(self) -> str:
        """An opaque text that changes with every snapshot."""
        return self.snapshot.version

    @property
    def settings(self) -> Settings:
        return self.service.settings

    @property
    def folder(self) -> Path | None:
        """The folder of the bundle; None of one in memory."""
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
        if key not in results:
            lane = self.service.heavy if heavy else self.service.work
            results[key] = asyncio.ensure_future(lane.finish(function))
            results[key].add_done_callback(lambda done: _forget(results, key, done))
        task: asyncio.Future[T] = results[key]
        # Who waits has a limit; the computation has none, and is kept for the next.
        done, _ = await asyncio.wait([task], timeout=self.settings.time_limit)
        if not done:
            raise TooSlow
        return task.result()

    def check_writable(self) -> None:
        """Refuse the request where the service is read-only."""
        if not self.settings.writable:
            raise ReadOnly


def _forget(results: dict[Any, Any], key: object, done: "asyncio.Future[Any]") -> None:
    if done.cancelled() or done.exception() is not None:
        results.pop(key, None)


async def served(request: Request) -> Served:
    """Return the newest snapshot, for one request."""
    service: Service = request.app.state.service
    snapshot = service.live.snapshot
    request.scope["state"]["snapshot"] = snapshot.version
    return Served(service, snapshot)


#: What the parameter of a route is annotated with.
Current = Annotated[Served, Depends(served)]
