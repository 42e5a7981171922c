"""Limits, callbacks and Ctrl-C leave what is known; every way to call says the same."""

import json
import pickle
import time

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.diagnosis import DiagnosisProgress, DiagnosisStatus, Estimate

X = np.array([[0.0, 1], [0, 2], [0, 3], [0, 2], [1, 1], [1, 3]])
Y = [0, 1, 0, 0, 1, 1]
STEPS = ["rank", "rows", "coefficients"]


class Told:
    """A callback that notes what it is told, and does something at a step."""

    def __init__(self, at=None, act=lambda: None):
        self.steps, self.at, self.act = [], at, act

    def __call__(self, progress):
        assert isinstance(progress, DiagnosisProgress)
        assert progress.seconds >= 0
        self.steps.append(progress.step)
        return self.act() if progress.step == self.at else None


def press_ctrl_c():
    raise KeyboardInterrupt


def test_a_callback_hears_of_every_step():
    told = Told()
    answer = linsep.diagnose(X, Y, callback=told)
    assert list(dict.fromkeys(told.steps)) == STEPS
    assert answer.status is DiagnosisStatus.QUASI_COMPLETE
    with pytest.raises(linsep.InputError, match="callback"):
        linsep.diagnose(X, Y, callback="x")


@pytest.mark.parametrize(
    ("act", "reason"),
    [(lambda: True, "the callback asked to stop"), (press_ctrl_c, "the keyboard")],
    ids=["callback", "Ctrl-C"],
)
def test_stopped_at_any_step_what_is_known_stays(act, reason):
    whole = linsep.diagnose(X, Y)
    for step in STEPS:
        answer = linsep.diagnose(X, Y, callback=Told(step, act))
        if step == "coefficients":  # the rows are parted by then, and proved to be
            assert answer.separated_rows.tolist() == whole.separated_rows.tolist()
            assert answer.proved
            assert answer.message == whole.message
            assert Estimate.UNDECIDED in answer.estimates.values()
            assert "Not decided within the time limit" in answer.summary()
            answer.certificate.verify(*answer.certificate_data())
            continue
        assert answer.status is DiagnosisStatus.UNDECIDED
        assert not answer.proved
        assert reason in answer.message
        assert answer.message in answer.summary()
        assert answer.certificate is None
        assert answer.coefficient_names in (whole.coefficient_names, ())
        assert set(answer.estimates.values()) <= {Estimate.UNDECIDED}
        assert answer.rank in (None, whole.rank)
        assert (answer.n_samples, answer.n_features) == (6, 2)
        assert pickle.loads(pickle.dumps(answer)).summary() == answer.summary()
        with pytest.raises(linsep.InputError, match="call diagnose again"):
            answer.certificate_data()


def test_ctrl_c_while_the_data_are_read():
    class Slow:
        def __array__(self, dtype=None, copy=None):
            raise KeyboardInterrupt

    answer = linsep.diagnose(Slow(), Y)
    assert answer.status == "undecided"
    assert "still being read" in answer.message


def test_a_time_limit_that_has_passed():
    answer = linsep.diagnose(X, Y, time_limit=1e-9)
    assert answer.status == "undecided"
    assert answer.message.startswith("Undecided: the time limit of 1e-09 s passed")
    with pytest.raises(linsep.InputError, match="no row can be blamed"):
        linsep.influential_rows(X, Y, time_limit=1e-9)
    with pytest.warns(linsep.SeparationWarning, match="Undecided"):
        linsep.check_separation(X, Y, time_limit=1e-9, on_separation="raise")


def rotated(d):
    """Rows that all d columns together separate, and no fewer."""
    rng = np.random.default_rng(0)
    w = rng.choice([-1.0, 1.0], d)
    rows = rng.integers(-3, 4, (60 * d, d)).astype(float)
    rows = rows[rows @ w != 0]
    return rows, (rows @ w > 0).astype(int)


def test_a_search_for_few_columns_that_was_cut_short_says_so(monkeypatch):
    data = rotated(5)
    assert "uses 5 columns: " in linsep.diagnose(*data).summary()
    monkeypatch.setattr("linsep.diagnosis.report.facts.SECONDS_FOR_TEXT", 0.0)
    answer = linsep.diagnose(*data)
    assert "uses at most 5 columns: " in answer.summary()


def test_summary_and_certificate_have_what_the_time_limit_left():
    overlapping = [[0.0], [1.0], [2.0]], [0, 1, 0]
    for data in (rotated(5), overlapping):
        linsep.diagnose(*data).summary()  # compiled code is loaded

        def use_it_all(progress):
            if progress.step == "coefficients":
                time.sleep(max(0.0, 1.6 - progress.seconds))

        answer = linsep.diagnose(*data, callback=use_it_all, time_limit=1.5)
        assert answer.proved
        if answer.status == "overlap":
            assert answer.certificate is None
        else:
            assert "at most 5 columns" in answer.summary()


def test_to_dict_is_what_json_holds():
    answer = linsep.diagnose(X, Y)
    record = json.loads(json.dumps(answer.to_dict()))
    assert record["status"] == "quasi-complete"
    assert record["separated_rows"] == [4, 5]
    assert record["estimates"] == {k: str(v) for k, v in answer.estimates.items()}
    assert [int(v) for v in record["exact_direction"]] == list(answer.exact_direction)
    assert record["summary"] == answer.summary().splitlines()


# --- the ways to call ---


def same(one, other):
    first, second = one.to_dict(), other.to_dict()
    for answer in (first, second):
        del answer["seconds"]
        for remedy in answer["remedies"]:
            del remedy["r_code"]  # it has the formula, where there is one
    return first == second


def test_every_way_to_call_says_the_same(tmp_path):
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame(X, columns=["drug", "dose"])
    data = frame.assign(y=Y)
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    expected = linsep.diagnose(frame, data.y)
    model = LogisticRegression(C=np.inf)
    for answer in (
        linsep.diagnose(X=frame, y=data.y),
        linsep.diagnose(frame, y=data.y),
        linsep.diagnose("y ~ drug + dose", data),
        linsep.diagnose("y ~ drug + dose", data=data),
        linsep.diagnose_formula("y ~ drug + dose", data),
        linsep.diagnose(model, frame, data.y),
        linsep.diagnose(model, X=frame, y=data.y),
        linsep.diagnose_model(model, frame, data.y),
        linsep.check_separation(X=frame, y=data.y, on_separation="ignore"),
    ):
        assert same(answer, expected)
    # Rows of a file are called by their lines; all else is the same.
    told = json.dumps(linsep.diagnose(path, "y").to_dict())
    told = told.replace("(lines of the file): 6, 7.", "(counted from 0): 4, 5.")
    told = json.loads(told.replace("(lines 3, 5, for", "(rows 1, 3, for"))
    for name, value in expected.to_dict().items():
        if name not in ("seconds", "summary"):  # which is broken at other places
            assert told[name] == value


def test_a_model_of_statsmodels_and_one_derived_from_it():
    import statsmodels.api as sm

    class Own(sm.Logit):
        pass

    exog = sm.add_constant(X)
    expected = linsep.diagnose(sm.Logit(Y, exog))
    assert same(linsep.diagnose_model(sm.Logit(Y, exog)), expected)
    assert same(linsep.diagnose_model(Own(Y, exog)), expected)
    with pytest.raises(linsep.InputError, match="holds its data"):
        linsep.diagnose_model(sm.Logit(Y, exog), X, Y)
    with pytest.raises(linsep.InputError, match="LogisticRegression"):
        linsep.diagnose_model(object(), X, Y)


def test_influential_rows_take_options_by_name():
    found = linsep.influential_rows(X=X, y=Y, goal="overlap", fit_intercept=True)
    assert found.rows.tolist() == [4, 5]
    for function in (linsep.influential_rows, linsep.check_separation):
        with pytest.raises(TypeError, match="famly"):
            function(X, Y, famly="poisson")
