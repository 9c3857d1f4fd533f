"""Learning for a collection: items, features, learner, classes, metadata."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from fewbits import backbones
from fewbits._labels import as_groups, as_label_rows
from fewbits._warnings import warn_user
from fewbits.analysis.bits import diagnose_codes
from fewbits.analysis.bounds import Members, majority_codes
from fewbits.analysis.taxonomy import paths_of
from fewbits.backbones import Backbone
from fewbits.classify import Calibration, Codebook, calibrate, label_threshold
from fewbits.codes import as_codes, check_unused, pack
from fewbits.encoders import Encoder, PackedEncoder, as_features
from fewbits.errors import ArgumentError, InterruptedWarning
from fewbits.inputs import Input
from fewbits.inputs.by_hand import read_tree
from fewbits.learners import (
    LSH,
    AdditiveCodes,
    Hadamard,
    KernelMapped,
    Learner,
    Thresholding,
)
from fewbits.learners.fitting import indicator
from fewbits.ood import Rejection, learn_rejection
from fewbits.training._methods import (
    DEEP_METHODS,
    METHODS,
    PACKED,
    SUPERVISED,
    decomposed,
    make_learner,
    method_of,
    plain,
)

Progress = Callable[[int, int], None]

DEFAULT_BACKBONES = {
    "vectors": None,
    "texts": "wordllama-256",
    "images": "efficientnet-lite0-128",
}
_CLASSES = "OUiub"  # dtype kinds of labels that can be counted
_TEXT_BITS = 256  # by default: 64 find too little among texts
_SAMPLE = 10_000  # items whose codes are examined
_DATA_INDEPENDENT = (LSH, Hadamard, Thresholding)  # but for the mean
_TAKES_CODEBOOK = "llc"  # the method with class codes of its own
#: Images that two networks are compared by, those of most contrast; and how far their
#: features may differ, in parts of the largest: those of bytes, and those of floats,
#: which are rounded to bytes.
_N_COMPARED, _OF_BYTES, _OF_FLOATS = 8, 1e-3, 0.02


@dataclass(frozen=True, eq=False)
class Learnt:
    """Parts of a collection that a fit makes; `facts` are its own, others are extra."""

    encoder: Encoder
    facts: dict[str, Any]
    backbone: str | None = None
    backbone_fingerprint: str | None = None
    codebook: Codebook | None = None
    calibration: Calibration | None = None
    rejection: Rejection | None = None


def learn(
    source: Input,
    *,
    learner: Learner | str | None = None,
    n_bits: int | None = None,
    backbone: str | None = None,
    random_state: int | None = 0,
    parameters: Mapping[str, Any] | None = None,
    kernel_map: str | None = None,
    groups: Any = None,
    progress: Progress | None = None,
) -> Learnt:
    """Learn an encoder, and class codes where the learner has such: `fewbits.fit`."""
    parameters = parameters or {}
    method = learner or "itq"
    if not isinstance(method, str):
        if not isinstance(method, Learner):
            is_class = isinstance(method, type)
            came = f"give {method.__name__}()" if is_class else f"got {method!r}"
            raise ArgumentError(f"learner must be a learner or a name: {came}")
        if parameters:
            raise ArgumentError(
                "parameters are for a learner that is named: set its own"
            )
        copy: Learner = clone(method)
        if n_bits is not None:
            copy.set_params(n_bits=n_bits)
        learner, method = copy, method_of(copy)
    if parameters.get("network.backbone") is not None:
        raise ArgumentError(
            "a collection names its backbone: fit DeepHash or LLC with the module, "
            "then export_backbone, and Collection.from_learner takes both"
        )
    # Items.
    source = checked_labels(source)
    if method == PACKED:
        options = {"kernel_map": kernel_map, "backbone": backbone, "groups": groups}
        unused = {name: value for name, value in options.items() if value is not None}
        return _packed(source, n_bits, {**parameters, **unused})
    _check_groups(groups, len(source), method in DEEP_METHODS, source.labels)
    is_bytes = getattr(source.values, "dtype", None) == np.uint8
    if source.kind == "vectors" and is_bytes and not source.source.endswith(".bvecs"):
        warn_user(
            f"{source.source} holds uint8, which are learnt from as numbers from 0 to "
            "255; for codes packed into bytes the method is 'packed'"
        )
    # Backbone and learner.
    extractor = backbone_of(source, backbone)
    if not isinstance(learner, Learner):
        has_default = getattr(METHODS.get(method), "n_bits", None) is not None
        if n_bits is None and has_default and "n_bits" not in parameters:
            of_texts = source.kind == "texts" and method not in SUPERVISED
            n_bits = _TEXT_BITS if of_texts else None
        learner = make_learner(method, n_bits, random_state, parameters)
    if kernel_map is not None:
        learner = KernelMapped(learner, kernel=kernel_map)
    if method in SUPERVISED:
        _check_classes(source, method)
    # Fit.
    features = source.values
    if extractor is not None:
        features = backbones.features(extractor, source.values, progress=progress)
    sparse = getattr(features, "matrix", None)  # which some learners take, others not
    try:
        learner.fit(features if sparse is None else sparse, source.labels)
    except ArithmeticError as error:  # diverged: the last good encoder, if there is one
        if not hasattr(learner, "encoder_"):
            raise
        n_done, n_planned = len(learner.objective_), getattr(learner, "n_planned", 0)
        warning = InterruptedWarning(str(error), n_done, n_planned)
        warning.__cause__ = error
        warn_user(warning)
    _warn_of_codes(learner, features, source.labels if method in SUPERVISED else None)
    names = list(source.names) if source.names else None
    return _with_classes(learner, features, source.labels, extractor, names, groups)


def of_fitted(
    learner: Learner,
    X: Any,
    y: Any = None,
    *,
    backbone: str | None = None,
    groups: Any = None,
) -> Learnt:
    """Return what `learn` does, of a learner that the caller has fitted to X and y.

    See `fewbits.Collection.from_learner`.
    """
    check_is_fitted(learner, "encoder_")
    inner: Any = learner.learner_ if isinstance(learner, KernelMapped) else learner
    if y is not None:
        y = as_label_rows(y, "y")
    _check_same_items(inner, X, y)
    own = inner.get_params().get("network__backbone") is not None
    if own and backbone is None:
        raise ArgumentError(
            "this learner has a backbone of its own: give the id that "
            "fewbits.learners.deep.export_backbone returned for it"
        )
    extractor = None if backbone is None else backbones.load(backbone)
    if extractor is not None and extractor.n_features != learner.encoder_.n_features:
        raise ArgumentError(
            f"{backbone} makes {extractor.n_features} features, the learner takes "
            f"{learner.encoder_.n_features}"
        )
    features = inner.extract(X) if own else as_features(X, learner.n_features_in_)
    _check_groups(groups, len(features), hasattr(inner, "held_out_"), y)
    if own and extractor is not None:
        _check_same_features(extractor, X, features)
    names = getattr(learner, "feature_names_in_", None)
    names = None if names is None else names.tolist()
    return _with_classes(learner, features, y, extractor, names, groups)


def _with_classes(
    learner: Learner,
    features: Any,
    labels: Any,
    extractor: Backbone | None,
    names: list[str] | None,
    groups: Any,
) -> Learnt:
    """Return the encoder with what is to be known of the fit, and of its classes."""
    # Class codes are those learnt for the classes, or the centres that the loss pulls
    # their items to, or else the bitwise majority of the codes of the items that it was
    # trained on. The rows that it held out calibrate probabilities; with several labels
    # an item they set the score thresholds. All rows teach rejection, unless their
    # features were trained on the classes: such a backbone would make new ones look too
    # far.
    inner: Any = learner.learner_ if isinstance(learner, KernelMapped) else learner
    method = method_of(inner)
    facts: dict[str, Any] = {
        "method": method,
        "parameters": plain(decomposed(method, inner)),
        "trained_on": len(features),
    }
    if names is not None:
        facts["feature_names"] = names
    if inner is not learner:
        facts["kernel_map"] = learner.get_params()["kernel"]
    # What a word such as 'validated' left to the learner.
    words = [k for k, v in learner.get_params(deep=False).items() if isinstance(v, str)]
    chosen = {name: getattr(learner, f"{name}_", None) for name in words}
    chosen = {name: x for name, x in chosen.items() if isinstance(x, int | float)}
    if chosen:
        facts["chosen"] = chosen
    book, calibration, rejection = None, None, None
    if hasattr(inner, "held_out_"):
        held_out = inner.held_out_
        make = getattr(inner, "codebook_of_classes", None)
        book = None if make is None else make()
        if book is None:
            book = _majorities(learner, features, labels, held_out)
        if hasattr(inner, "n_repaired_"):
            facts["repaired_classes"] = int(inner.n_repaired_)
        several = np.ndim(labels) > 1
        if several:
            facts["several_labels"] = True
        else:
            net = inner.network
            has_backbone = net is not None and net.backbone is not None
            trained = has_backbone and net.trainable != 0
            if not trained and len(np.unique(labels)) > 1:
                rejection = learn_rejection(features, labels, groups=groups)
        if len(held_out):
            scores = learner.encoder_.project(features[held_out])
            if several:
                Y = indicator(labels, features, type(learner).__name__)[1]
                truth = Y[held_out].toarray()
                facts["label_threshold"] = label_threshold(book, scores, truth)
            else:
                calibration = calibrate(book, scores, np.asarray(labels)[held_out])
    encoder = learner.encoder_
    if names is not None and extractor is None:
        encoder = encoder.with_feature_names(names)
    return Learnt(
        encoder,
        facts,
        None if extractor is None else extractor.id,
        None if extractor is None else extractor.fingerprint,
        book,
        calibration,
        rejection,
    )


def _majorities(learner: Any, features: Any, labels: Any, held_out: Any) -> Codebook:
    """Return the majority of each class among the items that were not held out."""
    encoder = learner.encoder_
    classes, Y = indicator(labels, features, type(learner).__name__)
    pairs = Y.tocsc()
    numbers = np.repeat(np.arange(len(classes)), np.diff(pairs.indptr))
    trained = ~np.isin(pairs.indices, held_out)
    sizes = np.bincount(numbers[trained], minlength=len(classes))
    counted = trained | (sizes[numbers] == 0)
    members = Members(classes, numbers[counted], pairs.indices[counted])
    codes = majority_codes(encoder.encode(features), encoder.n_bits, members)
    book = Codebook(codes, encoder.n_bits, classes)
    if book.n_unique < len(book):
        warn_user(
            f"{len(book)} classes have {book.n_unique} different codes: no decoder can "
            "tell those apart that share one; longer codes or more training may"
        )
    return book


def _packed(source: Input, n_bits: int | None, parameters: Mapping[str, Any]) -> Learnt:
    if parameters:
        raise ArgumentError(f"{PACKED} has no parameter {next(iter(parameters))!r}")
    dtype = getattr(source.values, "dtype", None)
    if source.kind != "vectors" or dtype != np.uint8:
        hint = (
            "; of sentence-transformers take precision='ubinary'"
            if dtype == np.int8
            else ""
        )
        raise ArgumentError(
            f"packed codes are a matrix of uint8, as numpy.packbits makes; "
            f"{source.source} holds {dtype or source.kind}{hint}"
        )
    n_bytes = source.values.shape[1]
    n_bits = 8 * n_bytes if n_bits is None else n_bits
    if not 8 * n_bytes - 8 < n_bits <= 8 * n_bytes:
        raise ArgumentError(
            f"codes of {n_bytes} bytes have {8 * n_bytes - 7} to {8 * n_bytes} bits, "
            f"got {n_bits}"
        )
    check_unused(as_codes(source.values, n_bits=n_bits), n_bits, "codes")
    return Learnt(PackedEncoder(n_bits), {"method": PACKED})


def features_of(
    source: Input, backbone: str | None, progress: Progress | None = None
) -> Any:
    extractor = backbone_of(source, backbone)
    if extractor is None:
        return source.values
    return backbones.features(extractor, source.values, progress=progress)


def backbone_of(source: Input, backbone: str | None) -> Backbone | None:
    name = backbone or DEFAULT_BACKBONES[source.kind]
    if source.kind == "vectors" and name is not None:
        raise ArgumentError(f"vectors need no backbone, got {name!r}")
    extractor = None if name is None else backbones.load(name)
    if extractor is not None and extractor.kind != source.kind:
        raise ArgumentError(
            f"{name} takes {extractor.kind}, but {source.source} holds {source.kind}"
        )
    return extractor


def checked_labels(source: Input) -> Input:
    """Return items whose labels, if any, are classes or rows of 0 and 1."""
    if source.labels is None:
        return source
    rows = as_label_rows(source.labels, f"labels of {source.source}", n=len(source))
    return replace(source, labels=rows)


def check_labelled(source: Input, method: str) -> None:
    if source.labels is None:
        raise ArgumentError(
            f"{method} learns from labels, and {source.source} comes without: "
            f"{source.labels_hint()}"
        )


def _check_classes(source: Input, method: str) -> None:
    """Refuse labels that are not classes; warn of those that hardly are."""
    check_labelled(source, method)
    labels = np.asarray(source.labels)
    if labels.ndim != 1 or labels.dtype.kind not in _CLASSES:
        return  # rows of 0 and 1; learners refuse the others
    sizes = np.unique(labels, return_counts=True)[1]
    n_classes = len(sizes)
    if n_classes == 1:
        raise ArgumentError(
            f"{method} needs at least 2 classes, and all labels of {source.source} are "
            "the same"
        )
    if n_classes == len(labels):
        raise ArgumentError(
            f"the labels of {source.source} are all different: classes are learnt from "
            "labels that several items have"
        )
    if np.sum(sizes == 1) > n_classes / 2:
        warn_user(
            f"{source.source} has {n_classes:,} classes for {len(labels):,} items: "
            "most classes have a single item to learn from"
        )


def _check_groups(groups: Any, n: int, deep: bool, labels: Any) -> None:
    """Refuse groups that are not one for each item, or where none reject."""
    if groups is None:
        return
    if not deep or np.ndim(labels) != 1:
        raise ArgumentError(
            "groups are for rejection, which deep methods learn from items of one "
            "class each: leave the groups out"
        )
    as_groups(groups, n)


def _warn_of_codes(learner: Any, features: Any, labels: Any) -> None:
    """Warn of defects of the codes of a sample of the training items."""
    encoder = learner.encoder_
    inner = getattr(learner, "learner_", learner)  # behind a kernel map
    is_plain = isinstance(inner, AdditiveCodes) and not inner.correction
    if is_plain and inner.n_bits < inner.n_features_in_:
        warn_user(
            f"{inner.n_bits:,} bits for {inner.n_features_in_:,} features: additive "
            "codes are at their best with a bit per feature or more; another method "
            "may find more ('fewbits compare')"
        )
    n_classes = None
    if labels is not None:
        several = getattr(labels, "ndim", 1) > 1
        n_classes = int(labels.shape[1]) if several else len(np.unique(labels))
    learns = getattr(inner, "learn", not isinstance(inner, _DATA_INDEPENDENT))
    if learns and encoder.n_bits > len(features):
        warn_user(
            f"{encoder.n_bits:,} bits are learnt from {len(features):,} rows: bits "
            "beyond the number of rows repeat others or are random; give more rows or "
            "fewer bits"
        )
    rows = np.arange(len(features))
    if len(rows) > _SAMPLE:
        drawn = np.random.default_rng(0).choice(len(rows), _SAMPLE, replace=False)
        rows = np.sort(drawn)
    codes = encoder.encode(features[rows])
    # Learners that count constant bits warn of them themselves.
    counted = hasattr(learner, "n_dead_bits_")
    for sentence in diagnose_codes(
        codes, encoder.n_bits, n_classes, constant_bits=not counted
    ):
        warn_user(f"among the codes of training items, {sentence}")


def _check_same_items(learner: Any, X: Any, y: Any) -> None:
    """Refuse labels that a fitted learner cannot have learnt from."""
    held_out = getattr(learner, "held_out_", None)
    if y is None:
        if held_out is not None or learner.needs_labels:
            name = type(learner).__name__
            raise ArgumentError(f"{name} was fitted to labels: give them too")
        return
    n, n_labels = (shape[0] if shape else 0 for shape in (np.shape(X), np.shape(y)))
    if n_labels != n:
        raise ArgumentError(f"{n} items have {n_labels} labels")
    classes = getattr(learner, "classes_", None)
    if classes is not None and y.ndim == 1 and set(classes) != set(y):
        raise ArgumentError("the labels are of other classes than those of the learner")
    if held_out is not None and len(held_out) and held_out.max() >= n:
        raise ArgumentError(
            f"the learner was fitted to more than {n} items: give all of them"
        )


def _check_same_features(extractor: Backbone, X: Any, features: Any) -> None:
    """Refuse a backbone other than the learner's, or with other preprocessing."""
    # Compares features of a few images if X holds their pixels, from 0 to 255 or from 0
    # to 1. Normalised images cannot be inverted and are not compared.
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


def class_codes_for(
    codebook: Codebook | str | Path,
    source: Input,
    method: str = _TAKES_CODEBOOK,
    *,
    n_bits: int | None = None,
    random_state: int | None = 0,
) -> Codebook:
    """Return codes for the classes of labels, by their names: LLC's `codebook`."""
    # From the class codes of another collection; or from a .json file with a tree: then
    # classes whose paths are alike get codes that are near each other.
    if method != _TAKES_CODEBOOK:
        raise ArgumentError(f"a codebook is for {_TAKES_CODEBOOK}, not for {method}")
    check_labelled(source, method)
    classes = indicator(source.labels, source.values, method)[0]
    if not isinstance(codebook, Codebook):
        from fewbits.learners.deep.centres import hierarchy_vectors, semantic_centres

        labels = [str(name) for name in classes.tolist()]
        groups = paths_of(read_tree(codebook), labels)
        paths = [(*above, name) for above, name in zip(groups, labels, strict=True)]
        if n_bits is None:
            n_bits = 2 * max(1, (len(labels) - 1).bit_length())  # as LLC has it
        centres = semantic_centres(
            hierarchy_vectors(paths), n_bits, random_state=random_state
        )
        return Codebook(pack(np.asarray(centres) > 0), n_bits, classes)
    if n_bits not in (None, codebook.n_bits):
        raise ArgumentError(
            f"the class codes have {codebook.n_bits} bits, not {n_bits}"
        )
    book = _named_alike(codebook, classes)
    names = set(book.names.tolist())
    missing = [name for name in classes.tolist() if name not in names]
    if missing:
        raise ArgumentError(
            f"there are no codes for {len(missing)} of {len(classes)} classes, such as "
            f"{missing[0]!r}"
        )
    return book


def _named_alike(book: Codebook, classes: Any) -> Codebook:
    """Return a codebook whose names have the type of the classes: text or integers."""
    names = book.names.tolist()
    kinds = {type(name) for name in classes.tolist()}
    if kinds == {str}:
        names = [str(name) for name in names]
    elif kinds == {int} and all(
        type(name) is int or (isinstance(name, str) and name.isdecimal())
        for name in names
    ):
        names = [int(name) for name in names]
    if len(set(names)) < len(book):  # "1" and "01"
        return book
    return Codebook(book.codes, book.n_bits, names)
