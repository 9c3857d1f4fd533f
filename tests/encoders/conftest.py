import pytest

from fewbits import _kernels


@pytest.fixture(autouse=True)
def _restored_settings():
    isa = _kernels.active_isa()
    yield
    _kernels.force_isa(isa)
    _kernels.set_num_threads(None)
