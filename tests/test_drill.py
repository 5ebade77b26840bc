"""The drill: one new piece of every kind, defined in this file alone, is found everywhere and keeps every law.

Nothing else is edited for any of them: not the registry, not the command line, not the loader, not the pictures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import gpcurves as gpc
from commands import command
from gpcurves.graphs import Ensemble, GraphKernel
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.kernels import Normalisation, normalise_parameter
from gpcurves.inputs import Inputs
from gpcurves.kernels import Stationary
from gpcurves.methods import METHODS, Kind, Method, MethodOptions, Result, formula, register
from gpcurves.methods.base import gives
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations import Observation
from gpcurves.problem import Problem
from gpcurves.quantities import Quantity, define
from gpcurves.render.formats import output_format
from gpcurves.render.views import View
from laws import (
    TREE,
    obeys_ensemble_laws,
    obeys_graph_kernel_laws,
    obeys_inputs_laws,
    obeys_kernel_laws,
    obeys_method_laws,
    obeys_observation_laws,
)

pytestmark = pytest.mark.usefixtures("registries")


CURVE = ("--noise", "0.05", "--n", "0,10", "--methods", "lc", "-q")
GRAPH = ("--noise", "0.1", "--nu", "0.5", "-q")


def test_a_new_kernel(tmp_path: Path) -> None:
    @dataclass(frozen=True, repr=False)
    class Wendland(Stationary):
        """Compact support, (1 - r)^4 (4 r + 1) for r < 1."""

        smoothness = 1.5
        bump: float = parameter(1.0, help="Stretches the support", check=positive)

        def correlation(self, r: FloatArray) -> FloatArray:
            s = r / self.bump
            return np.maximum(1 - s, 0.0) ** 4 * (4 * s + 1)

    obeys_kernel_laws(Wendland(0.9, 1.4, bump=1.5))
    curve = gpc.learning_curve(gpc.Problem(Wendland(0.3, bump=1.2), gpc.Box(dim=1), 0.05), "lc", n=[0, 10])
    curve.to_json(tmp_path / "curve.json")
    assert gpc.load(tmp_path / "curve.json").problem == curve.problem
    code, out, err = command(
        "curve", "--kernel", "wendland", "--lengthscale", "0.3", "--bump", "1.2", "--inputs", "box", *CURVE
    )
    assert (code, err) == (0, "")
    assert float(out.splitlines()[2].split(",")[2]) == curve.error[1]
    assert "--bump" in command("curve", "--help")[1]
    code, _, err = command("curve", "--kernel", "rbf", "--bump", "1.2", *CURVE)
    assert code == 2
    assert "--bump" in err


def test_new_inputs() -> None:
    @dataclass(frozen=True, repr=False)
    class Arcsine(Inputs):
        """Crowded at both ends of an interval that starts at 0."""

        dim = 1
        width: float = parameter(1.0, help="Width of the interval", check=positive)

        def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
            return np.asarray(self.width * np.sin(np.pi / 2 * rng.random((count, 1))) ** 2)

        def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
            angle = np.pi * (np.arange(count) + 0.5) / count
            return self.width * (1 + np.cos(angle)[:, None]) / 2, np.full(count, 1 / count)

    obeys_inputs_laws(Arcsine(2.0))
    problem = gpc.Problem(gpc.RBF(0.3), Arcsine(2.0), 0.05)
    curves = gpc.learning_curves(problem, n=[0, 10], methods="all")
    assert "wv" in curves.skipped
    code, out, err = command(
        "curve", "--kernel", "rbf", "--lengthscale", "0.3", "--inputs", "arcsine", "--width", "2", *CURVE
    )
    assert (code, err) == (0, "")
    assert float(out.splitlines()[2].split(",")[2]) == curves["lc"].error[1]


def test_a_new_graph_kernel() -> None:
    @dataclass(frozen=True, repr=False)
    class Cosine(GraphKernel):
        """cos of a quarter turn between the ends of the spectrum: eigenvalues alone, messages included."""

        name = "cosine"
        sharpness: float = parameter(1.0, help="Power of the cosine", check=positive)
        normalise: Normalisation = normalise_parameter()

        def eigenvalue(self, t: FloatArray) -> FloatArray:
            return np.asarray(np.exp(self.sharpness * np.cos((1 - t) * np.pi / 2)))

    kernel = Cosine(0.5, normalise="local")
    obeys_graph_kernel_laws(kernel)
    problem = gpc.GraphProblem(gpc.RandomRegular(3), kernel, 0.1)
    assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    words = (
        "graph",
        "--ensemble",
        "regular:3",
        "--kernel",
        "cosine",
        "--sharpness",
        "0.5",
        "--normalise",
        "local",
        *GRAPH,
    )
    code, out, err = command(*words, "--methods", "mckay,cavity", "--precision", "0.1", "--population", "200")
    assert code == 0, err
    theory, cavity = (float(line.split(",")[2]) for line in out.splitlines()[1:])
    assert theory == gpc.learning_curve(problem, "mckay", nu=[0.5]).error[0]
    assert cavity == pytest.approx(theory, rel=0.2)


def test_a_new_ensemble() -> None:
    @dataclass(frozen=True, repr=False)
    class TwoDegrees(Ensemble):
        """Some vertices have two neighbours, the others four."""

        name = "twodegrees"
        share: float = parameter(0.5, help="Share of vertices with four neighbours", check=positive)

        @property
        def mean_degree(self) -> float:
            return 2 + 2 * self.share

        def degree_probabilities(self, largest: int) -> FloatArray:
            probability = np.zeros(largest + 1)
            for degree, share in ((2, 1 - self.share), (4, self.share)):
                if degree <= largest:
                    probability[degree] = share
            return probability

        def sample_degrees(self, vertices: int, rng: np.random.Generator) -> IntArray:
            return np.where(rng.random(vertices) < self.share, 4, 2)

    obeys_ensemble_laws(TwoDegrees(0.3))
    words = ("graph", "--ensemble", "twodegrees:0.3", *GRAPH, "--methods", "eigenvalue,cavity,simulation")
    code, out, err = command(*words, "--graphs", "4", "--vertices", "60", "--datasets", "3", "--precision", "0.1")
    assert code == 0, err
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["eigenvalue", "cavity", "simulation"]
    assert "twodegrees" in command("graph", "--help")[1]


def test_a_new_observation() -> None:
    @dataclass(frozen=True, repr=False)
    class Thresholded(Observation):
        """The sign of the function with noise: a class."""

        name = "thresholded"
        slope: float = parameter(1.0, help="How sure labels are", check=positive)

        def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
            return 2 / (np.pi * (1 / self.slope**2 + error))

        def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
            return np.sign(self.slope * values + rng.standard_normal(values.shape))

    obeys_observation_laws(Thresholded(2.0))
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), Thresholded())
    assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    with pytest.raises(gpc.NotApplicableError, match="it needs Gaussian noise, but labels are Thresholded"):
        gpc.learning_curve(problem, "ov", n=[1])
    curves = gpc.learning_curves(problem, n=[0, 5, 50])
    assert list(curves) == ["lc", "uc", "d"]
    same = gpc.Problem(problem.kernel, problem.inputs, 1.0)  # information of 1 / (1 + error), for 2/pi of the examples
    gaussian = gpc.learning_curve(same, "lc", n=np.array([0, 5, 50]) * 2 / np.pi)
    np.testing.assert_allclose(curves["lc"].error, gaussian.error, rtol=1e-12)
    assert gpc.required_n(problem, 0.1) == pytest.approx(gpc.required_n(same, 0.1) * np.pi / 2, rel=0.01)
    numerical = gpc.Problem(gpc.GammaExponential(0.5, gamma=1.4), gpc.Gaussian(1), Thresholded())
    assert gpc.learning_curve(numerical, "lc", n=[10]).spectrum_error is not None
    words = ("curve", "--kernel", "rbf", "--likelihood", "thresholded", "--slope", "2", "--n", "1", "--methods")
    assert command(*words, "lc")[0] == 0
    code, _, err = command(*words, "ov")
    assert code == 2
    assert "Thresholded(slope=2)" in err
    on_graph = gpc.GraphProblem(TREE, gpc.RandomWalkKernel(), Thresholded())
    assert list(gpc.learning_curves(on_graph, nu=[1.0])) == ["eigenvalue", "local"]
    with pytest.raises(gpc.NotApplicableError, match="no way to infer a function"):
        gpc.learning_curve(on_graph, "simulation", nu=[1.0])


def test_a_new_formula(tmp_path: Path) -> None:
    @formula("prior", "prior variance", Kind.UPPER_BOUND, promise="holds for the average error", source="SH02 (7)")
    def prior(problem: Problem, n: FloatArray) -> FloatArray:
        """Return the error before learning, whatever n is."""
        return np.full(len(n), problem.spectrum.trace)

    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
    obeys_method_laws("prior", problem)
    assert "prior" in gpc.learning_curves(problem, n=[1, 10], methods="all")
    assert "prior variance" in command("methods")[1]
    code, out, _ = command("curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05", "--n", "1", "-q")
    assert code == 0
    assert "prior,1,1.0" in out
    curves = gpc.learning_curves(problem, n=[1, 10], methods=[METHODS["prior"], "lc"])
    curves.save(tmp_path / "curves.html")
    assert "holds for the average error" in (tmp_path / "curves.html").read_text()


def test_a_formula_may_read_the_kernel_and_the_inputs_of_any_problem() -> None:
    @formula("flat", "prior variance", Kind.UPPER_BOUND, promise="none", source="this test")
    def flat(problem: Problem, n: FloatArray) -> FloatArray:
        """Return the average prior variance, times the largest eigenvalue."""
        X, weights = problem.inputs.nodes(50)
        return np.full(len(n), weights @ problem.inputs.variances(problem.kernel, X) * problem.spectrum.values[0])

    problem = gpc.Problem(gpc.GammaExponential(0.5, gamma=1.4), gpc.Gaussian(1), 0.05)
    curve = gpc.learning_curves(problem, n=[1, 10], methods="all")["flat"]
    assert curve.spectrum_error is not None
    assert 0 < curve.spectrum_error[0] < 1e-2


def test_a_new_graph_method() -> None:
    @formula("vertices", "prior variance", Kind.UPPER_BOUND, axes=("nu",), promise="none", source="this test")
    def vertices(problem: Problem, nu: FloatArray) -> FloatArray:
        """Return the prior variance of a normalised kernel."""
        return np.ones(len(nu))

    problem = gpc.GraphProblem(TREE, gpc.RandomWalkKernel(normalise="local"), 0.1)
    for name, options in (("vertices", {}), ("eigenvalue", {}), ("cavity", {"precision": 0.05})):
        obeys_method_laws(name, problem, **options)
    assert "vertices" in gpc.learning_curves(problem, nu=[1], methods=[METHODS["vertices"], "eigenvalue"])
    assert "vertices,0.5," in command("graph", "--ensemble", "regular:3", *GRAPH, "--methods", "vertices")[1]


def test_a_new_method_with_options(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class NearestOptions(MethodOptions):
        neighbours: int = parameter(1, help="How many nearest examples are used")
        fraction: float = parameter(1.0, help="Share of the prior variance", check=positive)
        flavour: Literal["sweet", "sour"] = parameter("sweet", help="Taste")
        double: bool = parameter(False, help="Whether the error counts twice")
        where: tuple[float, ...] = parameter((), help="Places")
        log: Path | None = parameter(None, help="File")

    @register
    class Nearest(Method[Problem]):
        """A made-up approximation with options."""

        name = "nearest"
        title = "nearest examples"
        kind = Kind.APPROXIMATION
        promise = "none"
        source = "this test"
        Options = NearestOptions

        def prepare(self, problem: Problem, options: NearestOptions, run: Run) -> tuple[Problem, NearestOptions]:  # type: ignore[override]
            return problem, options

        def evaluate(self, state: tuple[Problem, NearestOptions], sizes: FloatArray) -> Result:  # type: ignore[override]
            problem, options = state
            return Result(options.fraction * problem.spectrum.trace / (1 + sizes / options.neighbours))

    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
    nearest: Any = "nearest"  # type checkers know the names that come with the package
    obeys_method_laws("nearest", problem, neighbours=3)
    curve = gpc.learning_curve(problem, nearest, n=[0, 6], neighbours=3)
    assert dict(curve.options) == {"neighbours": 3}
    curve.to_json(tmp_path / "curve.json")
    back = gpc.load(tmp_path / "curve.json")
    again = gpc.learning_curve(back.problem, back.method, back.n, rng=back.rng, **back.options)
    np.testing.assert_array_equal(again.error, curve.error)
    swept = gpc.sweep(problem, n=[0, 6], methods=METHODS["nearest"], neighbours=[1, 3])
    assert list(swept) == ["nearest", "nearest, neighbours 3"]
    words = ("curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05", "--n", "0,6", "-q")
    code, out, err = command(*words, "--methods", "nearest,lc", "--neighbours", "3")
    assert (code, err) == (0, "")
    assert float(out.splitlines()[2].split(",")[2]) == curve.error[1]
    assert "How many nearest examples are used" in command("curve", "--help")[1]
    assert "nearest" in command("methods")[1]
    code, _, err = command(*words, "--methods", "lc", "--neighbours", "3")
    assert code == 2
    assert "--neighbours" in err or "'neighbours'" in err
    with pytest.raises(gpc.InputError, match="takes no option 'neighbors'"):
        gpc.learning_curve(problem, nearest, n=[1], neighbors=3)
    wrong: dict[str, Any] = {"flavour": "soar", "double": "no", "neighbours": 1.5, "where": [1, "here"], "log": 3}
    for option, value in wrong.items():
        with pytest.raises(gpc.InputError, match=option):
            gpc.learning_curve(problem, nearest, n=[1], **{option: value})
    right = gpc.learning_curve(problem, nearest, n=[1], where=np.array([1, 2]), log="a.txt", double=True)
    assert dict(right.options) == {"double": True, "where": [1.0, 2.0], "log": "a.txt"}
    assert json.loads(right.to_json())["curve"]["options"] == dict(right.options)
    assert "where\n    Places.\n" in str(NearestOptions.__doc__)


def test_a_new_quantity() -> None:
    define(Quantity("rmse", "root mean squared error", "RMSE", "root mean squared error"))

    @gives("rmse", "lc", "uc")
    def rmse(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
        return np.sqrt(error)

    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
    curve = gpc.learning_curve(problem, "uc", [3], quantity="rmse")
    np.testing.assert_allclose(curve.error**2, gpc.learning_curve(problem, "uc", [3]).error)
    assert gpc.required_n(problem, 0.1, quantity="rmse") == gpc.required_n(problem, 0.01)
    assert "root mean squared error" in " ".join(command("curve", "--help")[1].split())
    words = (
        "curve",
        "--kernel",
        "rbf",
        "--lengthscale",
        "0.1",
        "--noise",
        "0.05",
        "--n",
        "0,5,50",
        "--quantity",
        "rmse",
    )
    code, _, err = command(*words, "--goal", "0.1", "--methods", "lc")
    assert code == 0
    assert "For an RMSE of 0.1" in err
    assert "left out" in command(*words)[2]


def test_a_new_output_format(tmp_path: Path) -> None:
    @output_format(".tsv")
    def tabs(view: View) -> bytes:
        return view.to_csv().replace(",", "\t").encode()

    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
    gpc.learning_curves(problem, n=[1, 10], methods="lc").save(tmp_path / "curves.tsv")
    assert (tmp_path / "curves.tsv").read_text().startswith("method\tn\terror\tstderr\nlc\t1\t")
    path = tmp_path / "again.tsv"
    code, _, _ = command("curve", "--kernel", "rbf", "--lengthscale", "0.1", *CURVE, "--out", str(path))
    assert code == 0
    assert path.read_text().splitlines()[0] == "method\tn\terror\tstderr"
    assert ".tsv" in command("curve", "--help")[1]
    assert ".tsv" in command("plan", "--help")[1]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_is(name: str) -> None:
    listed = {row["name"]: row for row in json.loads(command("methods", "--json")[1])}
    assert listed[name]["kind"] == METHODS[name].kind.value
    assert listed[name]["promise"] == METHODS[name].promise
