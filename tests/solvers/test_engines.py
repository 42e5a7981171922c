"""Which engine is tried first, and how long, counted in rounds."""

import numpy as np
import pytest
from scipy import sparse

import linsep
from linsep import datasets
from linsep.proof import ladder
from linsep.solvers import metric
from linsep.solvers._descent import MOST_VISITS
from linsep.solvers.diagonal_metric import LEAST_TRIED, MOST_TRIED, rounds_worth_a_try
from linsep.solvers.engines import Kind, solve


def dense(m, d, seed=0):
    return np.random.default_rng(seed).standard_normal((m, d))


def few_entries(m, d, a_row=10, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(m), a_row)
    columns = rng.integers(0, d, rows.size)
    entries = rng.standard_normal(rows.size)
    return sparse.csr_matrix((entries, (rows, columns)), shape=(m, d))


def signed(A, seed=1):
    """The rows with the signs that a planted hyperplane gives them."""
    w = np.random.default_rng(seed).standard_normal(A.shape[1])
    signs = np.where(A @ w > 0, 1.0, -1.0)
    return (
        sparse.csr_matrix(sparse.diags(signs) @ A)
        if sparse.issparse(A)
        else (A * signs[:, None])
    )


LARGE = {
    "sparse": lambda: few_entries(1_000, 4_000),
    "dense": lambda: dense(1_500, 950),
}


@pytest.mark.parametrize("kind", LARGE)
def test_an_easy_margin_takes_a_few_rounds_and_no_factorisation(monkeypatch, kind):
    def refused(*_, **__):
        raise AssertionError("the rows were factored")

    for factoring in ("gram_of", "second_moment", "orthonormal"):
        monkeypatch.setattr(metric, factoring, refused)
    A = signed(LARGE[kind]())
    found = solve(A)
    assert found.kind is Kind.SEPARATOR
    assert (A @ found.w > 0).all()
    if kind == "sparse":
        assert found.n_rounds <= rounds_worth_a_try(A) <= MOST_TRIED
    else:
        assert found.n_rounds <= 1 + MOST_VISITS
        p = found.weights  # which bound the margin from above
        assert p.min() > 0
        assert p.sum() == pytest.approx(1.0)
        margin = (A @ found.w).min() / np.linalg.norm(found.w)
        assert margin <= np.linalg.norm(p @ A[found.support])


@pytest.mark.parametrize("kind", LARGE)
def test_what_is_tried_in_vain_is_bounded_and_counted(monkeypatch, kind):
    A = LARGE[kind]()
    if kind == "sparse":
        A = sparse.vstack([A, -A[:1]], format="csr")  # which nothing separates
        n_tried = rounds_worth_a_try(A)
        assert LEAST_TRIED <= n_tried <= MOST_TRIED
    else:
        A = np.vstack([A, -A])
        n_tried = 1  # half of them are on the wrong side after the first round
    metrics, told = [], []
    plain = metric.whiten
    monkeypatch.setattr(
        "linsep.solvers.engines.whiten",
        lambda rows, *, diagonal, **options: (
            metrics.append(diagonal),
            plain(rows, diagonal=diagonal, **options),
        )[1],
    )

    def told_of(n_rounds):
        told.append(n_rounds)
        return False

    found = solve(A, max_rounds=n_tried + 5, should_stop=told_of)
    assert metrics == [True, False]
    assert n_tried < found.n_rounds <= n_tried + 5
    assert told == sorted(told)
    assert solve(A, max_rounds=n_tried).n_rounds == n_tried
    assert metrics == [True, False, True]
    assert solve(A, max_rounds=1).n_rounds == 1
    assert solve(A, max_rounds=1, should_stop=lambda _: True).n_rounds <= 1


@pytest.fixture
def untried(monkeypatch):
    """No metric but that of a factor is formed."""
    plain = metric.whiten

    def whiten(rows, *, diagonal, **options):
        assert not diagonal
        return plain(rows, diagonal=diagonal, **options)

    monkeypatch.setattr("linsep.solvers.engines.whiten", whiten)


@pytest.mark.parametrize(
    "A",
    [
        dense(6, 2),
        dense(1_797, 64),
        dense(63, 2_308),
        few_entries(1_000, 100),
    ],
    ids=lambda A: "x".join(map(str, A.shape)),
)
def test_rows_that_are_factored_quickly_are_not_tried(untried, A):
    solve(A, max_rounds=5)


def test_a_sparse_sample_and_a_warm_start_are_not_tried(untried):
    A = signed(LARGE["sparse"]())
    solve(A, complete=False, max_rounds=1)
    solve(A, start=np.arange(3), max_rounds=1)


def test_what_was_tried_is_not_tried_again(untried):
    assert solve(signed(dense(300, 130)), tried=True).kind is Kind.SEPARATOR


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_part_of_the_rows_is_separated_with_room_to_spare(monkeypatch, shift):
    # In the units of the descent: so many rows that no hyperplane has half the margin.
    monkeypatch.setattr(metric, "second_moment", lambda *_: pytest.fail("factored"))
    X = dense(900, 140)
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += signs
    X += shift
    A = np.column_stack([X, np.ones(len(X))]) * signs[:, None]
    found = solve(A, complete=False, constant=True)
    assert found.kind is Kind.SEPARATOR
    products = A @ found.w
    assert products.min() > 0.1 * np.median(products)


@pytest.mark.parametrize(("d", "seed"), [(100, 0), (140, 1), (140, 3), (140, 5)])
def test_the_active_set_starts_from_rows_that_carry_weight(monkeypatch, d, seed):
    # With as many rows as columns, the lightest too, margins of 2^-d among these led
    # it astray: 800 steps and more, and at last an exact search through all rows.
    monkeypatch.setattr(ladder, "settle", lambda *_, **__: pytest.fail("no conflict"))
    data = datasets.mixed_paper_rows(
        d, n_redundant=2 * d, overlap=True, random_state=seed
    )
    answer = linsep.separate(data.X, data.y, fit_intercept=data.fit_intercept)
    assert not answer.separable
    assert len(answer.conflict) == 4
    assert answer.n_rounds < 2 * d
