"""Run commands without pandas, which takes longer to import than most searches.

Commands read files, never data frames. Arrow would still import pandas, where it is
installed, to check of every list whether it is a Series.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn


class _NoPandas(MetaPathFinder, Loader):
    """Makes an import of pandas fail as if it were not installed."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "pandas" else None

    def create_module(self, spec: ModuleSpec) -> NoReturn:
        raise ModuleNotFoundError(f"commands do without {spec.name}", name=spec.name)


def import_no_pandas() -> None:
    """Block imports of pandas in this process; no command needs it."""
    sys.meta_path.insert(0, _NoPandas())
