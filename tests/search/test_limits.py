"""When a search must end: the clock, the counts, the callback, each by itself."""

import numpy as np
import pytest

from linsep import InputError
from linsep.search.limits import Clock, Limits, Monitor, Stopped


class StoppedClock(Clock):
    """A clock whose hand is moved by the test."""

    hand = 0.0

    def elapsed(self):
        return type(self).hand


@pytest.fixture
def at():
    def move(seconds):
        StoppedClock.hand = seconds

    move(0.0)
    return move


def monitor_of(callback=None, **limits):
    return Monitor(Limits(**limits), callback, StoppedClock())


def test_limits_are_named_and_checked():
    with pytest.raises(TypeError):
        Limits(1, None, 3.0)
    limits = Limits.checked(max_passes=3, max_rounds=None, time_limit=None)
    assert (limits.max_passes, limits.max_rounds, limits.time_limit) == (
        3,
        None,
        np.inf,
    )
    for name in ("max_passes", "max_rounds", "time_limit"):
        with pytest.raises(InputError, match=name):
            Limits.checked(**{name: 0})


def test_each_limit_is_a_reason_and_says_what_to_do(at):
    monitor = monitor_of(time_limit=2.0, max_rounds=5, max_passes=1)
    assert monitor.reason_to_stop() is None
    monitor.n_rounds = 5
    assert monitor.rounds_left == 0
    assert "max_rounds=5" in monitor.reason_to_stop()
    assert monitor.reason_to_stop(rounds=False) is None
    at(2.5)
    assert "2 s passed; allow more" in monitor.reason_to_stop(rounds=False)
    with pytest.raises(Stopped, match="2 s passed"):
        monitor.stop_if_due()
    at(1.0)
    monitor.begin_sweep()
    monitor.end_sweep(n_violations=3)
    assert (monitor.n_passes, monitor.trace[-1].n_violations) == (1, 3)
    with pytest.raises(Stopped, match="max_passes=1"):
        monitor.begin_sweep()


def test_asking_tells_nobody_and_telling_is_not_too_often(at):
    seen = []
    monitor = monitor_of(seen.append)
    at(9.0)
    for _ in range(3):
        monitor.reason_to_stop()
    assert seen == []
    for seconds in (9.0, 9.1, 9.3, 9.4):
        at(seconds)
        assert not monitor.should_stop()
    assert [state.seconds for state in seen] == [9.0, 9.3]


def test_a_callback_that_wants_to_stop_is_heard_between_rounds(at):
    monitor = monitor_of(lambda state: state.n_rounds >= 20)
    monitor.n_rounds = 10
    should_stop = monitor.counting()
    at(1.0)
    assert not should_stop(5)
    at(2.0)
    assert should_stop(10)
    assert monitor.n_rounds == 20
    assert "callback" in monitor.reason_to_stop()


def test_bounds_are_taken_in_and_never_given_up():
    monitor = Monitor(Limits())
    for bound in (1.0, 0.5):
        monitor.at_least(bound)
    for bound in (2.0, 3.0):
        monitor.at_most(bound)
    assert (monitor.interval.lower, monitor.interval.upper) == (1.0, 2.0)
    assert monitor.interval.is_closed(0.5)
    assert not monitor.interval.is_closed(0.4)
    monitor.trace.append(None)
    monitor.amend_last_sweep()
    assert monitor.effort.trace[-1].margin_upper == 2.0
