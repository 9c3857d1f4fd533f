"""Every error in one shape: ``{"error": {"code": ..., "message": ...}}``."""

import logging
from collections.abc import Sequence
from difflib import get_close_matches
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route

from fewbits.errors import OUTCOMES, ArtefactError, FewbitsError, one_line, outcome_of
from fewbits.server._telemetry import log

_LONGEST = 1000  # characters of a message, which may repeat a part of the body
RETRY = {"Retry-After": "1"}
#: Statuses of what the service itself refuses, by the code in the answer; what a
#: collection refuses has its own in `fewbits.errors.OUTCOMES`.
_STATUS = {
    "unauthorized": 401,
    "read_only": 403,
    "foreign_origin": 403,
    "not_found": 404,
    "body_too_slow": 408,
    "in_memory": 409,
    "map_not_ready": 409,
    "map_changed": 409,
    "body_too_large": 413,
    "unsupported_media_type": 415,
    "unsupported_encoding": 415,
    "unknown_host": 421,
    "argument_error": 422,
    "overloaded": 429,
    "internal_error": 500,
    "too_slow": 503,
}
#: All that a route may answer but 200; 400 and 405 are of HTTP itself.
STATUSES = sorted({400, 405, *_STATUS.values(), *(x.status for x in OUTCOMES)})


class ApiError(Exception):
    """A refused request, as the client sees it."""

    def __init__(
        self,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.headers = code, message, headers
        self.status = _STATUS[code] if status is None else status

    def response(self) -> Response:
        content = {"error": {"code": self.code, "message": self.message}}
        return JSONResponse(content, self.status, self.headers)


#: Whatever else a route raises is a fault of ours.
EXPECTED = (ApiError, HTTPException, RequestValidationError, FewbitsError, OSError)


def as_api_error(error: Exception) -> ApiError:
    """Return any error as the client sees it."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, HTTPException):
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        headers = dict(error.headers or {})
        return ApiError(code, str(error.detail), headers, error.status_code)
    if isinstance(error, RequestValidationError):
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"][1:])
        return ApiError("argument_error", f"{where}: {fault['msg']}")
    if (outcome := outcome_of(error)) is not None:
        message = one_line(error, _LONGEST)
        return ApiError(outcome.code, message, status=outcome.status)
    return ApiError("internal_error", "the service failed; its log says how")


def add_handlers(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Turn whatever routes raise into an answer without our folder; log damage."""
    routes = [x for router in routers for x in router.routes if isinstance(x, Route)]

    async def answer(request: Request, error: Exception) -> Response:
        refusal, service = as_api_error(error), request.app.state.service
        if isinstance(error, ArtefactError):
            log("damage", level=logging.ERROR, error=str(error))
            if service.names_file(str(error)):
                service.set_damage(str(error))
        refusal.message = service.public(refusal.message)
        if isinstance(error, HTTPException) and refusal.status in (404, 405):
            path = request.url.path
            # Starlette names the methods of one route; a path may have several.
            same = [x for x in routes if x.path_regex.match(path)]
            near = [x for x in routes if x.path.split("/")[:3] == path.split("/")[:3]]
            if not near:
                ends = [x.path.rpartition("/")[2] for x in routes]
                alike = get_close_matches(path[:100].rpartition("/")[2], ends, 2)
                pairs = zip(routes, ends, strict=True)
                near = [x for x, end in pairs if end in alike]
            names = (f"{_methods(x)} {x.path_format}" for x in same or near or routes)
            route = f"{request.method} {path}"[:100]
            refusal.message = f"no route {route!r}; routes: {', '.join(names)}"
            if refusal.status == 405 and same:
                allow = ", ".join(sorted({_methods(x) for x in same}))
                refusal.message = f"{path[:100]!r} takes {allow}"
                refusal.headers = {"Allow": allow}
        return refusal.response()

    for kind in EXPECTED:
        app.add_exception_handler(kind, answer)


def _methods(route: Route) -> str:
    return ", ".join(sorted(route.methods or ()))
