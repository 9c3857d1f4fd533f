"""The grid: codes learnt on known classes, scored and searched on novel ones."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fewbits.learners import Learner, PiCoDes, RelaxedPiCoDes
from research.common.classic import is_classic
from research.common.settings import configured
from research.common.supervised import PredictedClass, classemes, learners_of
from research.core.claims import meets, with_settings
from research.core.compare import effect
from research.core.record import Metrics, Record
from research.core.runner import Task, task
from research.core.table import decimal
from research.studies.picodes.cost import SIZES, step_metrics
from research.studies.picodes.novel import (
    CHOSEN_AT,
    COMPONENTS,
    N_LEARN,
    code_metrics,
    components_metrics,
    float_metrics,
    kinds_metrics,
    problem_of,
)
from research.studies.picodes.search import (
    EXAMPLES,
    RANKS,
    collection_of,
    search_metrics,
    targets_of,
)

if TYPE_CHECKING:
    from research.core.study import Study

DATA, SEEDS = ("caltech101-1280", "caltech101-classic", "icd10"), (0, 1, 2)
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
#: Measured where it decides; figures of DBC with gamma = 1 are stored as such.
DECIDING_AT, DECIDING_ON = (32, 64, 128, 512), ("icd10", "caltech101-1280", "digits")
#: There are no more classemes than known classes, to be reduced.
RFE, RFE_UP_TO = "classemes + RFE", 64
#: The paper has codes of 512 bits reach classemes that learn from five times as much.
FEW, FEW_AT = f"PiCoDes, {N_LEARN // 5} items a class", 512
#: Learnt from components chosen at 64 bits, not from as many as bits, 128 at least. So
#: are all ways to learn but the best, and what learns from few classes or items.
CHOSEN = ", chosen components"
RELAXED = "relaxed PiCoDes, T = 1"
#: The longest codes that are not learnt from chosen components.
DEFAULT_UP_TO = 256
#: The longest codes that are learnt in other ways; of some ways there are longer ones.
ABLATED_UP_TO = 64
LONGER, LONGER_AT = "caltech101-1280", (128, 256)
KNOWN_AT, N_KNOWN = 128, (10, 25, 50, 75)
KNOWN_ICD10 = (10, 25, 50, 100, 200)
KNOWN_METHODS = ("float", "class", "classemes", "LSH", "ITQ", "CCA-ITQ")
KNOWN_METHODS += (f"PiCoDes{CHOSEN}",)
#: No class of the classic descriptors has as many items as examples are needed.
SEARCHED_IN = ("caltech101-1280", "icd10")
SEARCHED = (*("LSH", "SH", "ITQ", "CCA-ITQ", "ECOC", "PiCoDes", RELAXED),)
#: The longest show size and time.
SEARCHED_AT = {64: SEARCHED, 256: SEARCHED, 2048: ("LSH",)}
TINY = ("float", "class", "LSH", "ITQ")
#: Of the paper's searches, and of its problem.
PAPER_ITEMS, PAPER_ROWS, PAPER_CLASSES, PAPER_BITS = 150_000, 79_770, 2659, 2048
#: Measured on a part of the paper's problem, by `_picodes_parts.py` in git's history.
PARTS, PART_ROWS = "parts of PiCoDes", 15_000


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    if tiny:
        yield from tiny_tasks()
        return
    for seed in SEEDS:
        for n in COMPONENTS:
            at = {"experiment": "novel_classes", "data": "icd10", "components": n}
            measure = partial(
                _loaded, components_metrics, problem_of, ("icd10", seed), n
            )
            yield task("components", {**at, "seed": seed}, measure)
    for data in DATA:
        for seed in SEEDS:
            yield from novel(data, seed)
            yield from known(data, seed)
            if data in SEARCHED_IN:
                yield from search(data, seed)
    yield from cost()


def tiny_tasks() -> Iterator[Task]:
    """Yield novel classes and searches among digits, and costs."""
    for each in [*novel("digits", 0, (100, 3)), *search("digits", 0, 3)]:
        (at,) = each.cells
        if at["method"] in TINY and at["bits"] in (0, 16, 256):
            yield each
    size = {"items": 200, "features": 8, "bits": 4, "classes": 4}
    for method in ("PiCoDes", "DBC"):
        at = {"method": method, **size, "seed": 0}
        yield task("cost", at, partial(step_metrics, **at))


def _loaded(measure: Any, load: Any, problem: tuple[Any, ...], *rest: Any) -> Metrics:
    """Measure a problem that is loaded no sooner."""
    found: Metrics = measure(load(*problem), *rest)
    return found


def novel(data: str, seed: int, options: tuple[int, ...] = ()) -> Iterator[Task]:
    """Yield figure 3: accuracy on novel classes, by length."""
    measured = partial(partial, _loaded)
    on = problem_of, (data, seed, *options)
    for method, n_bits, measure, rest in novel_cells(data, seed):
        at = {"data": data, "bits": n_bits, "method": method, "seed": seed}
        yield task("novel", at, measured(measure, *on, *rest))


def novel_cells(data: str, seed: int) -> Iterator[tuple[str, int, Any, Any]]:
    """Yield method, length, what measures it, and what it takes beside the problem."""
    yield "float", 0, float_metrics, ()
    yield "components", 0, partial(float_metrics, components=True), ()
    yield "class", 0, code_metrics, (PredictedClass(),)
    yield "classemes", 0, code_metrics, (classemes(None, seed),)
    if is_classic(data):
        yield "LP-beta", 0, kinds_metrics, ()
    from_chosen = partial(code_metrics, from_chosen=True)
    few = PiCoDes(FEW_AT, random_state=seed)
    yield FEW, FEW_AT, from_chosen, (few, N_LEARN // 5)
    for n_bits in LENGTHS:
        for method, learner in learners(data, n_bits, seed).items():
            yield method, n_bits, code_metrics, (learner,)
        for method, learner in other_ways(data, n_bits, seed).items():
            yield method, n_bits, from_chosen, (learner,)


def learners(data: str, n_bits: int, seed: int) -> dict[str, Learner]:
    """Return the learners of a length, by name."""
    found = learners_of(n_bits, seed)
    del found["DBC, by category"]
    if data not in DECIDING_ON or n_bits not in DECIDING_AT:
        del found["DBC"]
    if n_bits <= RFE_UP_TO:
        found[RFE] = classemes(n_bits, seed)
    if n_bits > DEFAULT_UP_TO:
        del found["PiCoDes"]
        return found
    return found | {RELAXED: RelaxedPiCoDes(n_bits, random_state=seed)}


def other_ways(data: str, n_bits: int, seed: int) -> dict[str, Learner]:
    """Return PiCoDes that are to learn from chosen components, by name."""
    both: dict[str, Any] = {"n_bits": n_bits, "random_state": seed}
    found: dict[str, Learner] = {f"PiCoDes{CHOSEN}": PiCoDes(**both)}
    if n_bits <= ABLATED_UP_TO or (data == LONGER and n_bits in LONGER_AT):
        found |= {
            "PiCoDes, random start": PiCoDes(**both, init="random"),
            "PiCoDes, whole steps": PiCoDes(**both, line_search=False),
            "relaxed PiCoDes": configured(
                RelaxedPiCoDes, **both, final_temperature=0.1
            ),
        }
    if n_bits > ABLATED_UP_TO:
        return found
    return found | {
        f"{RELAXED}{CHOSEN}": RelaxedPiCoDes(**both),
        "relaxed PiCoDes, random start": configured(
            RelaxedPiCoDes, **both, init="random", final_temperature=0.1
        ),
        "balanced PiCoDes": PiCoDes(**both, class_weight="balanced"),
    }


def known(data: str, seed: int) -> Iterator[Task]:
    """Yield figure 4: the same from fewer known classes."""
    for n_known in KNOWN_ICD10 if data == "icd10" else N_KNOWN:
        for each in novel(data, seed, (n_known,)):
            (at,) = each.cells
            if at["method"] in KNOWN_METHODS and at["bits"] in (0, KNOWN_AT):
                yield Task("known", [{**at, "known": n_known}], each.measure)


def search(data: str, seed: int, *options: int) -> Iterator[Task]:
    """Yield figures 5 and 6: searches for novel classes."""
    lineup: dict[tuple[str, int], Any] = {
        ("float", 0): None,
        ("class", 0): PredictedClass(),
        ("classemes", 0): classemes(None, seed),
    }
    for n_bits, methods in SEARCHED_AT.items():
        found = learners(data, n_bits, seed)
        lineup |= {(method, n_bits): found[method] for method in methods}
    for (method, n_bits), learner in lineup.items():
        at = {"data": data, "bits": n_bits, "method": method, "seed": seed}
        on = (collection_of, (data, seed, *options))
        yield task("search", at, partial(_loaded, search_metrics, *on, learner))


def cost() -> Iterator[Task]:
    """Yield what learning takes."""
    for seed in SEEDS:
        for size in SIZES:
            for method in ("PiCoDes", "DBC"):
                at: dict[str, Any] = {"method": method, **size, "seed": seed}
                yield task("cost", at, partial(step_metrics, **at))


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Add a record for each number of examples, and the gains from known classes."""
    found: list[Record] = []
    lines: dict[tuple[Any, ...], list[Record]] = {}
    for each in records:
        if each.part == "search":
            found += _by_examples(each)
            continue
        if each.part == "known":
            at = each.settings["data"], each.settings["method"], each.seed
            lines.setdefault(at, []).append(each)
        falls = [a - b for a, b in pairwise(each.metrics.get("objective", ()))]
        least = {"least_fall": min(falls)} if falls else {}
        found.append(replace(each, metrics={**each.metrics, **least}))
    return found + [_gain(line) for line in lines.values()]


def _gain(line: list[Record]) -> Record:
    """Return what the most known classes give, beyond the fewest."""
    fewest, *_, most = sorted(line, key=lambda each: each.settings["known"])
    gain = most.metrics["accuracy"] - fewest.metrics["accuracy"]
    settings = {name: most.settings[name] for name in ("data", "bits", "method")}
    return replace(most, part="gain", settings=settings, metrics={"accuracy": gain})


def _by_examples(record: Record) -> Iterator[Record]:
    """Yield the precision of a search from so many examples, and what it takes."""
    found, rank = record.metrics, RANKS.index(targets_of(record.settings["data"]))
    taken = {"item_bytes": found["item_bytes"]}
    if 10 * found["items"] >= PAPER_ITEMS:
        # Learning does not grow with the items, so it is less.
        taken["seconds"] = PAPER_ITEMS / found["items"] * found["search_seconds"]
    for n in EXAMPLES:
        each = with_settings(record, examples=n)
        precision = found["precision"][str(n)][rank]
        yield replace(each, metrics={"precision": precision, **taken})


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""
    return {
        "sets": DATA,
        "examples": EXAMPLES,
        "days": lambda n_iter: _days(study, n_iter),
        "ms": lambda method: _milliseconds(study, method),
        "components": _components(study),
    }


def _components(study: "Study") -> str:
    """Return the numbers of components that were chosen on ICD-10, by seed."""
    at = {"data": "icd10", "bits": CHOSEN_AT, "method": f"PiCoDes{CHOSEN}"}
    found = sorted(study.select("novel", **at), key=lambda each: each.seed)
    chosen = (each.metrics["components"] for each in found)
    return ", ".join("all" if n is None else str(n) for n in chosen) + " (by seed)"


def _milliseconds(study: "Study", method: str) -> str:
    """Return the milliseconds of a bit and iteration at the base size."""
    found = study.select("cost", method=method)
    values = [
        1000 * each.metrics["seconds_per_bit"]
        for each in found
        if meets(each.settings, SIZES[0])
    ]
    return decimal(effect(values).mean, 1)


def _days(study: "Study", n_iter: int) -> str:
    """Return the days of a thread for the paper's problem, in proportion to a part."""
    (part,) = study.select("cost", method=PARTS, items=PART_ROWS)
    took = part.metrics
    bit = took["seconds_per_projector"] + took["seconds_of_costs"]
    step = took["seconds_per_classifier"] * PAPER_CLASSES + bit * PAPER_BITS
    return decimal(n_iter * step * PAPER_ROWS / PART_ROWS / 86_400, 0)
