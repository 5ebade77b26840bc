"""Pictures and pages as a person sees them, and the layering of the package."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from browser import browsing
from gpcurves.cli import run
from gpcurves.goals import Goal
from gpcurves.methods import MethodName
from gpcurves.numerics.display import Display
from gpcurves.render.formats import FORMATS, check_output, list_suffixes, output_format, render
from gpcurves.render.plotly import figure
from gpcurves.render.scene import Axis, Line, Points, Text, move_apart, plain
from gpcurves.render.views import View, view_of
from gpcurves.render.views.curves import REGION, region, spans_decades
from gpcurves.render.views.looks import heading_of, strokes
from pictures import assert_drawn

ROOT = Path(__file__).parents[2]
PROBLEM = gpc.Problem(gpc.RBF(0.01), gpc.Torus(1), 0.05)


@pytest.fixture(scope="module")
def curves() -> gpc.CurveSet:
    return gpc.learning_curves(PROBLEM, n=200)


def test_the_picture_says_what_it_shows(curves: gpc.CurveSet) -> None:
    display = curves.plot()
    ax = display.ax_
    assert ax.get_yscale() == "log"
    assert ax.get_title() == "RBF kernel, lengthscale 0.01; uniform inputs on the circle; noise variance 0.05"
    assert ax.get_xlabel() == "number of examples n"
    known = [m for m in gpc.METHODS.values() if "n" in m.axes and m.compound is None and not m.special]
    assert set(display.lines_) == {method.name for method in known if not method.second} - {
        "simulation",
        "grid",
        "local",
    }
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    for words in ("allowed by the bounds", "approximations", "lower bounds", "upper bounds", "for a modified problem"):
        assert words in legend
    labels = {text.get_text() for text in ax.texts}
    assert set(curves) <= labels
    np.testing.assert_array_equal(display.lines_["lc"].get_ydata(), curves["lc"].error)


def test_the_shaded_region_is_what_the_bounds_allow(curves: gpc.CurveSet) -> None:
    allowed = region(curves)
    assert allowed is not None
    _, low, high = allowed
    lower = np.max([curves[name].error for name in ("mw", "plaskota", "ov", "lo")], axis=0)
    upper = np.min(
        [curves[name].error for name in ("wv", "two", "info")] + [np.full(201, curves["lc"].error[0])], axis=0
    )
    np.testing.assert_array_equal(low, lower)
    np.testing.assert_allclose(high, upper, rtol=1e-14)
    assert (low <= high * (1 + 1e-12)).all()
    assert region(gpc.learning_curves(PROBLEM, n=3, methods=["lc"])) is None
    (shade,) = curves.plot().ax_.collections
    vertices = shade.get_paths()[0].vertices
    at_100 = vertices[vertices[:, 0] == 100, 1]
    np.testing.assert_allclose(sorted(set(at_100)), [low[100], high[100]], rtol=1e-12)


def test_curves_draw_into_given_axes(curves: gpc.CurveSet) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(1, 2)
    assert curves["lc"].plot(axes[0]).ax_ is axes[0]
    assert curves.plot(axes[1], title="mine").figure_ is figure
    assert axes[1].get_title() == "mine"
    assert_drawn(curves["lc"].plot()._repr_png_())


def test_colours_can_be_told_apart(curves: gpc.CurveSet) -> None:
    looks = strokes(curves)
    assert len({(look.colour, look.dash) for look in looks.values()}) == len(curves)
    approximations = {looks[name].colour for name in ("lc", "uc", "d", "lc1")}
    assert len(approximations) == 4
    assert REGION not in {look.colour for look in looks.values()}
    alone = gpc.learning_curves(PROBLEM, n=3, methods=["uc"])
    assert strokes(alone)["uc"].colour == looks["uc"].colour  # a method looks the same in every picture


def sweep(count: int, methods: tuple[MethodName, ...] = ("lc", "ov")) -> gpc.CurveSet:
    problems = [gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1 / (k + 1)) for k in range(count)]
    curves = {f"{m} {k}": gpc.learning_curve(p, m, 5) for k, p in enumerate(problems) for m in methods}
    return gpc.CurveSet(curves)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 7, 20])
def test_every_curve_of_a_sweep_has_its_own_style_and_label(count: int) -> None:
    curves = sweep(count)
    looks = strokes(curves)
    assert len({(look.colour, look.dash) for look in looks.values()}) == len(curves) == 2 * count
    assert {looks[label].dash for label in looks if label.startswith("ov")} == {"dash"}
    assert looks["lc 1"].colour == looks["ov 1"].colour
    display = curves.plot()
    assert set(display.lines_) == set(curves)
    assert set(curves) <= {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert (
        display.ax_.get_title() == "RBF kernel, lengthscale 0.1; uniform inputs on the circle"
    )  # what the problems share
    assert region(curves) is None  # bounds of several problems allow nothing together


def test_a_method_nobody_has_heard_of_can_be_drawn() -> None:
    lc = gpc.learning_curve(PROBLEM, "lc", 5)
    name: Any = "ours"
    ours = gpc.LearningCurve(name, lc.n, 0.9 * lc.error, PROBLEM)
    curves = gpc.CurveSet.of(lc, ours)
    looks = strokes(curves)
    assert (looks["lc"].colour, looks["lc"].dash) != (looks["ours"].colour, looks["ours"].dash)
    assert set(curves.plot().lines_) == {"lc", "ours"}
    assert "<th>ours</th>" in view_of(curves).page()


def test_axes_fit_the_curves(curves: gpc.CurveSet) -> None:
    low, high = curves.plot().ax_.get_ylim()
    assert curves["lc"].error.min() / 10 < low < curves["lc"].error.min()
    assert high > curves["lc"].error.max()
    assert not spans_decades(np.arange(300.0))
    assert spans_decades(np.array([0, 1, 10, 100.0, 1000.0]))
    assert curves.plot().ax_.get_xscale() == "linear"
    assert gpc.learning_curve(PROBLEM, "lc", [0, 1, 10, 1000]).plot().ax_.get_xscale() == "log"


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis("", 0.9, 1.2e4, log=True), ["1", "10", "100", "1,000", "10,000"]),
        (Axis("", 20, 3000, log=True), ["50", "100", "200", "500", "1,000", "2,000"]),
        (Axis("", 0.46, 0.52, log=True), ["0.46", "0.47", "0.48", "0.49", "0.5", "0.51", "0.52"]),
        (Axis("", 1e-12, 1e4, log=True), ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "0.0001", "0.01", "1", "100", "10,000"]),
        (Axis("", 0, 200), ["0", "25", "50", "75", "100", "125", "150", "175", "200"]),
        (Axis("", 2e-8, 9e-8, log=True), ["2·10⁻⁸", "3·10⁻⁸", "5·10⁻⁸", "7·10⁻⁸"]),
    ],
)
def test_numbers_beside_an_axis(axis: Axis, ticks: list[str]) -> None:
    shown = [plain(tick) for tick in axis.ticks]
    assert set(ticks) <= set(shown)
    assert 3 <= len(shown) <= 12
    assert axis.at(float(axis.fraction(0.5 * (axis.low + axis.high)))) == pytest.approx(0.5 * (axis.low + axis.high))


def test_labels_are_moved_apart() -> None:
    spread = move_apart(np.array([0.5, 0.1, 0.5, 0.51]), 0.032)
    assert (np.diff(np.sort(spread)) > 0.0319).all()
    assert spread[1] == 0.1
    assert np.argsort(spread).tolist() == [1, 0, 2, 3]
    for ends in ([0.01, 0.02, 0.03, 0.5], [0.5, 0.98, 0.99, 1.0]):  # names outside a picture are hidden
        inside = move_apart(np.array(ends), 0.05, low=0.0, high=1.0)
        assert inside.min() >= 0
        assert inside.max() <= 1
        assert (np.diff(inside) > 0.0499).all()


GOAL = Goal(0.05, "n", {"lc": 168.0, "ov": 90.0, "two": 4e6}, {"info": "never & ever"}, "About 168 examples.")


def test_goals_are_drawn_where_curves_reach_them(curves: gpc.CurveSet) -> None:
    display = curves.plot(goals=[GOAL])
    assert display.lines_["goal 0.05"].get_ydata().tolist() == [0.05, 0.05]
    assert display.lines_["lc at goal 0.05"][0].get_xdata().tolist() == [168.0]
    assert "two at goal 0.05" not in display.lines_  # beyond the picture
    words = {text.get_text() for text in display.ax_.texts}
    assert {"goal 0.05", "About 168 examples."} <= words
    assert (
        "goal 1e-09" not in curves.plot(goals=[Goal(1e-9, "n", {}, {}, "")]).lines_
    )  # far below what the curves reach


def test_the_words_of_a_goal_keep_out_of_the_way(curves: gpc.CurveSet) -> None:
    scene = view_of(curves, goals=[GOAL]).scene()
    (text,) = [mark for mark in scene.marks if isinstance(mark, Text) and mark.text == "goal 0.05"]
    middle = float(scene.x.fraction(text.x)) + 0.05 * (1 if text.across == "left" else -1)
    height = float(scene.y.fraction(text.y)) + 0.02 * (1 if text.up == "bottom" else -1)
    for line in (mark for mark in scene.marks if isinstance(mark, Line)):
        there = np.interp(middle, scene.x.fraction(line.x), scene.y.fraction(line.y))
        assert abs(there - height) > 0.01, line.name


def test_goals_are_plain_data(curves: gpc.CurveSet) -> None:
    data = json.loads(render(curves, ".json", goals=[GOAL]))
    assert data["sentence"] == "About 168 examples."
    answers = {entry.pop("method"): entry for entry in data["required_n"]}
    assert answers["lc"] == {"error": 0.05, "n": 168}
    assert answers["info"] == {"error": 0.05, "n": None, "reason": "never & ever"}
    assert "required_n" not in json.loads(render(curves, ".json"))


def test_pictures_and_pages_show_the_same_scene(curves: gpc.CurveSet) -> None:
    scene = view_of(curves, goals=[GOAL]).scene()
    named = {mark.label or mark.name: mark for mark in scene.marks if isinstance(mark, Line | Points)}
    traces = {trace.name: trace for trace in figure(scene).data}
    for name, mark in named.items():
        np.testing.assert_array_equal(np.array(traces[name].y, dtype=float), mark.y)
    words = [mark.text for mark in scene.marks if isinstance(mark, Text)]
    assert [note.text for note in figure(scene).layout.annotations] == words


def test_a_new_format_is_one_function(curves: gpc.CurveSet, tmp_path: Path) -> None:
    @output_format(".md")
    def markdown(view: View) -> bytes:
        return "\n".join(f"| {label} |" for label in view.result).encode()

    try:
        curves.save(tmp_path / "curves.md")
        assert (tmp_path / "curves.md").read_text().startswith("| lc |\n| lc1 |")
        assert run(["curve", "--kernel", "rbf", "--noise", "1", "--n", "1", "--out", str(tmp_path / "a.md")]) == 0
        assert list_suffixes() == ".csv, .json, .png, .svg, .html or .md"
    finally:
        del FORMATS[".md"]


def test_results_say_what_they_can_be_written_as(curves: gpc.CurveSet, tmp_path: Path) -> None:
    frame = curves.to_frame()
    assert list_suffixes(type(frame)) == ".csv or .json"
    assert list_suffixes(Display) == ".png or .svg"
    assert pd.read_csv(io.BytesIO(render(frame, ".csv"))).columns.tolist() == ["method", "n", "error", "stderr"]
    with pytest.raises(gpc.InputError, match=r"unknown output format '\.png'.*\.csv, \.json"):
        check_output(tmp_path / "a.png", type(frame))
    with pytest.raises(gpc.InputError, match="got int"):
        view_of(3)
    curves["lc"].save(tmp_path / "one.json")
    again = gpc.load(tmp_path / "one.json")
    assert isinstance(again, gpc.LearningCurve)
    assert "<table>" in curves._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize("n", [[0], [5], [0, 0], [3, 1, 2]])
def test_odd_sizes_draw(n: list[float]) -> None:
    curves = gpc.learning_curves(PROBLEM, n)
    assert curves.plot().to_bytes("svg").startswith(b"<?xml")
    assert "plotly" in view_of(curves).page()


@pytest.mark.slow
def test_pictures_are_the_same_bytes_each_time(curves: gpc.CurveSet) -> None:
    assert curves.plot().to_bytes("png") == curves.plot().to_bytes("png")


def test_the_page_is_complete_and_needs_nothing_from_outside(curves: gpc.CurveSet) -> None:
    text = view_of(curves, goals=[GOAL]).page()
    own = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)\s*=", own)
    assert "<script src" not in text
    assert "hovertemplate" in text
    for method in (gpc.METHODS[name] for name in curves):
        assert method.promise.replace("&", "&amp;") in own
    for words in ("<td>168</td>", "<td>4,000,000</td>", "never &amp; ever", "About 168 examples.", "<h1>"):
        assert words in own


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
def test_the_page_in_a_browser(curves: gpc.CurveSet, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    curves.save(path)
    with browsing() as browser:
        browser.resize(390, 800)
        browser.open(path.as_uri())
        browser.wait(f"document.querySelectorAll('.trace.scatter').length >= {len(curves)}")
        assert browser.run("document.documentElement.scrollWidth") <= 390
        entries = browser.run("[...document.querySelectorAll('.key button')].map(each => each.textContent)")
        assert {entry.split(":")[0] for entry in entries} >= set(curves)
        lc = "[...document.querySelectorAll('.key button')].find(each => each.textContent.startsWith('lc:'))"
        hidden = "document.querySelector('.js-plotly-plot').data.filter(each => each.visible === false).map(each => each.name)"
        browser.run(f"{lc}.click()")
        assert [name.split(":")[0] for name in browser.run(hidden)] == ["lc"]
        browser.run(f"{lc}.click()")
        assert browser.run(hidden) == []
        assert browser.complaints() == []
        assert not [address for address in browser.requests() if not address.startswith(("file:", "data:", "blob:"))]


@pytest.mark.slow
def test_the_example_of_theory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "theory.py"), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"curves.csv", "curves.png", "curves.html"}
    assert "An error of 0.05 needs about 168 examples (LC), and certainly no fewer than 84." in done.stdout
    assert "the bounds prove 0.0431 to 0.276." in done.stdout


def test_exact_curves_of_the_problem_itself_are_not_listed_under_a_modified_one() -> None:
    assert heading_of("ou-exact") == "exact"
    assert heading_of("degenerate") == heading_of("grid") == heading_of("uo") == "for a modified problem"
