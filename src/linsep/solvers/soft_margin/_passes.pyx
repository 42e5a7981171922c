"""Compiled passes over the rows of a soft margin, without the interpreter's lock."""

from libc.math cimport exp, fabs, log, sqrt

import numpy as np

from linsep.solvers._blas cimport add_scaled, add_weighted_gram

# Exponents beyond these would leave the doubles: a cap or zero is meant. A level found
# further than FAR temperatures from the guess is sought once more from there; NEAR
# where there were exponents too small, of which the new level may make something.
cdef double LARGEST_EXPONENT = 600.0
cdef double SMALLEST_EXPONENT = -700.0
cdef double FAR = 500.0
cdef double NEAR = 1.0
cdef int MOST_GUESSES = 100_000


def predictor_gap(
    const double[::1] theta,
    const double[::1] u,
    const double[::1] z,
    const double[::1] s,
    const double[::1] dtheta,
    double[::1] dz,
    double[::1] ds,
):
    """Fill ``dz`` and ``ds``; return the gap that the longest steps would leave."""
    cdef Py_ssize_t i, n = theta.shape[0]
    cdef double primal = 1.0, dual = 1.0, after = 0.0
    with nogil:
        for i in range(n):
            dz[i] = -z[i] - z[i] / theta[i] * dtheta[i]
            ds[i] = -s[i] + s[i] / u[i] * dtheta[i]
            primal = max(primal, -dtheta[i] / theta[i], dtheta[i] / u[i])
            dual = max(dual, -dz[i] / z[i], -ds[i] / s[i])
        primal = 1.0 / primal
        dual = 1.0 / dual
        for i in range(n):
            after += (z[i] + dual * dz[i]) * (theta[i] + primal * dtheta[i])
            after += (s[i] + dual * ds[i]) * (u[i] - primal * dtheta[i])
    return after


def corrector_targets(
    const double[::1] theta,
    const double[::1] u,
    const double[::1] z,
    const double[::1] s,
    const double[::1] dtheta,
    double[::1] dz,
    double[::1] ds,
    double mu,
):
    """Overwrite ``dz`` and ``ds`` by the targets of z and s; return the right side."""
    cdef Py_ssize_t i
    result = np.empty(theta.shape[0])
    cdef double[::1] right = result
    with nogil:
        for i in range(theta.shape[0]):
            dz[i] = (mu - dz[i] * dtheta[i]) / theta[i]
            ds[i] = (mu + ds[i] * dtheta[i]) / u[i]
            right[i] = (dz[i] - z[i]) - (ds[i] - s[i])
    return result


def take_step_inplace(
    double[::1] theta,
    double[::1] u,
    double[::1] z,
    double[::1] s,
    const double[::1] dtheta,
    double[::1] dz,
    double[::1] ds,
    double share,
):
    """Turn targets into steps and take them; return the length and the new gap."""
    cdef Py_ssize_t i, n = theta.shape[0]
    cdef double reach = share, length, gap = 0.0
    with nogil:
        for i in range(n):
            dz[i] -= z[i] + z[i] / theta[i] * dtheta[i]
            ds[i] -= s[i] - s[i] / u[i] * dtheta[i]
            reach = max(reach, -dtheta[i] / theta[i], dtheta[i] / u[i])
            reach = max(reach, -dz[i] / z[i], -ds[i] / s[i])
        length = min(1.0, share / reach)
        for i in range(n):
            theta[i] += length * dtheta[i]
            u[i] -= length * dtheta[i]
            z[i] += length * dz[i]
            s[i] += length * ds[i]
            gap += z[i] * theta[i] + s[i] * u[i]
    return length, gap


def capped_exponentials(
    const double[::1] m,
    const double[::1] caps,
    double temperature,
    double mass,
    double level,
    double[::1] p,
):
    """Fill ``p`` with ``caps min(1, exp((level - m) / temperature))`` of a given mass.

    Returns the least of ``sum_i p_i m_i + T sum_i p_i log(p_i / cap_i)``, which these
    weights attain, and the level. The level given is a guess.
    """
    cdef double value
    with nogil:
        value = exponentials_inplace(
            m.shape[0], &m[0], &caps[0], temperature, mass, &level, &p[0]
        )
    return value, level


cdef double exponentials_inplace(
    Py_ssize_t n,
    const double* m,
    const double* caps,
    double temperature,
    double mass,
    double* level,
    double* p,
) noexcept nogil:
    """Do what `capped_exponentials` says."""
    cdef Py_ssize_t i
    cdef int tries
    cdef double guess, reach, e, raw, s = 1.0, value = 0.0
    for tries in range(MOST_GUESSES):
        guess = level[0]
        reach = FAR
        for i in range(n):
            e = (guess - m[i]) / temperature
            if e < SMALLEST_EXPONENT:
                reach = NEAR
            p[i] = caps[i] * exp(min(max(e, SMALLEST_EXPONENT), LARGEST_EXPONENT))
        s = scale_to_mass(n, p, caps, mass)
        level[0] = guess + temperature * log(s)
        if fabs(level[0] - guess) <= reach * temperature:
            break
    for i in range(n):
        raw = s * p[i]
        if raw >= caps[i]:
            p[i] = caps[i]
            value += caps[i] * m[i]
        else:
            p[i] = raw
            value += raw * level[0]  # m + T log(p / cap) is the level
    return value


cdef double scale_to_mass(
    Py_ssize_t n, const double* raw, const double* caps, double mass
) noexcept nogil:
    """Return ``s`` with ``sum_i min(cap_i, s raw_i) = mass``.

    The sum is concave in ``s``, so Newton's method climbs to the root from below after
    at most one step down.
    """
    cdef Py_ssize_t i
    cdef int steps
    cdef double s = 1.0, new, filled, slope
    cdef bint done
    for steps in range(1000):
        filled = slope = 0.0
        for i in range(n):
            if s * raw[i] >= caps[i]:
                filled += caps[i]
            else:
                slope += raw[i]
        if slope <= 0.0 and filled <= mass * (1.0 + 1e-14):
            break
        new = (mass - filled) / slope if slope > 0.0 else 0.0
        if new <= 0.0:
            s *= 1e-3
            continue
        done = fabs(new - s) <= 1e-14 * s
        s = new
        if done:
            break
    return s


def answer_groups(
    const double[::1] m,
    const double[::1] caps,
    double temperature,
    const Py_ssize_t[::1] starts,
    double[::1] levels,
    double[::1] p,
):
    """Fill ``p`` group by group, each of an equal mass; return the sum of the values.

    Group ``g`` is the entries from ``starts[g]`` up to ``starts[g + 1]``; its level, a
    guess at first, is overwritten.
    """
    cdef Py_ssize_t g, a, n_groups = levels.shape[0]
    cdef double value = 0.0
    with nogil:
        for g in range(n_groups):
            a = starts[g]
            value += exponentials_inplace(
                starts[g + 1] - a, &m[a], &caps[a], temperature, 1.0 / n_groups,
                &levels[g], &p[a],
            )
    return value


def mean_spread(
    const double[::1] values, const double[::1] weights, const Py_ssize_t[::1] starts
):
    """Return the standard deviation within each class, averaged over the classes."""
    cdef Py_ssize_t i, k, n_classes = starts.shape[0] - 1
    cdef double total = 0.0, mass, mean, square
    with nogil:
        for k in range(n_classes):
            mass = mean = square = 0.0
            for i in range(starts[k], starts[k + 1]):
                mass += weights[i]
                mean += weights[i] * values[i]
            mean /= mass
            for i in range(starts[k], starts[k + 1]):
                square += weights[i] * (values[i] - mean) ** 2
            total += sqrt(square / mass)
    return total / n_classes


def weighted_gram(
    const double[:, ::1] rows,
    const double[::1] weights,
    const Py_ssize_t[::1] starts,
    Py_ssize_t block,
):
    """Return ``rows.T @ diag(weights) @ rows`` about groups' means.

    The lower triangle only. Group ``g`` is the rows from ``starts[g]`` up to
    ``starts[g + 1]``; with no groups the sum is about zero. Rows of weight zero are
    left out. A BLAS is called once for `block` rows, while they are in cache.
    """
    cdef Py_ssize_t i, j, k, g, n = rows.shape[0], d = rows.shape[1]
    cdef double mass
    result = np.zeros((d, d), order="F")
    cdef double[::1, :] out = result
    cdef double[:, ::1] held = np.empty((block, d))
    cdef double[::1] mean = np.empty(d)
    with nogil:
        if n and d:
            add_weighted_gram(
                n, d, &rows[0, 0], &weights[0], &held[0, 0], block, &out[0, 0]
            )
        for g in range(starts.shape[0] - 1):
            mass = 0.0
            mean[:] = 0.0
            for i in range(starts[g], starts[g + 1]):
                if weights[i] != 0.0:
                    mass += weights[i]
                    add_scaled(d, weights[i], &rows[i, 0], &mean[0])
            if mass > 0.0:
                for j in range(d):
                    for k in range(j, d):
                        out[k, j] -= mean[j] / mass * mean[k]
    return result


ctypedef fused Place:
    int
    long long


def curved_product(
    const double[::1] data,
    const Place[::1] indices,
    const Place[::1] indptr,
    const double[::1] weights,
    const double[:, ::1] p,
    const double[:, ::1] x,
):
    """Return ``sum_i c_i C_i x a_i a_i'``, shape (k, d), of sparse rows.

    ``C_i`` is the curvature of a row's logistic loss, ``diag(p_i) - p_i p_i'``. A row
    is read twice while it is in cache.
    """
    cdef Py_ssize_t i, j, c, n = p.shape[0], k = p.shape[1], start, stop
    cdef double mean, change
    result = np.zeros((k, x.shape[1]))
    cdef double[:, ::1] out = result
    cdef double[::1] image = np.empty(k)
    with nogil:
        for i in range(n):
            start, stop = indptr[i], indptr[i + 1]
            mean = 0.0
            for c in range(k):
                image[c] = sparse_dot(
                    stop - start, &data[start], &indices[start], &x[c, 0]
                )
                mean += p[i, c] * image[c]
            for c in range(k):
                change = weights[i] * p[i, c] * (image[c] - mean)
                for j in range(start, stop):
                    out[c, indices[j]] += change * data[j]
    return result


cdef inline double sparse_dot(
    Py_ssize_t n, const double* data, const Place* indices, const double* x
) noexcept nogil:
    """Return ``sum_j data_j x[indices_j]``, in four sums, which do not wait in turn."""
    cdef Py_ssize_t j = 0
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    while j + 4 <= n:
        a += data[j] * x[indices[j]]
        b += data[j + 1] * x[indices[j + 1]]
        c += data[j + 2] * x[indices[j + 2]]
        d += data[j + 3] * x[indices[j + 3]]
        j += 4
    while j < n:
        a += data[j] * x[indices[j]]
        j += 1
    return (a + b) + (c + d)


def column_moments(
    const double[:, ::1] X,
    const double[::1] share,
    double[::1] mean,
    double[::1] largest,
    double[::1] peak,
    double[::1] square,
):
    """Fill each column's mean, largest magnitude, and the same about the mean.

    Last comes the mean square about the mean; ``share`` sums to one. All must be zero.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], d = X.shape[1]
    cdef double distance
    cdef const double* x
    if n == 0 or d == 0:
        return
    with nogil:
        for i in range(n):
            x = &X[i, 0]
            for j in range(d):
                mean[j] += share[i] * x[j]
                largest[j] = max(largest[j], fabs(x[j]))
        for i in range(n):
            x = &X[i, 0]
            for j in range(d):
                distance = x[j] - mean[j]
                peak[j] = max(peak[j], fabs(distance))
                square[j] += share[i] * (distance * distance)


def moved_rows(
    const double[:, ::1] X,
    const double[::1] origin,
    const double[::1] scale,
    const double[::1] signs,
    double[:, ::1] out,
):
    """Fill ``out`` with the rows ``sign (x - origin) / scale``."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(X.shape[0]):
            for j in range(X.shape[1]):
                out[i, j] = signs[i] * ((X[i, j] - origin[j]) / scale[j])
