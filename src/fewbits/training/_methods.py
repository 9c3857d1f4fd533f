"""The table of methods: learners by name, their parameters, and both in words."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from fewbits import learners
from fewbits._checks import check_seed, nearest
from fewbits._extras import install_hint
from fewbits.errors import ArgumentError
from fewbits.learners import Learner
from fewbits.learners.fitting import documented

#: A line for each method: its class, and its name in full, with the year of its paper.
_SHALLOW = """
lsh             LSH                 Locality-sensitive hashing (Charikar, 2002)
pcah            PCAH                PCA hashing (Wang, Kumar and Chang, 2010)
threshold       Thresholding        Thresholding (Agrawal, Girshick and Malik, 2014)
bp              BilinearProjections Bilinear projections (Gong et al., 2013)
cbe             CBE                 Circulant binary embedding (Yu et al., 2014)
hadamard        Hadamard            Randomized Hadamard transforms (Andoni et al., 2015)
itq             ITQ                 Iterative quantization (Gong and Lazebnik, 2011)
cca-itq         CCAITQ              CCA and ITQ (Gong and Lazebnik, 2011)
supervised-itq  SupervisedITQ       ITQ of features and CCA (of fewbits)
block-itq       BlockITQ            ITQ within groups of features (of fewbits)
sp              SparseProjections   Sparse projections (Xia et al., 2015)
sh              SpectralHashing     Spectral hashing (Weiss et al., 2008)
bre             BRE                 Reconstructive embeddings (Kulis and Darrell, 2009)
additive        AdditiveCodes       Additive codes (of fewbits, after others, 2014)
neighbours      NeighbourCodes      Neighbour-preserving codes (of fewbits)
fast-neighbours FastNeighbourCodes  Neighbours by fast transforms (of fewbits)
classemes       Classemes           Classemes (Torresani et al., 2010)
picodes         PiCoDes             PiCoDes, picture codes (Bergamo et al., 2011)
picodes-relaxed RelaxedPiCoDes      Relaxed PiCoDes (Bergamo et al., 2011)
dbc             DBC                 Discriminative binary codes (Rastegari et al., 2012)
ecoc            ECOC                Random output codes (Dietterich and Bakiri, 1995)
"""
#: Those of `fewbits.learners.deep` need torch, which is imported when one is asked for.
#: `DeepHash` has a loss of the method's name.
_DEEP = """
llc                 LLC               Learnt class codes (Kusupati et al., 2021)
deep-supervised-itq DeepSupervisedITQ Supervised ITQ beside a network (of fewbits)
csq                 DeepHash          Central similarity (Yuan et al., 2020)
dbdh                DeepHash          Balanced discrete hashing (Zheng et al., 2020)
dch                 DeepHash          Deep Cauchy hashing (Cao et al., 2018)
dsdh                DeepHash          Supervised discrete hashing (Li et al., 2017)
greedyhash          DeepHash          Greedy hash (Su et al., 2018)
hashnet             DeepHash          HashNet (Cao et al., 2017)
orthohash           DeepHash          OrthoHash, one loss for all (Hoe et al., 2021)
"""
_SHALLOW_ROWS, _DEEP_ROWS = (
    [line.split(None, 2) for line in table.strip().splitlines()]
    for table in (_SHALLOW, _DEEP)
)
METHODS: dict[str, type[Learner]] = {
    name: getattr(learners, kind) for name, kind, _ in _SHALLOW_ROWS
}
DEEP_METHODS = tuple(name for name, _, _ in _DEEP_ROWS)
_DEEP_CLASSES = {name: kind for name, kind, _ in _DEEP_ROWS if kind != "DeepHash"}
#: The method that takes codes as they are, and learns nothing.
PACKED = "packed"
_NAMES = {name: in_full for name, _, in_full in _SHALLOW_ROWS + _DEEP_ROWS}
_NAMES[PACKED] = "Packed codes of another system"
_OF_PACKED = "Take vectors that are binary codes already, as numpy.packbits packs them."
#: Parameters for which `fewbits fit` has its own option.
_OWN_OPTIONS = {"n_bits", "random_state", "checkpoint", "device"}
#: Parameters for Python only: modules and functions, and their companions.
PYTHON_ONLY = (
    "network.backbone",
    "network.trainable",
    "training.backbone_rate",
    "callbacks",
)
SUPERVISED = {
    *(name for name, learner in METHODS.items() if learner.needs_labels),
    *DEEP_METHODS,
}
#: Methods that `fitting.on_device` speeds up; deep ones have a parameter.
DEVICE_METHODS = tuple(name for name, kind in METHODS.items() if kind.uses_device)


def make_learner(
    method: str,
    n_bits: int | None,
    random_state: int | None,
    parameters: Mapping[str, Any],
) -> Learner:
    """Return an untrained learner from names of a method and its parameters."""
    make, allowed = what_makes(method), parameters_of(method)
    settings = dict(parameters)
    if n_bits is not None:
        if "n_bits" not in allowed:
            raise ArgumentError(
                f"{method} chooses the number of bits itself: leave out bits={n_bits}"
            )
        if "n_bits" in settings:
            raise ArgumentError(
                f"give one length, got {n_bits} bits and {settings['n_bits']}"
            )
        settings["n_bits"] = n_bits
    _check_known(method, settings, allowed)
    if "random_state" in allowed:
        settings.setdefault("random_state", random_state)
        if settings["random_state"] is not None:
            settings["random_state"] = check_seed(settings["random_state"])
    # A loss and a control are built from their own parameters.
    for part, kinds in parts_of(method).items():
        if part == "loss":
            settings[part] = method
        prefix = f"{part}."
        names = [name for name in settings if name.startswith(prefix)]
        if not names:
            continue
        kind = settings.get(part)
        if not isinstance(kind, str) or kind not in kinds:
            named = " or ".join(f"{part}={each}" for each in kinds)
            raise ArgumentError(f"{min(names)} needs {named}, got {part}={kind}")
        _check_known(f"{part}={kind}", names, _dotted(part, kinds[kind]))
        options = {name.removeprefix(prefix): settings.pop(name) for name in names}
        settings[part] = kinds[kind](**options)
    grouped = {n.replace(".", "__"): v for n, v in settings.items() if "." in n}
    own = {n: v for n, v in settings.items() if "." not in n}
    learner: Learner = make(**own).set_params(**grouped)
    return learner


def _check_known(what: str, settings: Iterable[str], allowed: list[str]) -> None:
    if unknown := sorted(set(settings) - set(allowed)):
        name = unknown[0]
        if name == "checkpoint":
            raise ArgumentError(f"{what} cannot resume, so it takes no checkpoint")
        typed = [full for full in allowed if full not in PYTHON_ONLY]
        grouped = [full for full in typed if full.endswith(f".{name}")]
        meant = f" (did you mean {grouped[0]!r}?)" if grouped else nearest(name, typed)
        raise ArgumentError(
            f"{what} has no parameter {name!r}{meant}; it has {', '.join(typed)}"
        )


def what_makes(method: str) -> type[Learner]:
    """Return the class of learners of this name."""
    if method in METHODS:
        return METHODS[method]
    if method not in DEEP_METHODS:
        allowed = [*METHODS, *DEEP_METHODS, PACKED]
        raise ArgumentError(
            f"no method {method!r}{nearest(method, allowed)}; 'fewbits methods' lists "
            f"all {len(allowed)}"
        )
    from fewbits.learners import deep

    kind: type[Learner] = getattr(deep, _DEEP_CLASSES.get(method, "DeepHash"))
    return kind


def decomposed(method: str, learner: Learner) -> dict[str, Any]:
    """Return the parameters of a learner as they are typed."""
    groups = learner.configs
    parameters = {
        name.replace("__", "."): value
        for name, value in learner.get_params().items()
        if name not in groups
    }
    for part, kinds in parts_of(method).items():
        value: Any = parameters.get(part)
        name = next((name for name, kind in kinds.items() if type(value) is kind), None)
        if name is not None:
            options = value.changed_options().items()
            parameters |= {part: name, **{f"{part}.{n}": v for n, v in options}}
        if part == "loss" and parameters.get(part) == method:
            del parameters[part]
    return parameters


def parts_of(method: str) -> dict[str, dict[str, Callable[..., Any]]]:
    if method in _DEEP_CLASSES or method not in DEEP_METHODS:
        return {}
    from fewbits.learners.deep import CONTROLS
    from fewbits.learners.deep.losses import LOSSES

    return {"loss": {method: LOSSES[method]}, "control": dict(CONTROLS)}


def _dotted(part: str, make: Callable[..., Any]) -> list[str]:
    return [f"{part}.{name}" for name in inspect.signature(make).parameters]


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that can be kept: short, and without files of this fit."""
    short = {}
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        numbers = isinstance(value, list | tuple) and all(
            isinstance(number, int | float) for number in value
        )
        scalar = isinstance(value, bool | int | float | str | None)
        if name not in ("checkpoint", *PYTHON_ONLY) and (numbers or scalar):
            short[name] = list(value) if isinstance(value, tuple) else value
    return short


def changed_parameters(learner: Learner) -> dict[str, Any]:
    """Return the parameters that are not the default, as they are typed."""
    method = method_of(learner)
    usual = decomposed(method, make_learner(method, None, None, {}))
    spelled = decomposed(method, learner)
    changed = {n: v for n, v in spelled.items() if n not in usual or v != usual[n]}
    return plain(changed)


def method_of(learner: Learner) -> str:
    """Return the name of a learner's method, or else that of its type."""
    loss = getattr(learner, "loss", None)
    if isinstance(loss, str):
        return loss
    kind = type(learner if loss is None else loss).__name__
    if kind.lower() in DEEP_METHODS:
        return kind.lower()
    return {of: name for name, of, _ in _SHALLOW_ROWS + _DEEP_ROWS}.get(kind, kind)


def parameters_of(method: str) -> list[str]:
    """Return the names of a method's parameters, those of its parts included."""
    if method == PACKED:
        return ["n_bits"]
    groups = what_makes(method).configs
    signature = inspect.signature(what_makes(method)).parameters
    names = [
        full
        for name in signature
        for full in (_dotted(name, groups[name]) if name in groups else [name])
    ]
    parts = parts_of(method)
    of_parts = [
        name
        for part, kinds in parts.items()
        for make in kinds.values()
        for name in _dotted(part, make)
    ]
    own = [name for name in names if name != "loss" or not parts]
    return [*own, *dict.fromkeys(of_parts)]


def own_parameters(
    methods: Iterable[str], parameters: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the parameters of each method: those of all, and its own."""
    parts: dict[str, dict[str, Any]] = {name: {} for name in methods}
    for name, value in parameters.items():
        method, dot, rest = name.partition(".")
        if dot and method in parts:
            parts[method][rest] = value
        elif dot and method in (*METHODS, *DEEP_METHODS):
            raise ArgumentError(f"{name} is set, but {method} is not compared")
        else:
            for own in parts.values():
                own.setdefault(name, value)
    if any("n_bits" in own for own in parts.values()):
        raise ArgumentError(
            "n_bits are the numbers of bits to compare (on the command line --bits)"
        )
    return parts


@dataclass(frozen=True)
class Setting:
    """A parameter that can be set."""

    name: str
    values: str
    text: str


@dataclass(frozen=True)
class Description:
    """A method in words; without settings where torch is needed and not installed."""

    method: str
    name: str  # with the authors and the year of the paper
    summary: str
    needs_labels: bool
    needs_torch: bool
    settings: tuple[Setting, ...]


def describe(method: str) -> Description:
    """Describe a method and its settings; refuse what is none."""
    if method == PACKED:
        return Description(method, _NAMES[method], _OF_PACKED, False, False, ())
    deep = method in DEEP_METHODS
    can_run = not deep or find_spec("torch") is not None
    summary = f"Needs torch: {install_hint('deep')}"
    if can_run:  # or refused
        kind = parts_of(method).get("loss", {}).get(method) or what_makes(method)
        summary = inspect.cleandoc(kind.__doc__ or "").partition("\n")[0]
    return Description(
        method,
        _NAMES[method],
        summary,
        method in SUPERVISED,
        deep,
        tuple(_settings(method)) if can_run else (),
    )


def describe_all() -> list[Description]:
    """Describe every method, those that need no labels first."""
    names = [*METHODS, PACKED, *DEEP_METHODS]
    return [describe(name) for name in sorted(names, key=SUPERVISED.__contains__)]


def _settings(method: str) -> Iterator[Setting]:
    maker = what_makes(method)
    texts = documented(maker, "Parameters")
    parts: list[tuple[str, Any]] = list(maker.configs.items())
    for part, kinds in parts_of(method).items():
        parts += [(part, kind) for kind in reversed(kinds.values())]
    for part, kind in parts:
        of_part = documented(kind, "Parameters").items()
        texts |= {f"{part}.{name}": text for name, text in of_part}
    for name in parameters_of(method):
        if name not in _OWN_OPTIONS.union(PYTHON_ONLY):
            head, _, text = texts.get(name, "").partition("\n")
            plain = " ".join(text.replace("`", "").split())
            yield Setting(name, head.partition(" : ")[2], plain)
