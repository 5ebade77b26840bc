"""Kernels: their formulae retyped, scikit-learn's kernels, Fourier transforms, and the laws that all of them obey."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import jv
from sklearn.gaussian_process import kernels as sklearn_kernels

from cases import KERNELS, parts
from gpcurves import (
    OU,
    RBF,
    ArcCosine,
    Box,
    GammaExponential,
    InputError,
    Linear,
    Matern,
    Matern32,
    Matern52,
    Polynomial,
    PowerSeries,
    Problem,
    RationalQuadratic,
)
from gpcurves.kernels import Kernel, Product, Stationary, Sum, as_kernel, is_stationary
from gpcurves.kernels import base as kernel_base
from gpcurves.kernels.sklearn import SklearnKernel
from gpcurves.kernels.stationary import line_covariance

X = np.random.default_rng(1).normal(size=(9, 2))
Y = np.random.default_rng(2).normal(size=(6, 2))


def matern(nu: Any, r: Any) -> Any:
    x = mpmath.sqrt(2 * nu) * r
    return mpmath.mpf(2) ** (1 - nu) / mpmath.gamma(nu) * x**nu * mpmath.besselk(nu, x) if r > 0 else mpmath.mpf(1)


CORRELATION: dict[type[Kernel], Callable[[Any, Any], Any]] = {
    RBF: lambda k, r: mpmath.exp(-(r**2) / 2),
    OU: lambda k, r: mpmath.exp(-r),
    Matern32: lambda k, r: (1 + mpmath.sqrt(3) * r) * mpmath.exp(-mpmath.sqrt(3) * r),
    Matern52: lambda k, r: (1 + mpmath.sqrt(5) * r + 5 * r**2 / 3) * mpmath.exp(-mpmath.sqrt(5) * r),
    Matern: lambda k, r: matern(mpmath.mpf(k.smoothness), r),
    RationalQuadratic: lambda k, r: (1 + r**2 / (2 * mpmath.mpf(k.alpha))) ** -mpmath.mpf(k.alpha),
    GammaExponential: lambda k, r: mpmath.exp(-(r ** mpmath.mpf(k.gamma))),
}
STATIONARY = {name: k for name, k in KERNELS.items() if isinstance(k, Stationary)}
MATERN_ORDERS = (0.05, 0.5, 0.99, 1.0, 1.5, 2.0, 2.5, 3.0, 4.7, 7.0, 20.0, 20.3, 50.0)
# Whole nu is a limit taken over its neighbours, which costs digits.
LOSS = [
    (k, 1e-9 if isinstance(k, Matern) and k.smoothness == round(k.smoothness) else 1e-12) for k in STATIONARY.values()
]


def naive(kernel: Kernel, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    if isinstance(kernel, Sum):
        return math.fsum(naive(part, x, y) for part in kernel.parts)
    if isinstance(kernel, Product):
        return math.prod(naive(part, x, y) for part in kernel.parts)
    if isinstance(kernel, Linear | Polynomial):
        degree = kernel.degree if isinstance(kernel, Polynomial) else 1
        return float(kernel.variance * (sum(a * b for a, b in zip(x, y, strict=True)) + kernel.bias) ** degree)
    if isinstance(kernel, PowerSeries):
        t = sum(a * b for a, b in zip(x, y, strict=True))
        return kernel.variance * math.fsum(c * float(t) ** power for power, c in enumerate(kernel.coefficients))
    if isinstance(kernel, ArcCosine):
        longer, other = [*x, math.sqrt(kernel.bias)], [*y, math.sqrt(kernel.bias)]
        lengths = math.hypot(*longer) * math.hypot(*other)
        angle = math.acos(max(-1.0, min(1.0, sum(a * b for a, b in zip(longer, other, strict=True)) / lengths)))
        rest, cosine, sine = math.pi - angle, math.cos(angle), math.sin(angle)
        shapes = (rest, sine + rest * cosine, (3 * sine * cosine + rest * (1 + 2 * cosine**2)) / 3)
        return kernel.variance * lengths**kernel.order * shapes[kernel.order] / math.pi
    if isinstance(kernel, SklearnKernel):
        inner, exponent = kernel.kernel.kernel, kernel.kernel.exponent  # a power of a rational quadratic
        base = 1 + math.dist(x, y) ** 2 / (2 * inner.alpha * inner.length_scale**2)
        return kernel.factor * float(base ** (-inner.alpha * exponent))
    assert isinstance(kernel, Stationary)
    scales = kernel.lengthscale if isinstance(kernel.lengthscale, tuple) else (kernel.lengthscale,) * len(x)
    r = math.sqrt(sum(((a - b) / s) ** 2 for a, b, s in zip(x, y, scales, strict=True)))
    return kernel.variance * float(CORRELATION[type(kernel)](kernel, mpmath.mpf(r)))


@pytest.mark.parametrize("name", KERNELS)
def test_matrix_is_the_formula_at_every_pair(name: str) -> None:
    expected = [[naive(KERNELS[name], x, y) for y in Y] for x in X]
    np.testing.assert_allclose(KERNELS[name](X, Y), expected, rtol=3e-13, atol=1e-16)


def test_every_kernel_class_is_in_the_registry() -> None:
    classes = {name for name, cls in kernel_base.Kernel.known.items() if not inspect.isabstract(cls)}
    classes -= {"DotProduct", "FeatureKernel"}  # a base class, and one that cannot be saved: it has tests of its own
    assert classes == {type(part).__name__ for kernel in KERNELS.values() for part in parts(kernel)}


@pytest.mark.parametrize("name", KERNELS)
def test_laws(name: str) -> None:
    kernel = KERNELS[name]
    np.testing.assert_allclose(kernel(X), kernel(X, X), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(kernel(X, Y), kernel(Y, X).T, rtol=1e-14)
    np.testing.assert_allclose(np.diagonal(kernel(X)), kernel.diag(X), rtol=1e-13)
    values = np.linalg.eigvalsh(kernel(X))
    assert values[0] > -1e-13 * values[-1]
    np.testing.assert_allclose(kernel.scaled(2.5)(X, Y), 2.5 * kernel(X, Y), rtol=1e-14)
    for product in (3 * kernel, kernel * 3.0, np.float64(3) * kernel, kernel * np.int64(3)):
        np.testing.assert_allclose(product(X, Y), 3 * kernel(X, Y), rtol=1e-14)
    np.testing.assert_allclose((kernel + OU())(X, Y), kernel(X, Y) + OU()(X, Y), rtol=1e-14)
    np.testing.assert_allclose((kernel * OU())(X, Y), kernel(X, Y) * OU()(X, Y), rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_saved_and_loaded_kernel_is_the_same(name: str) -> None:
    kernel = KERNELS[name]
    again = Kernel.from_dict(json.loads(json.dumps(kernel.to_dict())))
    assert type(again) is type(kernel)
    assert again == kernel
    assert repr(again) == repr(kernel)
    assert np.array_equal(again(X, Y), kernel(X, Y))


@pytest.mark.parametrize(("kernel", "accuracy"), LOSS, ids=list(STATIONARY))
def test_loss_keeps_its_digits_at_small_distances(kernel: Stationary, accuracy: float) -> None:
    distance = np.geomspace(1e-8, 30, 40)
    with mpmath.workdps(60):
        expected = [float(1 - CORRELATION[type(kernel)](kernel, mpmath.mpf(r))) for r in distance.tolist()]
    np.testing.assert_allclose(kernel.loss(distance), expected, rtol=accuracy)
    assert kernel.loss(np.zeros(1))[0] == 0


@pytest.mark.parametrize("nu", MATERN_ORDERS)
def test_matern_of_any_order(nu: float) -> None:
    kernel = Matern(smoothness=nu)
    distance = np.array([1e-8, 1e-6, 1e-4, 7e-4, 0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 7.0])
    with mpmath.workdps(40):
        expected = [matern(mpmath.mpf(nu), mpmath.mpf(r)) for r in distance.tolist()]
        loss = [float(1 - value) for value in expected]
    np.testing.assert_allclose(kernel.correlation(distance), [float(value) for value in expected], rtol=2e-12)
    np.testing.assert_allclose(kernel.loss(distance), loss, rtol=1e-8)


def test_line_covariance_of_sums_and_products_has_no_cancellation() -> None:
    kernel = (RBF(0.3, 0.5) + OU(0.9)) * Matern52(1.1, 2.0) * RBF(0.2)
    distance = np.geomspace(1e-8, 2, 15)
    value, loss, origin = line_covariance(kernel, distance)
    with mpmath.workdps(50):

        def exact(a: float) -> Any:
            r = mpmath.mpf(a)
            first = CORRELATION[RBF](None, r / mpmath.mpf(0.3)) / 2 + CORRELATION[OU](None, r / mpmath.mpf(0.9))
            second = 2 * CORRELATION[Matern52](None, r / mpmath.mpf(1.1))
            return first * second * CORRELATION[RBF](None, r / mpmath.mpf(0.2))

        np.testing.assert_allclose(value, [float(exact(a)) for a in distance.tolist()], rtol=1e-13)
        np.testing.assert_allclose(loss, [float(3 - exact(a)) for a in distance.tolist()], rtol=1e-13)
    assert origin == 3.0


def radial_transform(correlation: Callable[[Any], Any], s: float, dim: int) -> float:
    """Integrate over shells: 2 ∫ cos, 2π ∫ r J_0, (2/s) ∫ r sin, with composite Gauss-Legendre to r = 300."""
    x, w = np.polynomial.legendre.leggauss(24)
    edges = np.concatenate(
        ([0.0], np.geomspace(1e-12, 0.05, 60), np.arange(0.1, 20.0, 0.1), np.arange(20.0, 300.0, 0.5))
    )
    half = np.diff(edges)[:, None] / 2
    r = ((edges[1:] + edges[:-1])[:, None] / 2 + half * x).ravel()
    weight = (half * w).ravel() * correlation(r)
    k = 2 * math.pi * s
    if dim == 1:
        return float(2 * weight @ np.cos(k * r))
    if dim == 2:
        return float(2 * math.pi * weight @ (r * jv(0, k * r)))
    return float(4 * math.pi * weight @ (r * r * np.sinc(2 * s * r)))


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize(
    "kernel",
    [
        RBF(),
        OU(),
        Matern32(),
        Matern52(),
        Matern(smoothness=0.8),
        Matern(smoothness=1),
        Matern(smoothness=3.3),
        RationalQuadratic(alpha=7),
        GammaExponential(gamma=1),
        GammaExponential(gamma=2),
    ],
    ids=repr,
)
def test_fourier_transform_is_the_radial_integral(kernel: Stationary, dim: int) -> None:
    frequency = [0.0, 0.01, 0.2, 0.5, 0.7]
    log_transform = kernel.log_transform(np.square(frequency), dim)
    assert log_transform is not None
    expected = [radial_transform(kernel.correlation, s, dim) for s in frequency]
    np.testing.assert_allclose(np.exp(log_transform), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "dim"),
    [(0.7, 1), (1.2, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1.5, 1), (2.0, 3), (40.0, 3)))],
)
def test_rational_quadratic_transform_is_a_mixture_of_gaussians(alpha: float, dim: int) -> None:
    # (1 + r^2/2a)^-a = E exp(-t r^2/2a), t ~ Gamma(a): the transform is the same mixture of transforms
    frequency = [0.0, 1e-6, 1e-3, 0.3, 2.0]
    with mpmath.workdps(30):
        a = mpmath.mpf(alpha)
        expected = [
            mpmath.quad(
                lambda t, z=s * s: (
                    t ** (a - 1)
                    * mpmath.exp(-t - 2 * mpmath.pi**2 * z * a / t)
                    * (2 * mpmath.pi * a / t) ** (mpmath.mpf(dim) / 2)
                ),
                [0, *(mpmath.mpf(10) ** k for k in range(-14, 1)), 3, 10, 20, 40, 70, 100, 150, mpmath.inf],
            )
            / mpmath.gamma(a)
            for s in frequency
        ]
    log_transform = RationalQuadratic(alpha=alpha).log_transform(np.square(frequency), dim)
    assert log_transform is not None
    np.testing.assert_allclose(np.exp(log_transform), [float(value) for value in expected], rtol=1e-9)


def test_kernels_without_a_transform_say_so() -> None:
    assert RationalQuadratic(alpha=1).log_transform(np.ones(1), 2) is None
    assert GammaExponential(gamma=1.5).log_transform(np.ones(1), 1) is None


SKLEARN: list[tuple[Any, Kernel]] = [
    (sklearn_kernels.RBF(0.7), RBF(0.7)),
    (sklearn_kernels.RBF([0.7, 0.2]), RBF((0.7, 0.2))),
    (sklearn_kernels.Matern(0.7, nu=0.5), OU(0.7)),
    (sklearn_kernels.Matern(0.7, nu=1.5), Matern32(0.7)),
    (sklearn_kernels.Matern(0.7, nu=2.5), Matern52(0.7)),
    (sklearn_kernels.Matern(0.7, nu=3.1), Matern(0.7, smoothness=3.1)),
    (sklearn_kernels.Matern(0.7, nu=np.inf), RBF(0.7)),
    (sklearn_kernels.RationalQuadratic(0.7, 1.9), RationalQuadratic(0.7, alpha=1.9)),
    (sklearn_kernels.DotProduct(1.3), Linear(bias=1.3**2)),
    (3.0 * sklearn_kernels.RBF(0.7), RBF(0.7, 3.0)),
    (sklearn_kernels.RBF(0.7) * 3.0, RBF(0.7, 3.0)),
    (sklearn_kernels.RBF(0.7) + 2.0 * sklearn_kernels.Matern(1.0), RBF(0.7) + Matern32(1.0, 2.0)),
    (sklearn_kernels.RBF(0.7) * sklearn_kernels.DotProduct(0.0), RBF(0.7) * Linear()),
]


@pytest.mark.parametrize(("theirs", "ours"), SKLEARN, ids=[repr(theirs) for theirs, _ in SKLEARN])
def test_scikit_learn_kernels_become_ours_with_the_same_values(theirs: Any, ours: Kernel) -> None:
    assert as_kernel(theirs) == ours
    np.testing.assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(ours.diag(X), theirs.diag(X), rtol=1e-13)


@pytest.mark.parametrize(
    "theirs",
    [
        sklearn_kernels.ExpSineSquared(),
        sklearn_kernels.RBF(0.7) ** 2,
        sklearn_kernels.ConstantKernel(2.0),
        sklearn_kernels.ConstantKernel(2.0) + sklearn_kernels.RBF(),
    ],
    ids=repr,
)
def test_scikit_learn_kernels_without_counterpart_are_wrapped(theirs: Any) -> None:
    kernel = as_kernel(theirs)
    assert not is_stationary(kernel)
    np.testing.assert_allclose(kernel(X, Y), theirs(X, Y), rtol=1e-14)
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel
    assert Problem(theirs, Box(2), 0.1).kernel == kernel


def test_white_kernel_is_refused() -> None:
    with pytest.raises(InputError, match="give it as the noise of the problem"):
        as_kernel(sklearn_kernels.RBF() + sklearn_kernels.WhiteKernel())


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: RBF(0), "lengthscale must be greater than 0, got 0"),
    (lambda: RBF(-1.0), "lengthscale must be greater than 0, got -1"),
    (lambda: RBF("long"), "lengthscale must be a number, got 'long'"),  # type: ignore[arg-type]
    (lambda: RBF(()), "lengthscale must not be empty"),
    (lambda: RBF((1.0, -2.0)), "lengthscale must be greater than 0, got -2"),
    (lambda: RBF(True), "lengthscale must be a number, got True"),
    (lambda: OU(math.nan), "lengthscale must be finite, got nan"),
    (lambda: OU(1.0, math.inf), "variance must be finite, got inf"),
    (lambda: OU(1.0, 0.0), "variance must be greater than 0, got 0"),
    (lambda: OU(1.0, 1e-320), "variance must be at least 2.23e-308, below which precision is lost, got 9.99"),
    (lambda: Matern(smoothness=0), "smoothness must be greater than 0, got 0"),
    (lambda: Matern(smoothness=51), "smoothness must be at most 50, got 51: from there on use RBF, its limit"),
    (lambda: RationalQuadratic(alpha=-1), "alpha must be greater than 0, got -1"),
    (lambda: GammaExponential(gamma=2.1), "gamma must be at most 2, got 2.1"),
    (lambda: Linear(bias=-0.1), "bias must be at least 0, got -0.1"),
    (lambda: Polynomial(degree=0), "degree must be an integer, at least 1, got 0"),
    (lambda: Polynomial(degree=1.5), "degree must be an integer, at least 1, got 1.5"),  # type: ignore[arg-type]
    (lambda: RBF() * -2, "the factor of a kernel must be greater than 0, got -2"),
    (lambda: RBF() + 1, "a kernel must be one of gpcurves or of scikit-learn, got 1"),
    (lambda: RBF((1.0, 2.0)) + OU((1.0, 2.0, 3.0)), r"must agree on the input dimension, got \[2, 3\]"),
    (lambda: Kernel.from_dict({"type": "RFB"}), "unknown kernel 'RFB'"),
]


@pytest.mark.parametrize(("build", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_parameters_are_refused_in_a_sentence(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match=f"{sentence}"):
        build()
