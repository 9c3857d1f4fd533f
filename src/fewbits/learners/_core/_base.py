"""The contract between a method and the rest of the package."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count, takewhile
from threading import local
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from fewbits._arrow import named_array
from fewbits._features import SparseRows
from fewbits._runtime import NO_BLOCK, Runtime, current_runtime, entered
from fewbits._typing import Array, BitArray, CodeArray
from fewbits._warnings import warn_user
from fewbits.codes import unpack
from fewbits.encoders import Encoder, NotFiniteError, SparseEncoder
from fewbits.errors import ArgumentError, FeatureError, OutOfMemoryError
from fewbits.learners._core._device import (
    device_around,
    lacks_memory,
    threads_limited,
)
from fewbits.learners._core._parameters import (
    Config,
    Constraint,
    check,
    check_seed,
    complete,
)
from fewbits.learners._core._rows import HUGE, check_values, line_spans

Group = TypeVar("Group", bound=Config)


def _no_sparse(estimator: Any, X: Any) -> str:
    from fewbits import learners

    kinds = {name: getattr(learners, name) for name in learners.__all__}
    names = [
        x for x, kind in kinds.items() if getattr(kind, "takes_sparse", False) is True
    ]
    return (
        f"{type(estimator).__name__} takes no sparse {type(X).__name__}: give "
        f"X.toarray(), or one of {', '.join(names)}"
    )


def validated(
    estimator: Any, X: ArrayLike, *, reset: bool, ensure_min_samples: int = 1
) -> Any:
    """Check shape, width, names and dtype, but read no value of a memory map."""
    names = None
    if hasattr(X, "tocsr"):
        if not getattr(estimator, "takes_sparse", False):
            raise FeatureError(_no_sparse(estimator, X))
        array: Any = SparseRows(X).matrix
    else:
        array, names = named_array(X)
    try:
        checked: Array = check_array(
            array,
            accept_sparse="csr",
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples if reset else 0,
            estimator=estimator,
            input_name="X",
        )
        shown = checked
        if names is not None:
            import pyarrow as pa

            # The names and the width alone, whatever kind of frame they come from.
            shown = pa.table({name: pa.array([], pa.float64()) for name in names})
        validate_data(estimator, shown, reset=reset, skip_check_array=True)
    except ValueError as error:
        # In one line, without the whole array that scikit-learn prints.
        lines = str(error).splitlines()
        words = takewhile(lambda x: not x.lstrip().startswith(("[", "array=")), lines)
        message = " ".join(" ".join(words).split())
        if "Reshape your data" in str(error):
            message = (
                "Expected a 2D array (n, n_features). Reshape your data: pass "
                "x[None, :] for a single item"
            )
        raise FeatureError(message) from error
    return checked if isinstance(checked, np.ndarray) else SparseRows(checked)


class Learner(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Scikit-learn estimator whose result is an `Encoder`.

    A method names what its parameters may be in `constraints`, and implements `_learn`.
    After `fit` the rest of the package reads ``encoder_`` only. Its docstring omits the
    parameters and attributes that its base classes document.

    A clone, or the pickle of an unfitted learner, that is made inside `on_device` or
    `thread_limit` takes device and limit along to other threads and processes, such as
    workers of joblib. The pickle of a fitted learner takes neither.

    Attributes
    ----------
    encoder_ : Encoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each iteration; smaller is better. One entry
        for a method that is solved at once, none for one that optimises nothing.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning. Not set by
        deep learners.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when X was a data frame with named columns.
    """

    encoder_: Encoder
    objective_: NDArray[np.float64]
    n_dead_bits_: int
    needs_labels = False  #: Whether `fit` requires y.
    uses_device = False  #: Whether `on_device` takes over work at any size.
    takes_sparse = False  #: Whether `fit` takes a sparse matrix of SciPy.
    #: What each parameter may be.
    constraints: ClassVar[dict[str, Constraint]] = {"random_state": check_seed}
    #: The parameters that are groups of settings; None stands for their defaults.
    configs: ClassVar[Mapping[str, type[Config]]] = {}
    #: The end of a warning of bits that are constant; None counts no bits.
    _dead_bits: ClassVar[str | None] = " on the training rows"
    _memory_advice: ClassVar[str] = (
        "learn there from fewer rows or features, or fewer bits, or learn without it"
    )
    _carried: tuple[_Carried, ...]
    feature_names_in_: NDArray[Any]
    _features = validated

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete(cls)

    @abstractmethod
    def _learn(self, X: Array, y: Any) -> Encoder:
        """Learn from a finite matrix of real numbers, perhaps a memory map."""

    def _check_parameters(self) -> None:
        """Refuse parameters that do not go together, before any data are read."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn an encoder.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features of any real dtype; they are rounded to float32 first, as encoders
            do. A memory map is read block by block, and so is a sparse matrix of SciPy,
            of methods with ``takes_sparse``.
        y : array-like of shape (n,) or (n, n_labels), default=None
            Labels, a matrix of 0 and 1 where the method takes several; unsupervised
            methods ignore them.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            When a parameter is out of range, or y is missing or unsuitable.
        FeatureError
            When X is not a matrix of two finite rows that differ, in float32, or its
            features are too small or too large for a method.
        DivergedError
            When training ends in numbers that are not finite: lower the learning rate.
        OutOfMemoryError
            When the device of `on_device` lacks memory.
        ArtefactError, OSError
            When a checkpoint belongs to another fit, is damaged, or cannot be read or
            written.

        Warns
        -----
        InterruptedWarning
            After Ctrl-C, in methods that iterate: what the last iteration reached is
            kept. In the first iteration it is passed on.
        """
        with self._running():
            self._check()
            features = self._features(X, reset=True, ensure_min_samples=2)
            largest = check_values(features, vary=True)
            integers = {  # of NumPy, which overflow
                name: value
                for name, value in self.get_params().items()
                if isinstance(value, np.integer)
            }
            if integers:
                self.set_params(**{name: int(n) for name, n in integers.items()})
            self.objective_ = np.empty(0)
            try:
                encoder = self._learn(features, y)
                if self._dead_bits is not None:
                    self.n_dead_bits_ = warn_constant_bits(
                        encoder, features, self._dead_bits
                    )
            except (NotFiniteError, np.linalg.LinAlgError) as error:
                if 1 / HUGE < largest < HUGE:
                    raise
                size = "large" if largest > 1 else "small"
                raise FeatureError(
                    f"the features of X are too {size} for float32: scale them"
                ) from error
            finally:
                if integers:
                    self.set_params(**integers)
            if largest >= HUGE:  # scores may leave float32
                for span in line_spans(*features.shape):
                    encoder.encode(features[span])
            if "feature_names_in_" in vars(self):
                encoder = encoder.with_feature_names(self.feature_names_in_)
            self.encoder_ = encoder
            file = self.__dict__.pop("_file", None)  # of checkpoints
            if file is not None and file.is_done:
                file.remove()
            return self

    def encode(self, X: ArrayLike) -> CodeArray:
        """Return packed codes, to be stored in an index.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8

        Raises
        ------
        NotFittedError
            Before `fit`.
        FeatureError
            When X holds NaN or infinity, or another number of features than in `fit`.
        """
        check_is_fitted(self)
        with self._running():
            features = self._features(X, reset=False)
            check_values(features)
            return self.encoder_.encode(features)

    def transform(self, X: ArrayLike) -> BitArray:
        """Return one 0/1 column per bit, for pipelines of scikit-learn.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_bits), dtype uint8
        """
        return unpack(self.encode(X), self.encoder_.n_bits)

    def _check(self) -> None:
        for name, value in self.get_params(deep=False).items():
            if name in self.constraints:
                check(name, value, self.constraints[name])
        for group, kind in self.configs.items():
            config = self._config(group, kind)
            if not isinstance(config, kind):
                raise ArgumentError(
                    f"{group} must be a {kind.__name__} or None, got {config!r}"
                )
            for name, allowed in config.constraints.items():
                check(f"{group}.{name}", getattr(config, name), allowed)
            config.check()
        self._check_parameters()

    @property
    def _n_features_out(self) -> int:
        return self.encoder_.n_bits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.sparse = self.takes_sparse
        tags.target_tags.required = self.needs_labels
        return tags

    # Groups of settings.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters; if `deep`, also those of groups, defaults included."""
        params: dict[str, Any] = super().get_params(deep)
        if deep:
            for group, kind in self.configs.items():
                if params[group] is None:
                    defaults = kind().get_params()
                    params |= {f"{group}__{name}": v for name, v in defaults.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of groups, such as ``training__batch_size``."""
        for group, kind in self.configs.items():
            inside = any(name.startswith(f"{group}__") for name in params)
            if inside and getattr(self, group) is None:
                setattr(self, group, kind())
        super().set_params(**params)
        return self

    def _config(self, group: str, kind: type[Group]) -> Group:
        settings = getattr(self, group)
        return kind() if settings is None else settings

    # The runtime of the blocks around, taken to other threads and processes.

    @contextmanager
    def _running(self) -> Iterator[None]:
        runtime = self._runtime()
        with entered(runtime), threads_limited(runtime.threads):
            try:
                yield
            except (MemoryError, RuntimeError) as error:
                device = self._torch_device()
                if device is None or not lacks_memory(error):
                    raise
                advice = f"out of memory on {device}: {self._memory_advice}"
                raise OutOfMemoryError(advice) from error

    def _torch_device(self) -> str | None:
        return device_around()

    def _runtime(self) -> Runtime:
        """Return that of the blocks around here, over what is remembered."""
        runtime = current_runtime()
        for carried in vars(self).get("_carried", ()):
            if carried.home != _here():
                runtime = runtime.over(carried.runtime)
        return runtime

    def __sklearn_clone__(self) -> Self:
        clone: Self = super().__sklearn_clone__()
        here, around = _here(), current_runtime().portable
        carried = [c for c in vars(self).get("_carried", ()) if c.home != here]
        if around != NO_BLOCK:
            carried.insert(0, _Carried(around, here))
        if carried:
            clone._carried = tuple(carried)
        return clone

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__()}
        state.pop("_carried", None)
        portable = self._runtime().portable
        if "encoder_" not in state and portable != NO_BLOCK:
            # Without a home: joblib's caches distinguish estimators by their pickles.
            state["_carried"] = (_Carried(portable, None),)
        return state


class _Carried(NamedTuple):
    runtime: Runtime
    home: tuple[int, int] | None  #: The thread whose blocks say so; None in a pickle.


_numbers, _thread = count(), local()


def _here() -> tuple[int, int]:
    """Return what tells this thread from others, earlier ones and forks of it too."""
    return os.getpid(), vars(_thread).setdefault("number", next(_numbers))


#: Rows that mostly settle whether a bit is constant.
_SOME = 1000


def warn_constant_bits(encoder: Encoder, X: Array, why: str) -> int:
    """Warn if bits are the same for all rows, and return how many there are."""
    # More rows are looked at only until they settle it, few at a time: a fit that just
    # has enough memory must not fail here.
    first = encoder.encode(X[:1])
    differs = np.bitwise_or.reduce(
        encoder.encode(X[:: max(1, len(X) // _SOME)]) ^ first
    )
    for span in line_spans(len(X), len(X), least=_SOME):
        if np.bitwise_count(differs).sum() == encoder.n_bits:
            return 0
        differs |= np.bitwise_or.reduce(encoder.encode(X[span]) ^ first)
    n_dead = encoder.n_bits - int(np.bitwise_count(differs).sum())
    if isinstance(encoder, SparseEncoder):  # which has a reason of its own
        n_empty = int(np.sum(np.diff(encoder.indptr) == 0))
        if n_empty == n_dead:
            why = ", as none of their weights was kept; raise density"
        elif n_empty:
            why += f"; {n_empty} of them without a weight: raise density"
    if n_dead:
        verb = "is" if n_dead == 1 else "are"
        warn_user(f"{n_dead} of {encoder.n_bits} bits {verb} constant{why}")
    return n_dead


def warn_repeated_bits(bits: NDArray[np.bool_], advice: str) -> None:
    """Warn where half of the bits, or more, repeat others or are their opposites."""
    alike = np.where(bits[:1], bits, ~bits)
    n, n_bits = len(np.unique(np.packbits(alike, axis=0), axis=1).T), bits.shape[1]
    constant = bits.all(axis=0) | ~bits.any(axis=0)  # which have a warning of their own
    if n <= n_bits / 2 and not constant.any():
        warn_user(
            f"only {n} of {n_bits} bits are different on the training rows; {advice}"
        )
