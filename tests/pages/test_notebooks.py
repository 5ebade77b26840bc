"""What people see when they type the name of a public object: words in a terminal, a table in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import gpcurves as gpc

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them


@cache
def found() -> gpc.Forecast:
    X = np.random.default_rng(0).uniform(size=(24, 2))
    return gpc.forecast(X, np.sin(6 * X[:, 0]), draws=1)


def problem() -> gpc.Problem:
    return gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=2), noise=0.05)


SHOWN: dict[str, tuple[Callable[[], Any], str, str]] = {
    "methods": (lambda: gpc.METHODS, "plaskota", gpc.METHODS["plaskota"].promise),
    "method": (lambda: gpc.METHODS["simulation"], "<Method 'simulation'", "datasets"),
    "problem": (problem, "Problem(kernel=RBF(lengthscale=0.1), inputs=Torus(dim=2), observation=", "Torus(dim=2)"),
    "verdict": (lambda: found().verdict(), "<Verdict: ", "With your current 24 rows"),
    "required n": (lambda: found().required_n(rmse=0.1), "RequiredN(estimate=", "90 % interval, low"),
    "relevance": (lambda: found().relevance, "<Relevance: x0 ", "share of the explainable variance"),
    "cross-validation": (lambda: found().cross_validation, "CrossValidation(n=", "RMSE"),
    "diagnosis": (lambda: gpc.diagnose(gpc.datasets.load_club()[0]), "global normalisation", "global normalisation"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_public_objects_show_what_they_are(name: str) -> None:
    make, words, cell = SHOWN[name]
    thing: Any = make()
    assert words in repr(thing)
    assert " at 0x" not in repr(thing)
    page = thing._repr_html_()
    assert cell in page
    assert "<table" in page
    ElementTree.fromstring(f"<div>{page}</div>")  # tags are closed, and signs are escaped


def test_the_table_of_methods_has_a_row_for_each() -> None:
    assert gpc.METHODS._repr_html_().count("<tr>") == len(gpc.METHODS) + 1
    assert len(repr(gpc.METHODS).splitlines()) == len(gpc.METHODS) + 1


def test_a_problem_names_what_is_not_as_usual_and_can_be_typed_again() -> None:
    wrong = gpc.Problem(
        gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05, teacher=gpc.Teacher(gpc.OU(0.1), noise=0.1), design="sobol"
    )
    for part in ("teacher=Teacher(", "design=Sobol("):
        assert part in repr(wrong)
        assert part not in repr(problem())
    assert eval(repr(problem()), vars(gpc) | {name: getattr(gpc, name) for name in dir(gpc)}) == problem()


def test_a_curve_is_saved_like_a_set_of_curves(tmp_path: Any) -> None:
    curve = gpc.learning_curve(problem(), "lc", n=[0, 10])
    curve.save(tmp_path / "curve.json")
    loaded: Any = gpc.load(tmp_path / "curve.json")
    assert loaded.problem == curve.problem
    np.testing.assert_array_equal(loaded.error, curve.error)
    curve.save(tmp_path / "curve.csv")
    assert (tmp_path / "curve.csv").read_text().startswith("method,n,error,stderr\nlc,0")
