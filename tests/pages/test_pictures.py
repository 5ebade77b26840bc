"""Pictures of results: titles in words, several calls on the same axes, nothing cut off, and figures of Plotly on request."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

import gpcurves as gpc
from gpcurves.render import mpl, plotly
from gpcurves.render.scene import Axis, Points, Scene, plain
from gpcurves.render.views import view_of
from gpcurves.render.wording import in_words, shared_words, without_calls

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

TORUS = gpc.Torus(dim=1)
PROBLEM = gpc.Problem(gpc.RBF(0.1), TORUS, noise=0.05)
CLUB = gpc.GraphProblem(nx.karate_club_graph(), gpc.RandomWalkKernel(), noise=0.1)
WORDS = {
    "RBF kernel, lengthscale 0.1; uniform inputs on the circle; noise variance 0.05": PROBLEM,
    "RBF kernel (lengthscale 0.1, variance 0.5) + OU kernel (lengthscale 1); uniform inputs, 3 dimensions; "
    "Student-t noise, 3 degrees of freedom, scale 0.3": gpc.Problem(
        0.5 * gpc.RBF(0.1) + gpc.OU(1.0), gpc.Box(dim=3), gpc.StudentT(3, 0.3)
    ),
    "Random walk kernel, p = 10, a = 2, local normalisation; Erdős-Rényi graphs, mean degree 3; noise variance 0.1": gpc.GraphProblem(
        gpc.ErdosRenyi(3), gpc.RandomWalkKernel(), 0.1
    ),
    "Random walk kernel, p = 10, a = 2, local normalisation; stochastic block model, blocks of 0.5 and 0.5, "
    "neighbours 2 and 1 / 1 and 2, labels 1 and 0; noise variance 0.1": gpc.GraphProblem(
        gpc.StochasticBlockModel((0.5, 0.5), ((2, 1), (1, 2)), (1, 0)), gpc.RandomWalkKernel(), 0.1
    ),
    "Matérn-3/2 kernel, lengthscale 0.1; sample, 4 points, 2 dimensions; noise variance 0.1; design: greedy; "
    "true function: OU kernel, lengthscale 0.2, noise variance 0.3": gpc.Problem(
        gpc.Matern32(0.1), gpc.Sample(np.eye(4, 2)), 0.1, gpc.Teacher(gpc.OU(0.2), 0.3), "greedy"
    ),
}


@pytest.mark.parametrize("words", WORDS)
def test_titles_are_words(words: str) -> None:
    assert in_words(WORDS[words]) == words


def test_problems_share_what_is_the_same_in_all() -> None:
    problems = [gpc.Problem(gpc.RBF(scale), TORUS, 0.05) for scale in (0.1, 0.2)]
    assert shared_words(problems) == "RBF kernel; uniform inputs on the circle; noise variance 0.05"
    assert shared_words([PROBLEM, gpc.Problem(gpc.OU(0.1), TORUS, 0.1)]) == "Uniform inputs on the circle"
    assert without_calls("cavity, block=1") == "cavity, block 1"
    assert without_calls("lc, kernel RBF(lengthscale=0.1)") == "lc, kernel RBF (lengthscale 0.1)"


def test_curves_drawn_into_the_same_axes_have_a_look_and_a_label_each() -> None:
    ax = Figure().add_subplot()
    for scale in (0.05, 0.1, 0.2):
        problem = gpc.Problem(gpc.RBF(scale), TORUS, 0.05)
        shown = gpc.learning_curve(problem, "lc", 20).plot(ax)
        shown = gpc.learning_curve(problem, "simulation", [5, 20], datasets=2, rng=0).plot(ax)
    labels = [f"{name}, lengthscale {scale:g}" for scale in (0.05, 0.1, 0.2) for name in ("lc", "simulation")]
    assert sorted(shown.lines_) == sorted(labels)
    assert len({shown.lines_[label].get_color() for label in labels if label.startswith("lc")}) == 3
    assert len(ax.lines) == 6  # nothing is left of pictures with fewer curves
    shown_legend = ax.get_legend()
    assert shown_legend is not None
    legend = {text.get_text() for text in shown_legend.get_texts()}
    assert {label for label in labels if label.startswith("lc")} <= legend
    assert ax.get_title() == "RBF kernel; uniform inputs on the circle; noise variance 0.05"


def test_axes_keep_what_others_drew_and_forget_what_was_cleared() -> None:
    ax = Figure().add_subplot()
    (mine,) = ax.plot([1, 2], [0.1, 0.2])
    lc = gpc.learning_curve(PROBLEM, "lc", 20)
    lc.plot(ax)
    lc.plot(ax, title="mine")  # the same curve is there once
    assert len(ax.lines) == 2
    assert mine in ax.lines
    assert ax.get_title() == "mine"
    ax.clear()
    assert set(gpc.learning_curve(PROBLEM, "uc", 20).plot(ax).lines_) == {"uc"}
    named = gpc.CurveSet({"ours": lc}).plot(ax)
    assert set(named.lines_) == {"uc", "ours"}


def test_points_on_the_frame_are_drawn_whole_and_those_beyond_are_not() -> None:
    scene = Scene(Axis("x", 0.0, 1.0), Axis("y", 0.0, 1.0))
    scene.marks.append(Points(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.5]), "#000000", name="points"))
    points = mpl.draw(scene).lines_["points"][0]
    assert not points.get_clip_on()
    np.testing.assert_array_equal(np.isfinite(points.get_xdata()), [True, True, False])


def test_decades_are_written_alike() -> None:
    assert [lines[0] for lines in Axis("error", 1e-6, 1.0, True).tick_lines] == [
        "10⁻⁶",
        "10⁻⁵",
        "10⁻⁴",
        "10⁻³",
        "10⁻²",
        "0.1",
        "1",
    ]
    assert [lines[0] for lines in Axis("error", 1e-3, 1.0, True).tick_lines][-1] == "1"
    assert plain(0.0002) == "0.0002"
    assert [lines[0] for lines in Axis("n", 30, 2000, True).tick_lines] == ["50", "100", "200", "500", "1,000", "2,000"]


@cache
def forecast() -> gpc.Forecast:
    X = np.random.default_rng(0).uniform(size=(24, 2))
    return gpc.forecast(X, np.sin(6 * X[:, 0]), draws=1)


RESULTS: dict[str, Callable[[], Any]] = {
    "curve": lambda: gpc.learning_curve(PROBLEM, "lc", 20),
    "curves": lambda: gpc.learning_curves(PROBLEM, 20, ["lc", "plaskota", "two"]),
    "curves on a graph": lambda: gpc.learning_curves(CLUB, nu=[0.1, 1.0], methods=["eigenvalue"]),
    "forecast": forecast,
    "laws": lambda: gpc.asymptotics(PROBLEM),
    "diagnosis": lambda: gpc.diagnose(nx.karate_club_graph()),
    "variances": lambda: gpc.vertex_variances(CLUB, 1.0, datasets=2, rng=0),
    "errors": lambda: gpc.local_errors(gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(dim=1), 0.1), 10),
    "posterior": lambda: gpc.posterior(PROBLEM, [[0.1], [0.5]], [0.3, -0.2]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_becomes_a_figure_of_plotly(name: str) -> None:
    import plotly.graph_objects as go

    result = RESULTS[name]()
    figure = result.plot(backend="plotly")
    assert isinstance(figure, go.Figure)
    scene = view_of(result).scene()
    assert scene.title.split(";")[0] in figure.layout.title.text
    traces = {trace.name for trace in figure.data}
    assert {mark.label for mark in scene.marks if mark.label} <= traces
    assert figure.layout.xaxis.title.text == scene.x.label
    with pytest.raises(gpc.InputError, match="ax is for Matplotlib"):
        result.plot(Figure().add_subplot(), backend="plotly")
    with pytest.raises(gpc.InputError, match="did you mean 'plotly'"):
        result.plot(backend="plotli")


@pytest.mark.parametrize("goals", [0.05, [0.05]])
def test_a_goal_is_drawn_in_every_format(goals: float | list[float]) -> None:
    curves = gpc.learning_curves(PROBLEM, 40, ["lc", "uc"])
    lines = curves.plot(goals=goals).lines_
    assert lines["goal 0.05"].get_ydata().tolist() == [0.05, 0.05]
    figure: Any = curves.plot(goals=goals, backend="plotly")
    (goal,) = [trace for trace in figure.data if trace.name == "goal 0.05"]
    assert list(goal.y) == [0.05, 0.05]
    (crossing,) = [trace for trace in figure.data if trace.name == "lc at goal 0.05"]
    assert crossing.x[0] == curves["lc"].reaches(0.05)
    assert "goal 0.05" in plotly.embed(view_of(curves, goals=goals).scene())
