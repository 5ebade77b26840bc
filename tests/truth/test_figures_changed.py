"""Figures of the papers with parameters of one's own."""

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.papers import FIGURES, figure


def test_a_changed_figure_has_the_curves_of_the_changed_problem() -> None:
    drawn = figure("sollich2002-4", noise=0.5, lengthscale=0.05)
    problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(dim=1), noise=0.5)
    table = drawn.table[drawn.table["curve"] == "lc"]
    np.testing.assert_allclose(table["y"], gpc.learning_curve(problem, "lc", n=table["x"].to_numpy()).error)
    assert drawn.claims == ()  # the paper says nothing about these


def test_noise_levels_on_graphs_are_those_that_are_given() -> None:
    quick = gpc.papers.Quality(quick=True, changes=(("noise", (0.03, 0.3)), ("p", 3)))
    levels = gpc.papers.urry2013.levels_of(gpc.RandomRegular(3), "local", ["eigenvalue"], quick)
    assert list(levels) == [0.03, 0.3]
    curve = levels[0.03]["eigenvalue"]
    assert curve.problem.noise == 0.03
    assert curve.problem.kernel.p == 3


def test_all_that_take_changes_are_comparisons_or_noise_levels() -> None:
    assert sum(entry.takes_changes for entry in FIGURES.values()) == 14


def test_a_parameter_that_a_figure_does_not_have_is_refused() -> None:
    with pytest.raises(gpc.InputError, match="noize is no parameter of"):
        figure("sollich1999-1a", noize=0.1)
    with pytest.raises(gpc.InputError, match="has fixed parameters; figures that take changes are sollich1999-1a"):
        figure("sollich2002-8", noise=0.1)
    with pytest.raises(gpc.InputError, match="sollich2002-4"):
        figure("sollich2002-44")
