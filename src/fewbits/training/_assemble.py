"""Assembly of a bundle from a fitted learner and its classes."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewbits import backbones
from fewbits._labels import as_label_rows
from fewbits.backbones import Backbone
from fewbits.bundle import Bundle, Metadata
from fewbits.encoders import as_features
from fewbits.errors import ArgumentError
from fewbits.learners import KernelMapped, Learner
from fewbits.training._alarms import check_groups
from fewbits.training._classes import classes_of
from fewbits.training._methods import PYTHON_ONLY, decomposed, method_of

#: Images that two networks are compared by, those of most contrast; and how far their
#: features may differ, in parts of the largest: those of bytes, and those of floats,
#: which are rounded to bytes.
_N_COMPARED, _OF_BYTES, _OF_FLOATS = 8, 1e-3, 0.02


def bundle_of(
    learner: Learner,
    X: Any,
    y: Any = None,
    *,
    backbone: str | None = None,
    groups: Any = None,
) -> Bundle:
    """Make a bundle of a learner that you have fitted yourself.

    As from `fit_bundle`, a deep learner's bundle also classifies and rejects. For a
    network that was trained along, `backbone` is the id that
    `fewbits.learners.deep.export_backbone` returned; using the bundle does not need
    torch.

    Parameters
    ----------
    learner : Learner
        After ``fit(X, y)``.
    X : array-like of shape (n, ...)
        Training data of the learner: features, or items for its own backbone.
    y : array-like of shape (n,) or (n, n_labels), default=None
        Training labels of the learner; deep learners need them.
    backbone : str, default=None
        Id of the backbone that extracts the features; None when the bundle is
        to take features. A learner with a backbone of its own needs one.
    groups : array-like of shape (n,), default=None
        The same for items that are copies of each other; calibration of rejection
        leaves them out together, see `fewbits.ood.learn_rejection`.

    Raises
    ------
    ArgumentError
        When labels or a backbone are missing or unknown, labels or groups are not for
        each item, labels of other classes than the learner was fitted to, or the
        backbone makes another number of features than it takes, or other features of
        some of the images (of 0 to 255, or of 0 to 1: normalised ones are not
        compared), or all images are black.
    FeatureError
        When X is not a matrix with the learner's number of features.
    NotFittedError
        When the learner is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners.deep import DeepHash, TrainingConfig
    >>> y = np.repeat(["one", "two"], 40)
    >>> X = np.random.default_rng(0).normal(size=(80, 8)) + (y == "two")[:, None]
    >>> training = TrainingConfig(max_epochs=5)
    >>> learner = DeepHash(8, training=training, random_state=0).fit(X, y)
    >>> bundle = bundle_of(learner, X, y)
    >>> len(bundle.codebook)
    2
    """
    check_is_fitted(learner, "encoder_")
    inner: Any = learner.learner_ if isinstance(learner, KernelMapped) else learner
    if y is not None:
        y = as_label_rows(y, "y")
    _check_labels(inner, X, y)
    own = inner.get_params().get("network__backbone") is not None
    if own and backbone is None:
        raise ArgumentError(
            "this learner has a backbone of its own: give the id that "
            "fewbits.learners.deep.export_backbone returned for it"
        )
    extractor = None if backbone is None else _suitable(learner, backbone)
    features = inner.extract(X) if own else as_features(X, learner.n_features_in_)
    check_groups(groups, len(features), hasattr(inner, "held_out_"), y)
    if own and extractor is not None:
        _check_same_features(extractor, X, features)
    method = method_of(inner)
    given = decomposed(method, inner)
    facts = {"method": method, "parameters": plain(given)}
    if hasattr(learner, "feature_names_in_"):
        facts["feature_names"] = learner.feature_names_in_.tolist()
    if inner is not learner:
        facts["kernel_map"] = learner.get_params()["kernel"]
    return assembled(learner, features, y, extractor, facts, groups)


def assembled(
    learner: Learner,
    features: Any,
    labels: Any,
    extractor: Backbone | None,
    facts: Mapping[str, Any],
    groups: Any = None,
) -> Bundle:
    """Return the bundle of a fitted learner, and of the features it was fitted to."""
    found = classes_of(learner, features, labels, groups)
    facts = {**facts, **chosen_of(learner), **found.facts, "trained_on": len(features)}
    return Bundle(
        learner.encoder_,
        backbone=None if extractor is None else extractor.id,
        backbone_fingerprint=None if extractor is None else extractor.fingerprint,
        metadata=metadata_of(facts),
        codebook=found.codebook,
        calibration=found.calibration,
        rejection=found.rejection,
    )


def chosen_of(learner: Learner) -> dict[str, Any]:
    """Return the numbers that a learner chose where a word asked it to, by name."""
    asked = [k for k, v in learner.get_params(deep=False).items() if isinstance(v, str)]
    found = {name: getattr(learner, f"{name}_", None) for name in asked}
    numbers = {name: x for name, x in found.items() if isinstance(x, int | float)}
    return {"chosen": numbers} if numbers else {}


def metadata_of(facts: Mapping[str, Any]) -> Metadata:
    """Return facts as metadata: those that are none of its fields are extra."""
    names = {each.name for each in fields(Metadata)}
    known = {name: value for name, value in facts.items() if name in names}
    extra = {name: value for name, value in facts.items() if name not in names}
    extra |= known.pop("extra", {})
    return Metadata(**known, extra=extra)


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters to store in a bundle, without files of this fit."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in map(_builtin, parameters.items())
        if name not in ("checkpoint", *PYTHON_ONLY) and _is_plain(value)
    }


def _builtin(item: tuple[str, Any]) -> tuple[str, Any]:
    name, value = item
    return name, value.item() if isinstance(value, np.generic) else value


def _is_plain(value: Any) -> bool:
    """Return whether a value is short: a scalar, or a few numbers."""
    if isinstance(value, list | tuple):
        return all(isinstance(each, int | float) for each in value)
    return isinstance(value, bool | int | float | str | None)


def _suitable(learner: Any, backbone: str) -> Backbone:
    """Return a backbone whose features a learner's encoder takes."""
    extractor = backbones.load(backbone)
    wanted, made = learner.encoder_.n_features, extractor.n_features
    if made != wanted:
        raise ArgumentError(
            f"{backbone} makes {made} features, the learner takes {wanted}"
        )
    return extractor


def _check_same_features(extractor: Backbone, X: Any, features: Any) -> None:
    """Refuse a backbone other than the learner's, or with other preprocessing.

    Compares features of a few images if X holds their pixels, from 0 to 255 or from 0
    to 1. Normalised images cannot be inverted and are not compared.
    """
    if np.ndim(X) != 4 or np.shape(X)[1] != 3:
        return
    images = np.asarray(X)
    low, high = (np.float64(f(images, axis=(1, 2, 3))) for f in (np.min, np.max))
    if low.min() < 0 or high.max() > 255:
        return
    if not high.max():
        raise ArgumentError(
            "all images are black, which shows nothing of the scale that the network "
            "of this learner takes: give those that it was fitted to"
        )
    # Any scale leaves black images black; contrast shows where networks differ.
    rows = np.lexsort((-high, low - high))[:_N_COMPARED]
    are_bytes = images.dtype.kind in "iu"
    scale = 1 if are_bytes or high.max() > 1 else 255
    pixels = np.rint(scale * images[rows]).astype(np.uint8)
    made = extractor.extract([image.transpose(1, 2, 0) for image in pixels])
    expected = features[rows]
    most = (_OF_BYTES if are_bytes else _OF_FLOATS) * np.abs(expected).max()
    if not np.abs(made - expected).max() <= most:  # nor are NaN alike
        raise ArgumentError(
            f"{extractor.id} makes other features of these images than the network of "
            "this learner: export that one, for images of this size, and with the mean "
            "and std, or the scale, that they have"
        )


def _check_labels(learner: Any, X: Any, y: Any) -> None:
    held_out = getattr(learner, "held_out_", None)
    if y is None:
        if held_out is not None or learner.needs_labels:
            name = type(learner).__name__
            raise ArgumentError(f"{name} was fitted to labels: give them too")
        return
    n, n_labels = (each[0] if each else 0 for each in (np.shape(X), np.shape(y)))
    if n_labels != n:
        raise ArgumentError(f"{n} items have {n_labels} labels")
    known = getattr(learner, "classes_", None)
    if known is not None and y.ndim == 1 and set(known) != set(y):
        raise ArgumentError("the labels are of other classes than those of the learner")
    if held_out is not None and len(held_out) and held_out.max() >= n:
        raise ArgumentError(
            f"the learner was fitted to more than {n} items: give all of them"
        )
