"""Codes on a plane, any number of them, and how far to trust it."""

from fewbits.analysis.maps._layout import MapLayout as MapLayout
from fewbits.analysis.maps._layout import code_hashes as code_hashes
from fewbits.analysis.maps._layout import fit_layout as fit_layout
from fewbits.analysis.maps._trust import MapTrust as MapTrust
from fewbits.analysis.maps._trust import map_trust as map_trust
