"""Small products are left to one thread of BLAS, and only they."""

from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fewbits.learners import ITQ
from fewbits.learners._core._threads import threads_for


def n_threads():
    return {each["num_threads"] for each in threadpool_info() if is_blas(each)}


def is_blas(library):
    return library["user_api"] == "blas"


@pytest.fixture(autouse=True)
def two():
    with threadpool_limits(2, user_api="blas"):
        assert n_threads() == {2}  # OpenBLAS has them on one core, too
        yield


def test_small_products_have_one_thread_for_as_long_as_they_last():
    with threads_for(100, 100, 100):
        assert n_threads() == {1}
        with threads_for(10, 10, 10):
            assert n_threads() == {1}
        assert n_threads() == {1}
    assert n_threads() == {2}


def test_large_products_have_all():
    with threads_for(1000, 1000, 1000):
        assert n_threads() == {2}


def test_they_are_back_after_an_error():
    with pytest.raises(ZeroDivisionError), threads_for(1, 1, 1):
        1 / 0  # noqa: B018
    assert n_threads() == {2}


def test_who_leaves_last_does_not_leave_one_for_good():
    inside, left = Barrier(2, timeout=60), Barrier(2, timeout=60)

    def last():
        with threads_for(1, 1, 1):
            inside.wait()
            left.wait()

    other = Thread(target=last)
    with threads_for(1, 1, 1):
        other.start()
        inside.wait()
        assert n_threads() == {1}
    left.wait()
    other.join()
    assert n_threads() == {2}
    with threads_for(1, 1, 1):
        assert n_threads() == {1}


def test_a_fit_leaves_them_as_they_were():
    X = np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32)
    ITQ(8, n_iter=3, random_state=0).fit(X)
    assert n_threads() == {2}
