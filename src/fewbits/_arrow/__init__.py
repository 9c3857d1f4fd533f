"""Arrow tables and what can be read as one: data frames, their columns, files.

The one place where foreign types become NumPy arrays: what `fit`, `encode`, `search`
and the readers of files accept is decided here.
"""

from fewbits._arrow._frames import as_column, as_table, is_column, is_frame
from fewbits._arrow._kinds import (
    is_integer,
    is_list,
    is_number,
    is_text,
    known_names,
    plain_type,
)
from fewbits._arrow._numbers import as_array, list_matrix, missing_told, number_matrix
from fewbits._arrow._plain import plain_column, plain_table

__all__ = [
    "as_array",
    "as_column",
    "as_table",
    "is_column",
    "is_frame",
    "is_integer",
    "is_list",
    "is_number",
    "is_text",
    "known_names",
    "list_matrix",
    "missing_told",
    "number_matrix",
    "plain_column",
    "plain_table",
    "plain_type",
]
