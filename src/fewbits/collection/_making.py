"""From what a user gives to the rows of a store: reading, learning, encoding."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fewbits import backbones
from fewbits._arrow import (
    as_array,
    as_column,
    as_frame,
    by_name,
    is_frame,
    is_number,
    is_text,
    no_column,
    one_chunk,
    rows_by_names,
    split_names,
    typed_table,
    with_index,
)
from fewbits._checks import check_count, whole_number
from fewbits._features import SparseRows
from fewbits._ids import id_column, new_ids
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits._warnings import warn_user
from fewbits.codes import as_codes, prefix
from fewbits.collection._folder import read_folder, settled
from fewbits.collection._model import (
    Facts,
    Model,
    Progress,
    checked_codes,
    normalized,
    warn_of_lengths,
)
from fewbits.collection._rows import Rows
from fewbits.collection._table import (
    aligned,
    cast_column,
    filtered,
    fixed_binary,
    kept_vectors,
    table_of,
    typed_schema,
    user_column,
)
from fewbits.encoders import Encoder, PackedEncoder
from fewbits.errors import ArgumentError, a_kind
from fewbits.inputs import (
    Input,
    are_bytes,
    are_texts,
    packed_codes,
    read,
    read_columns,
    unreadable_named,
    with_beside,
)
from fewbits.ood import novelty_radius
from fewbits.store import CODE, CORRECTION, ID, RESERVED, Store, Writer

#: What items are called that were not a column of a table.
_ITEM_COLUMNS = {"texts": "text", "images": "path"}
_LOOKED_AT = 1000  # pictures of the collection for each that comes
_REENCODED = 1 << 24  # numbers of vectors that are encoded at a time


def read_rows(
    data: Any,
    *,
    column: Any = None,
    images: str | None = None,
    codes: Any = None,
    id: str | None = None,
    ids: Any = None,
    label: str | None = None,
    columns: Any = None,
    skip_blank: bool = False,
    skip_unreadable: bool = False,
    types: Any = None,
    model: Model | None = None,
    rows: Rows | None = None,
    schema: Any = None,
) -> Input:
    """Return items with their ids, labels and columns, whatever they come in.

    Names that are not given, and types, are those of `model`, `rows` and `schema`.
    """
    if types is not None and rows is not None:
        raise ArgumentError("the first rows have set the types: leave out types")
    is_codes = codes is not None and not isinstance(codes, str)
    if is_codes and data is not None:
        raise ArgumentError("give codes as an array, or data, not both")
    if data is None and not is_codes:
        raise ArgumentError("give data: a table, a file, or a list of items")
    values = {
        "ids": ids,
        "columns": columns,
        "label": label,
        "types": types,
        "skip_unreadable": skip_unreadable,
    }
    data = as_frame(data)
    if isinstance(data, Iterator):
        raise ArgumentError(f"give a list of items, not a {type(data).__name__}")
    is_table = isinstance(data, str | Path | Input) or is_frame(data)
    is_read = not is_codes and (is_table or skip_blank or model is None)
    if is_read:
        names: tuple[str, ...] = ()
        kind, as_text, default_id = None, [], None
        if model is not None and not isinstance(data, Input):  # which has its columns
            names = model.column_names
            kind = None if images or codes else model.kind
            if rows is not None and is_table:
                as_text = written_columns(schema)
                if ids is None:
                    id = id or model.facts.id_column
                default_id = None if "id" in schema.names else "id"
                if rows.has_text_ids:
                    as_text += filter(None, [id or default_id])
                if model.kind == "texts" and column is images is codes is None:
                    column = model.facts.item_column
        options = {"column": column, "images": images, "codes": codes, "id": id}
        options |= {"names": names, "as_text": as_text, "kind": kind}
        options["default_id"] = default_id
        options["as_numbers"] = () if rows is None else number_columns(schema)
        source = read(data, **options, skip_blank=skip_blank, **values)
    else:
        for name, value in (("column", column), ("images", images), ("id", id)):
            if value is not None:
                raise ArgumentError(
                    f"{name} names a column of a table, which these items are not: "
                    "give ids= and columns= beside them"
                )
        n_bits = None
        if not is_codes:
            assert model is not None
            what = f"the {type(data).__name__}"
            source = Input(model.kind, model.items(data), None, what)
        else:
            if are_texts(codes) or are_bytes(codes):
                codes, n_bits = packed_codes(as_column(codes), "the codes")
            codes = as_codes(as_array(codes, "codes"))
            source = Input("codes", codes, None, "the codes", n_bits=n_bits)
        source = with_beside(source, **values)
    if rows is not None and source.ids is None:
        assert model is not None
        key = model.facts.id_column or "id"
        if key in source.columns and key not in schema.names:  # beside, or read before
            columns = {**source.columns}
            column = new_ids(columns.pop(key), f"column {key!r}")
            source = replace(source, ids=column, columns=columns, id=key)
    if source.kind == "images" and source.ids is None:
        source = _with_paths_as_ids(source, model, rows)
    return source if model is None else model.checked(source, codes=True)


def _with_paths_as_ids(source: Input, model: Model | None, rows: Rows | None) -> Input:
    """Return image files with their absolute paths as ids.

    Those of a table only where the ids of the rows that are there are paths.
    """
    name = source.column or _ITEM_COLUMNS["images"]
    if (paths := source.stored_columns().get(name)) is None:  # images in memory
        return source
    if model is not None and rows is not None:
        if model.facts.id_column or not rows.has_text_ids or name not in rows.columns:
            return source
        first = rows.row_numbers[:1]
        if rows.ids_at(first).tolist() != rows.column(name, first).tolist():
            return source
    elif source.column is not None:
        return source
    if rows is not None and paths:
        _warn_of_moved(paths, rows)
    try:
        return replace(source, ids=new_ids(paths))
    except ArgumentError as error:
        raise ArgumentError(
            f"{error}; the ids of images are their paths, unless others are given by "
            "ids="
        ) from None


def _warn_of_moved(paths: list[str], rows: Rows) -> None:
    """Warn of pictures that the collection has from a folder that was moved.

    Not of a few among many: to look at all would take longer than to add them.
    """
    if len(rows) > _LOOKED_AT * len(paths):
        return
    folder = os.path.commonpath(os.path.dirname(x) for x in (min(paths), max(paths)))
    new, names = {*paths}, {path[len(folder) :] for path in paths}
    files = {path.rpartition(os.sep)[2] for path in paths}
    homes: Counter[str] = Counter()  # of pictures that have the same names
    for path in rows.id_column.to_pylist():
        if path.rpartition(os.sep)[2] in files and path not in new:
            places = [i for i, letter in enumerate(path) if letter == os.sep]
            homes.update(path[:i] for i in places if path[i:] in names)
    for home, count in homes.items():
        if os.path.isdir(home):
            continue
        pattern, escape = home.replace("'", "''"), ""
        if re.search("[%_|]", pattern):
            pattern, escape = re.sub("([%_|])", r"|\1", pattern), " escape '|'"
        condition = f"id like '{pattern}{os.sep}%'{escape}"
        warn_user(
            f"{count:,} of the pictures have the same names as pictures in the "
            f"collection from {home}, a folder that is gone: if they have moved, "
            f"delete the old ones by filter={condition!r} (on the command line "
            "--filter)"
        )


def rows_of_schema(
    model: Model,
    schema: Any,
    *,
    column: Any,
    images: str | None,
    label: str | None,
    id: str | None,
) -> Input:
    """Return no rows, in the columns of a schema."""
    import pyarrow as pa

    if not isinstance(schema, pa.Schema):
        raise ArgumentError(
            f"schema must be a pyarrow.Schema, got {type(schema).__name__}"
        )
    if id is not None and id not in schema.names:
        raise ArgumentError(f"the schema has no column {id!r} for the ids")
    item = images or (model.facts.item_column if column is None else column)
    return Input(
        "vectors",
        np.empty((0, model.encoder.n_features), np.float32),
        None,
        "the schema",
        ids=None if id is None else new_ids(pa.array([], schema.field(id).type)),
        columns={f.name: pa.array([], f.type) for f in schema if f.name != id},
        column=item if isinstance(item, str) else None,
        label=label,
        id=id,
    )


def first_rows(
    model: Model, source: Input, chosen: Mapping[str, Any], progress: Progress | None
) -> tuple[Model, Any]:
    """Return a model that knows the columns of the first rows, and their table."""
    columns = source.stored_columns()
    item = None
    if model.kind in _ITEM_COLUMNS:  # vectors and codes are not kept as columns
        item = source.column or _ITEM_COLUMNS.get(source.kind)
    facts: dict[str, Any] = {
        "item_column": item if item in columns else None,
        "label_column": source.label if source.label in columns else None,
        "id_column": source.id,
        **chosen,
    }
    if facts.get("index") == "auto":
        facts["index"] = None
    model = replace(model, facts=replace(model.facts, **facts, novelty_radius=None))
    codes, table = _encoded(model, source, model.facts.keep_vectors, progress)
    labels = source.labels
    if labels is not None and labels.ndim == 1 and len(set(labels.tolist())) > 1:
        radius = novelty_radius(codes, labels)
        model = replace(model, facts=replace(model.facts, novelty_radius=radius))
    return model, table


def more_rows(
    model: Model, rows: Rows, source: Input, progress: Progress | None
) -> Any:
    """Return the table of rows that come to others."""
    more = rows.vector_dtype is not None or CORRECTION in rows.schema.names
    if more and source.kind == "codes" != model.kind:
        raise ArgumentError(
            "this collection keeps more of its items than codes: add the items"
        )
    return _encoded(model, source, rows.vector_dtype, progress)[1]


def append_rows(
    writer: Writer, table: Any, facts: Facts, id_name: str | None, how: str
) -> int:
    """Add a table of rows, as `Collection._append` says; return how many.

    Others may have given the collection a column meanwhile, or rows.
    """
    schema = writer.manifest.schema
    # Null may stand for no label or item, and replace no value.
    required = {facts.label_column, facts.item_column}
    schema, table = aligned(
        table, schema, id_name=id_name, required=required, whole=how == "upsert"
    )
    writer.retype(schema)  # a column of nulls may have values now
    if how == "add_missing" and ID in table.column_names:
        table = filtered(table, ~writer.holds(one_chunk(table[ID])))
    (writer.upsert if how == "upsert" else writer.append)(table)
    return int(table.num_rows)


def _encoded(
    model: Model, source: Input, form: str | None, progress: Progress | None
) -> tuple[CodeArray, Any]:
    """Return the codes of items, and an Arrow table of all that is kept of them."""
    features: Any = None
    corrections = None
    if form is not None and source.kind == "codes":
        raise ArgumentError("codes have no vectors to keep: leave out keep_vectors")
    if source.kind == "codes" != model.kind:  # made by the encoder before
        codes = checked_codes(source.values, model.encoder.n_bits)
    else:
        features = source.values
        is_sparse = isinstance(features, SparseRows) and not model.facts.normalize
        is_of_schema = model.backbone is not None and source.kind == "vectors"
        if not (is_sparse or is_of_schema):
            with unreadable_named(source):
                features = model.features(features, progress=progress)
        # A backbone has reported already, and takes nearly all of the time.
        report = progress if model.backbone is None else None
        codes = model.encoder.encode(features, progress=report)
        corrections = model.encoder.corrections(features, codes)
    return codes, table_of(
        codes,
        ids=source.ids,
        columns=source.stored_columns(),
        vectors=kept_vectors(features, form) if form else None,
        corrections=None if corrections is None else corrections.values,
    )


def new_store(
    folder: Path | None,
    tables: Iterable[Any],
    encoder: Encoder,
    number: int,
    next_id: int,
) -> Store:
    """Write tables, one at least, as the state after `number` of a store."""
    import pyarrow as pa

    parts = iter(tables)
    first = next(parts)
    schema = first.schema
    if ID not in schema.names:  # the store numbers the rows
        schema = schema.insert(0, pa.field(ID, pa.int64()))
    store = Store.create(
        folder,
        schema,
        n_bits=encoder.n_bits,
        fingerprint=encoder.fingerprint,
        number=number,
        next_id=next_id,
    )
    with store.writer() as writer:
        for table in chain([first], parts):
            writer.append(table)
        writer.commit()
    return store


def learn_model(
    source: Input,
    learner: Any,
    bits: int | None,
    backbone: str | None,
    random_state: int | None,
    progress: Progress | None,
    *,
    normalize: bool = False,
    **options: Any,
) -> Model:
    """Return what a learner makes of items; codes that exist are taken as they are."""
    bits = None if bits is None else check_count(bits, "bits")
    if normalize:
        check_vectors_only(source.kind, source.source)
        source = replace(source, values=normalized(source.values))
    elif source.kind == "vectors":
        warn_of_lengths(source.values)
    if source.kind == "codes":
        for name, value in (("learner", learner), ("backbone", backbone)):
            if value is not None:
                raise ArgumentError(f"codes exist already: leave out {name}")
        width = 8 * source.values.shape[1]
        return Model(PackedEncoder(bits or source.n_bits or width))
    if len(source) == 1:
        raise ArgumentError(
            "one row is too few to learn from: give more, or an encoder that has learnt"
        )
    from fewbits.training import learn  # which needs scikit-learn

    with unreadable_named(source):
        learnt = learn(
            source,
            learner=learner,
            n_bits=bits,
            backbone=backbone,
            random_state=random_state,
            progress=progress,
            **options,
        )
    model = model_of(learnt)
    return replace(model, facts=replace(model.facts, normalize=normalize))


def check_vectors_only(kind: str, source: str) -> None:
    """Refuse to normalize anything but vectors: features are a backbone's own."""
    if kind != "vectors":
        raise ArgumentError(f"normalize is for vectors, and {source} holds {kind}")


def model_of(result: Any) -> Model:
    """Return the result of `fewbits.training.learn` as a collection keeps it."""
    return Model(**{**vars(result), "facts": Facts.of(result.facts)})


# Other codes of the same rows.


def reencoding_model(rows: Rows, old: Model, encoder: Any) -> Model:
    """Return what encodes the kept vectors anew, with the columns that are there."""
    new = encoder_model(encoder, old)
    if rows.vector_dtype is None:
        raise ArgumentError(
            "the collection keeps no vectors to encode: build it with keep_vectors"
        )
    # Features are those of one fingerprint; of one name where there is none.
    theirs, ours = (
        (m.backbone_fingerprint or m.backbone, m.backbone_fingerprint is not None)
        for m in (old, new)
    )
    if theirs != ours:
        kept, other = (
            f"{m.backbone or 'none'} ({(m.backbone_fingerprint or '')[:12]})"
            for m in (old, new)
        )
        raise ArgumentError(
            f"the collection keeps vectors of another backbone, {kept}; the encoder "
            f"takes those of {other}"
        )
    if rows.n_features != new.encoder.n_features:
        raise ArgumentError(
            f"the collection keeps vectors of {rows.n_features} features, the encoder "
            f"takes {new.encoder.n_features}"
        )
    names = ["item_column", "label_column", "id_column"]
    names += ["keep_vectors", "normalize", "index"]
    same = {name: getattr(old.facts, name) for name in names}
    return replace(new, facts=replace(new.facts, **same, novelty_radius=None))


def recoded_tables(
    rows: Rows,
    encoder: Encoder,
    progress: Progress | None = None,
    *,
    is_prefix: bool = False,
) -> Iterator[Any]:
    """Yield tables of rows with the codes that an encoder makes of kept vectors.

    Or with the first bits of their codes, which are those of a prefix.
    """
    step, done = max(1, _REENCODED // encoder.n_features), 0
    for table in rows.whole():
        place = table.column_names.index(CODE)
        for span in [*spans(len(table), step)] or [slice(0, 0)]:
            part = table.slice(span.start, span.stop - span.start)
            here, corrections = slice(done, done + len(part)), None
            if is_prefix:
                codes = prefix(rows.codes[here], encoder.n_bits)
            else:
                vectors = rows.vectors_at(rows.row_numbers[here])
                codes = encoder.encode(vectors)
                corrections = encoder.corrections(vectors, codes)
            if CORRECTION in part.column_names:
                part = part.drop_columns(CORRECTION)
            part = part.set_column(place, CODE, fixed_binary(codes))
            if corrections is not None:
                values = fixed_binary(corrections.values)
                part = part.add_column(place + 1, CORRECTION, values)
            yield part
            done += len(part)
            if progress is not None:
                progress(done, len(rows))


# Columns that change.


def update_table(
    model: Model,
    rows: Rows,
    schema: Any,
    data: Any,
    id: str | None,
    ids: Any,
    columns: Any,
) -> tuple[Any, dict[frozenset[str], list[int]]]:
    """Return an Arrow table of ids and of the columns to change.

    And, where rows need not have all columns, their positions by those that they have.
    """
    import pyarrow as pa

    by_names = rows_by_names(columns if data is None else data)
    facts, columns, data = model.facts, by_name(columns), as_frame(data)
    id = id or facts.id_column or "id"
    if isinstance(data, str | Path):
        texts = written_columns(schema) + [id] * rows.has_text_ids
        data, by_names = read_columns(data, texts, number_columns(schema))
    data, _ = with_index(data)
    is_table = is_frame(data) and ids is None
    has_ids = data is None and ids is not None
    if not (is_table or has_ids) or is_table == isinstance(columns, Mapping):
        raise ArgumentError("update takes a table, or ids= and a mapping of columns=")
    if is_table:
        table = typed_table(data)
        if id not in table.column_names:
            raise ArgumentError(
                f"the table has no column {id!r} with the ids: name it by id= (on the "
                "command line by --id)"
            )
        names = split_names(columns or (), table.column_names)
        names = [name for name in names or table.column_names if name != id]
        if unknown := [name for name in names if name not in table.column_names]:
            raise ArgumentError(no_column("the table", unknown[0], table.column_names))
        ids, columns = table[id], {name: table[name] for name in names}
    if model.kind != "vectors" and facts.item_column in columns:
        raise ArgumentError(
            f"column {facts.item_column!r} is what the codes were made of: upsert "
            "whole rows"
        )
    if facts.id_column in columns or ID in columns:
        raise ArgumentError("ids stay: delete the items, and add them with other ids")
    for name in columns:
        if not (isinstance(name, str) and name):
            raise ArgumentError(f"a column needs a name, a text; got {name!r}")
    for name in columns:
        if name not in schema.names:
            has = no_column("the collection", name, rows.columns)
            warn_user(f"{has}: it gets one, null for all other items")
    keys = id_column(new_ids(ids), rows.has_text_ids)
    values = {ID: keys} | {name: user_column(name, c) for name, c in columns.items()}
    for name, column in values.items():
        if len(column) != len(keys):
            raise ArgumentError(
                f"{len(keys)} ids, but {len(column)} entries in {name!r}"
            )
    return pa.table(values), by_names


def droppable(facts: Facts, id_name: str, schema: Any, names: Any) -> set[str]:
    """Return columns to drop; refuse unknown ones, and those of ids and items."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise ArgumentError(f"columns must be a list of names: give [{names!r}]")
    columns = [name for name in schema.names if name not in RESERVED]
    names = split_names(names, columns)
    for name in names:
        if name == facts.item_column and name in columns:
            raise ArgumentError(
                f"column {name!r} is what the codes were made of, and cannot be dropped"
            )
        if name == id_name and name not in columns:
            raise ArgumentError(
                f"{name!r} is the column of the ids, and cannot be dropped"
            )
        if name not in columns:
            raise ArgumentError(no_column("the collection", name, columns))
    return {*names}


def constant_columns(
    schema: Any, id_name: str, data: Any, ids: Any, columns: Any
) -> dict[str, Any]:
    """Return the columns of a row whose values all items that meet a filter get."""
    if ids is not None or data is None or isinstance(columns, Mapping):
        raise ArgumentError(
            "update with a filter takes one row of values, such as {'year': 2026}"
        )
    if isinstance(data, str | Path):
        numbers = number_columns(schema)
        data, _ = read_columns(data, written_columns(schema), numbers)
    if isinstance(data, Mapping):
        data = [data]
    if not is_frame(data := as_frame(data)):
        raise ArgumentError(f"update with a filter takes one row, got {a_kind(data)}")
    table = typed_table(data)
    if len(table) != 1:
        raise ArgumentError(f"update with a filter takes one row, got {len(table):,}")
    names = split_names(columns or table.column_names, table.column_names)
    if unknown := [name for name in names if name not in table.column_names]:
        raise ArgumentError(no_column("the row", unknown[0], table.column_names))
    if id_name in names:
        raise ArgumentError(
            f"update with a filter takes a row without an id: leave out {id_name!r}, "
            "or the filter"
        )
    return {name: table[name] for name in names}


def written_columns(schema: Any) -> list[str]:
    """Return the columns whose values a CSV file may write as numbers or days."""
    import pyarrow.types as types

    binary = types.is_binary, types.is_large_binary, types.is_fixed_size_binary
    kinds = (is_text, types.is_decimal, *binary)
    return [f.name for f in schema if any(is_one(f.type) for is_one in kinds)]


def number_columns(schema: Any) -> list[str]:
    """Return the columns of numbers."""
    return [field.name for field in schema if is_number(field.type)]


def typed_update(schema: Any, table: Any) -> tuple[Any, Any]:
    """Return the schema after an update, and its table with columns of these types."""
    import pyarrow as pa

    schema, columns = typed_schema(schema, table), {ID: table[ID]}
    for name in table.column_names[1:]:
        if name not in schema.names:
            schema = schema.append(pa.field(name, table.schema.field(name).type))
        columns[name] = cast_column(table[name], schema.field(name))
    return schema, pa.table(columns)


# What an encoder brings along, and what the columns of the first rows say.


def encoder_model(encoder: Any, old: Model | None = None) -> Model:
    """Return the model of an encoder, a folder, or what a collection has learnt."""
    if isinstance(encoder, Encoder):
        if old is None:
            return Model(encoder)
        return Model(encoder, old.backbone, old.backbone_fingerprint)
    if isinstance(encoder, str | Path):
        folder = Path(encoder)
        encoder, _, _ = settled(folder, lambda: read_folder(folder))
    if not isinstance(encoder, Model):
        raise ArgumentError(
            "encoder must be an encoder, a collection or its folder, got "
            f"{type(encoder).__name__}"
        )
    return encoder


def reused_model(
    encoder: Any, learner: Any, bits: int | None, backbone: str | None
) -> Model:
    """Return the model of an encoder that takes the place of a learner."""
    if learner is not None:
        raise ArgumentError("with encoder= nothing is learnt: leave out learner")
    model = encoder_model(encoder)
    if backbone not in (None, model.backbone):
        if not isinstance(encoder, Encoder):
            raise ArgumentError(
                f"the encoder takes what the backbone {model.backbone} makes, got "
                f"{backbone!r}"
            )
        model = Model(encoder, backbone, backbones.load(backbone).fingerprint)
    return model if bits is None else model.prefix(whole_number(bits, "bits"))


def check_chosen(chosen: Mapping[str, str], rows: Rows, facts: Facts) -> None:
    """Refuse what is chosen with the first rows, where the collection has another."""
    present = {"keep_vectors": rows.vector_dtype, "index": facts.index or "auto"}
    for name, value in chosen.items():
        if present[name] != value:
            option = f"--{name.replace('_', '-')}"
            raise ArgumentError(
                f"the rows of this collection were made with {name}="
                f"{present[name] or 'none'}, not {value}: leave it out (on the command "
                f"line {option}), or create it anew with overwrite=True (--overwrite)"
            )
