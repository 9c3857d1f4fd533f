"""Figures of each epoch, sent to the tools that people watch training with."""

from pathlib import Path
from typing import Any

from fewbits.errors import MissingExtraError


class TensorBoard:
    """Write the figures of each epoch for TensorBoard.

    Parameters
    ----------
    folder : path
        Where the event files go.

    Raises
    ------
    MissingExtraError
        When the package ``tensorboard`` is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise MissingExtraError(
                "this callback needs tensorboard: pip install 'fewbits[tensorboard]'"
            ) from None
        self._writer = SummaryWriter(str(folder))

    def __call__(self, record: dict[str, float]) -> None:
        """Write one epoch; the file is up to date afterwards."""
        epoch = int(record["epoch"])
        for name, value in record.items():
            if name != "epoch":
                self._writer.add_scalar(name, value, epoch)
        self._writer.flush()


class MLflow:
    """Log the figures of each epoch to the active run of MLflow, or to a new one.

    Parameters
    ----------
    module : module, default=None
        ``mlflow``, or what looks like it; None imports it.

    Raises
    ------
    MissingExtraError
        When the package ``mlflow`` is not installed.
    """

    def __init__(self, module: Any = None) -> None:
        self._mlflow = _mlflow() if module is None else module

    def __call__(self, record: dict[str, float]) -> None:
        """Log one epoch."""
        figures = {name: value for name, value in record.items() if name != "epoch"}
        self._mlflow.log_metrics(figures, step=int(record["epoch"]))


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError:
        raise MissingExtraError(
            "this callback needs mlflow: pip install 'fewbits[mlflow]'"
        ) from None
    return mlflow
