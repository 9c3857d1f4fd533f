"""Evaluation of a condition: the rows that meet it."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    import pyarrow as pa


def matching_rows(
    condition: Any, table: "pa.Table", codes: CodeArray, n_bits: int
) -> NDArray[np.bool_]:
    """Return the rows for which a condition is true.

    The result is the `allowed` of an index's searches.

    A condition in SQL knows ``= <> < <= > >=``, ``AND OR NOT``, ``IN (...)``,
    ``BETWEEN``, ``IS NULL``, ``IS DISTINCT FROM``, ``LIKE`` and ``ILIKE`` (with
    ``ESCAPE``), ``+ - * / %``, ``lower upper year month day`` of a column, parentheses,
    strings, numbers, ``TRUE FALSE NULL``, ``DATE '2020-01-31'``,
    ``TIMESTAMP '2020-01-31 12:00:00'``, columns, fields of structs (``place.city``) and
    ``bit(12)``. It is parsed, never run as Python. Everything else is refused.

    - NULL is as in SQL: a comparison with it is neither true nor false, and only rows
      for which the whole condition is true are found.
    - Integers, decimals, dates and times are compared exactly. A number beside a
      column of floats is rounded to the type of the column, so ``price = 0.1`` finds
      0.1 in 32 bits, too. NaN is equal to nothing and neither less nor greater.
    - ``+ - * %`` of integers and decimals are exact, or refused on overflow; ``/``
      always yields a float, and dividing by zero yields NULL.
    - A bare name is a column's exact name, or the only one that differs from it in
      case. A name in double quotes or backticks is exact.
    - A string beside a column of dates or timestamps must be one in ISO 8601; beside a
      column with a time zone it must have an offset, such as ``'2020-01-31
      12:00:00+01:00'``, and without one it must not. No other type turns into another.

    Parameters
    ----------
    condition : str or pyarrow.compute.Expression
        The part of an SQL query after WHERE, or an expression that is true, false or
        null for each row.
    table : pyarrow.Table
        One row for each code.
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Codes for ``bit(12)``. Bit 0 is the most significant bit of the first byte.
    n_bits : int
        Length of the codes.

    Returns
    -------
    ndarray of shape (n,), dtype bool

    Raises
    ------
    ArgumentError
        When the condition cannot be read, or names what the table does not have, or
        compares what cannot be compared, or its numbers overflow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fewbits.codes import pack
    >>> table = pa.table({"category": ["x", "x", None], "year": [2019, 2021, 2022]})
    >>> codes = pack([[1, 0, 1], [1, 1, 1], [0, 0, 1]])
    >>> matching_rows("category = 'x' AND year >= 2020", table, codes, 3)
    array([False,  True, False])
    >>> matching_rows("category IS NULL OR NOT bit(1) = 1", table, codes, 3)
    array([ True, False,  True])
    """
    import pyarrow as pa

    codes = as_codes(codes, n_bits=n_bits)
    if not isinstance(table, pa.Table):
        raise ArgumentError(f"a filter needs a pyarrow.Table, got {type(table)}")
    if len(table) != len(codes):
        raise ArgumentError(f"{len(table)} rows cannot belong to {len(codes)} codes")
    try:
        truth = _truth(condition, table, codes, n_bits)
    except pa.ArrowException as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise ArgumentError(f"the filter cannot be computed: {lines[0]}") from error
    return _mask(truth, len(table))


def _truth(condition: Any, table: "pa.Table", codes: CodeArray, n_bits: int) -> Any:
    """Return an Arrow array, or one scalar for all rows."""
    if isinstance(condition, str):
        from fewbits.filters._evaluate import evaluate
        from fewbits.filters._parse import parse
        from fewbits.filters._rows import Rows

        return evaluate(parse(condition), Rows(table, codes, n_bits))
    import pyarrow.compute as pc

    if isinstance(condition, pc.Expression):
        from fewbits.filters._expression import evaluate_expression

        return evaluate_expression(condition, table)
    raise ArgumentError(
        "a filter must be a string such as \"year >= 2020 AND category = 'x'\" or a"
        f" pyarrow.compute.Expression, got {type(condition).__name__}; masks and ids"
        " are given as allowed="
    )


def _mask(truth: Any, n: int) -> NDArray[np.bool_]:
    import pyarrow as pa

    if isinstance(truth, pa.Scalar):
        return np.full(n, truth.as_py() is True)
    known = truth.fill_null(False)
    if isinstance(known, pa.ChunkedArray):
        return np.asarray(known.to_numpy(), np.bool_)
    return np.asarray(known.to_numpy(zero_copy_only=False), np.bool_)
