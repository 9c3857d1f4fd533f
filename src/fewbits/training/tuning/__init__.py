"""Choice of method, code length and re-ranking by measuring on held-out queries."""

from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._floats import FloatScan
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._plot import frontier_drawing, frontier_text
from fewbits.training.tuning._target import QUALITIES, Target, frontier
from fewbits.training.tuning._tune import tune
from fewbits.training.tuning._tuning import Tuning

__all__ = [
    "QUALITIES",
    "Configuration",
    "FloatScan",
    "Measured",
    "Target",
    "Tuning",
    "frontier",
    "frontier_drawing",
    "frontier_text",
    "tune",
]
