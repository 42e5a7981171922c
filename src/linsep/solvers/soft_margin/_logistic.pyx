"""Passes of a logistic regression over its rows, without the interpreter's lock.

One score is the logarithm of the odds of class 1; more are a score a class, logarithms
of probabilities but for what all have in common.
"""

from libc.math cimport exp, fabs, log

import numpy as np

from scipy.linalg.cython_lapack cimport dpotrf, dpotri, dpotrs

from linsep.solvers._blas cimport (
    add_product,
    add_weighted_gram,
    combinations,
    dot,
    images,
    multiply,
)

# A row's leverage times its curvature is less than one; rounding need not know.
cdef double LEAST_REST = 0.1
# Up to so many columns a BLAS multiplies two matrices sooner than one by itself.
cdef Py_ssize_t FEW_COLUMNS = 32
# Sufficient decrease of a step, and the shortest one tried.
cdef double DECREASE = 1e-4, SHORTEST = 1e-9
# A diagonal that rounding made too low is lifted by these shares, one after another.
cdef double[5] LIFTS = [0.0, 1e-14, 1e-12, 1e-10, 1e-8]
# Less than any pivot that a small system of leverages has.
cdef double LEAST_PIVOT = 1e-300


def judge(
    const double[:, ::1] scores,
    const Py_ssize_t[::1] labels,
    const double[::1] weights,
    double[:, ::1] p,
    double[:, ::1] pull,
):
    """Return the sum of the weighted losses, minus the logs of the classes' chances.

    Fills `p` with the probabilities that scores give, `pull` with the derivatives of
    the losses.
    """
    cdef double loss
    with nogil:
        loss = judged(scores, labels, weights, p, pull)
    return loss


cdef double judged(
    const double[:, ::1] scores,
    const Py_ssize_t[::1] labels,
    const double[::1] weights,
    double[:, ::1] p,
    double[:, ::1] pull,
) noexcept nogil:
    """Do what `judge` says."""
    cdef Py_ssize_t i, j, k = scores.shape[1], own
    cdef double total = 0.0, s, small, share, loss
    for i in range(scores.shape[0]):
        own = labels[i]
        if k == 1:
            s = scores[i, 0]
            small = exp(-fabs(s))
            share = 1.0 / (1.0 + small)
            p[i, 0] = share if s >= 0.0 else small * share
            pull[i, 0] = weights[i] * (p[i, 0] - own)
            loss = log_above(small, share) + max(s * (1.0 - 2.0 * own), 0.0)
        else:
            loss = judge_classes(k, own, &scores[i, 0], &p[i, 0])
            for j in range(k):
                pull[i, j] = weights[i] * (p[i, j] - (j == own))
        total += weights[i] * loss
    return total


cdef inline double log_above(double x, double share) noexcept nogil:
    """Return ``log(1 + x)`` of a positive number, given ``1 / (1 + x)``.

    What the sum rounds away changes the logarithm by as much, divided by the sum. The
    function of C takes twice as long.
    """
    cdef double total = 1.0 + x
    return log(total) + (x - (total - 1.0)) * share


cdef double judge_classes(
    Py_ssize_t k, Py_ssize_t own, const double* scores, double* p
) noexcept nogil:
    """Fill `p` with a row's probabilities; return its loss."""
    cdef Py_ssize_t j, top = 0
    cdef double rest = 0.0
    for j in range(1, k):
        if scores[j] > scores[top]:
            top = j
    for j in range(k):
        p[j] = exp(scores[j] - scores[top])
        if j != top:
            rest += p[j]
    cdef double share = 1.0 / (1.0 + rest)
    for j in range(k):
        p[j] *= share
    return log_above(rest, share) + (scores[top] - scores[own])


cpdef bint are_right(
    const double[:, ::1] scores, const Py_ssize_t[::1] labels
) noexcept nogil:
    """Tell whether every row's class has the highest score."""
    cdef Py_ssize_t i, j, k = scores.shape[1], own
    for i in range(scores.shape[0]):
        own = labels[i]
        if k == 1:
            if not (scores[i, 0] > 0.0 if own else scores[i, 0] < 0.0):
                return False
            continue
        for j in range(k):
            if j != own and not scores[i, own] > scores[i, j]:
                return False
    return True


def descend(
    const double[:, ::1] rows,
    const Py_ssize_t[::1] labels,
    const double[::1] weights,
    const double[::1] ridge,
    double[:, ::1] V,
    double[:, ::1] scores,
    double[:, ::1] p,
    double[:, ::1] pull,
    double[:, ::1] before,
    double[::1, :] triangle,
    double loss,
    double share,
    Py_ssize_t most_steps,
    bint until_right,
    Py_ssize_t block,
):
    """Go on by Newton's method until a step lowers the loss by no more than a share.

    Or, `until_right`, until every row's class has the highest score. All arrays but the
    first four are overwritten: coefficients and what `judge` makes of them, and of the
    last step the factor of the Hessian and the probabilities where that was taken. A
    BLAS is called once for `block` rows, while they are in cache.

    Returns
    -------
    n_steps : int
    loss : float

    Raises
    ------
    numpy.linalg.LinAlgError
        If rounding leaves no positive definite system.
    """
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], k = V.shape[0]
    cdef Py_ssize_t n_steps = 0, i, j
    cdef int size = <int> (k * d), one = 1, failed = 0
    cdef double gain
    cdef double[:, ::1] step = np.empty((k, d)), change = np.empty((n, k))
    cdef double[:, ::1] held = np.empty((block, d)), old_V = np.empty((k, d))
    cdef double[:, ::1] old_scores = np.empty((n, k)), gradient = np.empty((k, d))
    cdef double[::1] curved = np.empty(n)
    cdef double[::1, :] part = np.empty((d, d), order="F")
    with nogil:
        while n_steps < most_steps and not (until_right and are_right(scores, labels)):
            n_steps += 1
            combinations(n, d, k, &rows[0, 0], &pull[0, 0], &gradient[0, 0])
            for i in range(k):
                for j in range(d):
                    gradient[i, j] += ridge[j] * V[i, j]
            step[:, :] = gradient
            before[:, :] = p
            for i in range(5):
                fill_hessian(rows, weights, p, ridge, held, curved, part, triangle)
                for j in range(k * d):
                    triangle[j, j] *= 1.0 + LIFTS[i]
                dpotrf("L", &size, &triangle[0, 0], &size, &failed)
                if not failed:
                    break
            if failed:
                break
            dpotrs(
                "L", &size, &one, &triangle[0, 0], &size, &step[0, 0], &size, &failed
            )
            gain = dot(k * d, &gradient[0, 0], &step[0, 0])
            images(n, d, k, &rows[0, 0], &step[0, 0], &change[0, 0])
            old_V[:, :] = V
            old_scores[:, :] = scores
            loss = step_inplace(
                old_V, step, old_scores, change, labels, weights, ridge, loss, gain,
                V, scores, p, pull,
            )
            if gain <= share * loss:
                break
    if failed:
        raise np.linalg.LinAlgError("the system of a step is singular")
    return n_steps, loss


def take_step(
    const double[:, ::1] V,
    const double[:, ::1] step,
    const double[:, ::1] scores,
    const double[:, ::1] change,
    const Py_ssize_t[::1] labels,
    const double[::1] weights,
    const double[::1] ridge,
    double loss,
    double gain,
    double[:, ::1] p,
    double[:, ::1] pull,
):
    """Return coefficients less a step, halved until it pays; their scores and loss.

    The `change` is that of the scores by the step, and `gain` what it promises to lower
    the penalised loss by. The last two arrays are filled as by `judge`.
    """
    new_V, new_scores = np.empty_like(V), np.empty_like(scores)
    loss = step_inplace(
        V, step, scores, change, labels, weights, ridge, loss, gain, new_V, new_scores,
        p, pull,
    )
    return new_V, new_scores, loss


cdef double step_inplace(
    const double[:, ::1] V,
    const double[:, ::1] step,
    const double[:, ::1] scores,
    const double[:, ::1] change,
    const Py_ssize_t[::1] labels,
    const double[::1] weights,
    const double[::1] ridge,
    double loss,
    double gain,
    double[:, ::1] new_V,
    double[:, ::1] new_scores,
    double[:, ::1] p,
    double[:, ::1] pull,
) noexcept nogil:
    """Do what `take_step` says."""
    cdef Py_ssize_t i, j
    cdef double before = loss + penalty_of(V, ridge), length = 1.0
    while True:
        for i in range(V.shape[0]):
            for j in range(V.shape[1]):
                new_V[i, j] = V[i, j] - length * step[i, j]
        for i in range(scores.shape[0]):
            for j in range(scores.shape[1]):
                new_scores[i, j] = scores[i, j] - length * change[i, j]
        loss = judged(new_scores, labels, weights, p, pull)
        if loss + penalty_of(new_V, ridge) <= (
            before - DECREASE * length * gain + 1e-13 * fabs(before)
        ) or length <= SHORTEST:
            return loss
        length *= 0.5


cdef double penalty_of(const double[:, ::1] V, const double[::1] ridge) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double total = 0.0
    for i in range(V.shape[0]):
        for j in range(V.shape[1]):
            total += ridge[j] * V[i, j] * V[i, j]
    return 0.5 * total


cdef void fill_hessian(
    const double[:, ::1] rows,
    const double[::1] weights,
    const double[:, ::1] p,
    const double[::1] ridge,
    double[:, ::1] held,
    double[::1] curved,
    double[::1, :] part,
    double[::1, :] out,
) noexcept nogil:
    """Set `out` to the second derivatives, penalised: their lower triangle."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], k = p.shape[1], i, a, b, r, c
    cdef double sign
    for a in range(k):
        for b in range(a + 1):
            # Off the diagonal the blocks are negative, and symmetric as well.
            for i in range(n):
                curved[i] = weights[i] * p[i, a]
                curved[i] *= 1.0 - p[i, a] if a == b else p[i, b]
            part[:, :] = 0.0
            if d <= FEW_COLUMNS:
                add_curved(rows, curved, held, part)
            else:
                add_weighted_gram(
                    n, d, &rows[0, 0], &curved[0], &held[0, 0], held.shape[0],
                    &part[0, 0],
                )
            sign = 1.0 if a == b else -1.0
            for c in range(d):
                for r in range(c, d):
                    out[a * d + r, b * d + c] = sign * part[r, c]
                    out[a * d + c, b * d + r] = sign * part[r, c]
    for r in range(k * d):
        out[r, r] += ridge[r % d]


cdef void add_curved(
    const double[:, ::1] rows,
    const double[::1] weights,
    double[:, ::1] held,
    double[::1, :] out,
) noexcept nogil:
    """Add the weighted moments of rows, both triangles."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], i, j, start = 0, stop
    while start < n:
        stop = min(start + held.shape[0], n)
        for i in range(start, stop):
            for j in range(d):
                held[i - start, j] = weights[i] * rows[i, j]
        add_product(stop - start, d, &held[0, 0], &rows[start, 0], &out[0, 0])
        start = stop


def left_out(
    const double[:, ::1] rows,
    triangle,
    const double[:, ::1] p,
    const double[:, ::1] residual,
    const double[::1] units,
    Py_ssize_t block,
):
    """Return how scores move when each row is left out, shape (n, k).

    `triangle` is the factor of the Hessian where rows have probabilities `p`; the
    `residual` is ``p_i - y_i``. A row has a matrix H of leverages, by which its scores
    move by ``H (I - C H)^-1 r``, C the curvature of its loss.
    """
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], k = p.shape[1], i, a, b
    cdef double[:, :, ::1] leverages = np.empty((n, k, k))
    cdef double[:, ::1] held = np.empty((block, d)), part = np.empty((d, d))
    cdef double[::1, :] inverse = np.array(triangle, order="F")
    cdef int size = <int> (k * d), failed
    cdef double[:, ::1] rest = np.empty((k, k + 1))
    result = np.zeros((n, k))
    cdef double[:, ::1] out = result
    with nogil:
        dpotri("L", &size, &inverse[0, 0], &size, &failed)
        for a in range(k):
            for b in range(a + 1):
                for i in range(d * d):
                    (&part[0, 0])[i] = inverse[
                        max(a * d + i // d, b * d + i % d),
                        min(a * d + i // d, b * d + i % d),
                    ]
                fill_leverages(rows, units, part, held, leverages[:, a, b])
                leverages[:, b, a] = leverages[:, a, b]
        for i in range(n):
            if k == 1:
                out[i, 0] = leverages[i, 0, 0] * residual[i, 0] / max(
                    1.0 - leverages[i, 0, 0] * p[i, 0] * (1.0 - p[i, 0]), LEAST_REST
                )
            else:
                move_scores(
                    k, &leverages[i, 0, 0], &p[i, 0], &residual[i, 0], &rest[0, 0],
                    &out[i, 0],
                )
    return result


cdef void fill_leverages(
    const double[:, ::1] rows,
    const double[::1] units,
    const double[:, ::1] matrix,
    double[:, ::1] held,
    double[:] out,
) noexcept nogil:
    """Set `out` to ``units_i a_i' M a_i``, of a matrix M."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], i, j, start = 0, stop
    cdef double total
    while start < n:
        stop = min(start + held.shape[0], n)
        multiply(stop - start, d, &rows[start, 0], &matrix[0, 0], &held[0, 0])
        for i in range(start, stop):
            total = 0.0
            for j in range(d):
                total += held[i - start, j] * rows[i, j]
            out[i] = units[i] * total
        start = stop


cdef void move_scores(
    Py_ssize_t k,
    const double* leverage,
    const double* p,
    const double* residual,
    double* rest,
    double* out,
) noexcept nogil:
    """Add a row's move to `out`; `rest` is room for k rows of k + 1 numbers.

    An offset common to all classes cancels: residuals and curvatures sum to zero.
    """
    cdef Py_ssize_t a, b
    cdef double mean
    for b in range(k):
        mean = 0.0
        for a in range(k):
            mean += p[a] * leverage[a * k + b]
        for a in range(k):
            rest[a * (k + 1) + b] = (a == b) - p[a] * (leverage[a * k + b] - mean)
    for a in range(k):
        rest[a * (k + 1) + k] = residual[a]
    solve_small(k, rest)
    for a in range(k):
        for b in range(k):
            out[a] += leverage[a * k + b] * rest[b * (k + 1) + k]


cdef void solve_small(Py_ssize_t k, double* A) noexcept nogil:
    """Solve k equations, each a row of k + 1 numbers; the last become the solution."""
    cdef Py_ssize_t i, j, r, best, width = k + 1
    cdef double share, kept
    for j in range(k):
        best = j
        for i in range(j + 1, k):
            if fabs(A[i * width + j]) > fabs(A[best * width + j]):
                best = i
        for r in range(j, width):
            kept = A[j * width + r]
            A[j * width + r] = A[best * width + r]
            A[best * width + r] = kept
        if A[j * width + j] == 0.0:
            A[j * width + j] = LEAST_PIVOT
        for i in range(k):
            if i != j:
                share = A[i * width + j] / A[j * width + j]
                for r in range(j, width):
                    A[i * width + r] -= share * A[j * width + r]
    for j in range(k):
        A[j * width + k] /= A[j * width + j]
