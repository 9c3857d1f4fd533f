"""DBC: discriminative bits that hyperplanes can predict."""

from fewbits.learners.supervised.dbc._config import DBCWeights
from fewbits.learners.supervised.dbc._dbc import DBC

__all__ = ["DBC", "DBCWeights"]
