"""Regressions as rows, written out one observation at a time, and judged by z3."""

from fractions import Fraction

import linsep
from judges import Z3Cone, rank
from linsep.diagnosis.exact import large_columns


def demands(X, y, family, fit_intercept, nominal=()):
    """Return (row, observation) pairs to be >= 0, and pairs to be = 0.

    The columns `nominal` of an ordinal model have a coefficient at each threshold.
    """
    design = [([1.0] if fit_intercept else []) + [float(v) for v in x] for x in X]
    at_least, equal = [], []
    levels = sorted(set(y))
    for i, (x, label) in enumerate(zip(design, y, strict=True)):
        code = levels.index(label)
        if family == "binomial":
            sign = 1 if label == levels[-1] and (len(levels) == 2 or label > 0) else -1
            at_least.append(([sign * v for v in x], i))
        elif family == "poisson":
            (equal if label > 0 else at_least).append(([-v for v in x], i))
        elif family == "multinomial":
            width = len(x)
            for other in range(len(levels)):
                if other != code:
                    row = [0.0] * (width * (len(levels) - 1))
                    if code > 0:
                        row[(code - 1) * width : code * width] = x
                    if other > 0:
                        row[(other - 1) * width : other * width] = [-v for v in x]
                    at_least.append((row, i))
        else:
            shared = [float(v) for j, v in enumerate(X[i]) if j not in nominal]
            own = [float(X[i][j]) for j in nominal]
            for threshold, sign in ((code, 1.0), (code - 1, -1.0)):
                if 0 <= threshold < len(levels) - 1:
                    at = [float(k == threshold) for k in range(len(levels) - 1)]
                    row = at + [-v for v in shared] + [-k * v for k in at for v in own]
                    at_least.append(([sign * v for v in row], i))
    return at_least, equal


def assert_diagnosis_is_right(
    answer, X, y, family, fit_intercept, weights=None, held=(), nominal=()
):
    """Compare everything exact in a diagnosis with z3 and textbook elimination.

    The rows `held` of a penalty are to be zero beside, whatever was observed.
    """
    kept = [i for i in range(len(y)) if weights is None or weights[i] > 0]
    at_least, equal = demands(
        [list(X[i]) for i in kept],
        [y[i] for i in kept],
        family,
        fit_intercept,
        nominal,
    )
    A, E = [row for row, _ in at_least], [row for row, _ in equal]
    E += [list(map(float, row)) for row in held]
    cone = Z3Cone(A, E, len([*A, *E][0]))
    strict = [cone.allows(row) for row in A]

    if all(strict) and not equal:
        assert answer.status == "complete"
    else:
        assert answer.status == ("quasi-complete" if any(strict) else "overlap")
    separated = {
        kept[i]
        for i in range(len(kept))
        if all(s for s, (_, j) in zip(strict, at_least, strict=True) if i == j)
        and not any(i == j for _, j in equal)
    }
    assert answer.separated_rows.tolist() == sorted(separated)
    assert answer.overlapped_rows.tolist() == sorted(set(kept) - separated)

    rows = A + E
    exact = [[Fraction(v) for v in row] for row in rows]
    assert answer.rank == rank(exact)
    assert len(answer.estimates) == len(rows[0])
    for j, verdict in enumerate(answer.estimates.values()):
        unit = [Fraction(k == j) for k in range(len(rows[0]))]
        if rank([*exact, unit]) > answer.rank:
            assert verdict == "aliased"
        else:
            up, down = cone.allows(unit), cone.allows(unit, sign=-1)
            names = {(False, False): "finite", (True, True): "undetermined"}
            names |= {(True, False): "+inf", (False, True): "-inf"}
            assert verdict == names[up, down]

    if answer.status != "overlap":
        products = [
            sum(a * b for a, b in zip(map(Fraction, row), answer.exact_direction))  # noqa: B905
            for row in A
        ]
        assert [product > 0 for product in products] == strict
        assert all(product >= 0 for product in products)
        for row in E:
            w = answer.exact_direction
            assert sum(Fraction(a) * b for a, b in zip(row, w, strict=True)) == 0
    answer.certificate.verify(*answer.certificate_data())


def assert_factorisations_agree(monkeypatch, *given, **options):
    """Diagnose by elimination and by factorisations: the same answer, or no study."""
    answers = []
    for most in (100, -1):
        monkeypatch.setattr(large_columns, "MOST_EXACT", most)
        try:
            answer = linsep.diagnose(*given, **options)
        except linsep.InputError:  # nothing to compare
            break
        answer.certificate.verify(*answer.certificate_data())
        verdicts = {name: v.value for name, v in answer.estimates.items()}
        rows = answer.separated_rows.tolist(), answer.overlapped_rows.tolist()
        answers.append((answer.status, answer.rank, verdicts, rows))
    assert answers[:1] == answers[1:]


def assert_comparisons_are_right(answer, rows, ends, d, words=True):
    """Compare a diagnosis with z3 on pairs of rows, each to be >= 0.

    `ends` has the two observations of each pair; those in none are of no account.
    """
    cone = Z3Cone(rows, [], d)
    strict = [cone.allows(row) for row in rows]
    if all(strict):
        assert answer.status.value == "complete"
    else:
        expected = "quasi-complete" if any(strict) else "overlap"
        assert answer.status.value == expected
    of_row = {}
    for is_strict, two in zip(strict, ends, strict=True):
        for i in two:
            of_row.setdefault(i, []).append(is_strict)
    separated = sorted(i for i, found in of_row.items() if all(found))
    assert answer.separated_rows.tolist() == separated
    assert answer.overlapped_rows.tolist() == sorted(of_row.keys() - set(separated))
    assert answer.rank == rank(rows)
    assert len(answer.estimates) == d
    for j, verdict in enumerate(answer.estimates.values()):
        unit = [Fraction(k == j) for k in range(d)]
        if rank([*rows, unit]) > answer.rank:
            assert verdict.value == "aliased"
            continue
        up, down = cone.allows(unit), cone.allows(unit, sign=-1)
        names = {(False, False): "finite", (True, True): "undetermined"}
        names |= {(True, False): "+inf", (False, True): "-inf"}
        assert verdict.value == names[up, down]
    if any(strict):
        w = answer.exact_direction
        products = [sum(a * b for a, b in zip(row, w, strict=True)) for row in rows]
        assert [product > 0 for product in products] == strict
        assert all(product >= 0 for product in products)
    answer.certificate.verify(*answer.certificate_data())
    assert not words or answer.summary()
