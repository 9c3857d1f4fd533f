"""Commands without pandas, which takes longer to import than most searches.

They read files, and nobody gives them data frames. Arrow would import pandas all the
same, where it is installed, to ask of every list whether it is a Series.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn


class _NoPandas(MetaPathFinder, Loader):
    """Answers an import of pandas as where it is not installed."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "pandas" else None

    def create_module(self, spec: ModuleSpec) -> NoReturn:
        raise ModuleNotFoundError(f"commands do without {spec.name}", name=spec.name)


def import_no_pandas() -> None:
    """Let this process do without pandas, which no command needs."""
    sys.meta_path.insert(0, _NoPandas())
