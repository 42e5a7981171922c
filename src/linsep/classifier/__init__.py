"""scikit-learn classifiers over the package's solvers: no mathematics of their own."""
