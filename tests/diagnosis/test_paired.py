"""Bradley-Terry models: who beat whom, judged by z3 on the comparisons."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import linsep
from judges import Z3Cone, dot, rank, z3_direction_exists
from linsep.cli import main


def random_league(seed):
    """Few players, ties, covariates now and then; some never met."""
    rng = np.random.default_rng(seed)
    n_players, n = int(rng.integers(2, 8)), int(rng.integers(1, 16))
    first = rng.integers(0, n_players, n)
    second = (first + rng.integers(1, n_players, n)) % n_players
    if seed % 4 == 0:  # two leagues
        second = np.where(
            first < n_players // 2,
            (first + 1) % max(1, n_players // 2),
            np.where(first + 1 < n_players, first + 1, n_players // 2),
        )
        first, second = first[first != second], second[first != second]
    strength = rng.normal(0, rng.choice([0.3, 3.0]), n_players)
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    results = (rng.random(first.size) < chance).astype(float)
    if seed % 3 == 0:
        results[rng.random(first.size) < 0.2] = 0.5
    more = rng.integers(-1, 2, (first.size, int(seed % 5 == 1)))
    return np.column_stack([first, second, more]), results


def assert_league_is_right(seed):
    pairs, results = random_league(seed)
    if len(pairs) == 0:
        return False
    answer = linsep.diagnose(pairs, results, family="paired")
    players = sorted(set(pairs[:, :2].ravel().tolist()))
    wide = np.zeros((len(pairs), len(players) + pairs.shape[1] - 2))
    for row, (i, j, *more) in zip(wide, pairs.tolist(), strict=True):
        row[players.index(i)], row[players.index(j)] = 1, -1
        row[len(players) :] = more
    # The reference of each group that met is the player without a coefficient.
    names = [*map(str, players), *(f"x{k}" for k in range(pairs.shape[1] - 2))]
    held = [names.index(name) for name in answer.estimates]
    rows = wide[:, held]
    assert rank(rows.tolist()) == rank(wide.tolist()) == answer.rank
    demands = [row for row, r in zip(rows, results, strict=True) if r > 0]
    demands += [-row for row, r in zip(rows, results, strict=True) if r < 1]
    demands = [row.tolist() for row in demands]
    cone = Z3Cone(demands, [], len(demands[0]))
    strict = [cone.allows(row) for row in demands]
    n_won = int((results > 0).sum())
    by_row = dict.fromkeys(range(len(pairs)), True)
    for k, i in enumerate(np.flatnonzero(results > 0)):
        by_row[i] = by_row[i] and strict[k]
    for k, i in enumerate(np.flatnonzero(results < 1)):
        by_row[i] = by_row[i] and strict[n_won + k]
    separated = [i for i, is_so in by_row.items() if is_so]
    assert answer.separated_rows.tolist() == separated
    expected = "complete" if all(strict) else "quasi-complete" if any(strict) else 0
    assert answer.status.value == (expected or "overlap")
    for k, verdict in enumerate(answer.estimates.values()):
        unit = [float(j == k) for j in range(rows.shape[1])]
        if rank([*rows.tolist(), unit]) > answer.rank:
            assert verdict == "aliased"
            continue
        up, down = cone.allows(unit), cone.allows(unit, sign=-1)
        words = {(0, 0): "finite", (1, 1): "undetermined", (1, 0): "+inf"}
        assert verdict == words.get((int(up), int(down)), "-inf")
    answer.certificate.verify(*answer.certificate_data())
    if seed % 4 == 0:
        assert_words_are_true(answer, pairs, results)
    return any(strict)


def assert_words_are_true(answer, pairs, results):
    """Who never lost, never won, or is said to be above all others, is so."""
    text = "\n".join(answer.sentences())
    winners = {str(p[0]) for p, r in zip(pairs, results, strict=True) if r > 0}
    winners |= {str(p[1]) for p, r in zip(pairs, results, strict=True) if r < 1}
    losers = {str(p[1]) for p, r in zip(pairs, results, strict=True) if r > 0}
    losers |= {str(p[0]) for p, r in zip(pairs, results, strict=True) if r < 1}
    for names in re.findall(r"^([\d, ]+) never lost\.$", text, re.MULTILINE):
        assert not set(names.split(", ")) & losers
    for names in re.findall(r"^([\d, ]+) never won\.$", text, re.MULTILINE):
        assert not set(names.split(", ")) & winners
    for names in re.findall(
        r"^([\d, ]+) \(\d+ players\) never lost", text, re.MULTILINE
    ):
        group = set(names.split(", "))
        for (i, j, *_), r in zip(pairs.tolist(), results, strict=True):
            if (str(i) in group) != (str(j) in group):
                assert r == (1.0 if str(i) in group else 0.0)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_everything_exact_agrees_with_the_judge(first):
    found = [assert_league_is_right(seed) for seed in range(first, first + 50)]
    assert 10 < sum(found) < 48


@pytest.mark.slow
def test_five_thousand_leagues_agree_with_the_judge():
    for seed in range(200, 5_200):
        assert_league_is_right(seed)


def assert_ties_of_their_own_are_right(seed):
    """Compare Davidson's model with z3 on logits of three outcomes, written out."""
    pairs, results = random_league(3 * seed)
    if len(pairs) == 0:
        return None
    answer = linsep.diagnose(pairs, results, family="davidson")
    players = sorted(set(pairs[:, :2].ravel().tolist()))
    names = ["ties", *map(str, players)]
    names += [f"x{k}" for k in range(pairs.shape[1] - 2)]
    held = [names.index(name) for name in answer.estimates]
    demands, of_row = [], []
    for k, ((i, j, *more), r) in enumerate(zip(pairs.tolist(), results, strict=True)):
        logits = {}
        for outcome, ties, side in ((1.0, 0, 0.5), (0.5, 1, 0.0), (0.0, 0, -0.5)):
            row = [0.0] * len(names)
            row[0] = ties
            row[1 + players.index(i)], row[1 + players.index(j)] = side, -side
            row[len(names) - len(more) :] = [side * x for x in more]
            logits[outcome] = np.array(row)[held]
        for other in set(logits) - {r}:
            demands.append((logits[r] - logits[other]).tolist())
            of_row.append(k)
    cone = Z3Cone(demands, [], len(demands[0]))
    strict = [cone.allows(row) for row in demands]
    expected = "complete" if all(strict) else "quasi-complete" if any(strict) else 0
    assert answer.status.value == (expected or "overlap")
    not_all = {k for k, s in zip(of_row, strict, strict=True) if not s}
    assert answer.separated_rows.tolist() == sorted(set(of_row) - not_all)
    assert answer.rank == rank(demands)
    for k, verdict in enumerate(answer.estimates.values()):
        unit = [float(j == k) for j in range(len(held))]
        if rank([*demands, unit]) > answer.rank:
            assert verdict == "aliased"
            continue
        up, down = cone.allows(unit), cone.allows(unit, sign=-1)
        words = {(0, 0): "finite", (1, 1): "undetermined", (1, 0): "+inf"}
        assert verdict == words.get((int(up), int(down)), "-inf")
    if any(strict):
        w = [int(value) for value in answer.exact_direction]
        products = [dot(map(Fraction, row), w) for row in demands]
        assert [product > 0 for product in products] == strict
    answer.certificate.verify(*answer.certificate_data())
    if seed % 4 == 0:
        assert_words_are_true(answer, pairs, results)
    return answer.status.value


def test_ties_of_their_own_agree_with_the_judge():
    seeds = [*range(25), 4642]  # a direction of 56 bits
    found = [assert_ties_of_their_own_are_right(seed) for seed in seeds]
    assert {"complete", "quasi-complete", "overlap"} <= set(found)


@pytest.mark.slow
def test_ties_of_their_own_agree_with_the_judge_in_five_thousand_leagues():
    for seed in range(25, 5_025):
        assert_ties_of_their_own_are_right(seed)


def test_without_a_tie_their_factor_goes_to_zero_and_nothing_else_changes():
    brands = [(i, j) for i in range(6) for j in range(i)]
    pairs, results = np.repeat(brands, 3, axis=0), np.tile([1, 0, 0.5], 15)
    answer = linsep.diagnose(pairs, results, family="davidson")
    assert answer.status == "overlap"
    assert next(iter(answer.estimates)) == "ties"
    is_won = results != 0.5
    decided = linsep.diagnose(pairs[is_won], results[is_won], family="davidson")
    changed = {name: str(v) for name, v in decided.estimates.items() if v != "finite"}
    assert changed == {"ties": "-inf"}
    assert "ties alone rule outcomes out" in decided.summary()


def test_a_league_in_words():
    # Ford's condition: someone in each part must have lost to someone in the other
    # (L. R. Ford, "Solution of a ranking problem from binary comparisons", 1957).
    won = [("Ann", "Bob"), ("Bob", "Ann"), ("Ann", "Cid"), ("Bob", "Cid"),
           ("Dot", "Eve"), ("Eve", "Dot"), ("Fay", "Ann"), ("Fay", "Cid")]  # fmt: skip
    answer = linsep.diagnose(won, family="bradley-terry")
    assert {name: v.value for name, v in answer.estimates.items()} == {
        "Bob": "finite", "Cid": "-inf", "Eve": "finite", "Fay": "+inf",
    }  # fmt: skip
    text = " ".join(answer.summary().split())
    for sentence in (
        "The 6 players are of 2 groups that never met",
        "Fay never lost.",
        "Cid never won.",
        "Dot, Eve (2 players) never lost to anyone else.",
        "Strengths are relative to Ann, Dot",
    ):
        assert sentence in text
    assert "Ann, Bob (2 players)" not in text  # they lost to Fay
    answer.certificate.verify(*answer.certificate_data())


def test_every_way_to_give_a_league_is_the_same():
    won = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]
    frame = pd.DataFrame(won, columns=["first", "second"]).assign(result=1.0)
    turned = frame.rename(columns={"first": "second", "second": "first"})
    turned = turned[["first", "second", "result"]].assign(result=0.0)
    for answer in (
        linsep.diagnose(won, family="paired"),
        linsep.diagnose(frame, "result", family="paired"),
        linsep.diagnose(pl.from_pandas(turned), "result", family="paired"),
        linsep.diagnose(
            [*won, ("d", "a")], family="paired", sample_weight=[1, 1, 1, 1, 0]
        ),
    ):
        assert {name: str(v) for name, v in answer.estimates.items()} == {
            "b": "finite", "c": "finite", "d": "-inf",
        }  # fmt: skip
    assert (
        linsep.diagnose(
            [*won, ("d", "a")], [1, 1, 1, 0.5, 1], family="paired"
        ).status.value
        == "overlap"
    )


def test_a_file_of_battles_is_read(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("first,second,won\nAnn,Bob,1\nBob,Ann,1\nCid,Ann,0\n")
    answer = linsep.diagnose(path, "won", family="paired")
    assert {n: str(v) for n, v in answer.estimates.items()} == {
        "Bob": "finite", "Cid": "-inf",
    }  # fmt: skip
    done = CliRunner().invoke(
        main, ["diagnose", str(path), "--target=won", "--family=paired"]
    )
    assert done.exit_code == 0, done.output
    assert "Cid never won." in done.output
    with pytest.raises(linsep.InputError, match="pairs, results"):
        linsep.diagnose("won ~ first", pd.read_csv(path), family="paired")


def test_rankings_are_those_of_a_plackett_luce_model():
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(3, 6))
        rankings = [
            rng.permutation(n)[: rng.integers(2, n + 1)].tolist()
            for _ in range(rng.integers(1, 5))
        ]
        answer = linsep.diagnose(linsep.pairs_from_rankings(rankings), family="paired")
        # Textbook: each is chosen among all that are ranked at it or after it.
        rows = []
        for ranking in rankings:
            for k, chosen in enumerate(ranking):
                for other in ranking[k + 1 :]:
                    row = np.zeros(n)
                    row[chosen], row[other] = 1, -1
                    rows.append(row.tolist())
        strict = [z3_direction_exists(rows, [], row) for row in rows]
        assert (answer.status.value == "overlap") == (not any(strict))
        for name, verdict in answer.estimates.items():
            if len({int(p) for r in rankings for p in r}) - len(answer.estimates) > 1:
                break  # several that never met
            (reference,) = {str(p) for r in rankings for p in r} - {*answer.estimates}
            unit = np.zeros(n)
            unit[int(name)], unit[int(reference)] = 1, -1
            ways = [
                z3_direction_exists(rows, [], unit.tolist(), sign) for sign in (1, -1)
            ]
            words = {(False, False): "finite", (True, True): "undetermined"}
            words |= {(True, False): "+inf", (False, True): "-inf"}
            assert verdict == words[tuple(ways)]


def test_a_large_league_is_decided():
    rng = np.random.default_rng(1)
    n, m = 150, 6_000
    first = rng.integers(3, n, m)
    second = (first - 3 + rng.integers(1, n - 3, m)) % (n - 3) + 3
    strength = rng.normal(size=n)
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    results = (rng.random(m) < chance).astype(float)
    league = np.column_stack([first, second])
    assert linsep.diagnose(league, results, family="paired").status.value == "overlap"
    beaten = np.column_stack([[0, 1, 1, 2], [5, 0, 7, 1]])  # 0, 1, 2 beat all, in turn
    answer = linsep.diagnose(
        np.vstack([league, beaten]), np.append(results, np.ones(4)), family="paired"
    )
    assert answer.separated_rows.tolist() == [m, m + 1, m + 2, m + 3]
    assert [name for name, v in answer.estimates.items() if v == "+inf"] == list("012")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (([("a", "a")],), {}, "same one twice in row 0"),
        (([("a", "b")], [2]), {}, "1 .the first won., 0 or 1/2"),
        (([("a",)],), {}, "two players in every row"),
        (([("a", None)],), {}, "missing value"),
        (([("a", "b")],), {"groups": [1]}, "groups does not go with"),
    ],
)
def test_what_is_no_league_is_refused(given, options, message):
    with pytest.raises(linsep.InputError, match=message):
        linsep.diagnose(*given, family="paired", **options)
    with pytest.raises(linsep.InputError, match="name each once"):
        linsep.pairs_from_rankings([["a", "a"]])
