"""The metrics of one configuration."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from fewbits.training.tuning._configuration import Configuration


@dataclass(frozen=True)
class Measured:
    """Quality and costs of a configuration.

    Attributes
    ----------
    configuration : Configuration
    n_items : int
        Training items, which are also the database: with more of them recall is
        lower, so compare only metrics with equal `n_items`.
    quality, error : float
        Mean over queries, and its standard error.
    bytes_per_item : int
        The code, and the vector where re-ranking needs it.
    encode_us, search_us : float
        Microseconds to encode a single vector, the median of several bursts'
        shortest, and to search, once they are encoded, for each of many queries at a
        time.
    fit_seconds : float
    n_constant_bits : int
        Bits that are constant over all items: they take space and carry nothing.
    """

    configuration: Configuration
    n_items: int
    quality: float
    error: float
    bytes_per_item: int
    encode_us: float
    search_us: float
    fit_seconds: float
    n_constant_bits: int

    def metrics(self) -> dict[str, Any]:
        """Return the numbers, rounded to their precision."""
        return {
            "n_items": self.n_items,
            "quality": round(self.quality, 5),
            "error": round(self.error, 5),
            "bytes_per_item": self.bytes_per_item,
            "encode_us": round(self.encode_us, 3),
            "search_us": round(self.search_us, 2),
            "fit_seconds": round(self.fit_seconds, 2),
            "n_constant_bits": self.n_constant_bits,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"configuration": asdict(self.configuration), **self.metrics()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the object from the result of `as_dict`.

        Parameters
        ----------
        plain : mapping

        Raises
        ------
        KeyError, TypeError
            When keys are missing or unexpected.
        """
        made = Configuration(**plain["configuration"])
        return cls(**{**plain, "configuration": made})
