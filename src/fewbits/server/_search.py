"""From the body of a search to its answer: alone, or together with others that wait."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi import Response

from fewbits._json import to_json
from fewbits.codes import hamming_distances
from fewbits.collection import KINDS, Collection, Hits
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.server._bodies import Body
from fewbits.server._queries import Query, as_matrix, query_of
from fewbits.server._replies import Json, arrow_reply
from fewbits.server._service import Served
from fewbits.server._settings import Settings

_EXPLAINED = 16  # queries at most: each looks at every item
_BATCHED = 100  # hits at most of a search that is answered with others
_CHEAP = {"k", "rerank", "shortlist", "columns"}  # options that keep a search short


async def search_answer(served: Served, body: Any, *, arrow: bool) -> Response:
    """Answer a search: a quick one for a single item together with others that wait."""
    settings, collection = served.settings, served.collection
    if body.table is None:
        query = query_of(body, settings)
    else:  # which takes longer than the event loop should
        query = await served.run(query_of, body, settings)
    check_hits(len(query), 10 if body.k is None else body.k, collection, settings)
    if arrow or len(query) > 1 or query.kind == "images" or _is_slow(body):
        return await served.run(_answer, served, body, query, arrow)

    def together(questions: Sequence[Any]) -> Sequence[Any]:
        return _answers(collection, settings, options, query.kind, questions)

    options = search_options(body)
    question = as_matrix(query.values) if query.kind == "vectors" else query.values[0]
    # What is answered together has all options in common, whatever they are.
    key = (served.version, _form(query.kind, question), _hashable(options))
    answer = served.service.batcher.ask(key, question, body.size, together)
    return Json(await answer)


def search_options(body: Body) -> dict[str, Any]:
    """Return the arguments of `Collection.search` but for the query."""
    return {
        name: vars(body)[name] for name in type(body).model_fields if name not in KINDS
    }


def _is_slow(body: Any) -> bool:
    """Return whether others, which share one thread, should not wait for a search."""
    options = search_options(body)
    costly = any(options[name] is not None for name in options.keys() - _CHEAP)
    return costly or (body.k or 0) > _BATCHED


def _form(kind: str, question: Any) -> tuple[Any, ...]:
    """Return what must be equal for queries to be one array."""
    if kind == "vectors":
        return kind, question.shape, question.dtype
    return kind, type(question), len(question) if kind == "codes" else 0


def _hashable(options: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(tuple(x) if isinstance(x, list) else x for x in options.values())


def check_hits(
    n_queries: int, k: int, collection: Collection, settings: Settings
) -> None:
    """Refuse more hits than the settings allow."""
    if k > settings.max_k:
        raise ArgumentError(f"at most {settings.max_k:,} hits per query, got {k}")
    if n_queries * min(k, len(collection)) > settings.max_hits:
        raise ArgumentError(
            f"{n_queries:,} queries with {k:,} hits each are more than "
            f"{settings.max_hits:,} hits: send fewer queries at a time"
        )


def search(served: Served, body: Any, query: Query) -> Hits:
    """Return the hits of a search in bounds."""
    collection, settings = served.collection, served.settings
    options, most = search_options(body), settings.max_k
    unbounded = options["radius"] is not None and options["k"] is None
    if unbounded:
        most = min(most, settings.max_hits // max(1, len(query)))
        options["k"] = most + 1
    hits = collection.search(**query.arguments(collection, settings), **options)
    if unbounded and hits.ids.shape[1] > most:
        raise ArgumentError(
            f"a query has more than {most:,} items within {options['radius']} bits: "
            "give k, a smaller radius, or a filter"
        )
    return hits


def _answer(served: Served, body: Any, query: Query, arrow: bool) -> Response:
    return hits_reply(search(served, body, query), arrow=arrow)


def hits_reply(hits: Hits, *, arrow: bool) -> Response:
    """Return hits as JSON, or as a table."""
    if not arrow:
        return Json(hits.to_dict())
    far = hits.out_of_distribution
    return arrow_reply(
        hits.to_arrow(),
        metric=hits.metric,
        version=hits.version,
        n_queries=len(hits),
        k=hits.ids.shape[1],
        columns=hits.columns.column_names,
        out_of_distribution=None if far is None else far.tolist(),
    )


def _answers(
    collection: Collection,
    settings: Settings,
    options: dict[str, Any],
    kind: str,
    questions: Sequence[Any],
) -> Sequence[Any]:
    """Answer single queries in one call; where it fails, each by itself."""
    values = np.concatenate(questions) if kind == "vectors" else list(questions)
    try:
        query = Query(kind, values).arguments(collection, settings)
        answer = collection.search(**query, **options).to_dict()
    except FewbitsError as error:  # perhaps of one of them
        if len(questions) == 1:
            return [error]
        each = ([question] for question in questions)
        return [
            answer
            for one in each
            for answer in _answers(collection, settings, options, kind, one)
        ]
    far = answer.get("out_of_distribution")
    replies = []
    for i, hits in enumerate(answer["hits"]):
        one = {**answer, "hits": [hits]}
        if far is not None:
            one["out_of_distribution"] = [far[i]]
        replies.append(to_json(one).encode())
    return replies


def explain(served: Served, body: Any) -> dict[str, Any]:
    """Answer a search with codes, and how many items are at each distance."""
    query = query_of(body, served.settings)
    if len(query) > _EXPLAINED:
        raise ArgumentError(f"explain at most {_EXPLAINED} queries")
    collection = served.collection
    check_hits(
        len(query), 10 if body.k is None else body.k, collection, served.settings
    )
    hits = search(served, body, query)
    codes = collection.encode(**query.arguments(collection, served.settings))
    mask = collection.mask(filter=body.filter, allowed=body.allowed)
    n_bits, histograms = collection.encoder.n_bits, []
    own = collection.positions_of(query.values) if query.kind == "ids" else None
    for i, code in enumerate(codes):
        apart = hamming_distances(code[None], collection.codes)[0]
        counts = np.bincount(
            apart if mask is None else apart[mask], minlength=n_bits + 1
        )
        if own is not None and (mask is None or mask[own[i]]):
            counts[0] -= 1  # the item itself, which is left out of its hits, too
        histograms.append(counts.tolist())
    answer = hits.to_dict()
    for found in answer["hits"]:
        if found:
            stored = collection.encode(ids=[hit["id"] for hit in found])
            for hit, code in zip(found, stored, strict=True):
                hit["code"] = code.tobytes().hex()
    return {
        **answer,
        "codes": [code.tobytes().hex() for code in codes],
        "histograms": histograms,
    }
