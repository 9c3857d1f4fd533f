"""What lives as long as the application."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fewbits.server._live import Live
from fewbits.server._settings import Settings
from fewbits.server._work import Work


class Service:
    """The snapshot that is served, and the threads that answer from it.

    Parameters
    ----------
    live : Live
    settings : Settings
    """

    def __init__(self, live: Live, settings: Settings) -> None:
        self.live, self.settings = live, settings
        self.work = Work(settings.n_threads, settings.max_waiting, settings.time_limit)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look for changes of the folder until the block ends."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            self.work.close()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.settings.refresh_seconds)
            await asyncio.to_thread(self.live.refresh)
