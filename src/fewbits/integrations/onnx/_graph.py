"""A computation written down operator by operator."""

from collections.abc import Sequence
from itertools import count
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

#: ONNX Runtime 1.18, the oldest that is supported, reads up to 21.
OPSET, IR_VERSION = 17, 8


@final
class Graph:
    """Nodes in the order of the computation; methods return the names of values.

    A branch sees the values of the graph that it belongs to.
    """

    def __init__(self, parent: "Graph | None" = None) -> None:
        self.nodes: list[Any] = []
        # Names are unique, and constants kept, in the outermost graph.
        self._count: count[int] = count() if parent is None else parent._count
        self.constants: list[Any] = [] if parent is None else parent.constants

    def branch(self) -> Self:
        """Return an empty graph for the inside of a node."""
        return type(self)(self)

    def add(
        self, kind: str, *inputs: str, name: str | None = None, **attributes: Any
    ) -> str:
        """Add a node and return the name of its only output."""
        from onnx import helper

        output = self.new_name(kind)
        node = helper.make_node(kind, inputs, [output], name or output, **attributes)
        self.nodes.append(node)
        return output

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.float64) -> str:
        """Keep a constant and return its name."""
        from onnx import numpy_helper

        name = self.new_name("constant")
        array = np.asarray(value, dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def cast(self, value: str, dtype: DTypeLike) -> str:
        """Add a conversion and return its name."""
        return self.add("Cast", value, to=_element(dtype))

    def new_name(self, kind: str) -> str:
        return f"{kind.lower()}_{next(self._count)}"

    def promise(self, name: str) -> str:
        """Give the value that was added last a name that users know."""
        self.nodes[-1].output[0] = name
        return name

    def proto(self, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
        """Return the inside of a node, without constants: those are outside."""
        from onnx import helper

        return helper.make_graph(self.nodes, name, inputs, outputs)


def described(
    name: str, dtype: DTypeLike = np.float64, shape: Sequence[str | int] | None = None
) -> Any:
    """Describe a value as the ends of graphs want it; no shape stands for any."""
    from onnx import helper

    return helper.make_tensor_value_info(name, _element(dtype), shape)


def _element(dtype: DTypeLike) -> int:
    from onnx import helper

    element: int = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return element
