"""What a collection is at one moment: a model, rows, and what is said of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.collection._model import Model
from fewbits.collection._rows import Mask, Rows
from fewbits.collection.hits import Hits
from fewbits.errors import ArgumentError
from fewbits.store import ID


@dataclass(frozen=True, eq=False)
class Version:
    """A model and its rows, None where there are none yet; it does not change."""

    model: Model
    rows: Rows | None = None
    digest: str | None = None  # of collection.json

    @property
    def required_rows(self) -> Rows:
        """The rows; refused where there are none yet."""
        if self.rows is None:
            raise ArgumentError(
                "this collection holds no rows yet: add some (on the command line "
                "'fewbits build')"
            )
        return self.rows

    @property
    def number(self) -> int:
        return 0 if self.rows is None else self.rows.snapshot.number

    @property
    def id_name(self) -> str:
        """Name of the ids beside the columns: that of their column, or "id"."""
        columns = () if self.rows is None else self.rows.columns
        names = (self.model.facts.id_column, "id", ID)  # texts may be their own ids
        return next(x for x in names if x is not None and x not in columns)

    def mask(self, filter: Any, allowed: Any = None) -> Mask | None:
        """Return which positions meet a filter and are allowed; None for all."""
        if filter is None and allowed is None:
            return None
        n_bits = self.model.encoder.n_bits
        return self.required_rows.mask(filter, allowed, self.id_name, n_bits)

    def schema(self, names: Iterable[str]) -> Any:
        """Return Arrow's schema of ids and of some columns."""
        import pyarrow as pa

        schema = self.required_rows.schema
        ids = pa.field(self.id_name, schema.field(ID).type)
        return pa.schema([ids, *(schema.field(name) for name in names)])

    def hits(
        self,
        distances: NDArray[Any],
        rows: IdArray,
        metric: str,
        columns: list[str],
        far: NDArray[np.bool_] | None = None,
    ) -> Hits:
        """Return an answer, whose columns are read when they are asked for."""
        all_rows = self.required_rows

        def table() -> Any:
            return all_rows.table_at(rows[rows >= 0], columns)

        ids = all_rows.ids_at(rows)
        return Hits(ids, distances, metric, self.number, table, far)
