"""Texts that stay in Arrow's memory: one long one makes the others no larger."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np


class Texts(Sequence[str]):
    """A read-only list of texts over an Arrow column.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of large_string
        Without missing values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = Texts(pa.chunked_array([["one", "two"]], pa.large_string()))
    >>> texts[1], texts[:1], len(texts)
    ('two', ['one'], 2)
    """

    def __init__(self, column: Any) -> None:
        self.column = column
        self._ends = np.cumsum([len(chunk) for chunk in column.chunks], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                found: list[str] = self.column[start : max(start, stop)].to_pylist()
                return found
            return [self[i] for i in range(start, stop, step)]
        place = key + len(self) if key < 0 else key
        if not 0 <= place < len(self):
            raise IndexError(f"text {key} of {len(self)}")
        chunk = int(np.searchsorted(self._ends, place, side="right"))
        before = int(self._ends[chunk - 1]) if chunk else 0
        text: str = self.column.chunk(chunk)[place - before].as_py()
        return text

    def __iter__(self) -> Iterator[str]:
        for chunk in self.column.chunks:
            for start in range(0, len(chunk), 1024):
                yield from chunk[start : start + 1024].to_pylist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        same = zip(self, other, strict=False)
        return len(self) == len(other) and all(a == b for a, b in same)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Texts({len(self):,} texts)"
