"""Base of the learners of deep codes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import nn

from fewbits._arrow import as_array
from fewbits._typing import Array, CodeArray
from fewbits.classify import Codebook
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, DivergedError, FeatureError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._iterative import (
    Checkpoint,
    check_repeatable,
    data_checksum,
    report,
    warn_of_interrupt,
)
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import USUAL, Config
from fewbits.learners.deep._config import NetworkConfig, TrainingConfig
from fewbits.learners.deep._network import (
    MOST_BYTES,
    HashNetwork,
    Head,
    Items,
    as_device,
    deterministic,
    device_of,
    frozen_layers,
    learn_standardize,
    parts_of,
    probe_backbone,
    reproducible,
    still_modules,
    undisturbed,
)
from fewbits.learners.deep._posterior import Control
from fewbits.learners.deep._trainer import (
    Callback,
    Classify,
    Evaluator,
    Objective,
    Problem,
    Trainer,
    split_off,
)
from fewbits.learners.deep.centres import unique
from fewbits.learners.deep.losses import Loss, LossContext, Targets
from fewbits.learners.deep.losses._centres import CodebookLoss

_CENTRE_EPOCHS = 50  # as many as LLC's
_SHOWN = {"accuracy": "accuracy", "map": "mAP", "bound": "bound"}
#: With fewer held-out items, their mAP is too noisy to tell that nothing was learnt.
_FEWEST_ITEMS = 50


@dataclass(kw_only=True, eq=False, repr=False)
class DeepLearner(Learner):
    """A learner that trains a network, whose head is the encoder, by gradients.

    Without a backbone it takes features; with one it takes what that takes.

    Parameters
    ----------
    network : NetworkConfig or None, default=None
        Hidden layers, by default one on features, and the backbone to be trained
        along.
    training : TrainingConfig or None, default=None
        Epochs, batches, rates, and what is held out; None takes the defaults.
    device : str, default="auto"
        "cpu", "cuda", or "auto": that of `fewbits.learners.fitting.on_device`, or a
        GPU if there is one.
    checkpoint : path or None, default=None
        File that is renewed after every epoch. When it is there, `fit` goes on from it
        and ends with the same result as without the interruption, which needs an
        integer as `random_state`.
    callbacks : sequence of callable, default=()
        Called with a dict of the metrics of every epoch, as in `history_`.
    verbose : bool, default=False
        Show progress with loss, mAP and the bound ratio; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds weights, batches and the split. On one kind of CPU and number of threads,
        the same seed gives the same network. On a GPU torch is asked for deterministic
        algorithms, and warns of operations that have none.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network.
    history_ : list of dict
        For each epoch: ``loss``, ``seconds`` of its steps, and where codes were
        evaluated ``bound`` (min D_inter / max D_intra), ``map`` on the held-out items,
        and ``metrics_seconds`` of these.
    classes_ : ndarray of shape (n_classes,)
    objective_ : ndarray of shape (n_epochs_,)
        The mean loss of each epoch.
    n_epochs_ : int
        Epochs that were done; the best of them is kept.
    held_out_ : ndarray of int64
        Rows of X that were not trained on.
    """

    network: NetworkConfig | None = None
    training: TrainingConfig | None = None
    device: str = "auto"
    checkpoint: Any = None
    callbacks: Sequence[Callback] = ()
    verbose: bool = False
    random_state: Any = None

    constraints: ClassVar = USUAL | {"refit": ["boolean"]}
    configs: ClassVar[dict[str, type[Config]]] = {
        "network": NetworkConfig,
        "training": TrainingConfig,
    }
    refit = False  #: Whether all items are trained on in the end.
    needs_labels = True
    _dead_bits = None
    _memory_advice = (
        "lower training.batch_size or n_bits, choose fewer units in network.hidden, "
        "train fewer layers of the backbone (network.trainable=0 keeps it as it is), "
        "or set training.mixed_precision=True"
    )
    #: Whether the network that is deployed starts untrained.
    _one_phase: ClassVar[bool] = True

    def _torch_device(self) -> str:
        return str(as_device(self.device))

    @property
    def _network_config(self) -> NetworkConfig:
        return self._config("network", NetworkConfig)

    @property
    def _training(self) -> TrainingConfig:
        return self._config("training", TrainingConfig)

    def _check_parameters(self) -> None:
        check_repeatable(self.checkpoint, self.random_state)
        as_device(self.device)
        if not isinstance(self.callbacks, Sequence) or not all(
            callable(callback) for callback in self.callbacks
        ):
            raise ArgumentError(
                "callbacks must be a sequence of functions that take the metrics of an "
                f"epoch, got {self.callbacks!r}"
            )
        name, training = self._needing_held_out(), self._training
        if name and training.validation == 0:
            raise ArgumentError(
                f"{name} needs held-out items, but training.validation=0"
            )
        if name and training.eval_every == 0:
            raise ArgumentError(f"{name} needs metrics, but training.eval_every=0")

    def _needing_held_out(self) -> str:
        """Return what was chosen and has no effect without held-out items."""
        if self._training.validation_base == "held_out":
            return "training.validation_base='held_out'"
        return "refit=True" if self.refit else ""

    def extract(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return what the encoder is given, float32 (n, n_features), of items."""
        # The features of the trained backbone; X itself where there is none.
        check_is_fitted(self, "encoder_")
        with self._running():
            items = self._features(X, reset=False)
            if self._network_config.backbone is None:
                return np.asarray(items, np.float32)
            items = items.reshape(len(items), *self._item_shape)
            network = self.network_.to(as_device(self.device))
            source = Items(items, pixels=True, integers=self._integers)
            features = self._features_of(network, source, torch.arange(len(items)))
            array: NDArray[np.float32] = features.numpy()
            return array

    def encode(self, X: ArrayLike) -> CodeArray:
        """Return packed codes of what `fit` took: features, or a backbone's items."""
        if self._network_config.backbone is None:
            return super().encode(X)
        with self._running():
            features = self.extract(X)  # which says so if nothing is fitted
            return self.encoder_.encode(features)

    def _features(self, X: ArrayLike, **options: Any) -> Array:
        if self._network_config.backbone is None:
            features: Array = super()._features(X, **options)
            return features
        items = as_array(X, "items")
        if items.ndim < 2:
            raise FeatureError(
                f"items must be numbers (n, ...), got shape {items.shape} and dtype "
                f"{items.dtype}"
            )
        if options.get("reset"):
            self.__dict__.pop("feature_names_in_", None)
            self._item_shape, self._pixels = items.shape[1:], items.dtype == np.uint8
            self.n_features_in_ = int(np.prod(items.shape[1:]))
        elif items.shape[1:] != self._item_shape:
            raise FeatureError(
                f"items have shape {items.shape[1:]}, but {self._item_shape} were "
                "learnt from"
            )
        elif self._pixels and not self._integers and items.dtype != np.uint8:
            raise FeatureError(
                "items must be uint8, as the pixels learnt from, which stand for "
                f"numbers from 0 to 1, got dtype {items.dtype}"
            )
        least = options.get("ensure_min_samples", 1)
        if len(items) < least:
            raise FeatureError(f"need at least {least} items, got {len(items)}")
        return items.reshape(len(items), -1)

    def _problem(self, X: Array, y: Any, share: float | None = None) -> Problem:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        counts = np.asarray(Y.sum(axis=0)).ravel()
        if not counts.all():
            missing = self.classes_[np.argmin(counts)]
            raise ArgumentError(f"class {missing} has no item; leave it out")
        single = bool((np.asarray(Y.sum(axis=1)) == 1).all())
        all_targets = Targets.from_indicator(Y, single)
        labels = all_targets.numpy()
        rng = check_random_state(self.random_state)
        share = self._training.validation if share is None else share
        train, held_out = split_off(labels, share, rng)
        if share and not len(held_out):
            given = f"training.validation={self._training.validation}"
            if labels.ndim == 2:
                way = f"{given} spares none of {len(labels)}: raise it"
            elif (largest := int(np.bincount(labels).max())) == 1:
                way = "no class has two"
            else:
                way = f"{given} is none of {largest}: {1 / largest:.2g} would do"
            if needing := self._needing_held_out():
                raise ArgumentError(f"{needing} needs held-out items, but {way}")
        self.held_out_ = held_out
        base = self._training.validation_base if share else "trained"
        evaluator = Evaluator(labels, train, held_out, rng, base)
        seed = int(rng.randint(2**31 - 1))
        items, n_features = self._items(X, train, seed)
        checksum = ""
        if self.checkpoint is not None:
            rows = data_checksum(items.X.reshape(len(labels), -1), labels)
            checksum = f"{items.X.dtype} {items.X.shape[1:]} {rows}"
        return Problem(
            items,
            n_features,
            labels,
            train,
            all_targets.subset(train),
            evaluator,
            seed,
            checksum,
        )

    def _items(self, X: Array, rows: NDArray[np.int64], seed: int) -> tuple[Items, int]:
        self._integers, config = False, self._network_config
        if config.backbone is None:
            standardize = learn_standardize(X[rows]) if config.standardize else None
            return Items(X, standardize=standardize), X.shape[1]
        X = X.reshape(len(X), *self._item_shape)
        with reproducible(seed):
            n_features, self._integers = probe_backbone(config.backbone, X[rows[:2]])
        return Items(X, pixels=True, integers=self._integers), n_features

    def _make_network(
        self,
        problem: Problem,
        n_outputs: int,
        *,
        bias: bool = True,
        linear: bool = False,
        batch_norm: bool = False,
        dropout: float = Loss.head_dropout,
    ) -> HashNetwork:
        """Return a network whose weights depend on the seed only."""
        config = self._network_config
        hidden, backbone, trainable = config.widths, config.backbone, config.trainable
        if linear:
            hidden, backbone, trainable = [], deepcopy(backbone), 0
        sizes = [problem.n_features, *hidden, n_outputs]
        if config.dropout is not None:
            dropout = config.dropout
        elif not config.widths:
            dropout = 0.0
        with reproducible(problem.seed):
            head = Head(sizes, dropout=dropout, bias=bias, batch_norm=batch_norm)
            return HashNetwork(head, backbone, trainable)

    def _features_of(
        self, network: HashNetwork, items: Items, rows: torch.Tensor
    ) -> torch.Tensor:
        device, size = device_of(network), self._training.batch_size
        network.eval()
        with torch.inference_mode():
            parts = [
                network.features(items[part].to(device)).cpu()
                for part in parts_of(rows, 4 * size)
            ]
        return torch.cat(parts)

    def _class_features(self, problem: Problem) -> NDArray[np.float64]:
        """Return standardised features of the training items, before training."""
        with reproducible(problem.seed):
            network = self._make_network(problem, 1).cpu()
            rows = torch.from_numpy(problem.train)
            features = self._features_of(network, problem.items, rows)
        array: NDArray[np.float64] = features.double().numpy()
        return array

    def _train(
        self,
        problem: Problem,
        network: HashNetwork,
        loss: Loss,
        control: Control | None = None,
        *,
        classify: Classify | None = None,
        n_epochs: int | None = None,
        phase: str = "",
    ) -> Trainer:
        """Train; keep the epoch that is best on the held-out items."""
        # That is by accuracy where there is a way to `classify`, and otherwise by mAP.
        # Without `n_epochs` it is the last phase, whose network is deployed, even when
        # its training ends for want of finite numbers.
        n_outputs = network.head.n_outputs
        context = LossContext(
            n_outputs,
            problem.targets,
            problem.seed,
            partial(self._class_features, problem),
            cache(partial(self._learnt_centres, problem, n_outputs, phase)),
        )
        objective = Objective(loss, control)
        if objective.has_loss:
            loss.start(context)
        if control is not None:
            own = "codes" if objective.has_loss else "centres"
            control.start(replace(context, centres=getattr(loss, own, None)))
        # What is trained, and on what: on features where the backbone stays.
        trained, items, device = network, problem.items, as_device(self.device)
        n = len(problem.labels)
        if network.keeps_backbone and n * network.head.n_inputs * 4 <= MOST_BYTES:
            network.to(device)
            with deterministic(device):
                features = self._features_of(network, items, torch.arange(n))
            if not features.isfinite().all():
                raise FeatureError("the backbone gives features that are not finite")
            trained, items = HashNetwork(network.head), Items(features.numpy())
        suffix, checkpoint = f".{phase}" if phase else "", None
        if self.checkpoint is not None:
            parameters = self.get_params()
            for group in self.configs:  # whether it was given or not
                del parameters[group]
            identity = {
                "learner": type(self).__name__ + suffix,
                **identity_of(parameters),
                "seed": problem.seed,
                "data": problem.checksum,
            }
            checkpoint = Checkpoint(f"{self.checkpoint}{suffix}", identity)
        trainer = Trainer(
            trained,
            objective,
            items,
            problem,
            self._training,
            device,
            n_epochs or self._training.max_epochs,
            phase=phase,
            checkpoint=checkpoint,
            classify=classify,
        )
        last = n_epochs is None
        trainer.judged = (
            last and self._one_phase and len(self.held_out_) >= _FEWEST_ITEMS
        )
        try:
            with deterministic(device):
                self._epochs(trainer, last)
        except DivergedError:
            if last and trainer.history:
                self._keep(trainer)
                self.encoder_ = self._deploy(problem, network)
            raise
        self._keep(trainer)
        if trainer.judged and not trainer.interrupted:
            trainer.warn_of_no_gain(type(self).__name__)
        return trainer

    def _learnt_centres(
        self, problem: Problem, n_bits: int, phase: str
    ) -> NDArray[np.int8]:
        """Return class codes that a linear network has learnt to classify with."""
        network = self._make_network(problem, n_bits, linear=True, bias=False)
        loss = CodebookLoss()
        self._train(
            problem,
            network,
            loss,
            classify=loss.classify,
            n_epochs=_CENTRE_EPOCHS,
            phase=f"{phase}.centres".removeprefix("."),
        )
        return unique(loss.values).codes

    def _epochs(self, trainer: Trainer, last: bool) -> None:
        """Train until it may stop; an interrupt ends no phase but the last."""
        history = trainer.history
        try:
            with closing(trainer.epochs()) as epochs:
                for record in epochs:
                    with undisturbed():
                        for callback in self.callbacks:
                            callback(dict(record))
                    names = _SHOWN.items()
                    note = "".join(
                        f", {v} {record[k]:.3f}" for k, v in names if k in record
                    )
                    if trainer.phase:
                        note += f", phase {trainer.phase}"
                    report(
                        type(self).__name__,
                        len(history),
                        trainer.n_epochs,
                        record["loss"],
                        verbose=self.verbose,
                        note=note,
                    )
        except KeyboardInterrupt:
            if not (history and last):
                raise
            trainer.interrupted = True
            path = None if trainer.checkpoint is None else trainer.checkpoint.path
            warn_of_interrupt(self, len(history), self._training.max_epochs, path)

    def _keep(self, trainer: Trainer) -> None:
        """Go back to the best epoch, and keep what is known of all."""
        trainer.restore_best()
        self.history_ = trainer.history
        self.objective_ = np.array([record["loss"] for record in trainer.history])
        self.n_epochs_ = len(self.history_)

    def _deploy(self, problem: Problem, network: HashNetwork) -> Encoder:
        """Return the encoder; from now on the network is given features as they are."""
        if problem.items.standardize is not None:
            network.head.standardize = problem.items.standardize
        self.network_ = network.cpu().eval()
        encoder = network.head.encoder()
        if "feature_names_in_" in vars(self):  # also where training diverges later
            encoder = encoder.with_feature_names(self.feature_names_in_)
        return encoder


# What tells one training from another, so that none goes on from another's file.

#: Parameters that a training does not depend on, but for `random_state`: its seed is
#: told apart.
_NOT_IDENTITY = {"verbose", "callbacks", "checkpoint", "device", "random_state"}
#: What of a loss or control tells it from others.
_PLAIN = (bool, int, float, str, list, tuple, np.generic, np.ndarray, torch.Tensor)


def identity_of(parameters: dict[str, Any]) -> dict[str, Any]:
    identity = {
        name.replace("__", "."): _described(value)
        for name, value in parameters.items()
        if name not in _NOT_IDENTITY
    }
    backbone = parameters["network__backbone"]
    if backbone is not None:
        # Whether it has been trained or not: the shapes of all parameters, and the
        # values of those that stay as they are.
        frozen = frozen_layers(backbone, parameters["network__trainable"])
        still = still_modules(backbone, parameters["network__trainable"])
        constants = [
            *(p for m in frozen for p in m.parameters(False)),
            *(b for m in still for b in m.buffers(False)),
        ]
        shapes = [[name, list(p.shape)] for name, p in backbone.named_parameters()]
        values = [_described(tensor) for tensor in constants]
        identity["network.backbone"] = [*_described(backbone), shapes, values]
    return identity


def _described(value: Any) -> Any:
    if isinstance(value, nn.Module):
        options = {
            name: _described(option)
            for name, option in vars(value).items()
            if isinstance(option, _PLAIN)
        }
        return [type(value).__name__, options]
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
    if isinstance(value, Codebook):
        return value.fingerprint
    if isinstance(value, list | tuple):
        return [_described(item) for item in value]
    return value if isinstance(value, bool | int | float | str) else repr(value)
