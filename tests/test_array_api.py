"""Arrays on a device: they stay there, and the answers are those of NumPy."""

import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import linsep
from linsep import datasets
from linsep.input import InputError, problem_from
from linsep.rows import rows_from
from linsep.rows.device import DeviceRows, namespace_of, to_numpy


def arrays(library):
    """Return what makes an array of a library of an ndarray."""
    if library == "array_api_strict":
        return import_module(library).asarray
    reason = f"{library} is installed by `make backends`"
    found = pytest.importorskip(library, reason=reason)
    if library == "jax":
        found.config.update("jax_enable_x64", True)
        return import_module("jax.numpy").asarray
    return found.asarray


LIBRARIES = ["array_api_strict", "torch", "jax"]


@pytest.fixture(scope="module")
def planted():
    data = datasets.planted_margin(20_000, 10, margin=1e-3)
    return data.X, data.y


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_verdicts_are_those_of_numpy(library, dtype, planted):
    make = arrays(library)
    X, y = planted[0].astype(dtype), planted[1]
    answer = linsep.separate(make(X), make(y))
    assert answer.separable
    assert answer.proved
    signed = (X.astype(float) @ answer.coef + answer.intercept) * y
    assert signed.min() > 0
    expected = linsep.separate(X, y)
    assert answer.n_passes <= expected.n_passes + 1
    assert answer.certificate.data_sha256 == expected.certificate.data_sha256
    rng = np.random.default_rng(0)
    flipped = np.where(rng.random(len(y)) < 0.05, -y, y)
    answer = linsep.separate(make(X), flipped)
    assert answer.separable is False
    answer.certificate.verify(X, flipped)
    margin = linsep.max_margin(make(X), y, tol=1e-3)
    assert margin.margin_lower <= linsep.max_margin(X, y).margin_upper


@pytest.mark.parametrize("library", LIBRARIES)
def test_only_rows_that_are_named_and_the_proof_leave_the_device(
    library, planted, monkeypatch
):
    make = arrays(library)
    X, y = planted[0].astype(np.float32), planted[1]
    sizes = []

    def counted(array):
        found = to_numpy(array)
        sizes.append(found.size)
        return found

    monkeypatch.setattr("linsep.rows.device.to_numpy", counted)
    answer = linsep.separate(make(X), y)
    assert answer.separable
    # The sample, the worst rows of each sweep, and two numbers a row for the proof.
    assert max(sizes) <= max(1_300 * 10, len(y))
    assert sum(sizes) < 4 * len(y) + 3_000 * 10


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_device_without_doubles_proves_on_the_processor(
    library, planted, monkeypatch
):
    make = arrays(library)
    X, y = planted[0].astype(np.float32), planted[1]
    monkeypatch.setattr(DeviceRows, "_has_doubles", lambda self: False)
    answer = linsep.separate(make(X), y)
    assert answer.separable
    assert ((X.astype(float) @ answer.coef + answer.intercept) * y).min() > 0


def test_jax_at_its_defaults_has_no_doubles(planted):
    make = arrays("jax")
    import jax

    X, y = planted[0].astype(np.float32), planted[1]
    jax.config.update("jax_enable_x64", False)
    rows = problem_from(make(X), y).rows
    assert isinstance(rows, DeviceRows)
    assert not rows._has_doubles()
    answer = linsep.separate(make(X), make(y))
    assert answer.proved
    assert ((X.astype(float) @ answer.coef + answer.intercept) * y).min() > 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_floats_call_violated_is_looked_at_in_doubles(library):
    """Floats misjudge rows so near the hyperplane: no violation is claimed."""
    make = arrays(library)
    X = np.array([[1.0, 1.0 + 2.0**-20], [2.0, 1.0]] * 40, dtype=np.float32)
    signs = np.ones(80, dtype=np.int8)
    signs[1::2] = -1
    rows = DeviceRows(make(X), signs, False)
    w = np.array([-1.0, 1.0]) * (1 + 2.0**-30)
    found, expected = rows.scan(w, 10), rows_from(X, signs, False).scan(w, 10)
    assert found.n_violations == expected.n_violations == 0
    assert found.margin <= expected.margin + 1e-15
    assert found.margin > 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_are_those_of_the_array(library):
    make = arrays(library)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), 300)
    rows, whole = DeviceRows(make(X), signs, True), rows_from(X, signs, True)
    index = rng.permutation(300)[:50]
    np.testing.assert_array_equal(rows.take(index), whole.take(index))
    np.testing.assert_array_equal(rows.features(slice(7, 90)), X[7:90])
    w = rng.standard_normal(5)
    found, expected = rows.scan(w, 20), whole.scan(w, 20)
    assert found.n_violations == expected.n_violations > 0
    assert found.margin == -np.inf  # nothing is claimed of rows that were not named
    sized = rows.scan(w, 20, by_margin=True)
    np.testing.assert_array_equal(sized.index, whole.scan(w, 20, by_margin=True).index)


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_cannot_be_used_is_refused_as_for_numpy(library):
    make = arrays(library)
    X = np.array([[0.0], [1.0], [np.nan]])
    with pytest.raises(InputError, match="X must be finite, got 1 NaN"):
        linsep.separate(make(X), [0, 1, 1])
    with pytest.raises(InputError, match="the same number of rows, got 3 rows"):
        linsep.separate(make(X), [0, 1])
    whole = problem_from(make(np.array([[0], [1]])), [0, 1])  # integers are brought
    assert namespace_of(whole.rows.X) is None
    weighed = linsep.separate(make(X[:2]), [0, 1], sample_weight=[1, 1])
    assert weighed.separable


# SciPy must be told of other arrays before it is loaded: each of these is a process.
CHECKS = """
import sys
from importlib.util import find_spec
from unittest import SkipTest
from sklearn.utils import estimator_checks
from linsep import OptimisticPerceptron

if find_spec("torch"):  # built for CUDA: is there a device?
    import torch

    torch.backends.cuda.is_built = torch.cuda.is_available

for estimator in [
    OptimisticPerceptron(),
    OptimisticPerceptron("max_margin"),
    OptimisticPerceptron(kernel="rbf", nu=0.2, multi_class="ovr"),
]:
    for one, check in estimator_checks.estimator_checks_generator(estimator):
        if "array_api" in str(check):
            try:
                check(one)
                print("passed")
            except SkipTest:
                pass
    estimator_checks.check_array_api_input_and_values(
        "OptimisticPerceptron", estimator, sys.argv[1]
    )
"""
RESULTS = """
import sys, warnings
from importlib import import_module
import numpy as np
from sklearn import config_context
from linsep import OptimisticPerceptron, plotting

library, asarray = sys.argv[1], import_module(sys.argv[2]).asarray
if library == "jax":
    import_module(library).config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
X = rng.standard_normal((90, 3))
names = np.array(["a", "b", "c"])[np.argmax(X + rng.standard_normal((90, 3)), axis=1)]
expected = OptimisticPerceptron().fit(X, names)
with config_context(array_api_dispatch=True):
    model = OptimisticPerceptron().fit(asarray(X), names)
    kind = type(asarray(X))
    assert type(model.coef_) is type(model.decision_function(asarray(X))) is kind
    assert type(model.predict_proba(asarray(X[:2]))) is kind
    assert model.predict(asarray(X)).tolist() == expected.predict(X).tolist()
    single = model.decision_function(asarray(X.astype(np.float32)))
    sides = asarray(np.arange(90) % 2)
    codes = OptimisticPerceptron().fit(asarray(X), sides)
    assert type(codes.classes_) is type(codes.predict(asarray(X))) is kind
    for display in (plotting.MarginDisplay, plotting.ProjectionDisplay):
        display.from_estimator(codes, asarray(X), sides)
    try:
        model.predict(X)
    except ValueError as error:
        assert "same namespace and device" in str(error), error
    else:
        raise AssertionError("rows of another library were taken")
# Without it, arrays are brought to the processor as everywhere.
assert model.predict(X).tolist() == expected.predict(X).tolist()
np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X))
assert isinstance(codes.predict(X), np.ndarray)
"""


def in_a_process(code, library):
    """Run code where SciPy takes arrays of other libraries; return what it printed."""
    module = {"jax": "jax.numpy"}.get(library, library)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, library, module],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_the_checks_that_scikit_learn_has_for_other_arrays_pass(library):
    arrays(library)
    done = in_a_process(CHECKS, library)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("passed") >= 3 * 3


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_classifier_makes_of_rows_is_where_the_rows_are(library):
    arrays(library)
    done = in_a_process(RESULTS, library)
    assert done.returncode == 0, done.stderr
