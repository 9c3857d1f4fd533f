"""Settings of the training of deep learners, and of their networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn

from fewbits.errors import ArgumentError
from fewbits.learners._core._parameters import (
    POSITIVE,
    USUAL,
    Config,
    Interval,
    check_integers,
    words,
)

_HIDDEN = 512


@dataclass(kw_only=True, repr=False, eq=False)
class TrainingConfig(Config):
    """Settings of the training of a network.

    Parameters
    ----------
    max_epochs : int, default=100
        Number of epochs.
    batch_size : int, default=64
        Items of a step.
    learning_rate : float, default=1e-3
        Learning rate of AdamW, with a cosine decay to 0.
    weight_decay : float, default=0.0
        Of AdamW: the share of the learning rate by which weights shrink in each step.
    backbone_rate : float, default=0.1
        Learning rate of the backbone as a share of the head's.
    validation : float, default=0.1
        Share of each class that is held out, or of all items if some have several
        labels; at least one item of each label is trained on. Held-out items choose
        the epoch that is kept: by their mAP as queries (see `validation_base`), for
        `LLC` by their accuracy. 0 holds out none and keeps the last epoch.
    validation_base : {"trained", "held_out"}, default="trained"
        What held-out queries search for their mAP: the items that are trained on, or
        each half of the held-out items the other half. Choose "held_out" if you will
        search mostly items that are not trained on: the epoch that ranks trained items
        best is often too late for others.
    eval_every : int, default=1
        Evaluate the codes (the bound, and mAP of held-out items) every so many epochs,
        and after the last. Only evaluated epochs can be kept. 0 never evaluates.
    mixed_precision : bool, default=False
        Compute in 16 bits where torch considers that safe (autocast): faster on a GPU.

    Examples
    --------
    >>> from fewbits.learners.deep import DeepHash
    >>> DeepHash(64).set_params(training__batch_size=128).training
    TrainingConfig(batch_size=128)
    """

    max_epochs: int = 100
    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    backbone_rate: float = 0.1
    validation: float = 0.1
    validation_base: str = "trained"
    eval_every: int = 1
    mixed_precision: bool = False

    constraints: ClassVar = {
        "max_epochs": USUAL["n_iter"],
        "batch_size": [Interval(int, 2)],
        "learning_rate": POSITIVE,
        "weight_decay": [Interval(float, 0)],
        "backbone_rate": [Interval(float, 0)],
        "validation": [Interval(float, 0, 0.9)],
        "validation_base": [words("trained", "held_out")],
        "eval_every": [Interval(int, 0)],
        "mixed_precision": ["boolean"],
    }


@dataclass(kw_only=True, repr=False, eq=False)
class NetworkConfig(Config):
    """Settings of the network: a backbone, or none, and a head.

    Parameters
    ----------
    hidden : sequence of int or None, default=None
        Widths of hidden layers between features and bits; () makes a linear map. None
        is one of 512 without a backbone, and () behind one.
    dropout : float or None, default=None
        In front of each layer but the first, of which `hidden` must make some; None is
        0.5 where there are any, but 0 for DCH, which ranks better so.
    bias : bool, default=True
        Whether the last layer has a constant.
    standardize : bool, default=True
        Scale features to mean 0 and variance 1 first; folded into the encoder. A
        backbone's features are taken as they are.
    backbone : torch.nn.Module or None, default=None
        Makes features of items; None takes X as features. It is trained in place: a
        second `fit` goes on from the first. It sees items as float32, and integers that
        it refuses so, such as tokens to embed, as int64. Of images as uint8 (n, 3, h,
        w), such as `fewbits.backbones.pixels` gives, it sees numbers from 0 to 1.
        Normalise them inside of it, or give normalised float32 X and the same ``mean``
        and ``std`` to `export_backbone` afterwards.
    trainable : int or None, default=None
        How many of the backbone's last layers with parameters are trained; None trains
        all. What is in front of them runs as in inference, without dropout, random
        crops or new statistics. 0 keeps the whole backbone; its features are then made
        once, not in every epoch.
    """

    hidden: Sequence[int] | None = None
    dropout: float | None = None
    bias: bool = True
    standardize: bool = True
    backbone: Any = None
    trainable: int | None = None

    constraints: ClassVar = {
        "dropout": [Interval(float, 0, 0.99), None],
        "bias": ["boolean"],
        "standardize": ["boolean"],
        "trainable": [Interval(int, 0), None],
    }

    def check(self) -> None:
        if self.hidden is not None:
            check_integers("network.hidden", self.hidden)
        if self.backbone is not None and not isinstance(self.backbone, nn.Module):
            raise ArgumentError(
                "network.backbone must be a torch module or None, "
                f"got {self.backbone!r}"
            )
        if self.trainable is not None and self.backbone is None:
            raise ArgumentError(
                f"network.trainable={self.trainable}, but network.backbone is None"
            )
        if self.dropout and not self.widths:
            raise ArgumentError(
                f"network.dropout={self.dropout} needs layers in network.hidden, "
                "but it has none"
            )

    @property
    def widths(self) -> list[int]:
        if self.hidden is None:
            return [_HIDDEN] if self.backbone is None else []
        return list(self.hidden)


@dataclass(kw_only=True, repr=False, eq=False)
class CodebookConfig(Config):
    """Settings of phase 1 of `LLC`, which learns the class codes.

    Parameters
    ----------
    max_epochs : int, default=50
        Epochs of phase 1.
    learning_rate : float, default=1e-2
        Of the codebook itself.
    label_smoothing : float, default=0.1
        Share of the target probability that is spread evenly over all classes, as in
        `torch.nn.CrossEntropyLoss`. Without effect on multi-label items.
    init : {"svd", "cca", "predictable", "semantic"} or None, default=None
        Start of the codebook: the SVD of a linear classifier, CCA of features and
        labels, codes that are predictable or semantic (see `LLC`), or None for random
        numbers. Bits beyond the directions of "svd" and "cca" are random, too. With a
        `learning_rate` of 1e-3, "predictable" keeps like classes near.
    nested_bits : sequence of int, default=()
        Lengths at which the first bits must form a codebook, too (nested codes); each
        at least ``log2(n_classes)``.
    similarity_weight : float, default=0.0
        Weight of a second loss, which gives like classes near codes: cosines of class
        codes, relaxed by tanh, shall be those of the centred means of the classes'
        features. At 0.1 the tree of classes that codes make comes near that of the
        means (`fewbits.analysis.taxonomy`), at .01 to .02 of accuracy.
    """

    max_epochs: int = 50
    learning_rate: float = 1e-2
    label_smoothing: float = 0.1
    init: str | None = None
    nested_bits: Sequence[int] = ()
    similarity_weight: float = 0.0

    constraints: ClassVar = {
        "max_epochs": [Interval(int, 1)],
        "learning_rate": POSITIVE,
        "label_smoothing": [Interval(float, 0, 0.99)],
        "init": [words("svd", "cca", "predictable", "semantic"), None],
        "nested_bits": check_integers,
        "similarity_weight": [Interval(float, 0)],
    }
