"""One vocabulary: each option does the same in Python, in JSON and in a command.

An option that has no case here, or is missing behind a door, fails the tests.
"""

import base64
import inspect
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from pyarrow import parquet
from typer.main import get_command
from typer.testing import CliRunner

from fewbits import Collection, backbones, training
from fewbits.classify import Codebook
from fewbits.classify.decoders import DECODERS, Bounded, Decoder
from fewbits.cli import app
from fewbits.collection import evaluation, fit
from fewbits.encoders import LinearEncoder
from fewbits.errors import FewbitsError, outcome_of
from fewbits.ood import learn_rejection
from fewbits.server import Settings, create_app
from tests.server._images import Thumbnail
from tests.server._running import learnt
from tests.server._texts import Letters

N, WIDTH = 60, 16
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))
X = np.random.default_rng(0).normal(size=(N, WIDTH)).astype(np.float32)
X += 3 * (np.arange(N)[:, None] % 3 == np.arange(WIDTH) % 3)
Q = X[:4] + np.float32(0.3)
CODES = ENCODER.encode(Q)
WORDS = ("arm", "leg", "shark", "bite", "sleep", "fever", "cough", "broken")
TEXTS = [f"{WORDS[i % 8]} {WORDS[i * i % 7]} {i}" for i in range(N)]
CHANGES = ("add", "upsert", "update", "delete", "compact", "tag")
CHANGES += ("drop_columns", "restore")
#: Routes that are not called as the method is.
ROUTES = {"get": "items", "drop_columns": "drop-columns"}


# The collections, and what each method is called with.


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    root = tmp_path_factory.mktemp("doors")
    known = {"letters": Letters(), "thumbnail": Thumbnail()}
    table = {
        "key": [*range(100, 100 + N)],
        "kind": ["red", "green", "blue"] * (N // 3),
        "year": [2000 + i % 7 for i in range(N)],
    }
    paths = [str(root / f"{i}.png") for i in range(N)]
    rng = np.random.default_rng(0)
    for path in paths:
        pixels = np.kron(rng.integers(0, 255, (4, 4, 3)), np.ones((8, 8, 1)))
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    book = Codebook(ENCODER.encode(X[:3]), WIDTH, ["red", "green", "blue"])
    rejection = learn_rejection(X, table["kind"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEWBITS_CACHE", str(root / "cache"))
        patch.setattr(backbones, "load", known.__getitem__)
        options = {"id": "key", "label": "kind", "keep_vectors": "float32"}
        encoder = learnt(ENCODER, book, rejection)
        data = pa.table({**table, "v": [*X]})
        vectors = root / "vectors"
        Collection.create(vectors, data, column="v", encoder=encoder, **options)
        texts = root / "texts"
        options |= {"bits": WIDTH}
        data = pa.table({**table, "text": TEXTS})
        Collection.create(texts, data, column="text", backbone="letters", **options)
        images = root / "images"
        data = pa.table({**table, "path": paths})
        Collection.create(images, data, images="path", backbone="thumbnail", **options)
        past = root / "past"
        shutil.copytree(vectors, past)
        changed = Collection.open(past)
        changed.tag("first")
        changed.delete([100, 101, 107])
        changed.update(pa.table({"key": [102, 103, 104], "year": [1, 2, 3]}))
        yield {
            "vectors": vectors,
            "texts": texts,
            "images": images,
            "paths": paths,
            "past": past,
        }


@pytest.fixture(scope="module")
def described(homes):
    """Return the description of a service."""
    return create_app(homes["vectors"]).openapi()


def rows(**columns):
    """Return a table of two new rows."""
    new = {"key": [900, 901], "v": [*Q[:2]], "kind": ["x", "y"], "year": [1, 2]}
    return pa.table({k: v for k, v in {**new, **columns}.items() if v is not None})


HEX = [code.tobytes().hex() for code in CODES]
ITEMS = {"texts": ["broken arm", "shark bite"]}
#: What a call has beside the options of a case.
BASES = {
    "search": {"vectors": Q},
    "classify": {"vectors": Q},
    "like": {"good_ids": [100, 103]},
    "duplicates": {"radius": 3},
    "recall": {"k": 3},
    "add": {"data": rows()},
    "upsert": {"data": rows(key=[100, 901])},
    "update": {"data": pa.table({"key": [101, 102], "year": [7, 8]})},
    "delete": {},
    "get": {"ids": [100]},
    "encode": {"vectors": Q},
    "compact": {},
    "verify": {},
    "tag": {"name": "first"},
    "drop_columns": {"columns": ["year"]},
    "restore": {"version": "first"},
}
#: The cases of each option; a pair names the collection, if it is not of vectors.
CASES = {
    "search": {
        "queries": [("texts", {"queries": ITEMS["texts"]})],
        "k": [{"k": 3}, {"k": 0}, {"k": 1000}, {"k": 2**40}],
        "texts": [("texts", ITEMS), ITEMS],
        "vectors": [
            {"vectors": Q[:1]},
            ("texts", {"vectors": Q}),
            {"vectors": Q[:, :3]},
        ],
        "images": [("images", {"images": 2}), {"images": 2}],
        "ids": [{"ids": [100, 107]}, {"ids": [7]}],
        "codes": [{"codes": CODES}, {"codes": CODES[:, :1]}],
        "radius": [{"radius": 4}, {"radius": 4, "k": 2}, {"radius": -1}],
        "filter": [{"filter": "kind = 'red' and bit(2) = 1"}, {"filter": "none = 1"}],
        "allowed": [{"allowed": [100, 117]}, {"allowed": [7]}],
        "group_by": [{"group_by": "kind"}, {"group_by": "none"}, {"group_by": "key"}],
        "rerank": [
            {"rerank": False},
            {"rerank": True, "codes": CODES},
            {"rerank": True, "radius": 3},
        ],
        "shortlist": [
            {"shortlist": 5, "k": 5},
            {"shortlist": 0},
            {"shortlist": 5, "rerank": False},
        ],
        "columns": [
            {"columns": ["year"]},
            {"columns": ["key", "id", "year"]},
            {"columns": ["none"]},
        ],
    },
    "classify": {
        "items": [("texts", {"items": ITEMS["texts"], "label": "kind"})],
        "texts": [("texts", {**ITEMS, "label": "kind"}), ITEMS],
        "vectors": [{"vectors": Q[:1]}, {"vectors": Q[:, :3]}],
        "images": [("images", {"images": 2, "label": "kind"}), {"images": 2}],
        "ids": [{"ids": [100, 107]}, {"ids": [7]}],
        "codes": [{"codes": CODES}, {"codes": CODES[:, :1]}],
        "label": [{"label": "year"}, {"label": "none"}],
        "k": [{"k": 3, "label": "year"}, {"k": 0, "label": "year"}, {"k": 3}],
        "linear": [{"linear": True, "label": "year"}, {"linear": True}],
        "decoder": [
            {"decoder": "nearest"},
            {"decoder": Bounded(radius=2)},
            {"decoder": "none"},
        ],
        "max_false_reject_rate": [
            {"max_false_reject_rate": 0.2},
            {"max_false_reject_rate": 2.0},
        ],
        "max_false_accept_rate": [
            {"max_false_accept_rate": 0.3},
            {"max_false_accept_rate": 0.3, "max_false_reject_rate": 0.3},
        ],
        "top": [{"top": 2}, {"top": -1}],
    },
    "like": {
        "good": [("texts", {"good": ["fever cough sleep"]})],
        "bad": [("texts", {"bad": ["shark bite"]})],
        "good_ids": [{"good_ids": [100, 104]}, {"good_ids": [7]}],
        "bad_ids": [{"bad_ids": [148]}, {"bad_ids": [100]}],
        "k": [{"k": 3}, {"k": 0}],
        "filter": [{"filter": "year > 2003"}, {"filter": "none = 1"}],
        "allowed": [{"allowed": [104, 105]}, {"allowed": [7]}],
        "columns": [
            {"columns": ["year"]},
            {"columns": ["key", "id", "year"]},
            {"columns": ["none"]},
        ],
        "n_random": [{"n_random": 5}, {"n_random": -1}],
        "C": [{"C": 0.01}, {"C": -1.0}],
        "random_state": [{"random_state": 3, "n_random": 5}, {"random_state": -1}],
    },
    "duplicates": {
        "radius": [{"radius": 0}, {"radius": 2}, {"radius": -1}],
        "max_vector_distance": [
            {"max_vector_distance": 4.0},
            {"max_vector_distance": -1.0},
        ],
        "filter": [{"filter": "kind = 'red'"}, {"filter": "none = 1"}],
        "allowed": [{"allowed": [100, 103, 106, 109]}, {"allowed": [7]}],
    },
    "recall": {
        "k": [{"k": 5}, {"k": 0}, {"k": 1000}],
        "queries": [{"queries": Q}, {"queries": Q[:1]}],
        "vectors": [{"vectors": X * np.linspace(1, 5, WIDTH)}, {"vectors": X[:3]}],
        "n_queries": [{"n_queries": 9}, {"n_queries": 1}],
        "shortlist": [{"shortlist": 4}, {"shortlist": 0}],
        "confidence": [{"confidence": 0.5}, {"confidence": 1.0}],
        "random_state": [{"random_state": 3, "n_queries": 9}, {"random_state": -1}],
    },
    "add": {
        "data": [{"data": rows(kind=["x", "z"])}, {"data": rows(key=[100, 901])}],
        "column": [
            {"data": rows(w=[*Q[2:]]), "column": "w", "columns": ["kind", "year"]},
            {"column": "none"},
        ],
        "images": [
            ("images", {"data": rows(v=None, path=["0.png"] * 2), "images": "path"})
        ],
        "codes": [
            {"data": rows(v=None, hash=HEX[:2]), "codes": "hash"},
            {"data": rows(v=None, hash=HEX[:2]), "codes": "none"},
        ],
        "id": [{"data": rows(key=None, sku=[7, 8]), "id": "sku"}, {"id": "none"}],
        "label": [{"label": "kind"}, {"label": "none"}],
        "columns": [
            {"data": rows(note=["a", "b"]), "columns": ["kind", "year"]},
            {"columns": ["none"]},
        ],
        "skip_blank": [
            {"data": rows(kind=["x", " "]), "label": "kind", "skip_blank": True},
            {"data": rows(kind=["x", " "]), "label": "kind"},
        ],
        "skip_unreadable": [
            (
                "images",
                {
                    "data": rows(v=None, path=["0.png"] * 2),
                    "images": "path",
                    "skip_unreadable": True,
                },
            ),
            {"skip_unreadable": True},
        ],
        "timeout": [{"timeout": 1.5}],
    },
    "update": {
        "data": [
            {"data": pa.table({"key": [101], "kind": ["new"]})},
            {"data": pa.table({"key": [7], "year": [7]})},
        ],
        "id": [
            {"data": pa.table({"sku": [101], "year": [3]}), "id": "sku"},
            {"id": "none"},
        ],
        "filter": [
            {"data": pa.table({"year": [3], "kind": ["z"]}), "filter": "year = 2001"},
            {"data": pa.table({"year": [3]}), "filter": "year = 1"},
            {"data": pa.table({"key": [3]}), "filter": "year = 2001"},
            {"data": pa.table({"year": [3, 4]}), "filter": "year = 2001"},
            {"data": pa.table({"year": [3]}), "filter": "colour = 'z'"},
        ],
        "columns": [
            {
                "data": pa.table({"key": [101], "year": [3], "kind": ["z"]}),
                "columns": ["kind"],
            },
            {"columns": ["key", "year"]},
            {"columns": ["key"]},
            {"columns": ["none"]},
        ],
        "timeout": [{"timeout": 1.5}],
    },
    "delete": {
        "ids": [{"ids": [100, 101]}, {"ids": [7]}, {}],
        "filter": [
            {"filter": "kind = 'red'"},
            {"filter": "kind = 'red'", "ids": [100, 101]},
            {"filter": "none = 1"},
        ],
        "missing_ok": [{"ids": [7, 100], "missing_ok": True}],
        "timeout": [{"ids": [100], "timeout": 1.5}],
    },
    "get": {
        "ids": [{"ids": [107, 100]}, {"ids": [7]}, {"ids": [100, 7]}],
        "columns": [
            {"columns": ["year"]},
            {"columns": ["key", "id", "year"]},
            {"columns": ["none"]},
        ],
    },
    "encode": {
        "items": [("texts", {"items": ITEMS["texts"]})],
        "texts": [("texts", ITEMS), ITEMS],
        "vectors": [{"vectors": Q[:1]}, {"vectors": Q[:, :3]}],
        "images": [("images", {"images": 2}), {"images": 2}],
        "ids": [{"ids": [100, 107]}, {"ids": [7]}],
        "codes": [{"codes": CODES[:2]}, {"codes": CODES[:, :1]}],
    },
    "compact": {"timeout": [{"timeout": 1.5}]},
    "verify": {},
    "tag": {"name": [{"name": "a b"}, {"name": "7"}], "version": [{"version": 999}]},
    "drop_columns": {
        "columns": [
            {"columns": ["kind", "year"]},
            {"columns": ["kind", "none"]},
            {"columns": ["key"]},
            ("texts", {"columns": ["text"]}),
        ],
        "timeout": [{"timeout": 1.5}],
    },
    "restore": {
        "version": [("past", {"version": x}) for x in ("first", 999, "none")],
        "timeout": [("past", {"timeout": 1.5})],
    },
}
CASES["upsert"] = {
    name: [case for case in cases if case != {"data": rows(key=[100, 901])}]
    for name, cases in CASES["add"].items()
}
#: Versions to read: in Python by `Collection.at`.
AT = [{"at": "first"}, {"at": 999}, {"at": "none"}]
#: Arguments that only Python has, of one method or of all.
IN_PYTHON = {
    "progress": "is a function",
    ("add", "ids"): "stand in the table of new rows, see `id`",
    ("upsert", "ids"): "stand in the table of new rows, see `id`",
    ("update", "ids"): "stand in the table of new rows, see `id`",
    ("verify", "rows"): "others read all there is",
    ("verify", "record"): "a command records it, a service if it may write",
}
#: Arguments that JSON has not, or calls otherwise.
NOT_IN_JSON = {
    ("search", "queries"): "are named by their kind: texts, vectors, images",
    "items": "are named by their kind: texts, vectors, images",
    "data": "is called rows",
    "skip_unreadable": "is about images",
    ("add", "images"): "lie where the collection does: 'fewbits add'",
    ("upsert", "images"): "lie where the collection does: 'fewbits add'",
}
#: Fields that JSON has beside the arguments.
MORE_IN_JSON = {
    "rows": "are the data",
    "at": "is the method `at`",
    ("get", "positions"): "of `take`",
    ("get", "filter"): "of `batches`",
    ("get", "missing_ok"): "of `positions_of`",
}
#: Arguments that are words of a command, or its --input.
WORDS_OF_COMMANDS = {"queries", "items", "texts", "images", "data"}
#: What a command reads from one file.
NOT_IN_COMMANDS = {
    ("encode", name): "are in a file, or have codes already"
    for name in ("texts", "vectors", "images", "ids", "codes")
}


def reason(table, method, name):
    return table.get((method, name)) or table.get(name)


def calls():
    for method, options in CASES.items():
        yield pytest.param(method, "", "vectors", {}, id=f"{method}-alone")
        for case in AT if method in ("search", "get") else ():
            yield pytest.param(method, "at", "past", case, id=f"{method}-at-{case}")
        for option, cases in options.items():
            for number, case in enumerate(cases):
                home, case = case if isinstance(case, tuple) else ("vectors", case)
                yield pytest.param(
                    method, option, home, case, id=f"{method}-{option}-{number}"
                )


def command_of(method):
    return method.replace("_", "-")


def argument_names(method):
    return {*inspect.signature(getattr(Collection, method)).parameters} - {"self"}


# The doors.


def arguments_of(method, home, case, homes):
    kinds = {"queries", "items", "texts", "vectors", "images", "ids", "codes"}
    base = dict(BASES[method])
    if method in ("search", "classify", "encode") and kinds & {*case}:
        base.pop("vectors")
    if home == "images" and "data" in case:
        paths = [homes["paths"][int(x[0])] for x in case["data"]["path"].to_pylist()]
        case = {**case, "data": rows(v=None, path=paths)}
    elif "images" in case:
        case = {**case, "images": homes["paths"][: case["images"]]}
    return {**base, **case}


def plain(answer):
    """Return an answer in the types of JSON."""
    return json.loads(json.dumps(answer, default=lambda x: x.tolist()))


def by_python(method, folder, arguments):
    try:
        col, version = Collection.open(folder), arguments.get("at")
        col = col if version is None else col.at(version)
        arguments = {k: v for k, v in arguments.items() if k != "at"}
        answer = getattr(col, method)(**arguments)
        if method == "duplicates":
            answer = answer.to_list()
    except FewbitsError as error:
        return outcome_of(error).code, None
    if method in CHANGES:
        n_changed = 0 if method in ("tag", "restore") else answer or 0
        answer = [n_changed, *state_of(folder)]
    elif method == "encode":
        answer = [code.tobytes().hex() for code in answer]
    elif method == "verify":
        answer = [answer.is_intact, answer.n_rows, answer.n_bytes]
    elif method == "recall":
        answer = [estimate.to_dict() for estimate in answer]
    elif hasattr(answer, "to_dict"):
        answer = answer.to_dict()
    return "ok", plain(answer)


def by_json(method, folder, arguments, kind):
    body = {}
    for name, value in arguments.items():
        if name == "data":
            body["rows"] = value.to_pylist()
        elif name in ("good", "bad", "queries"):
            body[name] = {kind: np.asarray(value).tolist()}
        elif name == "images":
            files = [Path(path).read_bytes() for path in value]
            body[name] = [base64.b64encode(data).decode() for data in files]
        elif isinstance(value, Decoder):
            names = {taker: name for name, taker in DECODERS.items()}
            body[name] = {"name": names[type(value)], **asdict(value)}
        elif name == "codes" and not isinstance(value, str):
            body[name] = [code.tobytes().hex() for code in value]
        else:
            body[name] = value.tolist() if isinstance(value, np.ndarray) else value
    service = create_app(folder, Settings(writable=True, max_k=2**31 - 1))
    with TestClient(service, base_url="http://localhost") as client:
        response = client.post(f"/v1/{ROUTES.get(method, method)}", json=body)
    answer = response.json()
    if response.status_code != 200:
        return answer["error"]["code"], answer["error"]["message"]
    if method in CHANGES:
        return "ok", [answer["n_changed"], *plain(state_of(folder))]
    if method == "get":
        return "ok", [item["columns"] for item in answer["items"]]
    if method == "encode":
        return "ok", answer["codes"]
    if method == "verify":
        return "ok", [answer["intact"], answer["n_rows"], answer["n_bytes"]]
    return "ok", answer.get("estimates", answer.get("pairs", answer))


def by_command(method, folder, arguments, tmp_path):
    words, options = [], []
    for name, value in arguments.items():
        option = "--" + name.replace("_", "-")
        if method == "encode":
            words.append(tmp_path / ("items.txt" if name == "items" else "items.npy"))
            if name == "items":
                words[-1].write_text("\n".join(value))
            else:
                np.save(words[-1], value)
            options += ["-o", tmp_path / "codes.npy"]
        elif (method, name) in (("get", "ids"), ("drop_columns", "columns")):
            words += value
        elif (method, name) in (("tag", "name"), ("restore", "version")):
            words.append(value)
        elif name == "data":
            parquet.write_table(value, tmp_path / "rows.parquet")
            words.append(tmp_path / "rows.parquet")
        elif name in ("texts", "images", "items") or (
            name == "queries" and not isinstance(value, np.ndarray)
        ):
            if method in ("add", "upsert"):
                options += [option, value]
            else:
                words += value
        elif name in ("vectors", "queries"):
            np.save(tmp_path / f"{name}.npy", value)
            option = "--input" if name == "queries" else option
            options += [option, tmp_path / f"{name}.npy"]
        elif isinstance(value, Decoder):
            options += [option, "bounded", "--radius", value.radius]
        elif isinstance(value, bool):
            options.append(option if value else f"--no-{name}")
        elif name == "codes" and not isinstance(value, str):
            for code in value:
                options += [option, code.tobytes().hex()]
        elif isinstance(value, list):
            for each in value:
                options += [option, each]
        else:
            options += [option, value]
    if method == "duplicates":
        options.append("--pairs")
    line = [command_of(method), folder, *words, *options, "--json"]
    result = CliRunner().invoke(app, [str(word) for word in line])
    if result.exit_code:
        assert result.exit_code == 2, result.output
        assert result.stderr.count("\n") == 1, result.stderr
        return "refused", result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    if method in CHANGES:
        names = {"added", "upserted", "updated", "deleted"} & lines[0].keys()
        n_changed = lines[0][names.pop()] if names else 0
        return "ok", [n_changed, *plain(state_of(folder))]
    if method == "get":
        return "ok", [line["columns"] for line in lines]
    if method == "encode":
        return "ok", [x.tobytes().hex() for x in np.load(tmp_path / "codes.npy")]
    if method == "verify":
        report = lines[0]
        return "ok", [not report["damages"], report["n_rows"], report["n_bytes"]]
    if method == "recall":
        return "ok", lines[0]["estimates"]
    if method == "like":
        return "ok", {**lines[0], "hits": [lines[0]["hits"]]}
    if method == "search":
        answer = {name: lines[0][name] for name in ("metric", "rerank", "version")}
        for name in ("hits", "out_of_distribution"):
            if name in lines[0]:
                answer[name] = [line[name] for line in lines]
        return "ok", answer
    if method == "classify":
        answer = {"results": lines}
        for line in lines:
            del line["item"]
            if "expected" in line:
                answer["expected"] = line.pop("expected")
        return "ok", answer
    return "ok", lines


def state_of(folder):
    collection = Collection.open(folder)
    usage = collection.usage()
    sizes = usage["n_dead_rows"], usage["n_segments"]
    return collection.to_arrow().to_pylist(), *sizes, collection.tags()


@pytest.mark.filterwarnings("ignore::UserWarning")  # rows and columns left out
@pytest.mark.parametrize(("method", "option", "home", "case"), [*calls()])
def test_an_option_does_the_same_through_every_door(
    homes, tmp_path, method, option, home, case
):
    arguments = arguments_of(method, home, case, homes)
    folders = [homes[home]] * 3
    if method in CHANGES:
        folders = [tmp_path / name for name in ("python", "json", "command")]
        for folder in folders:
            shutil.copytree(homes[home], folder)
            if method == "compact":
                Collection.open(folder).delete([100])
    outcome, answer = by_python(method, folders[0], arguments)
    doors = []
    if all(
        name == "data" or not reason(NOT_IN_JSON, method, name) for name in arguments
    ):
        doors.append(by_json(method, folders[1], arguments, home))
        assert doors[0][0] == outcome, doors
    if option == "" or not reason(NOT_IN_COMMANDS, method, option):
        doors.append(by_command(method, folders[2], arguments, tmp_path))
    for status, found in doors:
        assert (status == "ok") == (outcome == "ok"), found
        if outcome == "ok":
            assert found == answer


@pytest.mark.parametrize("method", [x for x in CASES if x not in CHANGES])
def test_the_first_case_of_an_option_has_an_effect(homes, method):
    usual = {}
    for option, ((home, case), *_) in (
        (option, [x if isinstance(x, tuple) else ("vectors", x) for x in cases])
        for option, cases in CASES[method].items()
    ):
        if home not in usual:
            usual[home] = by_python(method, homes[home], BASES[method])
        arguments = arguments_of(method, home, case, homes)
        assert by_python(method, homes[home], arguments) != usual[home], option


def test_every_method_with_three_doors_has_cases(described):
    paths = described["paths"]
    commands = {*get_command(app).commands}
    methods = {name.replace("-", "_") for name in commands}
    methods = {name for name in methods if hasattr(Collection, name)}
    assert {x for x in methods if f"/v1/{ROUTES.get(x, x)}" in paths} == {*CASES}


@pytest.mark.parametrize("method", CASES)
def test_every_option_has_a_case(method):
    lacking = argument_names(method) - {*CASES[method]}
    assert [x for x in lacking if not reason(IN_PYTHON, method, x)] == []
    assert {*CASES[method]} <= argument_names(method)


def fields_of(described, method):
    """Return the name of the body of a route, and its fields."""
    post = described["paths"][f"/v1/{ROUTES.get(method, method)}"]["post"]
    if "requestBody" not in post:
        return {}
    content = post["requestBody"]["content"]["application/json"]
    name = content["schema"]["$ref"].split("/")[-1]
    return described["components"]["schemas"][name]["properties"]


@pytest.mark.parametrize("method", CASES)
def test_every_option_is_behind_every_door(described, method):
    fields = {*fields_of(described, method)}
    command = get_command(app).commands[command_of(method)]
    options = {word for x in command.params for word in x.opts} | {
        x.name for x in command.params
    }
    for name in argument_names(method):
        if reason(IN_PYTHON, method, name):
            assert name not in fields
            continue
        assert (name in fields) != bool(reason(NOT_IN_JSON, method, name)), name
        is_there = name in options or "--" + name.replace("_", "-") in options
        is_there = is_there or name in WORDS_OF_COMMANDS
        assert is_there or reason(NOT_IN_COMMANDS, method, name), name
    more = fields - argument_names(method)
    more = [name for name in more if not reason(MORE_IN_JSON, method, name)]
    assert not more, f"JSON has fields that Python has not: {more}"


@pytest.mark.parametrize("method", CASES)
def test_defaults_are_the_same(described, method):
    fields = fields_of(described, method)
    command = get_command(app).commands[command_of(method)]
    command = {x.name: x for x in command.params}
    parameters = inspect.signature(getattr(Collection, method)).parameters
    for argument, field in fields.items():
        if argument in parameters:
            default = parameters[argument].default
            default = None if default in ((), inspect.Parameter.empty) else default
            assert field.get("default") == default, argument
    for argument, option in command.items():
        if argument in parameters and argument not in WORDS_OF_COMMANDS:
            default = parameters[argument].default
            default = None if default in ((), inspect.Parameter.empty) else default
            assert option.default == default, argument


# What makes a collection or looks after its folder: Python and the command alone.

#: The functions by their commands.
FUNCTIONS = {
    "build": Collection.create,
    "fit": fit,
    "get": Collection.get,
    "verify": Collection.repair_folder,
    "compact": Collection.compact,
    "reencode": Collection.reencode,
    "compare": training.compare,
    "encode": Collection.encode,
    "evaluate": evaluation.evaluate,
}
#: Arguments of these that are no options, and why.
NO_OPTIONS = {
    "self": "is the word COLLECTION",
    "path": "is the word COLLECTION, or --output",
    "collection": "is the word COLLECTION",
    "queries": "is the word QUERIES",
    "database": "is the word DATABASE",
    "data": "is the word INPUT",
    "items": "is the word INPUT",
    "texts": "is the word INPUT",
    "vectors": "is the word INPUT",
    ("encode", "images"): "is the word INPUT",
    ("encode", "ids"): "have codes already",
    ("encode", "codes"): "are codes already",
    ("fit", "columns"): "are not kept, but for --groups",
    ("verify", "encoder"): "is given to `reencode`",
    "parameters": "are --set name=value",
    "schema": "is of Arrow",
    "ids": "stand in a column of the table, see `id`",
    "progress": "is a function",
    "notes": "is a function",
}
TABLE = {
    "key": [*range(100, 100 + N)],
    "kind": ["red", "green", "blue"] * (N // 3),
    "year": [2000 + i % 7 for i in range(N)],
    "v": [*X],
    "w": [*X[::-1]],
    "blank": [" ", *map(str, range(1, N))],
    "hash": [code.tobytes().hex() for code in ENCODER.encode(X)],
}
#: What a collection is made by beside the options of a case, and its cases.
MADE = {"column": "v", "bits": 8}
CREATED = {
    "column": [{"column": "w"}, {"column": "none"}],
    "codes": [{"column": None, "bits": None, "codes": "hash"}],
    "id": [{"id": "key"}, {"id": "kind"}, {"id": "none"}],
    "label": [{"label": "kind"}, {"label": "none"}],
    "columns": [{"columns": ["kind"]}, {"columns": ["none"]}],
    "learner": [{"learner": "lsh"}, {"learner": "none"}],
    "encoder": [{"encoder": "vectors"}, {"encoder": "vectors", "learner": "lsh"}],
    "bits": [{"bits": 12}, {"bits": 0}, {"bits": 4, "encoder": "vectors"}],
    "keep_vectors": [{"keep_vectors": "int8"}, {"keep_vectors": "none"}],
    "index": [{"index": "flat"}, {"index": "none"}],
    "skip_unreadable": [{"skip_unreadable": True}],
    "skip_blank": [{"label": "blank", "skip_blank": True}, {"label": "blank"}],
    "overwrite": [{"overwrite": True}, {}],
    "types": [{"types": {"year": "int16"}, "columns": ["year"]}],
    "normalize": [{"normalize": True}],
    "random_state": [{"learner": "lsh", "random_state": 3}, {"random_state": -1}],
}


def options_of(command):
    return {
        word for x in get_command(app).commands[command].params for word in x.opts
    } | {x.name for x in get_command(app).commands[command].params}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_what_a_function_takes_is_an_option_of_its_command(command):
    for name in inspect.signature(FUNCTIONS[command]).parameters:
        option = "--" + name.replace("_", "-")
        is_there = {name, option} & options_of(command)
        assert is_there or {name, (command, name)} & {*NO_OPTIONS}, name


@pytest.mark.filterwarnings("ignore::UserWarning")  # rows left out
@pytest.mark.parametrize(
    ("option", "case"),
    [(option, case) for option, cases in CREATED.items() for case in cases],
    ids=str,
)
def test_a_collection_is_made_alike_in_python_and_by_a_command(
    homes, tmp_path, option, case
):
    arguments = {x: y for x, y in {**MADE, **case}.items() if y is not None}
    table = pa.table(TABLE)
    parquet.write_table(table, tmp_path / "t.parquet")
    words = []
    for name, value in arguments.items():
        if isinstance(value, dict):
            value = [f"{column}={kind}" for column, kind in value.items()]
        for entry in value if isinstance(value, list) else [value]:
            shown = homes[entry] if name == "encoder" else entry
            words.append("--" + name.replace("_", "-"))
            words += [] if entry is True else [str(shown)]
    if "encoder" in arguments:
        arguments["encoder"] = Collection.open(homes[arguments["encoder"]])
        if "learner" not in arguments and "bits" not in case:
            del arguments["bits"]
            words = [x for x in words if x not in ("--bits", "8")]
    folders = tmp_path / "python", tmp_path / "command"
    if option == "overwrite" and case:
        for folder in folders:
            Collection.create(folder, X[:5])
    try:
        expected = facts_of(Collection.create(folders[0], table, **arguments))
    except FewbitsError as error:
        expected = str(error)
    line = ["build", folders[1], tmp_path / "t.parquet", *words]
    result = CliRunner().invoke(app, [str(word) for word in line])
    if isinstance(expected, str):
        assert result.exit_code == 2, result.output
        assert result.stderr.count("\n") == 1, result.stderr
        assert not folders[1].exists()
    else:
        assert result.exit_code == 0, result.output
        assert facts_of(Collection.open(folders[1])) == expected


def facts_of(collection):
    """Return what a collection is made of."""
    kept = collection.vectors
    return {
        "encoder": collection.encoder.fingerprint,
        "codes": collection.codes.tobytes(),
        "vectors": None if kept is None else kept.tobytes(),
        "rows": collection.to_arrow(),
        "facts": collection.facts,
    }


def test_the_first_case_of_an_option_makes_another_collection(homes):
    usual = facts_of(Collection.create(None, pa.table(TABLE), **MADE))
    for option, (case, *_) in CREATED.items():
        if option in ("encoder", "index", "overwrite", "skip_blank", "skip_unreadable"):
            continue  # what they change is elsewhere
        arguments = {x: y for x, y in {**MADE, **case}.items() if y is not None}
        made = Collection.create(None, pa.table(TABLE), **arguments)
        assert facts_of(made) != usual, option


def test_every_option_of_create_has_a_case():
    lacking = {*inspect.signature(Collection.create).parameters} - {*CREATED}
    assert lacking - {*NO_OPTIONS} <= {"images", "backbone"}  # need a network
