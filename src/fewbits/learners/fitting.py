"""Device, threads and progress of a fit, and what programs that run fits need.

Learners use the same; `fewbits.training` does what they do around a fit.
"""

from fewbits.learners._core._checkpoint import checkpoints_kept, data_checksum
from fewbits.learners._core._device import on_device
from fewbits.learners._core._iterative import interrupts_passed_on
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._progress import also, on_progress
from fewbits.learners._core._shared_steps import shared_steps
from fewbits.learners._core._threads import thread_limit

__all__ = [
    "also",
    "checkpoints_kept",
    "data_checksum",
    "indicator",
    "interrupts_passed_on",
    "on_device",
    "on_progress",
    "shared_steps",
    "thread_limit",
]
