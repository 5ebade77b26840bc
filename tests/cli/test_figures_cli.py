"""``gpcurves figures``: listing, drawing, skipping what is finished, going on after a stop, and failing claims."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.montecarlo.store import Store
from gpcurves.papers.folder import SUFFIXES
from gpcurves.papers.gallery import FIGURES, Drawn, Quality, Sheet, check, figure_of

PROBLEM = gpc.Problem(gpc.RBF(0.2), gpc.Torus(dim=1), noise=0.1)


class Calls:
    """What the two figures below were asked for, and how they shall behave."""

    def __init__(self) -> None:
        self.efforts: list[Quality] = []
        self.stop = False
        self.limit = 1.0


@pytest.fixture
def calls() -> Iterator[Calls]:
    """Replace the figures of the papers by two quick ones."""
    kept = Calls()
    saved = dict(FIGURES)
    FIGURES.clear()

    @figure_of("First", "first", "1", "A line", "Of points.")
    def first(quality: Quality) -> Drawn:
        kept.efforts.append(quality)
        sheet = Sheet()
        sheet.panels[0].line("line", [0, 1], [1, 2])
        return sheet.finish([check("a < b", 0.5, at_most=kept.limit)])

    @figure_of("First", "first", "2", "A curve", "Simulated.")
    def second(quality: Quality) -> Drawn:
        kept.efforts.append(quality)
        curve = gpc.learning_curve(PROBLEM, "simulation", 5, datasets=quality.choose(6, 3), rng=0, **quality.running)
        if kept.stop:
            raise KeyboardInterrupt
        sheet = Sheet()
        sheet.panels[0].curve("truth", curve)
        return sheet.finish([check("falls", curve.error[-1], at_most=1.0, note="said & done")])

    yield kept
    FIGURES.clear()
    FIGURES.update(saved)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--quick"], "--quick needs figures to draw: name some, or 'all'"),
        (["--workers", "1"], "--workers needs figures to draw"),
        (["all", "nosuch"], "unknown figure 'nosuch'"),
    ],
)
def test_what_would_be_ignored_is_refused(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["figures", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_without_names_the_figures_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["figures"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Sollich & Halees 2002\n" in out
    assert all(re.search(rf"^  {name} +\w", out, re.MULTILINE) for name in FIGURES)


def test_one_real_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["figures", "sollich2002-8", "--quick", "--out", str(tmp_path / "new" / "folder")]) == 0
    out, err = capsys.readouterr()
    assert {path.name for path in (tmp_path / "new/folder").iterdir()} == {f"sollich2002-8{s}" for s in SUFFIXES}
    assert "holds  the correction is about 1 % of LC or less" in out
    assert "4 of 4 claims about 1 figures hold" in out
    assert "wrote" in err


def test_all_of_them(calls: Calls, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["figures", "all", "--out", str(tmp_path), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.endswith(f"the files are in {tmp_path}\nopen {tmp_path / 'index.html'} to see them all\n")
    names = {f"first-{number}{suffix}" for number in (1, 2) for suffix in SUFFIXES}
    assert {path.name for path in tmp_path.iterdir()} == names | {"claims.csv", "index.html"}
    with (tmp_path / "claims.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["figure"], row["text"], row["holds"]) for row in rows] == [
        ("first-1", "a < b", "True"),
        ("first-2", "falls", "True"),
    ]
    assert rows[0]["effort"] == "full"
    page = (tmp_path / "index.html").read_text()
    assert "a &lt; b" in page
    assert "said &amp; done" in page
    assert "def second(quality" in page
    for link in re.findall(r"(?:src|href)='([^']+)'", page):
        assert (tmp_path / link).is_file(), link


@pytest.mark.slow
def test_what_is_finished_is_left_as_it_is(calls: Calls, tmp_path: Path) -> None:
    words = ["figures", "all", "--out", str(tmp_path)]
    assert run([*words, "--quick"]) == 0
    assert run([*words, "--quick"]) == 0
    assert len(calls.efforts) == 2
    assert run(words) == 0  # quick figures are not good enough for a full run
    assert [quality.quick for quality in calls.efforts] == [True, True, False, False]
    assert run([*words, "--quick"]) == 0  # but full ones are for a quick one
    assert len(calls.efforts) == 4
    (tmp_path / "first-1.svg").unlink()
    assert run(words) == 0
    assert len(calls.efforts) == 5
    assert run([*words, "--again"]) == 0
    assert len(calls.efforts) == 7
    assert run(["figures", "first-1", "--out", str(tmp_path)]) == 0  # a figure that is named is drawn
    assert len(calls.efforts) == 8


def test_a_stopped_run_goes_on(calls: Calls, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["figures", "all", "--out", str(tmp_path)]
    calls.stop = True
    assert run(words) == 130
    assert f"finished figures are kept in {tmp_path}: run the same command again" in capsys.readouterr().err
    store = tmp_path / "figures.sqlite"
    with Store(store) as opened:
        kept = opened._connection.execute("SELECT COUNT(*) FROM results").fetchone()
    assert kept == (6,)
    calls.stop = False
    assert run(words) == 0
    assert "[1/2] first-1: finished already" in capsys.readouterr().err
    assert len(calls.efforts) == 3
    assert not store.exists()


def test_a_file_that_is_no_store_is_not_removed(calls: Calls, tmp_path: Path) -> None:
    assert run(["figures", "all", "--out", str(tmp_path)]) == 0
    (tmp_path / "figures.sqlite").write_text("mine")
    assert run(["figures", "all", "--out", str(tmp_path)]) == 2
    assert (tmp_path / "figures.sqlite").read_text() == "mine"


def test_a_claim_that_fails_is_an_exit_code(calls: Calls, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    calls.limit = 0.1
    assert run(["figures", "all", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "  FAILS  a < b\n         expected at most 0.1; found 0.5\n" in out
    assert "1 of 2 claims about 2 figures hold" in out
    assert "gpcurves: claims fail about first-1\n" in err
    assert "<b>no</b>" in (tmp_path / "index.html").read_text()
    assert run(["figures", "all", "--out", str(tmp_path)]) == 1  # also when it is finished already


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["solich2002-4"], "unknown figure 'solich2002-4': did you mean 'sollich2002-4'?"),
        (["sollich2002-8", "--again"], "--again belongs to 'all'"),
        (["sollich2002-8", "--out", "FILE"], "it is a file, not a folder"),
        (["sollich2002-8", "--quick", "--workers", "many"], "workers must be an integer"),
    ],
)
def test_refusals(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "FILE").touch()
    given = [str(tmp_path / word) if word == "FILE" else word for word in words]
    assert run(["figures", *given, *([] if "--out" in given else ["--out", str(tmp_path)])]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n") <= 2) == ("", True)
    assert sentence in err
