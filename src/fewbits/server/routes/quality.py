"""Quality of the collection: health, recall, novelty and the state of its files."""

import math
import time
from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray

from fewbits._intervals import mean_limits
from fewbits._typing import IdArray
from fewbits.codes import hamming_distances
from fewbits.collection import Collection, Verification, tools
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.server._errors import ApiError
from fewbits.server._items import affordable, check_filled, sampled
from fewbits.server._replies import Json
from fewbits.server._routing import response_schema
from fewbits.server._service import Current, View

router = APIRouter()

# Bits, rows and bytes.

_SAMPLE = 50_000  # codes that are compared with each other
#: What codes tell, where they can be read.
_OF_CODES = "n_dead_bits", "effective_bits", "n_distinct", "n_shared", "largest_group"


@router.get("/v1/quality")
async def quality(view: Current) -> Json:
    """Return the use of bits, bytes and files, and the last verification.

    Facts about codes are None where damage keeps these from being read.
    """
    service, collection = view.service, view.collection

    def answer() -> dict[str, Any]:
        from fewbits.analysis.bits import bit_report, count_ones

        check_filled(collection)
        n_bits = collection.encoder.n_bits
        facts: dict[str, Any] = {
            "n_items": len(collection),
            "n_bits": n_bits,
            "version": None if collection.path is None else collection.version,
            **collection.usage(),
        }
        try:
            codes = collection.codes
        except ArtefactError as error:
            warnings = [f"the codes cannot be read: {error}"]
            unread = dict.fromkeys(_OF_CODES)
            return {**facts, **unread, "n_sample": 0, "warnings": warnings}
        ones = count_ones(codes, n_bits)
        sample = sampled(len(codes), affordable(_SAMPLE, n_bits, 1024, 2))
        report = bit_report(codes[sample], n_bits, n_pairs=100_000)
        effective = report.effective_bits
        n_dead = int(np.count_nonzero((ones == 0) | (ones == len(codes))))
        sizes = report.n_distinct, report.n_shared, report.largest_group
        numbers = n_dead, None if np.isnan(effective) else effective, *sizes
        return {
            **facts,
            **dict(zip(_OF_CODES, numbers, strict=True)),
            "n_sample": len(sample),
            "warnings": list(report.warnings),
        }

    facts = await view.cached("quality", answer)
    warnings = facts["warnings"]
    if facts["n_dead_bits"] is None:  # damaged codes may be repaired meanwhile
        view.results.pop("quality", None)
        service.set_damage(warnings[0])
    recorded = await view.run(collection.last_verified)
    verifications = [x for x in (recorded, service.verified) if x is not None]
    last = max(verifications, key=lambda verified: verified.at, default=None)
    public = [service.public(warning) for warning in warnings]
    verify = None if last is None else _public(view, last)
    return Json({**facts, "warnings": public, "last_verify": verify})


# Recall.

_READ_AGAIN = 100_000  # items that are embedded again where no vectors are kept
_WORK = 2e10  # numbers of vectors that are compared for an estimate
_QUERIES = 200, 1000  # drawn at least and at most
_NO_VECTORS = (
    "the collection keeps no vectors to compare with: build it with --keep-vectors, or "
    "ask 'fewbits recall' with a file of vectors"
)


@router.get("/v1/quality/recall")
async def recall(view: Current, k: Annotated[int, Query(ge=1, le=100)] = 10) -> Json:
    """Estimate the recall of each way to search; takes seconds when first asked.

    ``truth`` is what the exact neighbours were found with: "vectors" that are kept, or
    "texts" that are embedded again; ``reason`` why there are no estimates.
    """
    service, collection = view.service, view.collection

    def answer() -> dict[str, Any]:
        check_filled(collection)
        truth, vectors, reason = "vectors", None, _NO_VECTORS
        n_numbers = max(1, len(collection) * collection.encoder.n_features)
        n_queries = int(min(max(_WORK / n_numbers, _QUERIES[0]), _QUERIES[1]))
        column, has_vectors = (
            collection.item_column,
            collection.vector_dtype is not None,
        )
        few_texts = collection.kind == "texts" and len(collection) <= _READ_AGAIN
        try:
            if not has_vectors and column is not None and few_texts:
                truth = "texts"
                vectors = collection.features(list(collection.column(column)))
            if has_vectors or vectors is not None:
                estimates = collection.recall(k, vectors=vectors, n_queries=n_queries)
                rows = [estimate.to_dict() for estimate in estimates]
                return {"estimates": rows, "truth": truth, "reason": None}
        except FewbitsError as error:
            reason = str(error)
        return {"estimates": [], "truth": None, "reason": reason}

    estimates = await view.cached(("recall", k), answer, lane="heavy")
    reason = estimates["reason"]
    if reason is not None and service.names_file(reason):
        view.results.pop(("recall", k), None)
        service.set_damage(reason)
        estimates = {**estimates, "reason": service.public(reason)}
    return Json(estimates)


# Novelty.

_TRIED = 500  # items that are left out
_ACCEPTED = 0.95  # of known items, by the threshold that is proposed
_NEIGHBOURS = 200_000
_DISTANCES = 1 << 22  # held at once
_FEWEST_CLASSES, _LEVEL = 5, 0.95  # of an interval over classes


@router.get("/v1/novelty")
async def novelty(view: Current, label: str | None = None) -> Json:
    """Return the shares of known and unknown items that each threshold accepts.

    ``known`` are the shares of items, each left out itself, that have a neighbour
    within 0, 1, ..., n_bits bits; ``unknown`` those of items whose whole class is left
    out, with 95 % confidence intervals over classes that may come. ``threshold`` is the
    smallest that accepts 95 % of new items of known classes, in expectation.
    """
    collection, n_bits = view.collection, view.collection.encoder.n_bits

    def answer() -> dict[str, Any]:
        check_filled(collection)
        if len(collection) < 2:
            raise ArgumentError("need at least 2 items, the collection has 1")
        others = sampled(len(collection), _NEIGHBOURS)
        tried = sampled(len(others), _TRIED)  # places among the others
        classes = None
        if label is not None:
            classes = tools.value_numbers(collection, label, others)
            if classes.min() == classes.max():
                raise ArgumentError(
                    f"column {label!r} has one class only, and none can be left out"
                )
        codes = np.ascontiguousarray(collection.codes[others])
        nearest, foreign = _nearest(codes, tried, classes)
        unknown, interval = None, None
        if classes is not None:
            unknown = _shares(foreign, n_bits)
            interval = _interval(foreign, classes[tried], n_bits)
        # Of n distances and a new one every order is as likely (split conformal
        # prediction); where there are too few for it, all of them lie within.
        n = len(nearest)
        place = min(math.ceil(_ACCEPTED * (n + 1)), n) - 1
        return {
            "known": _shares(nearest, n_bits),
            "unknown": unknown,
            "unknown_interval": interval,
            "threshold": int(np.sort(nearest)[place]),
            "radius": collection.facts.novelty_radius,
            "n_samples": n,
            "n_items": len(others),
        }

    return Json(await view.cached(("novelty", label), answer, lane="heavy"))


def _nearest(
    codes: NDArray[np.uint8], tried: IdArray, classes: NDArray[np.int32] | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distances to the nearest other item, and to that of another class."""
    far = np.iinfo(np.int32).max
    nearest, foreign = np.full((2, len(tried)), far, np.int32)
    step = max(1, _DISTANCES // len(codes))
    for start in range(0, len(tried), step):
        queries, span = tried[start : start + step], slice(start, start + step)
        distances = hamming_distances(codes[queries], codes)
        distances[np.arange(len(queries)), queries] = far
        nearest[span] = distances.min(axis=1)
        if classes is not None:
            distances[classes[queries, None] == classes] = far
            foreign[span] = distances.min(axis=1)
    return nearest, foreign


def _shares(distances: NDArray[np.int32], n_bits: int) -> list[float]:
    within = np.searchsorted(np.sort(distances), np.arange(n_bits + 1), side="right")
    shares: list[float] = (within / len(distances)).tolist()
    return shares


def _interval(
    distances: NDArray[np.int32], classes: NDArray[np.int32], n_bits: int
) -> list[tuple[float, float]] | None:
    """Return confidence limits of the share within each threshold, over classes.

    Classes, not items, are independent: the standard errors are cluster-robust, and
    classes of different sizes count as fewer of one size (Kish).
    """
    numbers = np.unique(classes, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    n = len(sizes)
    if n < _FEWEST_CLASSES:
        return None
    within = distances[:, None] <= np.arange(n_bits + 1)
    counts = np.zeros((n, n_bits + 1))
    np.add.at(counts, numbers, within)
    share = within.mean(axis=0)
    spread = ((counts - share * sizes[:, None]) ** 2).sum(axis=0)
    errors = np.sqrt(spread * n / (n - 1)) / len(distances)
    n_effective = sizes.sum() ** 2 / (sizes**2).sum()
    low, high = mean_limits(share, errors, n_effective, _LEVEL)
    return [*zip(low.tolist(), high.tolist(), strict=True)]


# Files.


@router.post("/v1/verify", responses=response_schema("Verification"))
async def verify(view: Current) -> Json:
    """Compare every byte of the collection on the disk with its checksum."""
    if view.folder is None:
        raise ApiError("in_memory", "a collection in memory has no files to verify")
    at, began = time.time(), time.perf_counter()
    # One at a time: it reads all of the disk.
    read = partial(Collection.verify_folder, view.folder, record=view.settings.writable)
    report = await view.run(read, lane="heavy")
    verified = Verification(report, at, time.perf_counter() - began)
    recorded = await view.run(view.collection.last_verified)
    if recorded is not None and recorded.at >= at:
        verified = recorded
    view.service.verified = verified  # where the folder has no note of it
    problems = report.problems
    view.service.set_damage(problems[0] if problems else None)
    return Json(_public(view, verified))


def _public(view: View, verified: Verification) -> dict[str, Any]:
    """Return plain values, without the path of the folder."""
    facts, public = verified.to_dict(), view.service.public
    for damage in facts["damages"]:
        damage |= {name: public(damage[name]) for name in ("file", "text")}
    for name in ("unreadable", "to_rebuild"):
        facts[name] = [public(text) for text in facts[name]]
    return facts
