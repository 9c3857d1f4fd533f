"""Base of the learners of deep codes."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, DivergedError, FeatureError
from fewbits.learners._core._iterative import (
    check_repeatable,
    may_stop,
    report,
    warn_of_interrupt,
)
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import check_flag, check_path, check_verbose
from fewbits.learners.deep._best import Record
from fewbits.learners.deep._data import MOST_BYTES, Items, TensorItems
from fewbits.learners.deep._diagnosis import FEWEST_ITEMS, warn_of_no_gain
from fewbits.learners.deep._evaluator import Evaluator, split_off
from fewbits.learners.deep._identity import checksum, identity_of
from fewbits.learners.deep._network import HashNetwork
from fewbits.learners.deep._network_learner import NetworkLearner, features_of
from fewbits.learners.deep._objective import Objective
from fewbits.learners.deep._phase import Phase
from fewbits.learners.deep._posterior import Control
from fewbits.learners.deep._problem import (
    Problem,
    check_none_held_out,
    check_present,
)
from fewbits.learners.deep._targets import Targets
from fewbits.learners.deep._torch import (
    as_device,
    deterministic,
    memory_advice,
    room_on,
    undisturbed,
)
from fewbits.learners.deep._trainer import Callback, Classify, Trainer
from fewbits.learners.deep.codebooks import unique
from fewbits.learners.deep.losses import Loss, LossContext
from fewbits.learners.deep.losses._llc import CodebookLoss

#: The phase in which all items are trained on.
REFIT = "refit"
_CENTRE_EPOCHS = 50  # as many as LLC's
_TOLD = {"accuracy": "accuracy", "map": "mAP", "bound": "bound"}


class DeepLearner(NetworkLearner):
    """A learner that trains a network by gradients.

    See `DeepHash` for the parameters that all share.
    """

    refit: bool = False  #: Whether all items are trained on in the end.
    checkpoint: Any
    callbacks: Sequence[Callback]
    verbose: bool
    random_state: Any

    classes_: NDArray[Any]
    history_: list[Record]
    #: Whether the network that is deployed starts untrained.
    _one_phase: ClassVar[bool] = True
    held_out_: NDArray[np.int64]
    n_epochs_: int
    needs_labels = True

    @property
    def n_planned(self) -> int:
        """Largest number of epochs."""
        return self._training.max_epochs

    def _check_shared(self) -> None:
        """Check the parameters that all deep learners share."""
        self._check_configs()
        check_path("checkpoint", self.checkpoint)
        check_repeatable(self.checkpoint, self.random_state)
        check_verbose(self.verbose)
        check_flag("refit", self.refit)
        as_device(self.device)
        if not isinstance(self.callbacks, Sequence) or not all(
            callable(each) for each in self.callbacks
        ):
            raise ArgumentError(
                "callbacks must be a sequence of functions that take the metrics of an "
                f"epoch, got {self.callbacks!r}"
            )
        self._training.check_held_out(self._needing_held_out())

    def _problem(self, X: Array, y: Any, share: float | None = None) -> Problem:
        """Check the labels, and hold a share of the items out; None: `validation`."""
        self.classes_, Y = indicator(y, X, type(self).__name__)
        single = bool((np.asarray(Y.sum(axis=1)) == 1).all())
        all_targets = Targets.from_indicator(Y, single)
        labels = all_targets.numpy()
        check_present(Y, self.classes_)
        rng = check_random_state(self.random_state)
        share = self._training.validation if share is None else share
        train, held_out = split_off(labels, share, rng)
        if share and not len(held_out):
            check_none_held_out(self._needing_held_out(), share, labels)
        self.held_out_ = held_out
        base = self._training.validation_base if share else "trained"
        evaluator = Evaluator(labels, train, held_out, rng, base)
        seed = int(rng.randint(2**31 - 1))
        items, n_features = self._items(X, train, seed)
        return Problem(
            items,
            n_features,
            labels,
            train,
            all_targets.subset(train),
            evaluator,
            seed,
            "" if self.checkpoint is None else checksum(items.X, labels),
        )

    def _needing_held_out(self) -> list[str]:
        """Return what was chosen and has no effect without held-out items."""
        asked = self._training.needing_held_out()
        return [*asked, "refit=True"] if self.refit else asked

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
        """Train; keep the epoch that is best on the held-out items.

        That is by accuracy where there is a way to `classify`, and otherwise by mAP.
        Without `n_epochs` it is the last phase, whose network is deployed, even when
        its training ends for want of finite numbers.
        """
        n_outputs = network.head.n_outputs
        context = LossContext(
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
                loss.start(context)
            if control is not None:
                own = "centres" if objective.has_loss else "kind"
                control.start(replace(context, centres=getattr(loss, own, None)))
        trained, items = self._at_work(problem, network)
        trainer = Trainer(
            trained,
            objective,
            items,
            problem.targets,
            problem.train,
            problem.evaluator,
            self._training,
            self._phase(problem, n_epochs or self._training.max_epochs, phase),
            classify,
        )
        last = n_epochs is None
        trainer.judged = (
            last and self._one_phase and len(self.held_out_) >= FEWEST_ITEMS
        )
        try:
            with deterministic(trainer.phase.device):
                self._epochs(trainer, last)
        except DivergedError:
            if last and trainer.history:
                self._keep(trainer)
                self.encoder_ = self._deploy(problem, network)
            raise
        self._keep(trainer)
        if trainer.judged and not trainer.interrupted:
            found = trainer.untrained, trainer.history
            warn_of_no_gain(type(self).__name__, *found, self._training.learning_rate)
        return trainer

    def _learnt_centres(
        self, problem: Problem, n_bits: int, phase: str
    ) -> NDArray[np.int8]:
        """Return class codes that a linear network has learnt to classify with.

        Phase 1 of LLC, inside another; on features as they are before training.
        """
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
            rows, size = torch.arange(n), self._training.batch_size
            features = features_of(network, problem.items, rows, size)
        if not features.isfinite().all():
            raise FeatureError("the backbone gives features that are not finite")
        return HashNetwork(network.head), TensorItems(features)

    def _epochs(self, trainer: Trainer, last: bool) -> None:
        """Train until it may stop; an interrupt ends no phase but the last.

        How many epochs are done with all items was decided before, whatever their loss.
        """
        history, decided = trainer.history, trainer.phase.name == REFIT
        try:
            with closing(trainer.epochs()) as epochs:
                if not decided and may_stop(losses_of(history), self._training.tol):
                    return
                for record in epochs:
                    with undisturbed():
                        for callback in self.callbacks:
                            callback(dict(record))
                    self._tell(trainer)
                    if not decided and may_stop(losses_of(history), self._training.tol):
                        return
        except KeyboardInterrupt:
            if not (history and last):
                raise
            trainer.interrupted = True
            path = trainer.phase.checkpoint
            warn_of_interrupt(self, len(history), self.n_planned, path)

    def _keep(self, trainer: Trainer) -> None:
        """Go back to the best epoch, and keep what is known of all."""
        trainer.restore_best()
        self.history_ = trainer.history
        self.objective_ = np.array(losses_of(trainer.history))
        self.n_epochs_ = len(self.history_)

    def _tell(self, trainer: Trainer) -> None:
        record, total = trainer.history[-1], trainer.phase.n_epochs
        note = "".join(
            f", {title} {record[key]:.3f}"
            for key, title in _TOLD.items()
            if key in record
        )
        if trainer.phase.name:
            note += f", phase {trainer.phase.name}"
        name, done, loss = type(self).__name__, len(trainer.history), record["loss"]
        report(name, done, total, loss, verbose=self.verbose, note=note)

    def _phase(self, problem: Problem, n_epochs: int, name: str) -> Phase:
        parameters = self.get_params()
        for group in self.configs:  # whether it was given or not
            del parameters[group]
        suffix = f".{name}" if name else ""
        path = None if self.checkpoint is None else f"{self.checkpoint}{suffix}"
        identity = {
            "learner": type(self).__name__ + suffix,
            **identity_of(parameters),
            "seed": problem.seed,
            "data": problem.checksum,
        }
        device = as_device(self.device)
        return Phase(n_epochs, problem.seed, device, name, path, identity)

    def _deploy(self, problem: Problem, network: HashNetwork) -> Encoder:
        """Return the encoder; from now on the network is given features as they are."""
        if problem.items.standardize is not None:
            network.head.standardize = problem.items.standardize
        self.network_ = network.cpu().eval()
        return network.head.encoder()


def losses_of(history: list[Record]) -> list[float]:
    """Return the mean loss of each epoch."""
    return [record["loss"] for record in history]
