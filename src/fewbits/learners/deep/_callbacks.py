"""Metrics of each epoch, sent to the tools that people watch training with."""

from pathlib import Path
from typing import Any

from fewbits._extras import missing_extra


class TensorBoard:
    """Write the metrics of each epoch for TensorBoard, those of a phase under its name.

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
            what = "this callback needs tensorboard"
            raise missing_extra(what, "tensorboard") from None
        self._writer = SummaryWriter(str(folder))

    def __call__(self, record: dict[str, Any]) -> None:
        for name, value in _metrics(record).items():
            self._writer.add_scalar(name, value, int(record["epoch"]))
        self._writer.flush()


class MLflow:
    """Log the metrics of each epoch to the active run of MLflow, or to a new one.

    Those of a phase are logged under its name: ``codebook/loss``.

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
        if module is None:
            try:
                import mlflow
            except ImportError:
                raise missing_extra("this callback needs mlflow", "mlflow") from None
            module = mlflow
        self._mlflow = module

    def __call__(self, record: dict[str, Any]) -> None:
        self._mlflow.log_metrics(_metrics(record), step=int(record["epoch"]))


def _metrics(record: dict[str, Any]) -> dict[str, float]:
    phase = f"{record['phase']}/" if "phase" in record else ""
    return {
        f"{phase}{name}": value
        for name, value in record.items()
        if name not in ("epoch", "phase")
    }
