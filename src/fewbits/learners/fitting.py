"""For programs that run fits: checks between iterations, interrupts, checksums."""

from fewbits.learners._core._checkpoint import data_checksum
from fewbits.learners._core._iterative import interrupts_passed_on
from fewbits.learners._core._progress import also

__all__ = ["also", "data_checksum", "interrupts_passed_on"]
