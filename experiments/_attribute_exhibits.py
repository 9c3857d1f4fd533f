"""What readers look at: the items that show a bit best, and maps of the codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._attribute_bits import correlations
from experiments._attribute_items import Items
from experiments._attribute_names import N_EXTREMES, Sample
from experiments._cells import Cell
from fewbits.analysis.bits import CodeMap, extreme_items, map_codes, rank_bits
from fewbits.analysis.names import Proposal
from fewbits.codes import hamming_distances, unpack

N_SHOWN = 6
#: Bits that correlate more with one that is shown are passed over.
ALIKE = 0.5
#: Groups that have colours; half of them have items of known classes.
N_GROUPS, N_COLOURED, N_POINTS = 10, 400, 600
N_NEIGHBOURS = 10

Rows = NDArray[np.int64]


def sheet(
    items: Items, held: Rows, n_known: int, scores: NDArray[Any], sample: Sample
) -> list[Cell]:
    """Return the best bits, with their names and most extreme items (figure 8)."""
    ranking = rank_bits(scores, items.classes[held])
    best = different_bits(ranking.order, unpack(sample.codes, sample.n_bits))
    proposals = sample.names(n_words=3)
    extremes = extreme_items(scores[:, best], N_EXTREMES)
    return [
        {
            "bit": bit,
            "place": int(np.flatnonzero(ranking.order == bit)[0]) + 1,
            "ones": float(ranking.balance[bit]),
            "stability": float(ranking.stability[bit]),
            "information": float(ranking.reliable_information[bit]),
            "names": _words(proposals.bits[bit]),
            "items": [
                [_shown(items, held, row, n_known) for row in side.rows[i].tolist()]
                for side in extremes
            ],
        }
        for i, bit in enumerate(best)
    ]


def different_bits(order: Rows, bits: NDArray[np.uint8]) -> list[int]:
    """Return the first bits of an order that are not nearly one of those before."""
    found = correlations(bits, bits)
    chosen: list[int] = []
    for bit in order.tolist():
        if len(chosen) < N_SHOWN and (found[bit, chosen] <= ALIKE).all():
            chosen.append(bit)
    return chosen


def _words(proposal: Proposal) -> list[list[list[Any]]]:
    return [[[w.word, w.share, w.other_share] for w in side] for side in proposal]


def _shown(items: Items, held: Rows, row: int, n_known: int) -> Cell:
    at = held[row]
    found: Cell = {"key": items.keys[at], "class": str(items.classes[at])}
    if isinstance(items.shown[at], str):
        found["text"] = items.shown[at]
    return found | {"novel": row >= n_known}


def maps(items: Items, held: Rows, n_known: int, codes: NDArray[np.uint8]) -> Cell:
    """Return places of items of large groups and of others (figure 10)."""
    groups = items.groups[held]
    names = large_groups(items.groups, groups[:n_known], groups[n_known:])
    rows = map_rows(groups, names)
    number = {name: i for i, name in enumerate(names)}
    found = {m: map_codes(codes[rows], method=m) for m in ("smacof", "tsne")}
    return {
        "groups": names,
        "group": [number.get(name, -1) for name in groups[rows].tolist()],
        "novel": (rows >= n_known).astype(int).tolist(),
        "maps": {method: _map(each, codes[rows]) for method, each in found.items()},
    }


def large_groups(
    groups: NDArray[Any], known: NDArray[Any], novel: NDArray[Any]
) -> list[str]:
    """Return the largest groups of known items, and the largest others of novel ones.

    Equally large ones are in alphabetical order.
    """
    names, counts = np.unique(groups, return_counts=True)
    largest: list[str] = names[np.argsort(-counts, kind="stable")].tolist()
    chosen: list[str] = []
    for part in (set(known.tolist()), set(novel.tolist())):
        more = [name for name in largest if name in part and name not in chosen]
        chosen += more[: N_GROUPS // 2]
    return chosen


def map_rows(groups: NDArray[Any], names: list[str]) -> Rows:
    """Draw items of the named groups, and of all others."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(groups))
    named = np.isin(groups[order], names)
    coloured = order[named][:N_COLOURED]
    others = order[~named][: N_POINTS - len(coloured)]
    return np.sort(np.concatenate([coloured, others]))


def _map(found: CodeMap, codes: NDArray[np.uint8]) -> Cell:
    from sklearn.manifold import trustworthiness

    distances = hamming_distances(codes, codes)
    trust = trustworthiness(
        distances, found.coordinates, n_neighbors=N_NEIGHBOURS, metric="precomputed"
    )
    return {
        "stress": found.stress,
        "trust": float(trust),
        "points": found.coordinates.round(2).tolist(),
    }
