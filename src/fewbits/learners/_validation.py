"""What every estimator of the package asks of features, in one line."""

from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from fewbits._arrow import as_array, is_column, is_frame
from fewbits._typing import Array
from fewbits.errors import FeatureError


def validated(estimator: Any, X: ArrayLike, **options: Any) -> Array:
    """Check shape, width, names and dtype, but read no value of a memory map.

    Raises
    ------
    FeatureError
        Where scikit-learn would refuse, or where X has gaps.
    """
    check_no_gaps(X)
    X = _plain(X)
    try:
        checked: Array = validate_data(estimator, X, ensure_all_finite=False, **options)
        if checked.dtype == object:  # of Python's integers, which know no bounds
            checked = checked.astype(np.float64)
    except OverflowError as error:
        raise FeatureError("X holds an integer too large for float64") from error
    except ValueError as error:
        raise FeatureError(_one_line(str(error))) from error
    return checked


def _plain(X: Any) -> Any:
    """Return what scikit-learn does not know, as a column of vectors, as a matrix.

    Frames of numbers stay as they are, because their names are remembered.
    """
    if not is_frame(X):
        return as_array(X) if is_column(X) else X
    plain = as_array(X)  # refuses what is missing, and what is no number
    if plain.shape != getattr(X, "shape", None):
        return plain
    if hasattr(X, "iloc"):  # pandas, whose own types scikit-learn does not all know
        return type(X)(plain, columns=X.columns)
    return X if hasattr(X, "get_columns") else plain


def check_no_gaps(X: Any) -> None:
    """Refuse a masked array: what lies in its gaps would be read."""
    if isinstance(X, np.ma.MaskedArray):
        raise FeatureError("X is a masked array; fill its gaps first")


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
    told = takewhile(lambda line: not line.lstrip().startswith(("[", "array=")), lines)
    return " ".join(" ".join(told).split())
