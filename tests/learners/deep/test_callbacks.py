"""Figures of each epoch go where people watch them."""

import sys
from types import ModuleType

import pytest

from fewbits.errors import MissingExtraError
from fewbits.learners.deep import MLflow, TensorBoard

RECORD = {"epoch": 3.0, "loss": 0.5, "map": 0.75}


class Writer:
    """What TensorBoard's writer is asked for."""

    def __init__(self, folder):
        self.folder, self.written, self.flushed = folder, [], 0

    def add_scalar(self, name, value, epoch):
        self.written.append((name, value, epoch))

    def flush(self):
        self.flushed += 1


def test_tensorboard(monkeypatch, tmp_path):
    made = []
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = lambda folder: made.append(Writer(folder)) or made[0]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    TensorBoard(tmp_path)(RECORD)
    assert made[0].folder == str(tmp_path)
    assert made[0].written == [("loss", 0.5, 3), ("map", 0.75, 3)]
    assert made[0].flushed == 1


def test_mlflow(monkeypatch):
    logged = []
    module = ModuleType("mlflow")
    module.log_metrics = lambda figures, step: logged.append((figures, step))
    monkeypatch.setitem(sys.modules, "mlflow", module)
    MLflow()(RECORD)
    assert logged == [({"loss": 0.5, "map": 0.75}, 3)]


def test_phases_are_told_apart():
    logged, module = [], ModuleType("mlflow")
    module.log_metrics = lambda figures, step: logged.append((figures, step))
    for phase in ("codebook", "items"):
        MLflow(module)({"epoch": 1.0, "phase": phase, "loss": 0.5})
    assert logged == [({"codebook/loss": 0.5}, 1), ({"items/loss": 0.5}, 1)]


@pytest.mark.parametrize(
    ("make", "module"),
    [(lambda: TensorBoard("x"), "torch.utils.tensorboard"), (MLflow, "mlflow")],
)
def test_missing_package_is_named(monkeypatch, make, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\["):
        make()
