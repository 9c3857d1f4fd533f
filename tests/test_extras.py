"""How extras are installed, from wherever fewbits came."""

import json
from importlib import metadata

import pytest

from fewbits._extras import install_hint, missing_extra
from fewbits.errors import MissingExtraError


@pytest.mark.parametrize(
    ("origin", "hint"),
    [
        (None, "pip install 'fewbits[deep]'"),
        (
            {"url": "file:///a%20b/clone", "dir_info": {"editable": True}},
            "pip install -e '/a b/clone[deep]'",
        ),
        ({"url": "file:///clone", "dir_info": {}}, "pip install '/clone[deep]'"),
        ({"url": "file:///x.whl", "archive_info": {}}, "pip install 'fewbits[deep]'"),
    ],
)
def test_the_hint_names_where_fewbits_came_from(monkeypatch, origin, hint):
    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution())
    assert install_hint("deep") == hint
    error = missing_extra("deep codes need torch", "deep")
    assert isinstance(error, MissingExtraError)
    assert str(error) == f"deep codes need torch: {hint}"


def test_not_installed_at_all(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_hint("text") == "pip install 'fewbits[text]'"
