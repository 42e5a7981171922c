"""Methods side by side, and what a method had found on its way."""

from dataclasses import replace

import numpy as np
import pytest

from lab.perceptrons.planted import planted
from linsep import perceptrons
from linsep.input import InputError
from linsep.perceptrons import (
    KernelPerceptron,
    Maxover,
    Optimistic,
    Perceptron,
    VotedPerceptron,
    compare,
)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, 2.0, -1.0] > 0.3
    return X, y


@pytest.mark.parametrize(
    ("method", "limit"),
    [
        (Perceptron(), "max_passes"),
        (Perceptron(order="shuffled", random_state=7), "max_passes"),
        (VotedPerceptron(max_passes=11), "max_passes"),
        (KernelPerceptron(), "max_passes"),
        (Maxover(max_updates=20), "max_updates"),
        (Optimistic(max_rounds=37), "max_rounds"),
    ],
)
def test_a_trace_is_what_one_run_passes_through(method, limit):
    X, y = problem()
    trace = method.trace(X, y)
    assert repr(trace[-1]) == repr(method.run(X, y))
    for k, result in enumerate(trace[:-1]):
        assert repr(result) == repr(replace(method, **{limit: 2**k}).run(X, y))
    if limit == "max_passes":
        counts = [result.n_passes for result in trace]
        assert counts == sorted(set(counts))


def test_a_generator_cannot_start_anew():
    X, y = problem()
    method = Perceptron(order="shuffled", random_state=np.random.default_rng(0))
    with pytest.raises(InputError, match="random_state must be an integer"):
        method.trace(X, y)


def test_a_comparison_holds_each_methods_own_result():
    X, y = problem()
    methods = [Perceptron(), KernelPerceptron(), Optimistic(max_rounds=3)]
    found = compare(X, y, methods)
    wanted = [method.run(X, y) for method in methods]
    assert list(map(repr, found.results)) == list(map(repr, wanted))
    assert [row["n_updates"] for row in found.rows()] == [
        result.n_updates for result in wanted
    ]
    head, *lines = repr(found).split("\n")
    assert head.split()[:2] == ["method", "separated"]
    assert [line.split()[0] for line in lines] == [type(m).__name__ for m in methods]
    assert "no: max_rounds" in lines[2]
    assert found._repr_html_().count("<tr>") == 4


def test_the_usual_methods_are_compared():
    X, y, _ = planted(0, 30, 3, 0.1)
    found = compare(X, y)
    assert all(result.separated for result in found.results)
    assert len(found.results) == 7
    assert len({result.method for result in found.results}) == 7


@pytest.mark.parametrize("wrong", [Perceptron, "Perceptron", None])
def test_what_is_no_method_is_refused(wrong):
    with pytest.raises(InputError, match="methods must be methods of the family"):
        perceptrons.compare([[0.0], [1.0]], [0, 1], [wrong])
