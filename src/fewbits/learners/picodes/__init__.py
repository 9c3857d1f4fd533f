"""PiCoDes: codes for classes that nobody trained on."""

from fewbits.learners.picodes._config import RelaxedTraining
from fewbits.learners.picodes._picodes import PiCoDes
from fewbits.learners.picodes._relaxed import RelaxedPiCoDes

__all__ = ["PiCoDes", "RelaxedPiCoDes", "RelaxedTraining"]
