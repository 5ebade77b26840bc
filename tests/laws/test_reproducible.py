"""Curves reproduce themselves, also from a file; they, their sets and their problems can be pickled and copied."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.gaussian_process import kernels as sklearn_kernels

import gpcurves as gpc
from gpcurves.graphs import Graph
from gpcurves.inputs import Univariate
from gpcurves.methods import METHODS
from gpcurves.numerics.validation import FloatArray

WALK, SHORT = gpc.RandomWalkKernel(4, 2.0, "local"), gpc.RandomWalkKernel(2, 3.0, "global")
TREE = Graph.from_edges([(0, 1), (1, 2), (2, 3), (1, 4), (6, 7)], 9, [0.5, 2.0, 1.0, 1.0, 3.0], list("abcdefghi"))
RING = Graph.from_edges([(k, (k + 1) % 12) for k in range(12)])

PROBLEMS: dict[str, gpc.Problem] = {
    "torus": gpc.Problem(gpc.RBF((0.1, 0.2), 2.0), gpc.Torus(2), 0.05),
    "circle": gpc.Problem(gpc.OU(0.3), gpc.Torus(1), 0.01),
    "circle, no noise": gpc.Problem(gpc.OU(0.3), gpc.Torus(1), 0.0),
    "box": gpc.Problem(gpc.Matern32(0.4) + 0.5 * gpc.RBF(0.3), gpc.Box(1), 0.05),
    "gaussian": gpc.Problem(gpc.RBF(0.4), gpc.Gaussian(covariance=((0.5, 0.3), (0.3, 0.4))), 0.1),
    "linear": gpc.Problem(gpc.Linear(bias=0.5), gpc.Gaussian(2), 0.1),
    "discrete": gpc.Problem(gpc.OU(0.5), gpc.Discrete([0.0, 0.3, 0.5, 1.0], [0.1, 0.4, 0.3, 0.2]), 0.1),
    "sample": gpc.Problem(gpc.Matern52(0.5), gpc.Sample(np.random.default_rng(1).normal(size=(40, 2))), 0.1),
    "univariate": gpc.Problem(gpc.OU(0.3) + gpc.Linear(), Univariate(stats.beta(2, 5)), 0.1),
    "scikit-learn": gpc.Problem(2.0 * sklearn_kernels.ExpSineSquared(0.5, 0.4), gpc.Box(1), 0.1),
    "spectrum": gpc.SpectrumProblem(gpc.Spectrum([3.0, 1.0, 0.2], [1, 4, 9]), 0.2),
    "numerical spectrum": gpc.SpectrumProblem(gpc.Problem(gpc.RBF(0.5), gpc.Box(1), 0.1).spectrum, 0.1),
    "taught": gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05, gpc.Teacher(gpc.RBF(0.05, 2.0), 0.2)),
    "classes": gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Probit(0.5)),
    "outliers": gpc.Problem(gpc.RBF(0.1), gpc.Box(1), gpc.StudentT(3, 0.3)),
    "fidelities": gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Fidelities(0.8, 0.1, 0.3)),
    "tasks": gpc.GraphProblem(RING, WALK, gpc.Tasks([[1, 0.5], [0.5, 2]], [0.1, 0.0], names=("a", "b"))),
    "differences": gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Differences(0.1)),
    "derivatives": gpc.Problem(gpc.Matern52(0.3), gpc.Box(2), gpc.Derivatives(0.1)),
    "chain": gpc.Problem(
        gpc.OU(0.5), gpc.Discrete([0.0, 0.3]), gpc.TemporalDifferences(0.9, 0.1, transitions=[[0.2, 0.8], [0.5, 0.5]])
    ),
    "walk": gpc.GraphProblem(RING, WALK, gpc.TemporalDifferences(0.8, 0.1, "deterministic", 5)),
    "tree": gpc.GraphProblem(TREE, WALK, 0.1),
    "ring": gpc.GraphProblem(RING, gpc.DiffusionKernel(1.5, "global"), 0.1),
    "graph, no noise": gpc.GraphProblem(TREE, WALK, 0.0),
    "graph, taught": gpc.GraphProblem(RING, WALK, 0.1, gpc.Teacher(SHORT, 0.2)),
    "erdos-renyi": gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1),
    "regular": gpc.GraphProblem(gpc.RandomRegular(3), SHORT, 0.1),
    "regular, long walks, no noise": gpc.GraphProblem(gpc.RandomRegular(3), gpc.RandomWalkKernel(30), 0.0),
    "ensemble, taught": gpc.GraphProblem(gpc.ErdosRenyi(2), WALK, 0.1, gpc.Teacher(SHORT, 0.0)),
    "no edges": gpc.GraphProblem(gpc.ErdosRenyi(0), WALK, 0.1),
}
"""At least one of every kind: all input distributions, given graphs and ensembles, with and without noise and teacher."""

SMALL: dict[str, Any] = {"vertices": 14, "graphs": 3}
OPTIONS: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("degenerate", "vectors"): [{"probabilities": [0.1, 0.2, 0.3, 0.4]}],
    ("simulation", "vectors"): [
        {"datasets": 3},
        {"datasets": np.int64(3), "test_points": 7.0},
        {"precision": 0.3},
        {"precision": 0.01, "datasets": 5},
        {"datasets": 3, "also": ["training", "empirical"]},
        {"datasets": 3, "inference": "laplace"},
    ],
    ("simulation", "graph"): [
        {"datasets": 3, "among": ("giant", "degree=1")},
        {"precision": 0.3},
        {"precision": 0.01, "datasets": 5, "among": "ends"},
    ],
    ("simulation", "ensemble"): [
        {**SMALL, "datasets": 1},
        {**SMALL, "datasets": 2, "among": ["isolated", "small"]},
        {"vertices": 14, "precision": 0.3, "graphs": 12, "datasets": 2},
    ],
    **{
        (name, "vectors"): [
            {"draws": 2, "m": [2, 5], "placement": "greedy"},
            {"draws": 2, "points": [[0.1, 0.2], [0.7, 0.3]]},
        ]
        for name in ("sor", "vfe", "fitc")
    },
    **{
        (name, "vectors"): [
            {"datasets": 2, "m": [2, 3], "test_points": 9, "placement": "k-means"},
            {"datasets": 2, "points": [[0.1, 0.2], [0.7, 0.3]]},
        ]
        for name in ("sor-simulation", "vfe-simulation", "fitc-simulation")
    },
    ("pitc", "vectors"): [
        {"datasets": 2, "m": 2, "test_points": 9, "placement": "greedy", "block": 3},
        {"datasets": 2, "points": [[0.1, 0.2], [0.7, 0.3]]},
    ],
    ("tasks-simulation", "vectors"): [{"datasets": 3, "test_points": 9}, {"precision": 0.3}],
    ("tasks-simulation", "graph"): [{"datasets": 3}],
    ("functionals-simulation", "vectors"): [{"datasets": 3, "test_points": 9}, {"precision": 0.3}],
    ("functionals-simulation", "graph"): [{"datasets": 3}],
    ("bcm", "vectors"): [{"datasets": 2, "m": 3, "block": 2}],
    ("local", "vectors"): [{"nodes": 60, "rank": 30}],
    ("eigenvalue", "graph"): [{}],
    ("eigenvalue", "ensemble"): [SMALL],
    ("cavity", "graph"): [
        {"precision": 0.3},
        {"precision": 1e-3, "replicas": 3, "tolerance": 1e-5, "max_rounds": 30, "damping": 0.2, "among": ["ends"]},
    ],
    ("cavity", "ensemble"): [
        {"precision": 0.3},
        {"precision": 0.01, "population": 64, "max_sweeps": 30, "replicas": 3, "local": "paper", "among": ["ends"]},
    ],
}
"""What is asked for, and that takes little time; a method that is not here has no options."""


def kind_of(problem: gpc.Problem) -> str:
    return "vectors" if problem.axis == "n" else "graph" if problem.ensemble is None else "ensemble"


def sizes_of(problem: gpc.Problem) -> dict[str, Any]:
    return {"n": [3.0, 0.0, 8.0]} if problem.axis == "n" else {"nu": [0.5, 0.0, 1.3]}


def asked(problem: gpc.Problem, method: Any, **options: Any) -> gpc.LearningCurve:
    return gpc.learning_curve(problem, method, **sizes_of(problem), **options)


def again(curve: gpc.LearningCurve) -> gpc.LearningCurve:
    """Return what the curve itself says how to compute: one call for every method and problem."""
    return gpc.learning_curve(curve.problem, curve.method, curve.n, rng=curve.rng, **curve.options)


def copies(thing: Any) -> Iterator[Any]:
    yield pickle.loads(pickle.dumps(thing))
    yield copy.deepcopy(thing)
    yield copy.copy(thing)


def arrays(thing: Any, path: str = "") -> dict[str, FloatArray]:
    """Return all arrays in a result or a problem, by where they are."""
    if isinstance(thing, np.ndarray):
        return {path: thing}
    if sparse.issparse(thing):
        return {f"{path}.{name}": getattr(thing, name) for name in ("data", "indices", "indptr")}
    if isinstance(thing, Mapping):
        inside: Any = thing.items()
    elif isinstance(thing, tuple):
        inside = enumerate(thing)
    elif type(thing).__module__.startswith("gpcurves"):
        inside = vars(thing).items()
    else:
        return {}
    found: dict[str, FloatArray] = {}
    for name, each in inside:
        found |= arrays(each, f"{path}.{name}")
    return found


def assert_same_and_frozen(one: Any, other: Any) -> None:
    """Assert that a copy has the same arrays, and that those that cannot be changed still cannot."""
    before, after = arrays(one), arrays(other)
    assert set(after) <= set(before)
    for path, values in after.items():
        np.testing.assert_array_equal(values, before[path])
        assert before[path].flags.writeable or not values.flags.writeable, path


LONG = ("ensemble, taught", "graph, taught", "classes", "outliers", "univariate", "erdos-renyi")
"""Problems that take seconds by methods that draw, or by quadrature."""
QUADRATURE = ("univariate", "gaussian", "derivatives", "linear", "scikit-learn")
"""Those whose formulas take seconds."""
APPLIES = [
    (name, method)
    for name, problem in PROBLEMS.items()
    for method, each in METHODS.items()
    if each.objection(problem) is None
]


def allowed(name: str, method: str) -> dict[int, dict[str, Any]]:
    """Return the options that are listed for a method and that it takes for a problem, by their place in the list."""
    listed = OPTIONS.get((method, kind_of(PROBLEMS[name])), [{}])
    known = METHODS[method].Options
    return {k: each for k, each in enumerate(listed) if known(**each).objection(PROBLEMS[name], each) is None}


def in_turn() -> Iterator[tuple[str, str, int]]:
    """Yield every problem with every random method, with those of its options that had none or the fewest so far."""
    taken: Counter[tuple[str, str, int]] = Counter()
    for name, method in APPLIES:
        if METHODS[method].random:
            kind = kind_of(PROBLEMS[name])
            known = allowed(name, method)
            fewest = min(known, key=lambda k: taken[method, kind, k])
            for k in known:
                if k == fewest or not taken[method, kind, k]:
                    taken[method, kind, k] += 1
                    yield name, method, k


RANDOM = list(in_turn())
FORMULAS = {
    name: [method for other, method in APPLIES if other == name and not METHODS[method].random] for name in PROBLEMS
}


def test_every_method_and_every_option_has_a_case() -> None:
    assert {method for _, method in APPLIES} == set(METHODS)
    for method, each in METHODS.items():
        listed = [options for (other, _), listed in OPTIONS.items() if other == method for options in listed]
        assert {option for options in listed for option in options} == each.option_names()
    listed_for_random = {(*key, k) for key, each in OPTIONS.items() if METHODS[key[0]].random for k in range(len(each))}
    assert {(method, kind_of(PROBLEMS[name]), k) for name, method, k in RANDOM} == listed_for_random


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method", "k"), RANDOM)
def test_a_random_curve_reproduces_itself(name: str, method: str, k: int, tmp_path: Path) -> None:
    options = allowed(name, method)[k]
    curve = asked(PROBLEMS[name], method, rng=7 if METHODS[method].draws(PROBLEMS[name]) else None, **options)
    text = curve.to_json(tmp_path / "curve.json")
    loaded = gpc.load(tmp_path / "curve.json")
    assert isinstance(loaded, gpc.LearningCurve)
    assert loaded.problem == curve.problem
    assert again(loaded).to_json() == text  # every digit, and options, details, diagnostics and notes
    for other in (loaded, *copies(curve)):
        assert other.to_json() == text
        assert_same_and_frozen(curve, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in QUADRATURE))
        for name, methods in FORMULAS.items()
        if methods
    ],
)
def test_formulas_reproduce_themselves(name: str, tmp_path: Path) -> None:
    problem = PROBLEMS[name]
    curves = gpc.learning_curves(problem, methods=FORMULAS[name], **sizes_of(problem))
    text = curves.to_json(tmp_path / "curves.json")
    loaded = gpc.load(tmp_path / "curves.json")
    assert isinstance(loaded, gpc.CurveSet)
    assert loaded.problem == problem
    for method, curve in curves.items():
        other = again(loaded[method])
        assert other.to_json() == curve.to_json()
        assert (other.rng, dict(other.options)) == (None, {})
    for other in (loaded, *copies(curves)):
        assert other.to_json() == text
        assert_same_and_frozen(curves, other)


@pytest.mark.slow
def test_without_a_seed_the_one_that_was_taken_is_kept() -> None:
    for name, method, options in (
        ("circle", "simulation", {"datasets": 3}),
        ("regular", "eigenvalue", SMALL),
        ("regular", "cavity", {"precision": 0.1}),
    ):
        curve = asked(PROBLEMS[name], method, **options)
        assert curve.rng is not None
        assert again(curve).to_json() == curve.to_json() != asked(PROBLEMS[name], method, **options).to_json()


def test_options_are_plain_and_those_that_are_the_default_are_left_out() -> None:
    curve = asked(PROBLEMS["box"], "simulation", datasets=np.int64(3), also=("training",), precision=None, rng=1)
    assert dict(curve.options) == {"datasets": 3, "also": ["training"]}
    assert type(curve.options["datasets"]) is int
    curve = asked(PROBLEMS["tree"], "simulation", datasets=3.0, among="ends", rng=np.random.default_rng(1))
    assert dict(curve.options) == {"datasets": 3, "among": ["ends"]}
    assert again(curve).to_json() == curve.to_json()
    curve = asked(PROBLEMS["tree"], "cavity", precision=0.3, damping=0, replicas=None, rng=1)
    assert dict(curve.options) == {"precision": 0.3}


def test_sets_of_several_problems_reproduce_themselves(tmp_path: Path) -> None:
    swept = gpc.sweep(PROBLEMS["circle"], [1, 5], ["lc", "simulation"], noise=[0.01, 0.1], datasets=3, rng=1)
    theory = gpc.learning_curves(PROBLEMS["sample"], [1, 5], ["lc", "uc"])
    for curves in (
        swept,
        gpc.CurveSet.of(*swept.values(), *theory.values()),
        gpc.learning_curves(PROBLEMS["torus"], 3),
    ):
        text = curves.to_json(tmp_path / "curves.json")
        loaded = gpc.load(tmp_path / "curves.json")
        assert isinstance(loaded, gpc.CurveSet)
        assert loaded.problems == curves.problems
        assert dict(loaded.skipped) == dict(curves.skipped)
        for other in (loaded, *copies(curves)):
            assert other.to_json() == text
            assert_same_and_frozen(curves, other)
        for label, curve in loaded.items():
            assert again(curve).to_json() == curves[label].to_json()


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_can_be_saved_pickled_and_copied(name: str) -> None:
    problem = PROBLEMS[name]
    plain = gpc.Problem.from_dict(json.loads(json.dumps(problem.to_dict())))
    for other in (plain, *copies(problem)):
        assert other == problem
        assert other.to_dict() == problem.to_dict()
        assert other.describe() == problem.describe()
        assert_same_and_frozen(problem, other)


@pytest.mark.slow
def test_a_spectrum_with_a_tail_can_be_pickled_but_not_saved() -> None:
    for inputs in (gpc.Torus(1), gpc.Torus(2), gpc.Box(1), gpc.Gaussian(2), gpc.Sample(np.linspace(0, 1, 50))):
        for kernel in (gpc.OU(0.3), gpc.RBF(0.2), gpc.OU(0.3) + gpc.OU(0.1), gpc.RationalQuadratic(0.2, alpha=3)):
            curve = gpc.learning_curve(gpc.Problem(kernel, inputs, 0.1).spectrum, "ov", [5, 2_000], noise=0.1)
            for other in copies(curve):
                assert other.problem == curve.problem
                np.testing.assert_array_equal(again(other).error, curve.error)
            if curve.problem.spectrum.tail is not None:
                with pytest.raises(gpc.InputError, match="save its problem instead"):
                    curve.to_json()


def test_variances_can_be_pickled_and_copied() -> None:
    for name, method in (("tree", "simulation"), ("regular", "cavity")):
        variances = gpc.vertex_variances(PROBLEMS[name], 0.5, gpc.METHODS[method], rng=1)
        for other in copies(variances):
            assert_same_and_frozen(variances, other)
            assert other.mean == variances.mean


# --- every method on every problem -----------------------------------------------------------------------------------


REFUSED = {name: [method for method in METHODS if (name, method) not in APPLIES] for name in PROBLEMS}


@pytest.mark.parametrize(
    ("name", "method"),
    [pytest.param(*each, marks=[pytest.mark.slow] * (each[0] in (*LONG, *QUADRATURE))) for each in APPLIES],
)
def test_every_method_works(name: str, method: str) -> None:
    problem, sizes = PROBLEMS[name], np.array(sizes_of(PROBLEMS[name])[PROBLEMS[name].axis])
    lean = method == "cavity" or kind_of(problem) == "ensemble"
    few = OPTIONS.get((method, kind_of(problem)), [{}])[0] if lean else {}
    errors = METHODS[method](problem, sizes, **few)
    assert errors.shape == sizes.shape, method
    assert np.isfinite(errors).all(), method
    assert (errors >= 0).all(), method


@pytest.mark.parametrize("name", PROBLEMS)
def test_or_says_why_not(name: str) -> None:
    problem, sizes = PROBLEMS[name], np.array(sizes_of(PROBLEMS[name])[PROBLEMS[name].axis])
    for method in REFUSED[name]:
        reason = METHODS[method].objection(problem)
        assert reason, method
        with pytest.raises(gpc.NotApplicableError) as refused:
            METHODS[method](problem, sizes)
        assert str(refused.value) == f"method {method!r} does not apply: {reason}"
