"""How the site is built; `docs/build.py` prepares the sources and calls Sphinx. Nothing is loaded from other hosts."""

import os
import re
from dataclasses import fields, is_dataclass
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole
from sphinx.util.inspect import TypeAliasForwardRef

import gpcurves as gpc
from gpcurves._version import __version__

os.environ["TQDM_DISABLE"] = (
    "1"  # tutorials are executed in kernels of notebooks, and pages have no use for progress bars
)
project = "gpcurves"
author = "The gpcurves developers"
copyright = "The gpcurves developers, MIT licence"  # noqa: A001  (the name that Sphinx reads)
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
default_role = "public"  # in docstrings `name` is a link if it is a public name, and code otherwise
autodoc_member_order = "bysource"
autodoc_typehints = "description"
ALIASES = ("FloatArray", "IntArray", "Rng", "MethodName", "Methods", "Sizes", "Normalisation")
autodoc_type_aliases = {name: name for name in ALIASES}  # short names instead of long unions
TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]  # in unions, too
autosummary_generate = False
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "returns_style")]  # a list; links from it would be ambiguous
python_use_unqualified_type_names = True
exclude_patterns = ["images"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

templates_path = ["_templates"]
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
    if "\\" in formula:  # a command that the converter does not know is passed on as it is
        raise ValueError(f"the formula {node.astext()!r} has a command that is not converted")
    self.body.append(formula if inline else f"<div class='math'>{formula}</div>\n")
    raise nodes.SkipNode


def describe_parameters(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Add the parameters of a dataclass with the help that its fields have, unless its docstring lists them."""
    if what != "class" or not is_dataclass(thing) or {"Parameters", "Attributes"} & set(lines):
        return
    listed = [(one.name, one.metadata["help"]) for one in fields(thing) if one.init and one.metadata.get("help")]
    place = lines.index("Examples") if "Examples" in lines else len(lines)
    described = [line for name, words in listed for line in (name, f"    {words.split('  [')[0]}.")]
    section = ["", "Parameters", "----------", *described, ""]
    lines[place:place] = section if listed else []


def keep_sentences(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep a property's docstring as it is: napoleon takes words before a colon in its first line for a type."""
    if what in ("attribute", "data", "property"):
        lines.insert(0, "")


def link_public_name(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Link gpcurves.problem.Problem in a signature to gpcurves.Problem, the name that users know."""
    name = str(node.get("reftarget", "")).rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in gpc.__all__:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", f"gpcurves.{name}", node, content)


class PublicName(SphinxRole):
    """What stands in single backticks in a docstring: a link if it is a public name, and code otherwise."""

    def run(self) -> tuple[list[Any], list[Any]]:
        """Return the nodes."""
        shown, name = nodes.literal(self.text, self.text), self.text.removeprefix("gpcurves.").partition(".")[0]
        if name not in gpc.__all__:
            return [shown], []
        about = {"refdomain": "py", "reftype": "obj", "reftarget": f"gpcurves.{name}", "refdoc": self.env.docname}
        return [addnodes.pending_xref("", shown, refexplicit=True, refwarn=False, **about)], []


def break_long_names(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let long names in tables break after dots, slashes and underscores: a table is cut off otherwise."""

    def cell(found: re.Match[str]) -> str:
        return re.sub(
            r'(?<=<span class="pre">)[^<]{20,}', lambda name: re.sub(r"([./_])", r"\1<wbr>", name[0]), found[0]
        )

    if "body" in context:
        context["body"] = re.sub(r"<td.*?</td>", cell, context["body"], flags=re.DOTALL)


def setup(app: Sphinx) -> None:
    """Enter the renderer of formulae, and what the reference needs."""
    app.add_role("public", PublicName())
    app.connect("autodoc-process-docstring", describe_parameters, priority=400)  # before napoleon, which formats them
    app.connect("autodoc-process-docstring", keep_sentences, priority=400)
    app.connect("missing-reference", link_public_name)
    app.connect("html-page-context", break_long_names)
    app.add_html_math_renderer("mathml", inline_renderers=(mathml, None), block_renderers=(mathml, None))
