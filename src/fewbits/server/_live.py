"""The snapshot that is served, and the next one in its place."""

import hashlib
import itertools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fewbits.bundle import Bundle
from fewbits.bundle.serving import folder_state, last_verified
from fewbits.errors import ArtefactError


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One state of a bundle, which requests hold while they use it.

    Attributes
    ----------
    bundle : Bundle
    version : str
        Opaque; another one for another state.
    results : dict
        What was computed once for this state.
    """

    bundle: Bundle
    version: str
    since: float = field(default_factory=time.time)
    results: dict[Any, Any] = field(default_factory=dict, repr=False)


class Live:
    """The newest snapshot of a folder, or of a bundle in memory.

    Reading it is one attribute: a reader keeps its own. The swap is one assignment.

    Parameters
    ----------
    source : Bundle, str or Path
    """

    def __init__(self, source: Bundle | str | Path) -> None:
        self._folder = None if isinstance(source, Bundle) else Path(source)
        self.name = "bundle" if self._folder is None else self._folder.resolve().name
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._state: str | None = None
        self._fault: str | None = None
        self._damage: str | None = None
        if isinstance(source, Bundle):
            self.snapshot = self._made(source)
        else:
            self._state = folder_state(source)
            self.snapshot = self._made(Bundle.load(source))
            last = last_verified(source)
            if last is not None and not last.report.is_intact:
                told = str(last.report.damages[0])
                self.set_damage(told if self._names_ours(told) else None)

    def warm(self) -> None:
        """Make the index of the first snapshot, which the start does not wait for."""
        try:
            _ = self.snapshot.bundle.items and self.snapshot.bundle.index
        except ArtefactError as error:
            self.set_damage(str(error))
        except Exception as error:
            self._fault = self.public(str(error))

    @property
    def fault(self) -> str | None:
        """Fault of the folder, None where nothing is known to be wrong."""
        return self._fault or self._damage

    def set_damage(self, told: str | None) -> None:
        """Remember what an error or a verification says; None for nothing wrong."""
        self._damage = None if told is None else self.public(told)

    def public(self, told: str) -> str:
        """Return a message without the path of the folder, for clients."""
        if self._folder is None:
            return told
        for folder in (str(self._folder.absolute()), str(self._folder)):
            if len(folder) > 1:
                told = told.replace(folder + os.sep, "").replace(folder, self.name)
        return told

    def names_file(self, told: str) -> bool:
        """Return whether a message is about the folder, or a file in it."""
        return self._folder is not None and str(self._folder.absolute()) in told

    @property
    def folder(self) -> Path | None:
        """The folder of the bundle; None of one in memory."""
        return self._folder

    def refresh(self) -> bool:
        """Take over what the folder has now; return whether that is new.

        A folder that cannot be read leaves the old snapshot, and `fault` says why.
        """
        if self._folder is None:
            return False
        with self._lock:
            try:
                state = folder_state(self._folder)
                if state == self._state:
                    self._fault = None  # of a folder that was put right
                    return False
                newest = self._newest(state)
                # Made now, not by the first request.
                _ = newest.items and newest.index
                self.snapshot = self._made(newest)
            except Exception as error:  # whatever it is, the old one still answers
                self._fault = self.public(str(error))
                return False
            self._state, self._fault = state, None
            if self._damage is not None and not self._names_ours(self._damage):
                self._damage = None  # of files that were replaced
            return True

    def _names_ours(self, told: str) -> bool:
        """Return whether a message names a file of the newest state."""
        assert self._folder is not None
        items = self.snapshot.bundle.items
        held = None if items is None else items.snapshot
        names = set() if held is None else held.manifest.names()
        names |= {path.name for path in self._folder.glob("*-*.*")}
        return any(name in told for name in names)

    def _newest(self, state: str) -> Bundle:
        """Return the bundle of the folder; where only rows came and went, soon."""
        held = self.snapshot.bundle
        same_bundle = state.partition("/")[0] == (self._state or "").partition("/")[0]
        if same_bundle and held.items is not None:
            return held.snapshot()
        assert self._folder is not None
        return Bundle.load(self._folder)

    def change(self, function: Callable[[Bundle], Bundle]) -> Snapshot:
        """Serve the bundle that a function makes of the one that is served."""
        with self._lock:
            changed = function(self.snapshot.bundle)
            _ = changed.index
            self.snapshot = self._made(changed)
            if self._folder is not None and self._state is not None:
                # A commit of another writer has another number, and is seen then.
                self._state = f"{self._state.partition('/')[0]}/{changed.commit}"
            return self.snapshot

    def _made(self, bundle: Bundle) -> Snapshot:
        commit = None if bundle.items is None else bundle.commit
        told = f"{bundle.encoder.fingerprint}/{commit}/{self._state}"
        digest = hashlib.sha256(told.encode()).hexdigest()[:8]
        _ = bundle.item_kind  # loads the backbone
        return Snapshot(bundle, f"{digest}.{next(self._count)}")
