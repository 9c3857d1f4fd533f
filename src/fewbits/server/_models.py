"""Bodies that several routes share."""

from typing import Annotated, Any

from pydantic import Field

from fewbits.server._body import Body

Id = int | str


class Queries(Body):
    """Exactly one of the ways to say what is asked about."""

    texts: list[str] | None = None
    vectors: list[list[float]] | None = None
    images: list[str] | None = Field(None, description="Files of images, in base64.")
    ids: list[Id] | None = Field(None, description="Items of the collection.")
    codes: list[str] | None = Field(None, description="Packed codes in hexadecimal.")


class SearchBody(Queries):
    """See `fewbits.engine.SearchRequest`."""

    k: Annotated[int, Field(ge=1)] = 10
    filter: str | None = None
    allowed: list[Id] | None = None
    group_by: str | None = None
    rerank: bool | None = None
    explain: bool = False


class Found(Body):
    """The answer to a search."""

    metric: str
    results: list[dict[str, Any]]
