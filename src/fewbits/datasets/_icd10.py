"""ICD-10-CM: every billable diagnosis, with its place in the hierarchy."""

import warnings
from typing import Any

import numpy as np

from fewbits._extras import missing_extra
from fewbits.datasets._base import Dataset


def load_icd10() -> Dataset:
    """Return the diagnoses of ICD-10-CM, the leaves of the classification.

    Twelve leaves of the package's tree are ranges of codes, not diagnoses; they are
    left out. Some descriptions occur more than once.

    Returns
    -------
    Dataset
        Items are the descriptions, keys the codes; labels are ``chapter``, ``block``
        and ``category`` (the three-character code).

    Raises
    ------
    MissingExtraError
        When the package that holds the classification is not installed.
    """
    icd = _package()
    leaves = [code for code in icd.get_all_codes() if icd.is_leaf(code)]
    codes = [code for code in leaves if icd.is_category_or_subcategory(code)]
    lines = [icd.get_ancestors(code) for code in codes]
    return Dataset(
        name="icd10",
        kind="texts",
        items=[icd.get_description(code) for code in codes],
        keys=codes,
        labels={
            "chapter": np.array([icd.get_description(line[-1]) for line in lines]),
            "block": np.array([line[-2] for line in lines]),
            "category": np.array([code[:3] for code in codes]),
        },
        source="package simple-icd-10-cm",
        licence="public domain (classification), MIT (package)",
    )


def _package() -> Any:
    try:
        with warnings.catch_warnings():
            # It reads its tables through a deprecated function of the library.
            warnings.simplefilter("ignore", DeprecationWarning)
            import simple_icd_10_cm
    except ImportError:
        what = "ICD-10-CM comes with the package simple-icd-10-cm"
        raise missing_extra(what, "text") from None
    return simple_icd_10_cm
