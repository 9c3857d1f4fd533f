"""The interface of all backbones."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[int, int], None]


class Backbone(ABC):
    """Turn raw items into feature vectors.

    An item has the same features whatever else is extracted with it. Whatever decides
    them goes into the fingerprint, which travels with everything made from them.
    """

    id: str
    kind: ClassVar[str]
    n_features: int

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """SHA-256 of the weights and of every rule that decides the features."""

    @abstractmethod
    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Return features of shape (n, n_features), dtype float32.

        Parameters
        ----------
        items : sequence
            Texts, or images: paths, PIL images or arrays.
        progress : callable, default=None
            Called with (items done, items in all).
        """
