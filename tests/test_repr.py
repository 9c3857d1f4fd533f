"""Results of real size are printed in one line."""

import dataclasses
import importlib
import inspect
import pkgutil
import typing

import numpy as np
import pytest

import fewbits
from fewbits import Collection
from fewbits.codes import Neighbours
from fewbits.learners import LSH

N = 5000
#: Left to those who own the code.
OTHERS = {"Collection", "Hit", "RerankedNeighbours", "Input"}


def public_results():
    found = {}
    for package in pkgutil.iter_modules(fewbits.__path__, "fewbits."):
        if "._" in package.name or not package.ispkg:
            continue
        module = importlib.import_module(package.name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            whole = inspect.isclass(value) and not inspect.isabstract(value)
            learns = hasattr(value, "get_params")  # and prints as in scikit-learn
            if whole and fields_of(value) and not learns:
                found[name] = value
    return found


def fields_of(kind):
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(getattr(kind, "_fields", ()))


def large(annotation):
    """Return a large value of a type."""
    text = str(annotation)
    if "ndarray" in text or "Array" in text:
        return np.random.default_rng(0).normal(size=(N, 3))
    if "Mapping" in text or "dict" in text:
        return {f"key {i}": list(range(9)) for i in range(N)}
    if "list" in text or "tuple" in text or "Sequence" in text:
        return tuple(range(N))
    if "str" in text:
        return "a name"
    return 0.125


RESULTS = public_results()


@pytest.mark.parametrize("name", sorted(RESULTS.keys() - OTHERS))
def test_real_size_is_one_line(name):
    kind = RESULTS[name]
    hints = typing.get_type_hints(kind)
    if hasattr(kind, "_fields"):
        result = kind(*(large(hints.get(field)) for field in kind._fields))
    else:
        result = object.__new__(kind)
        for field in fields_of(kind):
            object.__setattr__(result, field, large(hints.get(field)))
    assert "\n" not in repr(result)
    assert len(repr(result)) <= 210
    assert repr(result).startswith(f"{name}(")


def test_a_collection():
    X = np.random.default_rng(0).normal(size=(90, 3))
    encoder = LSH(8).fit(X).encoder_
    collection = Collection.create(None, X, encoder=encoder, keep_vectors="int8")
    assert str(collection).endswith("8 bits), 90 items with int8 vectors)")


def test_small_results_are_shown():
    found = Neighbours(np.array([[1, 2]]), np.array([[3, 4]]))
    assert repr(found) == "Neighbours(distances=array([[1, 2]]), ids=array([[3, 4]]))"
