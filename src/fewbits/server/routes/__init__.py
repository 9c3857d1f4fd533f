"""Routes: of the collection itself, and of what only the explorer asks."""

from fewbits.server.routes import _changes, _facts, _search

#: In the order in which they are matched.
ROUTERS = (_facts.router, _search.router, _changes.router)
