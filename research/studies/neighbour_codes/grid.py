"""The grid: codes trained to keep neighbours beside others of 32 to 512 bits.

Learning sees the database, never the queries. No two seeds share queries, and none are
seed 0's, which were in view when the method was made. Seeds 4 to 6, of sets that are
drawn anew for each seed, were asked after the last change to the methods.
"""

import time
import tomllib
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from fewbits.learners import (
    FastNeighbourCodes,
    Hadamard,
    Learner,
    NeighbourCodes,
)
from fewbits.learners._core._shared_steps import SharedSteps
from fewbits.learners.fitting import shared_steps
from research.common.features import SHAPES, UNSEEN_SEEDS, load_features
from research.common.projections import (
    FORMS,
    FORMS_AT,
    METHODS,
    USUAL_ITER,
)
from research.common.ranking import Fit, encoder_metrics, ranking_metrics
from research.common.settings import configured
from research.core.claims import Claim, findings
from research.core.compare import VERDICTS
from research.core.record import Metrics, Settings
from research.core.runner import Task, task
from research.core.table import interval, markdown

if TYPE_CHECKING:
    from research.core.study import Study

DATA = ("icd10", "wordnet", "caltech101-1280", "glove", "cifar10")
LENGTHS = (32, 64, 128, 256, 512)
OURS, NESTED = "NeighbourCodes", "NeighbourCodes, nested"
FAST = (
    "FastNeighbourCodes",
    "FastNeighbourCodes, 1 round",
    "FastNeighbourCodes, diagonals",
)
OTHERS = (
    *("LSH", "Hadamard 3", "PCAH", "ITQ", "SP 10%"),
    *("CBE-rand", "CBE-opt", "BP-rand", "BP-opt", "SH", "BRE"),
)
#: The same encoder, trained for wider neighbourhoods, or otherwise.
TRAININGS: dict[str, dict[str, Any]] = {
    "NeighbourCodes, perplexity 150": {"perplexity": 150, "n_neighbours": 500},
    "NeighbourCodes, 180 iterations": {"n_iter": 180},
    "NeighbourCodes, not tight": {"tightness": 0.0},
}
FRESH_DATA, FRESH_SEEDS = ("wordnet", "glove"), (4, 5, 6)
FRESH_METHODS = ("ITQ", OURS, FAST[0])
TINY_METHODS = ("ITQ", OURS)

#: Of settings, validated on rows that are queries of no seed.
CHOICE_SEEDS, CHOICE_LENGTHS, VALIDATION = (1000, 1001), (64, 256), 0.15
CHOICE_DATA = ("icd10", "caltech101-1280")
#: What settings differ from: the first defaults, not those that were chosen by this.
USUAL = {"learning_rate": 0.02, "perplexity": 20, "n_iter": 30}
CHOICES: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("choices.toml").read_text("utf-8")
)
ROTATED = "10% of the weights, after a random rotation"


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    if tiny:
        for each in ranking("digits", 1):
            (settings,) = each.cells
            if settings["method"] in TINY_METHODS and settings["bits"] == LENGTHS[0]:
                yield each
        return
    for data in DATA:
        for seed in UNSEEN_SEEDS:
            yield from ranking(data, seed)
    for data in FRESH_DATA:
        for seed in FRESH_SEEDS:
            for each in ranking(data, seed):
                if each.cells[0]["method"] in FRESH_METHODS:
                    yield each
    for data in CHOICE_DATA:
        yield from choices(data)


def ranking(data: str, seed: int) -> Iterator[Task]:
    """Yield each code of one seed; nested ones are prefixes of a single fit."""
    load = partial(load_features, data, seed, unseen=True)
    *shorter, longest = LENGTHS
    nested = NeighbourCodes(longest, nested_bits=shorter, random_state=seed)
    with shared_steps() as steps:
        shared = Fit(nested, load, steps)
        for n_bits in LENGTHS:
            made = {**lineup(data, n_bits, seed), NESTED: None}
            for method, learner in made.items():
                fit = Fit(learner, load, steps) if learner else shared
                settings = {"data": data, "bits": n_bits, "method": method}
                settings["seed"] = seed
                yield task("ranking", settings, partial(rank, settings, fit))


def lineup(data: str, n_bits: int, seed: int) -> dict[str, Learner | None]:
    """Return the untrained learners of a length."""
    found: dict[str, Learner | None] = {
        method: METHODS[method](n_bits, seed, USUAL_ITER)
        for method in (*OTHERS, OURS, *FAST)
        if method != "PCAH" or n_bits <= SHAPES[data][1]
    }
    for method, options in {**FORMS, **TRAININGS}.items() if n_bits in FORMS_AT else ():
        found[method] = configured(NeighbourCodes, n_bits, random_state=seed, **options)
    return found


def rank(settings: Settings, fit: Fit) -> Metrics:
    """Rank the database for the queries by as many bits as a cell has."""
    assert fit.encoder is not None
    encoder = fit.encoder.prefix(settings["bits"])
    found = ranking_metrics(fit.features, encoder, settings["seed"])
    return {**found, **fit.metrics(), **encoder_metrics(encoder)}


def choices(data: str) -> Iterator[Task]:
    """Yield settings and forms, validated on held-out rows."""
    with shared_steps() as steps:
        for seed in CHOICE_SEEDS:
            for n_bits in CHOICE_LENGTHS:
                for method, learner in options(n_bits, seed).items():
                    settings = {"data": data, "bits": n_bits, "method": method}
                    measure = partial(choose, settings, learner, steps)
                    yield task("choices", {**settings, "seed": seed}, measure)


def options(n_bits: int, seed: int) -> dict[str, Any]:
    """Return what is chosen from, untrained."""
    usual: dict[str, Any] = {"validation": VALIDATION, "random_state": seed, **USUAL}
    loose = usual | {"tightness": 0.0}
    found: dict[str, Any] = {
        method: configured(NeighbourCodes, n_bits, **loose | each)
        for method, each in CHOICES["map"].items()
    }
    found[ROTATED] = configured(NeighbourCodes, n_bits, **usual, density=0.1)
    for method, each in CHOICES["fast_map"].items():
        found[method] = configured(FastNeighbourCodes, n_bits, **usual | each)
    return found


def choose(settings: Settings, learner: Any, steps: SharedSteps) -> Metrics:
    """Return the best recall of the validation rows, and that at the start."""
    X = never_asked(settings["data"])
    if settings["method"] == ROTATED:
        X = rotated(X, learner.random_state)
    start, saved = time.perf_counter(), steps.seconds_saved
    learner.fit(X)
    seconds = time.perf_counter() - start + steps.seconds_saved - saved
    return {
        "recall10": float(learner.recalls_.max()),
        "start": float(learner.recalls_[0]),
        "seconds": round(seconds, 2),
    }


@lru_cache(maxsize=1)
def never_asked(data: str) -> NDArray[Any]:
    """Return the rows of the first database that are queries of no seed."""
    rows = load_features(data, 0).database
    asked = {
        row.tobytes()
        for seed in UNSEEN_SEEDS
        for row in load_features(data, seed, unseen=True).queries
    }
    return rows[[row.tobytes() not in asked for row in rows]]


def rotated(X: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return scores of three random Hadamard rounds: as many as the padded width."""
    width = 1 << (X.shape[1] - 1).bit_length()
    rotation = Hadamard(width, n_rounds=3, random_state=seed).fit(X).encoder_
    scores: NDArray[Any] = rotation.project(X)
    return scores


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""
    recall = "recall10"
    return {
        "sets": ", ".join(study.titles[data] for data in DATA),
        "tally": lambda method, metric=recall: tally(study, method, metric),
        "beyond": lambda **at: study.gap(
            "ranking", recall, {"method": OURS}, {"method": "ITQ"}, **at
        ),
        "gaps": gaps(study),
    }


def _beside_itq(method: str, metric: str) -> Claim:
    left, right = {"method": method}, {"method": "ITQ"}
    return Claim("", "", "ranking", metric, left, right, least=0.0)


def tally(study: "Study", method: str, metric: str) -> str:
    """Return at how many lengths of all sets a method is better than ITQ, or worse."""
    claim = _beside_itq(method, metric)
    found = [each.holds for each in findings(claim, study.records, lambda _: "")]
    better, undecided, worse = map(found.count, VERDICTS)
    return f"{better} better, {worse} worse, {undecided} undecided of {len(found)}"


def gaps(study: "Study") -> str:
    """Return what ours has beyond ITQ of each length, with its interval."""
    claim = _beside_itq(OURS, "recall10")
    found = {
        (dict(each.setting)["data"], dict(each.setting)["bits"]): each.effect
        for each in findings(claim, study.records, lambda _: "")
    }
    rows = [
        [
            study.titles[data],
            found[data, LENGTHS[0]].n,
            *(interval(found[data, n]) for n in LENGTHS),
        ]
        for data in DATA
    ]
    return markdown(["data", "seeds", *(f"{n} bits" for n in LENGTHS)], rows)
