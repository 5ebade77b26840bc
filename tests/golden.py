"""Values that must stay as they are when the code is rearranged: every method, several problems, graphs, seeds, forecasts.

``python tests/golden.py --write [GROUP ...]`` records them, and without it prints how far the present values are from the recorded
ones. Whoever changes a number on purpose records them anew, and says in the changelog which numbers change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from scipy import stats

import gpcurves as gpc
from gpcurves import METHODS
from gpcurves.graphs import NORMALISATIONS, Normalisation

RECORD = Path(__file__).with_name("golden.json")
Values = Mapping[str, list[float]]

N = [0, 1, 2, 7, 40, 300, 5000]
NU = [0.0, 0.1, 0.6, 2.0, 7.0]
_POINTS = np.array([0.0, 0.15, 0.4, 1.0, 1.3])
_SAMPLE = np.random.default_rng(3).normal(size=(220, 2))

VECTORS: dict[str, Callable[[], gpc.Problem]] = {
    "rbf, circle": lambda: gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05),
    "rbf, circle, low noise": lambda: gpc.Problem(gpc.RBF(0.01), gpc.Torus(1), 1e-4),
    "ou, circle, no noise": lambda: gpc.Problem(gpc.OU(0.3, 2.0), gpc.Torus(1), 0.0),
    "matern, torus": lambda: gpc.Problem(gpc.Matern32((0.2, 0.35)), gpc.Torus(2), 0.1),
    "rational quadratic, torus": lambda: gpc.Problem(gpc.RationalQuadratic(0.05, alpha=6.0), gpc.Torus(1), 0.1),
    "rbf, torus of five": lambda: gpc.Problem(gpc.RBF(0.5), gpc.Torus(5), 0.01),
    "matern, interval": lambda: gpc.Problem(gpc.Matern52(0.2), gpc.Box(1), 0.05),
    "rbf, box": lambda: gpc.Problem(gpc.RBF((0.3, 0.6)), gpc.Box(2), 0.02),
    "sum, box": lambda: gpc.Problem(gpc.RBF(0.3) + 0.5 * gpc.OU(1.0), gpc.Box(2), 0.02),
    "linear, box": lambda: gpc.Problem(gpc.Linear(0.4, 0.3), gpc.Box(2), 0.1),
    "rbf, gaussian": lambda: gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), 0.05),
    "rbf, correlated gaussian": lambda: gpc.Problem(
        gpc.RBF((0.4, 0.7)), gpc.Gaussian(covariance=((0.5, 0.2), (0.2, 0.3))), 0.05
    ),
    "gammaexp, gaussian": lambda: gpc.Problem(gpc.GammaExponential(0.5, gamma=1.4), gpc.Gaussian(1), 0.05),
    "rbf, beta": lambda: gpc.Problem(gpc.RBF(0.1), gpc.Univariate(stats.beta(2, 5)), 0.05),
    "ou, discrete": lambda: gpc.Problem(gpc.OU(0.5), gpc.Discrete(_POINTS, [0.3, 0.3, 0.2, 0.1, 0.1]), 0.1),
    "polynomial, discrete": lambda: gpc.Problem(gpc.Polynomial(1.2, 0.5, 3), gpc.Discrete(_POINTS), 0.0),
    "matern, sample": lambda: gpc.Problem(gpc.Matern52(0.8), gpc.Sample(_SAMPLE), 0.05),
}
SIMULATED = {
    "rbf, circle": {},
    "rbf, circle, low noise": {},
    "ou, circle, no noise": {},
    "matern, torus": {},
    "rational quadratic, torus": {"test_points": 200},
    "rbf, box": {},
    "linear, box": {},
    "rbf, correlated gaussian": {},
    "rbf, beta": {"test_points": 200},
    "ou, discrete": {},
    "polynomial, discrete": {},
    "matern, sample": {},
}
KERNELS: dict[str, Callable[[Normalisation], Any]] = {
    "walk": lambda normalise: gpc.RandomWalkKernel(p=10, a=2, normalise=normalise),
    "odd walk": lambda normalise: gpc.RandomWalkKernel(p=3, a=3, normalise=normalise),
    "diffusion": lambda normalise: gpc.DiffusionKernel(1.3, normalise=normalise),
    "laplacian": lambda normalise: gpc.RegularisedLaplacianKernel(1.7, normalise=normalise),
    "polynomial": lambda normalise: gpc.PolynomialWalkKernel((1.0, 0.5, 0.3), normalise=normalise),
}


def club() -> gpc.Graph:
    return gpc.as_graph(networkx.karate_club_graph())


def tree() -> gpc.Graph:
    return gpc.as_graph(networkx.random_labeled_tree(30, seed=4))


def formulas() -> dict[str, list[float]]:
    found = {}
    for name, make in VECTORS.items():
        curves = gpc.learning_curves(make(), n=N, methods="all")
        for method, curve in curves.items():
            found[f"{method}: {name}"] = curve.error.tolist()
            if curve.spectrum_error is not None and method == "lc":
                found[f"uncertainty of lc: {name}"] = curve.spectrum_error.tolist()
    spectrum = gpc.Spectrum([1.0, 0.5, 0.1], multiplicities=[1, 2, 4])
    for method, curve in gpc.learning_curves(spectrum, n=N, methods="all", noise=0.05).items():
        found[f"{method}: bare spectrum"] = curve.error.tolist()
    for method in ("lc", "uc", "two", "plaskota"):
        found[f"required n: {method}"] = [float(gpc.required_n(VECTORS["rbf, circle"](), 0.01, gpc.METHODS[method]))]
    found["required n: graph"] = [
        float(gpc.required_n(gpc.GraphProblem(club(), KERNELS["walk"]("local"), 0.1), 0.05, "eigenvalue"))
    ]
    found["degenerate_best"] = gpc.degenerate_best(VECTORS["rbf, circle"](), 12).tolist()
    return found


def _all(curve: gpc.LearningCurve) -> list[float]:
    values = [curve.error, np.array([]) if curve.stderr is None else curve.stderr]
    more = {**curve.details, **curve.diagnostics}
    values += [more[key] for key in sorted(more) if isinstance(more[key], np.ndarray)]
    return [float(value) for value in np.concatenate(values)]


def simulations() -> dict[str, list[float]]:
    found = {}
    sizes = [0, 1, 5, 30, 60]
    for name, options in SIMULATED.items():
        found[f"simulation: {name}"] = _all(
            gpc.learning_curve(VECTORS[name](), "simulation", sizes, datasets=6, rng=7, **options)
        )
    wrong = {
        "teacher, circle": (gpc.RBF(0.1), gpc.Torus(1), gpc.OU(0.1), {}),
        "teacher, box": (gpc.RBF(0.3), gpc.Box(2), gpc.RBF(0.5, 2.0), {}),
        "teacher, test points": (gpc.Matern52(0.3), gpc.Box(2), gpc.OU(0.5), {"test_points": 150}),
    }
    for name, (kernel, inputs, true, options) in wrong.items():
        problem = gpc.Problem(kernel, inputs, 0.01, gpc.Teacher(true, 0.02))
        found[f"simulation: {name}"] = _all(
            gpc.learning_curve(problem, "simulation", sizes, datasets=6, rng=1, **options)
        )
    found["simulation: also"] = _all(
        gpc.learning_curve(
            VECTORS["rbf, circle"](), "simulation", [1, 20, 50], datasets=5, rng=2, also=["training", "empirical"]
        )
    )
    found["simulation: precision"] = _all(
        gpc.learning_curve(VECTORS["rbf, circle"](), "simulation", [10, 40], precision=0.05, rng=3)
    )
    problem = VECTORS["rbf, circle"]()
    found["sample_prior"] = gpc.sample_prior(problem, np.linspace(0, 1, 7), rng=5).tolist()
    found["posterior_variance"] = gpc.posterior_variance(problem, [0.1, 0.5, 0.7], np.linspace(0, 1, 7)).tolist()
    return found


def graphs() -> dict[str, list[float]]:
    found = {}
    for name, kernel in KERNELS.items():
        for normalise in NORMALISATIONS:
            problem = gpc.GraphProblem(club(), kernel(normalise), 0.1)
            found[f"eigenvalue: club, {name}, {normalise}"] = _all(gpc.learning_curve(problem, "eigenvalue", nu=NU))
            found[f"simulation: club, {name}, {normalise}"] = _all(
                gpc.learning_curve(problem, "simulation", nu=NU, datasets=4, rng=2)
            )
        problem = gpc.GraphProblem(tree(), kernel("local"), 0.05)
        found[f"cavity: tree, {name}"] = _all(
            gpc.learning_curve(problem, "cavity", nu=[0.1, 2.0], precision=0.2, rng=1)
        )
    walk = KERNELS["walk"]
    problem = gpc.GraphProblem(club(), walk("global"), 0.1)
    found["cavity: club"] = _all(
        gpc.learning_curve(problem, "cavity", nu=[0.2, 1.0], precision=0.2, rng=1, among=["ends", "giant"])
    )
    for name, ensemble in {
        "er": gpc.ErdosRenyi(3),
        "regular": gpc.RandomRegular(3),
        "power law": gpc.PowerLaw(2.5, 2),
        "degrees": gpc.DegreeDistribution((0.1, 0.2, 0.3, 0.4)),
    }.items():
        problem = gpc.GraphProblem(ensemble, walk("local"), 0.1)
        found[f"eigenvalue: {name}"] = _all(
            gpc.learning_curve(problem, "eigenvalue", nu=NU, graphs=3, vertices=60, rng=4)
        )
        found[f"simulation: {name}"] = _all(
            gpc.learning_curve(
                problem, "simulation", nu=NU, graphs=3, vertices=60, datasets=2, rng=4, among=["ends", "degree=2"]
            )
        )
    for method in ("mckay", "master"):
        long = gpc.GraphProblem(gpc.RandomRegular(3), gpc.RandomWalkKernel(p=40, a=2, normalise="local"), 0.1)
        found[f"{method}: regular"] = _all(gpc.learning_curve(long, method, nu=NU))
    ways: list[tuple[Normalisation, str]] = [("global", "exact"), ("local", "exact"), ("local", "paper")]
    for normalise, local in ways:
        problem = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(p=4, a=2, normalise=normalise), 0.1)
        few: dict[str, Any] = {"precision": 0.1, "population": 64, "rng": 3}
        few |= {"local": local} if normalise == "local" else {}
        found[f"cavity: er, {normalise}, {local}"] = _all(gpc.learning_curve(problem, "cavity", nu=[0.5, 2.0], **few))
    wrong = gpc.GraphProblem(club(), walk("global"), 1e-3, gpc.Teacher(walk("local"), 1e-2))
    found["simulation: club, teacher"] = _all(gpc.learning_curve(wrong, "simulation", nu=NU, datasets=4, rng=2))
    known = gpc.GraphProblem(club(), walk("local"), 0.1)
    counts = np.bincount([0, 33, 33, 5], minlength=34)
    targets = np.linspace(-1, 1, 34)
    beliefs = gpc.belief_propagation(known, counts, targets)
    assert beliefs.mean is not None
    found["belief_propagation"] = [*beliefs.variance.tolist(), *beliefs.mean.tolist()]
    for method, options in (("simulation", {"datasets": 3}), ("cavity", {"datasets": 2})):
        spread = gpc.vertex_variances(known, 0.5, gpc.METHODS[method], rng=1, **options)
        found[f"vertex_variances: {method}"] = [spread.mean, spread.variance, *spread.by_vertex.tolist()]
    found["diagnose"] = gpc.diagnose(club(), walk("global")).variances.tolist()
    vectors = gpc.prediction_vectors(wrong, [0, 1, 5, 33])
    found["prediction_vectors"] = [*vectors.weights.tolist(), *vectors.vectors[:5].ravel().tolist()]
    return found


def forecasts() -> dict[str, list[float]]:
    import pandas as pd
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(60)
    table = pd.DataFrame({"size": X[:40, 0], "kind": np.where(X[:40, 1] > 0, "a", "b"), "y": 5 + 2 * y[:40]})
    fitted = GaussianProcessRegressor(RBF(0.5) + WhiteKernel(0.1), random_state=0).fit(X[:30], y[:30])
    made = {
        "arrays": gpc.forecast(X, y, rng=0, draws=4),
        "table": gpc.forecast(table, "y", rng=1, draws=4),
        "noise-free": gpc.forecast(X[:30], np.cos(2 * X[:30, 0]) * X[:30, 1], rng=2, draws=4, deterministic=True),
        "pool": gpc.forecast(X[:30], y[:30], rng=3, draws=4, pool=rng.uniform(-1, 1, (200, 2))),
        "regressor": gpc.forecast(fitted, rng=4),
    }
    found = {}
    for name, forecast in made.items():
        at = forecast.at((forecast.rows * np.array([0.5, 1, 2, 4, 16, 64])).tolist())
        found[f"forecast: {name}"] = [float(value) for value in at[["rmse", "low", "high"]].to_numpy().ravel()]
        needed = forecast.required_n(rmse=float(at["rmse"].iloc[3]))
        found[f"forecast, required n: {name}"] = [
            float(value or -1) for value in (needed.estimate, needed.low, needed.high, needed.assured)
        ]
        found[f"forecast, others: {name}"] = [
            forecast.noise_rmse,
            *forecast.designed([forecast.rows + 20])["rmse"].tolist(),
            *forecast.cross_validation.mse.tolist(),
            *forecast.lengthscales.values(),
        ]
    return found


GROUPS: dict[str, Callable[[], dict[str, list[float]]]] = {
    "formulas": formulas,
    "simulations": simulations,
    "graphs": graphs,
    "forecasts": forecasts,
}


def recorded(group: str) -> dict[str, list[float]]:
    """Return the recorded values of a group."""
    found: dict[str, list[float]] = json.loads(RECORD.read_text())[group]
    return {name: [np.nan if value is None else value for value in values] for name, values in found.items()}


def distance(found: list[float], expected: list[float]) -> float:
    """Return the largest relative difference, of small values that to 1e-4; infinite where one is NaN, or numbers differ."""
    if len(found) != len(expected):
        return float("inf")
    a, b = np.array(found), np.array(expected)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    scale = np.maximum(np.abs(b), 1e-4)  # prior variances are about 1, and so is the source of rounding errors
    with np.errstate(invalid="ignore"):
        apart = np.where(np.isnan(a) | (a == b), 0.0, np.abs(a - b) / scale)
    return float(apart.max(initial=0.0))


def main() -> None:
    wanted = [name for name in sys.argv[1:] if name in GROUPS] or list(GROUPS)
    if "--write" in sys.argv:
        plain = json.loads(RECORD.read_text()) | {
            group: {name: [None if np.isnan(v) else v for v in values] for name, values in GROUPS[group]().items()}
            for group in wanted
        }
        RECORD.write_text(json.dumps(plain, separators=(",", ":")).replace('],"', '],\n"') + "\n")
        print(sum(len(v) for group in plain.values() for v in group.values()), "values of", len(METHODS), "methods")
        return
    for group in wanted:
        found, known = GROUPS[group](), recorded(group)
        print(group, "missing:", sorted(set(known) - set(found)), "new:", sorted(set(found) - set(known)))
        for name in known.keys() & found.keys():
            if (apart := distance(found[name], known[name])) > 0:
                print(f"  {apart:.2e}  {name}")


if __name__ == "__main__":
    main()
