"""Queries to a server: search and classification."""

from dataclasses import fields as fields_of
from typing import Any

import numpy as np

from fewbits._checks import check_k, check_radius
from fewbits.bundle import N_RANDOM, ClassMembers
from fewbits.classify import Decoded
from fewbits.classify.decoders import DECODERS, Decoder, decoder_of
from fewbits.client._base import RemoteBase, chosen
from fewbits.client._payload import item_column, plain_ids
from fewbits.client._tables import ids_array, matrices, records
from fewbits.codes import Neighbours, RangeSearchResult
from fewbits.errors import ArgumentError
from fewbits.index import Ranked


class Asking(RemoteBase):
    """Queries, which change nothing."""

    def search(
        self,
        queries: Any,
        k: int = 10,
        *,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
    ) -> Neighbours:
        """Return the `k` nearest items of each query, see `Bundle.search`.

        Returns
        -------
        Neighbours
        """
        asked = {"group_by": group_by, **chosen(filter, allowed)}
        answers = self._nearest(queries, k, rerank=False, **asked)
        return Neighbours(*matrices(answers, k, text_ids=self._has_text_ids))

    def search_reranked(
        self, queries: Any, k: int = 10, *, filter: Any = None, allowed: Any = None
    ) -> Ranked:
        """Return the `k` nearest of a shortlist, see `Bundle.search_reranked`.

        The shortlist is as long as the bundle was tuned to.

        Returns
        -------
        Ranked
        """
        answers = self._nearest(queries, k, rerank=True, **chosen(filter, allowed))
        none = np.float32(np.inf)
        return Ranked(*matrices(answers, k, text_ids=self._has_text_ids, none=none))

    def _nearest(self, queries: Any, k: int, **asked: Any) -> Any:
        """Return the answers of a search without columns."""
        k = check_k(k)
        return self._answers("/v1/search", queries, hits=k, k=k, columns=[], **asked)

    def search_records(
        self,
        queries: Any,
        k: int = 10,
        *,
        rerank: bool | None = None,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
    ) -> list[list[dict[str, Any]]]:
        """Return the nearest items with their columns, see `Bundle.search_records`.

        Returns
        -------
        list of list of dict
        """
        k = check_k(k)
        answers = self._answers(
            "/v1/search",
            queries,
            hits=k,
            k=k,
            rerank=rerank,
            group_by=group_by,
            **chosen(filter, allowed),
        )
        return records(answers)

    def range_search(
        self, queries: Any, radius: int, *, filter: Any = None, allowed: Any = None
    ) -> RangeSearchResult:
        """Return all items within a radius, see `Bundle.range_search`.

        Returns
        -------
        RangeSearchResult

        Raises
        ------
        ArgumentError
            When a query has more hits than the server gives.
        """
        radius = check_radius(radius)
        most = self.facts["limits"]["max_k"]
        offsets, distances = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
        ids = [np.empty(0, object if self._has_text_ids else np.int64)]
        for table, told in self._answers(
            "/v1/range-search",
            queries,
            hits=most,
            radius=radius,
            limit=most,
            columns=[],
            **chosen(filter, allowed),
        ):
            if told["truncated"]:
                raise ArgumentError(
                    f"a query has more than {most:,} items within {radius} bits: give "
                    "a smaller radius, or a filter"
                )
            query = table["_query"].to_numpy()
            counts = np.bincount(query, minlength=told["n_queries"])
            offsets.append(offsets[-1][-1] + np.cumsum(counts))
            distances.append(table["_distance"].to_numpy())
            ids.append(ids_array(table["_id"]))
        return RangeSearchResult(
            np.concatenate(offsets), np.concatenate(distances), np.concatenate(ids)
        )

    def classify(
        self,
        items: Any,
        *,
        decoder: Decoder | str = "soft",
        max_false_reject_rate: float | None = None,
        max_false_accept_rate: float | None = None,
    ) -> Decoded:
        """Predict the class of each item, see `Bundle.classify`.

        Returns
        -------
        Decoded
        """
        answers = self._answers(
            "/v1/classify",
            items,
            hits=1,
            decoder=_named(decoder_of(decoder)),
            max_false_reject_rate=max_false_reject_rate,
            max_false_accept_rate=max_false_accept_rate,
        )
        found = [table for table, _ in answers]
        names = [each.name for each in fields_of(Decoded)]
        empty = {name: np.empty(0, np.int64) for name in names}
        empty["distances"] = np.empty(0, np.int32)

        def joined(name: str) -> Any:
            return np.concatenate([empty[name], *(x[name].to_numpy() for x in found)])

        return Decoded(**{name: joined(name) for name in names})

    def search_by_example(
        self,
        examples: Any = (),
        counterexamples: Any = (),
        *,
        ids: Any = (),
        not_ids: Any = (),
        k: int = 10,
        filter: Any = None,
        allowed: Any = None,
        n_random: int = N_RANDOM,
        C: float = 100.0,
        random_state: int = 0,
    ) -> ClassMembers:
        """Rank the collection by a class of examples, see `Bundle.search_by_example`.

        Returns
        -------
        ClassMembers
        """
        k = check_k(k)
        found = self._connection.post(
            "/v1/like",
            examples=self._some(examples),
            counterexamples=self._some(counterexamples),
            ids=plain_ids(ids),
            not_ids=plain_ids(not_ids),
            k=k,
            n_random=n_random,
            C=C,
            random_state=random_state,
            **chosen(filter, allowed),
        )["hits"]
        scores = np.array([hit["score"] for hit in found], np.float32)
        known = [hit["id"] for hit in found]
        kind = object if self._has_text_ids else np.int64
        return ClassMembers(scores, np.fromiter(known, kind, len(known)))

    def _some(self, items: Any) -> dict[str, Any] | None:
        """Return examples as JSON says them; None where there are none."""
        if isinstance(items, list | tuple) and not items:
            return None
        import base64

        kind, column = item_column(items, self.facts)
        values = column.to_pylist()
        if kind == "images":
            values = [base64.b64encode(each).decode() for each in values]
        return {kind: values}


def _named(decoder: Decoder) -> dict[str, Any]:
    """Return the name of a decoder and its parameters."""
    names = {kind: name for name, kind in DECODERS.items()}
    if type(decoder) not in names:
        raise ArgumentError(f"a server knows no decoder {decoder!r}")
    given = {each.name: getattr(decoder, each.name) for each in fields_of(decoder)}
    return {"name": names[type(decoder)], **given}
