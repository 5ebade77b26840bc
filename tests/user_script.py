"""A script as users write it, with all that is public: pyright and mypy find nothing in it that they do not know.

Type checkers read it in their strictest mode, as `tests/laws/test_pyright.py` and ``mypy`` do; nobody runs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd

import gpcurves as gpc
from gpcurves.forecasting.verdict import RequiredN, Verdict

Floats = npt.NDArray[np.float64]


def theory(folder: Path) -> None:
    problem = gpc.Problem(kernel=gpc.RBF(0.1), inputs=gpc.Torus(dim=2), noise=0.05)
    wrong = gpc.Problem(
        gpc.Matern52(0.2) + 0.5 * gpc.OU(1.0), gpc.Box(dim=2), 0.1, gpc.Teacher(gpc.OU(0.1), noise=0.05)
    )
    classes = gpc.Problem(gpc.Matern(0.1, smoothness=2.5), gpc.Gaussian(dim=2), gpc.Probit(0.1), design="sobol")
    curve = gpc.learning_curve(problem, "lc", n=[0, 10, 100])
    assert_type(curve, gpc.LearningCurve)
    assert_type(curve.n, Floats)
    assert_type(curve.to_frame(), pd.DataFrame)
    again = gpc.learning_curve(curve.problem, curve.method, curve.n, rng=curve.rng, **curve.options)
    truth = gpc.learning_curve(wrong, "simulation", n=range(5), datasets=5, rng=0)
    if truth.stderr is not None:
        assert_type(truth.error + 2 * truth.stderr, Floats)
    curves = gpc.learning_curves(problem, n=30, methods=["lc", "uc", gpc.METHODS["plaskota"]])
    names: list[str] = [*curves]  # as from a file: known when the script runs
    curves = gpc.learning_curves(problem, n=30, methods=[gpc.METHODS[name] for name in names])
    for label, each in curves.items():
        print(label, each.error[-1], gpc.METHODS[each.method].promise)
    together = gpc.CurveSet.of(again, *gpc.sweep(classes, 5, "lc", lengthscale=[0.1, 0.2]).values())
    assert_type(gpc.required_n(problem, error=0.01, method="lc"), int)
    spectrum = gpc.Spectrum([1.0, 0.5], [1, 3])
    bare = gpc.learning_curve(spectrum, "lc", n=[1e3], noise=gpc.GaussianNoise(0.05))
    assert_type(gpc.SpectrumProblem(spectrum, noise=0.1), gpc.Problem)
    display = curves.plot(goals=0.05)
    display.figure_.savefig(folder / "curves.png")
    together.plot(display.ax_)
    figure = bare.plot(backend="plotly")
    print(figure)
    curve.save(folder / "curve.json")
    gpc.load(folder / "curve.json")


def of_other_libraries(distribution: object, model: object) -> None:
    """SciPy, GPflow and GPyTorch have no types of their own."""
    skewed = gpc.Problem(gpc.OU(0.3), gpc.Univariate(distribution), noise=0.1)
    assert_type(skewed, gpc.Problem)
    assert_type(gpc.ModelProblem(model, inputs=gpc.Sample([[0.1], [0.4]]), noise=0.1), gpc.Problem)


def more_theory() -> None:
    problem = gpc.Problem(gpc.RationalQuadratic(0.1), gpc.Gaussian(dim=1), noise=gpc.StudentT(3.0, 0.1))
    smooth = gpc.Problem(gpc.Matern32(0.1), gpc.Torus(dim=1), noise=0.1)
    assert_type(gpc.asymptotics(smooth), gpc.Asymptotics)
    found = gpc.local_errors(problem, 20)
    assert_type(found, gpc.ErrorMap)
    assert_type(found.mean, float)
    known = gpc.posterior(smooth, [[0.1], [0.6]], [1.0, 0.2])
    assert_type(known, gpc.Posterior)
    assert_type(known.mean([[0.3]]), Floats)
    assert_type(gpc.sample_prior(smooth, [[0.3]], rng=1), Floats)
    assert_type(gpc.posterior_variance(smooth, [[0.1]], [[0.3]]), Floats)
    assert_type(gpc.degenerate_best(smooth, 20), Floats)
    assert_type(gpc.plaskota_bound(smooth, [[0.1], [0.2]]), Floats)
    assert_type(gpc.compare_designs(smooth, [5, 10], designs=["random", gpc.Sobol(), gpc.Grid()]), gpc.DesignCurves)
    assert_type(gpc.chosen_inputs(smooth, 3, rng=0), pd.DataFrame)
    assert_type(gpc.required_inducing(smooth, n=100), gpc.InducingGoal)
    held_out = gpc.certificate(0.05, 200, confidence=0.9)
    assert_type(held_out, gpc.Certificate)
    assert_type(gpc.required_holdout(0.05, 0.1), int)
    sizes: Floats = np.geomspace(1, 100, 5)
    gpc.learning_curve(smooth, gpc.METHODS["sor"], n=[100], m=[10, 20])
    gpc.learning_curves(gpc.Problem(gpc.ArcCosine(order=1), gpc.Sphere(dim=4), noise=0.1), sizes, methods="all")
    gpc.learning_curve(gpc.Problem(gpc.Linear(1.0), gpc.Sample(np.eye(4)), noise=0.1), "lc", n=10)


def waves(x: Floats) -> Floats:
    return np.hstack([np.cos(2 * np.pi * x), np.sin(2 * np.pi * x)])


def other_labels(X: Floats) -> None:
    circle, smooth = gpc.Torus(dim=1), gpc.RBF(0.1)
    cauchy = gpc.Likelihood(lambda y, f: -np.log(np.pi * (1 + (y - f) ** 2)), title="cauchy")
    uneven = gpc.UnevenNoise(lambda X: 0.01 + X[:, 0] ** 2 / 2, title="wide")
    linear = (gpc.Averages(0.05, count=3), gpc.Derivatives(0.05), gpc.Differences(0.05))
    for observation in (gpc.LaplaceNoise(0.2), gpc.Logit(), cauchy, uneven, *linear):
        print(gpc.learning_curves(gpc.Problem(smooth, circle, observation), n=[0, 10]))
    kernels = (
        gpc.GammaExponential(0.1, gamma=1.5),
        gpc.Polynomial(degree=3),
        gpc.PowerSeries((1.0, 0.5)),
        gpc.FeatureKernel(waves),
    )
    for kernel in kernels:
        print(
            gpc.learning_curve(
                gpc.Problem(kernel, gpc.Discrete(X), 0.1, design=gpc.Greedy()), "simulation", 5, quantity="nlpd"
            )
        )
    mix = gpc.cheapest_mix(
        gpc.Problem(smooth, circle, gpc.Fidelities(0.95, noise=0.01, cheap_noise=0.05)), 0.02, [1, 20]
    )
    assert_type(mix, gpc.Mix)
    tasks = gpc.Problem(smooth, circle, gpc.Tasks([[1.0, 0.8], [0.8, 1.0]], noise=0.05), design=gpc.LatinHypercube())
    assert_type(gpc.task_errors(tasks, [[0, 0], [50, 50]]), Floats)
    found = gpc.linear_posterior(
        gpc.Problem(smooth, circle, 0.1), [[0.5, 0.5]], [[0.4], [0.6]], labels=[1.0], at=[[0.5]]
    )
    assert_type(found, gpc.LinearPosterior)
    assert_type(found.mean, Floats)
    assert_type(gpc.pac_bayes(gpc.Problem(smooth, circle, gpc.Probit()), X, np.sign(X[:, 0])), gpc.PacBayes)
    print(gpc.QUANTITIES["nlpd"].meaning, gpc.GreedyVariance(), gpc.Random())


def other_graphs(path: Path) -> None:
    graph = gpc.read_graph(path, repair=True)
    blocks = gpc.StochasticBlockModel((0.5, 0.5), ((2.5, 0.5), (0.5, 2.5)), labelling=(1, 0))
    for ensemble in (blocks, gpc.PreferentialAttachment(2), gpc.DegreeDistribution((0.0, 0.5, 0.5))):
        assert_type(ensemble.sample(100, rng=0), gpc.Graph)
    kernel = 0.7 * gpc.MaternGraphKernel(scale=2.0) + 0.3 * gpc.RegularisedLaplacianKernel(scale=2.0)
    print(isinstance(kernel, gpc.GraphKernelSum))
    ages = gpc.VertexAttributeKernel(gpc.RBF(1.0), columns=("age",))
    rewards = gpc.TemporalDifferences(discount=0.9, variance=0.1)
    print(
        gpc.GraphProblem(graph, ages, rewards),
        gpc.GraphProblem(gpc.as_graph(graph), gpc.PolynomialWalkKernel((0.5, 0.5)), 0.1),
    )
    vectors = gpc.prediction_vectors(gpc.GraphProblem(graph, kernel, 0.1), [0, 4, 8])
    assert_type(vectors, gpc.PredictionVectors)
    assert_type(vectors.vectors, Floats)
    model = gpc.GraphClassifier(graph, gpc.RandomWalkKernel(), variance=4.0).fit([0, 1], ["red", "blue"])
    print(model.predict([2, 6]))


def networks(edges: list[tuple[str, str]], labels: dict[str, float]) -> None:
    graph = gpc.Graph.from_edges(edges)
    kernel = gpc.RandomWalkKernel(p=10, a=2, normalise="local")
    problem = gpc.GraphProblem(graph, kernel + gpc.DiffusionKernel(2.0, normalise="global"), noise=0.1)
    for ensemble in (gpc.ErdosRenyi(3), gpc.RandomRegular(3), gpc.PowerLaw(2.5, 2)):
        limit = gpc.learning_curve(gpc.GraphProblem(ensemble, kernel, 0.1), "cavity", nu=[0.1, 1, 5], rng=0)
        assert_type(limit.nu, Floats)
    variances = gpc.vertex_variances(problem, 1.0, datasets=2, rng=0)
    assert_type(variances, gpc.VarianceDistribution)
    beliefs = gpc.belief_propagation(problem, np.ones(graph.vertices, dtype=int))
    print(beliefs.variance.mean(), beliefs.rounds)
    diagnosis = gpc.diagnose(graph)
    assert_type(diagnosis, gpc.Diagnosis)
    assert_type(diagnosis.verdict(), str)
    model = gpc.GraphRegressor(graph).fit(list(labels), list(labels.values()))
    mean, std = model.predict(return_std=True)
    assert_type(std, Floats)
    assert_type(model.predict(), Floats)
    low, high = model.predict_interval(["a"])
    print(mean, std, low, high)
    gpc.draw_graph(graph, beliefs.variance, title="variances").figure_.savefig("graph.png")
    forecast = gpc.forecast(graph, labels, rng=0)
    print(forecast.next_rows(5))


def plan(table: pd.DataFrame, X: Floats, y: Floats) -> None:
    forecast = gpc.forecast(table, "price", rng=0, missing="drop")
    assert_type(forecast, gpc.Forecast)
    trial = pd.DataFrame({"patient": ["a", "a", "b"], "dose": [1.0, 2.0, 1.5], "response": [0.1, 0.4, 0.2]})
    grouped = gpc.forecast(trial, "response", groups="patient")
    assert_type(grouped.group, str | None)
    assert_type(grouped.headline(0.2), str)
    assert_type(forecast.verdict(goal=0.2), Verdict)
    needed = forecast.required_n(rmse=0.21)
    assert_type(needed, RequiredN)
    print("no number" if needed.estimate is None else needed.estimate - forecast.rows)
    assert_type(forecast.at([60, 120]), pd.DataFrame)
    assert_type(forecast.noise_rmse, float)
    seen = forecast.cross_validation
    assert_type(seen.mse, Floats)
    if forecast.relevance is not None:
        print(dict(zip(forecast.relevance.names, forecast.relevance.share.tolist(), strict=True)))
    forecast.plot(goal=0.21).figure_.savefig("plan.png")
    print(forecast.plot(backend="plotly", goal=0.21))
    forecast.save("plan.html", goal=0.21)
    model = gpc.LearningCurveForecast(draws=2).fit(X, y)
    assert_type(model.predict(X[:3]), Floats)
    print(model.forecast_.required_n(rmse=0.12).estimate)
    classifier = gpc.LearningCurveClassifier().fit(X, y > 0)
    assert_type(classifier, gpc.LearningCurveClassifier)
    assert_type(classifier.forecast_, gpc.Forecast)
    print(classifier.predict(X[:3]), classifier.predict_proba(X[:3]))
    wines = gpc.datasets.load_wine()
    assert_type(wines, pd.DataFrame)
    drawn = gpc.papers.figure("sollich2002-8", quick=True)
    print(drawn.table, [claim.holds for claim in drawn.claims], gpc.__version__)
    try:
        gpc.forecast(X, y, draws=1)
    except (gpc.InputError, gpc.NumericalError, gpc.NotApplicableError, gpc.GoalUnreachableError) as error:
        assert_type(str(error), str)
    except gpc.GPCurvesError as error:  # the root of them all
        print(error)
