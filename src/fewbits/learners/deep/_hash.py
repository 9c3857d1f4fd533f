"""Deep supervised hashing with any of the losses."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from fewbits._typing import Array
from fewbits.classify import Codebook
from fewbits.codes import pack
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._iterative import warn_of_interrupt
from fewbits.learners.deep._base import DeepLearner, Problem
from fewbits.learners.deep._network import copy_of
from fewbits.learners.deep._posterior import CentreControl, Control, PosteriorControl
from fewbits.learners.deep._trainer import Trainer
from fewbits.learners.deep.centres import check_sizes
from fewbits.learners.deep.losses import LOSSES, Loss

#: The controls beside a loss by the names that learners and the command line know.
CONTROLS: dict[str, Callable[..., Control]] = {
    "posterior": PosteriorControl,
    "centres": CentreControl,
}
#: What a fit leaves besides the encoder; the first three show how epochs were chosen.
_OF_SELECTION = ("history_", "objective_", "n_epochs_")
_FITTED = (*_OF_SELECTION, "network_", "classifier_", "centres_", "held_out_")


@dataclass(eq=False, repr=False)
class DeepHash(DeepLearner):
    """Train a network so that its signs are codes that rank by class.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    loss : str or Loss, default="csq"
        "hashnet", "dbdh", "dsdh", "dch", "greedyhash", "csq", "orthohash", or an
        instance from `fewbits.learners.deep.losses` with other settings.
    control : str, Control or None, default=None
        `PosteriorControl` or `CentreControl`, beside the loss or in its place;
        "posterior" and "centres" are those with their defaults.
    refit : bool, default=False
        After the best number of epochs has been found on held-out items, train again
        from the start on all items for that many epochs; useful when items are few.
        The number is the best of mAP smoothed over nine epochs. No items are left to
        calibrate probabilities with.

    Attributes
    ----------
    encoder_ : LinearEncoder or MLPEncoder
        The head without torch; save this. With a backbone it takes the features that
        `extract` returns, or those of what `export_backbone` keeps.
    classifier_ : ndarray of shape (n_classes, n_bits) or None
        The classifier that GreedyHash and DSDH learn beside the codes; None where a
        control takes their place.
    centres_ : ndarray of shape (n_classes, n_bits), dtype int8, or None
        The codes, as -1 and 1, that CSQ and OrthoHash pull the items of classes to, or
        the control in place of a loss; None where classes have no centres.
    history_ : list of dict
    held_out_ : ndarray of int64
        Rows of X that were not trained on. With `refit` there are none, and `history_`
        is of the first training, which chose the number of epochs.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners.deep import DeepHash, TrainingConfig
    >>> y = np.repeat([0, 1, 2], 40)
    >>> X = np.eye(3, 16)[y] * 4 + np.random.default_rng(0).normal(size=(120, 16))
    >>> learner = DeepHash(8, training=TrainingConfig(max_epochs=5), random_state=0)
    >>> learner.fit(X, y).encoder_
    MLPEncoder(16 -> 8 bits)
    """

    n_bits: int = 64
    _: KW_ONLY
    loss: str | Loss = "csq"
    control: str | Control | None = None
    refit: bool = False

    def codebook_of_classes(self) -> Codebook | None:
        """Return the centres of the classes with their names, as decoders take them.

        Returns
        -------
        fewbits.classify.Codebook or None
            None where classes have no centres.
        """
        check_is_fitted(self)
        if self.centres_ is None:
            return None
        return Codebook(pack(self.centres_ > 0), self.centres_.shape[1], self.classes_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._parts()

    def _parts(self) -> tuple[Loss, Control | None]:
        """Return the loss and the control, made by their names, or copies of them."""
        loss, control = self.loss, self.control
        if isinstance(loss, str) and loss in LOSSES:
            loss = LOSSES[loss]()
        if isinstance(control, str) and control in CONTROLS:
            control = CONTROLS[control]()
        if not isinstance(loss, Loss):
            raise ArgumentError(
                f"loss must be a Loss or one of {', '.join(LOSSES)}, got {loss!r}"
            )
        if not isinstance(control, Control | None):
            raise ArgumentError(
                f"control must be {', '.join(map(repr, CONTROLS))}, PosteriorControl, "
                f"CentreControl or None, got {control!r}"
            )
        return deepcopy(loss), deepcopy(control)

    def _learn(self, X: Array, y: Any) -> Encoder:
        backbone = self._network_config.backbone  # trained in place
        untrained = copy_of(backbone) if backbone is not None and self.refit else None
        encoder, trainer = self._trained(self._problem(X, y))
        if not self.refit or trainer.interrupted or not len(self.held_out_):
            return encoder
        fitted = {name: getattr(self, name) for name in _FITTED}
        trained = None if backbone is None else copy_of(backbone)
        if untrained is not None:
            backbone.load_state_dict(untrained)
        n_epochs = trainer.n_best
        del trainer  # and the copy of the items that is its own
        try:
            of_all, _ = self._trained(self._problem(X, y, 0.0), n_epochs, "refit")
        except BaseException as error:
            self.__dict__.update(fitted, encoder_=encoder)
            if trained is not None:
                backbone.load_state_dict(trained)
            if not isinstance(error, KeyboardInterrupt):
                raise
            when = "while it was trained anew on all items"
            path = self.checkpoint
            warn_of_interrupt(
                self, self.n_epochs_, self._training.max_epochs, path, when
            )
            return encoder
        self.__dict__.update({name: fitted[name] for name in _OF_SELECTION})
        return of_all

    def _trained(
        self, problem: Problem, n_epochs: int | None = None, phase: str = ""
    ) -> tuple[Encoder, Trainer]:
        check_sizes(problem.targets.n_classes, self.n_bits)
        loss, control = self._parts()
        counts = control is None or control.mode == "add"
        network = self._make_network(
            problem,
            self.n_bits,
            bias=self._network_config.bias,
            batch_norm=counts and loss.batch_norm,
            dropout=loss.head_dropout if counts else Loss.head_dropout,
        )
        trainer = self._train(
            problem, network, loss, control, n_epochs=n_epochs, phase=phase
        )
        return self._deploy(problem, network), trainer

    def _keep(self, trainer: Trainer) -> None:
        super()._keep(trainer)
        objective = trainer.objective
        classifier = objective.loss.classifier if objective.has_loss else None
        self.classifier_ = None if classifier is None else classifier.cpu().numpy()
        pulling = objective.loss if objective.has_loss else objective.control
        centres = getattr(pulling, "codes", None)
        self.centres_ = None if centres is None else centres.cpu().numpy().astype("i1")
