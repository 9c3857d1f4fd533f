"""Sizes of tests: small here, large at night; and segments small enough for both."""

import itertools
import os
import secrets

from fewbits.store import _deletes, _merge_plan, _segment, _writer

NIGHTLY = os.environ.get("FEWBITS_NIGHTLY") == "1"


def small_segments(monkeypatch, *, inline=False):
    """Let a few rows do what thousands do: fill segments, rise levels, have indexes.

    Unless it is `inline`, checksums and deletes stand in files of their own, too.
    """
    monkeypatch.setattr(_segment, "INLINE", int(inline))
    monkeypatch.setattr(_deletes, "INLINE", 3 if inline else 0)
    monkeypatch.setattr(_merge_plan, "ROWS", 4)
    monkeypatch.setattr(_merge_plan, "BYTES", 1 << 12)
    monkeypatch.setattr(_segment, "FEW_ROWS", 2)
    monkeypatch.setattr(_writer, "_FEW", 8)
    # Names come in the order in which they are made, so that a run can be repeated.
    numbers = itertools.count()
    monkeypatch.setattr(secrets, "token_hex", lambda n: f"{next(numbers):0{2 * n}x}")
