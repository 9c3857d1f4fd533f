"""Search for the best configuration for a target, and its test."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._checks import check_count, check_k, check_seed
from fewbits._version import __version__
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.training._alarms import check_classes, checked_labels
from fewbits.training._fit import features_of
from fewbits.training._methods import DEEP_METHODS, METHODS
from fewbits.training.tuning._candidates import (
    beyond_axes,
    own_lengths,
    too_long,
    without_torch,
)
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._journal import Journal, digest
from fewbits.training.tuning._parts import Parts, split
from fewbits.training.tuning._prospects import first_untried
from fewbits.training.tuning._race import Notes, Progress, Race
from fewbits.training.tuning._target import Target, frontier
from fewbits.training.tuning._tuning import Tuning
from fewbits.training.tuning._wanted import wanted_candidates

_FEWEST_ROWS = 200
#: Validation queries, and as many test queries: an eighth of the rows, at most
#: a thousand or, of many rows, a hundredth.
_QUERY_SHARE, _MANY_QUERIES, _SHARE_OF_MANY, _MOST_QUERIES = 8, 1000, 100, 5000


def tune(
    source: Input,
    target: Target,
    *,
    methods: str | Sequence[str] | None = None,
    n_bits: int | Sequence[int] | None = None,
    k: int = 10,
    backbone: str | None = None,
    random_state: int = 0,
    minutes: float | None = None,
    max_rows: int = 200_000,
    journal: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    notes: Notes | None = None,
) -> Tuning:
    """Choose how to learn and search codes, by measuring on held-out queries.

    Metrics are those of rows that come later: half of the rows are learnt from, the
    other half is searched, and queries are in neither. Every candidate begins with a
    sixteenth of both halves or so; the better third by the target, and what is on the
    frontier of bytes and quality, go on with four times as many, until all rows take
    part. At every length a random rotation, additive codes, ITQ and
    neighbour-preserving codes are measured before anything else, and the best of each
    with all rows. An eighth of the rows, 1000 at most, are validation queries, or a
    hundredth of more than 100,000 rows, 5000 at most. As many others are test queries
    for the choice.

    Parameters
    ----------
    source : Input
        Items to make codes for; their labels define ``quality="map"`` and
        ``"accuracy"``.
    target : Target
    methods : str or sequence of str, default=None
        Keys of `fewbits.training.METHODS` or names of ``DEEP_METHODS``; by default
        the promising ones that have the given lengths. Where labels
        count, some of them learn from labels, and of these some need torch.
    n_bits : int or sequence of int, default=None
        Lengths to try, but for those that take more bytes than allowed; by default
        powers of two up to what the bytes allow, and this. Without a bound on bytes
        they end at 1024 bits or four for each feature, and in any case at 16 for each:
        by then the vector itself is shorter. Where the fewest bytes are wanted, lengths
        below the best one are tried as well.
    k : int, default=10
        Neighbours that count, for recall and for votes.
    backbone : str, default=None
        As for `fewbits.training.fit_bundle`.
    random_state : int, default=0
        Seed of the split and of the learners.
    minutes : float, default=None
        After so long nothing new is begun, except the best, nor anything that would
        take longer, extrapolating from fewer rows; each round has its share, and the
        remaining time goes to candidates that these had no time for. A fit that is
        running when the time is up gets a tenth of the minutes more, and ends at its
        next iteration; methods without iterations end by themselves. The best candidate
        is always learnt to the end.
    max_rows : int, default=200_000
        Maximum number of rows to learn from, and to search among.
    journal : str or Path, default=None
        A file for all measurements; a later call, after an interrupt or with
        another target, resumes from it.
    overwrite : bool, default=False
        Whether a journal of other data or settings is replaced.
    progress : callable, default=None
        Called with (candidates done, candidates of this round), and while items become
        features with (items done, all items).
    notes : callable, default=None
        Called before that with a text to show: the best so far, and the current
        measurement.

    Returns
    -------
    Tuning

    Raises
    ------
    ArgumentError
        When there are too few rows, labels are missing or all different, or nothing
        can be tried.
    ArtefactError
        When the journal is of other data or settings and may not be replaced, or is
        no journal.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    >>> found = tune(Input("vectors", X, None, "X"), Target(max_bytes=4),
    ...              methods=["lsh", "itq"], n_bits=[16, 32])
    >>> found.configuration.n_bits, found.reported.bytes_per_item
    (32, 4)
    """
    methods = [methods] if isinstance(methods, str) else methods
    n_bits = [n_bits] if isinstance(n_bits, int | np.integer) else n_bits
    source = checked_labels(source)
    _check(source, target, minutes)
    random_state = check_seed(random_state)
    max_rows = check_count(max_rows, "the number of rows")
    X = features_of(source, backbone, progress)
    y = source.labels
    parts = _parts(X, y, random_state, max_rows, k)
    wanted = wanted_candidates(target, methods, n_bits, X.shape[1], random_state, y)
    about = _about(
        X,
        y,
        quality=target.quality,
        k=int(k),
        random_state=random_state,
        max_rows=max_rows,
    )
    path = None if journal is None else Path(journal)
    kept = Journal(path, about, overwrite=overwrite)
    race = Race(parts, target, int(k), kept, minutes, progress, notes)
    measured = race.retimed(race.run(wanted))
    best = min(measured, key=target.rank)
    tuning = Tuning(
        target=target,
        k=int(k),
        best=best,
        reported=race.report(best),
        frontier=frontier(measured, target),
        measured=measured,
        too_long=too_long(
            target, [*(n_bits or ()), *own_lengths(methods or (), X.shape[1])]
        ),
        beyond_axes=beyond_axes(methods or (), n_bits or (), X.shape[1]),
        untried=first_untried(race.untried, measured, target),
        not_tried=_not_tried(wanted),
        floats=tuple(race.floats()),
        without_torch=() if methods else without_torch(target),
        refused=race.measuring.refused,
        vector_bytes=2 * X.shape[1],
    )
    return _named(tuning, backbone)


def _parts(
    X: NDArray[Any], y: NDArray[Any] | None, seed: int, max_rows: int, k: int
) -> Parts:
    """Return rows to learn from and queries; `k` must be of a size with the rows."""
    parts = split(X, y, _n_queries(len(X)), seed)
    fewer = parts.learn[:max_rows], parts.base[:max_rows]
    parts = replace(parts, learn=fewer[0], base=fewer[1])
    if check_k(k) > len(parts.learn) // 2:
        raise ArgumentError(f"{_items_are(len(parts.learn))} too few for k={k}")
    return parts


def _not_tried(wanted: Sequence[Configuration]) -> tuple[str, ...]:
    """Return the methods that are not among the candidates."""
    tried = {each.method for each in wanted}
    return tuple(each for each in (*METHODS, *DEEP_METHODS) if each not in tried)


def _about(X: NDArray[Any], y: NDArray[Any] | None, **settings: Any) -> dict[str, Any]:
    """Return what all measurements of a journal have in common."""
    return {
        "version": __version__,
        "data": digest(X, y),
        **settings,
        # Encode times depend on these.
        "threads": _kernels.num_threads(),
        "instructions": _kernels.active_isa(),
    }


def _n_queries(n: int) -> int:
    """Return the numbers of validation and of test queries among n rows."""
    many = min(_MOST_QUERIES, max(_MANY_QUERIES, n // _SHARE_OF_MANY))
    return min(many, n // _QUERY_SHARE)


def _items_are(n: int) -> str:
    return "1 item is" if n == 1 else f"{n} items are"


def _check(source: Input, target: Target, minutes: float | None) -> None:
    if len(source) < _FEWEST_ROWS:
        raise ArgumentError(
            f"{_items_are(len(source))} too few to tune on: {_FEWEST_ROWS} are needed, "
            "a quarter of them as queries"
        )
    if minutes is not None and not minutes > 0:
        raise ArgumentError(f"minutes must be above 0, got {minutes:g}")
    if target.quality == "recall":
        return
    if source.labels is None:
        raise ArgumentError(
            f"{target.quality} goes by labels, and {source.source} comes without: "
            f"{source.labels_hint()}"
        )
    if target.quality == "accuracy" and source.labels.ndim > 1:
        raise ArgumentError("votes are for one label per item; take map instead")
    check_classes(source)
    if source.labels.ndim == 1 and len(set(source.labels.tolist())) == 1:
        raise ArgumentError(
            f"all labels of {source.source} are the same: {target.quality} "
            "needs at least two classes"
        )


def _named(tuning: Tuning, backbone: str | None) -> Tuning:
    """Return the choice with the backbone that was asked for."""
    if not backbone:
        return tuning
    best, reported = (
        replace(each, configuration=replace(each.configuration, backbone=backbone))
        for each in (tuning.best, tuning.reported)
    )
    return replace(tuning, best=best, reported=reported)
