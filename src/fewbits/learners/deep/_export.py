"""A backbone that was trained with torch, written down so that none is needed."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from importlib.util import find_spec
from io import StringIO
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fewbits._extras import missing_extra
from fewbits.backbones import OnnxImages, keep_network, pixels
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners._core._parameters import Interval, check

_OPSET = 18  # the one that torch's exporter writes; others would be converted
_TESTED = (2, 13)  # torch 2.6 trains, but its exporter fails with current onnxscript
_TOLERANCE = 1e-4  # of the largest feature
_N_CHECKED = 4


def export_backbone(
    module: nn.Module,
    *,
    size: int,
    mean: Sequence[float] = (0.0, 0.0, 0.0),
    std: Sequence[float] = (1.0, 1.0, 1.0),
) -> str:
    """Keep a network for images as a backbone that needs no torch; return its id.

    The id is the beginning of the checksum of the file, an ONNX model in the folder
    that the environment variable ``FEWBITS_CACHE`` names, by default the user's cache
    folder. `fewbits.backbones.load`, collections and the command line find it there.
    Put a copy of ``<id>.onnx`` into that folder on other machines.

    An image is squeezed into `size` x `size` pixels (`fewbits.backbones.pixels`), which
    are divided by 255, less `mean`, over `std`.

    Parameters
    ----------
    module : torch.nn.Module
        From float32 (n, 3, size, size) to features, which are flattened. It is taken as
        it is in evaluation, and left unchanged.
    size : int
        Pixels on each side.
    mean, std : sequence of 3 float, default=(0, 0, 0) and (1, 1, 1)
        Of red, green and blue from 0 to 1, when the items that the module was trained
        on were normalised by them.

    Returns
    -------
    str
        ``onnx-`` and 8 digits.

    Raises
    ------
    ArgumentError
        When a parameter lies outside its range, or torch cannot write the module as
        ONNX.
    FeatureError
        When the module refuses such images, or its features and those of the file
        differ by more than 1e-4 of the largest. Nothing is kept then.
    MissingExtraError
        When the packages of the extras ``deep`` and ``vision`` are not installed.
    OSError
        When the cache folder cannot be written to.

    Examples
    --------
    >>> from torch import nn
    >>> from fewbits import backbones
    >>> from fewbits.learners.deep import export_backbone
    >>> name = export_backbone(nn.AvgPool2d(4), size=8)
    >>> backbones.load(name).n_features
    12
    """
    if find_spec("onnxscript") is None:
        raise missing_extra("exporting a network needs onnxscript", "deep")
    if not isinstance(module, nn.Module):
        raise ArgumentError(f"module must be a torch module, got {module!r}")
    check("size", size, [Interval(int, 1)])
    served = _Served(module, _channels("mean", mean), _channels("std", std, least=0))
    rng = np.random.default_rng(0)
    images = list(rng.integers(0, 256, (_N_CHECKED, size, size, 3), np.uint8))
    batch = torch.from_numpy(pixels(images, size)).float() / 255
    try:
        with torch.inference_mode():
            expected = served(batch).numpy()
    except Exception as error:  # whatever the user's module raises
        raise FeatureError(
            f"the module makes no features of images {tuple(batch.shape)}: "
            f"{_first_line(error)}"
        ) from error
    network = _as_onnx(served, size)
    backbone = OnnxImages(network)
    # One image at a time.
    if backbone.n_features != expected.shape[1]:
        raise FeatureError(
            f"the module has {expected.shape[1]} features in torch, but "
            f"{backbone.n_features} in ONNX"
        )
    largest = np.abs(expected).max(initial=0)
    gap = np.abs(backbone.extract(images) - expected).max(initial=0)
    if not gap <= _TOLERANCE * largest:  # also when either is not a number
        raise FeatureError(
            f"the features of the module differ by {gap:.2g} between torch and ONNX, "
            f"where the largest is {largest:.2g}"
        )
    keep_network(network)
    return backbone.id


class _Served(nn.Module):
    """A copy of a module, from images of 0 to 1 to flat features."""

    mean: Tensor
    std: Tensor

    def __init__(self, module: nn.Module, mean: Tensor, std: Tensor) -> None:
        super().__init__()
        self.module = deepcopy(module)
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.cpu().float().eval()

    def forward(self, image: Tensor) -> Tensor:
        features: Tensor = self.module((image - self.mean) / self.std)
        return features.flatten(start_dim=1)


def _channels(name: str, values: Any, least: float = -np.inf) -> Tensor:
    must = f"{name} must be 3 numbers, for red, green and blue"
    try:
        array = np.array(values, np.float32)
    except (TypeError, ValueError):
        raise ArgumentError(f"{must}, got {values!r}") from None
    if array.shape != (3,) or not np.isfinite(array).all() or (array <= least).any():
        above = "" if np.isinf(least) else f" and above {least:g}"
        raise ArgumentError(f"{must}{above}, got {values!r}")
    return torch.from_numpy(array).reshape(1, 3, 1, 1)


def _as_onnx(served: nn.Module, size: int) -> bytes:
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    try:
        with _quiet():
            program: Any = torch.onnx.export(
                served,
                (torch.rand(2, 3, size, size),),
                dynamo=True,
                opset_version=_OPSET,
                input_names=["image"],
                output_names=["features"],
                dynamic_shapes=({0: torch.export.Dim("n")},),
                verbose=False,
            )
    except Exception as error:  # torch's exporter raises many kinds
        hint, version = "", torch.__version__
        if tuple(map(int, version.split(".")[:2])) < _TESTED:
            tested = ".".join(map(str, _TESTED))
            hint = f" (torch {version} may be too old: {tested} is known to do it)"
        cause = _first_line(error.__cause__ or error)
        raise ArgumentError(
            f"torch cannot write this module as ONNX: {cause}{hint}"
        ) from error
    # Paths and lines of source, which would make the id depend on the machine.
    ClearMetadataAndDocStringPass()(program.model)
    program.model.metadata_props["format"] = OnnxImages.format
    network: bytes = program.model_proto.SerializeToString(deterministic=True)
    return network


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what torch logs, warns of and prints from users: one line will tell them."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
