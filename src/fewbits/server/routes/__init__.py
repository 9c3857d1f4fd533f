"""Routes: of the collection itself, and of what only the explorer asks."""

from fewbits.server.routes import (
    _bits,
    _changes,
    _duplicate_groups,
    _facts,
    _map,
    _quality,
    _search,
)

#: In the order in which they are matched.
ROUTERS = (
    _facts.router,
    _search.router,
    _changes.router,
    _bits.router,
    _quality.router,
    _duplicate_groups.router,
    _map.router,
)
