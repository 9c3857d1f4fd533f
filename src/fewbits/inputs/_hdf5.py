"""HDF5 files, such as those of ann-benchmarks: matrices under names."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import known_names
from fewbits._extras import missing_extra
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, one_line

#: Whatever h5py makes of a file that is none.
_DAMAGE = (OSError, KeyError, RuntimeError, ValueError, TypeError, MemoryError)


def read_hdf5(
    path: Path, column: str | None, label_column: str | None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return one data set, and one of labels.

    Files of ann-benchmarks hold ``train``, the items, and ``test``, the queries.
    """
    try:
        import h5py
    except ImportError:
        raise missing_extra("HDF5 files need h5py", "hdf5") from None
    try:
        with h5py.File(path, "r") as file:
            known: list[str] = []
            file.visititems(
                lambda name, each: (
                    known.append(name) if isinstance(each, h5py.Dataset) else None
                )
            )
            for wanted in (column, label_column):
                if wanted is not None and wanted not in known:
                    raise ArgumentError(
                        f"{path} has no data set {wanted!r}; it has "
                        f"{known_names(known)}"
                    )
            name = column or _only(file, [n for n in known if n != label_column], path)
            labels = _values(file[label_column]) if label_column else None
            return _values(file[name]), labels
    except (FewbitsError, PermissionError):
        raise
    except _DAMAGE as error:
        raise ArtefactError(f"{path} is not an HDF5 file: {one_line(error)}") from error


def _values(data: Any) -> NDArray[Any]:
    """Return a data set as an array; of texts, which HDF5 keeps as bytes, strings."""
    import h5py

    if data.dtype.kind == "S" or h5py.check_string_dtype(data.dtype):
        return np.asarray(data.asstr("utf-8")[()])
    found = data[()]
    return np.empty((0, 0)) if isinstance(found, h5py.Empty) else np.asarray(found)


def _only(file: Any, names: list[str], path: Path) -> str:
    """Return the only matrix; a file that has several needs a name."""
    if len(names) == 1:
        return names[0]
    shapes = known_names(f"{name} {file[name].shape}" for name in names)
    raise ArgumentError(
        f"{path} holds {len(names)} data sets ({shapes}); name one (on the command "
        "line by --column)"
    )
