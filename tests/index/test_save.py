"""An index comes back from its file as it was, or is refused."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from fewbits.errors import ArtefactError, NewerFormatError
from fewbits.index import FlatIndex, Index, MultiIndexHashing
from tests.index._indexes import INDEXES

rng = np.random.default_rng(0)
CODES = rng.integers(0, 256, (30, 3), np.uint8)
IDS = rng.permutation(900)[:30]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "codes.index"


@pytest.mark.parametrize("kind", INDEXES)
@pytest.mark.parametrize("n", [0, 1, 30])
def test_round_trip(path, kind, n):
    index = kind(CODES[:n], IDS[:n])
    for _ in range(2):  # what it was, and what replaces it
        index.save(path)
    for load in (Index.load, type(index).load):
        loaded = load(path)
        assert type(loaded) is type(index)
        np.testing.assert_array_equal(loaded.codes, index.codes)
        np.testing.assert_array_equal(loaded.ids, index.ids)
        for k in (1, 40):
            found, expected = loaded.search(CODES, k), index.search(CODES, k)
            np.testing.assert_array_equal(found.ids, expected.ids)
        again = path.with_name("again")
        load(path).save(again)
        assert again.read_bytes() == path.read_bytes()


def test_settings_come_back(path):
    MultiIndexHashing(CODES, use_scan=False).save(path)
    assert not MultiIndexHashing.load(path).use_scan


def test_other_programs_read_the_file(path):
    FlatIndex(CODES, IDS).save(path)
    tensors = load_file(path)
    np.testing.assert_array_equal(tensors["codes"], CODES)
    np.testing.assert_array_equal(tensors["ids"], IDS)


def test_an_index_of_another_kind(path):
    MultiIndexHashing(CODES).save(path)
    with pytest.raises(ArtefactError, match="'MultiIndexHashing', not FlatIndex"):
        FlatIndex.load(path)


def test_no_file(path):
    with pytest.raises(FileNotFoundError):
        FlatIndex.load(path)
    path.mkdir()
    with pytest.raises(OSError, match=r"codes\.index"):
        FlatIndex(CODES).save(path)
    assert sorted(path.parent.iterdir()) == [path]


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises((ArtefactError, NewerFormatError), match=r"codes\.index holds"):
        Index.load(path)


def test_every_flipped_bit_is_found(path):
    FlatIndex(CODES[:5], IDS[:5]).save(path)
    content = path.read_bytes()
    for i in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[i] ^= 1 << bit
            refused(path, changed)


def test_truncated_and_extended_files(path):
    FlatIndex(CODES, IDS).save(path)
    content = path.read_bytes()
    for length in range(len(content)):
        refused(path, content[:length])
    refused(path, content + b"\0")


def header_of(content):
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h["__metadata__"].update(kind="Index"),
        lambda h: h["__metadata__"].update(kind="NoIndex"),
        lambda h: h["__metadata__"].update(kind=["FlatIndex"]),
        lambda h: h["__metadata__"].update(settings='{"use_scan": false}'),
        lambda h: h["__metadata__"].update(settings="[" * 9000),
        lambda h: h["__metadata__"].update(sha256=None),
        lambda h: h["__metadata__"].pop("format"),
        lambda h: h.pop("__metadata__"),
        lambda h: h.update(codes=None),
        lambda h: h["codes"].update(shape=[30]),
        lambda h: h["codes"].update(shape=[-30, -3]),
        lambda h: h["codes"].update(shape=[2**62, 3]),
        lambda h: h["codes"].update(shape=[30.0, 3]),
        lambda h: h["codes"].update(shape=["30", 3]),
        lambda h: h["ids"].update(dtype="F64"),
        lambda h: h["ids"].update(data_offsets=[0, 240]),
    ],
)
def test_headers_that_lie(path, change):
    FlatIndex(CODES, IDS).save(path)
    header, body = header_of(path.read_bytes())
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    refused(path, len(text).to_bytes(8, "little") + text + body)


@pytest.mark.parametrize(
    "head", [b"", b"[]", b"{}", b"null", b"\xff\xfe", b"[" * 60000]
)
def test_what_is_no_index(path, head):
    refused(path, len(head).to_bytes(8, "little") + head)
    refused(path, (2**63 + 5).to_bytes(8, "little") + head)


@pytest.mark.parametrize(
    ("ids", "settings"),
    [
        ([3, 3], {}),
        ([-1, 2], {}),
        ([1, 2], {"n_bits": 4}),
        ([1, 2], [4]),
    ],
)
def test_right_checksums_of_wrong_contents(path, ids, settings):
    """By somebody who knows the format."""
    from fewbits.index._files import write_index

    kind = "MultiIndexHashing"
    write_index(path, kind, settings, CODES[:2], np.array(ids, np.int64))
    with pytest.raises(ArtefactError, match=r"codes\.index holds no"):
        Index.load(path)
