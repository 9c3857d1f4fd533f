"""Writing an encoder as an ONNX file."""

from pathlib import Path

from fewbits._extras import missing_extra
from fewbits._files import atomic_write
from fewbits.encoders import Encoder
from fewbits.integrations.onnx._layers import affine_layers
from fewbits.integrations.onnx._model import build_model


def export_onnx(
    encoder: Encoder, path: str | Path, *, exact: bool = True, scores: bool = False
) -> None:
    """Write an encoder as an ONNX model, which gives the same codes.

    The input ``features`` is float32 (n, n_features), the output ``codes`` uint8 (n,
    ceil(n_bits / 8)), packed as by `fewbits.codes.pack`. The model's metadata name the
    encoder: ``fewbits.fingerprint`` is that of bundles and stores.

    Parameters
    ----------
    encoder : LinearEncoder, SparseEncoder, BlockDiagonalEncoder or MLPEncoder
        The zero weights of a sparse one are written out.
    path : str or Path
        Replaced when it exists; left as it is when anything goes wrong.
    exact : bool, default=True
        Compute what the encoder computes, to the last bit and in any batch. A model
        that is not exact is one matrix product for each layer, whose rounding is that
        of the runtime: it may give another bit where a score is about zero.
    scores : bool, default=False
        Add an output ``scores``, float32 (n, n_bits): what `Encoder.project` gives. All
        of them are then computed as they are defined, which is slow where the model is
        exact; codes alone need it for the few scores that are near zero.

    Raises
    ------
    ArgumentError
        When the encoder is of another kind, or its weights take more than the 2 GB
        that an ONNX file may hold.
    MissingExtraError
        When the package onnx is not installed.
    OSError
        When the file cannot be written.

    Notes
    -----
    Any runtime with operator set 17 runs the model, ONNX Runtime 1.18 among them. An
    exact model needs IEEE 754 arithmetic in float64, with denormals, as CPUs have it:
    leave settings alone that trade exactness for speed, such as ONNX Runtime's
    ``session.set_denormal_as_zero``. Each value of a hidden layer is computed as it is
    defined, so that an exact `MLPEncoder` is slow in batches.

    A row that the encoder refuses (NaN, infinity, a hidden layer that overflows) is an
    error of the runtime, which names the node ``features_must_be_finite`` or
    ``hidden_layer_1_overflows``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import onnxruntime
    >>> from fewbits.encoders import LinearEncoder
    >>> encoder = LinearEncoder([[1.0, -2.0]], [0.0, 1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(encoder, f"{folder}/encoder.onnx")
    ...     session = onnxruntime.InferenceSession(f"{folder}/encoder.onnx")
    >>> session.run(["codes"], {"features": np.array([[3], [-3]], np.float32)})[0]
    array([[128],
           [ 64]], dtype=uint8)
    """
    layers = affine_layers(encoder)
    _check_installed()
    model = build_model(encoder, layers, exact=exact, scores=scores)
    content = model.SerializeToString(deterministic=True)
    with atomic_write(path) as file:
        file.write(content)


def _check_installed() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError:
        what = "writing ONNX models needs the package onnx"
        raise missing_extra(what, "onnx") from None
