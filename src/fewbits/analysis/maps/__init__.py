"""Codes on a plane: drawings of a few, and a layout that takes millions."""

from fewbits.analysis.maps._code_map import CodeMap, MapTrust, map_codes, map_trust
from fewbits.analysis.maps._layout import N_LANDMARKS as N_LANDMARKS
from fewbits.analysis.maps._layout import (
    MapLayout,
    fit_layout,
)
from fewbits.analysis.maps._layout import code_hashes as code_hashes

__all__ = [
    "CodeMap",
    "MapLayout",
    "MapTrust",
    "fit_layout",
    "map_codes",
    "map_trust",
]
