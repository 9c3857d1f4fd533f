"""A version of a collection: a model, its rows, and facts about them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.collection._folder import encoder_facts
from fewbits.collection._model import Model
from fewbits.collection._rows import Mask, Rows
from fewbits.collection.hits import Hits
from fewbits.errors import ArgumentError
from fewbits.store import ID


@dataclass(frozen=True, eq=False)
class Version:
    """A model and its rows, None where there are none yet. It never changes."""

    model: Model
    rows: Rows | None = None
    digest: str | None = None  # of collection.json

    def checked_rows(self) -> Rows:
        """Return the rows; refuse where there are none yet, or a file was cut off."""
        if self.rows is None:
            raise ArgumentError(
                "this collection holds no rows yet: add some (on the command line "
                "'fewbits build')"
            )
        self.rows.snapshot.check_lengths()
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

    def summary(self) -> dict[str, Any]:
        """Return what `Collection.summary` does."""
        model, rows = self.model, self.rows
        values = model.facts.to_dict()
        for name in ("feature_names", "item_column", "label_column", "id_column"):
            values.pop(name, None)
        values |= values.pop("extra", {})
        values |= encoder_facts(model.encoder, "encoder")
        values |= {"backbone": model.backbone, "kind": model.kind}
        values["n_items"] = 0 if rows is None else len(rows)
        if model.codebook is not None:
            values["n_classes"] = len(model.codebook)
            values["calibrated"] = model.calibration is not None
            values["rejects"] = model.rejection is not None
        if rows is not None:
            values["bytes_per_code"] = rows.code_bytes
            values["bytes_per_item"] = rows.bytes_per_item
            values["columns"] = rows.columns
            values["vectors"] = rows.vector_dtype
        return values

    def __str__(self) -> str:
        parts = [repr(self.model.encoder)]
        if self.model.backbone is not None:
            parts.append(self.model.backbone)
        if self.model.codebook is not None:
            parts.append(f"{len(self.model.codebook):,} classes")
        form = None if self.rows is None else self.rows.vector_dtype
        vectors = "" if form is None else f" with {form} vectors"
        n_items = 0 if self.rows is None else len(self.rows)
        return ", ".join([*parts, f"{n_items:,} items{vectors}"])

    def mask(self, filter: Any, allowed: Any = None) -> Mask | None:
        """Return which positions meet a filter and are allowed; None for all."""
        if filter is None and allowed is None:
            return None
        n_bits = self.model.encoder.n_bits
        return self.checked_rows().mask(filter, allowed, self.id_name, n_bits)

    def schema(self, names: Iterable[str]) -> Any:
        """Return Arrow's schema of ids and of some columns."""
        import pyarrow as pa

        schema = self.checked_rows().schema
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

        def table() -> Any:
            return self.checked_rows().table_at(rows[rows >= 0], columns)

        assert self.rows is not None
        ids = self.rows.ids_at(rows)
        return Hits(ids, distances, metric, self.number, table, far)
