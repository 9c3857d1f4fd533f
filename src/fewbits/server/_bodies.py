"""Bodies of requests: models of JSON, whose other forms are Arrow and images.

The fields of most are the arguments of a method of `fewbits.Collection`, with its
defaults: `FIELDS` says what each argument is in JSON.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, create_model

from fewbits.collection import Collection
from fewbits.errors import ArgumentError

T = TypeVar("T")
#: A list that is refused at its first fault: there may be a million.
Many = Annotated[list[T], Field(fail_fast=True)]
_PATTERNS, _LONGEST_PATTERN = 20, 200  # of LIKE, in a filter


class Body(BaseModel):
    """Base of request bodies; unknown fields are errors.

    An Arrow stream brings its other fields as metadata of the schema.
    """

    # Each is built by its first request, not by the start.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, defer_build=True, allow_inf_nan=False
    )
    #: The Arrow table, or the file of an image, that the body itself was.
    _table: Any = PrivateAttr(None)
    _image: bytes | None = PrivateAttr(None)
    #: Bytes of the body.
    _size: int = PrivateAttr(0)

    def options(self, *without: str) -> dict[str, Any]:
        """Return the arguments of the method, but for some."""
        return {
            name: vars(self)[name]
            for name in type(self).model_fields
            if name not in without and name != "at"
        }

    def check_patterns(self) -> None:
        """Refuse a filter that would look at every text many times."""
        filter = vars(self).get("filter") or ""
        if "like" not in filter.lower():
            return
        from fewbits.collection.filters import like_patterns  # imports a parser

        patterns = like_patterns(filter)
        if len(patterns) > _PATTERNS:
            raise ArgumentError(
                f"a filter has at most {_PATTERNS} LIKE patterns, got {len(patterns)}"
            )
        if (longest := max(map(len, patterns), default=0)) > _LONGEST_PATTERN:
            raise ArgumentError(
                f"a LIKE pattern has at most {_LONGEST_PATTERN} characters, got "
                f"{longest}"
            )


# Bounds are those of the method itself, which says so in its own words; what stands
# here is what a request may not ask of a service.
Id = int | str
Number = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Position = Annotated[int, Field(ge=0, le=2**40)]
Codes = Annotated[Many[str], Field(description="Packed codes in hexadecimal.")]
Images = Annotated[Many[str], Field(description="Files of images, in base64.")]
Ids = Annotated[Many[Id], Field(description="Items of the collection.")]
Allowed = Annotated[Many[Id], Field(description="Ids that may be found.")]
Filter = Annotated[
    str, Field(max_length=10_000, description="A condition, as in SQL's WHERE.")
]
Timeout = Annotated[
    float, Field(ge=0, le=3600, description="Seconds to wait for other writers.")
]
#: What each argument of a method of `Collection` is in JSON.
FIELDS: dict[str, Any] = {
    "texts": Many[str],
    "vectors": Many[Many[float]],
    "images": Images,
    "ids": Ids,
    "codes": Codes,
    "k": Number,
    "radius": Number,
    "filter": Filter,
    "allowed": Allowed,
    "group_by": str,
    "rerank": bool,
    "shortlist": Number,
    "columns": Many[str],
    "label": str,
    "linear": bool,
    "decoder": Annotated[
        str | dict[str, Any],
        Field(description='A name, or {"name": ..., and its parameters}.'),
    ],
    "max_false_reject_rate": float,
    "max_false_accept_rate": float,
    "top": Number,
    "good_ids": Many[Id],
    "bad_ids": Many[Id],
    "n_random": Annotated[int, Field(ge=-(2**63), le=100_000)],
    "C": Annotated[float, Field(lt=1e9)],
    "random_state": Number,
    "max_vector_distance": float,
    "missing_ok": bool,
    "timeout": Timeout,
    "column": str | Many[str],
    "id": str,
    "skip_blank": bool,
    "name": str,
    "version": Number,
    "n_queries": Number,
    "confidence": float,
}
At = Annotated[
    Number | str, Field(description="A version to read: its number, or its name.")
]
_AT: Any = {"at": (At | None, None)}


def body_like(
    name: str, method: Callable[..., Any], without: str = "", **others: Any
) -> type[Body]:
    """Return the body whose fields are the arguments of a method, but for some.

    `others` are further fields: a type and a default.
    """
    fields: dict[str, Any] = {}
    for argument, parameter in inspect.signature(method).parameters.items():
        if argument == "self" or argument in without.split():
            continue
        default, kind = parameter.default, FIELDS[argument]
        if default is parameter.empty:
            fields[argument] = (kind, ...)
        elif default is None or default == ():
            fields[argument] = (kind | None, None)
        else:
            fields[argument] = (kind, default)
    document = f"See `fewbits.Collection.{method.__name__}`."
    model: type[Body] = create_model(
        name, __base__=Body, __doc__=document, **fields, **others
    )
    return model


class Queries(Body):
    """Exactly one of the ways to say what is meant."""

    texts: Many[str] | None = None
    vectors: Many[Many[float]] | None = None
    images: Images | None = None
    ids: Ids | None = None
    codes: Codes | None = None


_SOME: Any = (Queries | None, None)
_ROWS: Any = {"rows": (Many[dict[str, Any]] | None, None)}
SearchBody = body_like("SearchBody", Collection.search, "queries", **_AT)
ClassifyBody = body_like("ClassifyBody", Collection.classify, "items", **_AT)
EncodeBody = body_like("EncodeBody", Collection.encode, "items progress", **_AT)
LikeBody = body_like(
    "LikeBody", Collection.like, "good bad", good=_SOME, bad=_SOME, **_AT
)
DuplicatesBody = body_like("DuplicatesBody", Collection.duplicates, **_AT)
DuplicateGroupsBody = body_like(
    "DuplicateGroupsBody",
    Collection.duplicates,
    max_pairs=(Annotated[int, Field(ge=1)] | None, None),
    max_groups=(Annotated[int, Field(ge=0, le=100_000)], 50),
    keep=(
        Annotated[
            Many[Id] | None,
            Field(description="CSV has all groups: ids to keep, not the first."),
        ],
        None,
    ),
    **_AT,
)
RecallBody = body_like(
    "RecallBody", Collection.recall, "queries progress", queries=_SOME, **_AT
)
#: Rows are a table, which brings its own ids; images are added where they are.
RowsBody = body_like(
    "RowsBody",
    Collection.add,
    "data images codes ids skip_unreadable progress",
    codes=(
        Annotated[str | None, Field(description="A column with packed codes.")],
        None,
    ),
    **_ROWS,
)
UpdateBody = body_like("UpdateBody", Collection.update, "data ids", **_ROWS)
DeleteBody = body_like("DeleteBody", Collection.delete)
DropColumnsBody = body_like("DropColumnsBody", Collection.drop_columns)
CompactBody = body_like("CompactBody", Collection.compact)
TagBody = body_like("TagBody", Collection.tag)
UntagBody = body_like("UntagBody", Collection.untag)
RestoreBody = body_like("RestoreBody", Collection.restore, "version", version=(At, ...))


class ChangeBody(Body):
    """One change: the body of the route of its name."""

    add: RowsBody | None = None  # type: ignore[valid-type]
    upsert: RowsBody | None = None  # type: ignore[valid-type]
    update: UpdateBody | None = None  # type: ignore[valid-type]
    delete: DeleteBody | None = None  # type: ignore[valid-type]
    drop_columns: DropColumnsBody | None = None  # type: ignore[valid-type]
    table: str | None = Field(
        None, description="In place of rows, a stream of Arrow in base64."
    )


class ChangesBody(Body):
    """Changes that are one commit, see `fewbits.Collection.transaction`."""

    changes: Annotated[Many[ChangeBody], Field(min_length=1)]
    timeout: Timeout | None = None


class ItemsBody(Body):
    """Items by their ids, or by their positions from 0 on."""

    ids: Many[Id] | None = None
    positions: Many[Position] | None = None
    columns: Many[str] | None = None
    filter: Filter | None = None
    missing_ok: bool = Field(False, description="Leave out ids that no item has.")
    at: At | None = None


class NamesBody(Body):
    """Names of the two values of a bit; null takes a name away."""

    zeros: str | None
    ones: str | None


class MapExportBody(Body):
    """Items of the map, by their positions in its collection."""

    positions: Annotated[Many[Position], Field(min_length=1)]
    neighbours: Annotated[int, Field(ge=0, le=100)] = 10
    version: str | None = None
