"""Small problems at the ends of the doubles: an answer or an `InputError`, in words."""

import warnings
from decimal import Decimal

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.cli import main
from linsep.cli.output import strict_json

LARGEST = np.finfo(np.float64).max
ENDS = [0.0, 5e-324, -5e-324, 1e-308, -1e-308, 1e308, -1e308, LARGEST, -LARGEST]
# Seeds of problems that once raised from inside, each in a place of its own.
ONCE = [0, 1, 5, 16, 18, 91, 94, 179, 216, 271, 439, 501, 606, 819]


def hostile(seed):
    """At most 8 rows and columns, ends of the doubles mixed with ordinary numbers."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    share = rng.random()
    ends = rng.choice(ENDS, (n, d))
    ordinary = np.where(
        rng.random((n, d)) < 0.5,
        rng.integers(-3, 4, (n, d)).astype(float),
        rng.standard_normal((n, d)),
    )
    X = np.where(rng.random((n, d)) < share, ends, ordinary)
    return X, rng.integers(0, 2, n)


def assert_separation_speaks(answer, X, y):
    assert str(answer.status) in answer.summary().lower()
    assert type(answer).__name__ in repr(answer)
    assert answer.proved
    answer.certificate.verify(X, y)
    written = answer.to_dict()
    assert strict_json(written)
    assert written["status"] == answer.status.value
    for name in ("exact_weights", "conflict_weights"):
        exact = getattr(answer, name)
        assert (written[name] is None) == (exact is None)
        assert exact is None or all(written[name])
    if answer.separable and len(answer.classes) == 2:
        decisions = answer.decision_function(X)
        assert np.isfinite(decisions).all()
        np.testing.assert_array_equal(decisions > 0, y == 1)


def assert_sound(seed):
    X, y = hostile(seed)
    options = {"fit_intercept": bool(seed % 2)}
    assert_separation_speaks(linsep.separate(X, y, **options), X, y)
    best = linsep.max_margin(X, y, **options)
    assert_separation_speaks(best, X, y)
    if best.support is not None:
        assert best.margin_squared() > 0
    answer = linsep.diagnose(X, y, **options)
    assert answer.proved
    assert answer.message.startswith(answer.sentences()[0])
    assert "Diagnosis" in repr(answer)
    written = answer.to_dict()
    assert strict_json(written)
    assert written["status"] == answer.status
    answer.certificate.verify(*answer.certificate_data())


@pytest.mark.parametrize("seed", ONCE)
def test_what_once_raised_from_inside(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_sound(seed)


def test_hostile_small_problems():
    for seed in range(1000, 1060):
        try:
            assert_sound(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.slow
def test_many_hostile_small_problems():
    for seed in range(2000, 12_000):
        try:
            assert_sound(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def test_long_numbers_are_written():
    from fractions import Fraction

    from linsep.diagnosis.report.phrases import combination_text

    terms = [("a", 10**5000), ("b", Fraction(-(10**4999), 3)), ("c", 1)]
    assert combination_text(terms) == "1e+5000*a - 3.33333e+4998*b + c"
    assert combination_text([("a", Fraction(1, 10**5000))]) == "1e-5000*a"


def test_a_square_of_thousands_of_digits_is_printed(tmp_path):
    rng = np.random.default_rng(11)
    ends = [0.0, 5e-324, -5e-324, 1e-308, 1e308, -1e308, 1.0, 3.0]
    X, y = rng.choice(ends, (6, 5)), np.arange(6) % 2
    np.savez(tmp_path / "data.npz", X=X, y=y)
    asked = ["max-margin", str(tmp_path / "data.npz"), "--exact"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    squared = done.stdout.partition("Margin squared, exactly: ")[2].split()[0]
    above, _, below = squared.partition("/")
    assert max(len(above), len(below)) > 4300
    assert Decimal(above) / Decimal(below or 1) > 0


def test_weights_of_rows_at_the_largest_double_do_not_raise():
    largest = np.finfo(float).max
    X = np.full((3, 2), largest)
    assert linsep.feasible_weights(X, X[0]).feasible is True
    assert linsep.feasible_weights(X, [1.0, -1.0]).feasible is False
