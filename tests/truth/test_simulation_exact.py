"""One data set at a time: the simulator against scikit-learn, dense matrices, quadratures and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import gamma
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from gpcurves import (
    OU,
    RBF,
    Box,
    Discrete,
    GammaExponential,
    Gaussian,
    Linear,
    Matern,
    Matern32,
    Matern52,
    NumericalError,
    Polynomial,
    Problem,
    RationalQuadratic,
    Teacher,
    Torus,
    learning_curve,
)
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel, Stationary, Sum, as_kernel
from gpcurves.methods import MethodName
from gpcurves.methods.simulation import dataset
from gpcurves.methods.simulation.dataset import Prior, errors, exact_test, training_errors
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.validation import FloatArray

VARIANCES: dict[int, tuple[Problem, float]] = {}
"""Prior variances, which take longer than everything else here, by the identity of the problem."""


def priors(problem: Problem) -> tuple[Prior, Prior | None]:
    told = problem.teacher
    teacher = None if told is None else Prior(problem.true_kernel, problem.inputs, told.noise)
    return Prior(problem.kernel, problem.inputs, problem.noise), teacher


def simulated(problem: Problem, X: FloatArray, test: dataset.Test | None = None) -> FloatArray:
    """Return the simulator's errors of one data set for n = 0, 1, …, len(X)."""
    chosen = test or exact_test(problem)
    assert chosen is not None
    student, teacher = priors(problem)
    if id(problem) not in VARIANCES:
        VARIANCES[id(problem)] = problem, problem.true_variance
    return errors(student, teacher, Factor.from_matrix(student.observe(X)), X, chosen, VARIANCES[id(problem)][1])


def at(points: FloatArray) -> dataset.TestPoints:
    return dataset.TestPoints(points, np.full(len(points), 1 / len(points)))


def variances(prior: Prior, X: FloatArray, points: FloatArray) -> FloatArray:
    """Return posterior variances, SH02 (2), by a dense inverse."""
    K = prior.between(X) + prior.noise * np.eye(len(X))
    k = prior.between(X, points)
    return np.asarray(np.diagonal(prior.between(points)) - np.diagonal(k.T @ np.linalg.inv(K) @ k))


# --- posterior variances ---------------------------------------------------------------------------------------------

SKLEARN = {
    "rbf": 1.3 * sk.RBF(0.3),
    "rbf, one lengthscale per dimension": sk.RBF([0.2, 0.7]),
    "ou": sk.Matern(0.4, nu=0.5),
    "matern52": sk.Matern(0.4, nu=2.5),
    "rational quadratic": sk.RationalQuadratic(0.4, 0.8),
    "linear and rbf": sk.DotProduct(0.5) + 0.2 * sk.RBF(0.3),
}


@pytest.mark.parametrize("noise", [0.05, 1e-4])
@pytest.mark.parametrize("name", SKLEARN)
def test_posterior_variances_are_those_of_scikit_learn(name: str, noise: float) -> None:
    rng = np.random.default_rng(1)
    X, points = rng.random((25, 2)), rng.random((4, 2))
    problem = Problem(as_kernel(SKLEARN[name]), Box(2), noise)
    found = np.array([simulated(problem, X, at(points[i : i + 1])) for i in range(len(points))])
    for n in (1, 2, 10, 25):
        fitted = GaussianProcessRegressor(SKLEARN[name], alpha=noise, optimizer=None).fit(X[:n], np.zeros(n))
        deviation = fitted.predict(points, return_std=True)[1]
        np.testing.assert_allclose(found[:, n], deviation**2, rtol=1e-9, atol=1e-12)


NESTED: dict[str, Problem] = {
    "circle": Problem(Matern32(0.2), Torus(1), 0.01),
    "circle, sum": Problem(OU(0.3) + RBF(0.4), Torus(1), 0.1),
    "torus, d = 4": Problem(RBF(0.3), Torus(4), 0.05),
    "box": Problem(GammaExponential(0.5, gamma=1.4), Box(3), 0.2),
    "gaussian, variance depends on the input": Problem(Polynomial(0.5, degree=3), Gaussian(2), 0.1),
    "gaussian, d = 5": Problem(Linear(), Gaussian(5, 1.0), 1e-3),
}


@pytest.mark.parametrize("name", NESTED)
def test_one_factorisation_gives_what_refitting_at_each_n_does(name: str) -> None:
    problem = NESTED[name]
    rng = np.random.default_rng(2)
    X, points = problem.inputs.draw(15, rng), problem.inputs.draw(50, rng)
    found = simulated(problem, X, at(points))
    student, _ = priors(problem)
    refitted = [variances(student, X[:n], points).mean() for n in range(1, 16)]
    np.testing.assert_allclose(found[1:], refitted, rtol=1e-8, atol=1e-12)
    assert found[0] == problem.true_variance


# --- averages over the test input in closed form ---------------------------------------------------------------------


def transform(kernel: Kernel, q: FloatArray) -> FloatArray:
    """Return the Fourier transform at the rows of q, Rasmussen & Williams (4.15) and SH02 appendix C."""
    if isinstance(kernel, Sum):
        return np.asarray(sum(transform(part, q) for part in kernel.parts))
    assert isinstance(kernel, Stationary)
    d = q.shape[1]
    scales = kernel.lengthscales(d)
    z = ((q * scales) ** 2).sum(axis=1)
    front = kernel.variance * scales.prod()
    if isinstance(kernel, RBF):
        return np.asarray(front * (2 * np.pi) ** (d / 2) * np.exp(-2 * np.pi**2 * z))
    nu = kernel.smoothness
    assert nu is not None
    front *= 2**d * np.pi ** (d / 2) * gamma(nu + d / 2) * (2 * nu) ** nu / gamma(nu)
    return np.asarray(front * (2 * nu + 4 * np.pi**2 * z) ** (-nu - d / 2))


TORUS: dict[str, tuple[Kernel, Kernel, int]] = {
    "rbf, d = 1": (RBF(0.2, 1.4), RBF(0.2, 1.4), 1),
    "rbf, d = 3": (RBF(0.3), RBF(0.3), 3),
    "rbf, one lengthscale per dimension": (RBF((0.2, 0.5)), RBF((0.2, 0.5)), 2),
    "two rbfs": (RBF((0.2, 0.5), 2.0), RBF(0.3, 0.7), 2),
    "ou, d = 1": (OU(0.2, 1.4), OU(0.2, 1.4), 1),
    "ou, d = 2": (OU(0.3), OU(0.3), 2),
    "ou, d = 3": (OU(0.2), OU(0.2), 3),
    "ou, one lengthscale per dimension": (OU((0.25, 0.5)), OU((0.25, 0.5), 0.3), 2),
    "matern32, d = 1": (Matern32(0.2), Matern32(0.2), 1),
    "matern32 by two names": (Matern32(0.3), Matern(0.3, 2.0, smoothness=1.5), 2),
    "matern52, d = 2": (Matern52((0.3, 0.4), 1.1), Matern52((0.3, 0.4), 1.1), 2),
    "matern, nu = 0.8": (Matern(0.3, smoothness=0.8), Matern(0.3, smoothness=0.8), 1),
    "matern, nu = 2": (Matern(0.3, smoothness=2), Matern(0.3, smoothness=2), 3),
    "sum of two rbfs": (RBF(0.1) + RBF(0.4, 0.3), RBF(0.1) + RBF(0.4, 0.3), 1),
    "sum and one rbf": (RBF(0.1) + RBF(0.4, 0.3), RBF(0.2), 2),
    "product of two rbfs": (RBF(0.3) * RBF(0.4), RBF(0.24), 1),
}
SERIES = {1: 6000, 2: 120, 3: 32}


@pytest.mark.slow
@pytest.mark.parametrize("name", TORUS)
def test_overlap_on_the_torus_is_the_series_of_products_of_transforms(name: str) -> None:
    first, second, d = TORUS[name]
    found = Torus(d).overlap(first, second)
    assert found is not None
    X = np.random.default_rng(3).random((4, d))
    X[1] = X[0]
    line = np.arange(-SERIES[d], SERIES[d] + 1.0)
    q = np.stack([axis.ravel() for axis in np.meshgrid(*[line] * d, indexing="ij")], axis=1)
    one, two = (transform(RBF(0.24) if name.startswith("product") else kernel, q) for kernel in (first, second))
    apart = X[:, None] - X[None, :]
    expected = np.array([[np.cos(2 * np.pi * q @ a) @ (one * two) for a in row] for row in apart])
    # what is left out of the series is below 1e-8 of its sum
    np.testing.assert_allclose(found(X), expected, rtol=0, atol=2e-8 * expected.max())


@pytest.mark.parametrize("kernel", [OU(0.2), Matern32(0.3, 0.4), RBF(0.1)], ids=repr)
def test_overlap_on_the_circle_is_an_integral_over_images(kernel: Stationary) -> None:
    X = np.array([[0.1], [0.35], [0.95]])
    x, w = np.polynomial.legendre.leggauss(60)
    edges = [0.0, 0.1, 0.35, 0.45, 0.6, 0.85, 0.95, 1.0]  # kinks at the points and half-way round
    product = np.zeros((3, 3))
    for low, high in itertools.pairwise(edges):
        nodes = (low + high + (high - low) * x) / 2
        images = np.zeros((3, len(nodes)))
        for r in range(-20, 21):
            images += kernel(X, (nodes + r)[:, None])
        product += (high - low) / 2 * (images * w) @ images.T
    found = Torus(1).overlap(kernel, kernel)
    assert found is not None
    np.testing.assert_allclose(found(X), product, rtol=1e-11)


QUADRATURE: dict[str, tuple[Kernel, Kernel, Inputs]] = {
    "gaussian": (RBF(0.5), RBF(0.5), Gaussian(1, 0.3)),
    "gaussian, two rbfs": (RBF(0.5, 2.0), RBF(0.9), Gaussian(1, 0.3)),
    "gaussian, d = 2": (RBF((0.4, 0.8)), RBF((0.4, 0.8)), Gaussian(2, 0.4)),
    "gaussian, d = 3": (RBF(0.9), RBF(0.9, 0.2), Gaussian(3, 0.3)),
    "gaussian, correlated": (RBF((0.6, 0.9)), RBF(0.8), Gaussian(covariance=((0.5, 0.3), (0.3, 0.4)))),
    "gaussian, sum": (RBF(0.6) + RBF(1.5, 3.0), RBF(0.8), Gaussian(1)),
    "box": (RBF(0.3), RBF(0.3), Box(1)),
    "box, two rbfs": (RBF((0.3, 0.6), 2.0), RBF(0.5), Box(2)),
    "box, d = 3": (RBF(0.4), RBF(0.4), Box(3)),
    "box, product and sum": (RBF(0.6) * RBF(0.7), RBF(0.4) + RBF(0.9), Box(1)),
}


@pytest.mark.parametrize("name", QUADRATURE)
def test_overlap_of_rbfs_is_a_gaussian_integral(name: str) -> None:
    first, second, inputs = QUADRATURE[name]
    found = inputs.overlap(first, second)
    assert found is not None
    X = inputs.draw(5, np.random.default_rng(4))
    each = 40 if inputs.dim == 3 else 90
    if isinstance(inputs, Gaussian):
        x, w = np.polynomial.hermite_e.hermegauss(each)
        root = np.linalg.cholesky(inputs.matrix)
    else:
        x, w = np.polynomial.legendre.leggauss(each)
        x, root = (x + 1) / 2, np.eye(inputs.dim)
    nodes = np.array(list(itertools.product(x, repeat=inputs.dim))) @ root.T
    weights = np.array([math.prod(each) for each in itertools.product(w / w.sum(), repeat=inputs.dim)])
    np.testing.assert_allclose(found(X), (first(X, nodes) * weights) @ second(X, nodes).T, rtol=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "inputs"),
    [
        (OU(0.2), OU(0.3), Torus(1)),
        (OU(0.2), RBF(0.2), Torus(1)),
        (RBF(0.2) + OU(0.2), RBF(0.2), Torus(1)),
        (Matern32(0.2), Matern52(0.2), Torus(1)),
        (RationalQuadratic(0.2, alpha=3), RationalQuadratic(0.2, alpha=3), Torus(1)),
        (OU(0.2), OU(0.2), Box(1)),
        (OU(0.2), OU(0.2), Gaussian(1)),
        (RBF(0.2), RBF(0.2), Discrete([0.1, 0.4])),
    ],
    ids=repr,
)
def test_pairs_without_a_closed_form_have_none(first: Kernel, second: Kernel, inputs: Inputs) -> None:
    assert inputs.overlap(first, second) is None


@pytest.mark.parametrize("nu", [0.25 + 1e-7, 30.0])
def test_every_matern_kernel_can_be_simulated_on_the_torus(nu: float) -> None:
    # the product of their transforms would be a Matern kernel that the package does not have
    found = learning_curve(Problem(Matern(0.3, smoothness=nu), Torus(1), 0.1), "simulation", [0, 5], datasets=2, rng=1)
    assert 0 < found.error[1] < found.error[0]


@pytest.mark.parametrize("alpha", [0.8, 1.0])
@pytest.mark.parametrize("method", ["simulation", "lc"])
def test_images_that_never_die_out_are_an_error_in_words(alpha: float, method: MethodName) -> None:
    # in two dimensions their sum is infinite
    with pytest.raises(NumericalError, match=r"the periodic images of RationalQuadratic.* do not die out"):
        learning_curve(Problem(RationalQuadratic(0.2, alpha=alpha), Torus(2), 0.1), method, [1, 5])


CLOSED: dict[str, Problem] = {
    "circle, rbf": Problem(RBF(0.1), Torus(1), 0.05),
    "torus, matern": Problem(Matern32((0.2, 0.35), 1.7), Torus(2), 0.1),
    "interval, rbf": Problem(RBF(0.2), Box(1), 0.05),
    "gaussian, rbf": Problem(RBF(0.5), Gaussian(covariance=((0.5, 0.3), (0.3, 0.4))), 0.05),
}
TAUGHT: dict[str, Problem] = {
    "circle, smoother student": Problem(RBF(0.1), Torus(1), 0.05, Teacher(RBF(0.05, 2.0), 0.2)),
    "torus, wrong noise": Problem(OU(0.3), Torus(2), 0.01, Teacher(OU(0.3), 0.5)),
    "interval": Problem(RBF(0.2), Box(1), 0.05, Teacher(RBF(0.4) + RBF(0.1, 0.3), 0.01)),
    "gaussian": Problem(RBF(0.4), Gaussian(2), 0.1, Teacher(RBF((0.2, 0.5)), 0.05)),
}


@pytest.mark.parametrize("name", [*CLOSED, *TAUGHT])
def test_test_points_agree_with_the_closed_form(name: str) -> None:
    # within 4 standard errors of the average over 30 batches of test points
    problem = (CLOSED | TAUGHT)[name]
    rng = np.random.default_rng(5)
    X = problem.inputs.draw(30, rng)
    exact = simulated(problem, X)[1:]
    batches = np.array([simulated(problem, X, at(problem.inputs.draw(200, rng)))[1:] for _ in range(30)])
    stderr = batches.std(axis=0, ddof=1) / math.sqrt(30)
    assert (abs(batches.mean(axis=0) - exact) < 4 * stderr + 1e-12).all()
    assert (stderr < 0.05 * exact).all()  # so that 4 of them mean something


# --- n = 0, n = 1, and small sets of inputs --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["circle, rbf", "torus, matern"])
def test_no_and_one_example_on_the_torus_are_the_same_for_every_data_set(name: str) -> None:
    problem = CLOSED[name]
    spectrum, noise = problem.spectrum, problem.noise
    squares = float(spectrum.measure.masses @ np.exp(spectrum.measure.log_values))
    found = learning_curve(problem, "simulation", [0, 1], datasets=5, rng=3)
    assert found.stderr is not None
    np.testing.assert_allclose(
        found.error, [spectrum.trace, spectrum.trace - squares / (spectrum.trace + noise)], rtol=1e-11
    )
    assert found.stderr[0] == 0
    assert found.stderr[1] < 1e-14


@pytest.mark.parametrize("kernel", [OU(0.5), Linear(bias=0.2), OU(0.5) + Linear()], ids=repr)
def test_discrete_inputs_against_enumeration_of_all_data_sets(kernel: Kernel) -> None:
    points, chance = np.array([[0.0], [0.3], [0.45], [1.1]]), np.array([0.1, 0.4, 0.3, 0.2])
    problem = Problem(kernel, Discrete(points, chance), 0.1)
    student, _ = priors(problem)
    average = np.zeros(4)
    for n in range(4):
        for data in itertools.product(range(4), repeat=n):
            X = points[list(data)]
            dense = chance @ (variances(student, X, points) if n else kernel.diag(points))
            assert simulated(problem, X)[n] == pytest.approx(dense, rel=1e-11)
            average[n] += np.prod(chance[list(data)]) * dense
    found = learning_curve(problem, "simulation", 3, datasets=400, rng=8)
    assert found.stderr is not None
    assert (abs(found.error - average) <= 4 * found.stderr + 1e-14).all()
    assert (found.stderr < 0.05 * average).all()
    # no test points are drawn: their number changes nothing
    few = learning_curve(problem, "simulation", 3, datasets=400, rng=8, test_points=1)
    np.testing.assert_array_equal(few.error, found.error)


# --- a teacher of its own --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TAUGHT)
def test_mismatch_is_its_formula_in_dense_matrices(name: str) -> None:
    problem = TAUGHT[name]
    student, teacher = priors(problem)
    assert teacher is not None
    assert problem.teacher is not None
    X = problem.inputs.draw(12, np.random.default_rng(6))
    same = problem.inputs.overlap(problem.kernel, problem.kernel)
    cross = problem.inputs.overlap(problem.kernel, problem.true_kernel)
    assert same is not None
    assert cross is not None
    found = simulated(problem, X)
    before = found[0]
    for n in range(1, 13):
        inverse = np.linalg.inv(student.between(X[:n]) + problem.noise * np.eye(n))
        K0 = teacher.between(X[:n]) + problem.teacher.noise * np.eye(n)
        expected = before - 2 * np.trace(inverse @ cross(X[:n]))
        expected += np.trace(inverse @ K0 @ inverse @ same(X[:n]))
        assert found[n] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", TAUGHT)
def test_mismatch_is_a_derivative_of_the_posterior_variance(name: str) -> None:
    # of the prior k + t k0 with noise s + t s0, at t = 0, by a complex step
    problem = TAUGHT[name]
    student, teacher = priors(problem)
    assert teacher is not None
    rng = np.random.default_rng(7)
    X, points = problem.inputs.draw(9, rng), problem.inputs.draw(40, rng)
    step = 1e-30j
    found = simulated(problem, X, at(points))
    for n in range(1, 10):
        K = student.between(X[:n]) + step * teacher.between(X[:n])
        K += (student.noise + step * teacher.noise) * np.eye(n)
        k = student.between(X[:n], points) + step * teacher.between(X[:n], points)
        prior = student.variances(points) + step * teacher.variances(points)
        variance = prior - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))
        assert found[n] == pytest.approx(variance.imag.mean() / step.imag, rel=1e-9)


def test_mismatch_is_what_a_student_gets_wrong() -> None:
    # teachers and noise drawn, a student of scikit-learn fitted to each: within 4 standard errors
    rng = np.random.default_rng(8)
    X, points = rng.random((10, 1)), rng.random((25, 1))
    problem = Problem(RBF(0.3), Box(1), 0.02, Teacher(Matern32(0.2, 1.5), 0.1))
    found = simulated(problem, X, at(points))
    covariance = Matern32(0.2, 1.5)(np.concatenate((X, points)))
    drawn = rng.multivariate_normal(np.zeros(35), covariance, size=6000, method="cholesky")
    noisy = drawn[:, :10] + math.sqrt(0.1) * rng.standard_normal((6000, 10))
    for n in (1, 3, 10):
        student = GaussianProcessRegressor(sk.RBF(0.3), alpha=0.02, optimizer=None).fit(X[:n], noisy[:, :n].T)
        wrong = ((student.predict(points) - drawn[:, 10:].T) ** 2).mean(axis=0)
        stderr = wrong.std(ddof=1) / math.sqrt(6000)
        assert abs(wrong.mean() - found[n]) < 4 * stderr
        assert stderr < 0.02 * found[n]


@pytest.mark.parametrize("name", CLOSED)
def test_a_teacher_who_is_what_the_student_believes_changes_nothing(name: str) -> None:
    matched = CLOSED[name]
    taught = Problem(matched.kernel, matched.inputs, matched.noise, Teacher(matched.kernel, matched.noise))
    rng = np.random.default_rng(9)
    X, points = matched.inputs.draw(25, rng), matched.inputs.draw(60, rng)
    np.testing.assert_allclose(simulated(taught, X), simulated(matched, X), rtol=1e-10)
    np.testing.assert_allclose(simulated(taught, X, at(points)), simulated(matched, X, at(points)), rtol=1e-10)


# --- errors on the training inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLOSED)
def test_training_and_empirical_errors_are_their_definitions(name: str) -> None:
    problem = CLOSED[name]
    student, _ = priors(problem)
    X = problem.inputs.draw(12, np.random.default_rng(10))
    training, empirical = training_errors(problem.noise, Factor.from_matrix(student.observe(X)), 12)
    assert np.isnan([training[0], empirical[0]]).all()
    for n in range(1, 13):
        C = student.between(X[:n])
        K = C + problem.noise * np.eye(n)
        left = np.eye(n) - C @ np.linalg.inv(K)  # y - prediction = left y, y ~ N(0, K)
        assert training[n] == pytest.approx(np.trace(left @ K @ left.T) / n, rel=1e-9)
        assert empirical[n] == pytest.approx(variances(student, X[:n], X[:n]).mean(), rel=1e-9)
        # against the clean targets: prediction - f = (C/K - 1) f + C/K noise
        clean = left @ C @ left.T + problem.noise * (np.eye(n) - left) @ (np.eye(n) - left).T
        assert empirical[n] == pytest.approx(np.trace(clean) / n, rel=1e-9)


def test_training_and_empirical_errors_come_with_the_curve() -> None:
    problem = CLOSED["circle, rbf"]
    found = learning_curve(problem, "simulation", [3, 20], datasets=4, rng=2, also=["empirical", "training"])
    np.testing.assert_allclose(found.details["training"] + found.details["empirical"], problem.noise, rtol=1e-12)
    alone = learning_curve(problem, "simulation", [20], datasets=4, rng=2, also=["training"])
    assert alone.details["training"][0] == found.details["training"][1]
    assert (found.details["training_stderr"] > 0).all()
