"""Images that cannot be read: named all at once, or left out."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from fewbits._images import open_rgb
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, FeatureError, one_line
from fewbits.inputs._input import Input

_NAMED = 5  # at most, in a message


def without_unreadable(source: Input) -> Input:
    """Return the images that can be read, and warn of the others.

    Raises
    ------
    ArgumentError
        When these are no images, or none can be read.
    """
    if source.kind != "images":
        raise ArgumentError(
            f"{source.source} holds {source.kind}, no images: leave out "
            "skip_unreadable (on the command line --skip-unreadable)"
        )
    faults = _faults(source)
    if not faults:
        return source
    told = f"{source.source}: {_told(faults, len(source))}"
    if len(faults) == len(source):
        raise ArgumentError(told)
    warn_user(f"{told}; left out")
    return source.take(np.setdiff1d(np.arange(len(source)), [*faults]))


@contextmanager
def unreadable_named(source: Input) -> Iterator[None]:
    """Name all images that cannot be read, where the first one has stopped all."""
    try:
        yield
    except FeatureError as error:
        several = source.kind == "images" and len(source) > 1
        faults = _faults(source) if several else {}
        if not faults:
            raise
        raise FeatureError(
            f"{_told(faults, len(source))}; leave them out by skip_unreadable=True (on "
            "the command line --skip-unreadable)"
        ) from error


def _faults(source: Input) -> dict[int, str]:
    """Return why images cannot be read, by their row."""

    def fault(item: Any) -> str | None:
        try:
            open_rgb(item)
        except FeatureError as error:
            return one_line(error)
        return None

    with ThreadPoolExecutor() as pool:
        faults = pool.map(fault, source.values)
        return {row: text for row, text in enumerate(faults) if text is not None}


def _told(faults: dict[int, str], n: int) -> str:
    shown = "; ".join([*faults.values()][:_NAMED])
    more = f"; and {len(faults) - _NAMED:,} more" * (len(faults) > _NAMED)
    return f"{len(faults):,} of {n:,} images cannot be read: {shown}{more}"
