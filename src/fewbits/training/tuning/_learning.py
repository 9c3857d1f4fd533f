"""Learning of encoders for several candidates, together where that is exact."""

import time
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from fewbits.encoders import Encoder
from fewbits.learners.fitting import interrupts_passed_on
from fewbits.training._methods import (
    METHODS,
    decides_length,
    make_learner,
    parameters_of,
)
from fewbits.training.tuning._configuration import Configuration

#: Methods whose shorter codes are identical to prefixes of longer ones.
_PREFIXES = {name for name, learner in METHODS.items() if learner.is_nested}
#: Methods whose prefixes are nearly as good as codes learnt alone.
_NESTED = {name for name in METHODS if "nested_bits" in parameters_of(name)}
#: Longer codes would delay all that are learnt with them.
NESTED_BITS = 1024


class Learnt(NamedTuple):
    """An encoder and the seconds it took; those of a group share them."""

    configuration: Configuration
    encoder: Encoder
    seconds: float


def grouped(
    wanted: Iterable[Configuration], *, nested_up_to: int
) -> list[list[Configuration]]:
    """Return groups to learn together, in the order of the first of each group.

    Parameters
    ----------
    nested_up_to : int
        Longer codes are learnt by themselves, except those that are identical to
        prefixes of others.
    """
    groups: dict[str, list[Configuration]] = {}
    for each in wanted:
        nested = each.method in _NESTED and (each.n_bits or 0) <= nested_up_to
        if each.method in _PREFIXES or nested:
            groups.setdefault(each.changed(n_bits=0).key, []).append(each)
        else:
            groups[each.key] = [each]
    return list(groups.values())


def learn(
    group: list[Configuration], X: NDArray[Any], y: NDArray[Any] | None
) -> list[Learnt]:
    """Return the encoders of a group.

    Raises
    ------
    FewbitsError
        When the method does not suit the data.
    KeyboardInterrupt
        Also where a learner would return early: half-learnt codes are not
        to be compared with others.
    """
    longest = max(group, key=lambda each: each.n_bits or 0)
    start = time.perf_counter()
    encoder = _fit(longest, X, y, nested=[each.n_bits or 0 for each in group])
    seconds = (time.perf_counter() - start) / len(group)
    return [Learnt(each, _prefix(encoder, each.n_bits), seconds) for each in group]


def _prefix(encoder: Encoder, n_bits: int | None) -> Encoder:
    return encoder if n_bits in (None, encoder.n_bits) else encoder.prefix(n_bits or 0)


def _fit(
    wanted: Configuration, X: NDArray[Any], y: NDArray[Any] | None, nested: list[int]
) -> Encoder:
    parameters = dict(wanted.parameters)
    if wanted.method in _NESTED and len(nested) > 1:
        parameters["nested_bits"] = tuple(sorted(nested))
    length = None if decides_length(wanted.method) else wanted.n_bits
    learner: Any = make_learner(wanted.method, length, wanted.random_state, parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bad codes show in their metrics
        with interrupts_passed_on():
            learner.fit(X, y)
    encoder: Encoder = learner.encoder_
    return encoder
