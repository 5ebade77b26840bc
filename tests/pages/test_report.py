"""Pictures and pages as a person sees them, and the layering of the package."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.render.page import page
from gpcurves.render.plot import _spread
from gpcurves.render.style import REGION, error_limits, logarithmic_n, region, style_of
from gpcurves.render.summary import regime, summary

ROOT = Path(__file__).parents[2]
PROBLEM = gpc.Problem(gpc.RBF(0.01), gpc.Torus(1), 0.05)


@pytest.fixture(scope="module")
def curves() -> gpc.CurveSet:
    return gpc.learning_curves(PROBLEM, n=200)


def test_the_picture_says_what_it_shows(curves: gpc.CurveSet) -> None:
    display = curves.plot()
    ax = display.ax_
    assert ax.get_yscale() == "log"
    assert ax.get_title() == "RBF(lengthscale=0.01), Torus(dim=1), noise 0.05"
    assert ax.get_xlabel() == "number of examples n"
    assert set(display.lines_) == {name for name, m in gpc.METHODS.items() if "n" in m.axes} - {"simulation"}
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    for words in ("where the truth must lie", "approximations", "lower bounds", "upper bounds", "of something else"):
        assert words in legend
    labels = {text.get_text() for text in ax.texts}
    assert {"mw", "plaskota", "ov", "lo", "wv", "two", "info"} <= labels
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
    assert curves["lc"].plot()._repr_png_().startswith(b"\x89PNG")


def test_colours_can_be_told_apart(curves: gpc.CurveSet) -> None:
    looks = {name: style_of(curves, name) for name in curves}
    assert len({(look.colour, look.dash) for look in looks.values()}) == len(curves)
    approximations = {looks[name].colour for name in ("lc", "uc", "d", "lc1")}
    assert len(approximations) == 4
    assert REGION not in {look.colour for look in looks.values()}


def test_axes_fit_the_curves(curves: gpc.CurveSet) -> None:
    low, high = error_limits(curves)
    assert curves["lc"].error.min() / 10 < low < curves["lc"].error.min()
    assert high > curves["lc"].error.max()
    assert not logarithmic_n(np.arange(300.0))
    assert logarithmic_n(np.array([0, 1, 10, 100.0, 1000.0]))
    assert curves.plot().ax_.get_xscale() == "linear"
    assert gpc.learning_curve(PROBLEM, "lc", [0, 1, 10, 1000]).plot().ax_.get_xscale() == "log"


def test_labels_are_moved_apart() -> None:
    spread = _spread(np.array([0.5, 0.1, 0.5, 0.51]))
    assert (np.diff(np.sort(spread)) > 0.0319).all()
    assert spread[1] == 0.1
    assert np.argsort(spread).tolist() == [1, 0, 2, 3]


@pytest.mark.parametrize("n", [[0], [5], [0, 0], [3, 1, 2]])
def test_odd_sizes_draw(n: list[float]) -> None:
    curves = gpc.learning_curves(PROBLEM, n)
    assert curves.plot().to_bytes("svg").startswith(b"<?xml")
    assert "plotly" in page(curves)


def test_pictures_are_the_same_bytes_each_time(curves: gpc.CurveSet) -> None:
    assert curves.plot().to_bytes("png") == curves.plot().to_bytes("png")


def test_the_page_is_complete_and_needs_nothing_from_outside(curves: gpc.CurveSet) -> None:
    text = page(curves, {0.05: {"lc": "168", "wv": "never"}})
    own = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)\s*=", own)
    assert "<script src" not in text
    assert "hovertemplate" in text
    for method in (gpc.METHODS[name] for name in curves):
        assert method.promise.replace("&", "&amp;") in own
    assert "<td>168</td>" in own
    assert "<h1>" in own


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
def test_the_page_in_a_browser(curves: gpc.CurveSet, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    curves.save(path)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    flags += [
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr",
    ]
    done = subprocess.run(
        ["chromium", *flags, "--virtual-time-budget=8000", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert 'class="main-svg"' in done.stdout
    assert done.stdout.count('class="trace scatter') >= len(curves)
    assert "CONSOLE" not in "".join(line for line in done.stderr.splitlines(keepends=True) if "rror" in line)


def test_the_summary_reads_well() -> None:
    text = summary(PROBLEM, now=100, goals=[0.05, 0.01])
    assert "After 100 examples the error is about 0.116 (LC approximation);" in text
    assert "between 0.0431 and 0.276" in text
    assert "An error of 0.05 needs about 168 examples (LC), and certainly no fewer than 84." in text
    assert "Regime: initial" in text
    truth = gpc.learning_curve(PROBLEM, "simulation", n=[100, 200, 240], datasets=20, rng=0)
    told = summary(PROBLEM, now=100, goals=[0.05, 0.01], truth=truth)
    assert "Simulated, it is 0." in told
    assert "needs about 168 examples (LC), 240 as simulated, and certainly no fewer than 84." in told
    assert "needs about 628 examples (LC), more than 240 as simulated" in told
    assert "asymptotic" in regime(0.001, 0.05)
    assert "crossover" in regime(0.05, 0.05)
    assert "no noise" in regime(0.05, 0.0)


def test_the_example_of_theory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "theory.py"), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"curves.csv", "curves.png", "curves.html"}
    assert "Regime" in done.stdout


LAYERS = [
    "errors",
    "numerics",
    "kernels",
    "inputs",
    "designs",
    "spectra",
    "graphs",
    "problem",
    "montecarlo",
    "curve",
    "methods",
    "api",
]
LAYERS += ["tables", "forecasting", "render", "papers", "cli"]


def test_imports_flow_one_way() -> None:
    package = ROOT / "src" / "gpcurves"
    for path in package.rglob("*.py"):
        layer = path.relative_to(package).parts[0].removesuffix(".py")
        if layer.startswith("_"):
            continue
        for node in ast.parse(path.read_text()).body:  # only what is imported when the module is
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpcurves."):
                other = (node.module or "").split(".")[1]
                if not other.startswith("_"):
                    assert LAYERS.index(other) <= LAYERS.index(layer), f"{path} imports {node.module}"


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, gpcurves; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & {"numpy", "scipy", "pandas", "matplotlib", "plotly", "sklearn", "click", "networkx"}


def test_public_names_exist() -> None:
    for name in gpc.__all__:
        assert getattr(gpc, name) is not None
    assert set(gpc.__all__) <= set(dir(gpc))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gpc.nothing
