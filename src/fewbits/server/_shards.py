"""One answer from several servers that have a part of the rows each.

Ties are broken by the order of the shards, then by each shard's own order. Where shards
hold consecutive parts of a collection, in its order, that is the order of the rows, and
Hamming distances give the answers of one server with all of them. Re-ranked answers may
differ: each shard has a shortlist of its own.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fewbits.client.searching import Busy, Searcher
from fewbits.errors import ArgumentError, ServiceError
from fewbits.server._errors import ApiError
from fewbits.server._shard_tables import group_key, merged_table

Body = dict[str, Any]


class Shards:
    """Asks all shards at once, and merges what they answer.

    Parameters
    ----------
    searchers : sequence of Searcher
        In the order of the rows.
    """

    def __init__(self, searchers: Sequence[Searcher]) -> None:
        self._searchers = tuple(searchers)
        #: Width and fingerprint of the encoders of the shards that answered last.
        self._encoders: dict[int, tuple[int, str]] = {}

    def version(self) -> str:
        """Return the versions of all shards, as of their last answers."""
        return "/".join(each.snapshot for each in self._searchers)

    async def health(self) -> tuple[list[Body], list[str]]:
        """Return the health of the shards that answer, and the names of the rest."""
        return self._apart(await self._ask("/v1/health", self._all()))

    async def fault(self) -> str:
        """Return why shards cannot answer together; empty where they can."""
        try:
            await self._check_encoders()
        except ApiError as error:
            return error.message
        return ""

    async def facts(self) -> tuple[list[Body], list[str]]:
        """Return the facts of the shards that answer, and the names of the rest."""
        found = await self._ask("/v1/facts", self._all())
        self._compare(found)
        return self._apart(found)

    async def search(self, body: Body, table: Any = None) -> Body:
        """Return the nearest items of all shards."""
        asked, columns = await self._by_code(body), body.get("columns")
        group_by = body.get("group_by")
        asked = _with_group(asked, group_by)
        answers, missing = await self._ask_all("/v1/search", asked, table)
        results = _labelled(_merged(answers, body["k"], group_by), body)
        if group_by is not None and columns is not None:
            _keep_columns(results, columns)
        return _with_missing({"metric": _metric(answers), "results": results}, missing)

    async def search_table(self, body: Body, table: Any) -> tuple[Any, Body]:
        """Return the nearest items of all shards as a table, and other fields."""
        group_by = body.get("group_by")
        asked = _with_group(await self._by_code(body), group_by)
        found, missing = await self._ask_all("/v1/search", asked, table, arrow=True)
        tables, answers = [each[0] for each in found], [each[1] for each in found]
        merged = await asyncio.to_thread(merged_table, tables, body["k"], group_by)
        if group_by is not None and group_by not in (body.get("columns") or [group_by]):
            merged = merged.drop_columns([group_by])
        metric, n_queries = _metric(answers), answers[0]["n_queries"]
        return merged, _with_missing(
            {"metric": metric, "n_queries": n_queries}, missing
        )

    async def range_search(self, body: Body, table: Any = None) -> Body:
        """Return all items within a distance, of all shards."""
        asked = await self._by_code(body)
        answers, missing = await self._ask_all("/v1/range-search", asked, table)
        limit = body["limit"]
        whole = _labelled(_merged(answers, None, None), body)
        cut = [{**each, "hits": each["hits"][:limit]} for each in whole]
        truncated = any(each["truncated"] for each in answers) or whole != cut
        return _with_missing(
            {"metric": "hamming", "truncated": truncated, "results": cut}, missing
        )

    async def range_table(self, body: Body, table: Any) -> tuple[Any, Body]:
        """Return all items within a distance as a table, and other fields."""
        asked = await self._by_code(body)
        found, missing = await self._ask_all(
            "/v1/range-search", asked, table, arrow=True
        )
        tables = [each[0] for each in found]
        merged = await asyncio.to_thread(merged_table, tables, body["limit"], None)
        cut = merged.num_rows < sum(each.num_rows for each in tables)
        told = {
            "metric": "hamming",
            "n_queries": found[0][1]["n_queries"],
            "truncated": cut or any(each[1]["truncated"] for each in found),
        }
        return merged, _with_missing(told, missing)

    async def encode(self, body: Body, table: Any = None, *, arrow: bool) -> Any:
        """Return codes, from the first shard that answers: all have one encoder."""
        await self._check_encoders()
        for i in sorted(self._encoders):
            found = await self._ask("/v1/encode", {i: body}, table, arrow=arrow)
            if found:
                return found[i]
        raise _none_answers()

    async def items(self, ids: Sequence[Any]) -> Body:
        """Return items by their ids, wherever they are."""
        asked = _wanted(ids)
        answers, missing = await self._ask_all("/v1/items", asked)
        known = {item["id"]: item for each in answers for item in each["items"]}
        _check_known(ids, known, missing)
        return _with_missing({"items": [known[id] for id in ids]}, missing)

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.gather(*(each.close() for each in self._searchers))

    async def _by_code(self, body: Body) -> Body:
        """Replace items of the collection by their codes, which every shard knows."""
        if body.get("ids") is None:
            return body
        if body.get("rerank"):
            raise ArgumentError("shards re-rank raw items, not ids: leave out rerank")
        items = (await self.items(body["ids"]))["items"]
        rest = {name: value for name, value in body.items() if name != "ids"}
        return {**rest, "codes": [item["code"] for item in items]}

    async def _ask_all(
        self, path: str, body: Body, table: Any = None, *, arrow: bool = False
    ) -> tuple[list[Any], list[str]]:
        """Return what the shards answer, and the names of those that do not."""
        await self._check_encoders()
        bodies = dict.fromkeys(sorted(self._encoders), body)
        if body.get("allowed") is not None:
            bodies = await self._with_allowed(bodies, body["allowed"])
        return self._apart(await self._ask(path, bodies, table, arrow=arrow))

    async def _with_allowed(
        self, bodies: Mapping[int, Body], allowed: Sequence[Any]
    ) -> dict[int, Body]:
        """Split allowed ids: a shard refuses those that it has not."""
        asked = _wanted(allowed)
        found = await self._ask("/v1/items", dict.fromkeys(bodies, asked))
        held = {i: [x["id"] for x in each["items"]] for i, each in found.items()}
        known = {id for ids in held.values() for id in ids}
        _check_known(allowed, known, self._missing(found))
        return {i: {**bodies[i], "allowed": ids} for i, ids in held.items()}

    async def _check_encoders(self) -> None:
        """Look at the shards that are new, or did not answer the last time."""
        new = {i: None for i in self._all() if i not in self._encoders}
        if new:
            self._compare(await self._ask("/v1/facts", new))

    def _compare(self, facts: Mapping[int, Body]) -> None:
        """Refuse shards whose codes say different things."""
        for i, each in facts.items():
            self._encoders[i] = each["n_bits"], each["encoder"]["fingerprint"]
        encoders = dict(sorted(self._encoders.items()))
        for i, found in encoders.items():
            first, wanted = next(iter(encoders.items()))
            if found != wanted:
                self._encoders.clear()  # so that they are looked at again
                names = self._searchers[first].name, self._searchers[i].name
                raise _differ(
                    f"{names[0]} has an encoder of {wanted[0]} bits ({wanted[1][:8]}), "
                    f"{names[1]} one of {found[0]} bits ({found[1][:8]}): shards need "
                    "the same"
                )

    def _all(self) -> dict[int, None]:
        return dict.fromkeys(range(len(self._searchers)))

    async def _ask(
        self,
        path: str,
        bodies: Mapping[int, Body | None],
        table: Any = None,
        *,
        arrow: bool = False,
    ) -> dict[int, Any]:
        """Return the answers of those that answer; a refusal of one is ours."""
        asked = [
            self._searchers[i].ask(path, body, table=table, arrow=arrow)
            for i, body in bodies.items()
        ]
        found = await asyncio.gather(*asked, return_exceptions=True)
        answers: dict[int, Any] = {}
        for i, answer in zip(bodies, found, strict=True):
            if isinstance(answer, ServiceError) and answer.status is None:
                self._encoders.pop(i, None)  # it may come back with another
            elif isinstance(answer, ServiceError):
                raise _refused(answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                answers[i] = answer
        return answers

    def _apart(self, answers: Mapping[int, Any]) -> tuple[list[Any], list[str]]:
        if not answers:
            raise _none_answers()
        return list(answers.values()), self._missing(answers)

    def _missing(self, answers: Mapping[int, Any]) -> list[str]:
        return [each.name for i, each in enumerate(self._searchers) if i not in answers]


def _wanted(ids: Sequence[Any]) -> Body:
    """Ask for those of some items that a shard has, for each once."""
    return {"ids": list(dict.fromkeys(ids)), "skip_unknown": True}


def _check_known(ids: Sequence[Any], known: Any, missing: Sequence[str]) -> None:
    """Refuse ids that no shard has; one that does not answer may have them."""
    unknown = next((id for id in ids if id not in known), None)
    if unknown is None:
        return
    if missing:
        raise ApiError(
            503,
            "missing_shards",
            f"no shard that answers has the id {unknown!r}; missing: "
            f"{', '.join(missing)}",
        )
    raise ArgumentError(f"no item has the id {unknown!r}")


def _with_group(body: Body, group_by: str | None) -> Body:
    """Ask for the column that groups, too: groups are found again among all hits."""
    columns = body.get("columns")
    if group_by is None or columns is None or group_by in columns:
        return body
    return {**body, "columns": [*columns, group_by]}


def _metric(answers: Sequence[Body]) -> str:
    metrics = {str(each["metric"]) for each in answers}
    if len(metrics) > 1:
        raise _differ(
            f"shards measure by {' and '.join(sorted(metrics))}: ask with "
            '"rerank": false'
        )
    return metrics.pop()


def _differ(message: str) -> ApiError:
    return ApiError(502, "shards_differ", message)


def _refused(error: ServiceError) -> ApiError:
    headers = {"Retry-After": error.retry_after} if isinstance(error, Busy) else None
    return ApiError(error.status or 502, error.code or "shard", str(error), headers)


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
        group = group_key(hit["columns"][name])
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
