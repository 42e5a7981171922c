"""Cox regressions whose pairs are billions: `diagnose(family="cox")`.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/cox.py

100,000 rows of 20 columns with 50,000 events, which have an estimate; and the same with
a rare column of 0 and 1 whose rows have no event. Memory is the peak of the process
during the call, less what it held before.
"""

import time

import numpy as np
from million import current_bytes, peak_bytes, reset_peak

import linsep

N, D = 100_000, 20


def cohort(rare):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    hazard = np.exp(X @ rng.normal(0, 0.2, D))
    time_to_event = rng.exponential(1.0, N) / hazard
    censored = np.quantile(time_to_event, 0.5)
    event = time_to_event < censored
    if rare:
        X[:, 0] = rng.random(N) < 0.002
        event &= X[:, 0] == 0
    return X, np.column_stack([np.minimum(time_to_event, censored), event])


def main():
    linsep.diagnose(*(part[:2000] for part in cohort(False)), family="cox")
    for rare in (False, True):
        X, times = cohort(rare)
        reset_peak()
        before = current_bytes()
        started = time.perf_counter()
        answer = linsep.diagnose(X, times, family="cox")
        seconds = time.perf_counter() - started
        verdicts = {str(verdict) for verdict in answer.estimates.values()}
        print(
            f"{times[:, 1].sum():,.0f} events: {answer.status.value}, "
            f"proved={answer.proved}, {sorted(verdicts)}, {seconds:.2f} s, "
            f"{(peak_bytes() - before) / 1e6:.0f} MB beyond the data"
        )


if __name__ == "__main__":
    main()
