"""How Sphinx builds these pages: ``python -m sphinx -W docs docs/_build``."""

import linsep

project = "linsep"
author = "linsep developers"
version = release = linsep.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
]
exclude_patterns = ["_build"]
autodoc_typehints = "none"  # the docstrings give shapes, which types do not
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "py:obj"  # single backquotes link where they can
plot_formats = [("png", 150)]
plot_html_show_formats = plot_html_show_source_link = False
html_theme = "alabaster"
html_theme_options = {"description": "A separating hyperplane, or proof of none"}
suppress_warnings = ["ref.python"]  # a parameter named like two attributes
nitpicky = False
