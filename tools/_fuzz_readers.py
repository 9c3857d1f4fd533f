"""Random files of each kind, and what an independent reader finds in them."""

import csv
import decimal
import io
import json
import math
import random
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import h5py
import numpy as np
import pyarrow as pa
from PIL import Image, ImageOps
from pyarrow import feather, parquet

from fewbits import inputs
from fewbits._images import open_rgb
from fewbits.errors import ArgumentError
from fewbits.inputs._csv import MISSING, read_csv
from fewbits.inputs._input import Options
from fewbits.inputs._text_files import read_json_lines

WORDS = ["one", "é", "日本", "a b", "", " ", "\u2028", "x\ny", "x\r\ny", "x\ry", 'q"q']
WORDS += ["a,b", "a;b", "1", "-2.5", "007", "1_000", "5%", "NA", "nan", "[0.1, 0.2]"]
WORDS += ["[1, 2, x]", "[1, 2", "array([1])", "1 2", "2020-02-30", "2020-01-01T12:00"]
WORDS += ["true", "1e5", "0x10", "9" * 17, "w" * 300, "0.1 0.2", "2020-01-01", "\ufeff"]


@dataclass(frozen=True)
class Case:
    """One file, how we read it, and how others do."""

    suffix: str
    content: bytes
    ours: Callable[[Path], Any]
    truth: Callable[[Path], Any]
    same: Callable[[Any, Any], bool]
    is_whole: bool = True

    def of_bytes(self, content: bytes) -> "Case":
        """Return the case of other bytes."""
        return replace(self, content=content, is_whole=False)


@contextmanager
def patched_blocks(rng: random.Random) -> Iterator[None]:
    """Let blocks end anywhere: they are a few rows, or bytes, long."""
    head = rng.choice((128, 1024, 1 << 16))
    with (
        mock.patch("fewbits.inputs._csv._BATCH", rng.randrange(1, 5)),
        mock.patch("fewbits.inputs._csv._BLOCK", rng.choice((16, 64, 1 << 20))),
        mock.patch("fewbits.inputs._csv._START", rng.choice((16, 64, 1 << 18))),
        mock.patch("fewbits.inputs._csv.HEAD", head),
        mock.patch("fewbits.inputs._streams.HEAD", head),
        mock.patch("fewbits.inputs._read.HEAD", head),
        mock.patch("fewbits.inputs._text_files.HEAD", head),
        mock.patch("fewbits.inputs._text_files._BATCH", rng.randrange(1, 5)),
        mock.patch("fewbits.inputs._tables._BATCH", rng.randrange(1, 5)),
    ):
        yield


def equal(a: Any, b: Any) -> bool:
    """Compare nested values: NaN is NaN, and a truth value is not a number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def same_arrays(a: Any, b: Any) -> bool:
    """Compare arrays, shapes and types included."""
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def _items(path: Path, **options: Any) -> Any:
    found = inputs.read(path, **options)
    return list(found.values) if found.kind == "texts" else np.asarray(found.values)


# CSV: cells are those of Python's reader, or the numbers that they stand for.


def csv_case(rng: random.Random) -> Case:
    """Return a table of random cells, quoting, line ends and delimiter."""
    suffix = rng.choice((".csv", ".tsv"))
    delimiter = "\t" if suffix == ".tsv" else rng.choice(",,,;|")
    columns = [_csv_column(rng, 6) for _ in range(rng.randrange(1, 4))]
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=delimiter,
        lineterminator=rng.choice(("\n", "\r\n", "\r")),
        quoting=rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
    )
    writer.writerow(_names(rng, len(columns)))
    writer.writerows(zip(*columns, strict=True))
    content = text.getvalue().encode(rng.choice(("utf-8", "utf-8-sig")))
    return Case(suffix, content, _read_csv, _rows_of_csv, _same_cells)


def _names(rng: random.Random, n: int) -> list[str]:
    """Return names that sometimes repeat, or hold what may separate columns."""
    known = ("c;x", "c,x", "c|x", "c") if rng.random() < 0.2 else ("c",)
    names = [f"{rng.choice(known)}{i}" for i in range(n)]
    return rng.choices(names, k=n) if rng.random() < 0.1 else names


def _csv_column(rng: random.Random, n: int) -> list[str]:
    if rng.random() < 0.4:
        return rng.choices(WORDS, k=n)
    kind = rng.choice((_decimal, _decimal, _day, _moment, _near_vector))
    cells = [kind(rng) for _ in range(n)]
    if rng.random() < 0.4:
        cells[rng.randrange(n)] = rng.choice(("", "", "NA", rng.choice(WORDS)))
    return cells


def _decimal(rng: random.Random) -> str:
    number = rng.choice((rng.random(), rng.randrange(99), rng.uniform(-1e9, 1e9)))
    odd = (f"{number:.25f}", f"{number:e}", f" {number}", f"0{number}", f"+{number}")
    return rng.choice(odd) if rng.random() < 0.1 else str(number)


def _day(rng: random.Random) -> str:
    year = rng.choice((0, 1, 1999, 2020, 9999)) if rng.random() < 0.1 else 2020
    return f"{year:04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 30):02}"


def _moment(rng: random.Random) -> str:
    second = rng.choice(("", ":01", ":59.5", ":00.123456"))
    zone = rng.choice(("Z", "+01:00", "-0530")) if rng.random() < 0.5 else ""
    return f"{_day(rng)}{rng.choice('T ')}{rng.randrange(24):02}:30{second}{zone}"


def _near_vector(rng: random.Random) -> str:
    numbers = [str(rng.choice((1, 0.5, -2e-5))) for _ in range(3)]
    if rng.random() < 0.1:
        numbers[rng.randrange(3)] = rng.choice(("x", "null", "", "nan", "[1"))
    return f"[{', '.join(numbers)}]"


def _read_csv(path: Path) -> Any:
    with path.open("rb") as file:
        table = read_csv(file, str(path), Options(), path)
    with suppress(ArgumentError):  # cells that make no items
        inputs.read(path)
    return table


def _rows_of_csv(path: Path) -> Any:
    text = path.read_bytes().decode("utf-8-sig")
    found = {}
    for delimiter in "\t" if path.suffix == ".tsv" else ",;\t| ":
        try:
            reader = csv.reader(
                io.StringIO(text, newline=""), delimiter=delimiter, strict=True
            )
            rows = [row for row in reader if row]
        except csv.Error:
            continue
        if len({len(row) for row in rows}) == 1:
            found[tuple(rows[0])] = rows[1:]
    if not found:
        raise ValueError("no csv")
    return found


def _same_cells(table: Any, expected: dict[tuple[str, ...], list[list[str]]]) -> bool:
    if not table.num_columns:
        return False
    rows = expected.get(tuple(table.column_names))
    if rows is None or len(rows) != table.num_rows:
        return False
    columns = list(zip(*rows, strict=True)) if rows else [()] * table.num_columns
    return all(
        all(_same_cell(*each, column.type) for each in zip(values, cells, strict=True))
        for column, cells in zip(table.columns, columns, strict=True)
        for values in (column.to_pylist(),)
    )


def _same_cell(value: Any, cell: str, kind: Any) -> bool:
    if value is None:
        is_number = pa.types.is_primitive(kind) and not pa.types.is_temporal(kind)
        return cell.strip() in MISSING if is_number else not cell
    if isinstance(value, datetime):
        return value == datetime.fromisoformat(cell)
    if isinstance(value, date):
        return value == date.fromisoformat(cell)
    if isinstance(value, bool):
        return cell.strip().lower() == str(value).lower()
    if isinstance(value, str):
        return value == cell
    return type(value)(cell) == value


# JSON lines and lines


def json_case(rng: random.Random) -> Case:
    """Return objects whose values are mostly of one type for each key."""
    values = (_word, _word, _number, _number, _vector, _any)
    kinds = {key: rng.choice(values) for key in "abc"}
    lines = []
    for _ in range(rng.randrange(1, 9)):
        row = {key: kind(rng) for key, kind in kinds.items() if rng.random() < 0.9}
        lines.append(json.dumps(row, ensure_ascii=rng.random() < 0.5))
    content = rng.choice(("\n", "\r\n", "\n\n")).join(lines).encode()
    return Case(".jsonl", content, _read_json, _objects, equal)


def _word(rng: random.Random) -> Any:
    return rng.choice(WORDS)


def _number(rng: random.Random) -> Any:
    if rng.random() < 0.9:
        return rng.choice((1, 2, -3, 2**53 + 1, None))
    return rng.choice((2.5, 2**63, 2**64, 1e300, True))


def _vector(rng: random.Random) -> Any:
    return [rng.choice((0.5, 1, 2)) for _ in range(rng.choice((2, 2, 2, 3)))]


def _any(rng: random.Random) -> Any:
    return {"x": _number(rng), "y": _vector(rng)} if rng.random() < 0.9 else "word"


def _read_json(path: Path) -> Any:
    with path.open("rb") as file:
        table = read_json_lines(file, str(path))
    with suppress(ArgumentError):  # cells that make no items
        inputs.read(path)
    return _without_nulls(table.to_pylist())


def _objects(path: Path) -> Any:
    lines = path.read_bytes().split(b"\n")
    lines = [line.removeprefix(b"\xef\xbb\xbf") for line in lines]
    return _without_nulls([json.loads(line.decode()) for line in lines if line.strip()])


def _without_nulls(value: Any) -> Any:
    """Leave out missing keys, which a table cannot tell from null."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [*map(_without_nulls, value)] if isinstance(value, list) else value


def lines_case(rng: random.Random) -> Case:
    """Return words on lines."""
    words = rng.choices(WORDS, k=rng.randrange(1, 9))
    content = rng.choice(("\n", "\r\n")).join(words)
    encoding = rng.choice(("utf-8", "utf-8-sig"))
    return Case(".txt", content.encode(encoding), _items, _lines, _same_lines)


def _lines(path: Path) -> Any:
    # Python's own reading of text: a line ends at LF, CRLF or CR.
    with path.open(encoding="utf-8-sig") as file:
        return [line.strip() for line in file.read().split("\n") if line.strip()]


def _same_lines(found: Any, lines: list[str]) -> bool:
    if isinstance(found, list):
        return found == lines
    table = str.maketrans(dict.fromkeys("[](){},;", " "))
    rows = [[float(x) for x in line.translate(table).split()] for line in lines]
    return equal(found.tolist(), rows)


# Arrays


def _array(rng: random.Random) -> Any:
    dtypes = ("<f4", "<f8", "<f2", ">f4", ">i8", "u1", "i1", "<i4", "?", "<U3", "<c8")
    shape = [rng.randrange(5) for _ in range(rng.choice((0, 1, 2, 2, 2, 2, 2, 3)))]
    array = np.random.default_rng(rng.randrange(99)).normal(size=shape) * 9
    with np.errstate(all="ignore"):
        array = np.asarray(array).astype(rng.choice(dtypes))
    return np.asfortranarray(array) if rng.random() < 0.3 else array


def npy_case(rng: random.Random) -> Case:
    """Return an array, or an archive of one."""
    file = io.BytesIO()
    if rng.random() < 0.5:
        np.save(file, _array(rng))
        return Case(".npy", file.getvalue(), _items, np.load, same_arrays)
    save = rng.choice((np.savez, np.savez_compressed))
    save(file, X=_array(rng), **({"y": np.arange(3)} if rng.random() < 0.3 else {}))
    read = partial(_items, column="X")
    return Case(".npz", file.getvalue(), read, lambda p: np.load(p)["X"], same_arrays)


_LETTERS = {".fvecs": "f", ".bvecs": "B", ".ivecs": "i"}


def vecs_case(rng: random.Random) -> Case:
    """Return rows of one length, each behind that length."""
    suffix, width = rng.choice([*_LETTERS]), rng.randrange(0, 5)
    row = struct.Struct(f"<i{width}{_LETTERS[suffix]}")
    rows = [[rng.randrange(99) for _ in range(width)] for _ in range(rng.randrange(6))]
    content = b"".join(row.pack(width, *each) for each in rows)
    return Case(suffix, content, _items, _vecs, lambda a, b: equal(a.tolist(), b))


def _vecs(path: Path) -> Any:
    content, rows = path.read_bytes(), []
    while content:
        (width,) = struct.unpack("<i", content[:4])
        size = struct.calcsize(kind := f"<{width}{_LETTERS[path.suffix]}")
        rows.append([*struct.unpack(kind, content[4 : 4 + size])])
        content = content[4 + size :]
    return rows


def hdf5_case(rng: random.Random) -> Case:
    """Return a file of one or two arrays."""
    file, array = io.BytesIO(), _array(rng)
    if array.dtype.kind == "U":
        array = array.astype("S")
    with h5py.File(file, "w") as out:
        options = (
            {"compression": "gzip"}
            if array.ndim and array.size and rng.random() < 0.5
            else {}
        )
        out.create_dataset("train", data=array, **options)
        if rng.random() < 0.5:
            out["group/test"] = np.eye(2)
    read = partial(_items, column="train")
    return Case(".hdf5", file.getvalue(), read, _train, same_arrays)


def _train(path: Path) -> Any:
    with h5py.File(path) as file:
        return file["train"][()]


# Tables with types


def _typed(rng: random.Random, n: int) -> Any:
    words = [None if rng.random() < 0.2 else rng.choice(WORDS) for _ in range(n)]
    numbers = [None if rng.random() < 0.2 else rng.randrange(99) for _ in range(n)]
    match rng.randrange(11):
        case 0:
            kinds = [pa.string(), pa.large_string(), pa.string_view()]
            return pa.array(words, rng.choice(kinds))
        case 1:
            return pa.array(words, pa.string()).dictionary_encode()
        case 2:
            return pa.array(numbers, rng.choice([pa.int8(), pa.uint64(), pa.float32()]))
        case 3:
            return pa.array([x if x is None else decimal.Decimal(x) for x in numbers])
        case 4:
            return pa.array(numbers, pa.timestamp(rng.choice(("s", "us")), tz="UTC"))
        case 5:
            return pa.array([x if x is None else x > 50 for x in numbers], pa.bool_())
        case 6:
            return pa.array([x if x is None else {"a": x, "b": "z"} for x in numbers])
        case 7:
            return pa.array(
                [x if x is None else [x] * (x % 4) for x in numbers],
                pa.list_(pa.int16()),
            )
        case 8:
            return pa.array(
                [x if x is None else str(x).encode() for x in numbers], pa.binary()
            )
        case 9:
            return pa.array(numbers, pa.int32()).cast(pa.date32())
        case _:
            return pa.nulls(n)


def _vectors(rng: random.Random, n: int) -> Any:
    width = rng.randrange(1, 4)
    rows = [[rng.random() for _ in range(width)] for _ in range(n)]
    number = rng.choice((pa.float16(), pa.float32(), pa.float64()))
    kinds = [pa.list_(number), pa.large_list(number), pa.list_(number, width)]
    return pa.array(rows, rng.choice(kinds))


def table_case(rng: random.Random) -> Case:
    """Return a table of any types, with one column of vectors or texts."""
    n = rng.randrange(1, 9)
    words = [word for word in WORDS if word.strip() and not word[0].isdigit()]
    words += ["", " ", "\u2003", None] * (rng.random() < 0.5)
    texts = pa.array(["text", *rng.choices(words, k=n - 1)])
    columns = {"a": _typed(rng, n), "a.b": _typed(rng, n), "": _typed(rng, n)}
    item = _vectors(rng, n) if rng.random() < 0.5 else texts
    table = pa.table({"item": item, **columns})
    table = pa.concat_tables([table, table.slice(rng.randrange(n))])
    if rng.random() < 0.1:
        names = ["item", *rng.choices(table.column_names, k=3)]
        table = table.rename_columns(names)
    suffix = rng.choice((".parquet", ".arrow", ".feather"))
    content = _written(rng, table, suffix)
    skip = item is texts and rng.random() < 0.5
    read, truth = partial(_read_kept, skip=skip), partial(_pyarrow, skip=skip)
    return Case(suffix, content, read, truth, equal)


def _written(rng: random.Random, table: Any, suffix: str) -> bytes:
    out = io.BytesIO()
    if suffix == ".parquet":
        rows = rng.choice((1, 3, 100))
        try:
            parquet.write_table(table, out, row_group_size=rows)
        except pa.ArrowNotImplementedError:  # some versions write no views
            return _written(rng, table.select(["item"]), suffix)
    elif suffix == ".feather":
        kind = rng.choice(("zstd", "uncompressed"))
        feather.write_feather(table, out, compression=kind, chunksize=2)
    else:
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    return out.getvalue()


def _read_kept(path: Path, *, skip: bool) -> Any:
    found = inputs.read(path, column="item", skip_blank=skip)
    items = found.values
    items = list(items) if found.kind == "texts" else np.asarray(items).tolist()
    kept = {name: _pylist(column) for name, column in found.columns.items()}
    return {**kept, "item": items}


def _pyarrow(path: Path, *, skip: bool) -> Any:
    if path.suffix == ".parquet":
        table = parquet.ParquetFile(path).read()
    else:
        opened = pa.ipc.open_stream if path.suffix == ".arrow" else pa.ipc.open_file
        table = opened(pa.BufferReader(path.read_bytes())).read_all()
        table.validate(full=True)
    if len(set(table.column_names)) < table.num_columns:
        raise ValueError("names repeat")
    if skip:
        texts = table["item"].to_pylist()
        table = table.filter([bool(text and text.strip()) for text in texts])
    return {name: _pylist(table[name]) for name in table.column_names}


def _pylist(column: Any) -> list[Any]:
    # Python's own times end in the year 9999.
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    values: list[Any] = column.to_pylist()
    return values


# Codes: bytes, hexadecimal digits, or 0 and 1


def codes_case(rng: random.Random) -> Case:
    """Return a column of codes of one length, seldom of two."""
    n_bytes, n = rng.randrange(1, 9), rng.randrange(1, 6)
    rows = [rng.randbytes(n_bytes) for _ in range(n)]
    if rng.random() < 0.1:
        rows[rng.randrange(n)] = rng.randbytes(n_bytes + 1)
    suffix = rng.choice((".csv", ".parquet", ".jsonl"))
    head = rng.choice(("", "0x", "\\x"))
    written = [head + row.hex() for row in rows]
    if rng.random() < 0.3:
        written = ["".join(f"{byte:08b}" for byte in row) for row in rows]
    if suffix == ".csv":
        content = "\n".join(["h,n", *(f"{text},1" for text in written)]).encode()
    elif suffix == ".jsonl":
        content = "\n".join(json.dumps({"h": text}) for text in written).encode()
    else:
        values = [*map(list, rows)] if rng.random() < 0.3 else rows
        kind = pa.list_(pa.uint8()) if values is not rows else pa.binary()
        content = _written(rng, pa.table({"h": pa.array(values, kind)}), suffix)

    def truth(path: Path) -> Any:
        if path.read_bytes() != content:
            raise ValueError("what a damaged file holds is not known")
        return [*map(list, rows)]

    return Case(suffix, content, partial(_codes, n_bytes=n_bytes), truth, _same_codes)


def _codes(path: Path, n_bytes: int) -> Any:
    found = inputs.read(path, codes="h")
    # Digits that happen to be 0 and 1 alone are bits.
    return found.values.tolist() if found.n_bits == 8 * n_bytes else None


def _same_codes(found: Any, rows: Any) -> bool:
    return found is None or found == rows


# Standard input


def pipe_case(rng: random.Random) -> Case:
    """Return a file of any kind that is told by its first bytes."""
    kinds = (csv_case, json_case, lines_case, npy_case, table_case)
    case = rng.choice(kinds)(rng)
    return replace(case, ours=_piped, truth=_piped_file, same=equal)


def _piped(path: Path) -> Any:
    stream = SimpleNamespace(buffer=io.BytesIO(path.read_bytes()))
    with mock.patch.object(sys, "stdin", stream):
        return _plain(inputs.read("-"))


def _piped_file(path: Path) -> Any:
    if path.suffix in {".csv", ".tsv"}:  # lines, unless a column is named
        path = path.rename(path.with_suffix(".txt"))
    return _plain(inputs.read(path))


def _plain(found: Any) -> Any:
    items = found.values
    return list(items) if found.kind == "texts" else np.asarray(items).tolist()


# Images: pixels are those of Pillow's transposed picture.


def image_case(rng: random.Random) -> Case:
    """Return a small picture of any mode and format, lying on any side."""
    suffix, mode = rng.choice(_IMAGE_KINDS)
    shape = (rng.randrange(1, 9), rng.randrange(1, 9))
    numbers = np.random.default_rng(rng.randrange(1 << 32)).integers(
        0, 256, (*shape, 4), dtype=np.uint8
    )
    picture = Image.fromarray(numbers, "RGBA").convert("RGB").convert(mode)
    if "A" in mode:
        numbers[..., 3] = rng.choice([0, 255])  # what lies between is rounded
        picture.putalpha(Image.fromarray(numbers[..., 3]))
    exif = Image.Exif()
    exif[0x0112] = rng.randrange(10)
    content = io.BytesIO()
    options = {"exif": exif} if suffix in (".jpg", ".png", ".webp", ".tif") else {}
    picture.save(content, Image.registered_extensions()[suffix], **options)
    return Case(suffix, content.getvalue(), _our_pixels, _pixels, same_arrays)


_IMAGE_KINDS = [(".png", mode) for mode in ("1", "L", "LA", "P", "RGB", "RGBA")]
_IMAGE_KINDS += [(".jpg", mode) for mode in ("L", "RGB", "CMYK")]
_IMAGE_KINDS += [(".tif", mode) for mode in ("L", "RGB", "RGBA")]
_IMAGE_KINDS += [(".gif", "P"), (".bmp", "RGB"), (".webp", "RGB"), (".ppm", "RGB")]


def _our_pixels(path: Path) -> Any:
    return np.asarray(open_rgb(path))


def _pixels(path: Path) -> Any:
    with Image.open(io.BytesIO(path.read_bytes())) as picture:
        picture.load()
        if picture.mode[0] in "IF":  # wider numbers: what they mean is ours to say
            raise ValueError(picture.mode)
        if picture.format == "GIF" and picture.dispose_extent != (0, 0, *picture.size):
            raise ValueError("what is around the first frame is ours to say, too")
        upright = ImageOps.exif_transpose(picture)
        if not upright.has_transparency_data:
            return np.asarray(upright.convert("RGB"))
        white = Image.new("RGBA", upright.size, "white")
        return np.asarray(
            Image.alpha_composite(white, upright.convert("RGBA")).convert("RGB")
        )


READERS: dict[str, Callable[[random.Random], Case]] = {
    "csv": csv_case,
    "json": json_case,
    "lines": lines_case,
    "npy": npy_case,
    "vecs": vecs_case,
    "hdf5": hdf5_case,
    "table": table_case,
    "codes": codes_case,
    "pipe": pipe_case,
    "image": image_case,
}
