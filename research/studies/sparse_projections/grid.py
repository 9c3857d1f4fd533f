"""The grid: codes of every projection, by ranking, classes, rows and time.

The paper ranks by ANN mAP: the true neighbours of a query are the points nearer than
the mean distance to the 50th neighbour. Learning sees the database, never the queries,
and a seed draws both these and the starting point.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fewbits.encoders import Encoder
from fewbits.learners import (
    LSH,
    Learner,
    Thresholding,
)
from fewbits.learners.fitting import shared_steps
from research.common.features import SHAPES, UNSEEN_SEEDS, FeatureSet, load_features
from research.common.projections import (
    FORMS,
    FORMS_AT,
    LONGER,
    LONGER_AT,
    METHODS,
    OTHER_WAYS,
    USUAL_ITER,
    lengths_of,
    measured,
    n_iter_of,
    named,
)
from research.common.ranking import (
    Fit,
    encoder_metrics,
    float_metrics,
    ranking_metrics,
)
from research.common.svm import svm_metrics
from research.common.times import N_BATCH, encode_times, encoder_of
from research.core.claims import with_settings
from research.core.record import Metrics, Record, Settings
from research.core.runner import Task, task

if TYPE_CHECKING:
    from research.core.study import Study

#: Of figures 5 and 6: what they show, at few lengths.
STRUCTURED = ("caltech101-gist", "caltech101-vlad")
DATA = (
    *("icd10", "caltech101-1280", "caltech101-5120", "caltech101-11520"),
    *("caltech101+cifar10", "glove", *STRUCTURED),
)
TINY = ("digits",)
#: Of a tiny run.
TINY_METHODS = ("LSH", "ITQ", "SP 10%", "threshold", "float")
#: No choice of ours saw the queries of seed 0, but for neighbour-preserving codes.
SEEDS = (0, 1, 2)
#: By Euclidean distance, and by angles of centred features.
FLOATS = ("float", "float, centred")

#: What is classified, in bits per feature, and items of a class to train on at most.
SVM_AT: dict[str, tuple[float, ...]] = {
    "caltech101-1280": (0, 0.4, 1, 2, 4),
    "caltech101-5120": (0, 1),
    "icd10": (0, 1, 4),
    "digits": (0, 1),
}
SVM_EACH = {"icd10": 30}
SVM_METHODS = (
    *("float", "threshold", "LSH", "ITQ", "SP 5%", "CBE-rand", "CBE-opt"),
    *("BP-rand", "BP-opt", "Hadamard 3", "SH", "BRE"),
    *("NeighbourCodes", "FastNeighbourCodes"),
)
ROW_SETS = ("icd10", "caltech101-1280", *TINY)
FEW_SPARSE = tuple(map(named, (0.01, 0.1)))
FEW_ROWS = ("LSH", "ITQ", *FEW_SPARSE, named(1.0))
#: Rows to learn from, over the number of features, where codes are as long.
ROW_SHARES = (0.25, 1.0, 4.0)
#: Lengths of which all rows are learnt from.
ROW_LENGTHS = (64, 256)

#: Sets and lengths of neighbour codes, whose methods are timed here beside all others.
TIMED_TOO = ("wordnet", "cifar10")
TIMED_LENGTHS = (32, 64, 128, 256, 512)


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    for each in _tasks(TINY if tiny else DATA, SEEDS[:1] if tiny else SEEDS):
        names = {settings["method"] for settings in each.cells}
        if not tiny or names <= set(TINY_METHODS):
            yield each


def _tasks(sets: tuple[str, ...], seeds: tuple[int, ...]) -> Iterator[Task]:
    for data in sets:
        with shared_steps() as steps:  # seeds share the rows that are learnt from, too
            for seed in sorted({*seeds, *UNSEEN_SEEDS}):
                load = partial(load_features, data, seed)
                for settings, learner in ranked(data, seed, seeds):
                    fit = Fit(learner, load, steps)
                    yield task("ranking", settings, partial(rank, settings, fit))
                    if classified(settings):
                        yield task("svm", settings, partial(classify, settings, fit))
        for seed in seeds if data in ROW_SETS else ():
            yield from few_rows(data, seed)
    for data in (*sets, *TIMED_TOO) if sets != TINY else sets:
        yield from times(data)


def ranked(
    data: str, seed: int, seeds: tuple[int, ...]
) -> Iterator[tuple[Settings, Learner | None]]:
    """Yield the settings of every code of one seed, with its untrained learner."""
    d = SHAPES[data][1]
    if seed in seeds and data not in STRUCTURED:
        for method in FLOATS:
            yield {"data": data, "bits": 0, "method": method, "seed": seed}, None
        plain = {"data": data, "bits": d, "method": "threshold", "seed": seed}
        yield plain, Thresholding()
    for n_bits in lengths_of(data, d):
        for method, make in METHODS.items():
            its_seeds = UNSEEN_SEEDS if "NeighbourCodes" in method else seeds
            if seed in its_seeds and measured(data, method, n_bits, d):
                settings = {"data": data, "bits": n_bits, "method": method}
                learner = make(n_bits, seed, n_iter_of(data, n_bits))
                yield {**settings, "seed": seed}, learner


def rank(settings: Settings, fit: Fit) -> Metrics:
    """Rank the database for the queries."""
    if fit.encoder is None:
        centred = settings["method"] == FLOATS[1]
        return float_metrics(fit.features, settings["seed"], centred=centred)
    found = ranking_metrics(fit.features, fit.encoder, settings["seed"])
    return {**found, **fit.metrics(), **encoder_metrics(fit.encoder)}


def classified(settings: Settings) -> bool:
    """Return whether table 2 has a code."""
    share = settings["bits"] / SHAPES[settings["data"]][1]
    lengths = SVM_AT.get(settings["data"], ())
    return settings["method"] in SVM_METHODS and share in lengths


def classify(settings: Settings, fit: Fit) -> Metrics:
    """Train linear SVMs on codes."""
    each = SVM_EACH.get(settings["data"])
    return svm_metrics(fit.features, fit.encoder, settings["seed"], each)


def few_rows(data: str, seed: int) -> Iterator[Task]:
    """Yield maps that are learnt from fewer rows, where a dense one may overfit."""
    n, d = SHAPES[data]
    fewer = [round(share * d) for share in ROW_SHARES if share * d < n]
    asked = [(d, rows, FEW_ROWS) for rows in (*fewer, n)]
    asked += [(bits, n, FEW_SPARSE) for bits in ROW_LENGTHS if bits < d]
    for bits, rows, methods in asked:
        for method in methods:
            settings = {"data": data, "bits": bits, "rows": rows, "method": method}
            measure = partial(_few_rows, settings, seed)
            yield task("rows", {**settings, "seed": seed}, measure)


def _few_rows(settings: Settings, seed: int) -> Metrics:
    """Learn from the first rows of an order that `seed` draws, and rank all."""
    features = load_features(settings["data"], seed)
    n_iter = n_iter_of(settings["data"], settings["bits"])
    learner = METHODS[settings["method"]](settings["bits"], seed, n_iter)
    fit = Fit(learner, partial(_first_rows, features, settings["rows"], seed))
    assert fit.encoder is not None
    found = {**ranking_metrics(features, fit.encoder, seed), **fit.metrics()}
    return found | {"variance_seen": variance_seen(fit.encoder, features)}


def variance_seen(encoder: Encoder, features: FeatureSet) -> float:
    """Return the share of the variance of features that any bit looks at."""
    d = features.database.shape[1]
    nothing = encoder.project(np.zeros((1, d), np.float32))
    seen = (encoder.project(np.eye(d, dtype=np.float32)) != nothing).any(axis=1)
    variances = features.database.var(axis=0)
    return float(variances[seen].sum() / variances.sum())


def _first_rows(features: FeatureSet, n_rows: int, seed: int) -> FeatureSet:
    order = np.random.default_rng(seed).permutation(len(features.database))
    return replace(features, database=features.database[np.sort(order[:n_rows])])


def times(data: str) -> Iterator[Task]:
    """Yield all methods of a length, to be timed in turn."""
    d = SHAPES[data][1]
    others = () if data in (*TINY, *STRUCTURED) else TIMED_LENGTHS
    for n_bits in sorted({*lengths_of(data, d), *others}):
        learners = timed(data, n_bits, d)
        cells = [{"data": data, "bits": n_bits, "method": name} for name in learners]
        yield Task("times", cells, partial(_times, data, learners))


def timed(data: str, n_bits: int, d: int) -> dict[str, Learner]:
    """Return what is timed at a length, untrained."""
    found: dict[str, Learner] = {
        method: make(n_bits, 0, 1)
        for method, make in METHODS.items()
        if method not in OTHER_WAYS and measured(data, method, n_bits, d)
    }
    if "PCAH" in found:  # an encoder of that shape that needs fewer rows
        found["PCAH"] = LSH(n_bits, random_state=0)
    if n_bits == d:
        found["threshold"] = Thresholding()
    for method, make in FORMS.items() if n_bits in FORMS_AT else ():
        found[method] = make(n_bits)
    if data in TINY:
        return {name: found[name] for name in TINY_METHODS if name in found}
    return found


def _times(data: str, learners: dict[str, Learner]) -> list[Metrics]:
    features = load_features(data, 0)
    with shared_steps():
        encoders = {name: encoder_of(each, features) for name, each in learners.items()}
    found = encode_times(encoders, features)
    return [found[name] for name in learners]


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Return records with bits per feature, and 50 iterations under their base's name.

    At lengths where all that iterate were measured with as many iterations as in the
    paper, these take the place of those with fewer.
    """
    base_of = {longer: base for base, longer in LONGER.items()}
    found = []
    for record in records:
        settings, data = record.settings, record.settings["data"]
        if data in TIMED_TOO:
            continue
        method, n_bits = settings["method"], settings["bits"]
        has_longer = method in LONGER_AT.get(data, {}).get(n_bits, ())
        if record.part == "ranking" and has_longer:
            continue
        share = n_bits / SHAPES[data][1]
        changed = {"method": base_of.get(method, method), "share": share}
        found.append(with_settings(record, **changed))
    return found


def differs(record: Record) -> str:
    """Say where ITQ or SP have fewer iterations than the paper's."""
    usual = n_iter_of(record.settings["data"], record.settings["bits"])
    n_iter = record.metrics.get("n_iter", usual)
    iterates = record.settings["method"].startswith(("SP ", "ITQ"))
    if iterates and n_iter < USUAL_ITER and record.part != "times":
        return f"{n_iter} iterations, {USUAL_ITER} in the paper"
    return ""


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""
    means = partial(study.mean, "times", "single_us", 1)
    batch = partial(study.mean, "times", "batch_us", 1)
    return {
        "sets": DATA,
        "shapes": SHAPES,
        "few": round(ROW_SHARES[0] * SHAPES["icd10"][1]),
        "time": lambda method: means(data="caltech101-1280", share=1, method=method),
        "batch_time": lambda method: batch(
            data="caltech101-1280", share=1, method=method
        ),
        "batch": N_BATCH,
        "vlad_time": lambda method: means(
            data="caltech101-vlad", bits=512, method=method
        ),
    }
