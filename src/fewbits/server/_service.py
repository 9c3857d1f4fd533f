"""State of the application."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import cached_property
from typing import TYPE_CHECKING

from fewbits.server._batching import Batcher
from fewbits.server._live import Live
from fewbits.server._logs import log
from fewbits.server._metrics import Metrics
from fewbits.server._settings import Settings
from fewbits.server._work import Work

if TYPE_CHECKING:
    from fewbits.bundle.serving import Verification
    from fewbits.engine.maps import MapUpdates


class Service:
    """The snapshot that is served, and the threads that answer from it.

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
        from fewbits.engine.maps import MapUpdates

        return MapUpdates()

    @property
    def _lanes(self) -> tuple[Work, ...]:
        return self.work, self.changes, self.heavy

    def _waiting(self) -> int:
        return self.batcher.waiting + sum(each.waiting for each in self._lanes)

    def version(self) -> str:
        """Return the version of the newest snapshot."""
        return self.live.snapshot.version

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
            for lane in self._lanes:
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
