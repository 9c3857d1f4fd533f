"""Device, threads and progress of a fit, and what programs that run fits need.

Learners use the same; `fewbits.training` does what they do around a fit.
"""

from fewbits.learners._core._device import on_device, thread_limit
from fewbits.learners._core._iterative import (
    checkpoints_kept,
    interrupts_passed_on,
    on_progress,
    shared_steps,
)
from fewbits.learners._core._labels import indicator as indicator
from fewbits.learners._core._parameters import documented as documented

__all__ = [
    "checkpoints_kept",
    "interrupts_passed_on",
    "on_device",
    "on_progress",
    "shared_steps",
    "thread_limit",
]
