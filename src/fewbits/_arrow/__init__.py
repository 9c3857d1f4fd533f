"""Arrow tables and what can be read as one: data frames, their columns, files.

The one place where foreign types become NumPy arrays: what `fit`, `encode`, `search`
and the readers of files accept is decided here.
"""

from fewbits._arrow._convert import MisfitError, converted
from fewbits._arrow._numbers import (
    as_array,
    list_matrix,
    missing_message,
    named_array,
    number_matrix,
    repeated,
    widened,
)
from fewbits._arrow._python import array_of, python_rows, python_values
from fewbits._arrow._tables import (
    as_column,
    as_frame,
    as_table,
    by_name,
    chunks_of,
    frame_names,
    is_column,
    is_frame,
    is_list,
    is_mixed,
    is_number,
    is_text,
    known_names,
    no_column,
    one_chunk,
    own_memory,
    own_table,
    plain_column,
    plain_table,
    plain_type,
    rows_by_names,
    split_names,
    stored_column,
    typed_column,
    typed_columns,
    typed_table,
    with_index,
)
