"""Classification of raw items by the codebook."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from fewbits.bundle._asked import Asked, StoredItems
from fewbits.bundle._decoding import decode
from fewbits.bundle._search import SearchMixin
from fewbits.classify import Decoded
from fewbits.classify.decoders import Decoder, decoder_of


class ClassificationMixin(SearchMixin):
    """Decodes the codes of raw items to classes."""

    def classify(
        self,
        items: ArrayLike | Sequence[Any] | StoredItems,
        *,
        decoder: Decoder | str = "soft",
        max_false_reject_rate: float | None = None,
        max_false_accept_rate: float | None = None,
    ) -> Decoded:
        """Predict the class of each raw item, or reject it.

        For multi-label bundles, the nearest label; `fewbits.bundle.label_answers`
        returns all.

        Parameters
        ----------
        items : array-like of shape (n, n_features), sequence or StoredItems
            Vectors, or whatever the backbone takes; or items of the collection.
        decoder : Decoder or str, default="soft"
            One of `fewbits.classify.decoders`, such as ``Bounded(radius=2)``, or its
            short name for its defaults: "soft", the nearest class code by reliability,
            which is the most probable class; "nearest", that by Hamming distance;
            "bounded", the nearest if within 1 bit, else none; "exact", the class with
            exactly this code, else none; or "orbgrand", which guesses up to 1,000
            codes.
        max_false_reject_rate : float, default=None
            Reject items of unknown classes, with any decoder, such that at most this
            share of known items is rejected. How many unknown ones are accepted is
            predicted: ``bundle.rejecting.threshold(max_false_reject_rate=...)``.
        max_false_accept_rate : float, default=None
            In its place: at most this share of the items of new classes is accepted,
            see `fewbits.ood.Rejection.threshold`.

        Returns
        -------
        Decoded
            ``rows`` of the codebook, -1 for none of its classes;
            ``bundle.codebook.labels(rows, none="none")`` gives the names.

        Raises
        ------
        ArgumentError
            When the bundle has no codebook, there is no such decoder, the bundle does
            not reject, or it was learnt from too few items or classes for the rate.
        """
        rates = max_false_reject_rate, max_false_accept_rate
        return decode(self, Asked(self, items), decoder_of(decoder), *rates)
