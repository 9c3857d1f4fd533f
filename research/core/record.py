"""Measured cells, stamped and stored as Parquet."""

import fcntl
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

import fewbits
from fewbits import _kernels

RESULTS = Path(__file__).parents[1] / "results"

#: What was run; what came out, nested where a metric has several values.
Settings = Mapping[str, Any]
Metrics = Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """One measured cell of a study.

    Attributes
    ----------
    part : str
        The part of the study, such as ``ranking``.
    settings : mapping
        Data, method, number of bits and so on, without the seed.
    seed : int or None
    metrics : mapping
        Numbers by name; nested mappings and lists where there are several.
    commit, version : str or None
        Of the code that measured it.
    date : datetime or None
    machine : str or None
        The processor and its instruction set, or the GPU.
    """

    part: str
    settings: Settings
    seed: int | None
    metrics: Metrics
    commit: str | None = None
    version: str | None = None
    date: datetime | None = None
    machine: str | None = None

    @classmethod
    def now(cls, part: str, settings: Settings, metrics: Metrics) -> Self:
        """Return a record of what this code measured on this machine."""
        rest = {name: value for name, value in settings.items() if name != "seed"}
        return cls(
            *(part, rest, settings.get("seed"), metrics),
            commit=current_commit(),
            version=fewbits.__version__,
            date=datetime.now(UTC).replace(microsecond=0),
            machine=str(metrics.get("device", this_machine())),
        )

    @property
    def key(self) -> str:
        """The key that two records of the same cell share."""
        return key_of(self.part, {**self.settings, "seed": self.seed})


def key_of(part: str, settings: Settings) -> str:
    """Return the key of the cell with these settings, the seed among them."""
    return json.dumps([part, {"seed": None, **settings}], sort_keys=True)


class Store:
    """The records of a study, in one Parquet file that is always complete.

    Settings and metrics are JSON text there, since they differ between parts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, part: str | None = None) -> list[Record]:
        """Return the records in the order in which they were first measured."""
        if not self.path.exists():
            return []
        found = (_from_row(row) for row in pq.read_table(self.path).to_pylist())
        return [record for record in found if part in (None, record.part)]

    def put(self, records: Iterable[Record]) -> None:
        """Add records; one of the same key takes the place of the older."""
        with self._alone():
            known = {record.key: record for record in self.read()}
            known.update((record.key, record) for record in records)
            table = pa.Table.from_pylist(list(map(_row, known.values())), _SCHEMA)
            new = self.path.with_suffix(".new")
            pq.write_table(table, new, compression="zstd", compression_level=19)
            os.replace(new, self.path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait for other processes that write results."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def store_of(study: str, folder: Path = RESULTS) -> Store:
    """Return where the records of a study are."""
    return Store(folder / f"{study}.parquet")


_SCHEMA = pa.schema(
    [
        ("part", pa.string()),
        ("settings", pa.string()),
        ("seed", pa.int64()),
        ("metrics", pa.string()),
        ("commit", pa.string()),
        ("version", pa.string()),
        ("date", pa.timestamp("s", tz="UTC")),
        ("machine", pa.string()),
    ]
)


def _row(record: Record) -> dict[str, Any]:
    texts = {n: json.dumps(getattr(record, n)) for n in ("settings", "metrics")}
    return {**asdict(record), **texts}


def _from_row(row: dict[str, Any]) -> Record:
    parsed = {name: json.loads(row[name]) for name in ("settings", "metrics")}
    return Record(**{**row, **parsed})


@cache
def current_commit() -> str | None:
    """Return the commit of the code, with a ``+`` where files differ from it."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        ran = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        )
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip() + "+" * changed.returncode


@cache
def this_machine() -> str:
    """Return the processor and the instruction set in use."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    name = names[0].strip() if names else platform.processor() or platform.machine()
    return f"{name}, {_kernels.active_isa()}"
