"""Quality of a collection: use of bits and bytes, state of files, recall."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits.analysis.bits import bit_report, count_ones
from fewbits.bundle import Bundle, Items, RecallEstimate
from fewbits.engine.explore._bits import filled
from fewbits.engine.explore._samples import affordable, sampled_rows
from fewbits.errors import ArtefactError, FewbitsError

_SAMPLE = 50_000  # codes that are compared with each other
_READ_AGAIN = 100_000  # items that are embedded again where no vectors are kept
_WORK = 2e10  # numbers of vectors that are compared for an estimate
_QUERIES = 200, 1000  # drawn at least and at most


@dataclass(frozen=True)
class QualityResponse:
    """Use of the bits, rows and bytes of a collection.

    Attributes
    ----------
    n_items : int
    n_dead_rows : int
        Rows that were deleted and are still on the disk.
    n_segments, n_files : int
        Of the collection on the disk; 0 in memory.
    commit : int or None
        Number of the state of the collection; None in memory.
    n_bits, n_dead_bits : int
        Dead bits have the same value in all items. None, as the next four, where
        damage keeps the codes from being read; a warning says so.
    effective_bits : float
        How many independent bits would spread as much.
    n_distinct, n_shared, largest_group : int
        Different codes, items whose code another item has, too, and items with the most
        frequent code, of the sample.
    n_sample : int
        Codes that the last four were computed from.
    bytes : dict of str to int
        What takes space: ``codes``, ``vectors``, ``ids and columns``, and of files
        ``checksums``, ``derived``, ``encoder and classes``, ``manifests``.
    warnings : tuple of str
        What deserves attention.
    """

    n_items: int
    n_dead_rows: int
    n_segments: int
    n_files: int
    commit: int | None
    n_bits: int
    n_dead_bits: int | None
    effective_bits: float
    n_distinct: int | None
    n_shared: int | None
    largest_group: int | None
    n_sample: int
    bytes: dict[str, int] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; None for what cannot be computed."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        effective = self.effective_bits
        facts["effective_bits"] = None if np.isnan(effective) else effective
        return {**facts, "warnings": list(self.warnings)}


def quality(bundle: Bundle, folder: str | Path | None = None) -> QualityResponse:
    """Return the use of the bits, rows and bytes of a collection.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    folder : str or Path, default=None
        Where it was loaded from; None tells the bytes of the collection alone.

    Returns
    -------
    QualityResponse

    Raises
    ------
    ArgumentError
        When the collection is empty.
    """
    items, n_bits = filled(bundle).collection, bundle.encoder.n_bits
    parts, held = [run.part for run in items.runs], items.snapshot
    return QualityResponse(
        n_items=len(items),
        n_dead_rows=sum(part.n_rows - part.n_live for part in parts),
        n_segments=0 if held is None else len(parts),
        n_files=0 if items.store is None else items.store.n_files(),
        commit=bundle.commit,
        n_bits=n_bits,
        bytes=_bytes(bundle, None if folder is None else Path(folder)),
        **_of_codes(items, n_bits),
    )


def _of_codes(items: Items, n_bits: int) -> dict[str, Any]:
    """Return what codes tell, or why they cannot be read."""
    try:
        codes = items.codes
    except ArtefactError as error:
        names = ("n_dead_bits", "n_distinct", "n_shared", "largest_group")
        unknown = {**dict.fromkeys(names), "effective_bits": np.nan, "n_sample": 0}
        return {**unknown, "warnings": (f"the codes cannot be read: {error}",)}
    ones = count_ones(codes, n_bits)
    rows = sampled_rows(len(items), affordable(_SAMPLE, n_bits, 1024, 2))
    report = bit_report(codes[rows], n_bits, n_pairs=100_000)
    return {
        "n_dead_bits": int(np.count_nonzero((ones == 0) | (ones == len(items)))),
        "effective_bits": report.effective_bits,
        "n_distinct": report.n_distinct,
        "n_shared": report.n_shared,
        "largest_group": report.largest_group,
        "n_sample": len(rows),
        "warnings": report.warnings,
    }


def _bytes(bundle: Bundle, folder: Path | None) -> dict[str, int]:
    """Return the bytes of each component; on the disk they sum up to all of them."""
    items = bundle.collection
    if items.store is None:
        sizes = {"codes": items.code_bytes, "corrections": items.correction_bytes}
        sizes["vectors"] = items.bytes_per_item - sum(sizes.values())
        return {name: size * len(items) for name, size in sizes.items()}
    used: dict[str, int] = dict(items.store.bytes_by_kind())
    n_rows = sum(run.part.n_rows for run in items.runs)
    codes = min(items.code_bytes * n_rows, used["rows"])
    corrections = min(items.correction_bytes * n_rows, used["rows"] - codes)
    found = {
        "codes": codes,
        "corrections": corrections,
        "vectors": used["vectors"],
        "ids and columns": used["rows"] - codes - corrections,
        "checksums": used["checksums"],
        "derived": used["derived"] + used["tables"],
        "manifests": used["manifests"] + used["deleted"],
    }
    if folder is not None:
        files = [path for path in folder.iterdir() if path.is_file()]
        found["encoder and classes"] = sum(path.stat().st_size for path in files)
    return found


@dataclass(frozen=True)
class RecallOfBundle:
    """Recall of each way to search, as well as it can be told without queries.

    Attributes
    ----------
    estimates : tuple of RecallEstimate
        Empty where there is nothing to compare with.
    truth : str or None
        What the exact neighbours were found with: ``"vectors"`` that are kept,
        or the ``"texts"`` that were embedded again.
    reason : str or None
        Why there are no estimates.
    """

    estimates: tuple[RecallEstimate, ...] = ()
    truth: str | None = None
    reason: str | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "estimates": [each.to_dict() for each in self.estimates],
            "truth": self.truth,
            "reason": self.reason,
        }


def recall_of_bundle(bundle: Bundle, k: int = 10) -> RecallOfBundle:
    """Estimate the recall of a bundle with bounded work.

    Between 200 and 1,000 items are drawn as queries, the fewer the larger the
    collection. Where no vectors are kept, up to 100,000 texts are embedded again.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    k : int, default=10
        Neighbours that are looked for.
    """
    items = filled(bundle).collection
    truth, vectors = "vectors", None
    if items.vector_form is None:
        if not _can_read_again(bundle):
            return RecallOfBundle(
                reason="the collection keeps no vectors to compare with: build it "
                "with --keep-vectors, or ask 'fewbits recall' with a file of vectors"
            )
        truth = bundle.item_kind
    try:
        if truth != "vectors":
            vectors = bundle.features(list(items.column(str(bundle.raw_column))))
        n_features = bundle.encoder.n_features
        drawn = _WORK / max(1, len(items) * n_features)
        n_queries = int(min(max(drawn, _QUERIES[0]), _QUERIES[1]))
        found = bundle.estimate_recall(k, vectors=vectors, n_queries=n_queries)
    except FewbitsError as error:
        return RecallOfBundle(reason=str(error))
    return RecallOfBundle(found, truth)


def _can_read_again(bundle: Bundle) -> bool:
    items = bundle.collection
    is_text = bundle.item_kind == "texts" and bundle.raw_column in items.columns
    return is_text and len(items) <= _READ_AGAIN
