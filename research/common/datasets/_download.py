"""Downloads that resume, and are what their checksums say."""

import hashlib
import http.client
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from fewbits._files import sync_folder
from fewbits.errors import ArtefactError, MissingDataError

Progress = Callable[[int, int], None]
_CHUNK = 2**18
_FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"


@dataclass(frozen=True)
class Remote:
    """A file on a server."""

    url: str
    name: str  # below the folder of downloads
    checksum: str  # algorithm and digest, such as "sha256:9f86..."
    size: int | None = None  # bytes, if known


def fetch(
    remote: Remote,
    folder: str | Path,
    *,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Return the local copy of a file, downloaded unless it is there already.

    What has arrived is kept in a file named ``.part``; a later call resumes from
    there. The file gets its name only when it is complete and its checksum is right.
    """
    path = Path(folder, remote.name)
    part = path.with_name(f"{path.name}.part")
    if _is_right(path, remote):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    if not _is_right(part, remote):
        _complete(remote, part, progress, timeout)
        if not _is_right(part, remote):
            part.unlink()
            raise ArtefactError(
                f"{remote.url} is not the expected file (wrong size or checksum); "
                "the download was thrown away"
            )
    os.replace(part, path)
    sync_folder(path.parent)
    return path


def _complete(
    remote: Remote, part: Path, progress: Progress | None, timeout: float
) -> None:
    """Download the rest of `part`."""
    start = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "fewbits"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with urlopen(Request(remote.url, headers=headers), timeout=timeout) as response:
            if response.status != http.client.PARTIAL_CONTENT:
                start = 0  # a server that ignores the range sends all
            length = int(response.headers.get("Content-Length") or 0)
            done, size = start, remote.size or start + length
            with open(part, "ab" if start else "wb") as file:
                while chunk := response.read(_CHUNK):
                    file.write(chunk)
                    done += len(chunk)
                    # A server that never ends must not fill the disk.
                    if size and done > size:
                        break
                    if progress:
                        progress(done, size or done)
                file.flush()
                os.fsync(file.fileno())
    except HTTPError as error:
        error.close()
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            part.unlink()  # it is longer than the file
            _complete(remote, part, progress, timeout)
            return
        raise MissingDataError(
            f"{remote.url} cannot be had: the server says {error.code} {error.reason}"
        ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise MissingDataError(
            f"{remote.url} cannot be downloaded ({reason}); run it again to go on"
        ) from None
    if done < size:
        raise MissingDataError(
            f"{remote.url} ended after {done:,} of {size:,} bytes; run it again to "
            "go on"
        )


def _is_right(path: Path, remote: Remote) -> bool:
    if not path.is_file() or remote.size not in (None, path.stat().st_size):
        return False
    algorithm, _, digest = remote.checksum.partition(":")
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest() == digest


_FASHION_FILES = {
    "train-images-idx3-ubyte.gz": (
        26421880,
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ),
    "train-labels-idx1-ubyte.gz": (
        29515,
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    ),
    "t10k-images-idx3-ubyte.gz": (
        4422102,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    "t10k-labels-idx1-ubyte.gz": (
        5148,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
}
FASHION_MNIST = [
    Remote(f"{_FASHION}/{name}", f"fashion-mnist/{name}", f"sha256:{digest}", size)
    for name, (size, digest) in _FASHION_FILES.items()
]
CIFAR10 = [
    Remote(
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        "cifar-10-binary.tar.gz",
        "sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        170052171,
    )
]
# The archive publishes MD5 only; against damage on the way that is enough.
CALTECH101 = [
    Remote(
        "https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",
        "caltech-101.zip",
        "md5:3138e1922a9193bfa496528edbbc45d0",
    )
]
WORDNET = [
    Remote(
        "https://wordnetcode.princeton.edu/3.0/WNdb-3.0.tar.gz",
        "WNdb-3.0.tar.gz",
        "sha256:658b1ba191f5f98c2e9bae3e25c186013158f30ef779f191d2a44e5d25046dc8",
    )
]
