"""Arrow tables and what can be read as one: data frames, their columns, files.

The one place where foreign types become NumPy arrays: what `fit`, `encode`, `search`
and the readers of files accept is decided here.
"""

from fewbits._arrow._numbers import as_array as as_array
from fewbits._arrow._numbers import check_no_blank as check_no_blank
from fewbits._arrow._numbers import list_matrix as list_matrix
from fewbits._arrow._numbers import missing_message as missing_message
from fewbits._arrow._numbers import named_array as named_array
from fewbits._arrow._numbers import number_matrix as number_matrix
from fewbits._arrow._numbers import repeated as repeated
from fewbits._arrow._tables import as_column as as_column
from fewbits._arrow._tables import as_frame as as_frame
from fewbits._arrow._tables import as_table as as_table
from fewbits._arrow._tables import chunks_of as chunks_of
from fewbits._arrow._tables import has_own_index as has_own_index
from fewbits._arrow._tables import is_column as is_column
from fewbits._arrow._tables import is_flag as is_flag
from fewbits._arrow._tables import is_frame as is_frame
from fewbits._arrow._tables import is_integer as is_integer
from fewbits._arrow._tables import is_list as is_list
from fewbits._arrow._tables import is_mixed as is_mixed
from fewbits._arrow._tables import is_number as is_number
from fewbits._arrow._tables import is_text as is_text
from fewbits._arrow._tables import known_names as known_names
from fewbits._arrow._tables import own_memory as own_memory
from fewbits._arrow._tables import plain_column as plain_column
from fewbits._arrow._tables import plain_table as plain_table
from fewbits._arrow._tables import plain_type as plain_type
from fewbits._arrow._tables import python_values as python_values
from fewbits._arrow._tables import stored_column as stored_column
from fewbits._arrow._tables import typed_column as typed_column
from fewbits._arrow._tables import typed_columns as typed_columns
from fewbits._arrow._tables import typed_table as typed_table
from fewbits._arrow._tables import with_index as with_index
