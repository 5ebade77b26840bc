"""Build the site: ``python docs/build.py [FOLDER]``.

Pages of the documentation are copied, the gallery of figures, the reference of public names, the changelog and the advice for
contributors are added, and Sphinx makes a site of them that works offline. Tutorials are executed on the way; warnings are errors.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Hashable, Mapping
from pathlib import Path
from types import ModuleType

import pandas as pd

import gpcurves as gpc
from gpcurves.numerics.parameters import parameters_of
from gpcurves.numerics.plain import Piece
from gpcurves.papers import FIGURES, Entry
from gpcurves.render.explorer import explorer_page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
REFERENCE = {  # page: title, what is on it, and the modules (or names) below gpcurves whose public names it has
    "problems": (
        "Problems",
        "A kernel, an input distribution and a kind of label; and the true process, if the model is misspecified.",
        ("problem", "teacher", "spectra"),
    ),
    "kernels": (
        "Kernels",
        "Covariance functions of vectors. Add, multiply and scale them: ``0.5 * RBF(0.1) + OU(1.0)``.",
        ("kernels",),
    ),
    "inputs": ("Inputs", "Distributions from which training and test inputs are drawn.", ("inputs",)),
    "observations": (
        "Observations",
        "What a label is: a number with noise, a class, a difference, a gradient.",
        ("observations",),
    ),
    "designs": ("Designs", "How training inputs are chosen, and how many labels that saves.", ("designs", "choosing")),
    "graphs": (
        "Graphs",
        "Graphs, ensembles of random graphs, kernels between vertices, and belief propagation.",
        ("graphs", "methods.cavity", "api.vertex_variances", "methods.variances", "render.drawing"),
    ),
    "curves": (
        "Learning curves",
        "The main calls, and what they return. Each method has its own `options <methods.html>`__.",
        ("api", "curve", "saved", "methods", "quantities"),
    ),
    "goals": (
        "Goals and guarantees",
        "How many examples, labels or inducing points a goal needs, and upper bounds on an error with a given confidence.",
        ("goals", "inducing", "guarantees", "methods.tasks.mix"),
    ),
    "forecasts": (
        "Forecasts",
        "From your own table, or your own network, to the error with more data.",
        ("forecasting", "datasets"),
    ),
    "posterior": (
        "Posterior and simulation",
        "One function given labels: mean, variances, draws.",
        ("methods.simulation", "methods.functionals"),
    ),
    "theory": (
        "Theory",
        "Bounds, exact values, laws of decay and maps of the error.",
        ("methods.formulas", "methods.local", "methods.tasks"),
    ),
    "papers": (
        "Figures of papers, and errors",
        "Figures of the papers with parameters of your own; the exceptions of the package.",
        ("papers", "errors"),
    ),
}
CALLED = {
    "ensemble": "mean_degree, degree_probabilities, sample",
    "graph kernel": "on",
}  # users make pieces, and call few methods
ESTIMATOR = (
    "   :exclude-members: set_fit_request, set_predict_request, set_score_request"  # scikit-learn adds these to any
)
INHERITED = "   :inherited-members: Mapping, Sequence, tuple, dict, Exception, BaseException, ReadOnly\n   :exclude-members: renderer"
PAPERS = {
    "Sollich 1999": "sollich1999",
    "Sollich 2001": "sollich2001",
    "Sollich & Halees 2002": "sollich2002",
    "Urry & Sollich 2013": "urry2013",
}


def main() -> None:
    """Write the site."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    source = site.parent / f"{site.name}-source"
    for folder in (site, source):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("__pycache__", "build.py"))
    shutil.copytree(ROOT / "examples", source / "examples")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        text = re.sub(r"\(docs/([^)]*)\)", r"(\1)", (ROOT / name).read_text(encoding="utf-8"))
        (source / name.lower()).write_text(
            re.sub(r"\[([^\]]*)\]\((?![\w/.-]*\.md)[^)]*\)", r"\1", text), encoding="utf-8"
        )
    for page in source.rglob("*.md"):
        page.write_text(
            re.sub(
                r"\.\./(CONTRIBUTING|CHANGELOG)\.md", lambda m: f"{m[1].lower()}.md", page.read_text(encoding="utf-8")
            ),
            encoding="utf-8",
        )
    for paper, name in PAPERS.items():
        entries = [entry for entry in FIGURES.values() if entry.paper == paper]
        (source / "gallery" / f"{name}.md").write_text(gallery_page(paper, entries), encoding="utf-8")
    (source / "gallery.md").write_text(gallery_index(), encoding="utf-8")
    (source / "reference").mkdir(exist_ok=True)
    for page in REFERENCE:
        (source / "reference" / f"{page}.rst").write_text(reference_page(page), encoding="utf-8")
    (source / "reference" / "methods.md").write_text(methods_page(), encoding="utf-8")
    (source / "_static" / "explorer.html").write_text(explorer_page(), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}The documentation has the errors above.")
    print(f"Open {site / 'index.html'} in a browser.")


def gallery_index() -> str:
    """Return the page of thumbnails, each of which leads to its figure."""
    parts = [
        "# Gallery\n",
        "Every figure of four papers, redrawn by this package. Click a picture to see it in full, with what the paper says about it, "
        "what we find, and code to draw it yourself.\n",
    ]
    for paper in PAPERS:
        entries = [entry for entry in FIGURES.values() if entry.paper == paper]
        pictures = [f"- [![{e.title}](gallery/{e.name}.png)](#{e.name})\n\n  {e.number}. {e.title}\n" for e in entries]
        parts += [f"## {paper}\n", '<div class="thumbnails">\n', *pictures, "</div>\n"]
    return "\n".join(parts)


def gallery_page(paper: str, entries: list[Entry]) -> str:
    """Return the page of a paper: each figure with its caption, what was checked, and the code that made it."""
    claims = pd.read_csv(DOCS / "gallery" / "claims.csv", dtype=str, keep_default_na=False)
    parts = [
        f"# Figures of {paper}\n",
        "Drawn by `gpcurves figures all`; captions and wording of the claims are ours. Numbers after “quick” are those of "
        "`quick=True`, which takes a fraction of the time.\n",
    ]
    for entry in entries:
        rows = claims[claims["figure"] == entry.name]
        parts += [
            f"({entry.name})=\n",
            f"## Figure {entry.number}: {entry.title}\n",
            f"![{entry.title}]({entry.name}.png)\n",
            f"{entry.caption}\n",
            '<div class="claims">\n',
            claim_table(rows),
            "</div>\n",
            f"```python\n{example(entry)}```\n",
            "<details><summary>How it is drawn</summary>\n",
            f"```python\n{entry.code}```\n",
            "</details>\n",
        ]
    return "\n".join(parts)


def example(entry: Entry) -> str:
    """Return code that draws a figure, to copy; with parameters to change if the figure takes them."""
    changes = {"noise": 0.01, "p": 5} if entry.name.startswith("urry") else {"noise": 0.01, "lengthscale": 0.2}
    given = "".join(f", {name}={value}" for name, value in changes.items())
    other = f'other = gpc.papers.figure("{entry.name}"{given})  # parameters of your own\n'
    return (
        f'import gpcurves as gpc\n\ndrawn = gpc.papers.figure("{entry.name}")  # add quick=False to draw it as above\n'
        f'drawn.figure.savefig("{entry.name}.png")\nprint(drawn.table)  # the numbers behind every line\n'
        + other
        * entry.takes_changes
    )


def state_of(row: Mapping[Hashable, str]) -> str:
    """Return one of three states of a claim; a note says what the paper has and how it is corrected."""
    if row["holds"] != "True":
        return "**not as printed**"
    return "reproduced after a correction" if row["note"] else "reproduced"


def claim_table(rows: pd.DataFrame) -> str:
    """Return the claims about a figure as a table."""
    lines = ["| what the text says | expected | found | result |", "|---|---|---|---|"]
    for row in rows.to_dict("records"):
        text = f"{row['text']} *({row['note']})*" if row["note"] else str(row["text"])
        cells = [readable(each) for each in (text, str(row["expected"]), str(row["found"]))] + [state_of(row)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def readable(cell: str) -> str:
    """Return a text with powers raised: 1e-12 and p^(3/2) as one would print them."""

    def power(found: re.Match[str]) -> str:
        factor = "" if found[1] == "1" else f"{found[1]}&nbsp;×&nbsp;"
        return f"{factor}10<sup>{found[2].replace('-', '−').strip('+')}{found[3]}</sup>"

    return re.sub(r"\b([\d.]+)e([+-]?)0*(\d+)\b", power, re.sub(r"\^\(([^)]*)\)", r"<sup>\1</sup>", cell))


def group_of(name: str) -> str:
    """Return the page of a public name, by the longest prefix of its module that is listed in ``REFERENCE``."""
    module = gpc._MODULE_OF[name]
    pages = {place: page for page, (_, _, places) in REFERENCE.items() for place in places}
    near = [place for place in pages if f"{module}.{name}.".startswith(f"gpcurves.{place}.")]
    if not near:
        raise ValueError(f"no page of the reference lists {module}, the home of {name}")
    return pages[max(near, key=len)]


def reference_page(page: str) -> str:
    """Return one page of the reference in reStructuredText: a table of names, then each with all that is known about it."""
    title, about, _ = REFERENCE[page]
    names = [name for name in gpc.__all__ if name != "__version__" and group_of(name) == page]
    parts = [title, "=" * len(title), "", about, "", ".. currentmodule:: gpcurves", "", ".. autosummary::", ""]
    parts += [*(f"   {name}" for name in names), ""]
    for name in names:
        thing = getattr(gpc, name)
        parts += [name, "-" * len(name), ""]
        if isinstance(thing, ModuleType):
            parts += [f".. automodule:: gpcurves.{name}", ""]
            own = {each: getattr(thing, each) for each in thing.__all__}
            parts += [
                f".. autofunction:: gpcurves.{name}.{each}\n" for each, one in own.items() if inspect.isfunction(one)
            ]
            parts += [f".. autoclass:: gpcurves.{name}.{each}\n" for each, one in own.items() if inspect.isclass(one)]
            parts += [".. currentmodule:: gpcurves", ""]
        elif inspect.isclass(thing):
            parts += [f".. autoclass:: {name}", *members_of(thing), ""]
        elif inspect.isfunction(thing):
            parts += [f".. autofunction:: {name}", ""]
        else:
            parts += [f".. autodata:: {name}", "   :no-value:", ""]
    return "\n".join(parts)


def members_of(thing: type) -> list[str]:
    """Return the options that choose which methods of a class are described: those that users call."""
    if issubclass(thing, Piece):
        return [f"   :members: {CALLED[thing.family]}"] if thing.family in CALLED else []
    return ["   :members:", ESTIMATOR if hasattr(thing, "get_params") else INHERITED]


def methods_page() -> str:
    """Return the page of all methods: what each guarantees, when it applies, and its options with type and default."""
    parts = [
        "# Methods and their options\n",
        "Pass a name to [`learning_curve`](curves.rst) and options as keywords, or as flags on the command line "
        "(`test_points=` is `--test-points`). `gpcurves methods` prints the same list.\n",
        "| method | what it computes | guarantee | requirements |",
        "|---|---|---|---|",
        *(f"| `{m.name}` | {m.title}: {m.relation} | {m.promise} | {m.needs} |" for m in gpc.METHODS.values()),
        "",
    ]
    by_options: dict[type, list[str]] = {}
    for method in gpc.METHODS.values():
        if parameters_of(method.Options):
            by_options.setdefault(method.Options, []).append(str(method.name))
    for options, names in by_options.items():
        parts += [
            f"## Options of {', '.join(f'`{name}`' for name in names)}\n",
            "| option | type | default | meaning |",
        ]
        parts += ["|---|---|---|---|"]
        for one in parameters_of(options):
            default = "required" if one.required else f"`{one.default!r}`"
            cells = [f"`{one.name}`", f"`{type_words(one.kind)}`", default, one.help]
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
    return "\n".join(parts)


def type_words(kind: object) -> str:
    """Return a type as one would write it."""
    return kind.__name__ if isinstance(kind, type) else re.sub(r"\b[a-z_]+\.(?:[a-z_]+\.)*", "", str(kind))


if __name__ == "__main__":
    main()
