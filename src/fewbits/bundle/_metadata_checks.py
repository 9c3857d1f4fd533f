"""Checks of the values of metadata, one clear line each."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewbits._frozen import ReadOnlyDict
from fewbits.bundle._indexes import AUTO, INDEXES
from fewbits.bundle._kept import KEPT
from fewbits.errors import ArgumentError, a_kind


def text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ArgumentError(f"{name} must be a text or None, got {_shown(value)}")


def form(name: str, value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value in KEPT):
        return value
    raise ArgumentError(f"{name} must be one of {', '.join(KEPT)}, got {_shown(value)}")


def index(name: str, value: Any) -> str | None:
    known = [kind for kind in INDEXES if kind != AUTO]  # None stands for it
    if value is None or (isinstance(value, str) and value in known):
        return value
    raise ArgumentError(
        f"{name} must be one of {', '.join(known)}, or None, got {_shown(value)}"
    )


def from_0(name: str, value: Any) -> int | None:
    return _whole(name, value, 0)


def from_1(name: str, value: Any) -> int | None:
    return _whole(name, value, 1)


def _whole(name: str, value: Any, least: int) -> int | None:
    if value is None:
        return None
    right = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if right and value >= least:
        return int(value)
    raise ArgumentError(
        f"{name} must be a whole number from {least} on, got {_shown(value)}"
    )


def number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    kinds = int | float | np.integer | np.floating
    right = isinstance(value, kinds) and not isinstance(value, bool)
    if right and np.isfinite(value):
        return float(value)
    raise ArgumentError(f"{name} must be a finite number, got {_shown(value)}")


def flag(name: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ArgumentError(f"{name} must be True or False, got {_shown(value)}")


def names(name: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    several = isinstance(value, list | tuple) or hasattr(value, "tolist")
    if several and all(isinstance(each, str) for each in value):
        return tuple(map(str, value)) or None
    raise ArgumentError(f"{name} must be a list of texts, got {_shown(value)}")


def plain(name: str, value: Any) -> ReadOnlyDict:
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{name} must be a mapping, got {_shown(value)}")
    return ReadOnlyDict(value, name=name)


def _shown(value: Any) -> str:
    plain = isinstance(value, str | int | float | np.generic)
    return repr(value)[:60] if plain else a_kind(value)


#: What checks each field, and returns its value as it is kept.
CHECKS: dict[str, Any] = {
    "method": text,
    "parameters": plain,
    "kernel_map": text,
    "feature_names": names,
    "trained_on": from_0,
    "several_labels": flag,
    "repaired_classes": from_0,
    "label_threshold": number,
    "shortlist": from_1,
    "index": index,
    "keep_vectors": form,
    "novelty_radius": from_0,
    "raw_column": text,
    "label_column": text,
    "id_column": text,
    "prefix_of": from_1,
    "interrupted": text,
    "extra": plain,
}
