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
    PACKED,
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
#: The names of methods in full, by whom and when they were proposed.
_NAMES = {
    "lsh": "Locality-sensitive hashing (Charikar, 2002)",
    "pcah": "PCA hashing (Wang, Kumar and Chang, 2010)",
    "threshold": "Thresholding (Agrawal, Girshick and Malik, 2014)",
    "bp": "Bilinear projections (Gong et al., 2013)",
    "cbe": "Circulant binary embedding (Yu et al., 2014)",
    "hadamard": "Randomized Hadamard transforms (Andoni et al., 2015)",
    "additive": "Additive codes (of fewbits, after additive quantization, 2014)",
    "itq": "Iterative quantization (Gong and Lazebnik, 2011)",
    "block-itq": "ITQ within groups of features (of fewbits, after ITQ)",
    "cca-itq": "Canonical correlations and ITQ (Gong and Lazebnik, 2011)",
    "supervised-itq": "ITQ of features and canonical correlates (of fewbits)",
    "sp": "Sparse projections (Xia et al., 2015)",
    "sh": "Spectral hashing (Weiss, Torralba and Fergus, 2008)",
    "bre": "Binary reconstructive embeddings (Kulis and Darrell, 2009)",
    "neighbours": "Neighbour-preserving codes (of fewbits, after SNE, 2002)",
    "fast-neighbours": "Neighbour-preserving codes by fast transforms (of fewbits)",
    "classemes": "Classemes (Torresani, Szummer and Fitzgibbon, 2010)",
    "picodes": "PiCoDes, picture codes (Bergamo, Torresani and Fitzgibbon, 2011)",
    "picodes-relaxed": "Relaxed PiCoDes (Bergamo, Torresani and Fitzgibbon, 2011)",
    "dbc": "Discriminative binary codes (Rastegari, Farhadi and Forsyth, 2012)",
    "ecoc": "Random error-correcting output codes (Dietterich and Bakiri, 1995)",
    "llc": "Learnt low-dimensional binary codes (Kusupati et al., 2021)",
    "deep-supervised-itq": "Supervised ITQ beside a network (of fewbits)",
    "csq": "Central similarity quantization (Yuan et al., 2020)",
    "dbdh": "Deep balanced discrete hashing (Zheng, Zhang and Lu, 2020)",
    "dch": "Deep Cauchy hashing (Cao et al., 2018)",
    "dsdh": "Deep supervised discrete hashing (Li et al., 2017)",
    "greedyhash": "Greedy hash (Su et al., 2018)",
    "hashnet": "HashNet (Cao et al., 2017)",
    "orthohash": "OrthoHash, one loss for all (Hoe et al., 2021)",
    PACKED: "Packed codes of another system",
}
_OF_PACKED = "Take vectors that are binary codes already, as numpy.packbits packs them."


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
    method : str
        As ``fewbits fit --method`` takes it.
    name : str
        In full, with the authors and the year of the paper.
    summary : str
    needs_labels, needs_torch : bool
    settings : tuple of Setting
        Empty where torch is needed and not installed.
    """

    method: str
    name: str
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
        A key of `METHODS`, one of `DEEP_METHODS`, or "packed".

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
    >>> found.name
    'Randomized Hadamard transforms (Andoni et al., 2015)'
    >>> [setting.name for setting in found.settings]
    ['n_rounds']
    """
    if method == PACKED:
        return Description(method, _NAMES[method], _OF_PACKED, False, False, ())
    deep = method in DEEP_METHODS
    known = not deep or has_torch()
    # Refuses names that are not known.
    summary = _summary(method) if known else f"Needs torch: {install_hint('deep')}"
    return Description(
        method,
        _NAMES[method],
        summary,
        method in SUPERVISED,
        deep,
        tuple(_settings(method)) if known else (),
    )


def describe_all() -> list[Description]:
    """Describe every method, those that need no labels first."""
    names = [*METHODS, PACKED, *DEEP_METHODS]
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
