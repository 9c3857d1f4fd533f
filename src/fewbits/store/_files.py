"""Whole small files."""

from typing import Any

from fewbits.store._disk import Disk


def write_file(disk: Disk, name: str, data: Any, *, sync: bool = True) -> None:
    """Write a new file and put its content, but not yet its name, on the disk."""
    file = disk.create(name)
    try:
        file.write(data)
        if sync:
            file.sync()
    finally:
        file.close()
