"""Configurations of bundles, and the file that stores them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from fewbits._files import atomic_write
from fewbits.errors import ArtefactError
from fewbits.training._methods import decides_length
from fewbits.training.tuning._variants import in_words

FORMAT = "fewbits-configuration-1"
_JOURNAL = '{"format": "fewbits-measurements-'  # how the other file begins
CORRECTION_BYTES = 2  # of learners with `correction`
#: Precisions of stored vectors, by the re-ranking that takes them.
KEPT = {"vectors": "float16", "int8": "int8"}
RERANKINGS = (None, "scores", *KEPT)
_KINDS: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "n_bits": (int, type(None)),
    "parameters": (dict,),
    "random_state": (int, type(None)),
    "backbone": (str, type(None)),
    "rerank": (str, type(None)),
    "shortlist": (int, type(None)),
}
_NAMES = {str: "text", int: "a whole number", dict: "an object", type(None): "null"}


@dataclass(frozen=True)
class Configuration:
    """Settings for learning codes and for searching them.

    Parameters
    ----------
    method : str
        A method of `fewbits.training.fit_bundle`.
    n_bits : int, default=None
        Number of bits; None leaves it to the method.
    parameters : mapping, default={}
        Other parameters of the method.
    random_state : int, default=0
    backbone : str, default=None
        Id of the backbone; None chooses one by the kind of the items.
    rerank : {None, "scores", "vectors", "int8"}, default=None
        Whether to re-rank a shortlist, by the query's scores or by vectors
        that are stored as float16 or int8.
    shortlist : int, default=None
        Number of items to re-rank.

    Examples
    --------
    >>> Configuration("itq", 64, rerank="scores", shortlist=100).described()
    'itq, 64 bits, 100 re-ranked by scores'
    """

    method: str
    n_bits: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    random_state: int | None = 0
    backbone: str | None = None
    rerank: str | None = None
    shortlist: int | None = None

    @property
    def keep_vectors(self) -> str | None:
        """The dtype of stored vectors, None where there are none."""
        return KEPT.get(self.rerank or "")

    @property
    def correction_bytes(self) -> int:
        """Bytes of an item beside its code that make re-ranking by scores better."""
        return CORRECTION_BYTES if self.parameters.get("correction") else 0

    @property
    def learner(self) -> Self:
        """The same without re-ranking, which comes after learning."""
        return replace(self, rerank=None, shortlist=None)

    @property
    def key(self) -> str:
        """A key that is equal for equal configurations."""
        return json.dumps(asdict(self), sort_keys=True)

    def described(self) -> str:
        """Return a short description."""
        parts = [self.method]
        if self.n_bits is not None:
            parts.append(f"{self.n_bits} bits")
        parts += in_words(self.method, self.parameters)
        if self.rerank is not None:
            by = "int8 vectors" if self.rerank == "int8" else self.rerank
            parts.append(f"{self.shortlist} re-ranked by {by}")
        return ", ".join(parts)

    def options(self) -> dict[str, Any]:
        """Return the arguments of `fewbits.training.fit_bundle` besides the items.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.inputs import Input
        >>> from fewbits.training import fit_bundle
        >>> X = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
        >>> chosen = Configuration("itq", 16, rerank="scores", shortlist=20)
        >>> fit_bundle(Input("vectors", X, None, "X"), **chosen.options()).encoder
        LinearEncoder(8 -> 16 bits)
        """
        return {
            "method": self.method,
            "n_bits": self.n_bits,
            "backbone": self.backbone,
            "random_state": self.random_state,
            "parameters": dict(self.parameters),
            "remember": self.search_info(),
        }

    def search_info(self) -> dict[str, Any]:
        """Return the metadata of a bundle that set how it is searched."""
        wanted = {"shortlist": self.shortlist, "keep_vectors": self.keep_vectors}
        return {name: value for name, value in wanted.items() if value is not None}

    def changed(
        self,
        *,
        method: str | None = None,
        n_bits: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        random_state: int | None = None,
        backbone: str | None = None,
    ) -> Self:
        """Return a copy with the given changes.

        With another method the length stays, where it has one to choose; parameters
        do not.
        """
        same = method in (None, self.method)
        kept = self.parameters if same else {}
        inherited = None if not same and decides_length(str(method)) else self.n_bits
        return replace(
            self,
            method=method or self.method,
            n_bits=inherited if n_bits is None else n_bits,
            parameters={**kept, **(parameters or {})},
            random_state=self.random_state if random_state is None else random_state,
            backbone=backbone or self.backbone,
        )

    def save(self, path: str | Path, measured: Mapping[str, Any] | None = None) -> None:
        """Write the configuration, with measurements for information.

        Parameters
        ----------
        path : str or Path
            The file is replaced whole.
        measured : mapping, default=None
            Plain values.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        content = {"format": FORMAT, **asdict(self), "measured": dict(measured or {})}
        with atomic_write(path) as file:
            file.write(f"{json.dumps(content, indent=2)}\n".encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a configuration.

        Raises
        ------
        ArtefactError
            When the file is not a configuration, is of another version, or holds a key
            that is unknown or a value of another type.
        OSError
            When the file cannot be read.
        """
        content = _read(Path(path))
        content.pop("measured", None)
        _check(content, path)
        return cls(**content)


def _check(content: Mapping[str, Any], path: str | Path) -> None:
    if unknown := sorted(set(content) - set(_KINDS)):
        raise ArtefactError(
            f"{path} has an unknown key {unknown[0]!r}; known are {', '.join(_KINDS)}"
        )
    if "method" not in content:
        raise ArtefactError(f"{path} names no method")
    for name, value in content.items():
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool):
            raise ArtefactError(
                f"{path} has {name} = {json.dumps(value)}, which must be "
                f"{' or '.join(_NAMES[kind] for kind in _KINDS[name])}"
            )
    rerank, shortlist = content.get("rerank"), content.get("shortlist")
    if rerank not in RERANKINGS:
        raise ArtefactError(
            f"{path} re-ranks by {rerank!r}; it must be scores, vectors or int8"
        )
    if rerank is not None and shortlist is None:
        raise ArtefactError(f"{path} re-ranks, but names no shortlist")
    if shortlist is not None and shortlist < 1:
        raise ArtefactError(
            f"{path} has a shortlist of {shortlist}; at least 1 is needed"
        )


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
        if text.startswith(_JOURNAL):
            raise ValueError(
                "it holds measurements; the configuration is the .json file beside it"
            )
        content = dict(json.loads(text))
        stated = content.pop("format")
    except KeyError:
        raise ArtefactError(
            f"{path} is not a configuration of 'fewbits tune': it has no 'format'"
        ) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise ArtefactError(
            f"{path} is not a configuration of 'fewbits tune': {error}"
        ) from error
    if stated != FORMAT:
        raise ArtefactError(
            f"{path} is written as {stated!r}, this version reads {FORMAT!r}"
        )
    return dict(content)
