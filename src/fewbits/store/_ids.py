"""An index from ids to positions in a segment.

It is sorted keys, and the position of each. A key is an id that is a number, or the
CRC-32C of one that is a text; texts are compared in the end, so that equal keys are no
fault. The file holds keys, positions, the CRC-32C of its blocks and the first key of
each: a look-up reads few of its blocks. It can be made again from the ids.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._typing import IdArray
from fewbits.errors import ArtefactError
from fewbits.store._manifest import BLOCK
from fewbits.store._sums import CheckedBytes, block_sums, is_sealed, seal

_MAGIC = b"fewbits ids 1\n\0\0"
_TAIL = np.dtype([("n_rows", "<u8"), ("width", "<u8"), ("trailer", "<u8")])
_FEW = 32  # texts that Python compares
_SPARSE = 4  # numbers for each key: where there are more, keys are sorted
Keys = NDArray[Any]
#: Tells at which of some positions the ids of some numbers in a list to look up are.
Same = Callable[[IdArray, IdArray], NDArray[np.bool_]]


def keys_of(ids: Any) -> Keys:
    """Return the key of each id of an Arrow array of int64 or large_string."""
    if ids.type == "int64":
        numbers: Keys = ids.to_numpy()
        return numbers
    offsets = np.frombuffer(ids.buffers()[1], np.int64, len(ids) + 1, 8 * ids.offset)
    texts = ids.buffers()[2]
    data = np.frombuffer(texts, np.uint8) if texts else np.empty(0, np.uint8)
    keys = np.empty(len(ids), np.uint32)
    _kernels.crc32c(data, offsets, keys)
    return keys


def equal_texts(texts: Any, ids: Any, numbers: IdArray) -> NDArray[np.bool_]:
    """Compare an Arrow array of texts with those of some numbers in another."""
    import pyarrow.compute as pc

    if len(numbers) <= _FEW:  # a call of Arrow takes longer
        pairs = zip(texts, numbers.tolist(), strict=True)
        return np.array([a.as_py() == ids[i].as_py() for a, i in pairs], np.bool_)
    equal = pc.equal(texts, ids.take(numbers))
    mask: NDArray[np.bool_] = equal.to_numpy(zero_copy_only=False)
    return mask


class IdIndex:
    """Keys that do not fall, and the position of each.

    Where both lie in a file, `blocks` checks them before they are read, and `fences`
    are the first keys of the blocks.
    """

    def __init__(
        self,
        keys: Keys,
        positions: NDArray[np.uint32],
        blocks: CheckedBytes | None = None,
        fences: Keys | None = None,
    ) -> None:
        self._keys, self._positions = keys, positions
        self._blocks, self._fences = blocks, fences

    @classmethod
    def of(cls, keys: Keys) -> Self:
        """Sort the keys of all positions."""
        low = keys.min() if len(keys) else keys.dtype.type(0)
        n_keys = int(keys.max()) - int(low) + 1 if len(keys) else 0
        if n_keys <= _SPARSE * len(keys):
            positions = np.full(n_keys, len(keys), np.uint32)
            positions[keys - low] = np.arange(len(keys), dtype=np.uint32)
            present = np.flatnonzero(positions < len(keys))
            if len(present) == len(keys):  # each key once
                return cls(present.astype(keys.dtype) + low, positions[present])
        # Pairs of a key and a position in one number are sorted several times faster.
        n_bits = len(keys).bit_length()
        excess = max(0, n_keys.bit_length() + n_bits - 64)
        pairs = (keys - low).astype(np.uint64) >> np.uint64(excess) << np.uint64(n_bits)
        pairs |= np.arange(len(keys), dtype=np.uint64)
        pairs.sort()
        positions = (pairs & np.uint64((1 << n_bits) - 1)).astype(np.uint32)
        ordered = keys[positions]
        if excess:  # keys of which only the last bits differ may be out of order
            order = np.argsort(ordered, kind="stable")
            ordered, positions = ordered[order], positions[order]
        return cls(ordered, positions)

    def find(self, keys: Keys, same: Same | None) -> IdArray:
        """Return the position of each key in the segment, -1 where there is none.

        ``same(positions, numbers)`` compares the ids behind equal keys; None where keys
        are the ids.
        """
        positions = np.full(len(keys), -1, np.int64)
        if not len(keys):
            return positions
        per_block = BLOCK // self._keys.itemsize
        n_blocks = -(-len(self._keys) // per_block)  # of keys; positions follow
        at, numbers = self._first(keys), np.arange(len(keys))
        while len(numbers):
            inside = at < len(self._keys)
            at, numbers = at[inside], numbers[inside]
            self.check(at // per_block)
            equal = self._keys[at] == keys[numbers]
            at, numbers = at[equal], numbers[equal]
            if not len(numbers):
                break
            self.check(n_blocks + at // (BLOCK // 4))
            near = self._positions[at].astype(np.int64)
            if (near >= len(self._keys)).any():
                raise ArtefactError("an index of ids names rows that are not there")
            hit = np.ones(len(at), np.bool_) if same is None else same(near, numbers)
            positions[numbers[hit]] = near[hit]
            at, numbers = at[~hit] + 1, numbers[~hit]
        return positions

    def check(self, blocks: IdArray | None = None) -> None:
        """Check some blocks of the file, or all."""
        if self._blocks is not None and blocks is None:
            self._blocks.check(0, len(self._blocks.bytes))
        elif self._blocks is not None and blocks is not None:
            self._blocks.check_blocks(blocks)

    def _first(self, keys: Keys) -> IdArray:
        """Return the position of the first key that is not smaller, for each."""
        if self._fences is None:
            return np.searchsorted(self._keys, keys)
        per_block = BLOCK // self._keys.itemsize
        blocks = np.maximum(np.searchsorted(self._fences, keys) - 1, 0)
        positions = np.empty(len(keys), np.int64)
        order = np.argsort(blocks, kind="stable")
        ordered = blocks[order]
        starts = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist()]
        self.check(ordered[starts])
        for start, stop in pairwise([*starts, len(keys)]):
            same, at = order[start:stop], int(ordered[start]) * per_block
            positions[same] = at + np.searchsorted(
                self._keys[at : at + per_block], keys[same]
            )
        return positions

    def to_bytes(self, token: str) -> list[Any]:
        """Return the content of the file of a segment, in pieces."""
        body = [np.ascontiguousarray(self._keys), self._positions.astype("<u4")]
        body[0] = np.pad(body[0], (0, -len(body[0]) % (BLOCK // body[0].itemsize)))
        fences = body[0][:: BLOCK // body[0].itemsize]
        sums = np.concatenate([block_sums(piece.data) for piece in body])
        trailer = fences.tobytes() + sums.astype("<u4").tobytes()
        tail = np.array([(len(self._positions), fences.itemsize, len(trailer))], _TAIL)
        trailer += _MAGIC + token.encode() + tail.tobytes()
        return [*body, seal(trailer)]

    @classmethod
    def from_bytes(
        cls, data: Any, n_rows: int, width: int, token: str, name: str
    ) -> Self:
        """Return the index of a segment's file, which is checked as far as it is read.

        Raises ArtefactError where it is not the index of so many rows, or is damaged.
        """
        end = len(_MAGIC) + len(token) + _TAIL.itemsize
        view = memoryview(data)
        if len(view) < end + 4:
            raise ArtefactError(f"{name} is damaged: it is too short")
        tail: Any = np.frombuffer(view[-4 - _TAIL.itemsize : -4], _TAIL)[0]
        per_block = BLOCK // width
        n_blocks = -(-n_rows // per_block)
        n_of_rows = -(-4 * n_rows // BLOCK)
        length = n_blocks * width + 4 * (n_blocks + n_of_rows)
        size = n_blocks * BLOCK + 4 * n_rows
        expected = (n_rows, width, length)
        fits = len(view) == size + length + end + 4
        if not fits or tuple(int(v) for v in tail) != expected:
            raise ArtefactError(f"{name} is not the index of {n_rows} rows")
        trailer = view[size:]
        if not is_sealed(trailer):
            raise ArtefactError(f"{name} is damaged: its checksum does not match")
        seal = _MAGIC + token.encode()
        if bytes(trailer[length:][: len(seal)]) != seal:
            raise ArtefactError(f"{name} is the index of another segment")
        kind = np.dtype(np.int64 if width == 8 else np.uint32)
        fences = np.frombuffer(trailer, kind, n_blocks)
        sums = np.frombuffer(trailer, "<u4", n_blocks + n_of_rows, n_blocks * width)
        blocks = CheckedBytes(view[:size], sums.astype(np.uint32), name)
        keys = np.frombuffer(view, kind, n_rows)
        positions = np.frombuffer(view, "<u4", n_rows, n_blocks * BLOCK)
        return cls(keys, positions, blocks, fences)
