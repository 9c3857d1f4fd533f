"""The contract of decoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_choice, check_zero_bit
from fewbits._typing import CodeArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoding import (
    Decoded,
    SoftBits,
    item_codes,
    item_scores,
    soft_bits,
)


@dataclass(frozen=True, repr=False)
class Decoder(ABC):
    """Finds the class of each item in a codebook.

    A frozen dataclass of its parameters, which are checked when it is made. Concrete
    decoders derive from `CodeDecoder` or from `ScoreDecoder`.

    Parameters
    ----------
    ties : {"first", "none"}, default="first"
        What to answer where several classes are equally good: that of the lowest row,
        or no class. Either way ``ties`` of the answer tells how many there are.
    """

    ties: str = field(default="first", kw_only=True)

    def __post_init__(self) -> None:
        check_choice(self.ties, "ties", ("first", "none"))

    def __repr__(self) -> str:
        shown = []
        for parameter in sorted(fields(self), key=lambda field: bool(field.kw_only)):
            value = getattr(self, parameter.name)
            if not parameter.kw_only or value != parameter.default:
                shown.append(f"{parameter.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def decode(self, codebook: Codebook, items: Any) -> Decoded:
        """Return the class of each item, of its code or of its scores."""

    @property
    def max_distance(self) -> int | None:
        """Largest Hamming distance to a class that is accepted; None accepts any."""
        return None

    def _decided(self, answers: Decoded) -> Decoded:
        """Return answers of the lowest rows with ties decided as `ties` says."""
        if self.ties == "first":
            return answers
        return replace(answers, rows=np.where(answers.ties > 1, -1, answers.rows))


class CodeDecoder(Decoder):
    """Decodes codes.

    A subclass implements ``_answers(codebook, codes)``, of checked codes.
    """

    def decode(self, codebook: Codebook, items: CodeArray) -> Decoded:
        """Return the class of each code.

        Parameters
        ----------
        codebook : Codebook
        items : ndarray of shape (n, n_bytes), dtype uint8
            Codes, as long as those of the classes.

        Returns
        -------
        Decoded

        Raises
        ------
        CodeError
            When the codes are not as long as those of the classes.
        """
        codes = item_codes(items, codebook)
        return self._decided(self._answers(codebook, codes))

    @abstractmethod
    def _answers(self, codebook: Codebook, codes: CodeArray) -> Decoded: ...


class ScoreDecoder(Decoder):
    """Decodes the scores of bits, whose magnitudes tell how reliable bits are.

    A subclass implements ``_answers(codebook, soft)``, of checked scores.

    Attributes
    ----------
    reads_log_odds : bool
        Whether `fewbits.Collection.classify` calibrates scores before, where it can.
    """

    reads_log_odds: ClassVar[bool] = False

    def decode(
        self, codebook: Codebook, items: ArrayLike, *, zero_bit: int = 0
    ) -> Decoded:
        """Return the class of each row of scores.

        Parameters
        ----------
        codebook : Codebook
        items : array-like of shape (n, n_bits)
            ``encoder.project(X)``, or log-odds; only their proportions matter.
        zero_bit : {0, 1}, default=0
            ``encoder.zero_bit``: the bit that the encoder gives a score of exactly
            zero. It costs nothing, but counts in ``distances``.

        Returns
        -------
        Decoded
            ``distances`` are Hamming distances to the signs of the scores.

        Raises
        ------
        FeatureError
            When scores are not finite, or not one for each bit.
        """
        soft = soft_bits(item_scores(items, codebook), check_zero_bit(zero_bit))
        return self._decided(self._answers(codebook, soft))

    @abstractmethod
    def _answers(self, codebook: Codebook, soft: SoftBits) -> Decoded: ...
