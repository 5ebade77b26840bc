"""Very different lengthscales, and very long ones, on the torus: against plain sums over images and wave vectors."""

from __future__ import annotations

import itertools
import math
import time

import mpmath
import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.inputs.torus import periodised_matrix
from gpcurves.kernels import Stationary


def lattice(dim: int, reach: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return all integer vectors with components up to ``reach``, one per column."""
    axes = [np.arange(-reach, reach + 1.0)] * dim
    return np.stack(np.meshgrid(*axes, indexing="ij")).reshape(dim, -1)


def image_sum(kernel: Stationary, dim: int, reach: int) -> float:
    scaled = lattice(dim, reach) / kernel.lengthscales(dim)[:, None]
    return kernel.variance * math.fsum(kernel.correlation(np.sqrt((scaled**2).sum(axis=0))).tolist())


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        gpc.Matern52((0.2, 0.3, 0.4, 0.5)),
        pytest.param(gpc.Matern32((0.2, 0.25, 0.3, 0.35)), marks=pytest.mark.slow),
        gpc.OU((0.1, 0.12, 0.14, 0.16)),
        pytest.param(gpc.RBF((0.05, 0.06, 0.07, 0.08)), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_the_trace_with_four_lengthscales_is_the_sum_over_images(kernel: Stationary) -> None:
    trace = gpc.Problem(kernel, gpc.Torus(4), 0.1).spectrum.trace
    assert trace == pytest.approx(image_sum(kernel, 4, 9), rel=1e-11)


@pytest.mark.parametrize(
    "kernel",
    [gpc.Matern52((0.02, 1.0)), gpc.OU((0.02, 0.5)), gpc.Matern32((0.05, 0.5)), gpc.OU((0.1, 0.4)), gpc.OU(0.1)],
    ids=repr,
)
def test_the_periodised_matrix_is_the_sum_over_images(kernel: Stationary) -> None:
    X = np.random.default_rng(0).random((40, 2))
    images = itertools.product(range(-25, 26), repeat=2)
    brute = sum(kernel(X, X + np.array(image, dtype=np.float64)) for image in images)
    np.testing.assert_allclose(periodised_matrix(kernel, X), brute, rtol=0, atol=1e-13)
    np.testing.assert_allclose(periodised_matrix(kernel, X[:7], X), brute[:7], rtol=0, atol=1e-13)  # type: ignore[index]


@pytest.mark.parametrize("kernel", [gpc.RBF((0.999, 1.0)), gpc.RBF((0.1, 3.0)), gpc.RBF(1.2, 0.5)], ids=repr)
def test_waves_of_a_long_rbf_are_the_sum_over_images(kernel: Stationary) -> None:
    X = np.random.default_rng(1).random((30, 2))
    images = itertools.product(range(-27, 28), repeat=2)
    brute = sum(kernel(X, X + np.array(image, dtype=np.float64)) for image in images)
    np.testing.assert_allclose(periodised_matrix(kernel, X), brute, rtol=1e-13)


@pytest.mark.parametrize("lengthscale", [1e3, 1e9, 1e50])
def test_the_longest_rbf_is_constant_and_quick(lengthscale: float) -> None:
    X = np.random.default_rng(2).random((300, 1))
    matrix = periodised_matrix(gpc.RBF(lengthscale), X)
    np.testing.assert_allclose(matrix, lengthscale * math.sqrt(2 * math.pi), rtol=1e-15)


@pytest.mark.parametrize(
    "kernel", [gpc.OU(1e9), gpc.Matern32(1e5), gpc.Matern(1e9, smoothness=0.8), gpc.RationalQuadratic(0.1)], ids=repr
)
def test_images_that_do_not_die_out_are_refused_at_once(kernel: Stationary) -> None:
    start = time.process_time()
    with pytest.raises(
        gpc.NumericalError, match="1 dimensions do not die out within 100000: use a shorter lengthscale"
    ):
        periodised_matrix(kernel, np.zeros((1, 1)))
    assert time.process_time() - start < 1


def test_many_images_on_the_circle_are_summed() -> None:
    # the images of exp(-a/l) are a geometric series: cosh((1/2 - a)/l) / sinh(1/2l)
    X = np.array([[0.0], [0.1], [0.5]])
    expected = np.cosh((0.5 - X[:, 0]) / 2e3) / np.sinh(1 / 4e3)
    np.testing.assert_allclose(periodised_matrix(gpc.OU(2e3), X[:1], X)[0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "dim", "waves", "images"),
    [(gpc.Matern32((0.5, 0.1)), 2, 300, 60), (gpc.Matern52((0.2, 0.3, 0.25)), 3, 60, 25)],
    ids=repr,
)
def test_sums_in_order_with_several_lengthscales(kernel: Stationary, dim: int, waves: int, images: int) -> None:
    scales = kernel.lengthscales(dim)
    log_transform = kernel.log_transform(((scales[:, None] * lattice(dim, waves)) ** 2).sum(axis=0), dim)
    assert log_transform is not None
    values = np.sort(np.exp(np.log(scales).sum() + log_transform))[::-1]
    trace = image_sum(kernel, dim, images)
    n = np.array([1, 10, 100, 1000])
    expected = [trace - math.fsum(values[:k].tolist()) for k in n.tolist()]
    found = gpc.learning_curve(gpc.Problem(kernel, gpc.Torus(dim), 0.1), "mw", n).error
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("lengthscale", "n"), [(0.5, 1), (0.5, 1000), (1.0, 10), (2.0, 1), (2.0, 1000)])
def test_williams_vivarelli_at_long_lengthscales(lengthscale: float, n: int) -> None:
    """Without noise: the mean of C(0)^2 - C(a)^2 over 2n (1 - 2a)^(n-1), divided by C(0), with Fourier's series."""
    found = gpc.learning_curve(gpc.Problem(gpc.RBF(lengthscale), gpc.Torus(1), 0.0), "wv", [n]).error[0]
    with mpmath.workdps(60):
        scale = mpmath.mpf(lengthscale)
        waves = [mpmath.sqrt(2 * mpmath.pi) * scale * mpmath.exp(-2 * (mpmath.pi * scale * q) ** 2) for q in range(12)]
        origin = waves[0] + 2 * mpmath.fsum(waves[1:])

        def missed(a: mpmath.mpf) -> mpmath.mpf:
            loss = mpmath.fsum(4 * w * mpmath.sin(mpmath.pi * q * a) ** 2 for q, w in enumerate(waves))
            return 2 * n * (1 - 2 * a) ** (n - 1) * loss * (2 * origin - loss)

        edges = [0, mpmath.mpf(1) / (4 * n), mpmath.mpf(2) / (5 * n), mpmath.mpf(1) / 2]
        if n > 5:
            edges = [0, *(mpmath.mpf(k) / (2 * n) for k in (1, 3, 8, 20, 50) if k < n), mpmath.mpf(1) / 2]
        expected = mpmath.quad(missed, edges) / origin
    assert found == pytest.approx(float(expected), rel=1e-10)
