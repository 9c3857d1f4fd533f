"""What the papers on LLC and LBHash claim, as differences between measurements."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scipy.stats import spearmanr

from experiments._cells import Cell
from experiments._claims import Measured
from experiments._summary import Pick, figure
from experiments._verdicts import (
    Values,
    ends,
    minus,
    only,
    steps,
    tagged,
    values_of,
    without,
)
from experiments.llc import MHD
from experiments.llc_foreign import BALANCED
from experiments.posterior_control import beside_losses

Gaps = Callable[[Measured], Values]


def at_path(*path: str) -> Pick:
    """Return a function that picks a figure inside of others, where a cell has it."""

    def pick(found: Cell) -> float | None:
        value: Any = found
        for name in path:
            if name not in value:
                return None
            value = value[name]
        return float(value)

    return pick


def between(experiment: str, one: str, other: str, key: str) -> Gaps:
    """Return differences of a figure of two methods."""

    def gaps(measured: Measured) -> Values:
        cells, pick = measured[experiment], figure(key)
        return minus(values_of(cells, one, pick), values_of(cells, other, pick))

    return gaps


def longer(key: str) -> Gaps:
    """Return what the next length of LLC adds to a figure."""
    return lambda measured: steps(_llc(measured, key), "bits")


def last_step(key: str) -> Gaps:
    """Return what the longest codes of LLC lose of a figure."""

    def gaps(measured: Measured) -> Values:
        found = longer(key)(measured)
        most = max((dict(at)["bits"] for at in found), default=0)
        return _negative(only(found, bits=most))

    return gaps


def matching_falls(measured: Measured) -> Values:
    """Return by how much the share of right bits falls, shortest to longest."""
    found = _llc(measured, "matching_bits")
    shares = {
        at: {seed: value / dict(at)["bits"] for seed, value in each.items()}
        for at, each in found.items()
    }
    return _negative(ends(shares, "bits"))


def exact_against_nearest(measured: Measured) -> Values:
    """Return how much shorter the codes are that are best decoded exactly."""
    exact, nearest = (_best_length(_llc(measured, k)) for k in ("exact", MHD))
    seeds = sorted(set(exact) & set(nearest))
    gaps = {seed: float(nearest[seed] - exact[seed]) for seed in seeds}
    return {(("over", "all lengths"),): gaps} if gaps else {}


def _best_length(values: Values) -> dict[int, int]:
    """Return the length with the largest value, by seed."""
    by_seed: dict[int, list[tuple[float, int]]] = {}
    for at, each in values.items():
        for seed, value in each.items():
            by_seed.setdefault(seed, []).append((value, dict(at)["bits"]))
    return {seed: max(found)[1] for seed, found in by_seed.items()}


def _llc(measured: Measured, key: str) -> Values:
    return values_of(measured["llc"], "LLC", figure(key))


def _negative(values: Values) -> Values:
    return {
        at: {seed: -value for seed, value in each.items()}
        for at, each in values.items()
    }


def repairs(method: str) -> Gaps:
    """Return how many codes of classes had to be changed."""
    return lambda measured: values_of(measured["llc"], method, figure("repaired"))


def unrepaired(measured: Measured) -> Values:
    """Return the same of LLC, negative."""
    return _negative(repairs("LLC")(measured))


def purity_beyond_chance(method: str) -> Gaps:
    """Return by how much groups of a known tree are subtrees beyond chance."""

    def pick(found: Cell) -> float:
        return float(found["purity"] - found["purity_chance"])

    return lambda measured: values_of(measured["llc_taxonomy"], method, pick)


def nested(measured: Measured) -> Values:
    """Return what prefixes of nested codes have beyond codes of their own."""
    found: Values = {}
    for cell in measured["llc"]:
        if cell["cell"]["method"] == "LLC, nested":
            for name, decoded in cell["figures"].items():
                if name.startswith("at "):
                    at = (("bits", int(name.split()[1])),)
                    seed = cell["cell"]["seed"]
                    found.setdefault(at, {})[seed] = decoded[MHD]
    return minus(found, _llc(measured, MHD))


def shorter(n_bits: int, one: str, other_bits: int, other: str) -> Gaps:
    """Return the mAP of codes of one length less that of others of another."""

    def gaps(measured: Measured) -> Values:
        cells, pick = measured["llc_retrieval"], figure("map")
        mine = only(values_of(cells, one, pick), bits=n_bits)
        theirs = only(values_of(cells, other, pick), bits=other_bits)
        sides = (without(each, "bits") for each in (mine, theirs))
        return tagged(minus(*sides), bits=n_bits)

    return gaps


def separable(one: tuple[str, ...], other: tuple[str, ...]) -> Gaps:
    """Return differences of two figures of the same networks."""

    def gaps(measured: Measured) -> Values:
        cells = measured["llc_separability"]
        return minus(*(values_of(cells, "LLC", at_path(*p)) for p in (one, other)))

    return gaps


def regained(measured: Measured) -> Values:
    """Return what the last layer adds to a projection, less half of what all add."""
    whole = separable(("trained for codes", "exact"), ("projection", "exact"))(measured)
    half = {
        at: {seed: value / 2 for seed, value in each.items()}
        for at, each in whole.items()
    }
    last = separable(("last layer", "exact"), ("projection", "exact"))(measured)
    return minus(last, half)


def linear_on_scores(measured: Measured) -> Values:
    """Return what a linear SVM on the scores has beyond the nearest code."""
    return minus(_llc(measured, "linear on scores"), _llc(measured, MHD))


def untuned(radius: str, key: str) -> Gaps:
    """Return a figure of a rule less that of a threshold tuned elsewhere.

    The threshold is tuned where unknown items are another share than in use. Balanced
    accuracy is the same whatever the share in use, and counts once.
    """

    def gaps(measured: Measured) -> Values:
        found: Values = {}
        for cell in measured["llc_foreign"]:
            rule = cell["figures"]["rules"].get(radius, {"mixtures": []})
            by_rule = {each["met"]: each[key] for each in rule["mixtures"]}
            for each in cell["figures"]["tuned"]:
                if each["tuned_on"] != each["met"] in by_rule:
                    at = {"bits": cell["cell"]["bits"], "unknown": _kind(cell)}
                    at["tuned"] = f"{each['tuned_on']:g}"
                    if key != BALANCED:
                        at["met"] = f"{each['met']:g}"
                    gap = by_rule[each["met"]] - each[key]
                    setting = tuple(sorted(at.items()))
                    found.setdefault(setting, {})[cell["cell"]["seed"]] = gap
        return of_all_seeds(found)

    return gaps


def _kind(cell: Cell) -> str:
    return str(cell["cell"]["method"])


def as_predicted(rule: str) -> Gaps:
    """Return how far the share of unknown items accepted stays below its prediction."""

    def gaps(measured: Measured) -> Values:
        found: Values = {}
        cells = measured["llc_foreign"]
        for kind in {_kind(cell) for cell in cells}:
            told, real = (
                values_of(cells, kind, at_path("rules", rule, key))
                for key in ("predicted_rate", "unknown_accepted")
            )
            found |= tagged(minus(told, real), unknown=kind)
        return of_all_seeds(found)

    return gaps


def of_all_seeds(values: Values) -> Values:
    """Return what every seed has: a rule may be refused where codes are short."""
    most = max(map(len, values.values()), default=0)
    return {at: each for at, each in values.items() if len(each) == most}


def spare_codes(measured: Measured) -> Values:
    """Return what the shortest codes lose of balanced accuracy to the next length."""
    found: Values = {}
    cells = measured["llc_foreign"]
    for kind in {_kind(cell) for cell in cells}:
        values = values_of(cells, kind, at_path("rules", "radius 1", "balanced"))
        found |= tagged(_first_step(values), unknown=kind)
    return found


def _first_step(values: Values) -> Values:
    found = steps(values, "bits")
    return only(found, bits=min((dict(at)["bits"] for at in found), default=0))


def controlled(
    method: str, other: str = "", key: str = "map", control: str = "D"
) -> Gaps:
    """Return what a control adds to a loss, beyond another control or none."""

    def gaps(measured: Measured) -> Values:
        values = values_of(measured["posterior_control"], method, figure(key))
        return minus(
            without(only(values, control=control), "control"),
            without(only(values, control=other), "control"),
        )

    return gaps


def beyond_targets(method: str) -> Gaps:
    """Return what D adds to a loss beyond its targets, or beyond nothing if better.

    Where both harm, the one with less weight would seem to give more.
    """

    def gaps(measured: Measured) -> Values:
        found: Values = {}
        over_targets, over_nothing = (
            controlled(method, other)(measured) for other in ("centres", "")
        )
        for at in over_targets.keys() & over_nothing.keys():
            sides = over_targets[at], over_nothing[at]
            seeds = sorted(set(sides[0]) & set(sides[1]))
            least = min(sides, key=lambda each: sum(each[seed] for seed in seeds))
            found[at] = {seed: least[seed] for seed in seeds}
        return found

    return gaps


def with_head(head: str, gaps: Gaps) -> Gaps:
    """Return the differences of one head."""
    return lambda measured: only(gaps(measured), head=head)


def lifted(losses: Sequence[str], lengths: Sequence[int]) -> Gaps:
    """Return how many of the losses have a higher mAP with D, over some lengths."""

    def gaps(measured: Measured) -> Values:
        counts: dict[int, list[bool]] = {}
        for loss in losses:
            by_seed: dict[int, list[float]] = {}
            for at, each in controlled(loss)(measured).items():
                if dict(at)["bits"] in lengths and dict(at)["head"] == "linear":
                    for seed, gap in each.items():
                        by_seed.setdefault(seed, []).append(gap)
            for seed, found in by_seed.items():
                counts.setdefault(seed, []).append(sum(found) > 0)
        whole = {
            seed: float(sum(found))
            for seed, found in counts.items()
            if len(found) == len(losses)
        }
        return {(("over", "all losses"),): whole} if whole else {}

    return gaps


def over_epochs(method: str, control: str, margin: float) -> Gaps:
    """Return how far Spearman's correlation of bound and mAP is above a margin."""

    def pick(found: Cell) -> float | None:
        if len(set(found["bound"])) < 2 or len(set(found["map"])) < 2:
            return None
        return float(spearmanr(found["bound"], found["map"]).statistic) - margin

    def gaps(measured: Measured) -> Values:
        values = values_of(measured["posterior_epochs"], method, pick)
        return without(only(values, control=control), "control")

    return gaps


def over_networks(margin: float) -> Gaps:
    """Return the same over the trained networks of a length, head and seed."""

    def gaps(measured: Measured) -> Values:
        groups: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        for cell in measured["posterior_control"]:
            made, found = cell["cell"], cell["figures"]
            if beside_losses(cell):
                key = (made["bits"], made["head"], made["seed"])
                point = (found["bound"], found["map"])
                groups.setdefault(key, []).append(point)
        values: Values = {}
        for (bits, head, seed), points in groups.items():
            bounds, maps = zip(*points, strict=True)
            if len(points) > 3 and min(len(set(bounds)), len(set(maps))) > 1:
                rho = float(spearmanr(bounds, maps).statistic)
                at = (("bits", bits), ("head", head))
                values.setdefault(at, {})[seed] = rho - margin
        return values

    return gaps


def spare_time(name: str, most: float) -> Gaps:
    """Return how far the ratio of an epoch's time stays below a bound."""

    def pick(found: Cell) -> float | None:
        return most - float(found["ratio"])

    return lambda measured: values_of(measured["training"], name, pick)


def timed(rows: list[dict[str, Any]]) -> Iterator[Cell]:
    """Yield the repeats of the benchmark of training as cells."""
    for row in rows:
        for repeat, ratio in enumerate(row.get("ratios", ())):
            cell = {"data": "training", "method": row["name"], "seed": repeat}
            cell |= {"bits": row["bits"], "loss": row["loss"]}
            yield {"cell": cell, "figures": {"ratio": ratio}}


def estimated(key: str, most: float, share: float = 0.0) -> Gaps:
    """Return how far a divergence stays below a bound, or a share of the marginals'."""

    def pick(found: Cell) -> float:
        return most + share * float(found["marginals"]) - float(found[key])

    def gaps(measured: Measured) -> Values:
        values = values_of(measured["bernoulli_toy"], "surrogate", pick)
        return only(values, samples=10_000, block=8)

    return gaps
