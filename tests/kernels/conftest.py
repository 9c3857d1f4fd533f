"""The kernel modules, each under every instruction set that runs here."""

import pytest

from fewbits import _kernels
from fewbits._kernels import _reference


class Kernel:
    """The functions of a kernel module, run with one instruction set."""

    def __init__(self, module, isa):
        self.module, self.isa = module, isa

    def __getattr__(self, name):
        assert self.module.force_isa(self.isa)
        return getattr(self.module, name)


KERNELS = [pytest.param(Kernel(_reference, "numpy"), id="numpy")]
if _kernels.COMPILED:
    from fewbits._kernels import _native

    KERNELS += [pytest.param(Kernel(_native, i), id=i) for i in _native.isas()]


@pytest.fixture(scope="session", params=KERNELS)
def kernel(request):
    return request.param


@pytest.fixture(scope="session")
def kernels():
    """Return all by their names, where what they must equal takes the most time."""
    return {each.id: each.values[0] for each in KERNELS}


@pytest.fixture(scope="session")
def every_compiled():
    """Return all of these at once, where what they must equal takes the most time."""
    return [each.values[0] for each in KERNELS[1:]]


@pytest.fixture(scope="session", params=KERNELS[1:])
def compiled(request):
    """Return a kernel to compare with the reference, which is what NumPy computes."""
    return request.param


@pytest.fixture(scope="module", autouse=True)
def _restored_isa():
    before = _kernels.active_isa()
    yield
    _kernels.force_isa(before)
