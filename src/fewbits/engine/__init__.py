"""Requests and responses: what the command line and a service both call.

A request is a frozen dataclass of plain values; a function answers it from a bundle
with a response, whose ``to_dict`` is what programs are given.

>>> import numpy as np
>>> from fewbits.bundle import Bundle
>>> from fewbits.encoders import LinearEncoder
>>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2))).with_items([[1, 1], [1, -1]])
>>> search(bundle, SearchRequest([[2, -2]], k=1)).to_dict()["results"][0]
{'query': 'query 0', 'hits': [{'id': 1, 'distance': 0, 'columns': {}}]}
"""

from fewbits.engine._classify import ClassifyRequest, ClassifyResponse, classify
from fewbits.engine._duplicates import (
    DuplicatesRequest,
    DuplicatesResponse,
    duplicates,
)
from fewbits.engine._encode import EncodeRequest, EncodeResponse, encode
from fewbits.engine._items import ItemsRequest, ItemsResponse, items
from fewbits.engine._like import LikeRequest, LikeResponse, like
from fewbits.engine._range import RangeRequest, RangeResponse, range_search
from fewbits.engine._recall import RecallRequest, RecallResponse, recall
from fewbits.engine._search import (
    QueryHits,
    SearchRequest,
    SearchResponse,
    search,
)

__all__ = [
    "ClassifyRequest",
    "ClassifyResponse",
    "DuplicatesRequest",
    "DuplicatesResponse",
    "EncodeRequest",
    "EncodeResponse",
    "ItemsRequest",
    "ItemsResponse",
    "LikeRequest",
    "LikeResponse",
    "QueryHits",
    "RangeRequest",
    "RangeResponse",
    "RecallRequest",
    "RecallResponse",
    "SearchRequest",
    "SearchResponse",
    "classify",
    "duplicates",
    "encode",
    "items",
    "like",
    "range_search",
    "recall",
    "search",
]
