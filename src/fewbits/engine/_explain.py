"""Explanations of hits: codes, and histograms of distances."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.bundle import Bundle
from fewbits.bundle.serving import selected
from fewbits.codes import hamming_distances

if TYPE_CHECKING:
    from fewbits.engine._search import QueryHits, SearchRequest


def explained(
    bundle: Bundle,
    request: "SearchRequest",
    rows: IdArray,
    codes: CodeArray | None,
    results: Sequence["QueryHits"],
) -> list["QueryHits"]:
    """Add the codes of queries and hits, and histograms of distances."""
    if codes is None:
        codes = bundle.encode(request.queries)
    codes, mask = np.asarray(codes), selected(bundle, request.filter, request.allowed)
    return [
        replace(
            found,
            hits=_with_codes(bundle, found.hits, rows[i]),
            code=codes[i].tobytes().hex(),
            histogram=_histogram(bundle, codes[i], mask),
        )
        for i, found in enumerate(results)
    ]


def _with_codes(
    bundle: Bundle, hits: list[dict[str, Any]], rows: IdArray
) -> list[dict[str, Any]]:
    codes = bundle.collection.codes_at(rows[rows >= 0])
    return [
        {**hit, "code": code.tobytes().hex()}
        for hit, code in zip(hits, codes, strict=True)
    ]


def _histogram(
    bundle: Bundle, code: NDArray[np.uint8], mask: NDArray[np.bool_] | None
) -> list[int]:
    counts = np.zeros(bundle.encoder.n_bits + 1, np.int64)
    for run in bundle.collection.runs:
        apart = hamming_distances(code[None], run.codes)[0]
        if mask is not None:
            apart = apart[mask[run.start : run.stop]]
        counts += np.bincount(apart, minlength=len(counts))
    found: list[int] = counts.tolist()
    return found
