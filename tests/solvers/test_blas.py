"""BLAS is left with the threads it was found with."""

import os
import subprocess
import sys
import threading

import pytest
import scipy.linalg  # noqa: F401  # its BLAS is held too
from threadpoolctl import threadpool_info, threadpool_limits

from linsep.solvers.blas import FEW_ENTRIES, NARROW, calm_blas


def blas_threads():
    return [
        pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"
    ]


def test_threads_are_restored_after_calls_that_overlap():
    with threadpool_limits(2, user_api="blas"):
        found = blas_threads()
        first_in, second_in, first_out = (threading.Event() for _ in range(3))

        def first():
            with calm_blas(1):
                first_in.set()
                second_in.wait(30)
            first_out.set()

        thread = threading.Thread(target=first)
        thread.start()
        assert first_in.wait(30)
        with calm_blas(1):
            second_in.set()
            assert first_out.wait(30)
            assert set(blas_threads()) <= {1}  # the first to go takes nothing away
        thread.join()
        assert blas_threads() == found


def test_threads_are_restored_after_an_error():
    found = blas_threads()
    with pytest.raises(ZeroDivisionError), calm_blas(1):
        raise ZeroDivisionError
    assert blas_threads() == found


def test_wide_and_tiny_matrices_keep_their_threads():
    with threadpool_limits(2, user_api="blas"):
        found = blas_threads()
        with calm_blas(NARROW + 1):
            assert blas_threads() == found
        with calm_blas(1, n_entries=FEW_ENTRIES):
            assert blas_threads() == found
        with calm_blas(1, n_entries=FEW_ENTRIES + 1):
            assert set(blas_threads()) <= {1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_forked_meanwhile_has_the_threads_that_were_found():
    # In a process of its own: where threads run, Python warns of forks.
    code = (
        "import os, numpy\n"
        "from threadpoolctl import threadpool_info, threadpool_limits\n"
        "from linsep.solvers.blas import calm_blas\n"
        "def threads():\n"
        "    return [p['num_threads'] for p in threadpool_info()]\n"
        "with threadpool_limits(2, user_api='blas'):\n"
        "    found = threads()\n"
        "    assert 2 in found\n"
        "    with calm_blas(1):\n"
        "        child = os.fork()\n"
        "        if child == 0:\n"
        "            assert threads() == found\n"
        "    assert threads() == found\n"
        "    with calm_blas(1):\n"
        "        assert set(threads()) == {1}\n"
        "if child == 0:\n"
        "    os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_blas_of_scipy_is_held_before_its_package_is_imported():
    code = (
        "from linsep.solvers.blas import calm_blas\n"
        "with calm_blas(1):\n"
        "    import scipy.linalg\n"
        "    from threadpoolctl import threadpool_info\n"
        "    pools = [p for p in threadpool_info() if p['user_api'] == 'blas']\n"
        "assert {p['num_threads'] for p in pools} <= {1}, pools"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
