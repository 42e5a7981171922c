"""Pictures of answers and fitted classifiers, made the way scikit-learn makes its own.

Each class has a ``from_estimator``, a ``from_answer`` and a ``plot``, takes the axes to
draw on as `ax`, returns itself, and keeps what it draws as attributes. Matplotlib comes
with ``pip install "linsep[plot]"``.
"""

from linsep.displays.convergence import ConvergenceDisplay
from linsep.displays.margins import MarginDisplay
from linsep.displays.projection import ProjectionDisplay

__all__ = ["ConvergenceDisplay", "MarginDisplay", "ProjectionDisplay"]
