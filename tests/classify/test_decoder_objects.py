"""Decoders as values: their parameters, how they print, and their short names."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits import Collection
from fewbits.classify import Calibration, Codebook
from fewbits.classify.decoders import (
    DECODERS,
    Bounded,
    CodeDecoder,
    Exact,
    Nearest,
    Orbgrand,
    ScoreDecoder,
    Soft,
    decoder_of,
)
from fewbits.cli import app
from fewbits.codes import pack
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

SIGNS = np.array([[1, 1, 1, 1], [1, 1, -1, -1]])
ENCODER = LinearEncoder(np.eye(4), np.zeros(4))
BOOK = Codebook(pack(SIGNS > 0), 4, ["ant", "bee"])


@pytest.fixture
def collection():
    return Collection.from_parts(ENCODER, codebook=BOOK)


@pytest.mark.parametrize("kind", DECODERS.values())
def test_a_decoder_is_a_value(kind):
    decoder = kind()
    assert decoder == kind() == pickle.loads(pickle.dumps(decoder))
    assert len({decoder, kind(), kind(ties="first"), kind(ties="none")}) == 2
    for each in fields(decoder):
        with pytest.raises(FrozenInstanceError):
            setattr(decoder, each.name, 1)


@pytest.mark.parametrize(
    ("decoder", "text"),
    [
        (Exact(), "Exact()"),
        (Exact(ties="first"), "Exact(ties='first')"),
        (Bounded(np.int64(2)), "Bounded(radius=2)"),
        (Bounded(0, method="look-ups"), "Bounded(radius=0, method='look-ups')"),
        (Nearest(ties="none"), "Nearest(ties='none')"),
        (Soft(), "Soft()"),
        (Orbgrand(), "Orbgrand(max_queries=1000)"),
        (Orbgrand(7, order="costs"), "Orbgrand(max_queries=7, order='costs')"),
    ],
)
def test_it_prints_as_it_is_made(decoder, text):
    assert repr(decoder) == text
    assert eval(text) == decoder


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (Bounded, {"radius": -1}, "radius must be at least 0, got -1"),
        (Bounded, {"radius": 1.5}, "radius must be a whole number, got 1.5"),
        (Bounded, {"radius": None}, "radius must be a whole number, got NoneType"),
        (Bounded, {"method": "fast"}, "method must be one of auto, look-ups, exhausti"),
        (Nearest, {"method": 3}, "method must be one of auto, look-ups, exhaustive"),
        (Orbgrand, {"max_queries": 0}, "max_queries must lie between 1 and 1,048,576"),
        (Orbgrand, {"max_queries": 2**21}, "must lie between 1 and 1,048,576, got 209"),
        (Orbgrand, {"max_queries": "9"}, "max_queries must be a whole number, got '9'"),
        (Orbgrand, {"order": "best"}, "order must be one of ranks, costs, got 'best'"),
        *(
            (kind, {"ties": "last"}, "ties must be one of")
            for kind in DECODERS.values()
        ),
    ],
)
def test_parameters_are_checked_when_it_is_made(kind, parameters, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        kind(**parameters)
    assert "\n" not in str(caught.value)


def test_the_distance_that_is_accepted():
    accepted = {name: kind().max_distance for name, kind in DECODERS.items()}
    rejecting = {"exact": 0, "bounded": 1}
    assert accepted == dict.fromkeys(DECODERS) | rejecting
    assert Bounded(radius=3).max_distance == 3


def test_short_names():
    assert decoder_of("bounded", radius=2, ties="none") == Bounded(2, ties="none")
    assert decoder_of("orbgrand") == Orbgrand()
    mine = Bounded(5)
    assert decoder_of(mine) is mine


@pytest.mark.parametrize(
    ("given", "parameters", "message"),
    [
        ("best", {}, "no decoder 'best'; known: exact, bounded, nearest, soft, orb"),
        (None, {}, "no decoder None; known: exact"),
        (Exact, {}, "no decoder <class .*Exact'>; known: exact"),
        (["soft"], {}, r"no decoder \['soft'\]; known: exact"),
        (
            "soft",
            {"radius": 1},
            "decoder 'soft' has no parameter 'radius'; known",
        ),
        ("bounded", {"radios": 1}, r"'radios' \(did you mean 'radius'\?\); known:"),
        ("bounded", {"radius": -1}, "radius must be at least 0"),
        (Bounded(2), {"radius": 3}, r"radius belongs into Bounded\(radius=2\)"),
    ],
)
def test_what_is_no_decoder(given, parameters, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        decoder_of(given, **parameters)
    assert "\n" not in str(caught.value)


def test_only_soft_decoding_reads_calibrated_scores():
    """Shifted by its calibration, an item is of the other class."""
    shifts = np.array([0.0, 0.0, -4.0, -4.0])
    calibration = Calibration(1.0, shifts)
    calibrated = Collection.from_parts(ENCODER, codebook=BOOK, calibration=calibration)
    scores = np.array([[1.0, 1.0, 1.0, 1.0]])
    moved = calibration.log_odds(scores)
    assert Soft().decode(BOOK, moved).rows != Soft().decode(BOOK, scores).rows
    for name in DECODERS:
        given = moved if name == "soft" else scores
        decoder = decoder_of(name)
        given = given if isinstance(decoder, ScoreDecoder) else pack(given > 0)
        (row,) = decoder.decode(BOOK, given).rows
        (name,) = calibrated.classify(scores, decoder=decoder).classes
        assert name == (None if row < 0 else BOOK.names[row])


@dataclass(frozen=True, repr=False)
class _Last(CodeDecoder):
    """Nearest among the classes, counted from the last."""

    n: int = 1

    def _answers(self, codebook, codes):
        found = Nearest()._answers(codebook, codes)
        found.rows[:] = len(codebook) - self.n
        return found


def test_a_new_decoder_is_a_class_and_a_line(collection, monkeypatch, tmp_path):
    monkeypatch.setitem(DECODERS, "last", _Last)
    for decoder in ("last", _Last(), decoder_of("last", n=1)):
        answer = collection.classify([[1, 1, 1, 1]], decoder=decoder)
        assert answer.classes.tolist() == ["bee"]
    collection.save(tmp_path / "b")
    np.save(tmp_path / "q.npy", np.ones((1, 4), np.float32))
    asked = ["classify", tmp_path / "b", "-i", tmp_path / "q.npy", "-d", "last"]
    told = CliRunner().invoke(app, [*map(str, asked), "--json"]).stdout
    assert '"class": "bee"' in told
