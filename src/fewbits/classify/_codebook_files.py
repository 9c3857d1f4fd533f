"""Reading codebooks back."""

from pathlib import Path

from fewbits._artefacts import read_tensors
from fewbits.classify._codebook import FORMAT, Codebook
from fewbits.classify._names import names_from_tensors
from fewbits.errors import ArtefactError, FewbitsError


def load_codebook(path: str | Path) -> Codebook:
    """Read a codebook written by `Codebook.save`, and check it against its fingerprint.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Codebook
        With the same fingerprint.

    Raises
    ------
    ArtefactError
        When the file is not a codebook, is damaged, or was written by a newer version.
    OSError
        When there is no such file, or it may not be read.
    """
    metadata, tensors = read_tensors(path, "codebook", FORMAT)
    try:
        codes, names = tensors["codes"], names_from_tensors(tensors)
        book = Codebook(codes, int(metadata["n_bits"]), names)
    except (FewbitsError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    if book.fingerprint != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return book
