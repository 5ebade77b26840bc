"""The site: every figure of the papers is in the gallery as drawn in full, and all pages are in a table of contents."""

import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from gpcurves.papers import FIGURES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build", DOCS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_is_in_the_gallery_in_full(build: ModuleType) -> None:
    assert {path.stem for path in (DOCS / "gallery").glob("*.png")} == set(FIGURES)
    with (DOCS / "gallery" / "claims.csv").open(encoding="utf-8", newline="") as file:
        claims = list(csv.DictReader(file))
    assert {row["figure"] for row in claims} == set(FIGURES)
    assert all(row["holds"] == "True" and row["effort"] == "full" for row in claims)
    pages = {paper: [e for e in FIGURES.values() if e.paper == paper] for paper in build.PAPERS}
    assert sum(map(len, pages.values())) == len(FIGURES)
    for paper, entries in pages.items():
        page = build.gallery_page(paper, entries)
        for entry in entries:
            assert f"]({entry.name}.png)" in page
            assert entry.caption in page
            assert entry.code in page
            assert build.example(entry) in page
            assert ("other = " in build.example(entry)) == entry.takes_changes
        shown = [row for row in claims if row["figure"] in {e.name for e in entries}]
        assert page.count("| reproduced |\n") == sum(not row["note"] for row in shown)
        assert page.count("| reproduced after a correction |\n") == sum(bool(row["note"]) for row in shown)
        assert "not as printed" not in page
        assert build.state_of({"holds": "False", "note": ""}) == "**not as printed**"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("at most 1e-12", "at most 10<sup>−12</sup>"),
        ("4.81e+07", "4.81&nbsp;×&nbsp;10<sup>7</sup>"),
        ("at νp^(3/2) = 1", "at νp<sup>3/2</sup> = 1"),
        ("0.747 (D)", "0.747 (D)"),
    ],
)
def test_powers_in_claims_are_raised(build: ModuleType, cell: str, shown: str) -> None:
    assert build.readable(cell) == shown


def test_every_page_is_in_the_contents(build: ModuleType) -> None:
    listed = set(re.findall(r"^([\w/]+)$", (DOCS / "index.md").read_text(), re.MULTILINE))
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")} - {"index"}
    made = {f"gallery/{name}" for name in build.PAPERS.values()} | {
        "contributing",
        "changelog",
        "reference/methods",
        "gallery",
    }
    made |= {f"reference/{page}" for page in build.REFERENCE}
    assert listed == pages | made
