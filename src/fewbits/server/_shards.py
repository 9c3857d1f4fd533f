"""One answer from several servers that have a part of the rows each.

Ties are broken by the order of the shards, then by each shard's own order. Where shards
hold consecutive parts of a collection, in its order, that is the order of the rows: the
answers are those of one server with all of them, bit for bit.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from fewbits.client.searching import Searcher
from fewbits.errors import ArgumentError, ServiceError
from fewbits.server._errors import ApiError


class Shards:
    """Asks all shards at once, and merges what they answer.

    Parameters
    ----------
    searchers : sequence of Searcher
        In the order of the rows.
    """

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self._searchers = tuple(searchers)

    async def health(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the health of the shards that answer, and the names of others."""
        return await self._ask_all("/v1/health")

    async def facts(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the facts of the shards that answer, and the names of others."""
        return await self._ask_all("/v1/facts")

    async def search(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the nearest items of all shards."""
        asked, columns = await self._by_code(body), body.get("columns")
        group_by = body.get("group_by")
        if group_by is not None and columns is not None:
            asked = {**asked, "columns": [*columns, group_by]}
        answers, missing = await self._ask_all("/v1/search", asked)
        results = _labelled(_merged(answers, body["k"], group_by), body)
        if asked is not body and columns is not None:
            _keep_columns(results, columns)
        found = {"metric": answers[0]["metric"], "results": results}
        return _with_missing(found, missing)

    async def range_search(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return all items within a distance, of all shards."""
        asked = await self._by_code(body)
        answers, missing = await self._ask_all("/v1/range-search", asked)
        limit = body["limit"]
        whole = _labelled(_merged(answers, None, None), body)
        cut = [{**each, "hits": each["hits"][:limit]} for each in whole]
        truncated = any(each["truncated"] for each in answers) or whole != cut
        return _with_missing(
            {"metric": "hamming", "truncated": truncated, "results": cut}, missing
        )

    async def encode(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return codes, from the first shard that answers: all have one encoder."""
        for searcher in self._searchers:
            try:
                found: dict[str, Any] = await searcher.ask("/v1/encode", body)
            except ServiceError as error:
                if error.status is not None:
                    raise
                continue
            return found
        raise _none_answers()

    async def items(self, ids: Sequence[Any]) -> dict[str, Any]:
        """Return items by their ids, wherever they are."""
        asked = [self._held(searcher, ids) for searcher in self._searchers]
        found = await asyncio.gather(*asked)
        missing = [
            searcher.name
            for searcher, held in zip(self._searchers, found, strict=True)
            if held is None
        ]
        known = {item["id"]: item for held in found for item in held or ()}
        if unknown := [id for id in ids if id not in known]:
            raise ArgumentError(f"no item has the id {unknown[0]!r}")
        return _with_missing({"items": [known[id] for id in ids]}, missing)

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.gather(*(each.close() for each in self._searchers))

    async def _held(
        self, searcher: Searcher, ids: Sequence[Any]
    ) -> list[dict[str, Any]] | None:
        """Return those of some items that a shard has; None where it is missing."""
        try:
            answer = await searcher.ask("/v1/items", {"ids": list(ids)})
        except ArgumentError:  # it has not all of them
            if len(ids) == 1:
                return []
            half = len(ids) // 2
            left = await self._held(searcher, ids[:half])
            right = await self._held(searcher, ids[half:])
            return None if left is None or right is None else left + right
        except ServiceError as error:
            if error.status is not None:
                raise
            return None
        found: list[dict[str, Any]] = answer["items"]
        return found

    async def _by_code(self, body: dict[str, Any]) -> dict[str, Any]:
        """Replace items of the collection by their codes, which every shard knows."""
        if body.get("ids") is None:
            return body
        items = (await self.items(body["ids"]))["items"]
        rest = {name: value for name, value in body.items() if name != "ids"}
        return {**rest, "codes": [item["code"] for item in items]}

    async def _ask_all(
        self, path: str, body: dict[str, Any] | None = None
    ) -> tuple[list[dict[str, Any]], list[str]]:
        asked = [searcher.ask(path, body) for searcher in self._searchers]
        found = await asyncio.gather(*asked, return_exceptions=True)
        answers: list[dict[str, Any]] = []
        missing: list[str] = []
        for searcher, answer in zip(self._searchers, found, strict=True):
            if isinstance(answer, ServiceError) and answer.status is None:
                missing.append(searcher.name)
            elif isinstance(answer, ServiceError):
                raise ApiError(
                    answer.status or 502, answer.code or "shard", str(answer)
                )
            elif isinstance(answer, BaseException):
                raise answer
            else:
                answers.append(answer)
        if not answers:
            raise _none_answers()
        return answers, missing


def _merged(
    answers: Sequence[dict[str, Any]], k: int | None, group_by: str | None
) -> list[dict[str, Any]]:
    return [
        _one(results, k, group_by)
        for results in zip(*(each["results"] for each in answers), strict=True)
    ]


def _labelled(
    results: list[dict[str, Any]], body: dict[str, Any]
) -> list[dict[str, Any]]:
    """Call queries that are items by their ids, though codes were asked for."""
    if "ids" not in body:
        return results
    pairs = zip(body["ids"], results, strict=True)
    return [{**result, "query": str(id)} for id, result in pairs]


def _one(
    results: Sequence[dict[str, Any]], k: int | None, group_by: str | None
) -> dict[str, Any]:
    """Return the answer to one query from those of all shards."""
    # Sorting keeps the order of equal distances: that of shards, then of their rows.
    hits = sorted(
        (hit for each in results for hit in each["hits"]),
        key=lambda hit: hit["distance"],
    )
    if group_by is not None:
        hits = _best_of_groups(hits, group_by)
    merged = {**results[0], "hits": hits[:k]}
    far = [each.get("out_of_distribution") for each in results if each["hits"]]
    merged.pop("out_of_distribution", None)
    if far and None not in far:
        merged["out_of_distribution"] = all(far)
    if "histogram" in merged:
        counts = zip(*(each["histogram"] for each in results), strict=True)
        merged["histogram"] = [sum(each) for each in counts]
    return merged


def _best_of_groups(hits: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    seen: set[str] = set()
    best = []
    for hit in hits:
        group = repr(hit["columns"][name])
        if group not in seen:
            best.append(hit)
        seen.add(group)
    return best


def _keep_columns(results: list[dict[str, Any]], names: Sequence[str]) -> None:
    for result in results:
        for hit in result["hits"]:
            hit["columns"] = {name: hit["columns"][name] for name in names}


def _with_missing(answer: dict[str, Any], missing: list[str]) -> dict[str, Any]:
    return {**answer, "missing_shards": missing} if missing else answer


def _none_answers() -> ApiError:
    return ApiError(503, "no_shards", "no shard answers")
