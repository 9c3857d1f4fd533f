"""Learners by the names of their methods."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, cast

from fewbits import learners
from fewbits._checks import check_seed, nearest
from fewbits.errors import ArgumentError
from fewbits.learners import Learner

METHODS: dict[str, type[Learner]] = {
    "lsh": learners.LSH,
    "pcah": learners.PCAH,
    "threshold": learners.Thresholding,
    "bp": learners.BilinearProjections,
    "cbe": learners.CBE,
    "hadamard": learners.Hadamard,
    "itq": learners.ITQ,
    "cca-itq": learners.CCAITQ,
    "supervised-itq": learners.SupervisedITQ,
    "block-itq": learners.BlockITQ,
    "sp": learners.SparseProjections,
    "sh": learners.SpectralHashing,
    "bre": learners.BRE,
    "additive": learners.AdditiveCodes,
    "neighbours": learners.NeighbourCodes,
    "fast-neighbours": learners.FastNeighbourCodes,
    "classemes": learners.Classemes,
    "picodes": learners.PiCoDes,
    "picodes-relaxed": learners.RelaxedPiCoDes,
    "dbc": learners.DBC,
    "ecoc": learners.ECOC,
}
#: Classes of `fewbits.learners.deep` with a name of their own; the rest are losses.
_DEEP_CLASSES = {"llc": "LLC", "deep-supervised-itq": "DeepSupervisedITQ"}
#: These need torch, which is imported when one is asked for.
DEEP_METHODS = (
    *_DEEP_CLASSES,
    "csq",
    "dbdh",
    "dch",
    "dsdh",
    "greedyhash",
    "hashnet",
    "orthohash",
)
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
DEVICE_METHODS = tuple(name for name, each in METHODS.items() if each.uses_device)


#: The method that takes codes as they are, and learns nothing.
PACKED = "packed"


def has_torch() -> bool:
    """Return whether deep methods can be learnt."""
    return find_spec("torch") is not None


def make_learner(
    method: str,
    n_bits: int | None,
    random_state: int | None,
    parameters: Mapping[str, Any],
) -> Learner:
    """Return an untrained learner from names of a method and its parameters.

    Settings in groups are named ``training.batch_size``. Deep methods with a loss also
    take its parameters, as ``loss.gamma``, and those of a control that is named, as
    ``control.mode``.
    """
    make, known = _constructor(method), parameters_of(method)
    wanted = dict(parameters)
    if n_bits is not None:
        if "n_bits" not in known:
            raise ArgumentError(
                f"{method} chooses the number of bits itself: leave {n_bits} bits out"
            )
        if "n_bits" in wanted:
            raise ArgumentError(
                f"give one length, got {n_bits} bits and {wanted['n_bits']}"
            )
        wanted["n_bits"] = n_bits
    _check_known(method, wanted, known)
    if "random_state" in known:
        wanted.setdefault("random_state", random_state)
        if wanted["random_state"] is not None:
            wanted["random_state"] = check_seed(wanted["random_state"])
    composed = _composed(method, wanted)
    grouped = {name.replace(".", "__"): composed.pop(name) for name in _dots(composed)}
    learner: Learner = make(**composed).set_params(**grouped)
    return learner


def _dots(names: Iterable[str]) -> list[str]:
    return [name for name in names if "." in name]


def _check_known(what: str, wanted: Iterable[str], known: list[str]) -> None:
    if unknown := sorted(set(wanted) - set(known)):
        name = unknown[0]
        if name == "checkpoint":
            raise ArgumentError(f"{what} cannot resume, so it takes no checkpoint")
        typed = [each for each in known if each not in PYTHON_ONLY]
        grouped = [each for each in typed if each.endswith(f".{name}")]
        meant = f" (did you mean {grouped[0]!r}?)" if grouped else nearest(name, typed)
        raise ArgumentError(
            f"{what} has no parameter {name!r}{meant}; it has {', '.join(typed)}"
        )


def _constructor(method: str) -> Callable[..., Learner]:
    """Return the class or function that makes a learner of this name."""
    if method in METHODS:
        return METHODS[method]
    if method not in DEEP_METHODS:
        known = [*METHODS, *DEEP_METHODS, PACKED]
        raise ArgumentError(
            f"no method {method!r}{nearest(method, known)}; 'fewbits methods' lists "
            f"all {len(known)}"
        )
    from fewbits.learners import deep

    if method in _DEEP_CLASSES:
        found: Callable[..., Learner] = getattr(deep, _DEEP_CLASSES[method])
        return found
    return partial(deep.DeepHash, loss=method)


def _composed(method: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with a loss and a control built from their parameters."""
    for part, kinds in parts_of(method).items():
        prefix = f"{part}."
        names = [name for name in wanted if name.startswith(prefix)]
        if not names:
            continue
        kind = wanted.get(part, method if part == "loss" else None)
        if not isinstance(kind, str) or kind not in kinds:
            named = " or ".join(f"{part}={each}" for each in kinds)
            raise ArgumentError(f"{min(names)} needs {named}, got {part}={kind}")
        _check_known(f"{part}={kind}", names, _dotted(part, kinds[kind]))
        options = {name.removeprefix(prefix): wanted.pop(name) for name in names}
        wanted[part] = kinds[kind](**options)
    return wanted


def decomposed(method: str, learner: Learner) -> dict[str, Any]:
    """Return the parameters of a learner as they are typed.

    Leaves out the loss that a method is named after, and defaults of a loss and a
    control.
    """
    groups = learner.configs
    parameters = {
        name.replace("__", "."): value
        for name, value in learner.get_params().items()
        if name not in groups
    }
    for part, kinds in parts_of(method).items():
        made = parameters.get(part)
        name = next((name for name, make in kinds.items() if type(made) is make), None)
        if name is not None:
            parameters |= {part: name, **_spelled(part, made)}
        if part == "loss" and parameters.get(part) == method:
            del parameters[part]
    return parameters


def _spelled(part: str, made: Any) -> dict[str, Any]:
    """Return the options of a part that are not the default, as ``loss.gamma``."""
    from fewbits.learners.deep.losses import changed_options

    return {f"{part}.{name}": v for name, v in changed_options(made).items()}


def parts_of(method: str) -> dict[str, dict[str, Callable[..., Any]]]:
    """Return the parts of a method: for each part, its choices by name."""
    if method in _DEEP_CLASSES or method not in DEEP_METHODS:
        return {}
    from fewbits.learners.deep import CONTROLS
    from fewbits.learners.deep.losses import LOSSES

    return {"loss": {method: LOSSES[method]}, "control": dict(CONTROLS)}


def _dotted(part: str, make: Callable[..., Any]) -> list[str]:
    return [f"{part}.{name}" for name in inspect.signature(make).parameters]


def what_makes(method: str) -> type[Learner]:
    """Return the class of the learner of a method, whatever its loss."""
    made: Any = _constructor(method)
    return cast("type[Learner]", made.func if isinstance(made, partial) else made)


def method_of(learner: Learner) -> str:
    """Return the name of a learner's method, or else that of its type.

    Examples
    --------
    >>> method_of(learners.ITQ(n_bits=8))
    'itq'
    """
    kind = type(learner)
    names = {known: name for name, known in METHODS.items()}
    if kind in names:
        return names[kind]
    loss = getattr(learner, "loss", None)
    if isinstance(loss, str):
        return loss
    name = (kind if loss is None else type(loss)).__name__
    names_of_classes = {known: name for name, known in _DEEP_CLASSES.items()}
    name = names_of_classes.get(name, name)
    return name.lower() if name.lower() in DEEP_METHODS else name


def decides_length(method: str) -> bool:
    """Return whether a method determines the length of its codes."""
    return "n_bits" not in parameters_of(method)


def parameters_of(method: str) -> list[str]:
    """Return the names of a method's parameters, those of its parts included.

    Leaves out the loss of a method that is named after it.

    Examples
    --------
    >>> parameters_of("hadamard")
    ['n_bits', 'n_rounds', 'random_state']
    """
    if method == PACKED:
        return ["n_bits"]
    groups = what_makes(method).configs
    signature = inspect.signature(_constructor(method)).parameters
    names = [
        each
        for name in signature
        for each in (_dotted(name, groups[name]) if name in groups else [name])
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
