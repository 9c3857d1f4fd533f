"""Files from which an interrupted training goes on as if nothing had happened."""

import json
from errno import ENOENT
from hashlib import sha256
from io import BytesIO
from os import strerror
from pathlib import Path
from typing import Any

import torch

from fewbits._files import atomic_write, remove_leftovers
from fewbits.errors import ArtefactError
from fewbits.learners._core._iterative import check_identity

_FORMAT = b"fewbits-training-6\n"
_HEAD = len(_FORMAT) + 32  # and a checksum of what follows


def save(path: str | Path, identity: dict[str, Any], state: dict[str, Any]) -> None:
    """Replace the file by this state, all of it or nothing.

    Parameters
    ----------
    identity : dict
        What training depends on: another training refuses the file.
    state : dict
        Tensors, numbers, strings, lists and dicts.
    """
    buffer = BytesIO()
    torch.save({"identity": json.dumps(identity), "state": state}, buffer)
    content = buffer.getvalue()
    with atomic_write(path) as file:
        file.write(_FORMAT + sha256(content).digest() + content)


def load(path: str | Path, identity: dict[str, Any]) -> dict[str, Any] | None:
    """Return the state in a file, or None when there is no file yet.

    Raises
    ------
    ArtefactError
        When the file is damaged, or belongs to another training; nothing in it is run.
    FileNotFoundError
        When there is no such folder.
    """
    path = Path(path)
    remove_leftovers(path)
    if not path.exists():
        if not path.parent.is_dir():  # told before the first epoch, not after it
            raise FileNotFoundError(ENOENT, strerror(ENOENT), str(path))
        return None
    whole = path.read_bytes()
    head, content = whole[:_HEAD], whole[_HEAD:]
    damaged = f"{path} is not a checkpoint of a training, or damaged; name another"
    if head != _FORMAT + sha256(content).digest():
        raise ArtefactError(damaged)
    try:
        found = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # of many kinds, for what it refuses to make
        raise ArtefactError(damaged) from error
    then, state = json.loads(found["identity"]), found["state"]
    check_identity(path, then, json.loads(json.dumps(identity)), "training")
    return dict(state)
