"""Positivity: every sentence is counted again, and z3 judges what is left."""

import pickle
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from judges import z3_direction_exists
from recount import Recount


def number(text):
    return int(text.replace(",", ""))


def treatment(seed):
    """Units of few columns, a treatment that they drive, and absent rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    X = pd.DataFrame(
        {
            "a": (rng.random(n) < 0.3).astype(float),
            "b": rng.integers(-2, 3, n).astype(float),
            "c": rng.integers(0, 3, n) / 4,
        }
    )
    if seed % 3 == 0:
        X["d"] = X.a - 2 * X.b
    push = rng.choice([1.0, 4.0])
    chance = 1 / (1 + np.exp(-push * (X.a + X.b - 2 * X.c)))
    codes = (rng.random(n) < chance).astype(int)
    codes[:2] = 0, 1
    y = np.array(["usual", "new"])[codes] if seed % 4 == 0 else codes
    weights = np.ones(n)
    if seed % 5 == 0:
        weights[2:] = rng.integers(0, 2, n - 2)
    return X, y, weights


class Judge:
    """What the sentences of a `Positivity` say, recounted from the data."""

    def __init__(self, X, y, answer):
        self.X, self.y, self.answer = X, np.asarray(y), answer
        self.found = answer.positivity()
        self.claims = Recount(answer, X, self.y.tolist(), X)
        self.levels = sorted(set(self.y.tolist()))
        self.sure = {1: self.found.treated.tolist(), 0: self.found.untreated.tolist()}
        self.seen = set()

    def judge(self):
        rules = {
            r"Positivity is not violated: .* for any of ([\d,]+) units \(proved\)\.":
                self.holds,
            r"Positivity fails for ([\d,]+) of ([\d,]+) units: linear functions of "
            r"the covariates decide (.*)\.": self.fails,
            r"(.*) is ((?:above|below) 0 in .*)\.": self.combination,
            r"For certain y = (\w+) \(counted from 0\): (.*)\.": self.rows,
            r"Trimming these units leaves nobody\.": self.nobody,
            r"Trimming them leaves (\d+) rows?, (\d+) with y = (\w+) and (\d+) with y "
            r"= (\w+): no linear function decides for any of these \(diagnosed again "
            r"by themselves\)\. What is .*": self.trimmed,
            r"Among these (.*) (?:is|are) constant, or a combination.*": self.gone,
        }  # fmt: skip
        for line in self.found.sentences():
            for pattern, check in rules.items():
                match = re.fullmatch(pattern, line)
                if match:
                    self.seen.add(check.__name__)
                    check(match)
                    break
            else:
                self.claims.judge_line(line)
        return self.seen | self.claims.seen

    def holds(self, match):
        assert self.answer.status == "overlap"
        assert number(match[1]) == len(self.claims.present)

    def fails(self, match):
        counts = [len(self.sure[k]) for k in (1, 0)]
        assert [number(match[1]), number(match[2])] == [
            sum(counts), len(self.claims.present),
        ]  # fmt: skip
        told = re.findall(r"y = (\w+) for ([\d,]+)", match[3])
        assert {label: number(n) for label, n in told} == {
            str(self.levels[k]): len(self.sure[k]) for k in (1, 0) if self.sure[k]
        }

    def combination(self, match):
        value = self.claims.combination(match[1])
        of = {"above": [], "below": [], "": []}
        for row in self.claims.present.tolist():
            side = "above" if value[row] > 0 else "below" if value[row] < 0 else ""
            of[side].append(row)
        assert of["above"] == self.sure[1]
        assert of["below"] == self.sure[0]
        assert of[""] == self.found.left.tolist()
        for part in match[2].split("; "):
            side, n, all_are = re.match(
                r"(?:(above|below) )?0 in (?:the )?([\d,]+) rows?(.*)", part
            ).groups()
            assert number(n) == len(of[side or ""])
            if side:
                label = str(self.levels[side == "above"])
                assert all_are == f", all y = {label}"

    def rows(self, match):
        wanted = self.sure[[str(level) for level in self.levels].index(match[1])]
        shown, _, more = match[2].partition(" and ")
        assert list(map(int, shown.split(", "))) == wanted[:8]
        assert (number(more.split()[0]) if more else 0) == max(0, len(wanted) - 8)

    def nobody(self, match):
        assert not self.found.left.size

    def trimmed(self, match):
        left = self.y[self.found.left].astype(str).tolist()
        assert number(match[1]) == len(left)
        for n, label in ((match[2], match[3]), (match[4], match[5])):
            assert number(n) == left.count(label)
        rows = np.column_stack([np.ones(len(self.X)), self.X])[self.found.left]
        signs = np.where(self.y[self.found.left] == self.levels[1], 1.0, -1.0)
        A = (signs[:, None] * rows).tolist()
        assert not any(z3_direction_exists(A, [], row) for row in A)

    def gone(self, match):
        left = [name for name in self.X if name not in match[1].split(", ")]
        block = np.column_stack([np.ones(len(self.X)), self.X[left]])[self.found.left]
        whole = np.column_stack([np.ones(len(self.X)), self.X])[self.found.left]
        rank = np.linalg.matrix_rank
        assert rank(block) == block.shape[1] == rank(whole) < whole.shape[1]


def test_every_sentence_is_recounted():
    seen = set()
    for seed in range(60):
        X, y, weights = treatment(seed)
        answer = linsep.diagnose(X, y, sample_weight=weights)
        found = answer.positivity()
        seen |= Judge(X, y, answer).judge()
        every = sorted([*found.treated, *found.untreated, *found.left])
        assert every == np.flatnonzero(weights).tolist()
        assert found.holds == (answer.status == "overlap")
        for row in every:
            value = found.combination.get("intercept", Fraction(0)) + sum(
                found.combination.get(name, 0) * Fraction(v)
                for name, v in X.loc[row].items()
            )
            assert (value > 0) == (row in found.treated)
            assert (value < 0) == (row in found.untreated)
    assert seen >= {
        "holds", "fails", "combination", "rows", "nobody", "trimmed", "gone", "claim",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("fails for 3", "fails for 4"),
        ("above 0", "below 0"),
        ("a is", "-a is"),
        ("all y = 1; 0", "all y = 0; 0"),
        ("4, 5", "4, 6"),
        ("2 with y = 1", "3 with y = 1"),
    ],
)
def test_a_false_sentence_is_noticed(right, wrong):
    X = pd.DataFrame({"a": [0.0, 0, 0, 0, 1, 1, 1], "b": [1.0, 0, 1, 0, 1, 0, 1]})
    y = [1, 0, 0, 1, 1, 1, 1]
    told = Judge(X, y, linsep.diagnose(X, y))
    told.judge()
    lines = told.found.sentences()
    changed = tuple(line.replace(right, wrong) for line in lines)
    assert changed != tuple(lines)
    told.found = replace(told.found, _sentences=changed)
    with pytest.raises((AssertionError, ValueError)):
        told.judge()


def test_a_treatment_by_a_formula_names_levels_and_rows_of_the_frame():
    frame = pd.DataFrame(
        {
            "clinic": list("aaabbbccc"),
            "drug": ["yes", "no", "yes", "no", "yes", "no", "yes", "yes", "yes"],
        },
        index=[f"P{k}" for k in range(9)],
    )
    found = linsep.diagnose("drug ~ clinic", frame).positivity()
    assert found.treated.tolist() == [6, 7, 8]
    assert found.combination == {"clinic[T.c]": 1}
    assert found.sentences()[:4] == [
        "Positivity fails for 3 of 9 units: linear functions of the covariates decide "
        "drug = yes for 3.",
        "clinic = c in 3 rows, all drug = yes.",
        "clinic[T.c] is above 0 in 3 rows, all drug = yes; 0 in the 6 rows left.",
        "For certain drug = yes (by the frame's index): P6, P7, P8.",
    ]
    assert found.is_checked


def test_what_is_no_treatment_is_refused():
    X = [[0.0], [0.0], [1.0], [1.0]]
    for y, family in (
        ([1, 1, 1, 1], "binomial"),
        ([0.5, 1, 0, 1], "binomial"),
        ([0, 1, 2, 2], "multinomial"),
        ([0, 1, 0, 3], "poisson"),
    ):
        with pytest.raises(linsep.InputError, match="two labels"):
            linsep.diagnose(X, y, family=family).positivity()
    answer = linsep.diagnose(X, [0, 1, 1, 1])
    with pytest.raises(linsep.InputError, match="call diagnose on data held whole"):
        pickle.loads(pickle.dumps(answer)).positivity()
    assert "treated=2" in repr(answer.positivity())
    assert pickle.loads(pickle.dumps(answer)).positivity().treated.tolist() == [2, 3]
