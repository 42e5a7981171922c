"""Large planted data: passes, seconds and memory of `linsep.separate`.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/million.py

Memory is the peak of the process during the call, less what it held before.
"""

import resource
import time

from linsep import datasets, separate

PROBLEMS = [
    ("1,000,000 x 100, margin 1e-3", 1_000_000, 100, 1e-3, 0),
    ("500,000 x 50, margin 1e-7", 500_000, 50, 1e-7, 0),
    ("1,000,000 x 50, 10 labels flipped", 1_000_000, 50, 1e-3, 10),
]


def current_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def reset_peak():
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")


def peak_bytes():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main():
    warm = datasets.planted_margin(5_000, 10, margin=0.01)
    separate(warm.X, warm.y, fit_intercept=warm.fit_intercept)
    for name, n, d, margin, n_flips in PROBLEMS:
        if n_flips:
            data = datasets.flipped_labels(n, d, n_flips=n_flips)
        else:
            data = datasets.planted_margin(n, d, margin=margin)
        reset_peak()
        before = current_bytes()
        started = time.perf_counter()
        answer = separate(data.X, data.y, fit_intercept=data.fit_intercept)
        seconds = time.perf_counter() - started
        extra = (peak_bytes() - before) / 1e6
        print(
            f"{name}: {answer.status.value}, proved={answer.proved}, "
            f"{answer.n_passes} passes, {answer.n_rounds} rounds, {seconds:.2f} s, "
            f"{extra:.0f} MB beyond the data"
        )


if __name__ == "__main__":
    main()
