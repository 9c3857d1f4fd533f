"""Routes, one module for each thing that the service can do."""

from fewbits.server.routes import (
    _answers,
    _bits,
    _changes,
    _encode,
    _facts,
    _groups,
    _items,
    _map,
    _metrics,
    _pages,
    _quality,
    _search,
)

#: In the order in which they are matched.
ROUTERS = (
    _facts.router,
    _search.router,
    _encode.router,
    _items.router,
    _answers.router,
    _changes.router,
    _metrics.router,
    _bits.router,
    _quality.router,
    _groups.router,
    _map.router,
    _pages.router,
)
