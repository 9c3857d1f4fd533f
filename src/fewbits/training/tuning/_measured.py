"""The metrics of one configuration."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from fewbits.training.tuning._configuration import Configuration

#: A scan as short as this is not noticed, and its measurements vary.
_QUICK_SCAN_US = 200.0


@dataclass(frozen=True)
class Measured:
    """Quality and costs of a configuration.

    Attributes
    ----------
    configuration : Configuration
    n_items : int
        Items searched, none of which was learnt from, and as many others to learn
        from: with more of them recall is lower, so compare only metrics with equal
        `n_items`.
    quality, error : float
        Mean over queries, and its standard error.
    memory_bytes, bytes_per_item : int
        In memory: the code, since vectors are read from disk as they are needed.
        On disk: the code, and the vector where re-ranking needs it.
    encode_us, search_us : float
        Microseconds to encode a single vector, the median of several bursts'
        shortest, and to search, once they are encoded, for each of many queries at a
        time.
    query_us, scan_us : float
        Microseconds from a single vector to its answer, encoding included, and those
        of a full scan of the float32 vectors; each the shortest of ten.
    fit_seconds : float
    n_constant_bits : int
        Bits that are constant over all items: they take space and carry nothing.
    """

    configuration: Configuration
    n_items: int
    quality: float
    error: float
    memory_bytes: int
    bytes_per_item: int
    encode_us: float
    search_us: float
    query_us: float
    scan_us: float
    fit_seconds: float
    n_constant_bits: int

    @property
    def slower_than_scan(self) -> bool:
        """True if a full scan of the vectors is faster."""
        return self.query_us > self.scan_us

    @property
    def outrun_by_scan(self) -> bool:
        """True if a full scan of the vectors is faster, and takes time that counts."""
        return self.scan_us > _QUICK_SCAN_US and self.slower_than_scan

    def metrics(self) -> dict[str, Any]:
        """Return the numbers, rounded to their precision."""
        return {
            "n_items": self.n_items,
            "quality": round(self.quality, 5),
            "error": round(self.error, 5),
            "memory_bytes": self.memory_bytes,
            "bytes_per_item": self.bytes_per_item,
            "encode_us": round(self.encode_us, 3),
            "search_us": round(self.search_us, 2),
            "query_us": round(self.query_us, 2),
            "scan_us": round(self.scan_us, 2),
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
