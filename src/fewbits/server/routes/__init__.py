"""Routes, one module for each thing that the service can do."""

from fewbits.server.routes import _facts, _search

#: In the order in which they are matched.
ROUTERS = (_facts.router, _search.router)
