"""Validation of features by all estimators, with one-line errors."""

from itertools import takewhile
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, validate_data

from fewbits._arrow import named_array
from fewbits._typing import Array
from fewbits.errors import FeatureError


def validated(
    estimator: Any, X: ArrayLike, *, reset: bool, ensure_min_samples: int = 1
) -> Array:
    """Check shape, width, names and dtype, but read no value of a memory map.

    Of no rows, as may come from a filter, there are no codes: only `fit` needs some.

    Raises
    ------
    FeatureError
        Where scikit-learn would refuse, or where X has gaps.
    """
    array, names = named_array(X)
    try:
        checked: Array = check_array(
            array,
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples if reset else 0,
            estimator=estimator,
            input_name="X",
        )
        # The names and the width alone, whatever kind of frame they come from.
        shown = checked if names is None else _without_rows(names)
        validate_data(estimator, shown, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise FeatureError(_one_line(str(error))) from error
    return checked


def _without_rows(names: list[str]) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array([], pa.float64()) for name in names})


def _one_line(message: str) -> str:
    """Leave out the whole array that scikit-learn prints, and join the other lines."""
    if "Reshape your data" in message:
        return (
            "Expected a 2D array (n, n_features). Reshape your data: pass x[None, :] "
            "for a single item"
        )
    if "Complex data not supported" in message:
        return "Complex data not supported: X must hold real numbers"
    lines = message.splitlines()
    kept = takewhile(lambda line: not line.lstrip().startswith(("[", "array=")), lines)
    return " ".join(" ".join(kept).split())
