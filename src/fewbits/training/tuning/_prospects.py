"""Candidates that may still win where bytes are minimised."""

import math
from collections.abc import Callable, Iterable, Sequence

from fewbits.codes import n_bytes
from fewbits.training.tuning._candidates import is_anchor, stage
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._target import Target


def take_next(
    pending: list[list[Configuration]],
    found: Sequence[Measured],
    target: Target,
    is_long: Callable[[Configuration], bool] = lambda learner: False,
) -> list[Configuration]:
    """Take one of some groups: the most promising where bytes are minimised.

    Anchors come first, the cheap ones of every length before the others. Of the rest,
    those are the first codes of each method, and then those of the methods that came
    closest. What `is_long` comes behind what is not, and candidates that cannot win
    last, in a group with others, too.

    Parameters
    ----------
    pending : list of list of Configuration
        At least one; changed in place.
    found : sequence of Measured
        Of the same number of items.
    target : Target
    is_long : callable
        Returns whether a candidate takes long to learn.
    """
    if target.objective != "bytes":
        return pending.pop(0)
    hopeful = [[e for e in g if not hopeless(e, found, target)] for g in pending]
    counting = _counting(found, target)

    def when(i: int) -> tuple[float, ...]:
        if not hopeful[i]:
            return (True,)
        first = hopeful[i][0]
        promise = _promise(first, counting, target)
        return False, is_long(first), stage(first), -promise

    first = min(range(len(pending)), key=when)
    taken, rest = pending.pop(first), []
    if hopeful[first]:
        rest = [each for each in taken if each not in hopeful[first]]
        taken = hopeful[first]
    if rest:
        pending.append(rest)
    return taken


def hopeless(learner: Configuration, found: Sequence[Measured], target: Target) -> bool:
    """Return whether a code cannot be the shortest that meets all bounds.

    That is one no shorter than what keeps them, and one shorter than a code of its own
    kind that does not, whatever is ranked again.
    """
    if learner.n_bits is None:
        return False
    kept = [each for each in found if target.meets(each)]
    least = min((target.sizes(each)[0] for each in kept), default=math.inf)
    if n_bytes(learner.n_bits) + learner.correction_bytes >= least:
        return True
    kept, counting = (_counting(each, target) for each in (kept, found))
    return _longer(learner, counting) != _longer(learner, kept)


def _longer(learner: Configuration, found: Sequence[Measured]) -> set[int]:
    """Return the longer lengths of the same kind."""
    return {
        each.configuration.n_bits or 0
        for each in found
        if each.configuration.method == learner.method
        and (each.configuration.n_bits or 0) > (learner.n_bits or 0)
        and each.configuration.changed(n_bits=learner.n_bits).learner == learner
    }


def _promise(first: Configuration, found: Sequence[Measured], target: Target) -> float:
    """Return how close codes of the same method come to the best; untried is first."""
    alike = [e for e in found if e.configuration.method == first.method]
    if is_anchor(first):  # measured whatever came of the rest of its method
        alike = [e for e in alike if e.configuration.parameters == first.parameters]
    return max((_beyond(each, found, target) for each in alike), default=math.inf)


def _beyond(one: Measured, found: Sequence[Measured], target: Target) -> float:
    """Return how much better codes are than the best of no more bytes: 0 at most.

    Longer codes are better whatever the method, and not of each all are measured.
    """
    most = target.sizes(one)[0]
    rivals = [each for each in found if target.sizes(each)[0] <= most]
    return one.quality - max(each.quality for each in rivals)


def _counting(found: Sequence[Measured], target: Target) -> list[Measured]:
    """Return what says how good codes are: without vectors, unless these are free."""
    if target.minimise == "memory":
        return list(found)
    return [each for each in found if each.configuration.keep_vectors is None]


def first_untried(
    untried: Iterable[Configuration], found: Sequence[Measured], target: Target
) -> tuple[Configuration, ...]:
    """Return what was not measured: anchors first, and what cannot win last."""
    by_bytes = target.objective == "bytes"

    def when(each: Configuration) -> tuple[bool, int]:
        return by_bytes and hopeless(each, found, target), stage(each)

    return tuple(sorted(untried, key=when))


def next_shorter(best: Measured, measured: Sequence[Measured]) -> int:
    """Return the longest length below the best one that was tried with its method."""
    chosen = best.configuration
    if chosen.n_bits is None:
        return 0
    tried = [each.configuration for each in measured]
    shorter = [
        each.n_bits
        for each in tried
        if each.changed(n_bits=chosen.n_bits).learner.key == chosen.learner.key
        and each.n_bits is not None
        and each.n_bits < chosen.n_bits
    ]
    return max(shorter, default=chosen.n_bits // 2)
