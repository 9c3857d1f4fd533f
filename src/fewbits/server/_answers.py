"""What routes answer, for the description of the service.

Each answer is a line of fields and their types; a field with ``?`` may be left out,
``[X]`` is a list of X, and capitals name another answer.
"""

from typing import Any

ANSWERS = {
    # Items and hits, as in `fewbits.collection.Hits`; explained, with codes and how
    # many items are at each distance of a query.
    "Item": "id: int|str, columns: dict, code: str",
    "Items": "items: [Item]",
    "Hit": "rank: int, id: int|str, distance: float, columns: dict, code?: str",
    "Hits": "metric: str, rerank: bool, version: int, hits: [[Hit]], "
    "out_of_distribution?: [bool]",
    "Explanation": "metric: str, rerank: bool, version: int, hits: [[Hit]], "
    "out_of_distribution?: [bool], codes: [str], histograms: [[int]]",
    "Codes": "n_bits: int, codes: [str]",
    # Classes, by whatever decides them, as in `fewbits.collection.Classification`, and
    # what to expect of rejection, as in `fewbits.ood.RejectionThreshold`.
    "Classification": "results: [ItemClass], expected?: Expected",
    "ItemClass": "class?: any, distance?: float, classes?: [Probability], "
    "share?: share, score?: float, labels?: [any], ranked?: [RankedLabel], "
    "accepted?: bool",
    "Probability": "class: any, probability: share",
    "RankedLabel": "label: any, score: float",
    "Expected": "threshold: float, false_reject_rate: float, "
    "false_accept_rate: float|null, false_accept_interval: [float]|null",
    # Duplicates, and recall, as in `fewbits.collection.RecallEstimate`.
    "Pairs": "pairs: [Pair]",
    "Pair": "ids: [int|str], distance: int, vector_distance?: float",
    "DuplicateGroups": "n_groups: int, n_items: int, n_pairs: int, "
    "groups: [[Duplicate]], sizes: [int]",
    "Duplicate": "id: int|str, distance: int, columns: dict",
    "Recalls": "estimates: [RecallEstimate]",
    "RecallEstimate": "search: str, k: int, recall: share, low: share, high: share, "
    "n_queries: int, confidence: share, shortlist: int|null, held_out: bool",
    # How many rows a change concerned, and what was left out, or left null.
    "Change": "n_changed: int, n_items: int, snapshot: str, warnings?: [str]",
    "Versions": "version: int, versions: [int], tags: dict",
    # Files, as in `fewbits.store.Damage`, whose `text` says all of it; `at` is in
    # seconds since 1970.
    "Verification": "intact: bool, number: int|null, n_rows: int, n_bytes: int, "
    "damages: [Damage], unreadable: [str], to_rebuild: [str], at: float, "
    "seconds: float",
    "Damage": "file: str, reason: str, bytes: [int]|null, positions: [int]|null, "
    "columns: [str], text: str",
    # The service: `n_distinct` is of a sample, `unreadable` columns are damaged, and
    # `item_features` tells whether items by ids can be re-ranked.
    "Health": "status: str, version: str, snapshot: str, reason?: str",
    "Facts": "name: str, version: str, snapshot: str, collection_version: int, "
    "writable: bool, n_items: int, n_bits: int, bytes_per_code: int, "
    "encoder: EncoderFacts, backbone: str|null, kind: str, feature_names: [str], "
    "item_column: str|null, label_column: str|null, columns: [Column], "
    "unreadable: [str], id_name: str, id_column: str|null, id_type: str, "
    "vectors: bool, item_features: bool, n_classes: int|null, "
    "novelty_radius: int|null, limits: dict, pages: dict, summary: dict",
    "Column": "name: str, type: str, is_class: bool, n_distinct?: int",
    "EncoderFacts": "kind: str, n_features: int, fingerprint: str",
    "Error": "error: ErrorDetail",
    "ErrorDetail": "code: str, message: str",
}
_TYPES: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object"},
    "null": {"type": "null"},
    "any": {},
}


def answer_schemas(place: str) -> dict[str, dict[str, Any]]:
    """Return the answers as JSON Schema, which refers to others at a place."""

    def of_type(text: str) -> dict[str, Any]:
        if text.startswith("[") and text.endswith("]"):
            return {"type": "array", "items": of_type(text[1:-1])}
        if "|" in text:
            return {"anyOf": [of_type(part) for part in text.split("|")]}
        return _TYPES.get(text, {"$ref": f"{place}{text}"})

    schemas = {}
    for name, line in ANSWERS.items():
        fields = dict(field.split(": ") for field in line.split(", "))
        schemas[name] = {
            "type": "object",
            "properties": {x.rstrip("?"): of_type(y) for x, y in fields.items()},
            "required": [x for x in fields if not x.endswith("?")],
            "additionalProperties": False,
        }
    return schemas
