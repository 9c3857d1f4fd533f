"""A folder of pictures with some that cannot be read."""

import io
import shutil

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from typer.testing import CliRunner

from fewbits import Collection
from fewbits.cli import app
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.inputs import read

RNG = np.random.default_rng(5)


def picture(suffix="png"):
    sink = io.BytesIO()
    pixels = RNG.integers(0, 256, (40, 40, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(sink, {"jpg": "jpeg"}.get(suffix, suffix))
    return sink.getvalue()


BAD = {
    "a/page.jpg": b"<html><body>404</body></html>",
    "b/short.jpg": picture("jpg")[:-200],
    "b/empty.png": b"",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("pictures")
    for name in ("a/0.png", "a/1.jpg", "b/2.png", "b/3.png"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(picture(name[-3:]))
    for name, content in BAD.items():
        (root / name).write_bytes(content)
    return root


GOOD = ["0.png", "1.jpg", "2.png", "3.png"]


def names(items):
    return [path.name for path in items.values]


def test_bad_pictures_are_left_out(folder):
    with pytest.warns(UserWarning, match="3 of 7 images") as told:
        items = read(folder, skip_unreadable=True)
    assert all(name.split("/")[1] in str(told[0].message) for name in BAD)
    assert names(items) == GOOD
    assert items.labels.tolist() == ["a", "a", "b", "b"]


def test_those_of_a_table_go_with_their_rows(folder, tmp_path):
    paths = [str(folder / name) for name in ("a/page.jpg", "a/0.png", "b/2.png")]
    table = pa.table({"file": paths, "id": [7, 8, 9], "kind": ["x", "y", "z"]})
    with pytest.warns(UserWarning, match="1 of 3 images"):
        items = read(table, images="file", id="id", label="kind", skip_unreadable=True)
    assert items.ids.to_pylist() == [8, 9]
    assert items.labels.tolist() == ["y", "z"]
    assert [str(path) for path in items.values] == paths[1:]
    more = pa.table({"file": [*paths, str(folder / "gone.png")]})
    with pytest.warns(UserWarning, match="2 of 4 images.*gone.png"):
        assert len(read(more, images="file", skip_unreadable=True)) == 2
    with pytest.raises(FewbitsError, match=r"page.jpg.*gone.png.*skip_unreadable"):
        read(more, images="file")


def test_none_and_no_pictures_are_refused(tmp_path):
    for name, content in BAD.items():
        (tmp_path / name.split("/")[1]).write_bytes(content)
    with pytest.raises(ArgumentError, match="3 of 3 images"):
        read(tmp_path, skip_unreadable=True)
    with pytest.raises(ArgumentError, match="no images"):
        read(["a shoe"], skip_unreadable=True)


@pytest.fixture
def learnt(folder, colours):
    files = [folder / name for name in ("a/0.png", "a/1.jpg", "b/2.png", "b/3.png")]
    return Collection.create(None, files, bits=3, backbone=colours)


def test_all_bad_pictures_are_named(folder, learnt):
    for options in ({"encoder": learnt}, {"bits": 3, "backbone": "colours"}):
        with pytest.raises(FewbitsError, match="skip_unreadable") as caught:
            Collection.create(None, folder, **options)
        assert all(name.split("/")[1] in str(caught.value) for name in BAD)
    with pytest.raises(FewbitsError, match="3 of 7"):
        learnt.add(folder)
    assert len(learnt) == 4


def test_they_are_left_out_of_changes(folder, learnt, tmp_path):
    with pytest.warns(UserWarning, match="3 of 7 images"):
        col = Collection.create(
            tmp_path / "c", folder, encoder=learnt, skip_unreadable=True
        )
    np.testing.assert_array_equal(col.codes, learnt.codes)
    shutil.copytree(folder, tmp_path / "more")
    add = ["add", str(tmp_path / "c"), str(tmp_path / "more")]
    refused = CliRunner().invoke(app, add)
    assert refused.exit_code != 0
    with pytest.warns(UserWarning, match="3 of 7 images"):
        result = CliRunner().invoke(app, [*add, "--skip-unreadable"])
    assert result.exit_code == 0, result.output
    assert len(Collection.open(tmp_path / "c")) == 8
