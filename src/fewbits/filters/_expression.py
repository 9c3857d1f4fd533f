"""A pyarrow expression, evaluated as pyarrow does."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import acero

from fewbits.errors import ArgumentError
from fewbits.filters._values import name_of_type

ANSWER = "answer"


def evaluate_expression(expression: pc.Expression, table: pa.Table) -> Any:
    """Return the truth of `expression` for each row, in the order of the table."""
    plan = acero.Declaration.from_sequence(
        [
            acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
            acero.Declaration(
                "project", acero.ProjectNodeOptions([expression], [ANSWER])
            ),
        ]
    )
    truth = plan.to_table(use_threads=False).column(ANSWER)
    if truth.type != pa.bool_():
        raise ArgumentError(
            "a filter must be true or false for each row, the expression is"
            f" {name_of_type(truth.type)}"
        )
    return truth
