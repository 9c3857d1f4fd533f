"""OpenCV when it is installed, one thread for each image."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from fewbits._extras import missing_extra
from fewbits._kernels import num_threads
from fewbits.backbones._base import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")

_BATCH = 64
_lock = Lock()
_users = 0
_threads_outside = 1


def opencv() -> Any:
    """Return the module ``cv2``."""
    try:
        import cv2
        import PIL  # noqa: F401
    except ImportError:
        what = "classic descriptors need OpenCV and Pillow"
        raise missing_extra(what, "classic") from None
    return cv2


def for_each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Yield what `function` makes of each item, in order, several at a time."""
    with one_thread(), ThreadPoolExecutor(num_threads()) as pool:
        for start in range(0, len(items), _BATCH):
            stop = min(start + _BATCH, len(items))
            yield from pool.map(function, [items[row] for row in range(start, stop)])
            if progress is not None:
                progress(stop, len(items))


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep OpenCV to one thread; the last to leave restores what the first found."""
    global _users, _threads_outside
    cv2 = opencv()
    with _lock:
        if _users == 0:
            _threads_outside = cv2.getNumThreads()
            cv2.setNumThreads(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                cv2.setNumThreads(_threads_outside)
