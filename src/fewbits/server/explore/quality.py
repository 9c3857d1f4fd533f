"""Quality of a collection: use of bits and bytes, state of files, recall."""

from typing import Any

import numpy as np

from fewbits.analysis.bits import bit_report, count_ones
from fewbits.collection import Collection
from fewbits.errors import ArtefactError, FewbitsError
from fewbits.server.explore._items import affordable, check_filled, sampled

_SAMPLE = 50_000  # codes that are compared with each other
_READ_AGAIN = 100_000  # items that are embedded again where no vectors are kept
_WORK = 2e10  # numbers of vectors that are compared for an estimate
_QUERIES = 200, 1000  # drawn at least and at most
#: What codes tell, where they can be read.
_OF_CODES = "n_dead_bits", "effective_bits", "n_distinct", "n_shared", "largest_group"
_NO_VECTORS = (
    "the collection keeps no vectors to compare with: build it with --keep-vectors, or "
    "ask 'fewbits recall' with a file of vectors"
)


def quality(collection: Collection) -> dict[str, Any]:
    """Return the use of the bits, rows and bytes of a collection.

    Returns
    -------
    dict
        ``n_items``, ``n_bits``, ``version``, and what `Collection.usage` returns.
        ``n_dead_bits``, which have the same value in all items; ``effective_bits``, how
        many independent bits would spread as much; ``n_distinct`` codes, ``n_shared``,
        items whose code another item has, too, and ``largest_group``, items with the
        most frequent code, of the ``n_sample`` codes that were compared. All of these
        are None where damage keeps the codes from being read. ``warnings``, sentences
        about what deserves attention.
    """
    check_filled(collection)
    n_bits = collection.encoder.n_bits
    answer: dict[str, Any] = {
        "n_items": len(collection),
        "n_bits": n_bits,
        "version": None if collection.path is None else collection.version,
        **collection.usage(),
    }
    try:
        codes = collection.codes
    except ArtefactError as error:
        return {
            **answer,
            **dict.fromkeys(_OF_CODES),
            "n_sample": 0,
            "warnings": [f"the codes cannot be read: {error}"],
        }
    ones = count_ones(codes, n_bits)
    sample = sampled(len(codes), affordable(_SAMPLE, n_bits, 1024, 2))
    report = bit_report(codes[sample], n_bits, n_pairs=100_000)
    effective = report.effective_bits
    n_dead = int(np.count_nonzero((ones == 0) | (ones == len(codes))))
    sizes = report.n_distinct, report.n_shared, report.largest_group
    numbers = n_dead, None if np.isnan(effective) else effective, *sizes
    return {
        **answer,
        **dict(zip(_OF_CODES, numbers, strict=True)),
        "n_sample": len(sample),
        "warnings": list(report.warnings),
    }


def recall(collection: Collection, k: int = 10) -> dict[str, Any]:
    """Estimate the recall of a collection with bounded work, as well as it can be told.

    Between 200 and 1,000 items are drawn as queries, the fewer the larger the
    collection. Where no vectors are kept, up to 100,000 texts are embedded again.

    Returns
    -------
    dict
        ``estimates``, see `Collection.recall`; ``truth``, what the exact neighbours
        were found with: ``"vectors"`` that are kept, or ``"texts"``; and ``reason``,
        why there are no estimates. One of the last two is None.
    """
    check_filled(collection)
    truth, vectors, reason = "vectors", None, _NO_VECTORS
    n_numbers = max(1, len(collection) * collection.encoder.n_features)
    n_queries = int(min(max(_WORK / n_numbers, _QUERIES[0]), _QUERIES[1]))
    column = collection.item_column
    few_texts = collection.kind == "texts" and len(collection) <= _READ_AGAIN
    try:
        if collection.vector_dtype is None and column is not None and few_texts:
            truth = "texts"
            vectors = collection.features(list(collection.column(column)))
        if collection.vector_dtype is not None or vectors is not None:
            estimates = collection.recall(k, vectors=vectors, n_queries=n_queries)
            rows = [estimate.to_dict() for estimate in estimates]
            return {"estimates": rows, "truth": truth, "reason": None}
    except FewbitsError as error:
        reason = str(error)
    return {"estimates": [], "truth": None, "reason": reason}
