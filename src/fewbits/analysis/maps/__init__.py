"""Codes on a plane: drawings of a few, and a layout that takes millions."""

from fewbits.analysis.maps._code_map import CodeMap as CodeMap
from fewbits.analysis.maps._code_map import MapTrust as MapTrust
from fewbits.analysis.maps._code_map import map_codes as map_codes
from fewbits.analysis.maps._code_map import map_trust as map_trust
from fewbits.analysis.maps._layout import N_LANDMARKS as N_LANDMARKS
from fewbits.analysis.maps._layout import MapLayout as MapLayout
from fewbits.analysis.maps._layout import code_hashes as code_hashes
from fewbits.analysis.maps._layout import fit_layout as fit_layout
