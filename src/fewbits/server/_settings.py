"""Settings of a service."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    TypeAdapter,
    ValidationError,
)

from fewbits.errors import ArgumentError

#: Environment variables of settings begin so.
PREFIX = "FEWBITS_SERVE_"
#: Others that were meant to close a service begin so.
_MISTAKEN = "FEWBITS_TOKEN", "FEWBITS_SERVER"
Seconds = Annotated[float, Field(gt=0)]


class Settings(BaseModel):
    """Permissions and limits of a service.

    Parameters
    ----------
    token : str, default=None
        What a request must bring as ``Authorization: Bearer TOKEN``, 16 characters or
        more of printable ASCII, no spaces; None asks for nothing.
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
        Bodies of all requests together; beyond that, requests are refused with 429.
        Also the largest answer of items.
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
    max_points : int, default=1_000_000
        Items on the map, drawn from a larger collection.
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

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, strict=True
    )

    token: str | None = Field(None, pattern="^[!-~]{16,}$", repr=False)
    writable: bool = False
    allowed_hosts: tuple[str, ...] = Field((), strict=False)  # lists, too
    allowed_origins: tuple[str, ...] = Field((), strict=False)
    max_body_bytes: PositiveInt = 32 << 20
    max_json_bytes: PositiveInt = 8 << 20
    max_held_bytes: PositiveInt = 256 << 20
    max_queries: PositiveInt = 10_000
    max_characters: PositiveInt = 2_000_000
    max_k: PositiveInt = 10_000
    max_hits: PositiveInt = 1_000_000
    max_pixels: PositiveInt = 50_000_000
    max_points: PositiveInt = 1_000_000
    max_waiting: PositiveInt = 128
    max_batch: PositiveInt = 64
    max_connections: PositiveInt = 1000
    threads: PositiveInt | None = None
    time_limit: Seconds = 30.0
    head_time_limit: Seconds = 10.0
    body_time_limit: Seconds = 30.0
    refresh_seconds: Seconds = 0.5

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:  # the value may be a token
            fault = error.errors(include_url=False, include_input=False)[0]
            if (name := str(fault["loc"][0])) == "token":
                fault["msg"] = "16 characters or more of printable ASCII, no spaces"
            raise ArgumentError(f"{name}: {fault['msg']}") from None

    @property
    def n_threads(self) -> int:
        """Requests that are worked on at once."""
        return self.threads or max(2, os.cpu_count() or 2)

    def limits(self) -> dict[str, float]:
        """Return what clients must keep to."""
        return {
            name: value
            for name, value in self
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
        values: dict[str, Any] = {}
        for variable, text in environment.items():
            if not variable.startswith((PREFIX, *_MISTAKEN)):
                continue
            name = variable.removeprefix(PREFIX).lower()
            if variable != f"{PREFIX}{name.upper()}" or name not in cls.model_fields:
                names = ", ".join(PREFIX + name.upper() for name in cls.model_fields)
                raise ArgumentError(f"no setting is called {variable}; known: {names}")
            if name.startswith("allowed_"):
                values[name] = [x.strip() for x in text.split(",") if x.strip()]
                continue
            if name == "token":  # which no message may show
                values[name] = text
                continue
            kind = TypeAdapter[Any](cls.model_fields[name].rebuild_annotation())
            try:
                values[name] = kind.validate_strings(text)
            except ValidationError as error:
                reason = error.errors(include_url=False)[0]["msg"]
                raise ArgumentError(
                    f"{variable} cannot be {text!r}: {reason}"
                ) from None
        return cls(**{**values, **options})


def read_token(path: str | Path) -> str:
    """Return the token in a file, which other users should not be able to read.

    Raises
    ------
    ArgumentError
        When the file holds no token.
    """
    token = Path(path).read_text("utf-8").strip()
    Settings(token=token)
    return token
