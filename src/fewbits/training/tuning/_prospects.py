"""Candidates that may still win where bytes are minimised."""

import math
from collections.abc import Sequence

from fewbits.codes import n_bytes
from fewbits.training.tuning._candidates import is_anchor
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._target import Target


def take_next(
    pending: list[list[Configuration]], found: Sequence[Measured], target: Target
) -> list[Configuration]:
    """Take one of some groups: the most promising where bytes are minimised.

    Those are the first codes of each method, and then those of the methods that came
    closest; candidates that cannot win come last, in a group with others, too.

    Parameters
    ----------
    pending : list of list of Configuration
        At least one; changed in place.
    found : sequence of Measured
        Of the same number of items.
    """
    if target.objective != "bytes":
        return pending.pop(0)
    hopeful = [[e for e in g if not hopeless(e, found, target)] for g in pending]
    promise = [_promise(group, found) for group in hopeful]
    first = promise.index(max(promise))
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
    least = min((each.bytes_per_item for each in kept), default=math.inf)
    if n_bytes(learner.n_bits) + learner.correction_bytes >= least:
        return True
    return _longer(learner, found) != _longer(learner, kept)


def _longer(learner: Configuration, found: Sequence[Measured]) -> set[int]:
    """Return the longer lengths of the same kind, searched without vectors."""
    return {
        each.configuration.n_bits or 0
        for each in _of_codes(found)
        if each.configuration.method == learner.method
        and (each.configuration.n_bits or 0) > (learner.n_bits or 0)
        and each.configuration.changed(n_bits=learner.n_bits).learner == learner
    }


def _promise(group: Sequence[Configuration], found: Sequence[Measured]) -> float:
    """Return how close codes of the same method come to the best; untried is first.

    A group of which nothing is hopeful has none.
    """
    if not group:
        return -math.inf
    first = group[0]
    alike = [e for e in _of_codes(found) if e.configuration.method == first.method]
    if is_anchor(first):  # measured whatever came of the rest of its method
        alike = [e for e in alike if e.configuration.parameters == first.parameters]
    return max((_beyond(each, found) for each in alike), default=math.inf)


def _beyond(one: Measured, found: Sequence[Measured]) -> float:
    """Return how much better codes are than the best of no more bytes: 0 at most.

    Longer codes are better whatever the method, and not of each all are measured.
    """
    rivals = [e for e in _of_codes(found) if e.bytes_per_item <= one.bytes_per_item]
    return one.quality - max(each.quality for each in rivals)


def _of_codes(found: Sequence[Measured]) -> list[Measured]:
    return [each for each in found if each.configuration.keep_vectors is None]


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
