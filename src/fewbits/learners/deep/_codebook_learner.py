"""Phase 1 of LLC: a code for each class."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewbits._warnings import warn_user
from fewbits.classify import Codebook
from fewbits.codes import MAX_BITS, unpack
from fewbits.errors import ArgumentError, DivergedError
from fewbits.learners._core._parameters import Config, check_integers
from fewbits.learners.deep import codebooks
from fewbits.learners.deep._base import DeepLearner
from fewbits.learners.deep._config import CodebookConfig
from fewbits.learners.deep._network import HashNetwork
from fewbits.learners.deep._problem import Problem
from fewbits.learners.deep._targets import class_means
from fewbits.learners.deep.losses import LossContext
from fewbits.learners.deep.losses._centres import (
    PREDICTABLE,
    SEMANTIC,
    given_codes,
    make_centres,
)
from fewbits.learners.deep.losses._llc import ClassLoss, CodebookLoss

CODEBOOKS = ("learnt", "predictable", "semantic", "random", "svd", "cca")
_CLASSIFIER_EPOCHS = 20


class CodebookLearner(DeepLearner):
    """A learner that has a code for each class before it trains on items.

    See `LLC` for the parameters and attributes.
    """

    _one_phase = False

    configs: ClassVar[dict[str, type[Config]]] = {
        **DeepLearner.configs,
        "codebook_training": CodebookConfig,
    }
    n_bits: int | None
    codebook: Any
    codebook_training: CodebookConfig | None
    reg: float

    _n_bits: int
    codebook_: NDArray[np.int8]
    codebook_history_: list[dict[str, float]]
    n_repaired_: int
    n_turned_: int

    @property
    def _phase_1(self) -> CodebookConfig:
        return self._config("codebook_training", CodebookConfig)

    def _check_codebook(self) -> None:
        if not isinstance(self.codebook, str):
            self._check_shape(self.codebook)
        elif self.codebook not in CODEBOOKS:
            raise ArgumentError(
                f"codebook must be an array or one of {', '.join(CODEBOOKS)}, got "
                f"{self.codebook!r}"
            )
        config = self._phase_1
        check_integers(
            "codebook_training.nested_bits", config.nested_bits, self.n_bits or MAX_BITS
        )
        if isinstance(self.codebook, str) and self.codebook == "learnt":
            return
        for name in ("init", "nested_bits", "similarity_weight"):
            value = getattr(config, name)
            if np.any(value):
                raise ArgumentError(
                    f"codebook_training.{name}={value!r} is of a learnt codebook, "
                    "but codebook is another"
                )

    def _check_shape(self, codebook: Any) -> None:
        shape = shape_of(codebook)
        if len(shape) != 2:
            raise ArgumentError(
                "codebook must be a Codebook, an array (n_classes, n_bits) or one of "
                f"{', '.join(CODEBOOKS)}, got shape {shape}"
            )
        if self.n_bits not in (None, shape[1]):
            raise ArgumentError(
                f"n_bits={self.n_bits}, but the codebook has shape {shape}"
            )

    def _codebook(self, problem: Problem, network: HashNetwork) -> NDArray[np.int8]:
        """Return a code for each class; learning one trains the network, too."""
        if not isinstance(self.codebook, str):
            return self._given(problem)
        if self.codebook == "learnt":
            C = self._learnt(problem, network)
        elif self.codebook == "random":
            C = codebooks.random_codebook(
                problem.targets.n_classes, self._n_bits, random_state=problem.seed
            )
        else:
            C = self._made(problem, self.codebook, self._n_bits)
        found = self._unique(C)
        self.n_repaired_ = found.n_changed
        return found.codes

    def _unique(self, C: NDArray[Any]) -> codebooks.UniqueCodes:
        return codebooks.unique(C, min([*self._phase_1.nested_bits, self._n_bits]))

    def _given(self, problem: Problem) -> NDArray[np.int8]:
        """Return the codebook that was given; tell of codes that classes share."""
        given = self._given_codes(problem)
        n_shared = len(given) - len(np.unique(given, axis=0))
        if n_shared:
            warn_user(
                f"{n_shared} of {len(given)} classes have the code of another class in "
                "the given codebook: no decoder can tell them apart"
            )
        return given

    def _given_codes(self, problem: Problem) -> NDArray[np.int8]:
        if isinstance(self.codebook, Codebook):
            rows = self.codebook.rows(self.classes_)
            bits = unpack(self.codebook.codes[rows], self._n_bits)
            return np.where(bits, 1, -1).astype(np.int8)
        n_codes, n_classes = len(self.codebook), problem.targets.n_classes
        if n_codes != n_classes:
            raise ArgumentError(
                f"the codebook has {n_codes} codes, but the labels are of {n_classes} "
                "classes; it needs one for each, in the order of the sorted labels"
            )
        return given_codes(self.codebook, n_classes, self._n_bits)

    def _learnt(self, problem: Problem, network: HashNetwork) -> NDArray[Any]:
        """Phase 1, eq. (2)."""
        config = self._phase_1
        start = None if config.init is None else self._start(problem, config.init)
        loss = CodebookLoss(
            start,
            config.learning_rate,
            config.label_smoothing,
            config.nested_bits,
            config.similarity_weight,
        )
        try:
            self._train(
                problem,
                network,
                loss,
                classify=loss.classify,
                n_epochs=config.max_epochs,
                phase="codebook",
            )
        except DivergedError as error:
            self.codebook_ = self._unique(loss.values).codes
            rate = f"codebook_training.learning_rate ({config.learning_rate:g})"
            raise DivergedError(f"{error}; or lower {rate}") from error
        self.codebook_history_ = self.history_
        C = loss.values
        self.n_turned_ = int(np.sum((C >= 0) != (loss.first.cpu().numpy() >= 0)))
        return C

    def _start(self, problem: Problem, kind: str) -> NDArray[np.float64]:
        """Return where phase 1 starts; bits beyond the directions are random."""
        C = self._made(problem, kind, None)
        return codebooks.widen(C, self._n_bits, random_state=problem.seed)

    def _made(self, problem: Problem, kind: str, n_bits: int | None) -> NDArray[Any]:
        """Return a codebook that is not learnt, before its signs are taken.

        Without `n_bits` it has as many as there are directions.
        """
        if kind in (PREDICTABLE, SEMANTIC):
            features = partial(self._class_features, problem)
            context = LossContext(self._n_bits, problem.targets, problem.seed, features)
            return make_centres(kind, context).numpy()
        if kind == "svd":
            return codebooks.svd_codebook(self._classifier(problem), n_bits)
        F = self._class_features(problem)
        F -= F.mean(axis=0)
        means, counts = class_means(F, problem.targets)
        several = problem.labels[problem.train] if problem.labels.ndim == 2 else None
        scatter = np.atleast_2d(np.cov(F, rowvar=False))
        return codebooks.cca_codebook(
            means, counts, scatter, n_bits, self.reg, labels=several
        )

    def _classifier(self, problem: Problem) -> NDArray[np.float64]:
        """Train a linear classifier, and return its rows, for standardised features."""
        network = self._make_network(problem, problem.targets.n_classes, linear=True)
        self._train(
            problem,
            network,
            ClassLoss(),
            classify=lambda scores: scores,
            n_epochs=_CLASSIFIER_EPOCHS,
            phase="classifier",
        )
        weights: Any = network.head.layers[0].weight
        rows: NDArray[np.float64] = weights.detach().cpu().double().numpy()
        return rows


def shape_of(codebook: Any) -> tuple[int, ...]:
    """Return the shape of a codebook that was given, of one that is none ()."""
    if isinstance(codebook, Codebook):
        return len(codebook), codebook.n_bits
    try:
        return np.shape(codebook)
    except ValueError:  # rows of different lengths
        return ()
