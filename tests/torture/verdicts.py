"""Attacks on the verdicts: every answer against fractions or z3."""

import json
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

import numpy as np

import linsep
from judges import dot, fractions_of
from linsep.diagnosis.exact import large_columns
from linsep.proof.checker import check
from ordered_tampering import holds, ordered_case, tampered
from regression_judge import assert_diagnosis_is_right
from torture.data import hostile_problem, signed_rows

# A page with its pictures is made of each so many answers: it takes half a second.
PAGE_EVERY = 12


def judge_separation(answer, X, y, fit_intercept):
    """Say what is wrong with an answer, or None, from its own vectors alone."""
    rows = fractions_of(signed_rows(X, y, fit_intercept))
    if answer.separable is None:
        return None
    proof = json.loads(answer.certificate.to_json())
    answer.certificate.verify(X, y)
    if answer.separable:
        w = [Fraction(int(text, 0)) for text in proof["w"]]
        if not all(dot(row, w) > 0 for row in rows):
            return "the separator of the certificate separates nothing"
        return None
    chosen = [rows[i] for i in answer.conflict]
    for column in zip(*chosen, strict=True):
        if dot(column, answer.conflict_weights) != 0:
            return "the weighted rows of the conflict do not vanish"
    if min(answer.conflict_weights) <= 0 or sum(answer.conflict_weights) != 1:
        return "the weights of the conflict are no distribution"
    return None


def judge(figures, tried, attempt):
    """Count what an attempt comes to: it returns an outcome, and what is wrong."""
    try:
        outcome, fault = attempt()
    except linsep.InputError:
        outcome, fault = "refused", None
    except Exception as error:
        outcome, fault = "", f"{type(error).__name__}: {error}"
    if fault is None:
        figures.counts[outcome] += 1
    else:
        figures.fail(f"{tried}: {fault}")


def separate_hostile(figures, rng, n_tries):
    """Separate hostile problems."""
    for _ in range(n_tries):
        X, y = hostile_problem(rng)
        fit_intercept = bool(rng.integers(2))
        call = linsep.max_margin if rng.random() < 0.3 else linsep.separate

        def attempt(X=X, y=y, fit_intercept=fit_intercept, call=call):
            answer = call(X, y, fit_intercept=fit_intercept)
            str(answer), repr(answer), answer.summary()
            if figures.tried % PAGE_EVERY == 0:
                answer._repr_html_()
            fault = judge_separation(answer, X, y, fit_intercept)
            if answer.separable and answer.margin_lower > answer.margin_upper:
                fault = "the margin interval is empty"
            return answer.status.value, fault

        judge(figures, f"{call.__name__}({X!r}, {y!r}, {fit_intercept})", attempt)


def diagnose_hostile(figures, rng, n_tries):
    """Diagnose hostile regressions."""
    for _ in range(n_tries):
        X, y = hostile_problem(rng, 7, 4)
        X = np.asarray(X, dtype=float)
        family = str(rng.choice(["binomial", "poisson", "multinomial", "ordinal"]))
        if family != "binomial" and len(y) > 2:
            y = rng.integers(0, 3, len(y))
        if family in ("multinomial", "ordinal") and len(set(y)) < 2:
            family = "poisson"  # one class is answered without rows to judge by
        fit_intercept = family == "ordinal" or bool(rng.integers(2))

        def attempt(X=X, y=y, family=family, fit_intercept=fit_intercept):
            answer = linsep.diagnose(X, y, family=family, fit_intercept=fit_intercept)
            answer.summary(), repr(answer), answer.to_frame()
            if figures.tried % PAGE_EVERY == 0:
                answer._repr_html_()
            if answer.status != "undecided":
                assert_diagnosis_is_right(
                    answer, X.tolist(), y.tolist(), family, fit_intercept
                )
            return answer.status, None

        judge(figures, f"diagnose({X!r}, {y!r}, {family!r}, {fit_intercept})", attempt)


def diagnose_by_factorisations(figures, rng, n_tries):
    """Diagnose by factorisations."""
    with _everything_in_order():
        diagnose_hostile(figures, rng, n_tries)


@contextmanager
def _everything_in_order():
    """Make diagnoses of any size by factorisations."""
    before, large_columns.MOST_EXACT = large_columns.MOST_EXACT, -1
    try:
        yield
    finally:
        large_columns.MOST_EXACT = before


def compare_forms(figures, rng, n_tries, folder):
    """The same data in another form."""
    import pandas as pd
    from scipy import sparse

    for k in range(n_tries):
        X, y = hostile_problem(rng)
        if len(set(y)) < 2 or np.asarray(X).dtype != float:
            figures.counts["one class or float32, left out"] += 1
            continue
        expected = linsep.separate(X, y).status
        order = rng.permutation(len(y))
        names = [f"x{j}" for j in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=names).assign(y=y)
        path = folder / f"{k}.csv"
        frame.to_csv(path, index=False)  # the shortest text that gives the double back
        forms = {
            "permuted": lambda X=X, y=y, order=order: (X[order], y[order]),
            "swapped": lambda X=X, y=y: (X, 1 - y),
            "repeated": lambda X=X, y=y: (np.repeat(X, 2, 0), np.repeat(y, 2)),
            "sparse": lambda X=X, y=y: (sparse.csr_array(X), y),
            "by column": lambda X=X, y=y: (np.asfortranarray(X), y),
            "frame": lambda f=frame, names=names, y=y: (f[names], y),
            "file": lambda path=path: (str(path), "y"),
        }
        for name, form in forms.items():
            try:
                found = linsep.separate(*form()).status
                if found is expected:
                    figures.counts[name] += 1
                else:
                    figures.fail(f"{name}: {found} not {expected} of {X!r}, {y!r}")
            except Exception as error:
                figures.fail(f"{name} of {X!r}, {y!r}: {type(error).__name__}: {error}")
        path.unlink()


def judge_forgery(figures, verify, is_true, document, rows, labels):
    """Count what comes of a certificate that was changed: refused, or still true."""
    try:
        verify()
    except linsep.CertificateError:
        figures.counts["refused"] += 1
    except Exception as error:
        figures.fail(f"{document}: {type(error).__name__}: {error}")
    else:
        if is_true(document, rows, labels):
            figures.counts["accepted, still true"] += 1
        else:
            figures.fail(f"accepted: {document} of {rows!r}, {labels!r}")


def mutate_certificates(figures, rng, n_tries):
    """Certificates changed at random."""
    from linsep.proof.checker import content_digest

    while figures.tried < n_tries:
        X, y = hostile_problem(rng)
        if len(set(y)) < 2:
            continue
        X = np.asarray(X, dtype=float)
        answer = linsep.separate(X, y)
        text = answer.certificate.to_json()
        for _ in range(10):
            document = json.loads(text)
            _mutate(document, rng)
            if rng.random() < 0.8:  # a forger would make the digest fit
                document["content_sha256"] = content_digest(document)

            def verify(document=document, X=X, y=y):
                linsep.Certificate.from_json(json.dumps(document)).verify(X, y)

            judge_forgery(figures, verify, _is_true, document, X, y)


def tamper_with_orders(figures, rng, n_tries):
    """Ordered certificates changed"""
    while figures.tried < n_tries:
        with _everything_in_order():
            case = ordered_case(int(rng.integers(2**32)))
        if case is None:
            continue
        for _ in range(20):
            document, rows, labels = tampered(*case, rng)
            verify = partial(check, json.dumps(document), rows, labels)
            judge_forgery(figures, verify, holds, document, rows, labels)


def _mutate(document, rng):
    """Change one field, or one entry of a list."""
    key = str(rng.choice(list(document)))
    value = document[key]
    strange = [None, "", -1, 0, 1, [], {}, "0x", "1e5", 10**30, True, "NaN", [[]], "1"]
    if isinstance(value, list) and value and rng.random() < 0.8:
        k = int(rng.integers(len(value)))
        act = rng.integers(4)
        if act == 0:
            value[k] = strange[rng.integers(len(strange))]
        elif act == 1 and isinstance(value[k], str):
            digits = value[k]
            value[k] = digits[1:] if digits.startswith("-") else "-" + digits
        elif act == 2:
            value.append(value[k])
        else:
            old = value[k]
            number = old if isinstance(old, int) else int(old, 0) if old else 0
            new = number + int(rng.integers(-2, 3))
            value[k] = new if isinstance(old, int) else str(new)
    else:
        document[key] = strange[rng.integers(len(strange))]


def _is_true(document, X, y):
    """Whether the claim, as it stands after the change, holds of the data."""
    rows = fractions_of(signed_rows(X, y, document["fit_intercept"]))
    numbers = {
        key: [Fraction(int(text, 0)) for text in document.get(key, [])]
        for key in ("w", "weights")
    }
    if document["kind"] == "separator":
        return all(dot(row, numbers["w"]) > 0 for row in rows)
    chosen = [rows[i] for i in document["rows"]]
    return all(weight > 0 for weight in numbers["weights"]) and all(
        dot(column, numbers["weights"]) == 0 for column in zip(*chosen, strict=True)
    )
