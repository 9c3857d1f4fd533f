"""Settings of a service, by Python and by variables of the environment."""

import pytest

from fewbits.errors import ArgumentError
from fewbits.server import Settings


@pytest.mark.parametrize(
    "values",
    [
        {"max_k": True},
        {"max_k": "5"},
        {"max_k": 0},
        {"time_limit": True},
        {"time_limit": float("inf")},
        {"writable": "yes"},
        {"allowed_hosts": "a"},
        {"max_ks": 5},
    ],
    ids=str,
)
def test_values_of_other_types_are_refused(values):
    with pytest.raises(ArgumentError, match=next(iter(values))):
        Settings(**values)


def test_a_token_is_not_shown():
    with pytest.raises(ArgumentError, match="16 characters") as refused:
        Settings(token="secret")
    assert "secret" not in str(refused.value)
    with pytest.raises(ArgumentError, match="16 characters") as refused:
        Settings.from_environment({"FEWBITS_SERVE_TOKEN": "secret"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "name", "value"),
    [
        ("MAX_K=7", "max_k", 7),
        ("TIME_LIMIT=2.5", "time_limit", 2.5),
        ("WRITABLE=true", "writable", True),
        ("WRITABLE=0", "writable", False),
        ("ALLOWED_HOSTS=a.example, b", "allowed_hosts", ("a.example", "b")),
    ],
)
def test_variables_are_read(variable, name, value):
    key, _, text = variable.partition("=")
    settings = Settings.from_environment({f"FEWBITS_SERVE_{key}": text})
    assert getattr(settings, name) == value


@pytest.mark.parametrize("variable", ["WRITABLE=maybe", "MAX_K=", "MAX_K=2.5", "MAX=1"])
def test_variables_that_are_no_value_are_named(variable):
    key, _, text = variable.partition("=")
    with pytest.raises(ArgumentError, match=f"FEWBITS_SERVE_{key}"):
        Settings.from_environment({f"FEWBITS_SERVE_{key}": text})


def test_why_a_variable_is_no_value():
    with pytest.raises(ArgumentError, match=r"MAX_K cannot be '0': .*greater than 0"):
        Settings.from_environment({"FEWBITS_SERVE_MAX_K": "0"})
