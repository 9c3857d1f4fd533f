"""The verbs of a bundle, answered by a server."""

from dataclasses import fields
from typing import Any, Self

import numpy as np

from fewbits._checks import check_k
from fewbits._typing import CodeArray
from fewbits.bundle import RecallEstimate
from fewbits.client._asking import Asking
from fewbits.client._changing import Changing
from fewbits.client._connection import Connection
from fewbits.client._duplicates import Duplicating
from fewbits.client._tables import codes_of
from fewbits.errors import ArgumentError
from fewbits.store import Report


class Remote(Asking, Duplicating, Changing):
    """A bundle on another machine, see `connect`.

    Its methods take what those of `fewbits.Bundle` take, return what these return, and
    raise the same errors. Conditions are texts, and `allowed` are ids. A call with
    many items is several requests, between which the collection may change.

    Not available remotely:

    - new bundles: `load`, `save`, `check_target`, `prefix`, `reencode`,
      `rejecting`, `with_codes`, `with_collection_of`, `with_column`, `with_index`,
      `with_items`, `with_novelty_radius`;
    - local state: `collection`, `items`, `index`, `commit`, `snapshot`;
    - row numbers: `rank_rows_by_example`, `search_rows`, `search_rows_by_code`,
      `range_rows_by_code`;
    - unbounded results: `stream_duplicates`, `stream_range_search`,
      `stream_range_rows_by_code`, `features`;
    - repairs of files: `repair`;
    - parts of the bundle, described by `facts` and `summary`: `backbone`,
      `backbone_fingerprint`, `calibration`, `checked_kind`, `classes`, `codebook`,
      `disk_bytes`, `encoder`, `item_kind`, `label_column`, `metadata`,
      `novelty_radius`, `raw_column`, `rejection`, `shortlist`.

    Parameters
    ----------
    connection : Connection
    """

    def __repr__(self) -> str:
        return f"Remote({self._connection.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def summary(self) -> dict[str, Any]:
        """Return what `Bundle.summary` does."""
        found: dict[str, Any] = self._fresh_facts()["summary"]
        return found

    def encode(self, items: Any) -> CodeArray:
        """Return the packed codes of raw items.

        Parameters
        ----------
        items : array-like of shape (n, n_features), or sequence
            Vectors, or whatever the backbone takes.

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
        """
        found = [
            codes_of(table["_code"])
            for table, _ in self._answers("/v1/encode", items, hits=1)
        ]
        empty = np.empty((0, self.facts["bytes_per_code"]), np.uint8)
        return np.concatenate([empty, *found])

    def verify(self) -> Report:
        """Read every byte of the collection there, see `Bundle.verify`.

        Returns
        -------
        fewbits.store.Report

        Raises
        ------
        ServiceError
            When the server has the collection in memory.
        """
        told = self._connection.post("/v1/verify")
        names = [each.name for each in fields(Report)]
        damages = [{x: y for x, y in d.items() if x != "text"} for d in told["damages"]]
        return Report.from_dict({**{x: told[x] for x in names}, "damages": damages})

    def estimate_recall(self, k: int = 10) -> tuple[RecallEstimate, ...]:
        """Estimate the recall of each way to search, see `Bundle.estimate_recall`.

        The server draws rows of its collection as queries.

        Parameters
        ----------
        k : int, default=10
            Up to 100.

        Returns
        -------
        tuple of RecallEstimate

        Raises
        ------
        ArgumentError
            When the collection keeps no vectors to compare with.
        """
        found = self._connection.get(f"/v1/quality/recall?k={check_k(k)}")
        if found["reason"] is not None:
            raise ArgumentError(found["reason"])
        return tuple(RecallEstimate(**each) for each in found["estimates"])


def connect(url: str, token: str | None = None, *, timeout: float = 60.0) -> Remote:
    """Return the bundle of a server, with the methods of a local one.

    Parameters
    ----------
    url : str
        Where ``fewbits serve`` listens, such as ``http://localhost:8000``.
    token : str, default=None
        The token of the server, if it has one.
    timeout : float, default=60
        Seconds to wait for an answer.

    Returns
    -------
    Remote

    Raises
    ------
    ServiceError
        When nothing answers there, or the token is wrong.
    MissingExtraError
        When httpx is not installed.

    Examples
    --------
    >>> remote = connect("http://localhost:8000")  # doctest: +SKIP
    >>> remote.search([[0.5, 1.0]], k=3).ids  # doctest: +SKIP
    """
    connection = Connection(url, token, timeout)
    try:
        return Remote(connection)
    except BaseException:
        connection.close()
        raise
