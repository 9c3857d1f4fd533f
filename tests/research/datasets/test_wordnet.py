"""WordNet from a few senses, and what the real one holds where it is installed."""

import numpy as np
import pytest

from fewbits.errors import ArtefactError, MissingDataError
from research.common import datasets

LICENCE = "  1 This software and database is being provided to you\n"
DATA = LICENCE + (
    "00000001 03 n 01 entity 0 001 ~ 00000002 n 0000 | that which exists  \n"
    "00000002 05 n 01 animal 0 002 @ 00000001 n 0000 ~ 00000003 n 0000 | it moves  \n"
    "00000003 05 n 02 dog 0 domestic_dog 0 003 @ 00000002 n 0000 @ 00000001 n 0000 "
    '%p 00000002 n 0000 | it barks; "the dog barked"  \n'
    "00000004 18 n 01 Laika 0 001 @i 00000003 n 0000 | it flew  \n"
    "00000005 18 n 02 cad 0 dog 2 001 @ 00000001 n 0000 | someone bad  \n"
)
INDEX = LICENCE + (
    "animal n 1 2 @ ~ 1 1 00000002  \n"
    "cad n 1 1 @ 1 0 00000005  \n"
    "dog n 2 3 @ ~ %p 2 1 00000005 00000003  \n"
    "domestic_dog n 1 1 @ 1 0 00000003  \n"
    "entity n 1 1 ~ 1 1 00000001  \n"
    "laika n 1 1 @i 1 0 00000004  \n"
)
FILES = {"data.noun": DATA.encode(), "index.noun": INDEX.encode()}


@pytest.fixture
def folder(tmp_path, make_folder):
    return make_folder(tmp_path / "wordnet", FILES)


def test_load(folder):
    nouns = datasets.load_wordnet(folder)
    keys = ["entity.n.01", "animal.n.01", "dog.n.02", "laika.n.01", "cad.n.01"]
    assert nouns.keys == keys
    assert nouns.items[2] == 'dog, domestic dog: it barks; "the dog barked"'
    assert nouns.labels["domain"].tolist() == [
        "Tops",
        "animal",
        "animal",
        "person",
        "person",
    ]
    assert nouns.labels["hypernym"].tolist() == ["", *keys[:3], "entity.n.01"]


def test_hypernyms_lead_to_the_root(folder):
    nouns = datasets.load_wordnet(folder)
    above = dict(zip(nouns.keys, nouns.labels["hypernym"], strict=True))
    path = ["laika.n.01"]
    while above[path[-1]]:
        path.append(above[path[-1]])
    assert path[1:] == ["dog.n.02", "animal.n.01", "entity.n.01"]


def test_places(folder, tmp_path, make_tar, monkeypatch):
    with pytest.raises(MissingDataError, match="research get wordnet"):
        datasets.load_wordnet()
    archive = make_tar(
        tmp_path / "WNdb-3.0.tar.gz",
        {f"dict/{name}": content for name, content in FILES.items()},
        "w:gz",
    )
    assert datasets.load_wordnet(archive).keys == datasets.load_wordnet(folder).keys
    monkeypatch.setenv("FEWBITS_DATA", str(tmp_path))
    assert len(datasets.load("wordnet")) == 5


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.noun", DATA.replace("00000005 18", "00000005 99")),
        ("data.noun", DATA.replace("02 cad", "zz cad")),
        ("data.noun", DATA.replace("00000002 n 0000 @ ", "00000009 n 0000 @ ")),
        ("data.noun", DATA[:-60]),
        ("data.noun", "\udcff"),
        ("index.noun", INDEX.replace("cad n", "cat n")),
        ("index.noun", INDEX.replace("00000005 00000003", "00000005 00000004")),
    ],
)
def test_damage(folder, name, content):
    (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ArtefactError, match=r"data\.noun") as raised:
        datasets.load_wordnet(folder)
    assert "\n" not in str(raised.value)


def test_incomplete(folder, tmp_path, make_tar):
    (folder / "index.noun").unlink()
    with pytest.raises(MissingDataError, match=r"incomplete: no .*index\.noun"):
        datasets.load_wordnet(folder)
    archive = make_tar(tmp_path / "a.tar.gz", {"dict/data.noun": b""}, "w:gz")
    with pytest.raises(ArtefactError, match="cannot be read"):
        datasets.load_wordnet(archive)
    archive.write_bytes(archive.read_bytes()[:30])
    with pytest.raises(ArtefactError, match="cannot be read"):
        datasets.load_wordnet(archive)


def test_real_one(monkeypatch):
    monkeypatch.undo()
    try:
        nouns = datasets.load_wordnet()
    except MissingDataError as error:
        pytest.skip(str(error))
    assert len(nouns) == len(set(nouns.keys)) == 82_115
    assert len(np.unique(nouns.labels["domain"])) == 26
    above = dict(zip(nouns.keys, nouns.labels["hypernym"], strict=True))
    assert above["dog.n.01"] == "canine.n.02"
    assert above["canine.n.02"] == "carnivore.n.01"
