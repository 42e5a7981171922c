"""
A separated regression, and the column to blame
===============================================

A size is often judged by a threshold. Here the worst area of 569 tumours is cut in two
at a round number, as a chart review might do, and malignancy is regressed on that and
three measurements. The fit "converges"; the diagnosis says which column did it, and in
which rows.
"""

from sklearn.datasets import load_breast_cancer

import linsep
from linsep.plotting import ProjectionDisplay

data = load_breast_cancer(as_frame=True)
measured = data.data
patients = measured[["mean texture", "mean smoothness", "mean symmetry"]].assign(
    large=(measured["worst area"] > 1300).astype(int)
)
malignant = (data.target == 0).astype(int).rename("malignant")

answer = linsep.diagnose(patients, malignant)
print(answer.summary())

# %%
# The rows ringed are those in which nothing is left to estimate. For a page with the
# remedies as code: ``answer.to_html("tumours.html")``.
display = ProjectionDisplay.from_answer(answer)
display.ax_.set_title("569 tumours; the ringed ones are predicted perfectly")
