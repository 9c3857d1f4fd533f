"""Access control: hosts, origins and tokens."""

import hashlib
import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from fewbits.server._errors import ApiError
from fewbits.server._settings import Settings


class Gate:
    """Refuses requests by their headers.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._hosts = {"localhost", *(x.lower() for x in settings.allowed_hosts)}
        self._origins = {x.rstrip("/").lower() for x in settings.allowed_origins}
        self._token = settings.token
        self._last_host: str | None = None
        if settings.token is not None:
            digest = hashlib.sha256(settings.token.encode()).hexdigest()[:12]
            #: Cookies are shared by all ports of a host, so each service has its own.
            self.cookie_name = f"fewbits_{digest}"
            self.cookie_value = hmac.new(
                settings.token.encode(), b"page", hashlib.sha256
            ).hexdigest()

    def check_host(self, headers: Headers) -> None:
        """Refuse names that are not ours: a page elsewhere may have made one up.

        Addresses pass: no page can make up one of these (DNS rebinding needs a name).
        """
        given = headers.getlist("host")
        if len(given) == 1 and given[0] == self._last_host:  # which most bring again
            return
        name = _host_name(given[0]) if len(given) == 1 else None
        if name is None or not (name in self._hosts or _is_address(name)):
            raise ApiError(
                421,
                "unknown_host",
                "this service is not known by that name: start it with --allow-host",
            )
        self._last_host = given[0]

    def check_origin(self, headers: Headers) -> str | None:
        """Return the origin of another page that may ask; None for our own.

        Raises
        ------
        ApiError
            When it may not.
        """
        origin = headers.get("origin")
        if origin is None:
            return None
        if origin.rstrip("/").lower() in self._origins:
            return origin
        if _place(origin) == headers.get("host", "").lower():
            return None
        raise ApiError(403, "foreign_origin", "pages of other origins may not ask")

    def check_token(self, headers: Headers) -> None:
        """Refuse requests that bring neither the token nor the cookie for it."""
        if self._token is None:
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.is_token(given.strip()):
            return
        if _same(_cookie(headers, self.cookie_name), self.cookie_value):
            return
        wrong = kind.lower() == "bearer" and given.strip()
        raise ApiError(
            401,
            "unauthorized",
            "that is not the token of this service"
            if wrong
            else "send the token: Authorization: Bearer TOKEN",
            {"WWW-Authenticate": "Bearer"},
        )

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return self._token is not None and _same(given, self._token)


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _place(origin: str) -> str | None:
    """Return ``name:port`` of an origin; None if it is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _host_name(host: str) -> str | None:
    """Return the name in ``name:port`` or ``[address]:port``; None if it is neither."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    if parts.netloc != host or "@" in host or not parts.hostname:
        return None
    return parts.hostname.rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(headers: Headers, name: str) -> str:
    """Return the value of a cookie; ours has no quotes.

    Python's parser takes minutes for one header of 60 KB.
    """
    for pair in headers.get("cookie", "").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""
