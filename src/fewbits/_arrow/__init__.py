"""Arrow tables and what can be read as one: data frames, their columns, files.

The one place where foreign types become NumPy arrays: what `fit`, `encode`, `search`
and the readers of files accept is decided here.
"""

from fewbits._arrow._frames import (
    as_column,
    as_frame,
    as_table,
    has_own_index,
    is_column,
    is_frame,
    is_mixed,
    typed_column,
    typed_columns,
    typed_table,
    with_index,
)
from fewbits._arrow._kinds import (
    is_flag,
    is_integer,
    is_list,
    is_number,
    is_text,
    known_names,
    plain_type,
)
from fewbits._arrow._numbers import (
    as_array,
    check_no_blank,
    list_matrix,
    missing_message,
    named_array,
    number_matrix,
    repeated,
)
from fewbits._arrow._plain import own_memory, plain_column, plain_table, stored_column
from fewbits._arrow._values import python_values

__all__ = [
    "as_array",
    "as_column",
    "as_frame",
    "as_table",
    "check_no_blank",
    "has_own_index",
    "is_column",
    "is_flag",
    "is_frame",
    "is_integer",
    "is_list",
    "is_mixed",
    "is_number",
    "is_text",
    "known_names",
    "list_matrix",
    "missing_message",
    "named_array",
    "number_matrix",
    "own_memory",
    "plain_column",
    "plain_table",
    "plain_type",
    "python_values",
    "repeated",
    "stored_column",
    "typed_column",
    "typed_columns",
    "typed_table",
    "with_index",
]
