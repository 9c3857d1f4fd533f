"""For programs that run fits: checks between iterations, interrupts, checksums, labels.

Learners use the same; `fewbits.training` does what they do around a fit.
"""

from fewbits.learners._core._checkpoint import data_checksum
from fewbits.learners._core._iterative import interrupts_passed_on
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._progress import also

__all__ = ["also", "data_checksum", "indicator", "interrupts_passed_on"]
