"""From the bodies of questions to the answers of the engine."""

from dataclasses import fields
from typing import Any

from fastapi import Response

from fewbits import engine
from fewbits.classify import Decoded
from fewbits.classify.decoders import Decoder, decoder_of
from fewbits.engine.rows import decode_items
from fewbits.errors import ArgumentError
from fewbits.server._models import ClassifyBody, DuplicatesBody, LikeBody, Queries
from fewbits.server._queries import KINDS, asked_by
from fewbits.server._reply import Json, arrow_reply
from fewbits.server._searching import check_hits
from fewbits.server._served import Served


def classified(served: Served, body: ClassifyBody) -> Response:
    """Answer which class each item is of."""
    found = engine.classify(served.bundle, _request(served, body))
    return Json(found.to_dict())


def _request(served: Served, body: ClassifyBody) -> engine.ClassifyRequest:
    return engine.ClassifyRequest(
        **_items(served, body),
        decoder=None if body.decoder is None else _decoder(body.decoder),
        max_false_reject_rate=body.max_false_reject_rate,
        max_false_accept_rate=body.max_false_accept_rate,
        top=body.top,
        labels=body.labels,
        k=body.k,
        linear=body.linear,
    )


def decoded_table(served: Served, body: ClassifyBody) -> Response:
    """Answer what `Bundle.classify` returns, a column for each array."""
    import pyarrow as pa

    known = {"decoder", "max_false_reject_rate", "max_false_accept_rate", *KINDS}
    if other := body.model_fields_set - known:
        raise ArgumentError(f"{min(other)} is for answers in JSON")
    found = decode_items(served.bundle, _request(served, body))
    names = [each.name for each in fields(Decoded)]
    return arrow_reply(pa.table({name: getattr(found, name) for name in names}))


def members(served: Served, body: LikeBody) -> dict[str, Any]:
    """Answer which items are like others."""
    check_hits(1, body.k, served.bundle, served.settings)
    request = engine.LikeRequest(
        _raw(served, body.examples),
        _raw(served, body.counterexamples),
        ids=body.ids or (),
        not_ids=body.not_ids or (),
        k=body.k,
        filter=body.filter,
        allowed=body.allowed,
        n_random=body.n_random,
        C=body.C,
        random_state=body.random_state,
    )
    found = engine.like(served.bundle, request)
    return {**found.to_dict(), "none_fits": found.none_fits}


def duplicates_found(served: Served, body: DuplicatesBody) -> Response:
    """Answer which items are in the collection twice, in groups."""
    request = engine.DuplicatesRequest(**_duplicates(served, body))
    return Json(engine.duplicates(served.bundle, request).to_dict())


def duplicate_pairs(served: Served, body: DuplicatesBody) -> Response:
    """Answer pairs of duplicates, with their rows."""
    import pyarrow as pa

    found = served.bundle.duplicates(**_duplicates(served, body))
    kind = served.bundle.collection.id_type
    table: dict[str, Any] = {"distance": found.distances}
    for i, name in enumerate(("first", "second")):
        table[f"{name}_row"] = found.rows[:, i]
        table[f"{name}_id"] = pa.array(found.ids[:, i].tolist(), kind)
    if found.vector_distances is not None:
        table["vector_distance"] = found.vector_distances
    return arrow_reply(pa.table(table))


def _duplicates(served: Served, body: DuplicatesBody) -> dict[str, Any]:
    given = {x: getattr(body, x) for x in DuplicatesBody.model_fields}
    most = served.settings.max_hits
    return {**given, "max_pairs": min(body.max_pairs or most, most)}


def _items(served: Served, body: Queries) -> dict[str, Any]:
    """Return raw items, or items of the collection."""
    asked = asked_by(body, served.settings)
    if asked.kind == "ids":
        return {"ids": asked.values}
    return {"items": _raw(served, body)}


def _raw(served: Served, body: Queries | None) -> Any:
    if body is None:
        return ()
    asked = asked_by(body, served.settings)
    if not KINDS[asked.kind]:
        raise ArgumentError(f"give raw items here, not {asked.kind}")
    return asked.raw(served.bundle, served.settings)


def _decoder(given: str | dict[str, Any]) -> Decoder:
    if isinstance(given, str):
        return decoder_of(given)
    parameters = dict(given)
    return decoder_of(parameters.pop("name", None), **parameters)
