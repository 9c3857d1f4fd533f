"""Writing files so that a crash leaves the old version or the new one, never a mix."""

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import IO, Any


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` when the block ends well.

    The file's content is on the disk before the name changes, and the change of name
    is on the disk before this returns. When the block raises, `path` is untouched and
    the temporary file is gone. A symbolic link stays one: what it points to is
    replaced. Devices and pipes are written to, since they cannot be replaced. Errors
    name `path`, not the temporary file.
    """
    path = Path(path)
    is_device = path.exists() and not (path.is_file() or path.is_dir())
    with _naming(path):
        if is_device:
            content = BytesIO()  # some writers seek, which a pipe cannot
            yield content
            path.write_bytes(content.getbuffer())
        else:
            with _replaced(path.resolve()) as file:
                yield file


def check_writable(path: str | Path) -> None:
    """Raise OSError where `atomic_write` would make no file; none is left here."""
    path = Path(path)
    with _naming(path), _temporary(path.resolve(), delete=True):
        pass


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let an error name `path` and not the temporary file."""
    try:
        yield
    except OSError as error:
        name, ours = error.filename, f".{path.resolve().name}."
        of_another = name is not None and not Path(name).name.startswith(ours)
        if error.errno is None or of_another:  # which the block itself opened
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _temporary(path: Path, *, delete: bool) -> Iterator[Any]:
    with NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=delete
    ) as file:
        yield file


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    with _temporary(path, delete=False) as file:
        try:
            yield file
            file.flush()
            sync(file.fileno())
            file.close()
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(file.name, 0o666 & ~mask)
            os.replace(file.name, path)
        except BaseException:
            # An interrupt may come when the file has its name already.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file.name)
            raise
    sync_folder(path.parent)


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Give a file that never changes a second name, which must be new.

    Where that cannot be, as on another file system, it is copied, and the copy is on
    the disk. Its name need not be.
    """
    try:
        os.link(source, target)
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError:
        with open(source, "rb") as file, open(target, "xb") as copy:
            copyfileobj(file, copy, 1 << 20)
            copy.flush()
            sync(copy.fileno())


def remove_leftovers(path: str | Path) -> None:
    """Delete what `atomic_write` could not, as the process was killed meanwhile.

    For files that one process writes at a time.
    """
    path = Path(path).resolve()
    for name in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        name.unlink(missing_ok=True)


def make_folder(folder: str | Path) -> None:
    """Make a folder where it is not there; its name is on the disk then."""
    folder = Path(folder).resolve()
    missing = [each for each in folder.parents if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in (folder, *missing):
        with contextlib.suppress(PermissionError):  # written to, but not read
            sync_folder(each.parent)


def sync_folder(folder: str | Path) -> None:
    """Put the names in `folder` on the disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """Put the content of an open file on the disk."""
    if sys.platform == "darwin":  # whose fsync leaves the disk's own cache alone
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)
