"""Codes on a plane: drawings of a few, and a layout that takes millions."""

from fewbits.analysis.maps._code_map import CodeMap, MapTrust, map_codes, map_trust
from fewbits.analysis.maps._layout import (
    N_LANDMARKS,
    MapLayout,
    code_hashes,
    fit_layout,
)

__all__ = [
    "N_LANDMARKS",
    "CodeMap",
    "MapLayout",
    "MapTrust",
    "code_hashes",
    "fit_layout",
    "map_codes",
    "map_trust",
]
