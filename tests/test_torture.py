"""The attacks of `make torture` that need no process of their own, a few tries each."""

import numpy as np
import pytest

from torture import processes, verdicts
from torture.figures import run

ATTACKS = [
    (verdicts.separate_hostile, 200),
    (verdicts.diagnose_hostile, 25),
    (verdicts.diagnose_by_factorisations, 25),
    (verdicts.mutate_certificates, 200),
    (verdicts.tamper_with_orders, 60),
]


@pytest.mark.parametrize(("attack", "n_tries"), ATTACKS)
def test_nothing_is_wrong(attack, n_tries):
    figures = run(attack, np.random.default_rng(1), n_tries)
    assert figures.wrong == []
    assert figures.tried >= n_tries


def test_the_same_data_in_another_form(tmp_path):
    figures = run(verdicts.compare_forms, np.random.default_rng(1), 5, folder=tmp_path)
    assert figures.wrong == []


def test_threads_save_to_one_path(tmp_path):
    rng = np.random.default_rng(1)
    figures = run(processes.save_in_a_crowd, rng, 100, folder=tmp_path)
    assert figures.wrong == []
    assert [file.name for file in tmp_path.iterdir()] == ["crowd.json"]
