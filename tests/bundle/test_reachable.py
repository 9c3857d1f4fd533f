"""Nothing that can be reached from a bundle can be written, nor changes what it is."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pyarrow as pa
import pytest

from fewbits.bundle import Bundle, Metadata
from fewbits.classify import Codebook
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.index import FlatIndex
from fewbits.store._sums import CheckedBytes, FileSums
from tests.bundle._saved import saved
from tests.encoders.test_common import ENCODERS

N = 12
X = np.random.default_rng(0).normal(size=(N, 64)).astype(np.float32)
TEXTS = [f"t{row}" for row in range(N)]
METADATA = Metadata(
    parameters={"lengths": [8, [16]], "deep": [{"a": [1]}]}, extra={"names": ["a"]}
)
COLUMNS = {
    "number": np.arange(N),
    "label": TEXTS,
    "lists": [[[row], []] for row in range(N)],
    "day": np.arange(N).astype("M8[D]"),
    "kind": pa.array(TEXTS).dictionary_encode(),
}
SLOT = type(FlatIndex._segments)
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda bundle: pickle.loads(pickle.dumps(bundle)),
}


def built(encoder, form="float32", ids=None):
    book = Codebook(np.unique(encoder.encode(X), axis=0)[:2], encoder.n_bits)
    bundle = Bundle(encoder, metadata=METADATA, codebook=book)
    return bundle.with_items(X, ids=ids, columns=COLUMNS, keep_vectors=form)


def public(owner):
    """Return the public attributes of an object that are not methods."""
    names = [name for name in dir(owner) if not name.startswith("_")]
    found = {}
    for name in names:
        try:
            value = getattr(owner, name)
        except Exception:  # such as a codebook that is not there
            continue
        if not callable(value):
            found[name] = value
    return found


def parts(owner):
    """Return what an object holds, private or not, and what its properties give."""
    if isinstance(owner, dict):
        return [*owner.keys(), *owner.values()]
    if isinstance(owner, list | tuple | set | frozenset):
        return [*owner]
    slots = [name for each in type(owner).__mro__ for name in vars(each)]
    slots = [name for name in slots if isinstance(getattr(type(owner), name), SLOT)]
    held = [getattr(owner, name, None) for name in slots]
    return [*public(owner).values(), *getattr(owner, "__dict__", {}).values(), *held]


def is_ours(owner):
    return type(owner).__module__.startswith("fewbits")


def reachable(bundle):
    """Yield every object that hangs on a bundle, once."""
    todo, seen = [bundle], {}
    while todo:
        each = todo.pop()
        if id(each) in seen or callable(each):
            continue
        seen[id(each)] = each
        yield each
        if isinstance(each, CheckedBytes):  # and which blocks were checked
            todo += [each.bytes, each.data]
        elif isinstance(each, FileSums):
            continue  # what the bytes of a file are compared with
        elif isinstance(each, np.ndarray):
            todo.append(each.base)
        elif isinstance(each, dict | list | tuple) or is_ours(each):
            todo += parts(each)


def check_frozen(bundle):
    kinds = set()
    for each in reachable(bundle):
        kinds.add(type(each).__name__)
        if isinstance(each, np.ndarray):
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                each.flags.writeable = True
        elif isinstance(each, memoryview):
            assert each.readonly
        elif isinstance(each, pa.Table):
            chunks = [chunk for column in each.columns for chunk in column.chunks]
            buffers = [some for chunk in chunks for some in chunk.buffers() if some]
            assert not any(buffer.is_mutable for buffer in buffers)
        else:
            assert not isinstance(each, bytearray | set)
            assert not getattr(each, "is_mutable", False)  # an Arrow buffer
    return kinds


def owners(bundle):
    some = (bundle, bundle.encoder, bundle.items, bundle.index, bundle.codebook)
    return [each for each in some if each is not None]


def check_attributes(bundle):
    for owner in owners(bundle):
        known = public(owner)
        assert known
        for name in known:
            with pytest.raises((AttributeError, FrozenInstanceError)):
                setattr(owner, name, None)
            with pytest.raises((AttributeError, FrozenInstanceError)):
                delattr(owner, name)


def content(bundle, folder):
    bundle.save(folder)
    hits = bundle.search_records(X[:3], 3) if bundle.item_kind == "vectors" else None
    return repr(hits), saved(folder)


@pytest.mark.parametrize(
    ("form", "ids"),
    [
        (None, None),
        ("float32", 3 * np.arange(N)),
        ("float16", TEXTS),
        ("int8", None),
        (None, TEXTS),
    ],
    ids=str,
)
def test_collections_of_every_form(form, ids, tmp_path):
    bundle = built(LinearEncoder(np.eye(64)[:, :20], np.zeros(20)), form, ids)
    before = content(bundle, tmp_path / "b")
    for each in (bundle, Bundle.load(tmp_path / "b")):
        for copied in (each, *(way(each) for way in COPIES.values())):
            assert {"ndarray", "ReadOnlyDict", "Table"} <= check_frozen(copied)
            check_attributes(copied)
            assert content(copied, tmp_path / "c") == before


@pytest.mark.parametrize("place", range(len(ENCODERS)))
def test_encoders_of_every_kind(place, tmp_path):
    bundle = built(ENCODERS[place])
    bundle.save(tmp_path / "b")
    for each in (bundle, Bundle.load(tmp_path / "b"), COPIES["deepcopy"](bundle)):
        check_frozen(each)
        check_attributes(each)


def test_packed_codes():
    codes = np.packbits(X > 0, axis=1)
    bundle = Bundle(PackedEncoder(64)).with_items(codes).prefix(20)
    for each in (bundle, *(way(bundle) for way in COPIES.values())):
        check_frozen(each)
        check_attributes(each)


def test_what_was_given_may_change(tmp_path):
    vectors, numbers, ids = X.copy(), np.arange(N), list(TEXTS)
    lists, weights, bias = [[row] for row in range(N)], np.eye(64), np.zeros(64)
    info, codes, names = {"a": [{"b": [1]}]}, np.eye(2, 8, dtype=np.uint8), ["x", "y"]
    encoder = LinearEncoder(weights, bias)
    book = Codebook(codes, 64, names=names)
    given = {"numbers": numbers, "lists": lists}
    bundle = Bundle(encoder, metadata=Metadata(extra=info), codebook=book).with_items(
        vectors, ids=ids, columns=given, keep_vectors="float32"
    )
    before = content(bundle, tmp_path / "b")
    for array in (vectors, numbers, weights, bias, codes):
        array[:] = 9
    ids[0], lists[0][0], names[0] = "other", 99, "other"
    info["a"][0]["b"].append(2)
    given.clear()
    assert content(bundle, tmp_path / "b") == before


def test_a_part_that_is_replaced_is_another_bundle():
    bundle = built(ENCODERS[0])
    other = replace(bundle, metadata=Metadata(extra={"names": ["b"]}))
    assert bundle.metadata.extra["names"] == ("a",)
    assert other.metadata.extra["names"] == ("b",)
