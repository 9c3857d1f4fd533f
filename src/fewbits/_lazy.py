"""Names and modules that are imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return what a package needs as its ``__getattr__`` and ``__dir__`` (PEP 562).

    `modules` has the module of each name that is imported only when needed.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)  # not asked for again
        return value

    def names() -> list[str]:
        module = sys.modules[package]
        parts = (x for x, y in vars(module).items() if isinstance(y, ModuleType))
        special = (x for x in vars(module) if x.startswith("__"))
        return sorted({*module.__all__, *special, *(x for x in parts if x[0] != "_")})

    return get, names


class _LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


#: Arrow, and its functions on columns: to import them takes as long as a search.
pa: Any = _LazyModule("pyarrow")
pc: Any = _LazyModule("pyarrow.compute")
