"""Learn an encoder from items of any kind."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fewbits import backbones, learners
from fewbits._warnings import warn_user
from fewbits.backbones import Backbone
from fewbits.bundle import Bundle
from fewbits.encoders import KERNELS
from fewbits.errors import ArgumentError, InterruptedWarning
from fewbits.inputs import Input, read
from fewbits.learners import Learner
from fewbits.training._alarms import (
    check_classes,
    check_groups,
    check_labelled,
    check_two_classes,
    checked_labels,
    warn_of_bytes,
    warn_of_codes,
    warn_of_few_bits,
)
from fewbits.training._assemble import assembled, plain
from fewbits.training._methods import (
    DEEP_METHODS,
    PACKED,
    SUPERVISED,
    decomposed,
    make_learner,
)
from fewbits.training._packed import of_packed

Progress = Callable[[int, int], None]

#: Number of images that visual words of classic descriptors are learnt from.
_WORDS_FROM = 500

DEFAULT_BACKBONES = {
    "vectors": None,
    "texts": "wordllama-256",
    "images": "efficientnet-lite0-128",
}


def fit_bundle(
    source: Any,
    *,
    method: str = "itq",
    n_bits: int | None = None,
    backbone: str | None = None,
    random_state: int | None = 0,
    parameters: Mapping[str, Any] | None = None,
    kernel_map: str | None = None,
    remember: Mapping[str, Any] | None = None,
    groups: Any = None,
    progress: Progress | None = None,
) -> Bundle:
    """Learn an encoder from `source` and return its bundle.

    The bundle of a deep method also classifies, by the codes or centres that it has
    for classes or by the bitwise majority of the codes of their items. Held-out items
    (`validation`) also calibrate the probabilities of classes or, for multi-label
    items, set the score thresholds of labels; after `refit` no items are held out.

    The features of image files are cached on disk, see `fewbits.backbones.features`: in
    the folder ``FEWBITS_CACHE`` or the user's cache folder, which may be deleted at any
    time.

    Parameters
    ----------
    source : Input, or what `fewbits.inputs.read` takes
        Items to learn from; labels are used by methods that need them.
    method : str, default="itq"
        A key of `METHODS`, one of `DEEP_METHODS`, which need torch, or "packed" for
        vectors that are binary codes already.
    n_bits : int, default=None
        Length of the codes; the method's own default when not given.
    backbone : str, default=None
        Id of a backbone; by default one that fits the kind of the items. ``classic``
        learns its visual words from the images, if no vocabulary is installed.
    random_state : int, default=0
    parameters : mapping, default=None
        Other parameters of the method.
    kernel_map : {'intersection', 'chi2', 'js'}, default=None
        Learn from the output of `fewbits.learners.HomogeneousKernelMap`: for
        non-negative features such as histograms.
    remember : mapping, default=None
        Further entries for the bundle's metadata, such as
        `fewbits.training.tuning.Configuration.search_info`.
    groups : array-like of shape (n,), default=None
        The same for items that are copies of each other, such as augmentations of an
        image or frames of a video: calibration of rejection leaves them out together,
        see `fewbits.ood.learn_rejection`. For deep methods and one class an item.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted; learning
        itself reports to `fewbits.learners.fitting.on_progress`.

    Warns
    -----
    UserWarning
        When vectors are bytes, which may be packed codes, most classes have a single
        item, classes share a code, additive codes have fewer bits than features, or
        `fewbits.analysis.bits.diagnose_codes` finds defects in the codes of a sample of
        the items.
    InterruptedWarning
        When the learner was interrupted, or diverged (NaN or infinity), after a
        first epoch: the bundle holds the last good encoder.

    Raises
    ------
    ArgumentError
        When the method, one of its parameters or the kernel is unknown, labels are
        missing or all different, or groups are not one for each item, or of no use.
    FeatureError
        When there is nothing to learn from, or a kernel map meets negative features.
    """
    if (parameters or {}).get("network.backbone") is not None:
        raise ArgumentError(
            "a bundle names its backbone: fit DeepHash or LLC with the module, then "
            "export_backbone, and fewbits.training.bundle_of makes a bundle of both"
        )
    if not isinstance(source, Input):
        source = read(source, columns=())
    source = checked_labels(source)
    if method == PACKED:
        unused = {"kernel_map": kernel_map, "backbone": backbone, "groups": groups}
        given = {name: value for name, value in unused.items() if value is not None}
        return of_packed(source, n_bits, {**(parameters or {}), **given}, remember)
    check_groups(groups, len(source), method in DEEP_METHODS, source.labels)
    warn_of_bytes(source)
    extractor = backbone_of(source, backbone, progress)
    learner = make_learner(method, n_bits, random_state, parameters or {})
    spelled = plain(decomposed(method, learner))
    facts: dict[str, Any] = {"method": method, "parameters": spelled}
    if source.names:
        facts["feature_names"] = list(source.names)
    if kernel_map is not None:
        learner = _behind_kernel_map(learner, kernel_map)
        facts["kernel_map"] = kernel_map
    used = source.labels if method in SUPERVISED else None
    if method in SUPERVISED:
        check_labelled(source, method)
        check_two_classes(source, method)
        check_classes(source)
    features = _extracted(source, extractor, progress)
    _fit(learner, features, source.labels)
    warn_of_few_bits(learner)
    # Learners that count constant bits warn of them themselves.
    counted = hasattr(learner, "n_dead_bits_")
    warn_of_codes(learner.encoder_, features, used, constant_bits=not counted)
    return assembled(
        learner,
        features,
        source.labels,
        extractor,
        {**facts, **(remember or {})},
        groups,
    )


def _fit(learner: Learner, features: Any, labels: Any) -> None:
    """Fit; if training diverges, keep the last good encoder."""
    try:
        learner.fit(features, labels)
    except ArithmeticError as error:
        if not hasattr(learner, "encoder_"):
            raise
        n_done, n_planned = len(learner.objective_), getattr(learner, "n_planned", 0)
        warning = InterruptedWarning(str(error), n_done, n_planned)
        warning.__cause__ = error
        warn_user(warning)


def features_of(
    source: Input, backbone: str | None, progress: Progress | None = None
) -> Any:
    """Return the features that `fit_bundle` would learn from."""
    return _extracted(source, backbone_of(source, backbone, progress), progress)


def backbone_of(
    source: Input, backbone: str | None, progress: Progress | None = None
) -> Backbone | None:
    """Return the backbone of the items, None where they are features."""
    name = backbone or DEFAULT_BACKBONES[source.kind]
    if source.kind == "vectors" and name is not None:
        raise ArgumentError(f"vectors need no backbone, got {name!r}")
    if (name, source.kind) == ("classic", "images") and not _vocabularies():
        return _learnt_words(source.values, progress)
    extractor = None if name is None else backbones.load(name)
    if extractor is not None and extractor.kind != source.kind:
        raise ArgumentError(
            f"{name} takes {extractor.kind}, but {source.source} holds {source.kind}"
        )
    return extractor


def _vocabularies() -> list[str]:
    return [name for name in backbones.available() if name.startswith("classic-")]


def _learnt_words(images: Any, progress: Progress | None) -> Backbone:
    """Return classic descriptors with visual words learnt from a sample of images."""
    rows = np.random.default_rng(0).permutation(len(images))[:_WORDS_FROM]
    sample = [images[row] for row in np.sort(rows).tolist()]
    return backbones.ClassicDescriptors.learn(sample, progress=progress)


def _extracted(
    source: Input, extractor: Backbone | None, progress: Progress | None
) -> Any:
    if extractor is None:
        return source.values
    return backbones.features(extractor, source.values, progress=progress)


def _behind_kernel_map(learner: Learner, kernel: str) -> Learner:
    if kernel not in KERNELS:
        raise ArgumentError(f"no kernel map {kernel!r}; known are {', '.join(KERNELS)}")
    return learners.KernelMapped(learner, kernel=kernel)
