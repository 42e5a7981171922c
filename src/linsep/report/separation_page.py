"""What the page of a `Separation` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linsep.labellings import share_of_labellings
from linsep.report.charts import charts_of
from linsep.report.page import Advice, Page, Table

if TYPE_CHECKING:
    from linsep.diagnosis import Diagnosis
    from linsep.result import Separation

# Columns of a conflict's rows that are shown beside their weights.
MOST_COLUMNS = 12
_DIAGNOSE = Advice(
    "If you fit a regression: ask for a diagnosis",
    "it names the columns and rows to blame, says which coefficients are finite, and "
    "writes what is usually done as code for your model",
    "linsep.diagnose(X, y).to_html('diagnosis.html')",
)
_MEANING = {
    "separable": (
        "One straight boundary (a weighted sum of your columns, compared with a "
        "constant) puts every row on the side of its class, without an exception. Its "
        "margin is the distance of the nearest row from it.",
        "If you fit a logistic regression to these columns, its coefficients have no "
        "finite estimate: the larger they are, the better the fit, without end "
        "(complete separation). Do not report the coefficients, standard errors or "
        "p-values that a program prints for it.",
    ),
    "inseparable": (
        "No straight boundary gets every row right. This is proved, not a matter of "
        "trying longer: a linear classifier will always misplace some of the rows.",
        "If you fit a logistic regression, complete separation is ruled out. Some of "
        "its coefficients may still be infinite, where a column predicts a part of the "
        "rows perfectly; a diagnosis tells.",
    ),
    "undecided": (
        "The search was ended before there was an answer. Nothing is known about "
        "whether a straight boundary can get every row right.",
    ),
}
_TONES = {"separable": "good", "inseparable": "bad", "undecided": "open"}


def page_of(answer: Separation, with_proof: bool) -> Page:
    """Return the page of the answer of `linsep.separate` or `linsep.max_margin`."""
    status = answer.status.value
    proof, checks = proof_of(answer, with_proof)
    in_conflict = answer.why_in_conflict()
    head, *rest = answer.summary(width=10**6).split("\n")
    return Page(
        tone=_TONES[status],
        status=status.capitalize(),
        verdict=answer.message,
        meaning=[*_MEANING[status], *_chance(answer)],
        advice=_advice(answer),
        evidence=[
            head.removeprefix(answer.message).strip(" ()"),
            *(line for line in rest if not line.startswith(("  ", in_conflict))),
        ],
        charts=charts_of(answer.shown_rows(), answer.trace),
        coefficients=_coefficients(answer),
        rows=_rows(answer),
        rows_title="The rows behind the verdict",
        proof=proof,
        checks=checks,
    )


def proof_of(
    answer: Separation | Diagnosis, with_proof: bool
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return facts about a proof, and the lines that check it; none that is not asked.

    Parameters
    ----------
    answer : Separation or Diagnosis
    with_proof : bool
        Whether the certificate is made, if it has not been yet.
    """
    if not with_proof:
        return [], []
    proof = answer.certificate
    if proof is None:
        if answer.status.value == "undecided":
            return [("Proof", "none, since nothing was decided")], []
        why = "no time was left to write it down, or it would be too long"
        return [("Proof", f"made, but not kept: {why}")], []
    size = f"{proof.n_samples:,} rows, {proof.n_features:,} columns"
    classes = f"the classes {' and '.join(proof.classes)}"
    if getattr(answer, "family", "binomial") != "binomial":
        classes = "which stand for this regression: certificate_data() returns them"
    return [
        ("What it is", f"an exact {proof.kind}, checked in exact arithmetic"),
        ("What it is about", f"{size}, {classes}"),
        ("SHA-256 of these data", proof.data_sha256),
        (
            "Who can check it",
            "anyone with the data: the checker is one file that needs nothing but "
            "Python, and shares no code with what found the answer",
        ),
    ], [
        "answer.certificate.save('proof.json')",
        "linsep.Certificate.load('proof.json').verify(X, y)  # raises if it fails",
    ]


def _chance(answer: Separation) -> list[str]:
    """Say how much a separation means at this size."""
    if not answer.separable or len(answer.classes) < 2:
        return []
    rank = min(answer.n_features + answer.fit_intercept, answer.n_samples)
    share = share_of_labellings(answer.n_samples, rank)
    size = f"{answer.n_samples:,} rows and {answer.n_features:,} columns"
    if share < 0.01:
        return [
            f"It is no accident of size: with {size} in general position, fewer than "
            "1 in 100 of all ways to label the rows could be separated (Cover's count)."
        ]
    return [
        f"It may mean little: with {size} in general position, {share:.0%} of all ways "
        "to label the rows can be separated, whatever the labels say (Cover's count)."
    ]


def _advice(answer: Separation) -> list[Advice]:
    """Return what to do next."""
    if answer.separable is None:
        return [
            Advice(
                "Give it more time",
                "the message above says which limit ended the search",
                "linsep.separate(X, y, time_limit=600, max_passes=1000)",
            )
        ]
    predict = Advice(
        "If you want predictions: fit a classifier, and test it on other rows",
        "a score on the rows it was fitted to says little",
        "from sklearn.model_selection import cross_val_score\n"
        "cross_val_score(linsep.OptimisticPerceptron(), X, y)",
    )
    if not answer.separable:
        look = Advice(
            "Look at the rows below",
            "they alone rule a boundary out: a wrong label or a wrong value among them "
            "may be all there is to it; if they are right, the classes overlap in "
            "these columns, which is the ordinary case",
        )
        return [look, predict, _DIAGNOSE]
    furthest = Advice(
        "If you want the boundary furthest from both classes",
        "this one is the first that was found; the rows nearest to the furthest one "
        "are its support",
        "linsep.max_margin(X, y)",
    )
    has_support = "support" in vars(answer)  # then it is a `LargestMargin` already
    return [
        _DIAGNOSE,
        *([] if has_support else [furthest]),
        Advice(
            "If you wonder whether it is chance: shuffle the labels",
            "it counts how often shuffled labels are separable too",
            "linsep.permutation_test(X, y)",
        ),
        predict,
    ]


def _coefficients(answer: Separation) -> Table | None:
    """List the hyperplane's coefficients, the largest first."""
    if answer.coef is None or answer.intercept is None:
        return None
    ordered = answer.largest_coefficients(answer.n_features)
    last = str(answer.classes[-1])
    return Table.of(
        ("column", "coefficient", "size"),
        [(name, value, abs(value)) for name, value in ordered]
        + [("(intercept)", answer.intercept, abs(answer.intercept))],
        f"A positive sum speaks for {last}. Sizes depend on the units of the columns; "
        "coefficients of zero are left out.",
    )


def _rows(answer: Separation) -> Table | None:
    """List the rows of the conflict, or those that carry the largest margin."""
    if answer.conflict is None or answer.conflict_weights is None:
        return _support(answer)
    rows, labels = answer.conflict_rows, answer.conflict_labels
    names = answer.conflict_names()
    n = min(answer.n_features, MOST_COLUMNS) if rows is not None else 0
    lines = [
        (
            names[at],
            "" if labels is None else str(labels[at]),
            float(weight),
            *([] if rows is None else map(float, rows[at, :n])),
        )
        for at, weight in enumerate(answer.conflict_weights)
    ]
    columns = [answer.column_name(j) for j in range(n)]
    return Table.of(
        ("row", "class", "weight", *columns), lines, answer.why_in_conflict()
    )


def _support(answer: Separation) -> Table | None:
    """List the rows that carry the largest margin, of an answer that has it."""
    shown = answer.shown_rows()
    if shown is None or shown.marked.size == 0:
        return None
    lines = [
        (shown.names[at], shown.classes[shown.codes[at]], float(shown.margins[at]))
        for at in shown.marked
    ]
    note = "Nearest to the boundary; if one of them went, the boundary might move."
    return Table.of(("row", "class", "distance"), lines, note)
