"""The grid of tuning: `fewbits tune`, beside every method as it comes.

Queries are held out first; the rest is the collection, which the methods learn from and
which is tuned on. Seed 0, whose queries were in view when methods were made, is left
out. Tuning of GloVe was changed after seeds 1 to 5 ("tuned, before"); 6 to 8 are new.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from fewbits.encoders import Encoder
from fewbits.inputs import Input
from fewbits.training._methods import make_learner
from fewbits.training.tuning import Configuration, Target, tune
from fewbits.training.tuning._timing import seconds_alone
from fewbits.training.tuning._trial import Trial
from research.common.features import SHAPES, UNSEEN_SEEDS, load_features
from research.core.record import Metrics, Record, Settings
from research.core.runner import Task, task

DATA = ("icd10", "caltech101-1280", "glove")
#: Seeds beyond the usual ones, added when three had left comparisons undecided.
MORE_SEEDS = {"icd10": (4, 5, 6), "glove": (4, 5, 6, 7, 8)}
#: After tuning was changed; see "tuned, before".
TUNED_SEEDS = {"glove": (6, 7, 8)}
UNLABELLED = ("glove",)
K, SHORTLIST, LONGEST = 10, 100, 1000
LENGTHS = (64, 128, 256)  #: Of the defaults.
#: Not those that need labels, nor those whose length cannot be chosen.
FIXED = (
    *("hadamard", "lsh", "pcah", "sh", "bre", "bp", "cbe", "itq", "sp"),
    *("fast-neighbours", "neighbours"),
)
#: They take minutes, and are not for neighbours by vectors: at one length only.
SUPERVISED = ("cca-itq", "dbc", "csq", "dch", "llc")
LEAST_RECALL, SHARE_OF_TIME = 0.7, 0.5
MINUTES = 5.0  #: Half of what `fewbits tune` takes unasked.
TINY_METHODS = ("hadamard", "lsh", "itq")


class Goal(NamedTuple):
    """A target of tuning, by bits and the time that ITQ of as many takes."""

    lengths: tuple[int, ...]
    target: Callable[[int, Callable[[], float]], Target]


WITHIN_BYTES, IN_TIME, FEWEST_BYTES, BY_LABELS = (
    "tuned",
    "tuned, in half of ITQ's time",
    f"tuned, for a recall of {LEAST_RECALL:g}",
    "tuned, by labels",
)
GOALS = {
    WITHIN_BYTES: Goal((64, 256), lambda bits, _: Target(max_bytes=bits // 8)),
    IN_TIME: Goal(
        (256,),
        lambda bits, itq_us: Target(
            max_bytes=bits // 8, max_encode_us=SHARE_OF_TIME * itq_us()
        ),
    ),
    FEWEST_BYTES: Goal((0,), lambda _, __: Target(at_least=LEAST_RECALL)),
    BY_LABELS: Goal((64,), lambda bits, _: Target("accuracy", max_bytes=bits // 8)),
}
#: Ways to search that every method has.
SEARCHES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "re-ranked": {"rerank": "scores", "shortlist": SHORTLIST},
    "re-ranked, most": {"rerank": "scores", "shortlist": LONGEST},
}


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    for data in ("digits",) if tiny else DATA:
        seeds = (1,) if tiny else (*UNSEEN_SEEDS, *MORE_SEEDS.get(data, ()))
        for seed in seeds:
            problem = Problem(data, seed)
            for settings in lineup(data, seed):
                small = settings["method"] in TINY_METHODS and settings["bits"] == 64
                if small or not tiny:
                    yield task("tune", settings, partial(problem.measure, settings))


def lineup(data: str, seed: int) -> Iterator[Settings]:
    """Yield the settings of a seed; no more principal components than features."""
    labelled = data not in UNLABELLED
    for n_bits in LENGTHS:
        by_labels = labelled and n_bits in GOALS[BY_LABELS].lengths
        for method in (*FIXED, *(SUPERVISED if by_labels else ())):
            usual = seed in UNSEEN_SEEDS or method in FIXED
            if usual and (method != "pcah" or n_bits <= SHAPES[data][1]):
                yield {"data": data, "bits": n_bits, "method": method, "seed": seed}
    for goal, (lengths, _) in GOALS.items():
        wanted = seed in UNSEEN_SEEDS
        if goal == WITHIN_BYTES:
            wanted = seed in TUNED_SEEDS.get(data, (seed,))
        for n_bits in lengths if wanted and (labelled or goal != BY_LABELS) else ():
            yield {"data": data, "bits": n_bits, "method": goal, "seed": seed}


class Problem:
    """A collection, and queries that nothing has seen."""

    def __init__(self, data: str, seed: int) -> None:
        self.data, self.seed = data, seed
        self.trial = cache(self._trial)

    @property
    def features(self) -> Any:
        """The collection and the queries."""
        return load_features(self.data, self.seed, unseen=True)

    def measure(self, settings: Settings) -> Metrics:
        """Tune or take what comes, learn from the collection, and search it."""
        method, n_bits = settings["method"], settings["bits"]
        if method in GOALS:
            return self.tuned(GOALS[method], n_bits)
        chosen = Configuration(method, n_bits, {}, self.seed)
        encoder, seconds = self.learnt(chosen)
        found: dict[str, Any] = {"fit_seconds": seconds}
        labelled = self.data not in UNLABELLED
        for quality in ("recall", "accuracy") if labelled else ("recall",):
            ways = [replace(chosen, **how) for how in SEARCHES.values()]
            measured = self.trial(quality).measure(encoder, ways, seconds)
            for way, each in zip(SEARCHES, measured, strict=True):
                found[f"{quality}, {way}"] = each.quality
                found["encode_us"] = round(each.encode_us, 3)
        return found

    def tuned(self, goal: Goal, n_bits: int) -> Metrics:
        """Return the metrics of what tuning chooses, and ITQ's time if that matters."""
        itq = cache(lambda: self.learnt(Configuration("itq", n_bits, {}, self.seed))[0])
        target = goal.target(n_bits, lambda: self._encode_us([itq()])[0])
        items = self.features.database
        labels = self.features.database_labels
        labels = None if self.data in UNLABELLED else labels
        start = time.perf_counter()
        found = tune(
            Input("vectors", items, labels, "the collection"),
            target,
            k=K,
            minutes=MINUTES,
            max_rows=len(items),
            random_state=self.seed,
        )
        seconds = time.perf_counter() - start
        chosen = found.configuration
        encoder, fit_seconds = self.learnt(chosen)
        trial = self.trial(target.quality)
        (measured,) = trial.measure(encoder, [chosen], fit_seconds)
        # In turn with ITQ: the machine may be slower now than it was then.
        in_turn = [encoder, itq()] if target.max_encode_us else [encoder]
        encode_us, *itq_us = self._encode_us(in_turn)
        return {
            "quality": measured.quality,
            "promised": found.reported.quality,
            "chosen": chosen.described(),
            "bytes": measured.bytes_per_item,
            "encode_us": encode_us,
            "itq_us": itq_us[0] if itq_us else None,
            "untried": found.n_untried,
            "rows": len(items),
            "fit_seconds": fit_seconds,
            "tune_seconds": round(seconds, 1),
        }

    def learnt(self, chosen: Configuration) -> tuple[Encoder, float]:
        """Return the encoder of a configuration and the seconds it took."""
        learner = make_learner(
            chosen.method, chosen.n_bits, chosen.random_state, chosen.parameters
        )
        start = time.perf_counter()
        labels = self.features.database_labels if learner.needs_labels else None
        encoder = learner.fit(self.features.database, labels).encoder_
        return encoder, round(time.perf_counter() - start, 2)

    def _trial(self, quality: str) -> Trial:
        features = self.features
        database, queries = features.database, features.queries
        labels = features.database_labels, features.query_labels
        return Trial(database, labels[0], queries, labels[1], quality, K)

    def _encode_us(self, encoders: list[Encoder]) -> list[float]:
        seconds = seconds_alone(encoders, self.features.queries)
        return [round(1e6 * each, 3) for each in seconds]


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Return a record for each way to search; what is tuned has a way of its own."""
    return [each for record in records for each in _by_search(record)]


def _by_search(record: Record) -> Iterator[Record]:
    metrics = record.metrics
    tuned = "quality" in metrics
    shared: dict[str, Any] = {"quality": metrics.get("quality")}
    if tuned:
        name = "accuracy" if record.settings["method"] == BY_LABELS else "recall"
        shared = {name: metrics["quality"], "quality": metrics["quality"]}
        shared["optimism"] = metrics["promised"] - metrics["quality"]
        itq_us = metrics.get("itq_us")
        shared["time_share"] = metrics["encode_us"] / itq_us if itq_us else None
    for way in SEARCHES:
        found = {q: metrics.get(f"{q}, {way}") for q in ("recall", "accuracy")}
        settings = {**record.settings, "search": way, "default": not tuned}
        yield replace(record, settings=settings, metrics=shared if tuned else found)
