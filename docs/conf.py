"""How the site is built; `docs/build.py` prepares the sources and calls Sphinx. Nothing is loaded from other hosts."""

import os
import re
from dataclasses import fields, is_dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole
from sphinx.util.inspect import TypeAliasForwardRef
from sphinx.util.typing import stringify_annotation

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
LONG_TYPES = {  # what Sphinx writes, and what users write
    stringify_annotation(npt.ArrayLike, "smart"): "ArrayLike",
    stringify_annotation(npt.NDArray[np.float64], "smart"): "FloatArray",
    stringify_annotation(npt.NDArray[Any], "smart"): "NDArray",
    stringify_annotation(npt.NDArray[np.bool_], "smart"): "NDArray[bool]",
}
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

MATH = "{http://www.w3.org/1998/Math/MathML}"
SIGNS = (f"{MATH}mo", f"{MATH}mspace")
ElementTree.register_namespace("", MATH[1:-1])


def mathml(self: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers draw by themselves."""
    inline = type(node).__name__ == "math"
    try:
        formula = convert(node.astext(), display="inline" if inline else "block")
    except Exception as error:
        raise ValueError(f"cannot convert the formula {node.astext()!r}") from error
    if "\\" in formula:  # a command that the converter does not know is passed on as it is
        raise ValueError(f"the formula {node.astext()!r} has a command that is not converted")
    formula = set_functions_apart(formula)
    self.body.append(formula if inline else f"<div class='math'>{formula}</div>\n")
    raise nodes.SkipNode


def set_functions_apart(formula: str) -> str:
    """Put thin spaces around ln, sin and the like, as TeX does, and write a tilde as a relation: the converter does neither."""
    root = ElementTree.fromstring(formula)

    def is_function(piece: Any) -> bool:
        base = piece[0] if piece.tag in (f"{MATH}msup", f"{MATH}msub") else piece
        return base.tag == f"{MATH}mi" and len(base.text or "") > 1 and base.text.isascii()

    for row in list(root.iter(f"{MATH}mrow")):
        pieces = list(row)
        row[:] = []
        for before, piece in zip([None, *pieces], pieces, strict=False):
            if piece.tag == f"{MATH}mi" and piece.text == "~":
                piece.tag, piece.text = f"{MATH}mo", "\u223c"
            elif piece.tag == f"{MATH}mo" and len(piece.text) > 1 and piece.text.isalpha():
                piece.tag = f"{MATH}mi"
            closed = before is not None and (before.tag not in SIGNS or before.text in (")", "]"))
            if closed and piece.tag not in SIGNS and (is_function(piece) or is_function(before)):
                row.append(ElementTree.Element(f"{MATH}mspace", width="0.167em"))
            row.append(piece)
    return ElementTree.tostring(root, encoding="unicode")


def describe_parameters(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Add the parameters of a dataclass with the help that its fields have, unless its docstring lists them."""
    if what != "class" or not is_dataclass(thing) or {"Parameters", "Attributes"} & set(lines):
        return
    listed = [(one.name, one.metadata["help"]) for one in fields(thing) if one.init and one.metadata.get("help")]
    place = lines.index("Examples") if "Examples" in lines else len(lines)
    described = [line for name, words in listed for line in (name, f"    {in_python(words)}.")]
    section = ["", "Parameters", "----------", *described, ""]
    lines[place:place] = section if listed else []


def in_python(words: str) -> str:
    """Return the help of a parameter without what is said for the command line only."""
    return words.split("  [")[0].removesuffix(" separated by commas")


def shorten_types(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Write types as users do, in lists of attributes and of parameters; results list their attributes once."""
    types = app.env.current_document.autodoc_annotations.get(name, {})
    if (
        what == "class"
        and any(":Attributes:" in line for line in lines)
        and not any(":param " in line for line in lines)
    ):
        types.clear()  # users do not make results by hand: the arguments of the class would repeat the attributes
    types.update({each: short_type(text) for each, text in types.items()})
    for k, line in enumerate(lines):
        lines[k] = re.sub(r"(?<=\(\*).+(?=\*\) -- )|(?<=^:type ).*", lambda found: short_type(found[0]), line)


def short_type(text: str) -> str:
    """Return a type without the modules of this package, and with the short names of arrays."""
    for long, short in LONG_TYPES.items():
        text = text.replace(long, short)
    text = text.replace("npt.", "")
    return re.sub(r"(?<!~)\b(?:gpcurves|collections\.abc)\.(?:[a-z_0-9]+\.)*(?=[A-Z])", "", text)


def keep_sentences(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep a property's docstring as it is: napoleon takes words before a colon in its first line for a type."""
    if what in ("attribute", "data", "property") and lines and ":" in lines[0]:
        lines[:0] = ["..", ""]  # an empty comment, which is not shown; empty lines alone would be skipped


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


def keep_options_whole(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let no line end within an option such as --noise, neither in commands nor in sentences."""

    def command(found: re.Match[str]) -> str:
        return re.sub(r"(?<=[\s>])--[a-z][a-z-]*", r'<span class="option">\g<0></span>', found[0])

    if "body" in context:
        body = re.sub(r'<div class="highlight-console.*?</pre>', command, context["body"], flags=re.DOTALL)
        context["body"] = re.sub(r'<span class="pre">(?=--[a-z][a-z-]*<)', '<span class="pre option">', body)


def setup(app: Sphinx) -> None:
    """Enter the renderer of formulae, and what the reference needs."""
    app.add_role("public", PublicName())
    app.connect("autodoc-process-docstring", describe_parameters, priority=400)  # before napoleon, which formats them
    app.connect("autodoc-process-docstring", keep_sentences, priority=400)
    app.connect("autodoc-process-docstring", shorten_types, priority=600)  # after napoleon, which looks types up
    app.connect("missing-reference", link_public_name)
    app.connect("html-page-context", break_long_names)
    app.connect("html-page-context", keep_options_whole)
    app.add_html_math_renderer("mathml", inline_renderers=(mathml, None), block_renderers=(mathml, None))
