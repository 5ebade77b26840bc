"""How the site is built; `docs/build.py` prepares the sources and calls Sphinx. Nothing is loaded from other hosts."""

import os
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.application import Sphinx

from gpcurves._version import __version__

os.environ["TQDM_DISABLE"] = (
    "1"  # tutorials are executed in kernels of notebooks, and pages have no use for progress bars
)
project = "gpcurves"
author = "The gpcurves developers"
copyright = "The gpcurves developers, MIT licence"  # noqa: A001  (the name that Sphinx reads)
release = version = __version__

extensions = ["myst_nb"]
exclude_patterns = ["images"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

html_theme = "furo"
html_title = f"gpcurves {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def mathml(self: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers draw by themselves."""
    inline = type(node).__name__ == "math"
    try:
        formula = convert(node.astext(), display="inline" if inline else "block")
    except Exception as error:
        raise ValueError(f"cannot convert the formula {node.astext()!r}") from error
    self.body.append(formula if inline else f"<div class='math'>{formula}</div>\n")
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Enter the renderer of formulae."""
    app.add_html_math_renderer("mathml", inline_renderers=(mathml, None), block_renderers=(mathml, None))
