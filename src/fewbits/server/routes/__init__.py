"""Routes: of the collection itself, and of what only the explorer asks."""

from fewbits.server.routes import bits, changes, duplicates, facts, map, quality, search

#: In the order in which they are matched.
ROUTERS = (
    facts.router,
    search.router,
    changes.router,
    bits.router,
    quality.router,
    duplicates.router,
    map.router,
)
