"""PiCoDes: codes for novel classes."""

from fewbits.learners.supervised.picodes._config import RelaxedTraining
from fewbits.learners.supervised.picodes._picodes import PiCoDes
from fewbits.learners.supervised.picodes._relaxed import RelaxedPiCoDes

__all__ = ["PiCoDes", "RelaxedPiCoDes", "RelaxedTraining"]
