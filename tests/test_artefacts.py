"""Files of tensors."""

import subprocess
import sys

import numpy as np
from safetensors.numpy import load, save

from fewbits._artefacts import read_tensors, tensor_bytes
from fewbits.encoders import LinearEncoder

TENSORS = {"b": np.arange(3.0), "a": np.zeros((2, 0), np.int8), "c": np.uint8([7])}
METADATA = {name: f"value of {name} ü" for name in "zyxwvutsrq"} | {"format": "f"}


def test_the_same_tensors_give_the_same_file():
    code = (
        "from fewbits.encoders import LinearEncoder; "
        "print(LinearEncoder([[1.0]], [0.0]).to_bytes().hex())"
    )
    command = [sys.executable, "-c", code]  # whose sets have an order of their own
    found = subprocess.check_output(command, text=True)
    assert bytes.fromhex(found) == LinearEncoder([[1.0]], [0.0]).to_bytes()
    assert tensor_bytes(TENSORS, METADATA) == tensor_bytes(
        TENSORS, dict(reversed(METADATA.items()))
    )


def test_safetensors_reads_them(tmp_path):
    content = tensor_bytes(TENSORS, METADATA)
    found = load(content)
    assert found.keys() == load(save(TENSORS, METADATA)).keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(found[name], tensor)
        assert found[name].dtype == tensor.dtype
    assert int.from_bytes(content[:8], "little") % 8 == 0
    (tmp_path / "t").write_bytes(content)
    metadata, tensors = read_tensors(tmp_path / "t", "thing", "f")
    assert metadata == METADATA
    assert tensors.keys() == TENSORS.keys()
