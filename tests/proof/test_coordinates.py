"""Rows in the coordinates of a basis: what the numbers say is so."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, arb_mat

from linsep.proof import coordinates
from linsep.proof.coordinates import basis_coordinates


def integers(rng, m, r, spread=30):
    """Rows of very different sizes, the first r of them independent, one of zeros."""
    values = rng.integers(-9, 10, (m, r)).astype(object)
    values[:r] += 40 * np.eye(r, dtype=object)
    for i in range(m):
        values[i] *= 1 << int(rng.integers(0, spread))
    values[-1] = 0
    return values


@pytest.fixture(params=["exact", "balls"])
def way(request, monkeypatch):
    if request.param == "balls":
        monkeypatch.setattr(coordinates, "_EXACT_BITS", -1)
    return request.param


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_sums_of_the_basis(seed, way):
    rng = np.random.default_rng(seed)
    m, r = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    values = integers(rng, m, r)
    order = rng.permutation(m)
    values = values[order]
    basis = [int(np.flatnonzero(order == k)[0]) for k in rng.permutation(r)]
    tableau, levels = basis_coordinates(values, basis)
    assert tableau.shape == (m, r)
    for k in range(m):
        scale = Fraction(2) ** int(levels[k])
        found = [
            scale
            * sum(
                Fraction(t) * int(values[b, j])
                for t, b in zip(tableau[k], basis, strict=True)
            )
            for j in range(r)
        ]
        largest = np.abs(tableau[k]).max()
        if not values[k].any():
            assert (largest, levels[k]) == (0.0, 0)
            continue
        assert 0.5 <= largest <= 2.0
        size = scale * max(abs(int(v)) for b in basis for v in values[b])
        for value, sum_found in zip(values[k], found, strict=True):
            assert abs(sum_found - int(value)) <= size * Fraction(r, 1 << 45)
    if way == "exact":
        for j, k in enumerate(basis):
            assert tableau[k].tolist() == np.eye(r)[j].tolist()
            assert levels[k] == 0


def test_balls_are_made_smaller_until_every_row_is_accurate(monkeypatch):
    # Nearly dependent: the coordinates cancel hundreds of bits.
    monkeypatch.setattr(coordinates, "_EXACT_BITS", -1)
    big = 1 << 400
    values = np.array([[big, big + 1], [big - 1, big], [1, 1], [3, -2]], dtype=object)
    tableau, levels = basis_coordinates(values, [0, 1])
    # (1, 1) = row 0 - row 1; and 3, -2 by Cramer's rule, the determinant being 1.
    assert tableau[2].tolist() == [0.5, -0.5] or tableau[2].tolist() == [1.0, -1.0]
    assert tableau[2, 0] * 2.0 ** levels[2] == 1.0
    expected = [3 * big + 2 * (big - 1), -3 * (big + 1) - 2 * big]
    for entry, exact in zip(tableau[3], expected, strict=True):
        found = Fraction(entry) * Fraction(2) ** levels[3]
        assert abs(found - exact) <= Fraction(abs(exact), 1 << 45)


@pytest.mark.parametrize(("bits", "is_accurate"), [(44, False), (45, True)])
def test_balls_must_be_far_smaller_than_the_largest_of_their_row(bits, is_accurate):
    # The first row (a column here) alone would do.
    small = arb(0.25, 2.0**-bits)
    solution = arb_mat(
        [[arb(8.0), small / 8], [arb(0.5, 2.0**-bits), arb(1.0) + small]]
    )
    found = coordinates._rounded_balls(solution, [False, False])
    if is_accurate:
        tableau, levels = found
        assert np.ldexp(tableau, np.array(levels)[:, None]).tolist() == [
            [8.0, 0.5],
            [0.03125, 1.25],
        ]
    else:
        assert found is None


def test_mantissas_are_cut_to_64_bits():
    def dyadic(mantissa, power):
        return coordinates._dyadic(SimpleNamespace(man_exp=lambda: (mantissa, power)))

    assert dyadic(0, 0) == (0, -(1 << 40))
    assert dyadic((1 << 64) - 1, 5) == ((1 << 64) - 1, 5)
    assert dyadic((1 << 70) + 1, -3) == (1 << 63, 4)


def test_entries_a_ball_cannot_tell_from_zero_are_small(monkeypatch):
    monkeypatch.setattr(coordinates, "_EXACT_BITS", -1)
    values = np.array([[3, 0], [0, 7], [3 << 300, 7]], dtype=object)
    tableau, levels = basis_coordinates(values, [0, 1])
    assert tableau[2, 0] * 2.0 ** (levels[2] - 300) == 1.0
    assert 0.0 <= tableau[2, 1] <= 2.0**-45
