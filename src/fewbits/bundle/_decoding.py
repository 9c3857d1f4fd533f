"""From raw items to rows of the codebook of a bundle, and which of them to reject."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray

from fewbits._checks import check_rate
from fewbits.bundle._parts import BundleParts
from fewbits.classify import Calibration, Codebook, Decoded
from fewbits.classify.decoders import Decoder, ScoreDecoder
from fewbits.ood import AcceptanceRegion, conservative_region

if TYPE_CHECKING:
    from fewbits.bundle._search import SearchMixin as Bundle

AnyBundle = TypeVar("AnyBundle", bound=BundleParts)


def decode(
    bundle: "Bundle",
    features: NDArray[Any],
    decoder: Decoder,
    max_false_accept_rate: float | None = None,
) -> Decoded:
    """Return the classes of features by a decoder, and none for unknown."""
    found = _decoded(bundle, features, decoder)
    if max_false_accept_rate is None:
        return found
    region = known_by(bundle.classes, max_false_accept_rate, bundle.calibration)
    return found.only(region.accepts(bundle.encoder.encode(features)))


def _decoded(bundle: "Bundle", features: NDArray[Any], decoder: Decoder) -> Decoded:
    encoder, book = bundle.encoder, bundle.classes
    if not isinstance(decoder, ScoreDecoder):
        return decoder.decode(book, encoder.encode(features))
    scores: NDArray[Any] = encoder.project(features)
    if decoder.reads_log_odds and bundle.calibration is not None:
        scores = bundle.calibration.log_odds(scores)
    return decoder.decode(book, scores, zero_bit=encoder.zero_bit)


def known_by(
    book: Codebook, rate: float, calibration: Calibration | None
) -> AcceptanceRegion:
    """Return the acceptance region of a maximum false-accept rate.

    By `fewbits.ood.conservative_region`: the stricter of leave-one-class-out and of the
    code space.

    Parameters
    ----------
    book : Codebook
    rate : float
        Share of unknown items that may be accepted, between 0 and 1.
    calibration : Calibration or None
        Of the codebook.

    Returns
    -------
    AcceptanceRegion

    Warns
    -----
    UserWarning
        When the rate is not met: `predicted_rate` is above it.

    Raises
    ------
    ArgumentError
        When the rate is out of range, or codes are too short for it.
    """
    check_rate(rate, "max_false_accept_rate")
    left_out = None if calibration is None else calibration.left_out
    return conservative_region(book.codes, book.n_bits, rate, left_out)


def by_code_space(bundle: AnyBundle) -> AnyBundle:
    """Return the bundle without its leave-one-class-out rates.

    A `max_false_accept_rate` then is a share of all possible codes.
    """
    if bundle.calibration is None:
        return bundle
    return replace(bundle, calibration=replace(bundle.calibration, left_out=None))
