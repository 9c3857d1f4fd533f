"""From the body of a search to its answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from fastapi import Response

from fewbits import engine
from fewbits._json import to_json
from fewbits.bundle import Bundle
from fewbits.engine.rows import find_range, find_rows
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.server._arrow import hits_table
from fewbits.server._models import RangeBody, SearchBody
from fewbits.server._queries import Asked, as_matrix, asked_by
from fewbits.server._reply import Json, arrow_reply
from fewbits.server._served import Served
from fewbits.server._settings import Settings

_EXPLAINED = 16  # queries at most: each looks at every item
_BATCHED = 100  # hits at most of a search that is answered with others


async def search_answer(served: Served, body: SearchBody, *, arrow: bool) -> Response:
    """Answer a search: one for a single item together with others that wait."""
    settings, bundle = served.settings, served.bundle
    if body.table is None:
        asked = asked_by(body, settings)
    else:  # which takes longer than the event loop should
        asked = await served.run(asked_by, body, settings)
    check_hits(len(asked), body.k, bundle, settings)
    if body.explain and len(asked) > _EXPLAINED:
        raise ArgumentError(f"explain at most {_EXPLAINED} queries")
    if arrow or len(asked) > 1 or asked.kind == "images" or _is_slow(body):
        make = _search_table if arrow else _search_json
        return await served.run(make, served, body, asked)

    def together(queries: Sequence[Any]) -> Sequence[Any]:
        return _each(bundle, settings, body, asked.kind, queries)

    values = as_matrix(asked.values) if asked.kind == "vectors" else asked.values
    question = values if asked.kind == "vectors" else values[0]
    key = (served.version, _options(body), _form(asked.kind, question))
    return Json(await served.service.batcher.ask(key, question, body.size, together))


def _is_slow(body: SearchBody) -> bool:
    """Return whether others, which share one thread, should not wait for a search."""
    conditions = body.filter, body.allowed, body.group_by
    return body.explain or body.k > _BATCHED or conditions != (None, None, None)


def check_hits(n_queries: int, k: int, bundle: Bundle, settings: Settings) -> None:
    """Refuse to find more than fits in memory."""
    if k > settings.max_k:
        raise ArgumentError(f"at most {settings.max_k:,} hits per query, got {k}")
    most = n_queries * min(k, len(bundle.collection))
    if most > settings.max_hits:
        raise ArgumentError(
            f"{n_queries:,} queries with {k:,} hits each are more than "
            f"{settings.max_hits:,} hits: ask in parts"
        )


def _options(body: SearchBody) -> tuple[Any, ...]:
    columns = None if body.columns is None else tuple(body.columns)
    return body.k, body.rerank, columns


def _form(kind: str, question: Any) -> tuple[Any, ...]:
    """Return what must be equal for queries to be one array."""
    if kind == "vectors":
        return kind, question.shape, question.dtype
    return kind, type(question), len(question) if kind == "codes" else 0


def _request(body: SearchBody, **fields: Any) -> engine.SearchRequest:
    return engine.SearchRequest(
        k=body.k,
        filter=body.filter,
        allowed=body.allowed,
        group_by=body.group_by,
        rerank=body.rerank,
        columns=body.columns,
        explain=body.explain,
        **fields,
    )


def _search_json(served: Served, body: SearchBody, asked: Asked) -> Response:
    fields = asked.fields(served.bundle, served.settings)
    found = engine.search(served.bundle, _request(body, **fields))
    return Json(found.to_dict())


def _search_table(served: Served, body: SearchBody, asked: Asked) -> Response:
    bundle = served.bundle
    fields = asked.fields(bundle, served.settings)
    found, _ = find_rows(bundle, _request(body, **fields))
    query, place = np.nonzero(found.rows >= 0)
    table = hits_table(
        bundle,
        query,
        found.rows[query, place],
        body.columns,
        distance=found.distances[query, place],
    )
    return arrow_reply(table, metric=found.metric, n_queries=len(found.rows))


def _each(
    bundle: Bundle,
    settings: Settings,
    body: SearchBody,
    kind: str,
    questions: Sequence[Any],
) -> Sequence[Any]:
    """Answer single queries in one call; where it fails, each by itself."""
    values = np.concatenate(questions) if kind == "vectors" else questions
    try:
        fields = Asked(kind, values).fields(bundle, settings)
        found = engine.search(bundle, _request(body, **fields))
    except FewbitsError as error:  # perhaps of one of them
        if len(questions) == 1:
            return [error]
        return [
            answer
            for each in questions
            for answer in _each(bundle, settings, body, kind, [each])
        ]
    return [_alone(found, i, kind) for i in range(len(questions))]


def _alone(found: engine.SearchResponse, i: int, kind: str) -> bytes:
    """Return the answer to one query as if nothing else had been asked."""
    result = found.results[i]
    if kind == "vectors":
        result = replace(result, query="query 0")
    return to_json(replace(found, results=(result,)).to_dict()).encode()


def range_answer(served: Served, body: RangeBody) -> Response:
    """Answer a range search."""
    return Json(engine.range_search(served.bundle, _range(served, body)).to_dict())


def range_table(served: Served, body: RangeBody) -> Response:
    """Answer a range search by a table."""
    found, _, truncated = find_range(served.bundle, _range(served, body))
    query = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
    table = hits_table(
        served.bundle, query, found.ids, body.columns, distance=found.distances
    )
    n_queries = len(found.offsets) - 1
    return arrow_reply(
        table, metric="hamming", n_queries=n_queries, truncated=truncated
    )


def _range(served: Served, body: RangeBody) -> engine.RangeRequest:
    asked = asked_by(body, served.settings)
    check_hits(len(asked), body.limit, served.bundle, served.settings)
    return engine.RangeRequest(
        radius=body.radius,
        limit=body.limit,
        filter=body.filter,
        allowed=body.allowed,
        columns=body.columns,
        **asked.fields(served.bundle, served.settings),
    )
