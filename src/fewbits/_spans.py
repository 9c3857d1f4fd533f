"""Work in parts."""

from collections.abc import Iterator


def spans(n: int, step: int) -> Iterator[slice]:
    """Yield slices of at most `step` rows, and at least one, that cover `n` rows.

    Examples
    --------
    >>> list(spans(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, step)
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))
