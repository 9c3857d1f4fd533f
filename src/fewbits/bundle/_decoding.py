"""From raw items to rows of the codebook of a bundle, and which of them to reject."""

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from fewbits.bundle._asked import Asked
from fewbits.classify import Decoded
from fewbits.classify.decoders import Decoder, ScoreDecoder

if TYPE_CHECKING:
    from fewbits.bundle._search import SearchMixin as Bundle


def decode(
    bundle: "Bundle",
    asked: Asked,
    decoder: Decoder,
    max_false_reject_rate: float | None = None,
    max_false_accept_rate: float | None = None,
) -> Decoded:
    """Return the classes of items by a decoder, and none for unknown."""
    found = _decoded(bundle, asked, decoder)
    if max_false_reject_rate is None and max_false_accept_rate is None:
        return found
    rejection = bundle.rejecting
    held = rejection.threshold(
        max_false_reject_rate=max_false_reject_rate,
        max_false_accept_rate=max_false_accept_rate,
    )
    return found.only(rejection.score(asked.features) >= held.threshold)


def _decoded(bundle: "Bundle", asked: Asked, decoder: Decoder) -> Decoded:
    encoder = bundle.encoder
    if not isinstance(decoder, ScoreDecoder):
        codes = asked.codes  # before it matters whether there are classes
        return decoder.decode(bundle.classes, codes)
    scores: NDArray[Any] = encoder.project(asked.features)
    if decoder.reads_log_odds and bundle.calibration is not None:
        scores = bundle.calibration.log_odds(scores)
    return decoder.decode(bundle.classes, scores, zero_bit=encoder.zero_bit)
