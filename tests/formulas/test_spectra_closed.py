"""Spectra in closed form, against lattices summed by brute force, periodic images, explicit products and integrals."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from cases import g, smooth_sum
from gpcurves import OU, RBF, GammaExponential, Gaussian, Matern, Matern32, Matern52, RationalQuadratic, Spectrum, Torus
from gpcurves.inputs.torus import periodised_matrix
from gpcurves.kernels import Kernel, Product, Stationary, Sum
from gpcurves.numerics.validation import FloatArray

LARGE_H = np.geomspace(1e-3, 1e12, 16).tolist()


def transform(kernel: Kernel, q: FloatArray) -> FloatArray:
    """Return the eigenvalue of each row of integers: the Fourier transform of the kernel at that frequency."""
    if isinstance(kernel, Sum):
        return np.asarray(np.sum([transform(part, q) for part in kernel.parts], axis=0))
    if isinstance(kernel, Product):  # of two RBFs: precisions add
        first, second = kernel.parts
        assert isinstance(first, RBF)
        assert isinstance(second, RBF)
        scales = [(a**-2 + b**-2) ** -0.5 for a, b in zip(first.lengthscales(2), second.lengthscales(2), strict=True)]
        return transform(RBF(tuple(scales), first.variance * second.variance), q)
    assert isinstance(kernel, Stationary)
    dim = q.shape[1]
    scale = kernel.lengthscales(dim)
    logs = kernel.log_transform(np.square(q * scale).sum(axis=1), dim)
    assert logs is not None
    return np.asarray(kernel.variance * np.prod(scale) * np.exp(logs))


def lattice(dim: int, largest: int) -> FloatArray:
    return np.array(list(itertools.product(range(-largest, largest + 1), repeat=dim)), dtype=np.float64)


@pytest.mark.parametrize(
    ("kernel", "dim", "largest"),
    [
        (RBF(0.1, 2.0), 1, 30),
        (RBF(0.2), 2, 12),
        (RBF((0.2, 0.31)), 2, 12),
        (RBF(0.3), 3, 8),
        (RBF((0.3, 0.3, 0.5)), 3, 8),
        (RBF((0.2, 0.4)) * RBF(0.9, 3.0), 2, 12),
        (RBF((0.3, 0.6)) + RBF((0.2, 0.4), 0.1), 2, 14),
        (GammaExponential(0.3, gamma=2), 2, 12),
        (RationalQuadratic(0.4, alpha=3.0), 1, 60),
        (RationalQuadratic(0.4, alpha=3.0), 2, 60),
        (Matern(0.5, smoothness=30), 2, 200),
    ],
    ids=repr,
)
def test_smooth_kernels_on_the_torus_are_lattice_sums(kernel: Kernel, dim: int, largest: int) -> None:
    spectrum = Torus(dim).spectrum(kernel)
    values = np.sort(transform(kernel, lattice(dim, largest)))[::-1]
    for h in [0.0, *LARGE_H[:8]]:
        np.testing.assert_allclose(g(spectrum, h), math.fsum(values / (1 + h * values)), rtol=1e-11)
    for h in (1.0, 1e4, 1e8):
        logs = smooth_sum(spectrum, lambda value, h=h: np.log1p(h * value) / value)  # type: ignore[misc]
        np.testing.assert_allclose(
            logs, math.fsum(np.log1p(h * values)), rtol=1e-6 if isinstance(kernel, Matern) else 1e-11
        )
    for count in (0, 1, 2, 2.5, 7, 40):
        whole, part = int(count), count - int(count)
        beyond = math.fsum(values[whole:]) - part * values[whole]
        roots = math.fsum(np.sqrt(values[:whole])) + part * math.sqrt(values[whole])
        np.testing.assert_allclose(spectrum.beyond(np.array([float(count)]))[0], beyond, rtol=1e-11)
        np.testing.assert_allclose(spectrum.root_sum(np.array([float(count)]))[0], roots, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        (OU(0.2), 1),
        (OU(0.01), 1),
        (OU(0.2), 2),
        (OU((0.2, 0.33)), 2),
        (OU(0.2), 3),
        (OU((0.15, 0.2, 0.1)), 3),
        (Matern32(0.2), 1),
        (Matern32(0.2), 2),
        (Matern32(0.2), 3),
        (Matern52((0.2, 0.2, 0.1)), 3),
        (Matern(0.2, smoothness=0.8), 2),
        (Matern(0.15, smoothness=0.3), 1),
        (Matern(0.15, smoothness=0.3), 3),
        (GammaExponential(0.2, gamma=1), 2),
        (RBF(0.1) + OU(0.2, 0.3), 2),
        (RBF((0.1, 0.2)) + Matern32((0.05, 0.1), 0.3), 2),
        (RBF(0.1), 3),
        (OU(0.1), 4),
    ],
    ids=repr,
)
def test_trace_is_the_periodised_sum_of_images(kernel: Kernel, dim: int) -> None:
    origin = np.zeros((1, dim))
    parts = kernel.parts if isinstance(kernel, Sum) else (kernel,)
    reach = max(math.ceil(40 * float(np.max(part.lengthscale))) for part in parts)  # type: ignore[attr-defined]
    images = kernel(origin, lattice(dim, min(reach, 10)))
    assert kernel(origin, np.eye(dim)[:1] * (min(reach, 10) + 1)).max() < 1e-13
    np.testing.assert_allclose(Torus(dim).spectrum(kernel).trace, math.fsum(images[0]), rtol=1e-10)


@pytest.mark.parametrize("scale", [0.01, 0.2, 3.0])
def test_ou_on_the_circle_at_every_h(scale: float) -> None:
    # sum over q of 2l/(B^2 + (2 pi l q)^2) = coth(B/2l)/B with B^2 = 1 + 2lh
    spectrum = Torus(1).spectrum(OU(scale))
    for h in [0.0, *LARGE_H]:
        root = math.sqrt(1 + 2 * scale * h)
        np.testing.assert_allclose(g(spectrum, h), 1 / (root * math.tanh(root / (2 * scale))), rtol=1e-11)


def shell_counts(dim: int, largest: int) -> FloatArray:
    """Count integer vectors of each squared length up to largest squared, one by one."""
    line = np.arange(largest + 1)
    number = np.where(line == 0, 1.0, 2.0)
    squares, weights = line**2, number
    for _ in range(dim - 1):
        squares = np.add.outer(squares, line**2).ravel()
        weights = np.multiply.outer(weights, number).ravel()
        near = squares <= largest**2
        squares, weights = squares[near], weights[near]
    return np.bincount(squares, weights, minlength=largest**2 + 1).astype(np.float64)


def radial(function: Callable[[float], float], dim: int, lower: float) -> float:
    """Integrate a function of the radius over the space beyond a sphere, in panels of the logarithm."""
    surface = 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)
    edges = np.linspace(math.log(lower), math.log(lower) + 60, 61).tolist()
    parts = (
        quad(lambda y: math.exp(dim * y) * function(math.exp(y)), a, b, epsabs=0, epsrel=1e-11)[0]
        for a, b in itertools.pairwise(edges)
    )
    return float(surface * math.fsum(parts))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "dim", "largest", "accuracy"),
    [
        (Matern32(0.1), 1, 1_000_000, 1e-11),
        (Matern52(0.05), 1, 100_000, 1e-11),
        (Matern(0.1, smoothness=0.2), 1, 2_000_000, 2e-9),  # whose explicit sum is the weaker one
        (OU(0.1), 2, 1500, 1e-9),
        (Matern52(0.1), 2, 400, 1e-11),
        (Matern52(0.2), 3, 90, 1e-9),
    ],
    ids=repr,
)
def test_rough_kernels_on_the_torus_are_lattice_sums_with_an_integral_beyond(
    kernel: Stationary, dim: int, largest: int, accuracy: float
) -> None:
    spectrum = Torus(dim).spectrum(kernel)
    scale = kernel.lengthscales(dim)[0]
    counts = shell_counts(dim, largest) if dim > 1 else np.where(np.arange(largest + 1) == 0, 1.0, 2.0)
    radius = np.sqrt(np.arange(len(counts))) if dim > 1 else np.arange(largest + 1.0)
    inside = float(counts.sum())
    # the ball that holds as many vectors as were counted
    edge = largest + 0.5 if dim == 1 else (inside * math.gamma(dim / 2 + 1) / math.pi ** (dim / 2)) ** (1 / dim)

    def value(r: float) -> float:
        logs = kernel.log_transform(np.array([(scale * r) ** 2]), dim)
        assert logs is not None
        return float(scale**dim * math.exp(min(logs[0], 700)))

    values = transform(kernel, radius[:, None] * np.eye(dim)[0])
    for h in (1e-3, 1.0, 1e3, 1e5):
        near = math.fsum(counts * values / (1 + h * values))
        far = radial(lambda r, h=h: value(r) / (1 + h * value(r)), dim, edge)  # type: ignore[misc]
        np.testing.assert_allclose(g(spectrum, h), near + far, rtol=accuracy, err_msg=f"h = {h:g}")


@pytest.mark.parametrize(
    ("kernel", "dim"), [(OU(0.2), 2), (OU(0.2), 3), (Matern32(0.2), 2), (OU((0.2, 0.1)), 2)], ids=repr
)
def test_at_large_h_the_lattice_sum_is_an_integral(kernel: Stationary, dim: int) -> None:
    # λ/(1+hλ) then varies over many lattice spacings, and Poisson's formula has only its first term
    spectrum = Torus(dim).spectrum(kernel)
    for h in (1e8, 1e10, 1e12):

        def term(r: float, h: float = h) -> float:
            logs = kernel.log_transform(np.array([r * r]), dim)
            assert logs is not None
            return float(1 / (math.exp(-logs[0]) / np.prod(kernel.lengthscales(dim)) + h))

        volume = radial(term, dim, 1e-9) / np.prod(kernel.lengthscales(dim))
        np.testing.assert_allclose(g(spectrum, h), volume, rtol=1e-9, err_msg=f"h = {h:g}")


@pytest.mark.parametrize(
    ("dim", "scale"), [(1, (0.3,)), (2, (0.3, 0.3)), (3, (0.3,) * 3), (2, (0.3, 0.6)), (4, (0.5,) * 4)]
)
def test_multiplicities_count_integer_vectors(dim: int, scale: tuple[float, ...]) -> None:
    spectrum = Torus(dim).spectrum(RBF(scale if len(set(scale)) > 1 else scale[0]))
    counted = Counter(
        round(sum((s * q) ** 2 for s, q in zip(scale, v, strict=True)), 9) for v in lattice(dim, 3).tolist()
    )
    nearest = sorted(z for z in counted if z < (min(scale) * 4) ** 2)
    total = [counted[z] for z in nearest]
    # vectors of equal length along different axes may be listed separately
    before = np.cumsum(spectrum.multiplicities)
    assert set(np.cumsum(total).tolist()) <= set(before.tolist())


RBF_GAUSSIAN: list[tuple[RBF, Gaussian]] = [
    (RBF(0.4, 1.5), Gaussian(1, 0.3)),
    (RBF(0.4), Gaussian(2, 0.3)),
    (RBF(0.7), Gaussian(3, 0.3)),
    (RBF((0.4, 0.9)), Gaussian(2, 0.3)),
    (RBF((0.4, 0.9)), Gaussian(covariance=((0.5, 0.2), (0.2, 0.3)))),
    (RBF(0.8), Gaussian(covariance=((0.5, 0.2, 0.0), (0.2, 0.3, 0.1), (0.0, 0.1, 0.4)))),
]


@pytest.mark.parametrize(("kernel", "inputs"), RBF_GAUSSIAN, ids=repr)
def test_gaussian_inputs_are_products_of_geometric_series(kernel: RBF, inputs: Gaussian) -> None:
    scale = np.diag(1 / kernel.lengthscales(inputs.dim))
    ratio = 1 / np.linalg.eigvalsh(scale @ inputs.matrix @ scale)
    each = [1 / (1 + r / 2 + math.sqrt(r * r / 4 + r)) for r in ratio.tolist()]
    longest = 200 if inputs.dim == 1 else 60 if inputs.dim == 2 else 40
    values = np.full(1, kernel.variance)
    for beta in each:
        values = np.multiply.outer(values, (1 - beta) * beta ** np.arange(longest)).ravel()
    values = np.sort(values)[::-1]
    spectrum = inputs.spectrum(kernel)
    np.testing.assert_allclose(spectrum.trace, kernel.variance, rtol=1e-12)
    for h in (1e-3, 1.0, 1e3, 1e6):
        expected = kernel.variance - math.fsum(h * values * values / (1 + h * values))
        np.testing.assert_allclose(g(spectrum, h), expected, rtol=1e-7 if inputs.dim == 3 else 1e-9)
    for count in (1.0, 5.0, 30.0, 60.5):
        whole = int(count)
        expected = kernel.variance - math.fsum(values[:whole]) - (count - whole) * values[whole]
        np.testing.assert_allclose(spectrum.beyond(np.array([count]))[0], expected, rtol=1e-9, atol=1e-14)
    # Mercer: the sum of squared eigenvalues is the mean of C(x, x')^2, a Gaussian integral
    spread = np.eye(inputs.dim) + 4 * scale @ inputs.matrix @ scale
    squares = kernel.variance**2 / math.sqrt(np.linalg.det(spread))
    np.testing.assert_allclose(smooth_sum(spectrum, lambda value: value), squares, rtol=1e-12)


def test_gaussian_multiplicities_are_binomial() -> None:
    spectrum = Gaussian(4, 0.2).spectrum(RBF(0.5))
    assert spectrum.multiplicities[:30].tolist() == [math.comb(s + 3, 3) for s in range(30)]


def one_dimensional_power_sum(scale: float, power: float) -> float:
    q = np.arange(-2000, 2001)
    return math.fsum((math.sqrt(2 * math.pi) * scale * np.exp(-2 * (math.pi * scale * q) ** 2)) ** power)


@pytest.mark.parametrize("scales", [(0.3,) * 10, (0.1,) * 10, tuple(0.2 + 0.05 * i for i in range(10))])
def test_ten_dimensions_take_bounded_memory_and_keep_their_digits(scales: tuple[float, ...]) -> None:
    tracemalloc.start()
    try:
        spectrum = Torus(10).spectrum(RBF(scales if len(set(scales)) > 1 else scales[0]))
        found = [smooth_sum(spectrum, lambda value, p=p: value ** (p - 1)) for p in (0.5, 1.0, 1.5, 2.0)]  # type: ignore[misc]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 600e6
    expected = [math.prod(one_dimensional_power_sum(s, p) for s in scales) for p in (0.5, 1.0, 1.5, 2.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.slow
def test_gaussian_inputs_in_ten_dimensions_conserve_the_trace() -> None:
    spectrum = Gaussian(10, 0.5).spectrum(RBF(tuple(0.5 + 0.1 * i for i in range(10))))
    np.testing.assert_allclose(spectrum.trace, 1, rtol=1e-9)
    squares = math.prod((1 + 4 * 0.5 / (0.5 + 0.1 * i) ** 2) ** -0.5 for i in range(10))
    np.testing.assert_allclose(smooth_sum(spectrum, lambda value: value), squares, rtol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "dim"), [(OU(0.2), 1), (OU(0.2), 2), (Matern32(0.3), 3), (OU(0.3), 4), (OU((0.3, 0.2)), 2)], ids=repr
)
def test_sums_in_order_go_on_smoothly_beyond_the_list(kernel: Kernel, dim: int) -> None:
    spectrum = Torus(dim).spectrum(kernel)
    assert spectrum.tail is not None
    np.testing.assert_allclose(spectrum.beyond(np.zeros(1))[0], spectrum.trace, rtol=1e-9)
    end = spectrum.listed
    count = np.concatenate((np.geomspace(1, end, 30), end + np.array([-1.0, 0.0, 1.0]), np.geomspace(2, 1e3, 10) * end))
    count = np.unique(count)
    beyond, roots = spectrum.beyond(count), spectrum.root_sum(count)
    assert (np.diff(beyond) <= 0).all()
    assert (np.diff(roots) >= 0).all()
    around = spectrum.beyond(end + np.array([-1.0, 0.0, 1.0, 2.0]))
    steps = -np.diff(around)
    np.testing.assert_allclose(steps, spectrum.values[-1], rtol=2e-3, atol=4e-16 * spectrum.trace)
    # a stretch after the list adds what its eigenvalues say, with the roots that diverge in the sum over all of them
    index = np.linspace(end, 3 * end, 20_001)
    logs = spectrum.tail.log_eigenvalue((index[1:] + index[:-1]) / 2)
    width = index[1] - index[0]
    at = np.array([end, 3 * end])
    np.testing.assert_allclose(np.diff(spectrum.root_sum(at))[0], np.exp(logs / 2).sum() * width, rtol=1e-8)
    np.testing.assert_allclose(-np.diff(spectrum.beyond(at))[0], np.exp(logs).sum() * width, rtol=2e-3)


def test_sums_in_order_beyond_the_list_on_the_circle() -> None:
    # sum over |q| > Q of 2l/(1 + (2 pi l q)^2), by the midpoint rule: (2/pi) arctan(1/(2 pi l (Q + 1/2)))
    spectrum = Torus(1).spectrum(OU(0.2))
    for wave in (5e4, 1e5, 199_999.0, 200_000.0, 1e6, 1e8, 1e10):
        expected = 2 / math.pi * math.atan(1 / (0.4 * math.pi * (wave + 0.5)))
        np.testing.assert_allclose(spectrum.beyond(np.array([2 * wave + 1]))[0], expected, rtol=1e-9)


def test_periodised_matrix_has_the_closed_form_as_its_spectrum() -> None:
    kernel, x = OU(0.2), np.arange(600.0)[:, None] / 600
    matrix = periodised_matrix(kernel, x, x)
    # on N equispaced points waves that differ by N are one: its eigenvalues are sums over aliases
    waves = np.arange(-300, 300)[:, None] + 600 * np.arange(-400, 401)
    aliased = transform(kernel, waves.reshape(-1, 1).astype(float)).reshape(600, -1).sum(axis=1)
    values = np.linalg.eigvalsh(matrix)[::-1] / 600
    np.testing.assert_allclose(values, np.sort(aliased)[::-1], rtol=2e-3)
    np.testing.assert_allclose(values[:50], np.sort(aliased)[::-1][:50], rtol=1e-4)


@pytest.mark.slow
def test_a_closed_form_that_does_not_exist_is_not_invented() -> None:
    unlike = RBF((0.1, 0.2)) + RBF((0.2, 0.1))
    assert Torus(2).spectrum(unlike).origin.startswith("numerical")
    assert isinstance(Torus(2).spectrum(unlike), Spectrum)


@pytest.mark.parametrize("variance", [1e-307, 1e-300])
def test_a_tiny_variance_shortens_the_list_and_keeps_the_trace(variance: float) -> None:
    """Most of the list is zero in double precision then; the rest and its share of smooth sums must still fit together."""
    kernel = Matern((0.5, 0.7), smoothness=1.5, variance=variance)
    expected = Torus(dim=2).spectrum(Matern((0.5, 0.7), smoothness=1.5)).trace
    assert Torus(dim=2).spectrum(kernel).trace / variance == pytest.approx(expected, rel=1e-6)
