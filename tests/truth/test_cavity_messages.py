"""Messages: elimination, local matrices of every kernel, and exactness on trees against dense algebra."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs import (
    DiffusionKernel,
    Graph,
    MaternGraphKernel,
    PolynomialWalkKernel,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
)
from gpcurves.graphs.vertex_model import VertexModel, pack, sum_of_squares
from gpcurves.methods.cavity.beliefs import links_of, prior_variances, propagate
from gpcurves.methods.cavity.messages import PITCH, eliminate
from graphs_oracle import (
    Function,
    by_eigenvalue,
    complex_messages,
    dense_kernel,
    dense_posterior,
    diffusion,
    links,
    polynomial,
    random_forest,
    random_walk,
    regularised_laplacian,
    transition,
)


def walk_function(p: int, a: float) -> Function:
    return lambda x: (1 - 1 / a + x / a) ** p


def matern_function(scale: float, nu: float) -> Function:
    return lambda x: (1 + scale**2 / nu * (1 - x)) ** -nu


KERNELS: dict[str, tuple[Callable[[], VertexModel], Function]] = {
    "walk 0": (lambda: random_walk(0, 2), walk_function(0, 2)),
    "walk 1": (lambda: random_walk(1, 2.3), walk_function(1, 2.3)),
    "walk 2": (lambda: random_walk(2, 2), walk_function(2, 2)),
    "walk 3": (lambda: random_walk(3, 2.1), walk_function(3, 2.1)),
    "walk 4": (lambda: random_walk(4, 3), walk_function(4, 3)),
    "walk 7": (lambda: random_walk(7, 2), walk_function(7, 2)),
    "walk 10": (lambda: random_walk(10, 2.1), walk_function(10, 2.1)),
    "diffusion 1": (lambda: diffusion(1.0, 1e-13), lambda x: np.exp(-0.5 * (1 - x))),
    "diffusion 3": (lambda: diffusion(3.0, 1e-13), lambda x: np.exp(-4.5 * (1 - x))),
    "laplacian": (lambda: regularised_laplacian(1.7), lambda x: 1 / (1 + 1.7**2 * (1 - x))),
    "matern 2": (lambda: MaternGraphKernel(1.7, 2).vertex_model(), matern_function(1.7, 2)),
    "matern 3": (lambda: MaternGraphKernel(2.1, 3).vertex_model(), matern_function(2.1, 3)),
    "matern 4": (lambda: MaternGraphKernel(8.0, 4).vertex_model(), matern_function(8.0, 4)),
    "matern 7": (lambda: MaternGraphKernel(3.0, 7).vertex_model(), matern_function(3.0, 7)),
    "matern 5/2": (lambda: MaternGraphKernel(1.3, 2.5).vertex_model(), matern_function(1.3, 2.5)),
    "constant": (lambda: polynomial(0.7), lambda x: 0.7 + 0 * x),
    "linear": (lambda: polynomial(1.0, -0.9), lambda x: 1 - 0.9 * x),
    "even": (lambda: polynomial(1.0, 0.0, -0.9), lambda x: 1 - 0.9 * x**2),
    "quintic": (
        lambda: polynomial(1.0, 0.2, 0.1, -0.3, 0.05, 0.4),
        lambda x: 1 + 0.2 * x + 0.1 * x**2 - 0.3 * x**3 + 0.05 * x**4 + 0.4 * x**5,
    ),
    "walk, by its eigenvalues": (lambda: by_eigenvalue(RandomWalkKernel(7, 2)).vertex_model(), walk_function(7, 2)),
    "long walk, by its eigenvalues": (
        lambda: by_eigenvalue(RandomWalkKernel(40, 2.5)).vertex_model(),
        walk_function(40, 2.5),
    ),
    "diffusion, by its eigenvalues": (
        lambda: by_eigenvalue(DiffusionKernel(3.0)).vertex_model(),
        lambda x: np.exp(-4.5 * (1 - x)),
    ),
    "laplacian, by its eigenvalues": (
        lambda: by_eigenvalue(RegularisedLaplacianKernel(1.7)).vertex_model(),
        lambda x: 1 / (1 + 1.7**2 * (1 - x)),
    ),
    "constant, by its eigenvalues": (
        lambda: by_eigenvalue(RandomWalkKernel(0)).vertex_model(),
        lambda x: 1 + 0 * x,
    ),
    "touching zero, by its eigenvalues": (
        lambda: by_eigenvalue(PolynomialWalkKernel((0.09, -0.6, 1.0))).vertex_model(),
        lambda x: (x - 0.3) ** 2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 10])
def test_sweep_and_elimination_against_inverses(size: int) -> None:
    rng = np.random.default_rng(size)
    leading = 1 - size % 2
    lanes, rows = 5, size + 1
    local = np.zeros((size, size))
    local[np.tril_indices(size)] = random_walk(size, 2.3).local
    batch = np.zeros((rows * (rows + 1) // 2, PITCH))
    matrices, linear = np.zeros((lanes, size, size)), rng.normal(size=(lanes, size))
    for t in range(lanes):
        lower = 3 * local + np.tril(rng.uniform(-0.1, 0.1, (size, size)))
        matrices[t] = lower + np.tril(lower, -1).T
        batch[: size * (size + 1) // 2, t] = pack(matrices[t])
        batch[size * (size + 1) // 2 : -1, t] = linear[t]
    forwards = batch.copy()
    column, solved = np.empty((2 * rows + 4, PITCH)), np.empty((2 * rows + 8, PITCH))
    eliminate(batch, rows, size, leading, lanes, column, solved, True)
    eliminate(forwards, rows, size, leading, lanes, column, solved, False)
    corner = size * (size + 1) // 2 - 1
    for t in range(lanes):
        whole, b = matrices[t], linear[t]
        inverse = np.linalg.inv(whole[:-1, :-1])
        c = inverse @ whole[:-1, -1]
        pivot, last = whole[-1, -1] - whole[-1, :-1] @ c, b[-1] - c @ b[:-1]
        np.testing.assert_allclose(batch[: corner + 1 - size, t], -pack(inverse), rtol=0, atol=1e-13)
        np.testing.assert_allclose(batch[corner + 1 - size : corner, t], c, rtol=0, atol=1e-13)
        np.testing.assert_allclose(batch[corner + 1 : -2, t], inverse @ b[:-1], rtol=0, atol=1e-13)
        for result in (batch, forwards):
            np.testing.assert_allclose([result[corner, t], result[-2, t]], [pivot, last], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32),
    vertices=st.integers(1, 40),
    cut=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
    noise=st.sampled_from([1.0, 0.1, 1e-2, 1e-3]),
    nu=st.sampled_from([0.2, 1.0, 4.0]),
    local=st.booleans(),
)
def test_exact_on_forests(
    name: str, seed: int, vertices: int, cut: float, weighted: bool, noise: float, nu: float, local: bool
) -> None:
    make, function = KERNELS[name]
    model, rng = make(), np.random.default_rng(seed)
    A = random_forest(vertices, rng, cut, weighted)
    counts = rng.poisson(nu, vertices).astype(float)
    targets = rng.normal(size=vertices)
    C = dense_kernel(A, function)
    kappa = np.diag(C).copy() if local else np.full(vertices, np.diag(C).mean())
    graph = links(A)
    off = 0.0 if model.walk is not None else 1.01 * model.kernel_error
    np.testing.assert_allclose(prior_variances(graph, model), np.diag(C), rtol=1e-11, atol=off)
    C = C / np.sqrt(np.outer(kappa, kappa))
    variance, mean = dense_posterior(C, counts, noise, targets)
    got = propagate(graph, model, counts, noise, kappa, np.where(counts > 0, targets, np.nan), tolerance=1e-13)
    # a change dC changes variances by R dC R' and means by R dC Γ(y - m), with R = (1 + C Γ)^-1, Γ = counts / noise
    response = np.linalg.inv(np.eye(vertices) + C * (counts / noise))
    off = 1.01 * model.kernel_error / kappa.min() * (response**2).sum(axis=1)
    assert (abs(got.variance - variance) <= 1e-13 + 1e-10 * variance + off).all()
    assert got.mean is not None
    pull = np.linalg.norm(counts / noise * (targets - mean))
    allowed = 1e-10 * max(1, abs(mean).max()) / noise**0.5
    off = 1.01 * model.kernel_error / kappa.min() * np.linalg.norm(response, axis=1) * pull
    assert (abs(got.mean - mean) <= allowed + off).all()


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1.0, 1e-4, 1e-8])
@pytest.mark.parametrize("a", [2.0, 2.1, 2.3])
@pytest.mark.parametrize("p", [20, 41, 60])
def test_long_walks_keep_their_digits(p: int, a: float, noise: float) -> None:
    rng = np.random.default_rng(p)
    A = random_forest(40, rng, weighted=True)
    counts = rng.poisson(1.0, 40).astype(float)
    C = dense_kernel(A, walk_function(p, a))
    kappa = np.diag(C).copy()
    exact, _ = dense_posterior(C / np.sqrt(np.outer(kappa, kappa)), counts, noise)
    got = propagate(links(A), random_walk(p, a), counts, noise, kappa)
    assert got.converged
    np.testing.assert_allclose(got.variance, exact, rtol=0, atol=1e-10)  # prior variances are 1


@pytest.mark.parametrize("p", [5, 10])
def test_relative_accuracy_at_tiny_noise(p: int) -> None:
    """Dense algebra in double precision cannot tell: 40 digits can."""
    rng = np.random.default_rng(p)
    vertices, noise = 14, 1e-8
    A = random_forest(vertices, rng)
    counts = rng.poisson(1.0, vertices).astype(float)
    with mpmath.workdps(40):
        d = [mpmath.mpf(x) for x in A.sum(axis=0)]
        S = mpmath.matrix(vertices, vertices)
        for i in range(vertices):
            for j in range(vertices):
                S[i, j] = A[i, j] / (2 * mpmath.sqrt(d[i] * d[j])) + (mpmath.mpf("0.5") if i == j else 0)
        C = S**p / mpmath.mpf("0.1")
        seen = [i for i in range(vertices) if counts[i]]
        K = mpmath.matrix(len(seen), len(seen))
        cross = mpmath.matrix(len(seen), vertices)
        for r, i in enumerate(seen):
            for s, j in enumerate(seen):
                K[r, s] = C[i, j] + (mpmath.mpf(noise) / counts[i] if i == j else 0)
            for j in range(vertices):
                cross[r, j] = C[i, j]
        W = mpmath.inverse(K) * cross
        exact = [float(C[j, j] - sum(cross[r, j] * W[r, j] for r in range(len(seen)))) for j in range(vertices)]
    got = propagate(links(A), random_walk(p, 2), counts, noise, 0.1)
    np.testing.assert_allclose(got.variance, exact, rtol=1e-10)


@pytest.mark.parametrize("p", [1, 2, 5, 8])
def test_complex_messages_of_the_paper(p: int) -> None:
    rng = np.random.default_rng(p)
    A = random_forest(12, rng)
    counts = rng.poisson(1.0, 12).astype(float)
    model = random_walk(p, 2)
    assert model.walk is not None
    paper = complex_messages(A, model.walk, counts, 0.1, 0.2)
    np.testing.assert_allclose(propagate(links(A), model, counts, 0.1, 0.2).variance, paper, rtol=1e-8)


def test_hub() -> None:
    """A star has rank two beside the identity, so ten thousand leaves are no trouble for algebra."""
    leaves, p, noise, kappa = 10_000, 10, 1e-3, 0.01
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, leaves + 1).astype(float)
    targets = rng.normal(size=leaves + 1)
    graph = links_of(Graph.from_edges([(0, k) for k in range(1, leaves + 1)]))
    got = propagate(graph, random_walk(p, 2), counts, noise, kappa, targets)
    U = np.zeros((leaves + 1, 2))
    U[0, 0], U[1:, 1] = 1.0, leaves**-0.5
    alpha = 0.5**p / kappa  # f = U b + noise of variance alpha, b with covariance B
    B = np.full((2, 2), 0.5) / kappa - alpha * np.eye(2)
    seen = counts > 0
    precision = np.divide(1.0, alpha + noise / np.where(seen, counts, 1), out=np.zeros(leaves + 1), where=seen)
    total = (U.T * precision) @ U
    cavity = np.empty(leaves + 1)
    for i in range(leaves + 1):
        others = total - precision[i] * np.outer(U[i], U[i])
        cavity[i] = alpha + U[i] @ np.linalg.solve(np.eye(2) + B @ others, B @ U[i])
    np.testing.assert_allclose(got.cavity_variance, cavity, rtol=1e-11)
    b = np.linalg.solve(np.eye(2) + B @ total, B @ (U.T @ (precision * targets)))
    mean = U @ b + alpha * precision * (targets - U @ b)
    assert got.mean is not None
    np.testing.assert_allclose(got.mean, mean, rtol=0, atol=1e-11 * np.abs(mean).max())
    assert got.rounds <= 4


@pytest.mark.parametrize("p", [3, 4, 9, 10])
def test_a_walk_as_a_general_polynomial(p: int) -> None:
    """Two formulations of one kernel agree up to the stated error."""
    rng = np.random.default_rng(p)
    graph = links(random_forest(30, rng))
    counts = rng.poisson(1.0, 30)
    walk = random_walk(p, 2.1)
    assert walk.walk is not None
    general = polynomial(*walk.walk)
    kappa = prior_variances(graph, walk)
    one, two = (propagate(graph, model, counts, 0.1, kappa).variance for model in (walk, general))
    np.testing.assert_allclose(one, two, rtol=10 * general.kernel_error / (0.1 * kappa.min()))


@given(
    roots=st.lists(st.tuples(st.floats(-1, 1), st.integers(1, 2)), max_size=3),
    linear=st.sampled_from([(1.0, 0.0), (0.5, 0.5), (0.5, -0.5), (0.6, 0.2)]),
    lift=st.sampled_from([0.0, 1e-3]),
)
def test_sum_of_squares(roots: list[tuple[float, int]], linear: tuple[float, float], lift: float) -> None:
    coefficients = np.array(linear)
    for root, power in roots:
        for _ in range(power):
            coefficients = np.polynomial.polynomial.polymul(coefficients, [root**2, -2 * root, 1.0])
    coefficients = np.trim_zeros(coefficients, "b")
    coefficients[0] += lift
    assume(len(coefficients) > 1)
    plus, minus, error = sum_of_squares(tuple(np.polynomial.chebyshev.poly2cheb(coefficients).tolist()))
    x = np.linspace(-1, 1, 333)
    value = np.polynomial.chebyshev.chebval
    squares = (1 + x) * value(x, plus) ** 2 + (1 - x) * value(x, minus) ** 2
    exact = np.polynomial.polynomial.polyval(x, coefficients)
    np.testing.assert_allclose(squares, exact, rtol=0, atol=1e-9 * np.abs(exact).max())
    assert error <= 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize(("scale", "tolerance"), [(0.5, 1e-6), (2.2, 1e-8), (2.2, 1e-12), (6.0, 1e-10)])
def test_diffusion_keeps_its_tolerance(scale: float, tolerance: float) -> None:
    model = diffusion(scale, tolerance)
    A = random_forest(25, np.random.default_rng(1))
    exact = np.diag(dense_kernel(A, lambda x: np.exp(-0.5 * scale**2 * (1 - x))))
    got = propagate(links(A), model, np.zeros(25), 1.0).variance
    assert model.kernel_error <= tolerance
    assert np.abs(got - exact).max() <= model.kernel_error + 1e-14


def test_isolated_vertices_keep_the_weight_of_staying() -> None:
    graph = links(np.zeros((3, 3)))
    result = propagate(graph, random_walk(10, 2), [0, 1, 5], 0.1, 0.5**10)
    np.testing.assert_allclose(result.variance, [1, 1 / 11, 1 / 51])
    assert result.converged
    assert transition(np.zeros((2, 2))).sum() == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: random_walk(401, 2), "walks of at most 400 steps, got 401"),
        (lambda: polynomial(*np.ones(397)), "polynomials of degree 395 at most, got 396"),
        (lambda: diffusion(35.0), "messages for the scale 35 need more than 100 powers"),
        (lambda: diffusion(1.0, 1e-20), "tolerance must be at least"),
        (lambda: sum_of_squares((0.0, 1.0)), "must not be negative on"),
    ],
)
def test_bad_kernels(make: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_messages_of_matern_kernels_are_as_small_as_they_can_be() -> None:
    for nu in range(1, 9):
        model = MaternGraphKernel(5.0, nu).vertex_model()
        assert model.size == nu + 1
        assert model.kernel_error == 0
    with pytest.raises(
        NotApplicableError, match=r"of degree 395 at most, got \d+; an integer smoothness needs far fewer"
    ):
        MaternGraphKernel(100.0, 1.5).vertex_model()
