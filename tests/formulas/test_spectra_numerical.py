"""Spectra by diagonalising a matrix: exact on discrete inputs, within their own error estimate on all others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from cases import g
from gpcurves import (
    OU,
    RBF,
    Box,
    Discrete,
    Gaussian,
    InputError,
    Linear,
    Matern32,
    Polynomial,
    Problem,
    Sample,
    Spectrum,
    Torus,
)
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.spectra import Tail

_rng = np.random.default_rng(23)
POINTS = _rng.normal(size=(14, 2))
CHANCE = _rng.dirichlet(np.ones(14))


@pytest.mark.parametrize("kernel", [RBF(0.6), OU(1.0, 2.0), Linear(bias=0.5), RBF(0.3) + Linear()], ids=repr)
def test_discrete_inputs_are_diagonalised(kernel: Kernel) -> None:
    spectrum = Discrete(POINTS, CHANCE).spectrum(kernel)
    root = np.diag(np.sqrt(CHANCE))
    values, vectors = np.linalg.eigh(root @ kernel(POINTS) @ root)
    values, vectors = values[::-1], vectors[:, ::-1]
    size = spectrum.size
    np.testing.assert_allclose(spectrum.values, values[:size], rtol=1e-10)
    assert (abs(values[size:]) < 1e-13 * values[0]).all()
    assert spectrum.tail is None
    np.testing.assert_allclose(spectrum.trace, CHANCE @ kernel.diag(POINTS), rtol=1e-12)
    variances = kernel.diag(POINTS)
    if np.ptp(variances) == 0:
        assert "variance" not in spectrum.channels
    else:  # <C(x,x) phi_i^2> with phi_i(x) = vector_i(x) / sqrt(p(x))
        assert "variance" in spectrum.channels
        for i in range(size):
            phi = vectors[:, i] / np.sqrt(CHANCE)
            expected = math.fsum(p * v * f * f for p, v, f in zip(CHANCE, variances, phi, strict=True))
            np.testing.assert_allclose(spectrum.channels["variance"][i], expected, rtol=1e-9)


def test_inputs_that_never_occur_do_not_matter() -> None:
    chance = np.array([0.5, 0.0, 0.3, 0.2])
    all_of_them = Discrete(POINTS[:4], chance).spectrum(OU(0.4))
    without = Discrete(POINTS[[0, 2, 3]], chance[[0, 2, 3]]).spectrum(OU(0.4))
    np.testing.assert_allclose(all_of_them.values, without.values, rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "inputs"),
    [
        (RBF(0.1), Torus(1)),
        pytest.param(OU(0.2), Torus(1), marks=pytest.mark.slow),
        (OU(0.1), Torus(2)),
        pytest.param(Matern32(0.15), Torus(2), marks=pytest.mark.slow),
        pytest.param(RBF(0.4), Gaussian(1, 0.3), marks=pytest.mark.slow),
        (RBF(0.4), Gaussian(2, 0.3)),
        (RBF(0.5), Gaussian(4, 0.3)),
    ],
    ids=repr,
)
def test_numerical_spectra_are_within_their_error_estimate_of_the_closed_form(kernel: Kernel, inputs: Inputs) -> None:
    exact, numerical = inputs.spectrum(kernel), inputs.numerical_spectrum(kernel)
    assert exact.origin == "closed form"
    assert numerical.coarse is not None
    np.testing.assert_allclose(numerical.trace, exact.trace, rtol=1e-11)
    np.testing.assert_allclose(numerical.coarse.trace, exact.trace, rtol=1e-9)
    worst = 0.0  # the estimate may pass through zero, so its largest value so far counts
    for h in (1.0, 10.0, 100.0, 1e3, 1e4):
        truth = g(exact, h)
        worst = max(worst, abs(g(numerical.coarse, h) / g(numerical, h) - 1))
        assert abs(g(numerical, h) / truth - 1) < 7 * worst + 1e-9
    leading = np.repeat(exact.values[:5], exact.multiplicities[:5].astype(int))[:5]
    np.testing.assert_allclose(numerical.values[:5], leading, rtol=0.01 if inputs.dim > 3 else 2e-3)


def ou_on_the_interval(scale: float, count: int) -> list[float]:
    """Return 2l/(1 + (lw)^2) with tan(w/2) = 1/(lw), then tan(w/2) = -lw, and so on: the classic closed form."""
    frequencies = []
    for k in range(count):
        low, high = k * math.pi + 1e-12, (k + 1) * math.pi - 1e-12

        def condition(w: float, k: int = k) -> float:
            half = w / 2
            if k % 2 == 0:
                return scale * w * math.sin(half) - math.cos(half)
            return math.sin(half) + scale * w * math.cos(half)

        frequencies.append(brentq(condition, low, high, xtol=1e-13))
    return [2 * scale / (1 + (scale * w) ** 2) for w in frequencies]


def test_ou_on_the_interval_has_its_classic_eigenvalues() -> None:
    spectrum = Box(1).spectrum(OU(0.4))
    expected = ou_on_the_interval(0.4, 20)
    # Gauss-Legendre meets the kink of the kernel with an error of second order in the spacing
    np.testing.assert_allclose(spectrum.values[:20], expected, rtol=2e-3)
    np.testing.assert_allclose(spectrum.values[:5], expected[:5], rtol=2e-5)
    np.testing.assert_allclose(spectrum.trace, 1, rtol=1e-12)


@pytest.mark.slow
def test_linear_kernels_have_finite_rank_and_exact_eigenvalues() -> None:
    # weights are independent: eigenvalues are those of the second moment of the inputs, and the bias
    covariance = np.array([[0.5, 0.2], [0.2, 0.3]])
    spectrum = Gaussian(covariance=covariance).spectrum(Linear(1.5, 0.4))  # type: ignore[arg-type]
    expected = sorted([*(1.5 * np.linalg.eigvalsh(covariance)), 1.5 * 0.4], reverse=True)
    np.testing.assert_allclose(spectrum.values, expected, rtol=1e-12)
    assert spectrum.tail is None
    assert spectrum.count == 3


def test_polynomial_kernels_have_finite_rank_and_exact_eigenvalues() -> None:
    # (x x' + b)^2 on the interval: eigenvalues of the Gram matrix of 1, x, x^2 with moments 1/(i + j + 1)
    bias = 0.7
    moments = np.array([[1 / (i + j + 1) for j in range(3)] for i in range(3)])
    weight = np.sqrt(np.diag([bias**2, 2 * bias, 1.0]))
    expected = np.linalg.eigvalsh(weight @ moments @ weight)[::-1]
    spectrum = Box(1).spectrum(Polynomial(1.0, bias, 2))
    np.testing.assert_allclose(spectrum.values, expected, rtol=1e-10)
    assert spectrum.count == 3


def test_variance_overlaps_on_the_interval_are_integrals() -> None:
    # C = x x': one eigenfunction sqrt(3) x, eigenvalue 1/3, <C(x,x) phi^2> = 3 <x^4> = 3/5
    spectrum = Box(1).spectrum(Linear())
    assert "variance" in spectrum.channels
    np.testing.assert_allclose([spectrum.values[0], spectrum.channels["variance"][0]], [1 / 3, 3 / 5], rtol=1e-12)


def test_a_sample_stands_for_the_distribution_it_was_drawn_from() -> None:
    kernel, inputs = RBF(0.5), Gaussian(1, 0.3)
    sample = Sample(inputs.draw(1600, np.random.default_rng(7)))
    numerical, exact = sample.spectrum(kernel), inputs.spectrum(kernel)
    np.testing.assert_allclose(numerical.trace, 1, rtol=1e-12)
    assert numerical.coarse is not None
    # the sampling error of the leading eigenvalues is about their size times sqrt(2 / 1600)
    np.testing.assert_allclose(numerical.values[:4], exact.values[:4], rtol=5 * math.sqrt(2 / 1600))
    for h, deviation in ((1.0, 0.003), (30.0, 0.009)):  # relative, over samples of this size
        np.testing.assert_allclose(g(numerical, h), g(exact, h), rtol=4 * deviation)


def test_small_and_repeated_samples_are_accepted() -> None:
    for points in (np.array([[0.3]]), np.array([[0.3], [0.3], [0.8]]), np.zeros((50, 2))):
        spectrum = Sample(points).spectrum(RBF(0.5))
        np.testing.assert_allclose(spectrum.trace, 1, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "inputs"),
    [
        (RBF(0.05), Box(2)),
        pytest.param(RBF(0.05), Box(4), marks=pytest.mark.slow),
        (Matern32(0.01), Box(1)),
        pytest.param(OU(0.003), Box(2), marks=pytest.mark.slow),
        (OU(0.01), Gaussian(2)),
    ],
    ids=repr,
)
def test_the_trace_is_conserved_however_few_eigenvalues_are_trusted(kernel: Kernel, inputs: Inputs) -> None:
    spectrum = inputs.numerical_spectrum(kernel)
    assert spectrum.tail is not None
    np.testing.assert_allclose(spectrum.trace, 1, rtol=1e-9)
    np.testing.assert_allclose(spectrum.beyond(np.zeros(1)), 1, rtol=1e-9)


MATRICES: list[tuple[object, object, str]] = [
    ([[1.0, 2.0], [2.0, 1.0]], None, "a kernel matrix must be positive semi-definite, got the eigenvalue -0.5"),
    ([[-1.0]], None, "a kernel matrix must be positive semi-definite"),
    (np.zeros((2, 2)), None, "a kernel matrix must be positive semi-definite"),
    ([[1.0, 0.3], [0.2, 1.0]], None, "a kernel matrix must be symmetric"),
    ([[1.0, np.nan], [np.nan, 1.0]], None, "a kernel matrix must be finite, got NaN or infinity"),
    ([[1.0, 0.3]], None, r"a kernel matrix must be square, got shape \(1, 2\)"),
    ([], None, "a kernel matrix must be square"),
    ("matrix", None, "a kernel matrix must be an array of numbers"),
    (np.eye(2), [0.5, 0.6], "probabilities must sum to 1, got 1.1"),
    (np.eye(2), [1.0], r"probabilities must be one per point \(2\)"),
]


@pytest.mark.parametrize(("matrix", "chance", "sentence"), MATRICES, ids=[sentence for _, _, sentence in MATRICES])
def test_matrices_that_are_no_covariances_are_refused(matrix: object, chance: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Spectrum.from_kernel_matrix(matrix, chance)  # type: ignore[arg-type]


SPECTRA: list[tuple[object, object, str]] = [
    ([], None, "a spectrum needs at least one eigenvalue greater than 0"),
    ([0.0, 0.0], None, "a spectrum needs at least one eigenvalue greater than 0"),
    ([1.0, -0.1], None, "eigenvalues must be at least 0, got -0.1"),
    ([1.0, np.inf], None, "eigenvalues must be finite, got NaN or infinity"),
    ([[1.0]], None, r"eigenvalues must be a one-dimensional sequence, got shape \(1, 1\)"),
    ("some", None, "eigenvalues must be numbers, got str"),
    ([1.0], [1.0, 2.0], "a spectrum needs as many multiplicities as values, got 2 and 1"),
    ([1.0], [-1.0], "multiplicities must be at least 0, got -1"),
]


@pytest.mark.parametrize(
    ("values", "multiplicities", "sentence"), SPECTRA, ids=[sentence for _, _, sentence in SPECTRA]
)
def test_numbers_that_are_no_spectrum_are_refused(values: object, multiplicities: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Spectrum(values, multiplicities)  # type: ignore[arg-type]


def test_a_spectrum_is_sorted_and_without_zeros() -> None:
    spectrum = Spectrum(np.array([0.1, 0.0, 3.0, 0.5]), np.array([4.0, 1.0, 1.0, 2.0]))
    assert spectrum.values.tolist() == [3.0, 0.5, 0.1]
    assert spectrum.multiplicities.tolist() == [1.0, 2.0, 4.0]
    assert spectrum.count == spectrum.listed == 7
    np.testing.assert_allclose(
        spectrum.beyond(np.array([0.0, 1.0, 2.5, 7.0, 100.0])), [4.4, 1.4, 0.65, 0.0, 0.0], atol=1e-15
    )
    roots = np.cumsum(np.sqrt([3.0, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1]))
    np.testing.assert_allclose(spectrum.root_sum(np.arange(1.0, 8.0)), roots, rtol=1e-14)
    np.testing.assert_allclose(spectrum.root_sum(np.array([100.0])), roots[-1:], rtol=1e-14)


def test_kernels_not_positive_definite_on_the_inputs_are_refused() -> None:
    from sklearn.gaussian_process.kernels import ExpSineSquared

    with pytest.raises(InputError, match="must be positive semi-definite"):
        _ = Problem(ExpSineSquared(), Box(2), 0.1).spectrum


@pytest.mark.slow
def test_spectra_with_different_tails_differ() -> None:
    slow, fast = (Box(1).spectrum(Matern32(scale)) for scale in (0.01, 0.0101))
    assert slow == Box(1).spectrum(Matern32(0.01))
    assert slow != fast
    listed = Spectrum([1.0, 0.5])
    tail = Tail.sharp(lambda index: -2 * np.log(index), 2.0)
    assert Spectrum([1.0, 0.5], tail=tail) != listed
    assert Spectrum([1.0, 0.5], channels={"variance": np.ones(2)}) != listed
