"""Threads that work on chunks: in order, and not beyond the call."""

import threading
import time

import pytest

from linsep.rows.threads import map_in_threads


def test_no_chunk_is_worked_at_once_a_loop_is_left(monkeypatch):
    """Also by an error, as a time limit ends it."""
    monkeypatch.setenv("LINSEP_NUM_THREADS", "2")
    at_work, lock = 0, threading.Lock()

    def slowly(number):
        nonlocal at_work
        with lock:
            at_work += 1
        if number == 0:
            raise TimeoutError
        time.sleep(0.05)
        with lock:
            at_work -= 1
        return number

    with pytest.raises(TimeoutError):
        list(map_in_threads(slowly, range(20)))
    assert at_work == 1  # the one that raised
    at_work = 0
    found = map_in_threads(slowly, range(1, 20))
    assert next(found) == 1
    found.close()
    assert at_work == 0
