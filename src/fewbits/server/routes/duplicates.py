"""Groups of near duplicates: counted, the largest shown, or all of them as a list."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from fewbits._typing import IdArray
from fewbits.client.wire import ARROW
from fewbits.codes import pair_distances
from fewbits.collection import Collection, DuplicateGroups, tools
from fewbits.errors import ArgumentError
from fewbits.server._bodies import DuplicateGroupsBody
from fewbits.server._items import records
from fewbits.server._replies import CSV, Json, accepts, arrow_reply, csv_of
from fewbits.server._routing import post_route
from fewbits.server._service import View
from fewbits.store import ID

router = APIRouter()

_MAX_SHOWN = 100  # items of a group, in JSON
#: Pairs of which groups are made: of different codes, about a minute's work; and of
#: all that vectors confirm.
_MOST_PAIRS, _MOST_CONFIRMED = 1_000_000_000, 10_000_000
_LINES = 10_000  # of CSV that are written at a time


@post_route(
    router, "/v1/duplicate-groups", DuplicateGroupsBody, "DuplicateGroups", CSV, ARROW
)
async def duplicate_groups(body: Any, view: View, request: Request) -> Response:
    """Count groups of near duplicates, and show the largest; or list all, as a table.

    In JSON each item has the distance from the first of its group. CSV says which items
    to keep; Arrow has the number, the position and the id of each item in a group.
    """
    collection, most_hits = view.collection, view.settings.max_hits

    def groups() -> DuplicateGroups:
        confirmed = body.max_vector_distance is not None
        most = _MOST_CONFIRMED if confirmed else _MOST_PAIRS
        options = body.options("max_pairs", "max_groups", "keep")
        pairs = collection.duplicates(**options)
        return pairs.groups(max_pairs=min(body.max_pairs or most, most))

    def largest() -> dict[str, Any]:
        whole = groups()
        shown = _largest_first(whole)[: body.max_groups]
        answers = []
        for members in shown:
            members = members[:_MAX_SHOWN]
            codes = np.ascontiguousarray(collection.codes[members])
            first = np.repeat(codes[:1], len(codes), axis=0)
            items = records(collection, members)
            for item, distance in zip(items, pair_distances(codes, first), strict=True):
                item["distance"] = int(distance)
            answers.append(items)
        return {
            "n_groups": len(whole),
            "n_items": len(whole.ids),
            "n_pairs": whole.n_pairs,
            "groups": answers,
            "sizes": [len(members) for members in shown],
        }

    def table() -> Response:
        import pyarrow as pa

        whole = groups()
        if len(whole.ids) > most_hits:
            raise ArgumentError(
                f"{len(whole.ids):,} items are in groups, {most_hits:,} are answered "
                "at most: give a smaller radius, a filter, or ask for CSV"
            )
        numbers = np.repeat(np.arange(len(whole)), np.diff(whole.offsets))
        ids = pa.array(whole.ids, collection.schema.field(collection.id_name).type)
        columns = {"_group": numbers, "_position": whole.positions, ID: ids}
        facts = {"n_groups": len(whole), "n_pairs": whole.n_pairs}
        return arrow_reply(pa.table(columns), **facts)

    def listed() -> Iterator[bytes]:
        return _lines(collection, groups(), body.keep)

    async def streamed(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
        while (part := await view.run(next, lines, None)) is not None:
            yield part

    kind = next((kind for kind in (CSV, ARROW) if accepts(request, kind)), None)
    if kind is not None and "max_groups" in body.model_fields_set:
        raise ArgumentError(f"max_groups is for answers in JSON: {kind} has all groups")
    if kind != CSV and body.keep is not None:
        raise ArgumentError("keep is for answers in CSV")
    if kind == CSV:  # as it is made: there may be as many lines as items
        lines = await view.run(listed, lane="heavy")
        return StreamingResponse(streamed(lines), media_type=CSV)
    if kind == ARROW:
        return await view.run(table, lane="heavy")
    if body.model_fields_set <= {"radius", "max_groups"} and not body.max_groups:
        # Three numbers, which the page asks for again and again.
        key = "duplicates", body.radius
        return Json(await view.cached(key, largest, lane="heavy"))
    return Json(await view.run(largest, lane="heavy"))


def _largest_first(groups: DuplicateGroups) -> list[IdArray]:
    """Return the positions of the items of each group, the largest group first."""
    members = np.split(groups.positions, groups.offsets[1:-1]) if len(groups) else []
    order = np.argsort(-np.diff(groups.offsets), kind="stable").tolist()
    return [members[number] for number in order]


def _lines(
    collection: Collection, groups: DuplicateGroups, keep: Any
) -> Iterator[bytes]:
    """Return an iterator over CSV with a line for each duplicate, to clean up by."""
    to_keep = np.empty(0, np.int64)
    if keep:  # before anything is answered, so that an unknown id is refused
        to_keep = tools.positions_of(collection, keep)
    parts = _largest_first(groups)
    ends = np.cumsum([0, *map(len, parts)])

    def written() -> Iterator[bytes]:
        start = 0
        while start < len(parts) or start == 0:
            end = int(np.searchsorted(ends, ends[start] + _LINES))
            end = min(max(end, start + 1), len(parts))
            table = _decisions(collection, parts[start:end], start, to_keep)
            yield csv_of(table, header=start == 0)
            start = max(end, 1)

    return written()


def _decisions(
    collection: Collection, groups: list[IdArray], number: int, to_keep: IdArray
) -> Any:
    """Return items of groups, which are numbered from `number` + 1 on, as a table.

    Its ``_decision`` is "keep" for the first item that is to be kept, or for the first
    of all; ``_distance`` is from that item.
    """
    import pyarrow as pa

    sizes = np.array([len(members) for members in groups], np.int64)
    positions = np.concatenate([np.empty(0, np.int64), *groups])
    is_kept = np.zeros(len(positions), np.bool_)
    if len(positions):
        starts = np.cumsum(sizes) - sizes
        places, n = np.arange(len(positions)), len(positions)
        candidates = np.where(np.isin(positions, to_keep), places, n)
        first = np.minimum.reduceat(candidates, starts)
        is_kept[np.where(first < n, first, starts)] = True
    codes = collection.codes
    origins = np.repeat(positions[is_kept], sizes)
    differing = np.bitwise_count(codes[positions] ^ codes[origins])
    items = tools.take(collection, positions)
    table = pa.table(
        {
            ID: items[collection.id_name],
            "_group": np.repeat(np.arange(len(groups)) + number + 1, sizes),
            "_decision": pa.array(np.where(is_kept, "keep", "remove"), pa.string()),
            "_distance": differing.sum(axis=1, dtype=np.int64),
        }
    )
    for name in collection.columns:
        table = table.append_column(items.schema.field(name), items[name])
    return table
