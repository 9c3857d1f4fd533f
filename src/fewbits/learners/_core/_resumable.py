"""Learners whose fit goes on where it was interrupted."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fewbits._typing import Array
from fewbits._version import __version__
from fewbits.learners._core._checkpoint import (
    Arrays,
    Checkpoint,
    Labels,
    check_repeatable,
    data_checksum,
)
from fewbits.learners._core._device import current_backend
from fewbits.learners._core._iterative import IterativeLearner
from fewbits.learners._core._parameters import check_path

_NO_IDENTITY = ("verbose", "checkpoint")


class ResumableLearner(IterativeLearner):
    """An iterative learner whose states are arrays, kept in the file `checkpoint`.

    The next state must depend on the one before, the data and the parameters only.
    """

    checkpoint: Any
    random_state: Any
    _file: Checkpoint  # while a fit goes on

    def _check_iterations(self, least: int = 1) -> None:
        super()._check_iterations(least)
        check_path("checkpoint", self.checkpoint)
        check_repeatable(self.checkpoint, self.random_state)
        self.__dict__.pop("_file", None)
        if self.checkpoint is not None:
            # Now, and not when the hours before the first iteration are over.
            Checkpoint(self.checkpoint, self._parameters()).check()

    def _resume(
        self,
        states: Callable[[Arrays], Iterator[tuple[Arrays, float]]],
        start: Arrays,
        X: Array,
        Y: Labels | None = None,
    ) -> Arrays:
        """Return the last of the `states` that follow on `start`, or on the file.

        `X`, and the labels `Y` where these matter, identify the file.
        """
        if self.checkpoint is None:
            return self._run(states(start), start)
        identity = {**self._parameters(), "data": data_checksum(X, Y)}
        self._file = Checkpoint(self.checkpoint, identity)
        start = self._file.resume(start)
        return self._run(states(start), start, self._file)

    def _tidy_up(self) -> None:
        file = self.__dict__.pop("_file", None)
        if file is not None and file.is_done:
            file.remove()

    def _parameters(self) -> dict[str, Any]:
        """Return what the fit depends on besides data, as JSON knows it."""
        parameters = self.get_params().items()
        chosen = {
            name.replace("__", "."): np.asarray(value).tolist()
            for name, value in parameters
            if name not in _NO_IDENTITY and name not in self.configs
        }
        if self.uses_device:  # whose axes may be others, or turned
            chosen["device"] = current_backend().name
        name = type(self).__name__
        return {"learner": name, "version": __version__, **chosen}
