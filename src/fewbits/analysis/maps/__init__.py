"""Codes on a plane: drawings of a few, and a layout that takes millions."""

from fewbits.analysis.maps._code_map import CodeMap, map_codes
from fewbits.analysis.maps._landmarks import code_hashes, landmark_rows
from fewbits.analysis.maps._layout import N_LANDMARKS, MapLayout, fit_layout
from fewbits.analysis.maps._trust import MapTrust, map_trust

__all__ = [
    "N_LANDMARKS",
    "CodeMap",
    "MapLayout",
    "MapTrust",
    "code_hashes",
    "fit_layout",
    "landmark_rows",
    "map_codes",
    "map_trust",
]
