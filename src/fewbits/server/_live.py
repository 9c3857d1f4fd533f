"""The version that is served, and the next one in its place."""

import hashlib
import itertools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fewbits.collection import Collection
from fewbits.errors import ArtefactError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version of a collection, which requests hold while they use it.

    Attributes
    ----------
    collection : Collection
        To be read only.
    version : str
        Opaque; another one for another state.
    results : dict
        What was computed once for this state.
    """

    collection: Collection
    version: str
    since: float = field(default_factory=time.time)
    results: dict[Any, Any] = field(default_factory=dict, repr=False)


class Live:
    """The newest version of a folder, or of a collection in memory.

    Reading it is one attribute: a reader keeps its own. The swap is one assignment.

    Parameters
    ----------
    source : Collection, str or Path
    """

    def __init__(self, source: Collection | str | Path) -> None:
        if not isinstance(source, Collection):
            source = Collection.open(source)
        self._collection, self.folder = source, source.path
        self.name = "memory" if self.folder is None else self.folder.resolve().name
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._fault: str | None = None
        self._damage: str | None = None
        self.snapshot = self._made()
        last = source.last_verified()
        if last is not None and not last.report.is_intact:
            text = last.report.problems[0]
            self.set_damage(text if self._names_ours(text) else None)

    def warm(self) -> None:
        """Make the index of the first version, which the start does not wait for."""
        try:
            self.snapshot.collection.warm()
        except ArtefactError as error:
            self.set_damage(str(error))
        except Exception as error:
            self._fault = self.public(str(error))

    @property
    def fault(self) -> str | None:
        """Fault of the folder, None where nothing is known to be wrong."""
        return self._fault or self._damage

    def set_damage(self, text: str | None) -> None:
        """Remember what an error or a verification says; None for nothing wrong."""
        self._damage = None if text is None else self.public(text)

    def public(self, text: str) -> str:
        """Return a message without the path of the folder, for clients."""
        if self.folder is None:
            return text
        for folder in (str(self.folder.absolute()), str(self.folder)):
            if len(folder) > 1:
                text = text.replace(folder + os.sep, "").replace(folder, self.name)
        return text

    def names_file(self, text: str) -> bool:
        """Return whether a message is about the folder, or a file in it."""
        return self.folder is not None and str(self.folder.absolute()) in text

    def _names_ours(self, text: str) -> bool:
        """Return whether a message names a file of the newest version."""
        return any(name in text for name in self.snapshot.collection.file_names())

    def refresh(self) -> bool:
        """Take over what the folder has now; return whether that is new.

        A folder that cannot be read leaves the old version, and `fault` says why.
        """
        if self.folder is None:
            return False
        with self._lock:
            try:
                changed = self._collection.refresh()
                self._fault = None  # of a folder that was put right
                if not changed:
                    return False
                newest = self._made()
                newest.collection.warm()  # now, not by the first request
                self.snapshot = newest
            except Exception as error:  # whatever it is, the old one still answers
                self._fault = self.public(str(error))
                return False
            if self._damage is not None and not self._names_ours(self._damage):
                self._damage = None  # of files that were replaced
            return True

    def change(self, function: Callable[[Collection], T]) -> tuple[Snapshot, T]:
        """Change the collection, and serve what it is then."""
        with self._lock:
            result = function(self._collection)
            newest = self._made()
            newest.collection.warm()
            self.snapshot = newest
            return newest, result

    def _made(self) -> Snapshot:
        collection = self._collection.frozen()
        text = f"{collection.encoder.fingerprint}/{collection.version}/{self.folder}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        _ = collection.kind  # loads the backbone
        return Snapshot(collection, f"{digest}.{next(self._count)}")
