"""What learners of deep codes have in common."""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

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
from fewbits.learners._core._checkpoint import check_repeatable, data_checksum
from fewbits.learners._core._iterative import IterativeLearner
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import (
    check_flag,
    check_integer,
    check_integers,
    check_number,
    check_path,
)
from fewbits.learners._core._progress import report
from fewbits.learners.deep._data import (
    MOST_BYTES,
    ArrayItems,
    Items,
    TensorItems,
    parts_of,
)
from fewbits.learners.deep._first_look import first_look
from fewbits.learners.deep._monitor import Monitor, split_off
from fewbits.learners.deep._network import (
    HashNetwork,
    Head,
    frozen_layers,
    learn_standardize,
    still_modules,
)
from fewbits.learners.deep._posterior import Control
from fewbits.learners.deep._targets import Targets
from fewbits.learners.deep._torch import (
    as_device,
    deterministic,
    device_of,
    memory_advice,
    reproducible,
    room_on,
    undisturbed,
)
from fewbits.learners.deep._trainer import (
    Callback,
    Classify,
    Objective,
    Plan,
    Record,
    Trainer,
)
from fewbits.learners.deep.codebooks import unique
from fewbits.learners.deep.losses import Loss, Setting
from fewbits.learners.deep.losses._llc import CodebookLoss

#: The phase in which all items are trained on.
REFIT = "refit"
_CENTRE_EPOCHS = 50  # as many as LLC's
_TOLD = {"accuracy": "accuracy", "map": "mAP", "bound": "bound"}
#: What of a loss or control tells it from others.
_DESCRIBED = (bool, int, float, str, list, tuple, np.generic, np.ndarray, torch.Tensor)
_NOT_IDENTITY = {"verbose", "callbacks", "checkpoint", "device", "random_state"}


class Problem(NamedTuple):
    """What is trained on, split into the rows for it and those held out."""

    items: ArrayItems
    n_features: int
    labels: NDArray[Any]
    train: NDArray[np.int64]
    targets: Targets
    monitor: Monitor
    seed: int
    checksum: str


class DeepLearner(IterativeLearner):
    """A learner that trains a network by gradients; `n_iter` counts epochs.

    See `DeepHash` for the parameters that all share.
    """

    hidden: Sequence[int]
    dropout: float
    backbone: nn.Module | None
    _item_shape: tuple[int, ...]
    _integers: bool
    _pixels: bool
    trainable: int | None
    backbone_rate: float
    standardize: bool
    batch_size: int
    learning_rate: float
    weight_decay: float
    validation: float
    validation_base: str = "trained"  #: What those held out rank.
    patience: int | None
    eval_every: int
    device: str
    mixed_precision: bool
    checkpoint: Any
    callbacks: Sequence[Callback]
    random_state: Any

    classes_: NDArray[Any]
    history_: list[Record]
    held_out_: NDArray[np.int64]
    network_: HashNetwork
    needs_labels = True

    def extract(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return what the encoder is given: the features of the trained backbone.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            Items; features themselves when there is no backbone.

        Returns
        -------
        ndarray of shape (n, n_features), dtype float32
        """
        check_is_fitted(self, "encoder_")
        items = self._features(X, reset=False)
        if self.backbone is None:
            return np.asarray(items, np.float32)
        items = items.reshape(len(items), *self._item_shape)
        device = as_device(self.device)
        with memory_advice(room_on(device)):
            network = self.network_.to(device)
        numbers = torch.arange(len(items))
        features: NDArray[np.float32] = features_of(
            network,
            ArrayItems(items, pixels=True, integers=self._integers),
            numbers,
            self.batch_size,
        ).numpy()
        return features

    def encode(self, X: ArrayLike) -> CodeArray:
        """Return packed codes: what an index stores.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            What `fit` took: features, or items for the backbone.

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
        """
        if self.backbone is None:
            return super().encode(X)
        features = self.extract(X)
        return self.encoder_.encode(features)

    def _check_training(self) -> None:
        self._check_iterations()
        check_path("checkpoint", self.checkpoint)
        check_repeatable(self.checkpoint, self.random_state)
        check_integers("hidden", self.hidden)
        check_number("dropout", self.dropout, 0, 0.99)
        check_integer("batch_size", self.batch_size, 2)
        check_number("learning_rate", self.learning_rate, 0, above=True)
        check_number("backbone_rate", self.backbone_rate, 0)
        check_number("weight_decay", self.weight_decay, 0)
        check_number("validation", self.validation, 0, 0.9)
        if self.patience is not None:
            check_integer("patience", self.patience, 1)
        check_integer("eval_every", self.eval_every, 0)
        if self.trainable is not None:
            check_integer("trainable", self.trainable, 0)
        check_flag("standardize", self.standardize)
        check_flag("mixed_precision", self.mixed_precision)
        self._check_used()
        as_device(self.device)
        if not isinstance(self.callbacks, Sequence) or not all(
            callable(each) for each in self.callbacks
        ):
            raise ArgumentError(
                "callbacks must be a sequence of functions that take the figures of an "
                f"epoch, got {self.callbacks!r}"
            )
        if self.backbone is not None and not isinstance(self.backbone, nn.Module):
            raise ArgumentError(
                f"backbone must be a torch module or None, got {self.backbone!r}"
            )

    def _check_used(self) -> None:
        """Refuse what was chosen and would have no effect."""
        if self.patience is not None and self.validation == 0:
            raise ArgumentError(
                f"patience={self.patience} needs items held out, but validation=0"
            )
        if self.patience is not None and not 0 < self.eval_every <= self.patience:
            raise ArgumentError(
                f"patience={self.patience} epochs need figures, but "
                f"eval_every={self.eval_every}"
            )
        if self.trainable is not None and self.backbone is None:
            raise ArgumentError(f"trainable={self.trainable}, but backbone is None")
        if self.dropout > 0 and not len(self.hidden):
            raise ArgumentError(
                f"dropout={self.dropout} needs layers in hidden, but it has none"
            )

    def _features(self, X: ArrayLike, **options: Any) -> Array:
        if self.backbone is None:
            return super()._features(X, **options)
        items = as_array(X, "items")
        if items.ndim < 2:
            raise FeatureError(
                f"items must be numbers (n, ...), got shape {items.shape} and dtype "
                f"{items.dtype}"
            )
        if options.get("reset"):
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
        """Check the labels, and set a share of the items aside; None: `validation`."""
        self.classes_, Y = indicator(y, X, type(self).__name__)
        single = bool((np.asarray(Y.sum(axis=1)) == 1).all())
        all_targets = Targets.from_indicator(Y, single)
        labels = all_targets.numpy()
        self._check_present(Y)
        rng = check_random_state(self.random_state)
        held_out_share = self.validation if share is None else share
        train, aside = split_off(labels, held_out_share, rng)
        if held_out_share and not len(aside):
            self._check_none_held_out(labels)
        self.held_out_ = aside
        base = self.validation_base if held_out_share else "trained"
        monitor = Monitor(labels, train, aside, rng, base)
        seed = int(rng.randint(2**31 - 1))
        items, n_features = self._items(X, train, seed)
        return Problem(
            items,
            n_features,
            labels,
            train,
            all_targets.subset(train),
            monitor,
            seed,
            "" if self.checkpoint is None else checksum(items.X, labels),
        )

    def _needing_held_out(self) -> list[str]:
        """Return what was chosen and has no effect without items held out."""
        return [] if self.patience is None else [f"patience={self.patience}"]

    def _check_none_held_out(self, labels: NDArray[Any]) -> None:
        """Refuse what needs items held out where a share of each class is none."""
        asked = self._needing_held_out()
        if not asked:
            return
        largest = int(np.bincount(labels).max()) if labels.ndim == 1 else None
        if largest is None:
            way = f"validation={self.validation} spares none of {len(labels)}: raise it"
        elif largest == 1:
            way = "no class has two"
        else:
            least = f"{1 / largest:.2g}"
            way = f"validation={self.validation} is none of {largest}: {least} would do"
        raise ArgumentError(f"{asked[0]} needs items held out, but {way}")

    def _items(
        self, X: Array, rows: NDArray[np.int64], seed: int
    ) -> tuple[ArrayItems, int]:
        """Return the items, and how many features the head is given of each."""
        self._integers = False
        if self.backbone is None:
            standardize = learn_standardize(X[rows]) if self.standardize else None
            return ArrayItems(X, standardize=standardize), X.shape[1]
        X = X.reshape(len(X), *self._item_shape)
        with reproducible(seed):
            n_features, self._integers = first_look(self.backbone, X[rows[:2]])
        return ArrayItems(X, pixels=True, integers=self._integers), n_features

    def _check_present(self, Y: Any) -> None:
        counts = np.asarray(Y.sum(axis=0)).ravel()
        if (counts == 0).any():
            column = int(np.argmax(counts == 0))
            raise ArgumentError(
                f"class {self.classes_[column]} has no item; leave it out"
            )

    def _network(
        self, problem: Problem, n_outputs: int, *, linear: bool = False, **options: Any
    ) -> HashNetwork:
        """Return a network whose weights depend on the seed only.

        A `linear` one is a single layer on a copy of the backbone that stays as it is.
        """
        hidden, backbone, trainable = self.hidden, self.backbone, self.trainable
        if linear:
            hidden, backbone, trainable = (), deepcopy(backbone), 0
        sizes = [problem.n_features, *hidden, n_outputs]
        shown = " x ".join(map(str, sizes))
        advice = f"for a network of {shown} units: choose fewer in hidden"
        with reproducible(problem.seed), memory_advice(advice):
            head = Head(sizes, dropout=self.dropout, **options)
            return HashNetwork(head, backbone, trainable)

    def _class_features(self, problem: Problem) -> NDArray[np.float64]:
        """Return standardised features of the training items."""
        with reproducible(problem.seed):
            network = self._network(problem, 1).cpu()
            rows = torch.from_numpy(problem.train)
            features = features_of(network, problem.items, rows, self.batch_size)
        found: NDArray[np.float64] = features.double().numpy()
        return found

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
        """Train; keep the epoch that is best on the items held out.

        That is by accuracy where there is a way to `classify`, and otherwise by mAP.
        Without `n_epochs` it is the last phase, whose network is deployed, even when
        its training ends for want of finite numbers.
        """
        n_outputs = network.head.n_outputs
        setting = Setting(
            n_outputs,
            problem.targets,
            problem.seed,
            partial(self._class_features, problem),
            cache(partial(self._learnt_centres, problem, n_outputs, phase)),
        )
        objective = Objective(loss, control)
        advice = f"for what loss and control keep of {n_outputs} bits: choose fewer"
        with memory_advice(advice):
            if objective.has_loss:
                loss.start(setting)
            if control is not None:
                own = "centres" if objective.has_loss else "kind"
                control.start(replace(setting, centres=getattr(loss, own, None)))
        trained, items = self._at_work(problem, network)
        trainer = Trainer(
            trained,
            objective,
            items,
            problem.targets,
            problem.train,
            problem.monitor,
            self._plan(problem, n_epochs or self.n_iter, phase),
            self._identity(problem, phase),
            classify,
        )
        last = n_epochs is None
        try:
            with deterministic(trainer.plan.device):
                self._epochs(trainer, last)
        except DivergedError:
            if last and trainer.history:
                self._keep(trainer)
                self.encoder_ = self._deploy(problem, network)
            raise
        self._keep(trainer)
        return trainer

    def _learnt_centres(
        self, problem: Problem, n_bits: int, phase: str
    ) -> NDArray[np.int8]:
        """Return codes of classes that a linear network has learnt to classify with.

        Phase 1 of LLC, inside another; on features as they are before training.
        """
        network = self._network(problem, n_bits, linear=True, bias=False)
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

    def _at_work(
        self, problem: Problem, network: HashNetwork
    ) -> tuple[HashNetwork, Items]:
        """Return what is trained, and on what: on features where the backbone stays."""
        n, width = len(problem.labels), network.head.n_inputs
        if not network.keeps_backbone or n * width * 4 > MOST_BYTES:
            return network, problem.items
        device = as_device(self.device)
        with memory_advice(room_on(device)):
            network.to(device)
        with deterministic(device):
            rows = torch.arange(n)
            features = features_of(network, problem.items, rows, self.batch_size)
        if not features.isfinite().all():
            raise FeatureError("the backbone gives features that are not finite")
        return HashNetwork(network.head), TensorItems(features)

    def _epochs(self, trainer: Trainer, last: bool) -> None:
        """Train until it may stop; an interrupt ends no phase but the last.

        How many epochs are done with all items was decided before, whatever their loss.
        """
        history, decided = trainer.history, trainer.plan.phase == REFIT
        try:
            with closing(trainer.epochs()) as epochs:
                if not decided and self._may_stop(losses_of(history)):
                    return
                for record in epochs:
                    with undisturbed():
                        for callback in self.callbacks:
                            callback(dict(record))
                    self._tell(trainer)
                    if not decided and self._may_stop(losses_of(history)):
                        return
        except KeyboardInterrupt:
            if not (history and last):
                raise
            trainer.interrupted = True
            self._warn_of_interrupt(len(history), trainer.plan.checkpoint)

    def _keep(self, trainer: Trainer) -> None:
        """Go back to the best epoch, and keep what is known of all."""
        trainer.restore_best()
        self.history_ = trainer.history
        self.objective_ = np.array(losses_of(trainer.history))
        self.n_iter_ = len(self.history_)

    def _tell(self, trainer: Trainer) -> None:
        record, total = trainer.history[-1], trainer.plan.n_epochs
        note = "".join(
            f", {title} {record[key]:.3f}"
            for key, title in _TOLD.items()
            if key in record
        )
        if trainer.plan.phase:
            note += f", phase {trainer.plan.phase}"
        name, done, loss = type(self).__name__, len(trainer.history), record["loss"]
        report(name, done, total, loss, verbose=self.verbose, note=note)

    def _plan(self, problem: Problem, n_epochs: int, phase: str) -> Plan:
        path = self.checkpoint
        return Plan(
            n_epochs=n_epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            backbone_rate=self.backbone_rate,
            weight_decay=self.weight_decay,
            patience=self.patience,
            eval_every=self.eval_every,
            device=as_device(self.device),
            mixed_precision=self.mixed_precision,
            seed=problem.seed,
            checkpoint=f"{path}{_suffix(phase)}" if path is not None else None,
            phase=phase,
        )

    def _identity(self, problem: Problem, phase: str) -> dict[str, Any]:
        """Return what the training depends on."""
        parameters = self.get_params(deep=False).items()
        chosen = {k: described(v) for k, v in parameters if k not in _NOT_IDENTITY}
        if self.backbone is not None:
            chosen["backbone"] = described_backbone(self.backbone, self.trainable)
        return {
            "learner": type(self).__name__ + _suffix(phase),
            **chosen,
            "seed": problem.seed,
            "data": problem.checksum,
        }

    def _deploy(self, problem: Problem, network: HashNetwork) -> Encoder:
        """Return the encoder; from now on the network is given features as they are."""
        if problem.items.standardize is not None:
            network.head.standardize = problem.items.standardize
        self.network_ = network.cpu().eval()
        return network.head.encoder()


def features_of(
    network: HashNetwork, items: Items, rows: torch.Tensor, batch_size: int
) -> torch.Tensor:
    """Return what the head is given of some rows, float32, on the CPU."""
    device = device_of(network)
    network.eval()
    advice = f"with batch_size={batch_size}: halve it"
    with torch.inference_mode(), memory_advice(advice):
        parts = [
            network.features(items[part].to(device)).cpu()
            for part in parts_of(rows, 4 * batch_size)
        ]
    return torch.cat(parts)


def losses_of(history: list[Record]) -> list[float]:
    """Return the mean loss of each epoch."""
    return [record["loss"] for record in history]


def described(value: Any) -> Any:
    """Return what tells two parameters apart, for JSON."""
    if isinstance(value, nn.Module):
        numbers = {
            k: described(v) for k, v in vars(value).items() if isinstance(v, _DESCRIBED)
        }
        return [type(value).__name__, numbers]
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
    if isinstance(value, Codebook):
        return value.fingerprint
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else repr(value)


def described_backbone(backbone: nn.Module, trainable: int | None) -> Any:
    """Return what tells two backbones apart, whether they have been trained or not.

    That is the shapes of all parameters, and the values of those that stay as they are.
    """
    shapes = [[name, list(p.shape)] for name, p in backbone.named_parameters()]
    kept = [
        *(p for m in frozen_layers(backbone, trainable) for p in m.parameters(False)),
        *(b for m in still_modules(backbone, trainable) for b in m.buffers(False)),
    ]
    values = [described(tensor.detach().cpu().numpy()) for tensor in kept]
    return [*described(backbone), shapes, values]


def checksum(X: Array, labels: NDArray[Any]) -> str:
    """Return a checksum of the labels and the items; pixels are no other numbers."""
    return f"{X.dtype} {X.shape[1:]} {data_checksum(X.reshape(len(X), -1), labels)}"


def _suffix(phase: str) -> str:
    return f".{phase}" if phase else ""
