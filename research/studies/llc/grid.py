"""The grid: LLC on frozen features, its decoders, retrieval, OOD and ablations."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from research.common.choices import CHOSEN_BITS
from research.common.problems import N_CLASSES
from research.core.plot import Curve
from research.core.record import Metrics, Record
from research.core.runner import Task, task
from research.core.table import grid
from research.studies.llc import codebooks, networks, ood
from research.studies.llc import retrieval as ranking
from research.studies.llc import taxonomy as tree

if TYPE_CHECKING:
    from research.core.study import Study

DATA, SEVERAL = ("icd10", "wordnet", "caltech101", "cifar10"), "icd10-words"
#: Of nested codes, as a method.
PREFIX = "prefix of nested codes"
TINY = ((0, "float"), (8, "LLC"), (8, "SVD, as it is"))


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    if tiny:
        yield from _tasks("accuracy", "digits", 1, codebooks, TINY)
        return
    for data in DATA:
        yield from _tasks("accuracy", data, 3, codebooks)
        yield from _tasks("taxonomy", data, 3, tree)
        yield from _tasks("separability", data, 3, networks)
        for seed in range(3):
            yield from ood.tasks(data, seed)
    for data in (*DATA, SEVERAL):
        yield from ranking.tasks(data)


def _tasks(
    part: str, data: str, seeds: int, module: Any, only: Any = None
) -> Iterator[Task]:
    for seed in range(seeds):
        for n_bits, method in only or module.cells(data):
            at = {"data": data, "bits": n_bits, "method": method, "seed": seed}
            yield task(part, at, partial(module.measure, at))


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Return records with what claims compare, each as a metric of its own."""
    found = [each for one in records for each in _MADE.get(one.part, _as_is)(one)]
    count = Counter(_but_seed(each) for each in found if each.part == "ood")
    most: dict[Any, int] = {}
    for each in found:
        if each.part == "ood":
            most[_set(each)] = max(most.get(_set(each), 0), count[_but_seed(each)])
    # A rate may be refused with some seeds.
    return [
        each
        for each in found
        if each.part != "ood" or count[_but_seed(each)] == most[_set(each)]
    ]


def _set(record: Record) -> tuple[Any, ...]:
    return record.settings["data"], record.settings.get("unknown")


def _but_seed(record: Record) -> tuple[Any, ...]:
    return (record.part, *sorted(record.settings.items()))


def _with(record: Record, metrics: Metrics, **settings: Any) -> Record:
    return replace(record, settings={**record.settings, **settings}, metrics=metrics)


def _as_is(record: Record) -> Iterator[Record]:
    yield record


def _accuracy(record: Record) -> Iterator[Record]:
    """Yield shares of right bits, and nested codes as methods."""
    n_bits, method = record.settings["bits"], record.settings["method"]
    head = codebooks.LINEAR_HEAD if method.endswith(codebooks.LINEAR_HEAD) else ""
    right = record.metrics.get("matching_bits", 0) / max(n_bits, 1)
    yield _with(record, {**record.metrics, "right_bits": right})
    for name, metrics in record.metrics.items():
        if name.startswith("at "):
            at = {"method": f"{PREFIX}{head}", "bits": int(name.split()[1])}
            yield _with(record, metrics, **at)


def _separability(record: Record) -> Iterator[Record]:
    """Yield each way to train as a method; accuracy is that of the nearest code."""
    phases = {f"phase {n}": each for n, each in record.metrics["phases"].items()}
    for method, found in {**record.metrics, **phases}.items():
        if isinstance(found, float):
            yield _with(record, {"accuracy": found}, method=method)
        elif method != "phases":
            yield _with(record, {**found, "accuracy": found["nearest"]}, method=method)


def _taxonomy(record: Record) -> Iterator[Record]:
    beyond = record.metrics["purity"] - record.metrics["purity_chance"]
    yield _with(record, {**record.metrics, "beyond_chance": beyond})


def _ood(record: Record) -> Iterator[Record]:
    """Yield each rule as a method, by the mixtures that it, or a threshold, meets."""
    at = {"unknown": record.settings["method"]}
    for name, found in record.metrics["scores"].items():
        yield _with(record, found, method=name, **at)
    for name, rule in record.metrics["rules"].items():
        yield _with(record, rule, method=name, **at)
        for each in rule.get("mixtures", ()):
            for share in {*ood.MIXTURES} - {each["met"]}:
                met = {**at, "met": each["met"], "tuned_on": share}
                yield _with(record, each, method=name, **met)
    for each in record.metrics["tuned"]:
        met = {**at, "met": each["met"], "tuned_on": each["tuned_on"]}
        yield _with(record, each, method="tuned", **met)


def _retrieval(record: Record) -> Iterator[Record]:
    labels = "several" if record.settings["data"] == SEVERAL else "one"
    yield _with(record, record.metrics, labels=labels)


_MADE: dict[str, Callable[[Record], Iterable[Record]]] = {
    "accuracy": _accuracy,
    "separability": _separability,
    "taxonomy": _taxonomy,
    "ood": _ood,
    "retrieval": _retrieval,
}

DECODERS = {"nearest": "nearest, expected", "exact": "exact"}
FLOAT = "float features, linear SVM"
TABLE = (
    *("LLC", "random", "predictable", f"LLC{codebooks.LINEAR_HEAD}"),
    *(codebooks.ECOC_CONTROL, FLOAT),
)
SCORES = (
    *("random features", "max logit", "features' neighbours"),
    "likelihood of the nearest code",
)
#: What .05 comes to, of known and unknown items.
PROMISED = {
    "known rejected, at most .05": ("max_false_reject_rate", "known_rejected"),
    "... unknown accepted": ("max_false_reject_rate", "unknown_accepted"),
    "... as predicted": ("max_false_reject_rate", "predicted_rate"),
    "unknown accepted, at most .05": ("max_false_accept_rate", "unknown_accepted"),
    "... known rejected": ("max_false_accept_rate", "known_rejected"),
}


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""
    drawn = {study.titles[data]: by_length(study, data) for data in DATA[:3]}
    rows = study.select("accuracy", bits=codebooks.N_BITS, method=list(TABLE))
    for each in study.select("accuracy", method="float"):
        metrics = {DECODERS["nearest"]: each.metrics["accuracy"]}
        rows.append(_with(each, metrics, method=FLOAT))
    rows.sort(key=lambda each: TABLE.index(each.settings["method"]))
    titled = list(map(study.titled, rows))

    def bits(method: str, data: str) -> str:
        at: dict[str, Any] = {"data": data, "method": method}
        at["bits"] = codebooks.N_BITS
        return study.mean("accuracy", "right_bits", **at).split(" ±")[0]

    def ranked(method: str, bits: int = CHOSEN_BITS) -> str:
        at: dict[str, Any] = {"method": method, "bits": bits}
        found = (study.mean("retrieval", "map", data=d, **at) for d in DATA[:3])
        return " / ".join(each.split(" ±")[0] for each in found)

    return {
        **{"bits": bits, "ranked": ranked},
        "sets": ", ".join(f"{study.titles[d]} ({N_CLASSES[d]})" for d in DATA),
        "drawn": drawn,
        "table": grid(titled, DECODERS["nearest"], columns="data", errors=False),
        "promised": grid(promised(study), "share", columns="data", errors=False),
        "told_apart": grid(
            unknown(study, SCORES), "auroc", columns="data", errors=False
        ),
    }


def by_length(study: "Study", data: str) -> dict[str, Curve]:
    """Return LLC's accuracy by its length, by decoder and head."""
    drawn = {
        f"{name}{head}": study.curves("accuracy", metric, [f"LLC{head}"], data=data)
        for head in ("", codebooks.LINEAR_HEAD)
        for name, metric in DECODERS.items()
    }
    return {name: curve for name, found in drawn.items() for curve in found.values()}


def unknown(study: "Study", methods: Iterable[str]) -> list[Record]:
    """Return records of scores or rules, the two kinds of unknown items as two sets."""
    names = list(methods)
    found = study.select("ood", method=[*names])
    found = [each for each in found if "met" not in each.settings]
    found.sort(key=lambda each: names.index(each.settings["method"]))
    kinds = {ood.HELD_OUT: "", ood.BACKGROUND: ", background"}
    titled = map(study.titled, found)
    return [
        _with(each, each.metrics, data=each.settings["data"] + kinds[kind], unknown="")
        for each in titled
        for kind in [each.settings["unknown"]]
    ]


def promised(study: "Study") -> Iterator[Record]:
    """Yield what .05 comes to by the score of random features; nothing if refused."""
    for name, (kind, metric) in PROMISED.items():
        for each in unknown(study, [f"random features, {kind} 0.05"]):
            yield _with(each, {"share": each.metrics[metric]}, method=name)
