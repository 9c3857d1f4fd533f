"""Writing files so that a crash leaves the old version or the new one, never a mix."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` when the block ends well.

    The file's content is on the disk before the name changes, and the change of name
    is on the disk before this returns. When the block raises, `path` is untouched and
    the temporary file is gone. A symbolic link stays one: what it points to is
    replaced. Devices and pipes are written to, since they cannot be replaced.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        content = BytesIO()  # some writers seek, which a pipe cannot
        yield content
        path.write_bytes(content.getbuffer())
        return
    path = path.resolve()
    with NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False
    ) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    sync_folder(path.parent)


def sync_folder(folder: str | Path) -> None:
    """Put the names in `folder` on the disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
