"""Forecast of the minutes that a fit of PiCoDes will take."""

import time

from fewbits._warnings import warn_user

#: Projectors that are timed, and minutes that are too few to warn of.
_TIMED, _SHORT = 8, 1.0


class Forecast:
    """Warns of a long fit in its first iteration, from its first projectors.

    Parameters
    ----------
    n_iter, n_bits : int
        Iterations that are planned, and projectors of each.
    """

    def __init__(self, n_iter: int, n_bits: int) -> None:
        self.n_iter, self.n_bits = n_iter, n_bits
        self.began = self.learnt = time.perf_counter()
        self.is_told = False

    def classifiers_done(self) -> None:
        """Mark the end of the first step."""
        self.learnt = time.perf_counter()

    def projectors_done(self, n: int) -> None:
        """Warn after some projectors, if the fit takes minutes."""
        if self.is_told or n < min(_TIMED, self.n_bits):
            return
        self.is_told = True
        seconds = time.perf_counter() - self.learnt
        iteration = self.learnt - self.began + seconds * self.n_bits / n
        minutes = self.n_iter * iteration / 60
        if minutes >= _SHORT:
            warn_user(
                f"PiCoDes takes about {minutes:.0f} minutes for {self.n_iter} "
                "iterations; RelaxedPiCoDes takes a small part of that"
            )
