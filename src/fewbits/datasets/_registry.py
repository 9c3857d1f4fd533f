"""The data sets by name, their presence on this machine and their sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fewbits._extras import install_hint
from fewbits.datasets import _caltech101, _cifar10, _fashion_mnist, _glove, _wordnet
from fewbits.datasets._base import Dataset
from fewbits.datasets._digits import load_digits
from fewbits.datasets._download import Progress, Remote, fetch
from fewbits.datasets._icd10 import load_icd10
from fewbits.datasets._locate import locate, package_folder, user_folder
from fewbits.datasets._sources import CALTECH101, CIFAR10, FASHION_MNIST, WORDNET
from fewbits.errors import ArgumentError, MissingDataError, MissingExtraError

_GET = "fewbits data get"


@dataclass(frozen=True)
class Entry:
    """Metadata of a data set that is not loaded yet.

    Attributes
    ----------
    name, kind, size, licence : str
    present : bool
        Whether it is on this machine.
    how : str
        The command that gets it.
    """

    name: str
    kind: str
    size: str
    licence: str
    present: bool
    how: str


@dataclass(frozen=True)
class _Known:
    load: Callable[..., Dataset]
    kind: str
    size: str
    licence: str
    paths: Sequence[str] = ()
    remotes: Sequence[Remote] = ()
    package: str = ""
    extra: str = ""
    command: str = ""


_KNOWN: Mapping[str, _Known] = {
    "digits": _Known(
        load_digits,
        "vectors",
        "1,797 x 64",
        "CC BY 4.0",
        package="sklearn",
        command="comes with fewbits",
    ),
    "icd10": _Known(
        load_icd10,
        "texts",
        "about 74,000 diagnoses",
        "public domain",
        package="simple_icd_10_cm",
        extra="text",
    ),
    "wordnet": _Known(
        _wordnet.load_wordnet,
        "texts",
        "82,115 senses of nouns (20 MB)",
        "WordNet 3.0 licence",
        _wordnet.PATHS,
        WORDNET,
        command=f"{_GET} wordnet, or apt install wordnet-base",
    ),
    "glove": _Known(
        _glove.load_glove,
        "vectors",
        "400,000 x 50 (84 MB)",
        "PDDL 1.0",
        package=_glove.PACKAGE,
        extra=_glove.EXTRA,
    ),
    "fashion-mnist": _Known(
        _fashion_mnist.load_fashion_mnist,
        "images",
        "70,000 of 28 x 28 (31 MB)",
        "MIT",
        _fashion_mnist.PATHS,
        FASHION_MNIST,
        command=f"{_GET} fashion-mnist, or apt install dataset-fashion-mnist",
    ),
    "cifar10": _Known(
        _cifar10.load_cifar10,
        "images",
        "60,000 of 32 x 32 (170 MB)",
        "research use",
        _cifar10.PATHS,
        CIFAR10,
    ),
    "caltech101": _Known(
        _caltech101.load_caltech101,
        "images",
        "9,144 photographs (137 MB)",
        "CC BY 4.0 (collection)",
        _caltech101.PATHS,
        CALTECH101,
    ),
}


def load(name: str, **options: object) -> Dataset:
    """Return the data set called `name`; `options` go to its own function.

    Raises
    ------
    ArgumentError
        When there is no such data set.
    MissingDataError, MissingExtraError
        When it is not on this machine.
    """
    return _known(name).load(**options)


def available() -> list[Entry]:
    """Return the data sets that can be loaded."""
    return [
        Entry(
            name,
            known.kind,
            known.size,
            known.licence,
            _is_here(name, known),
            _how(name, known),
        )
        for name, known in _KNOWN.items()
    ]


def download(
    name: str, folder: str | Path | None = None, *, progress: Progress | None = None
) -> Path:
    """Return where a data set lies, after downloading what is not there yet.

    Parameters
    ----------
    name : str
    folder : str or Path, optional
        Where to; by default the user's data folder, where `load` looks by itself.
    progress : callable, optional
        Called with the bytes that are here and those there will be.

    Returns
    -------
    Path
        The archive, or the folder of the files where there are several. For a data
        set that comes with a package it is the package's folder.

    Raises
    ------
    ArgumentError
        When there is no such data set.
    MissingExtraError
        When it comes with a package; the message says which command installs it.
    MissingDataError, ArtefactError
        When the download fails; calling again resumes it.
    """
    known = _known(name)
    if known.package:
        return package_folder(known.package, name, known.extra)
    target = user_folder() if folder is None else Path(folder)
    total = sum(remote.size or 0 for remote in known.remotes)
    before = 0
    for remote in known.remotes:
        path = fetch(remote, target, progress=_shifted(progress, before, total))
        before += path.stat().st_size
    return path if len(known.remotes) == 1 else path.parent


def _known(name: str) -> _Known:
    if name not in _KNOWN:
        raise ArgumentError(f"no data set {name!r}; there are {', '.join(_KNOWN)}")
    return _KNOWN[name]


def _how(name: str, known: _Known) -> str:
    if known.extra:
        return install_hint(known.extra)
    return known.command or f"{_GET} {name}"


def _is_here(name: str, known: _Known) -> bool:
    try:
        if known.package:
            package_folder(known.package, name, known.extra)
        else:
            locate(name, known.paths)
    except (MissingDataError, MissingExtraError):
        return False
    return True


def _shifted(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Count one of several files as a part of all."""
    if progress is None:
        return None
    return lambda done, size: progress(before + done, max(total, before + size))
