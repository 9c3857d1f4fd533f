"""Codes that are there already: bytes in, neighbours out."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle, Metadata
from fewbits.cli import app
from fewbits.encoders import PackedEncoder
from fewbits.errors import FewbitsError
from fewbits.inputs import read
from fewbits.training import evaluate_bundle, fit_bundle

BITS = np.random.default_rng(0).integers(0, 2, (40, 20))
CODES = np.packbits(BITS, axis=1)
DISTANCES = (BITS[:3, None] != BITS).sum(axis=2)
NEAREST = np.argsort(DISTANCES, axis=1, kind="stable")[:, :4]
BUNDLE = Bundle(PackedEncoder(20))
UINT8 = pa.list_(pa.uint8())


@pytest.mark.parametrize(
    "codes",
    [
        CODES,
        np.asfortranarray(CODES),
        pd.DataFrame(CODES),
        pl.Series(CODES.tolist(), dtype=pl.List(pl.UInt8)),
        pa.array(CODES.tolist(), UINT8),
        pa.table({"v": pa.array(CODES.tolist(), UINT8)}),
    ],
    ids=["array", "Fortran", "pandas", "polars", "arrow", "table"],
)
def test_codes_find_their_nearest(codes, tmp_path):
    for built in (BUNDLE.with_codes(codes), BUNDLE.with_items(codes)):
        built.save(tmp_path / "b")
        found = Bundle.load(tmp_path / "b").search(CODES[:3], 4)
        np.testing.assert_array_equal(found.ids, NEAREST)
        np.testing.assert_array_equal(
            found.distances, np.take_along_axis(DISTANCES, NEAREST, axis=1)
        )


def test_a_table_with_ids_and_columns():
    keys = [f"k{row}" for row in range(40)]
    table = pa.table(
        {"v": pa.array(CODES.tolist(), UINT8), "key": keys, "n": range(40)}
    )
    bundle = fit_bundle(CODES, method="packed", n_bits=20)
    built = bundle.with_items(table, vectors="v", id="key")
    (hits,) = built.search_records(CODES[:1], 1, filter="n > 3")
    best = min(range(4, 40), key=lambda row: (DISTANCES[0, row], row))
    assert hits == [
        {"id": keys[best], "distance": DISTANCES[0, best], "columns": {"n": best}}
    ]


def test_ranking_again_changes_nothing():
    found = BUNDLE.with_codes(CODES).search_reranked(CODES[:3], 4)
    np.testing.assert_array_equal(found.ids, NEAREST)


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (
            CODES.view(np.int8),
            "int8; of sentence-transformers take precision='ubinary'",
        ),
        (CODES.astype("f4"), "packed into uint8, got dtype float32"),
        (CODES.astype("i8"), "packed into uint8, got dtype int64"),
        (CODES.tolist(), "packed into uint8, got dtype int64"),
        (BITS.astype("u1"), "20 bits need 3 bytes per code"),
        (CODES[:, :2], "20 bits need 3 bytes per code"),
        (CODES[0], "2 dimensions"),
        (CODES | 1, "zero beyond their 20 bits, row 0 is not"),
        (["a text"], "real numbers"),
        ("a text", "codes must be real numbers|list of items"),
        (None, "codes must be a matrix"),
    ],
)
def test_what_is_no_packed_codes(codes, said):
    full = BUNDLE.with_codes(CODES)
    doors = (full.encode, full.search, full.search_reranked, full.search_records)
    for door in (*doors, full.search_by_example, full.with_items, full.with_codes):
        with pytest.raises(FewbitsError, match=said) as caught:
            door(codes)
        assert "\n" not in str(caught.value)


def test_codes_have_no_vectors():
    with pytest.raises(FewbitsError, match="no vectors to keep"):
        BUNDLE.with_items(CODES, keep_vectors="float32")
    with pytest.raises(FewbitsError, match="no vectors to compare"):
        evaluate_bundle(BUNDLE, read(CODES[:5]), read(CODES[5:]))


@pytest.mark.parametrize(
    ("items", "options", "said"),
    [
        (
            CODES.view(np.int8),
            {},
            "holds int8; of sentence-transformers take precision='ubinary'",
        ),
        (CODES.astype("f4"), {}, "a matrix of uint8"),
        (["a", "b"], {}, "holds texts"),
        (CODES, {"n_bits": 16}, "codes of 3 bytes have 17 to 24 bits, got 16"),
        (CODES, {"n_bits": 25}, "codes of 3 bytes have 17 to 24 bits, got 25"),
        (CODES | 1, {"n_bits": 20}, "zero beyond their 20 bits"),
        (CODES, {"parameters": {"n_iter": 3}}, "no parameter 'n_iter'"),
        (CODES, {"kernel_map": "chi2"}, "no parameter 'kernel_map'"),
        (CODES, {"backbone": "wordllama-256"}, "no parameter 'backbone'"),
    ],
)
def test_mistakes_in_fitting(items, options, said):
    with pytest.raises(FewbitsError, match=said):
        fit_bundle(items, method="packed", **options)


def test_on_the_command_line(tmp_path):
    np.save(tmp_path / "codes.npy", CODES)
    np.save(tmp_path / "floats.npy", CODES.astype("f4"))
    folder, codes, floats = (
        str(tmp_path / name) for name in ("b", "codes.npy", "floats.npy")
    )

    def run(*words, code=0):
        said = CliRunner().invoke(app, words)
        assert said.exit_code == code, said.output
        return said.stdout

    run("fit", codes, "--method", "packed", "--bits", "20", "-o", folder)
    run("build", folder, codes)
    found = run("search", folder, "--input", codes, "-k", "4", "--json").splitlines()
    rows = [[hit["id"] for hit in json.loads(line)["hits"]] for line in found]
    assert rows[:3] == NEAREST.tolist()
    run("search", folder, "--input", floats, code=2)
    run("evaluate", folder, codes, codes, code=2)
    run("fit", floats, "--method", "packed", "-o", str(tmp_path / "c"), code=2)


@pytest.mark.parametrize("n_bits", [1, 8, 13])
def test_prefixes_are_asked_by_whole_codes(n_bits):
    short = BUNDLE.with_items(CODES).prefix(n_bits)
    distances = (BITS[:3, None, :n_bits] != BITS[:, :n_bits]).sum(axis=2)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(short.search(CODES[:3], 4).ids, nearest)
    with pytest.raises(FewbitsError, match="20 bits need 3 bytes"):
        short.search(CODES[:3, :1], 4)


def test_what_a_bundle_shall_know_is_kept():
    bundle = fit_bundle(CODES, method="packed", remember={"tuned_on": "mine"})
    assert bundle.metadata == Metadata(method="packed", extra={"tuned_on": "mine"})
