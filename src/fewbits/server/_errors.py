"""Every error in one shape: ``{"error": {"code": ..., "message": ...}}``."""

import difflib
import logging
from collections.abc import Iterable, Sequence
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route

from fewbits.errors import ArtefactError, FewbitsError, one_line, outcome_of
from fewbits.server._telemetry import log
from fewbits.server._work import Overloaded, TooSlow

RETRY_SECONDS = 1
_LONGEST = 1000  # characters of a message, which may repeat a part of the body


def in_bytes(size: int) -> str:
    """Return a number of bytes in the unit that it is read in.

    Examples
    --------
    >>> in_bytes(33_554_432), in_bytes(900)
    ('33.6 MB', '900 bytes')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"


class ApiError(Exception):
    """A request that is refused, as a client is told."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = headers

    def response(self) -> Response:
        content = {"error": {"code": self.code, "message": self.message}}
        return JSONResponse(content, self.status, self.headers)


#: Whatever else a route raises is a fault of ours.
EXPECTED = (
    ApiError,
    Overloaded,
    TooSlow,
    HTTPException,
    RequestValidationError,
    FewbitsError,
    OSError,
)


def unknown_field(where: Sequence[int | str], names: Iterable[str]) -> str:
    """Return the message about a field that a body does not have.

    Examples
    --------
    >>> unknown_field(["text"], ["texts", "ids"])
    "unknown field 'text' (did you mean 'texts'?)"
    >>> unknown_field(["query"], ["texts", "ids"])
    "unknown field 'query'; there are texts, ids"
    """
    name, names = ".".join(str(part) for part in where), list(names)
    near = difflib.get_close_matches(name, names, 1) if len(name) < 100 else []
    listed = f"; there are {', '.join(names)}"
    hint = f" (did you mean {near[0]!r}?)" if near else listed
    return f"unknown field {name[:100]!r}{hint}"


def as_api_error(error: Exception) -> ApiError:
    """Return any error as the one that a client is told."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, Overloaded):
        return ApiError(
            429,
            "overloaded",
            "as many requests wait as may: try again later",
            {"Retry-After": str(RETRY_SECONDS)},
        )
    if isinstance(error, TooSlow):
        return ApiError(503, "too_slow", "the request took longer than it may")
    if isinstance(error, HTTPException):
        return ApiError(
            error.status_code,
            HTTPStatus(error.status_code).phrase.lower().replace(" ", "_"),
            str(error.detail),
            dict(error.headers or {}),
        )
    if isinstance(error, RequestValidationError):
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"][1:])
        message = f"{where}: {fault['msg']}" if where else str(fault["msg"])
        return ApiError(422, "argument_error", message)
    if (outcome := outcome_of(error)) is not None:
        return ApiError(outcome.status, outcome.code, one_line(error, _LONGEST))
    return ApiError(500, "internal_error", "the service failed; its log says how")


def answer_to(error: Exception, request: Request) -> Response:
    """Return an error as an answer without our folder; damage is logged."""
    refusal, live = as_api_error(error), request.app.state.service.live
    if isinstance(error, ArtefactError):
        log("damage", level=logging.ERROR, error=str(error))
        if live.names_file(str(error)):
            live.set_damage(str(error))
    refusal.message = live.public(refusal.message)
    return refusal.response()


def add_handlers(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Turn whatever routes raise into an answer."""
    routes = [x for router in routers for x in router.routes if isinstance(x, Route)]

    async def answer(request: Request, error: Exception) -> Response:
        response = answer_to(error, request)
        if response.status_code == 405:
            # Starlette names the methods of one route; a path may have several.
            here = [x for x in routes if x.path_regex.match(request.url.path)]
            methods = {method for route in here for method in route.methods or ()}
            response.headers["Allow"] = ", ".join(sorted(methods))
        return response

    for kind in EXPECTED:
        app.add_exception_handler(kind, answer)
