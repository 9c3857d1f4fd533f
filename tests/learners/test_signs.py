"""Signs without 0."""

import numpy as np
import pytest

from fewbits.learners._core._torch import signs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_are_positive(dtype):
    x = np.array([[-2.0, -0.0], [0.0, 1e-30]], dtype)
    found = signs(x >= 0, dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [[-1, 1], [1, 1]])
