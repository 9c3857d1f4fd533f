"""Lines of the log, for programs and for people."""

import json
import logging

import pytest

from fewbits.server._logs import JsonLines, PlainLines

ASKED = {"method": "POST", "route": "/v1/search", "status": 200, "ms": 1.25}


def record(message, facts=None, error=None):
    told = None if error is None else (type(error), error, None)
    made = logging.LogRecord("x", logging.INFO, "f", 1, message, (), told)
    if facts is not None:
        made.facts = facts
    return made


def test_programs_read_objects():
    line = json.loads(JsonLines().format(record("request", ASKED)))
    assert {name: line[name] for name in ASKED} == ASKED
    assert line["event"] == "request"
    failed = json.loads(JsonLines().format(record("failed", {}, ValueError("no"))))
    assert failed["traceback"] == "ValueError: no"


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (record("request", ASKED), "POST /v1/search 200 1.25 ms"),
        (record("Uvicorn running"), "Uvicorn running"),
        (record("failed", {"path": "/a"}), "failed path=/a"),
        (record("failed", {}, ValueError("no")), "failed\nValueError: no"),
    ],
)
def test_people_read_lines(made, shown):
    assert PlainLines().format(made).split("  ", 1)[1] == shown
