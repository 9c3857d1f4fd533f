"""What the papers on PiCoDes and DBC claim, as differences between measurements."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from experiments._cells import Cell
from experiments._summary import Pick, figure
from experiments._verdicts import Values, ends, minus, only, steps, tagged, values_of
from experiments.class_search import EXAMPLES, METHODS, N_TARGETS, RANKS
from experiments.discriminative import CHOSEN

#: Of one set of features, by experiment.
Measured = dict[str, list[Cell]]

#: What "much worse" shall mean.
MUCH = 0.02
#: What PiCoDes find beyond classemes, as the paper says.
PAPER_GAIN = 0.28
PAPER_ITEMS, PAPER_SECONDS, LONGEST = 150_000, 1.0, 2048
#: By which the time of ranking a smaller collection is scaled up.
MOST_TIMES = 10


class Claim(NamedTuple):
    """A claim holds where no difference is below its margin.

    Attributes
    ----------
    code : str
        P1 to P3 are claims of the PiCoDes paper, D1 to D5 of the DBC paper.
    text : str
    compared : str
        One less the other, and by which figure.
    gaps : callable
        Returns the differences.
    why, why_not : str
        Why it would hold, or not; the page gives the one that fits the verdict.
    margin : float
    exact : bool
        Whether no chance is in the differences, so that their sign decides.
    """

    code: str
    text: str
    compared: str
    gaps: Callable[[Measured], Values]
    why: str
    why_not: str
    margin: float = 0.0
    exact: bool = False


def novel(one: str, other: str) -> Callable[[Measured], Values]:
    """Return differences of accuracy on classes that nobody trained on."""

    def gaps(measured: Measured) -> Values:
        pick, cells = figure("accuracy"), measured["novel_classes"]
        return minus(values_of(cells, one, pick), values_of(cells, other, pick))

    return gaps


def novel_at(n_bits: int, one: str, other: str) -> Callable[[Measured], Values]:
    """Return the same at one length."""
    return lambda measured: only(novel(one, other)(measured), bits=n_bits)


def more_classes(measured: Measured) -> Values:
    """Return what the most known classes give PiCoDes, beyond the fewest."""
    cells = measured["known_classes"]
    return ends(values_of(cells, "PiCoDes", figure("accuracy")), "known")


def gains_from_classes(measured: Measured) -> Values:
    """Return what more classes give PiCoDes, less what they give classemes."""
    values = values_of(measured["known_classes"], "classemes", figure("accuracy"))
    return minus(more_classes(measured), ends(values, "known"))


def searched(other: str) -> Callable[[Measured], Values]:
    """Return differences of the precision of searches, PiCoDes less another."""

    def gaps(measured: Measured) -> Values:
        one, two = (_precision(measured, name) for name in ("PiCoDes", other))
        return minus(one, two)

    return gaps


def times_classemes(measured: Measured) -> Values:
    """Return the precision of PiCoDes over that of classemes, less 1."""
    one, other = (_precision(measured, name) for name in ("PiCoDes", "classemes"))
    gaps, found = minus(one, other), {}
    for at, values in gaps.items():
        found[at] = {seed: gap / (one[at][seed] - gap) for seed, gap in values.items()}
    return found


def _precision(measured: Measured, method: str) -> Values:
    found: Values = {}
    for n in EXAMPLES:
        values = values_of(measured["class_search"], method, _at_rank(n))
        found |= tagged(values, examples=n)
    return found


def _at_rank(n_examples: int) -> Pick:
    place = RANKS.index(N_TARGETS)
    return lambda found: found["precision"][str(n_examples)][place]


def spare_bytes(measured: Measured) -> Values:
    """Return what an item takes less than a byte for eight bits."""
    cells = measured["class_search"]
    spare = values_of(
        cells, "PiCoDes", lambda found: LONGEST / 8 - found["bytes"] / found["items"]
    )
    return only(spare, bits=LONGEST)


def spare_seconds(measured: Measured) -> Values:
    """Return how much sooner than in the paper a search of as many items is done.

    Of all codes of a length the slowest counts: their bytes are searched alike.
    """
    found: Values = {}
    for method in METHODS:
        spare = values_of(measured["class_search"], method, _spare)
        for at, seeds in only(spare, bits=LONGEST).items():
            least = found.setdefault(at, {})
            for seed, value in seeds.items():
                least[seed] = min(value, least.get(seed, value))
    return found


def _spare(found: Cell) -> float | None:
    times = max(1.0, PAPER_ITEMS / found["items"])
    if times > MOST_TIMES or "rank_seconds" not in found:
        return None
    # Learning does not grow with the items.
    learning = found["search_seconds"] - found["rank_seconds"]
    return PAPER_SECONDS - float(learning + times * found["rank_seconds"])


def known(
    one: str, other: str, key: str = "svm", other_key: str | None = None
) -> Callable[[Measured], Values]:
    """Return differences of a figure on classes that were trained on."""

    def gaps(measured: Measured) -> Values:
        cells = measured["discriminative"]
        return minus(
            values_of(cells, one, figure(key)),
            values_of(cells, other, figure(other_key or key)),
        )

    return gaps


def known_at(n_bits: int, other: str, key: str) -> Callable[[Measured], Values]:
    """Return DBC of one length less a method without length."""
    return lambda measured: only(known("DBC", other, "svm", key)(measured), bits=n_bits)


def both_ways(one: str, other: str) -> Callable[[Measured], Values]:
    """Return differences by linear SVM and by nearest neighbour."""
    return lambda measured: {
        **tagged(known(one, other, "svm")(measured), by="linear SVM"),
        **tagged(known(one, other, "nearest")(measured), by="nearest neighbour"),
    }


def when_short(gains: Callable[[Measured], Values]) -> Callable[[Measured], Values]:
    """Return what is gained at the fewest bits, beyond the most."""
    return lambda measured: {
        at: {seed: -value for seed, value in found.items()}
        for at, found in ends(gains(measured), "bits").items()
    }


#: What selecting bits for each class gives, of as many bits or of longer codes.
selecting = known("DBC", "DBC", "selected", "svm")
choosing = known(CHOSEN, "DBC")


def longer(measured: Measured) -> Values:
    """Return what the next length of DBC adds."""
    return steps(values_of(measured["discriminative"], "DBC", figure("svm")), "bits")


def falls(term: str, sign: int = 1) -> Callable[[Measured], Values]:
    """Return how far a term of DBC's objective falls, first to last iteration."""

    def pick(found: Cell) -> float | None:
        values = found["terms"].get(term) if "terms" in found else None
        return sign * (values[0] - values[-1]) if values else None

    return lambda measured: values_of(measured["discriminative"], "DBC", pick)


def least_step(found: Cell) -> float | None:
    """Return the least fall of the objective in one iteration."""
    values = found.get("objective") or []
    return min((a - b for a, b in pairwise(values)), default=None)


def never_rises(measured: Measured) -> Values:
    """Return the least fall of DBC's objective in one iteration."""
    return values_of(measured["discriminative"], "DBC", least_step)


def picodes_never_rise(measured: Measured) -> Values:
    """Return the least fall of the objective of PiCoDes in one iteration."""
    return values_of(measured["novel_classes"], "PiCoDes", least_step)
