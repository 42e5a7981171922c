"""How Sphinx builds these pages: ``make docs``."""

import re
from importlib.util import find_spec

from docutils import nodes
from docutils.utils.math import latex2mathml
from matplotlib import animation

import linsep

# Films ask a server for the icons of their buttons; the theme has them.
animation.JS_INCLUDE = re.sub(r"<link[^>]*>", "", animation.JS_INCLUDE)

project = "linsep"
author = "linsep developers"
version = release = linsep.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
autodoc_typehints = "none"  # the docstrings give shapes, which types do not
autosummary_generate = True
numpydoc_show_class_members = False
default_role = "py:obj"  # single backquotes link where they can
plot_formats = [("png", 150)]
plot_html_show_formats = plot_html_show_source_link = False
suppress_warnings = ["ref.python"]  # a parameter named like two attributes
nitpicky = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    # Trains embeddings by gensim, which has no wheels for the newest Python.
    "ignore_pattern": "__init__" if find_spec("gensim") else "plot_linear_probes",
    "abort_on_example_error": True,
    "matplotlib_animations": (True, "jshtml"),
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "linsep"
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 3,
}
html_sidebars = {"**": []}
html_show_sourcelink = False
html_math_renderer = "mathml"


def _formula(translator, node):
    """Write a formula as MathML, which browsers show without a script or a network."""
    is_block = isinstance(node, nodes.math_block)
    text = node.astext()
    if is_block and "\\\\" in text and "\\begin" not in text:
        text = f"\\begin{{align*}}{text}\\end{{align*}}"
    try:
        tree = latex2mathml.tex2mathml(text, as_block=is_block)
    except Exception as error:
        raise ValueError(f"no MathML for {text!r}") from error
    translator.body.append(f"<p>{tree}</p>" if is_block else str(tree))
    raise nodes.SkipNode


def setup(app):
    """Have formulas rendered when the pages are built."""
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
