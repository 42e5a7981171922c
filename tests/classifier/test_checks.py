"""scikit-learn's own checks of the estimator contract, none expected to fail."""

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from linsep import OptimisticPerceptron

# Many of the checks' data cannot be separated, which a fit must say.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(
    [
        OptimisticPerceptron(),
        OptimisticPerceptron("max_margin"),
        OptimisticPerceptron(objective="separate"),
        OptimisticPerceptron(nu=0.2),
        OptimisticPerceptron(kernel="rbf", nu=0.2, multi_class="ovr"),
    ]
)
def test_estimator_contract(estimator, check):
    if "array_api" in str(check):
        return  # see tests/test_array_api.py: SciPy must be told of them first
    check(estimator)


def test_check_estimator_passes():
    check_estimator(OptimisticPerceptron(multi_class="ovr", nu=0.1))


def test_inseparable_checks_do_warn():
    with pytest.warns(ConvergenceWarning, match="Inseparable: no hyperplane separates"):
        OptimisticPerceptron("max_margin").fit(
            [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        )
