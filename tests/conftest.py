"""Settings every test runs under."""

import os
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

os.environ.setdefault("MPLBACKEND", "Agg")

# "ci" is the default everywhere: the same examples each run, so that a failure is
# repeatable. "night" looks further: HYPOTHESIS_PROFILE=night make slow.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,  # the first example pays for compilation
    database=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "night", parent=settings.get_profile("ci"), derandomize=False, max_examples=2000
)
# A failure is all that is asked for, not the smallest (tools/mutants.py).
settings.register_profile(
    "mutants",
    parent=settings.get_profile("ci"),
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C; also heard where SIGINT is ignored, as in a background job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
