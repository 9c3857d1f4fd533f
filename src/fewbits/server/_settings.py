"""Settings of a service."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from fewbits._checks import check_count
from fewbits.errors import ArgumentError

#: Environment variables of settings begin so.
PREFIX = "FEWBITS_SERVE_"
_SHORTEST_TOKEN = 16


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Permissions and limits of a service.

    Parameters
    ----------
    token : str, default=None
        What a request must bring as ``Authorization: Bearer TOKEN``, 16 characters or
        more; None asks for nothing.
    writable : bool, default=False
        Whether requests may change the collection.
    allowed_hosts : sequence of str, default=()
        Names, beside those of this machine, by which the service may be called.
    allowed_origins : sequence of str, default=()
        Other pages that may call it from a browser, such as ``https://a.example``.
    max_body_bytes : int, default=33_554_432
    max_json_bytes : int, default=8_388_608
        Of a body in JSON, which takes more memory and time than one in Arrow.
    max_held_bytes : int, default=268_435_456
        Bodies of all requests together; more are refused with 429.
    max_queries : int, default=10_000
        Items of one request.
    max_characters : int, default=2_000_000
        Of all texts of one request that are encoded to be searched or classified.
    max_k : int, default=10_000
        Hits of one query.
    max_hits : int, default=1_000_000
        Hits of one request, queries times `k`.
    max_pixels : int, default=50_000_000
        Of an image that is sent.
    max_waiting : int, default=128
        Requests that wait for a thread; more are refused with 429.
    max_batch : int, default=64
        Searches for one item each that are answered in one go.
    max_connections : int, default=1000
        Connections that are open at once; more are closed.
    threads : int, default=None
        Requests that are processed concurrently; None takes the number of cores, at
        least 2.
    time_limit : float, default=30.0
        Seconds until a request is answered with 503.
    head_time_limit : float, default=10.0
        Seconds within which the head of a request must arrive.
    body_time_limit : float, default=30.0
        Seconds within which its body must arrive.
    refresh_seconds : float, default=0.5
        Interval at which the folder is checked for changes by other processes.

    Raises
    ------
    ArgumentError
        When a value is out of range.
    """

    token: str | None = field(default=None, repr=False)
    writable: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_bytes: int = 32 << 20
    max_json_bytes: int = 8 << 20
    max_held_bytes: int = 256 << 20
    max_queries: int = 10_000
    max_characters: int = 2_000_000
    max_k: int = 10_000
    max_hits: int = 1_000_000
    max_pixels: int = 50_000_000
    max_waiting: int = 128
    max_batch: int = 64
    max_connections: int = 1000
    threads: int | None = None
    time_limit: float = 30.0
    head_time_limit: float = 10.0
    body_time_limit: float = 30.0
    refresh_seconds: float = 0.5

    def __post_init__(self) -> None:
        for name, value in vars(self).copy().items():
            if name.startswith("allowed_"):
                object.__setattr__(self, name, tuple(value))
            elif name.startswith("max_"):
                check_count(value, name)
            elif name.endswith(("_limit", "_seconds")):
                is_number = isinstance(value, int | float) and value is not True
                if not (is_number and 0 < value < float("inf")):
                    raise ArgumentError(
                        f"{name} must be a number of seconds, got {value!r}"
                    )
        if self.threads is not None:
            check_count(self.threads, "threads")
        if self.token is not None:
            _check_token(self.token)

    def __repr__(self) -> str:
        token = "None" if self.token is None else "..."
        return f"Settings(token={token}, writable={self.writable}, ...)"

    @property
    def n_threads(self) -> int:
        """Requests that are worked on at once."""
        return self.threads or max(2, os.cpu_count() or 2)

    def limits(self) -> dict[str, float]:
        """Return what clients must keep to."""
        return {
            name: value
            for name, value in vars(self).items()
            if name.startswith("max_") or name == "time_limit"
        }

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, **options: Any
    ) -> Self:
        """Return settings from variables such as ``FEWBITS_SERVE_MAX_K``.

        Parameters
        ----------
        environment : mapping of str to str
        **options
            Settings that come before those of the environment.

        Raises
        ------
        ArgumentError
            When a variable that begins so is no setting: one that was meant to close a
            service must not leave it open. Or when a value cannot be read.
        """
        names = {PREFIX + field.name.upper(): field.name for field in fields(cls)}
        values: dict[str, Any] = {}
        for variable, text in environment.items():
            if not variable.startswith((PREFIX, "FEWBITS_TOKEN", "FEWBITS_SERVER")):
                continue
            if variable not in names:
                raise ArgumentError(
                    f"no setting is called {variable}; there are {', '.join(names)}"
                )
            default = getattr(cls, names[variable], None)
            kind = int if variable.endswith("THREADS") else type(default)
            try:
                if kind is bool:
                    flags = {"1": True, "true": True, "0": False, "false": False}
                    value: Any = flags[text.lower()]
                elif kind is tuple:
                    value = [part.strip() for part in text.split(",") if part.strip()]
                else:
                    value = kind(text) if kind in (int, float) else text
            except (ValueError, KeyError):
                raise ArgumentError(f"{variable} cannot be {text!r}") from None
            values[names[variable]] = value
        return cls(**{**values, **options})


def _check_token(token: str) -> None:
    if not (isinstance(token, str) and token.isascii() and token.isprintable()):
        raise ArgumentError("a token is printable ASCII")
    if len(token) < _SHORTEST_TOKEN or " " in token:
        raise ArgumentError(
            f"a token has {_SHORTEST_TOKEN} characters or more, and no spaces"
        )


def read_token(path: str | Path) -> str:
    """Return the token in a file, which other users should not be able to read.

    Raises
    ------
    ArgumentError
        When the file holds no token.
    """
    token = Path(path).read_text("utf-8").strip()
    _check_token(token)
    return token
