"""Arrays in files: NumPy's own, HDF5, those of the ANN field, and labels apart."""

import errno
import json
import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_column, known_names
from fewbits._extras import missing_extra
from fewbits._features import SparseRows
from fewbits._ids import new_ids
from fewbits._labels import as_label_names
from fewbits._lazy import pa
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, one_line
from fewbits.inputs._csv import as_typed
from fewbits.inputs._input import Input, Options, checked_vectors
from fewbits.inputs._streams import kind_of, open_bytes
from fewbits.inputs._text_kinds import checked_codes

#: Whatever NumPy makes of a header that is none: it is written as Python.
_BAD_HEADER = (ValueError, EOFError, SyntaxError, TokenError, OverflowError)
_MORE = "more follows behind the first array; save several as .npz"
#: Whatever zipfile, NumPy and h5py make of an archive that is none.
_DAMAGE = (
    *(*_BAD_HEADER, MemoryError, OSError, RuntimeError, KeyError, TypeError),
    *(BadZipFile, zlib.error),
)


def array_input(array: NDArray[Any], source: str, kind: str | None) -> Input:
    """Return the items in an array: vectors, or codes if that is the kind."""
    if kind == "codes":
        codes, n_bits = checked_codes(array, source)
        return Input("codes", codes, None, source, n_bits=n_bits)
    return Input("vectors", checked_vectors(array, source), None, source)


def read_npy(path: Path) -> NDArray[Any]:
    """Map the array of a .npy file."""
    damage = f"{path} is not a .npy file of numbers"
    with _loading(damage):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ArtefactError(f"{path} is an archive, not a .npy file; name it .npz")
    end = getattr(array, "offset", 0) + array.nbytes
    if os.path.getsize(path) > end > array.nbytes:
        raise ArtefactError(f"{damage}: {_MORE}")
    return array


def load_array(source: Path | IO[bytes], damage: str) -> Any:
    """Return what NumPy reads; `damage` begins the message where it cannot."""
    opened = source.open("rb") if isinstance(source, Path) else nullcontext(source)
    with opened as file, _loading(damage):
        array = np.load(file, allow_pickle=False)
        if isinstance(array, np.ndarray) and file.read(1):
            raise ArtefactError(f"{damage}: {_MORE}")
    return array


@contextmanager
def _loading(damage: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # Of headers with old names of types, which are refused or read as well.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except ArtefactError:
        raise
    except _BAD_HEADER as error:
        raise ArtefactError(f"{damage}{_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Leave out NumPy's advice to load pickled data, which is unsafe."""
    return "" if "pickle" in str(error) else f": {one_line(error)}"


def read_archive(path: Path, options: Options) -> Input:
    """Read the items of a .npz, .safetensors or .hdf5 file, their labels and ids."""
    name, suffix = options.array_name(str(path)), path.suffix.lower()
    archives = {".npz": _npz, ".safetensors": _safetensors}
    opened = archives.get(suffix, _hdf5)
    keys = (options.label, options.id)
    try:
        with opened(path) as (shapes, array):
            # Names that were given come first: which array fits depends on them.
            for key in (name, *keys):
                if key is not None and key not in shapes:
                    raise ArgumentError(
                        f"{path} has no array {key!r}; it has {known_names(shapes)}"
                    )
            others = [key for key in shapes if key not in keys]
            if name is None and len(others) != 1:
                raise ArgumentError(
                    f"{path} holds {len(others)} arrays "
                    f"({known_names(shapes[key] for key in others)}); name one by "
                    "column= or codes= (on the command line by --column)"
                )
            chosen = name or others[0]
            labels, ids = (None if key is None else array(key) for key in keys)
            values = array(chosen)
    except (FewbitsError, PermissionError):  # which may be a ValueError too
        raise
    except _DAMAGE as error:
        # A damaged archive asks for places before its start; all else is the system's.
        odd = isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}
        if odd and opened is _npz:
            raise
        what = "an HDF5 file" if opened is _hdf5 else f"a {suffix} file of numbers"
        raise ArtefactError(f"{path} is not {what}{_reason(error)}") from error
    if labels is not None:
        labels = as_label_names(labels, f"labels {options.label!r} of {path}")
    items = array_input(values, str(path), "codes" if options.codes else options.kind)
    if ids is not None:
        if ids.shape != (len(items),):
            raise ArgumentError(
                f"{path} holds {len(items)} {items.kind}, but {options.id!r} has shape "
                f"{ids.shape}"
            )
        ids = new_ids(ids, f"array {options.id!r} of {path}")
    return replace(items, column=chosen, labels=labels, ids=ids, id=options.id)


#: Names of arrays, as messages show them, and the function that reads one.
_Archive = Iterator[tuple[dict[str, str], Callable[[str], Any]]]


@contextmanager
def _npz(path: Path) -> _Archive:
    with path.open("rb") as opened:  # NumPy leaves a damaged archive open
        archive = np.load(opened, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ArtefactError(f"{path} is a single array, no archive; name it .npy")
        yield {name: name for name in archive.files}, archive.__getitem__


def is_sparse(path: Path) -> bool:
    """Return whether a .npz file holds a sparse matrix, as `scipy.sparse.save_npz`."""
    with suppress(*_DAMAGE), ZipFile(path) as archive:  # `read_archive` reports it
        return {"format.npy", "shape.npy", "data.npy"} <= {*archive.namelist()}
    return False


def read_sparse(path: Path, kind: str | None) -> Input:
    """Return the rows of a sparse matrix of SciPy, which stay sparse."""
    from scipy import sparse

    if kind == "codes":
        raise ArgumentError(f"{path} holds a sparse matrix, no codes")
    try:
        rows = SparseRows(sparse.load_npz(path))
    except _DAMAGE as error:
        raise ArtefactError(
            f"{path} is no sparse matrix of SciPy{_reason(error)}"
        ) from error
    return Input("vectors", checked_vectors(rows, str(path)), None, str(path))


@contextmanager
def _safetensors(path: Path) -> _Archive:
    from safetensors import SafetensorError, safe_open

    def array(name: str) -> Any:
        if archive.get_slice(name).get_dtype() != "BF16":
            return archive.get_tensor(name)
        # NumPy has no bfloat16: it is the upper half of the bits of the same float32.
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            entry = json.loads(file.read(size))[name]
            start, end = entry["data_offsets"]
            file.seek(8 + size + start)
            halves = np.frombuffer(file.read(end - start), "<u2")
        return (halves.astype("<u4") << 16).view("<f4").reshape(entry["shape"])

    try:
        with safe_open(path, "numpy") as archive:
            names = archive.keys()
            yield dict(zip(names, names, strict=True)), array
    except SafetensorError as error:
        raise ValueError(one_line(error)) from None


@contextmanager
def _hdf5(path: Path) -> _Archive:
    try:
        import h5py
    except ImportError:
        raise missing_extra("HDF5 files need h5py", "hdf5") from None

    def array(name: str) -> Any:
        """Return a data set; texts, which HDF5 keeps as bytes, as strings."""
        data = file[name]
        if data.dtype.kind == "S" or h5py.check_string_dtype(data.dtype):
            return np.asarray(data.asstr("utf-8")[()])
        values = data[()]
        is_empty = isinstance(values, h5py.Empty)
        return np.empty((0, 0)) if is_empty else np.asarray(values)

    shapes: dict[str, str] = {}

    def visit(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            shapes[name] = f"{name} {node.shape}"

    with h5py.File(path, "r") as file:
        file.visititems(visit)
        yield shapes, array


# Files of the ANN field: .fvecs, .bvecs and .ivecs

_TEXMEX = {".fvecs": "<f4", ".bvecs": "u1", ".ivecs": "<i4"}
_LARGEST = 1 << 20  # largest plausible number of components
_N_SAMPLE_ROWS = 1000  # rows examined to distinguish integers from floats
_SMALL = 1 << 27  # integers below it, read as floats, are below 1e-33
_USUAL = 1e-6, 1e6  # sizes of floats; read as integers they are huge


#: Of the Big ANN benchmarks: the numbers of rows and columns, and then the rows.
BINARY = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1"}


def read_binary(path: Path) -> NDArray[Any]:
    """Map the vectors of a .fbin, .u8bin or .i8bin file, to be read only."""
    dtype = np.dtype(BINARY[path.suffix.lower()])
    size = path.stat().st_size - 8
    n, width = np.fromfile(path, "<u4", 2).tolist() if size >= 0 else (0, 0)
    if size != n * width * dtype.itemsize:
        raise ArtefactError(
            f"{path} is not a {path.suffix} file: it announces {n:,} rows of {width:,} "
            f"numbers, and {max(0, size):,} bytes follow"
        )
    if not size:
        return np.empty((n, width), dtype)
    return np.memmap(path, dtype, "r", 8, (n, width))


def read_texmex(path: Path) -> NDArray[Any]:
    """Return a read-only memory map of vectors, each behind its length."""
    dtype = np.dtype(_TEXMEX[path.suffix.lower()])
    size = path.stat().st_size
    if not size:
        return np.empty((0, 0), dtype)
    content = np.memmap(path, np.uint8, mode="r")
    width = int(content[:4].view("<i4")[0]) if size >= 4 else -1
    row = 4 + width * dtype.itemsize
    if not 0 < width <= _LARGEST or size % row:
        raise ArtefactError(
            f"{path} is not a {path.suffix} file: {size:,} bytes are not a whole "
            f"number of rows of {width:,} numbers"
        )
    rows = content.reshape(-1, row)
    widths = np.ascontiguousarray(rows[:, :4]).view("<i4")[:, 0]
    if (widths != width).any():
        other = int(np.argmax(widths != width))
        raise ArtefactError(
            f"{path} has vectors of several lengths: {width} numbers in row 0, "
            f"{widths[other]} in row {other}"
        )
    vectors = rows[:, 4:]
    if dtype.itemsize == 4:
        _check_numbers(vectors[:_N_SAMPLE_ROWS], path)
    return vectors.view(dtype)


def _check_numbers(vectors: NDArray[np.uint8], path: Path) -> None:
    """Refuse integers under the name of floats, and floats under that of integers."""
    integers = np.ascontiguousarray(vectors).view("<i4")
    integers = integers[integers != 0]
    floats = integers.view("<f4")
    if not len(integers):
        return
    if path.suffix.lower() == ".fvecs":
        is_wrong = (np.abs(integers.astype(np.int64)) < _SMALL).all()
        held, right = f"integers such as {integers[0]}", ".ivecs"
    else:
        size = np.abs(floats)
        is_wrong = ((size > _USUAL[0]) & (size < _USUAL[1])).all()
        held, right = f"floats such as {floats[0]:g}", ".fvecs"
    if is_wrong:
        raise ArtefactError(f"{path} holds {held}; name it {right}")


# Labels and ids in a file of their own

BESIDE = (".npy", ".txt")


def read_id_file(path: Path, source: str, as_text: bool) -> Any:
    """Read an id for each item of `source`: lines are numbers if all are such."""
    what = f"{path.name!r} with the ids of {source}"
    array = read_values(path, "id", BESIDE)
    if array.ndim != 1:
        raise ArgumentError(f"{what} holds an array of shape {array.shape}")
    ids = as_column(array)
    if kind_of(path) == ".txt" and not as_text:
        numbers = as_typed(ids, dates=False)
        ids = numbers if pa.types.is_integer(numbers.type) else ids
    return new_ids(ids, what)


def read_values(path: Path, what: str, known: Sequence[str]) -> NDArray[Any]:
    """Read the values of a .npy file, or the lines of a .txt file."""
    suffix, damage = kind_of(path), f"{path} holds no {what}s"
    if suffix not in BESIDE:
        raise ArgumentError(
            f"cannot read {what}s from {path}; known: {', '.join(known)}, with one "
            f"{what} for each item"
        )
    if suffix == ".txt":
        with open_bytes(path) as file:
            return text_lines(file.read(), damage)
    array = load_array(path, damage)
    if not isinstance(array, np.ndarray):
        raise ArtefactError(f"{path} is an archive, not a .npy file of {what}s")
    if not array.size:
        raise ArtefactError(damage)
    return array


def text_lines(content: bytes, damage: str) -> NDArray[np.str_]:
    """Return the lines of a text without the blanks around them."""
    try:
        text = content.decode("utf-8-sig").rstrip()
    except UnicodeDecodeError as error:
        raise ArtefactError(f"{damage}: {one_line(error)}") from error
    if not text:
        raise ArtefactError(damage)
    return np.array([line.strip() for line in text.split("\n")])
