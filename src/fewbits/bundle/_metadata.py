"""Metadata of a bundle: how it was made and how it is searched."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from fewbits._repr import one_line
from fewbits.bundle._metadata_checks import CHECKS
from fewbits.errors import ArgumentError, ArtefactError

#: What holds for the columns of one collection, and is shown with its other facts.
_OF_COLUMNS = ("feature_names", "raw_column", "label_column", "id_column")
#: What holds for codes of one length.
_OF_LENGTH = ("novelty_radius", "shortlist", "label_threshold")


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Origin of an encoder, names of its collection, and settings of its search.

    Parameters
    ----------
    method : str, default=None
        Name of the learner, such as ``"itq"``.
    parameters : mapping, default={}
        Parameters of the learner. Of what JSON knows; copied, lists become tuples.
    kernel_map : str, default=None
        Kernel of the feature map before the learner.
    feature_names : sequence of str, default=None
        Columns of the features, in the order in which the encoder takes them.
    trained_on : int, default=None
        Number of training items.
    several_labels : bool, default=False
        Whether an item can have several labels, rather than one class.
    repaired_classes : int, default=None
        Number of classes whose code was changed because another class had it.
    label_threshold : float, default=None
        Score from which on an item has a label.
    shortlist : int, default=None
        Number of items to re-rank; None searches by Hamming distance alone.
    index : {"flat", "multi-index"}, default=None
        How codes are searched, see `Bundle.with_index`; None is ``"auto"``.
    keep_vectors : {"float16", "float32", "int8"}, default=None
        Form in which new collections keep their vectors; None keeps none.
    novelty_radius : int, default=None
        Hamming distance beyond which a query is unknown to the collection.
    raw_column, label_column, id_column : str, default=None
        Names of the columns of texts or image paths, of labels, and of ids.
    prefix_of : int, default=None
        Length in bits of the codes that these are a prefix of.
    interrupted : str, default=None
        When learning was interrupted, such as ``"after 3 iterations"``.
    extra : mapping, default={}
        Whatever else you want to keep, of what JSON knows; copied.

    Raises
    ------
    ArgumentError
        When a value is of another type or out of range, or a name in `extra` is that
        of a field.

    Examples
    --------
    >>> made = Metadata(method="itq", shortlist=100, extra={"owner": "Ada"})
    >>> made.to_dict()
    {'method': 'itq', 'shortlist': 100, 'extra': {'owner': 'Ada'}}
    >>> Metadata(shortlist=0)
    Traceback (most recent call last):
    fewbits.errors.ArgumentError: shortlist must be a whole number from 1 on, got 0
    """

    method: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    kernel_map: str | None = None
    shortlist: int | None = None
    index: str | None = None
    keep_vectors: str | None = None
    trained_on: int | None = None
    repaired_classes: int | None = None
    several_labels: bool = False
    label_threshold: float | None = None
    prefix_of: int | None = None
    raw_column: str | None = None
    label_column: str | None = None
    id_column: str | None = None
    novelty_radius: int | None = None
    interrupted: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return one_line(self)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = CHECKS[each.name](each.name, getattr(self, each.name))
            object.__setattr__(self, each.name, value)
        if taken := {each.name for each in fields(self)} & set(self.extra):
            name = min(taken)
            raise ArgumentError(f"extra cannot have {name!r}: give it as {name}=")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that say something, as plain values for JSON."""
        return dict(self._known())

    @classmethod
    def from_dict(cls, given: Any, source: object) -> Self:
        """Return what `to_dict` gave, read from a file.

        Parameters
        ----------
        given : object
            Content of the file, which may be damaged.
        source : object
            Name of the file, for errors.

        Raises
        ------
        ArtefactError
            When it is not a mapping of fields to values that they can have.
        """
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            raise ArtefactError(f"{source} is damaged: metadata is a {kind}, no object")
        names = {each.name for each in fields(cls)}
        if unknown := sorted(map(str, set(given) - names)):
            raise ArtefactError(
                f"{source} is damaged: metadata has no field {unknown[0]!r}"
            )
        try:
            return cls(**given)
        except ArgumentError as error:
            raise ArtefactError(f"{source} is damaged: metadata: {error}") from error

    def summary(self) -> dict[str, Any]:
        """Return all but the names of columns in one flat dict."""
        facts = {name: x for name, x in self._known() if name not in _OF_COLUMNS}
        facts.pop("extra", None)
        return {**facts, **self.extra}

    def of_other_length(self, n_bits: int) -> Self:
        """Return what still holds for a prefix of codes that had `n_bits` bits."""
        unknown: dict[str, Any] = dict.fromkeys(_OF_LENGTH)
        return replace(self, **unknown, prefix_of=self.prefix_of or n_bits)

    def _known(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and value is not False and value != {}:
                yield each.name, value
