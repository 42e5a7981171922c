"""Products in pieces are the products, and end when asked to."""

import numpy as np
import pytest

import linsep
from linsep.solvers import pieces
from linsep.solvers.engines import Kind, solve
from linsep.solvers.hard_margin.working import solve_margin
from linsep.solvers.pieces import Halted, divided_by, gram_of, second_moment


def forbidden():
    raise Halted


@pytest.fixture(params=[1, 40, 1 << 31])
def rows(request, monkeypatch):
    monkeypatch.setattr(pieces, "A_PIECE", request.param)
    return np.random.default_rng(0).standard_normal((13, 5))


def test_products_are_those_of_the_whole_matrix(rows):
    def go_on():
        pass

    triangle = np.triu(np.ones((5, 5)))
    np.testing.assert_allclose(second_moment(rows, go_on), rows.T @ rows)
    np.testing.assert_allclose(gram_of(rows, go_on), rows @ rows.T)
    np.testing.assert_allclose(
        divided_by(rows.copy(), triangle, go_on) @ triangle, rows
    )


@pytest.mark.parametrize("product", [second_moment, gram_of])
def test_a_product_of_many_pieces_can_be_ended(product, monkeypatch):
    rows = np.ones((13, 5))
    product(rows, forbidden)  # one piece: nobody is asked
    monkeypatch.setattr(pieces, "A_PIECE", 40)
    with pytest.raises(Halted):
        product(rows, forbidden)


@pytest.mark.parametrize("shape", [(400, 80), (30, 90)])
def test_engines_can_be_ended_before_their_first_round(shape):
    rows = np.random.default_rng(0).standard_normal(shape)
    candidate = solve(rows, should_stop=lambda n_rounds: True)
    assert (candidate.kind, candidate.n_rounds) == (Kind.STALLED, 0)
    assert candidate.support.size == 0
    assert candidate.w.shape == (shape[1],)


@pytest.mark.parametrize("shape", [(90, 80), (30, 90)])
def test_a_margin_can_be_ended_before_its_first_step(shape):
    rows = np.random.default_rng(0).standard_normal(shape)
    solution = solve_margin(
        rows,
        False,
        start=np.empty(0, dtype=np.intp),
        tolerance=1e-9,
        should_stop=lambda n_steps: True,
    )
    assert solution.n_steps == 0
    assert solution.support.size == 0


@pytest.mark.parametrize("call", [linsep.separate, linsep.max_margin])
def test_a_limit_that_passes_within_a_product_is_told(call, monkeypatch):
    monkeypatch.setattr(pieces, "A_PIECE", 1)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 60))
    answer = call(X, rng.integers(0, 2, 80), time_limit=1e-9)
    assert not answer.separable
    assert "time limit" in answer.message
