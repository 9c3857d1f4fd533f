"""Classes that share a code."""

import numpy as np

from fewbits._typing import IdArray


def shared_by(numbers: IdArray) -> tuple[IdArray, ...]:
    """Return the rows of each number that several rows have.

    Examples
    --------
    >>> shared_by(np.array([7, 5, 3, 5, 7]))
    (array([0, 4]), array([1, 3]))
    """
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order])) + 1
    groups = [group for group in np.split(order, starts) if len(group) > 1]
    return tuple(sorted(groups, key=lambda group: int(group[0])))
