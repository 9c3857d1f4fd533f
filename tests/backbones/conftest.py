"""An empty cache for each module, so that none finds what another left."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fewbits.backbones import OnnxImages


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEWBITS_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def make_network():
    """Return what writes a network of a format; each number makes another."""
    return flat_network


@pytest.fixture(scope="session")
def network():
    """Write a network: the red, green and blue of 12 x 12 pixels, one after another."""
    return flat_network(OnnxImages.format)


def flat_network(name, number=0):
    shape = numpy_helper.from_array(np.array([-1, 432]), "shape")
    node = helper.make_node("Reshape", ["image", "shape"], ["features"])
    ends = [
        helper.make_tensor_value_info(end, TensorProto.FLOAT, size)
        for end, size in (("image", ["n", 3, 12, 12]), ("features", ["n", 432]))
    ]
    graph = helper.make_graph([node], f"flat{number}", ends[:1], ends[1:], [shape])
    opset = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, ir_version=8, opset_imports=opset)
    helper.set_model_props(model, {"format": name})
    return model.SerializeToString(deterministic=True)
