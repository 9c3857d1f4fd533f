"""Tables that find codes like their own sooner than a scan does."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import hamming_topk
from fewbits.index._batches import Batch
from fewbits.index._multi_index import MultiIndexHashing, median_distance
from fewbits.index._segment import Segment
from fewbits.index._tables import Tables

_SAMPLE = 32  # codes that are looked up


def worthwhile_tables(
    codes: CodeArray, live: NDArray[np.bool_] | None, k: int = 10
) -> Tables | None:
    """Return tables of codes if they find the `k` nearest sooner than a scan.

    Some of the codes are looked up to tell, as if others like them were asked for.
    """
    rows = np.arange(len(codes)) if live is None else np.flatnonzero(live)
    queries = codes[rows[:: max(1, len(rows) // _SAMPLE)][:_SAMPLE]]
    segment = Segment(codes, np.arange(len(codes)), len(codes), None, live)
    plan = MultiIndexHashing(codes[:0]).plan(segment, queries, live, ("k", k))
    if plan is None:
        return None
    # Each finds itself, too.
    found = hamming_topk(queries, codes, k + 1, allowed=live)
    if not plan.spared(median_distance(found, 8 * codes.shape[1])):
        return None
    tables = plan.lazy.get()
    if tables is None:
        return None
    batch = Batch(tables, queries, live, plan.costs)
    batch.topk(np.arange(len(queries)), k + 1)
    return tables if batch.ratio <= 1 else None
