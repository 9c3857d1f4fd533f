"""Descriptions of methods and settings, from the docstrings of learners."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fewbits._extras import install_hint
from fewbits._repr import one_line
from fewbits.training._methods import (
    DEEP_METHODS,
    METHODS,
    PYTHON_ONLY,
    SUPERVISED,
    has_torch,
    parameters_of,
    parts_of,
    what_makes,
)

#: Parameters for which `fewbits fit` has its own option.
_OWN_OPTIONS = {"n_bits", "random_state", "checkpoint", "device"}
_SECTION = re.compile(r"\n([A-Z]\w+)\n-{4,}\n")


@dataclass(frozen=True)
class Setting:
    """A parameter that can be set: its name, values and description."""

    name: str
    values: str
    text: str


@dataclass(frozen=True)
class Description:
    """A method in words.

    Attributes
    ----------
    method, summary : str
    needs_labels, needs_torch : bool
    settings : tuple of Setting
        Empty where torch is needed and not installed.
    """

    method: str
    summary: str
    needs_labels: bool
    needs_torch: bool
    settings: tuple[Setting, ...]

    def __repr__(self) -> str:
        return one_line(self)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def describe(method: str) -> Description:
    """Describe a method and its settings.

    Parameters
    ----------
    method : str
        A key of `METHODS`, or one of `DEEP_METHODS`.

    Returns
    -------
    Description

    Raises
    ------
    ArgumentError
        When there is no such method.

    Examples
    --------
    >>> found = describe("hadamard")
    >>> [setting.name for setting in found.settings]
    ['n_rounds']
    """
    deep = method in DEEP_METHODS
    known = not deep or has_torch()
    return Description(
        method,
        _summary(method) if known else f"Needs torch: {install_hint('deep')}",
        method in SUPERVISED,
        deep,
        tuple(_settings(method)) if known else (),
    )


def describe_all() -> list[Description]:
    """Describe every method, those that need no labels first."""
    names = [*METHODS, *DEEP_METHODS]
    return [describe(name) for name in sorted(names, key=SUPERVISED.__contains__)]


def _summary(method: str) -> str:
    documented = parts_of(method).get("loss", {}).get(method) or what_makes(method)
    return inspect.cleandoc(documented.__doc__ or "").partition("\n")[0]


def _settings(method: str) -> Iterator[Setting]:
    own = _documented(what_makes(method))
    known = {**_of_deep(method), **{n: text for n, text in own.items() if text[0]}}
    for group, kind in what_makes(method).configs.items():
        in_group = _documented(kind)
        known |= {f"{group}.{name}": text for name, text in in_group.items()}
    for part, kinds in parts_of(method).items():
        for made in reversed(kinds.values()):
            of_part = _documented(made)
            known |= {
                f"{part}.{name}": documented for name, documented in of_part.items()
            }
    for name in parameters_of(method):
        if name not in _OWN_OPTIONS.union(PYTHON_ONLY):
            yield Setting(name, *known.get(name, ("", "")))


def _of_deep(method: str) -> dict[str, tuple[str, str]]:
    """Return settings that are implied by the name of a deep method."""
    if method not in DEEP_METHODS:
        return {}
    from fewbits.learners.deep import DeepHash

    return _documented(DeepHash)


def _documented(made: Any) -> dict[str, tuple[str, str]]:
    """Return the documentation of a class's parameters, inherited ones included.

    For each, its type and its text.
    """
    known: dict[str, tuple[str, str]] = {}
    for kind in inspect.getmro(made):
        sections = _SECTION.split(inspect.cleandoc(kind.__doc__ or ""))
        for title, body in zip(sections[1::2], sections[2::2], strict=True):
            if title == "Parameters":
                known = {**dict(_entries(body)), **known}
    return known


def _entries(body: str) -> Iterator[tuple[str, tuple[str, str]]]:
    body = re.sub(r",\n(?=\S)", ", ", body.strip("\n"))  # names on several lines
    for entry in re.split(r"\n(?=\S)", body):
        head, _, text = entry.partition("\n")
        names, _, values = head.partition(" : ")
        plain = " ".join(text.replace("`", "").split())
        for name in names.split(", "):
            yield name, (values, plain)
