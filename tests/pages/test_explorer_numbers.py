"""The explorer computes what the package computes: formulas to 1e-9, simulations within four standard errors."""

from __future__ import annotations

import itertools
from typing import Any

import mpmath as mp
import networkx as nx
import numpy as np
import pytest

import gpcurves as gpc
from explorer import ask, kernel, needs_node, python_kernel

pytestmark = needs_node
N = [0, 1, 2, 7, 30, 200, 3_000, 50_000]
METHODS: Any = ("lc", "uc", "ov", "two", "plaskota")
TORUS = [
    (kernel("rbf", 0.1), 1, 0.05),
    (kernel("ou", 0.03, 2.5), 1, 1e-6),
    (kernel("matern52", 1.7, 0.2), 1, 3.0),
    (kernel("rbf", 0.012), 2, 1e-3),
    (kernel("ou", 0.3), 2, 0.5),
    (kernel("matern32", 0.2, 1.5), 4, 1e-4),
    (kernel("matern52", 0.6), 7, 0.01),
    (kernel("ou", 0.5), 10, 0.1),
    (kernel("rbf", 0.4, 3.0), 10, 1e-5),
]


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=1e-9)


def compare_torus(settings: list[tuple[dict[str, Any], int, float]], teachers: list[dict[str, Any]]) -> None:
    """Compare every curve of the theory tab on the torus at these settings."""
    requests: list[dict[str, Any]] = []
    for (own, dim, noise), teacher in zip(settings, teachers, strict=True):
        problem = {"kernel": own, "dim": dim, "noise": noise}
        taught = problem | {"teacher": teacher, "trueNoise": 0.3 * noise}
        requests += [
            {"what": "curves", "problem": problem, "n": N, "methods": METHODS},
            {"what": "misspecified", "problem": taught, "n": N},
            {"what": "classes", "problem": problem, "n": N},
        ]
    answers = ask(requests)
    for i, ((own, dim, noise), teacher) in enumerate(zip(settings, teachers, strict=True)):
        curves, misspecified, classes = answers[3 * i : 3 * i + 3]
        student, inputs = python_kernel(own), gpc.Torus(dim)
        matched = gpc.Problem(student, inputs, noise)
        for name in METHODS:
            close(curves[name], gpc.learning_curve(matched, name, N).error)
        truth = gpc.Teacher(python_kernel(teacher), noise=0.3 * noise)
        expected = gpc.learning_curve(gpc.Problem(student, inputs, noise, teacher=truth), "lc", N).error
        # what a smooth student cannot learn is a difference in the package, and has its rounding errors
        np.testing.assert_allclose(misspecified, expected, rtol=1e-9, atol=1e-14 * expected[0])
        labels = gpc.Problem(student, inputs, gpc.Probit(noise))
        for method in ("lc", "uc"):
            close(classes[method], gpc.learning_curve(labels, method, N).error)
        for name, quantity in (("rate", "error-rate"), ("signs", "sign-error-rate")):
            expected = gpc.learning_curve(labels, "lc", N, quantity=quantity).error
            # next to 1/2 a rate differs from it by the root of a difference, and rounding errors by their roots
            certain = expected < 0.4999
            close(np.array(classes[name])[certain], expected[certain])
            np.testing.assert_allclose(classes[name], expected, atol=2e-8)
            assert classes[name][0] == 0.5


@pytest.mark.slow
def test_theory_on_the_torus() -> None:
    teachers = [each[0] | {"lengthscale": 0.25} for each in TORUS[1:] + TORUS[:1]]
    compare_torus(TORUS, teachers)


@pytest.mark.slow
def test_theory_at_random_settings() -> None:
    rng = np.random.default_rng(5)

    def draw(dim: int) -> dict[str, Any]:
        name = str(rng.choice(["rbf", "ou", "matern32", "matern52"]))
        return kernel(name, float(np.exp(rng.uniform(np.log(0.01), np.log(2)))), float(np.exp(rng.uniform(-2, 2))))

    dims = rng.integers(1, 11, 40).tolist()
    settings = [(draw(dim), dim, float(10 ** rng.uniform(-6, 1))) for dim in dims]
    # The package ends its list of a teacher's power where the student's eigenvalues end, which leaves out 1e-6 of it if the
    # teacher is rougher: rough teachers are among the settings above.
    order = ["ou", "matern32", "matern52", "rbf"]
    teachers = [draw(dim) for dim in dims]
    smoother = [
        max(own["name"], each["name"], key=order.index) for (own, _, _), each in zip(settings, teachers, strict=True)
    ]
    compare_torus(settings, [each | {"name": name} for each, name in zip(teachers, smoother, strict=True)])


GAUSSIAN = [
    (kernel("rbf", 0.3), 1, 1 / 12, 0.1),
    (kernel("rbf", 1.2, 2.0), 10, 0.5, 1e-4),
    (kernel("ou", 0.01), 1, 10.0, 1e-6),
    (kernel("matern52", 2.0, 0.2), 1, 0.01, 1e-6),
    (kernel("matern32", 0.1), 2, 1 / 12, 1e-3),
    (kernel("matern52", 0.3, 3.0), 3, 0.2, 0.05),
    (kernel("ou", 0.6), 10, 1 / 12, 1.0),
]
"""Kernel, dimension, variance of the inputs and noise, with the longest and the shortest lengthscales that the sliders reach."""


def compare_gaussian(settings: list[tuple[dict[str, Any], int, float, float]], teachers: list[dict[str, Any]]) -> None:
    """Compare every curve of the theory tab with Gaussian inputs at these settings."""
    sizes, requests = [*N, 1_000_000], []
    for (own, dim, spread, noise), teacher in zip(settings, teachers, strict=True):
        problem = {"kernel": own, "dim": dim, "noise": noise, "gaussian": spread}
        requests += [
            {"what": "curves", "problem": problem, "n": sizes, "methods": METHODS},
            {"what": "misspecified", "problem": problem | {"teacher": teacher, "trueNoise": 0.3 * noise}, "n": sizes},
            {"what": "classes", "problem": problem, "n": sizes},
        ]
    answers = ask(requests)
    for i, ((own, dim, spread, noise), teacher) in enumerate(zip(settings, teachers, strict=True)):
        curves, misspecified, classes = answers[3 * i : 3 * i + 3]
        student, inputs = python_kernel(own), gpc.Gaussian(dim, spread)
        matched, labels = (gpc.Problem(student, inputs, each) for each in (noise, gpc.Probit(noise)))
        for name in METHODS:
            close(curves[name], gpc.learning_curve(matched, name, sizes).error)
        truth = gpc.Teacher(python_kernel(teacher), noise=0.3 * noise)
        taught = gpc.Problem(student, inputs, noise, teacher=truth)
        expected = gpc.learning_curve(taught, "lc", sizes).error
        # the power that a smooth teacher has in high eigenfunctions is below the rounding errors of its sum
        np.testing.assert_allclose(misspecified, expected, rtol=1e-9, atol=1e-14 * expected[0])
        for method in ("lc", "uc"):
            close(classes[method], gpc.learning_curve(labels, method, sizes).error)


@pytest.mark.slow
def test_theory_of_gaussian_inputs() -> None:
    names = itertools.cycle(["ou", "rbf", "matern52", "matern32", "rbf"])
    compare_gaussian(GAUSSIAN, [kernel(name, 0.25, 2.0) for name, _ in zip(names, GAUSSIAN, strict=False)])


@pytest.mark.slow
def test_gaussian_inputs_at_random_settings() -> None:
    rng = np.random.default_rng(6)

    def draw() -> dict[str, Any]:
        name = str(rng.choice(["rbf", "ou", "matern32", "matern52"]))
        return kernel(name, float(np.exp(rng.uniform(np.log(0.01), np.log(2)))), float(np.exp(rng.uniform(-2, 2))))

    settings = [
        (draw(), int(rng.integers(1, 11)), float(10 ** rng.uniform(-2, 1)), float(10 ** rng.uniform(-6, 1)))
        for _ in range(40)
    ]
    compare_gaussian(settings, [draw() for _ in settings])


def grid_error(plain: dict[str, Any], dim: int, noise: float, points: int) -> float:
    """Return the error of a regular grid by MATH's sums over waves that the grid cannot tell apart, typed naively."""
    smooth = {"rbf": None, "ou": 0.5, "matern32": 1.5, "matern52": 2.5}[plain["name"]]
    scale, variance = mp.mpf(plain["lengthscale"]), mp.mpf(plain["variance"])

    def wave(k: Any) -> Any:
        if smooth is None:
            return variance * (scale * mp.sqrt(2 * mp.pi)) ** dim * mp.exp(-2 * (mp.pi * scale) ** 2 * k)
        order = smooth + mp.mpf(dim) / 2
        front = 2**dim * mp.pi ** (mp.mpf(dim) / 2) * mp.gamma(order) * (2 * smooth) ** smooth / mp.gamma(smooth)
        return variance * front / scale ** (2 * smooth) * (2 * smooth / scale**2 + 4 * mp.pi**2 * k) ** -order

    error = mp.mpf(0)
    for q in itertools.product(range(points), repeat=dim):
        if smooth is None:
            shifts = list(itertools.product(range(-40 // points - 2, 40 // points + 3), repeat=dim))
            found = [wave(sum((a + points * m) ** 2 for a, m in zip(q, shift, strict=True))) for shift in shifts]
            total, squares = mp.fsum(found), mp.fsum(each**2 for each in found)
        else:
            total = mp.nsum(lambda m, q=q: wave((q[0] + points * m) ** 2), [-mp.inf, mp.inf])
            squares = mp.nsum(lambda m, q=q: wave((q[0] + points * m) ** 2) ** 2, [-mp.inf, mp.inf])
        n = points**dim
        error += total - n * squares / (n * total + noise)
    return float(error)


def test_powers_in_several_dimensions_are_those_of_one_added_up() -> None:
    """With the teacher's kernel a multiple of the student's, powers are that multiple of the eigenvalues."""
    base = {"kernel": kernel("rbf", 0.3), "noise": 0.1, "gaussian": 0.4, "trueNoise": 0.2, "dim": 6}
    taught, (own,) = {"teacher": kernel("rbf", 0.3, 2.0)}, [gpc.Problem(gpc.RBF(0.3), gpc.Gaussian(6, 0.4), 0.1)]
    (found,) = ask([{"what": "misspecified", "problem": base | taught, "n": N}])
    close(found, 2 * gpc.learning_curve(own, "lc", N).error)


@pytest.mark.slow
def test_the_error_of_a_regular_grid() -> None:
    settings = [("rbf", 0.1, 1, 0.5), ("ou", 0.1, 1, 0.05), ("matern32", 0.3, 1, 0.01), ("matern52", 0.05, 1, 1e-4)]
    settings += [("rbf", 0.3, 2, 0.2)]
    requests = [
        {"what": "grid", "problem": {"kernel": kernel(name, scale, 2.0), "dim": dim, "noise": noise}, "points": [1, 4]}
        for name, scale, dim, noise in settings
    ]
    for (name, scale, dim, noise), found in zip(settings, ask(requests), strict=True):
        close(found, [grid_error(kernel(name, scale, 2.0), dim, noise, points) for points in (1, 4)])


def test_grids_in_several_dimensions() -> None:
    settings = [
        ("ou", 0.1, 2, 0.1, 6),
        ("matern52", 0.2, 2, 0.01, 5),
        ("matern32", 0.15, 3, 0.1, 3),
        ("rbf", 0.3, 3, 1.0, 4),
    ]
    settings += [("ou", 0.02, 1, 1e-3, 200), ("matern32", 0.1, 1, 1e-2, 30)]
    requests = [
        {"what": "grid", "problem": {"kernel": kernel(name, scale), "dim": dim, "noise": noise}, "points": [points]}
        for name, scale, dim, noise, points in settings
    ]
    for (name, scale, dim, noise, points), found in zip(settings, ask(requests), strict=True):
        problem = gpc.Problem(python_kernel(kernel(name, scale)), gpc.Torus(dim), noise)
        close(found, gpc.learning_curve(problem, "grid", [points**dim]).error)


def test_error_and_examples_and_noise_are_solved_for_each_other() -> None:
    problem, errors = {"kernel": kernel("matern32", 0.2), "dim": 2, "noise": 0.05}, [0.5, 0.1, 0.003]
    (found,) = ask([{"what": "required", "problem": problem, "errors": errors}])
    for error, (n, noise) in zip(errors, found, strict=True):
        close([noise], 0.05)
        at_n = gpc.learning_curve(gpc.Problem(gpc.Matern32(0.2), gpc.Torus(2), 0.05), "lc", [n]).error
        close([error], at_n)
        assert gpc.required_n(gpc.Problem(gpc.Matern32(0.2), gpc.Torus(2), 0.05), error) == int(np.ceil(n))


def test_periodic_covariances() -> None:
    rng = np.random.default_rng(0)
    settings = [("ou", 0.2, 1), ("matern52", 0.9, 1), ("rbf", 0.3, 2), ("ou", 0.2, 2), ("matern32", 0.15, 3)]
    tables = [rng.random((6, dim)) for _, _, dim in settings]
    requests = [
        {"what": "covariance", "kernel": kernel(name, scale), "dim": dim, "X": X.tolist()}
        for (name, scale, dim), X in zip(settings, tables, strict=True)
    ]
    for (name, scale, dim), X, found in zip(settings, tables, ask(requests), strict=True):
        expected = gpc.Torus(dim).kernel_matrix(python_kernel(kernel(name, scale)), X)
        np.testing.assert_allclose(found, expected, rtol=1e-8)  # far images are a sum over a few Gaussians


@pytest.mark.slow
def test_simulations_agree_with_the_package() -> None:
    sizes = [0, 1, 5, 30]
    problems = [
        {"kernel": kernel("rbf", 0.1), "dim": 1, "noise": 0.05},
        {"kernel": kernel("ou", 0.2, 2.0), "dim": 2, "noise": 0.1},
        {"kernel": kernel("rbf", 0.2), "dim": 1, "noise": 0.1, "gaussian": 1 / 12},
        {"kernel": kernel("rbf", 0.1), "dim": 1, "noise": 0.05, "teacher": kernel("ou", 0.1), "trueNoise": 0.1},
    ]
    found = ask([{"what": "simulation", "problem": each, "sizes": sizes, "datasets": 60} for each in problems])
    for plain, answer in zip(problems, found, strict=True):
        inputs: Any = gpc.Gaussian(1) if "gaussian" in plain else gpc.Torus(plain["dim"])  # type: ignore[arg-type]
        teacher = None
        if "teacher" in plain:
            teacher = gpc.Teacher(python_kernel(plain["teacher"]), noise=0.1)  # type: ignore[arg-type]
        problem = gpc.Problem(python_kernel(plain["kernel"]), inputs, plain["noise"], teacher=teacher)  # type: ignore[arg-type]
        truth = gpc.learning_curve(problem, "simulation", sizes, datasets=60, rng=3)
        assert truth.stderr is not None
        apart = np.abs(np.array(answer["mean"]) - truth.error)
        assert (apart <= 4 * np.hypot(answer["stderr"], truth.stderr) + 1e-9).all()
        assert max(answer["stderr"]) < 0.1 * answer["mean"][0]  # so that four of them can be missed


def test_a_function_that_is_learnt() -> None:
    x = [0.11, 0.42, 0.425, 0.8]
    settings = [kernel("matern32", 0.2, 2.0), kernel("rbf", 0.1)]
    answers = ask([{"what": "learnt", "kernel": each, "noise": 0.05, "x": x, "seed": 3} for each in settings])
    for plain, found in zip(settings, answers, strict=True):
        grid, truth, y = (np.array(found[name]) for name in ("grid", "truth", "y"))
        inputs, own, X = gpc.Torus(1), python_kernel(plain), np.array(x)[:, None]
        for n in range(5):
            K = inputs.kernel_matrix(own, X[:n]) + 0.05 * np.eye(n) if n else np.empty((0, 0))
            C = inputs.kernel_matrix(own, X[:n], grid[:, None]) if n else np.empty((0, len(grid)))
            gain = np.linalg.solve(K, C) if n else C
            mean = y[:n] @ gain
            variance = inputs.prior_variance(own) - (C * gain).sum(axis=0)
            close([found["expected"][n]], variance[:-1].mean())
            close([found["found"][n]], ((mean - truth)[:-1] ** 2).mean())
        np.testing.assert_allclose(found["mean"], mean, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(found["variance"], variance, rtol=1e-9)
        assert truth[0] == truth[-1]
        assert abs(y - np.interp(x, grid, truth)).max() < 4 * np.sqrt(0.05)
        assert abs(truth).max() < 5 * np.sqrt(plain["variance"])
        # eight inputs chosen where least is known are spread out, and leave less than random ones do on average
        assert np.diff(np.sort(found["chosen"])).min() > 0.05
        random = gpc.learning_curve(gpc.Problem(own, inputs, 0.05), "simulation", [8], datasets=50, rng=0)
        assert found["chosenError"] < random.error[0]


@pytest.mark.slow
def test_simulated_classes_agree_with_the_package() -> None:
    sizes, state = [1, 8, 25], {"labels": "classes", "noise": 0.3, "lengthscale": 0.15, "variance": 2.0}
    quantities = ("error-rate", "sign-error-rate", "mse")
    requests = [
        {"what": "drawn", "state": state | {"quantity": each}, "sizes": sizes, "datasets": 80} for each in quantities
    ]
    problem = gpc.Problem(gpc.RBF(0.15, 2.0), gpc.Torus(1), gpc.Probit(0.3))
    for quantity, found in zip(quantities, ask(requests), strict=True):
        truth = gpc.learning_curve(problem, "simulation", sizes, datasets=40, quantity=quantity, rng=0)
        assert truth.stderr is not None
        apart = np.abs(np.array(found["mean"]) - truth.error)
        assert (apart <= 4 * np.hypot(found["stderr"], truth.stderr)).all(), quantity
        assert (np.array(found["stderr"]) < 0.2 * np.array(found["mean"])).all()


def test_posteriors_on_graphs() -> None:
    network = nx.barabasi_albert_graph(60, 2, seed=1)
    network.add_edge(100, 101)  # a component of its own
    rng = np.random.default_rng(2)
    lines = [f"{i},{j},{rng.uniform(0.5, 2):.3f}" for i, j in network.edges]
    weighted = nx.Graph()
    for line in lines:
        i, j, weight = line.split(",")
        weighted.add_edge(i, j, weight=float(weight))
    walks: list[dict[str, Any]] = [
        {"p": 10, "a": 2, "normalise": "local"},
        {"p": 5, "a": 3.5, "normalise": "global"},
    ]
    names = list(weighted)
    chosen = [3, 17, 17, 40, 61]
    labels = [{"vertex": names.index(names[v]), "value": float(v % 7) - 3} for v in chosen]
    requests = [
        {
            "what": "graph",
            "edges": "source,target,weight\n" + "\n".join(lines),
            "walk": walk,
            "noise": 0.1,
            "labels": labels,
            "datasets": 60,
            "sizes": [0, 10, 60, 120],
        }
        for walk in walks
    ]
    for walk, found in zip(walks, ask(requests), strict=True):
        assert found["names"] == names
        covariance = gpc.RandomWalkKernel(**walk).on(weighted).matrix()
        K = covariance[np.ix_(chosen, chosen)] + 0.1 * np.eye(len(chosen))
        gain = np.linalg.solve(K, covariance[chosen])
        np.testing.assert_allclose(found["variance"], np.diag(covariance - covariance[:, chosen] @ gain), rtol=1e-9)
        np.testing.assert_allclose(found["mean"], [each["value"] for each in labels] @ gain, rtol=1e-9, atol=1e-12)
        values = np.linalg.eigvalsh(covariance)[::-1] / len(names)
        np.testing.assert_allclose(found["eigenvalues"], np.maximum(values, 0), rtol=1e-9, atol=1e-15)
        problem = gpc.GraphProblem(weighted, gpc.RandomWalkKernel(**walk), 0.1)
        truth = gpc.learning_curve(problem, "simulation", n=[0, 10, 60, 120], datasets=60, rng=0)
        assert truth.stderr is not None
        apart = np.abs(np.array(found["curve"]) - truth.error)
        assert (apart <= 4 * np.hypot(found["stderr"], truth.stderr) + 1e-9).all()


def test_random_graphs_have_the_degrees_they_should() -> None:
    kinds: list[tuple[str, list[float], float]] = [
        ("randomRegular", [3], 3.0),
        ("erdosRenyi", [4.0], 4.0),
        ("powerLaw", [2.5, 2.0], 2.5 * 2 / 1.5),
    ]
    requests = [
        {"what": "ensemble", "kind": kind, "vertices": 600, "numbers": numbers, "seed": seed}
        for kind, numbers, _ in kinds
        for seed in range(5)
    ]
    found = ask(requests)
    for place, (kind, _, mean) in enumerate(kinds):
        degrees = []
        for edges in found[5 * place : 5 * place + 5]:
            graph = nx.Graph(edges)
            assert graph.number_of_edges() == len(edges)
            assert nx.number_of_selfloops(graph) == 0
            degrees += [degree for _, degree in graph.degree] + [0] * (600 - graph.number_of_nodes())
        error = np.std(degrees) / np.sqrt(len(degrees)) + 1e-9
        assert abs(np.mean(degrees) - mean) < 5 * error, kind
        if kind == "randomRegular":
            assert set(degrees) == {3}
