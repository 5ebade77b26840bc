"""How methods relate to each other and to exact averages: limits, orderings, and small problems solved by enumeration."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cases import PAIRS, PROBLEMS, SPECTRA, applicable, evaluate, listed
from gpcurves import METHODS, OU, RBF, Discrete, Linear, Problem, Spectrum, SpectrumProblem, Torus
from gpcurves.kernels import Kernel
from gpcurves.methods import Kind, Scope
from gpcurves.numerics.validation import FloatArray

SIZES = np.array([0, 1, 2, 5, 20, 100, 1000], dtype=float)


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_curves_start_at_the_prior_variance_and_fall(name: str, method: str) -> None:
    problem = PROBLEMS[name]
    error = evaluate(problem, method, SIZES)
    assert error.shape == SIZES.shape
    assert np.isfinite(error).all()
    assert (np.diff(error) <= 1e-12 * error[0]).all()
    assert (error >= 0).all() or method == "lc1"
    if method not in ("lo", "uo", "info"):
        # sums in order join the list to its tail less exactly than smooth sums do
        accuracy = 1e-7 if method in ("mw", "plaskota") else 1e-11
        np.testing.assert_allclose(error[0], problem.spectrum.trace, rtol=accuracy)


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_each_n_is_computed_as_if_alone(name: str, method: str) -> None:
    sizes = np.array([100.0, 0.0, 7.0, 7.0, 30.0])
    together = evaluate(PROBLEMS[name], method, sizes)
    alone = np.array([evaluate(PROBLEMS[name], method, [n])[0] for n in sizes])
    np.testing.assert_allclose(together, alone, rtol=1e-11, atol=1e-16)


@pytest.mark.parametrize(("name", "method"), [pair for pair in PAIRS if pair[0].startswith("bare")])
def test_units_do_not_matter(name: str, method: str) -> None:
    problem = PROBLEMS[name]
    for unit in (1e-60, 1e50):
        scaled = SpectrumProblem(Spectrum(problem.spectrum.values * unit), problem.noise * unit)
        expected = unit * evaluate(problem, method, SIZES)
        np.testing.assert_allclose(evaluate(scaled, method, SIZES), expected, rtol=1e-11)


@pytest.mark.parametrize("method", ["lc", "lc1", "uc", "d"])
def test_approximations_tend_to_ov_for_large_noise(method: str) -> None:
    for noise in (1e3, 1e5):
        problem = SpectrumProblem(SPECTRA["power law"], noise)
        n = noise * np.array([0.1, 1.0, 10.0])
        # all differ from OV by (error / noise) relative at most
        np.testing.assert_allclose(evaluate(problem, method, n), evaluate(problem, "ov", n), rtol=3 / noise)


@pytest.mark.parametrize("name", ["circle, rbf", "circle, ou", "torus, matern", "bare power law"])
def test_exact_at_one_example_where_the_prior_variance_is_uniform(name: str) -> None:
    problem = PROBLEMS[name]
    measure, trace = problem.spectrum.measure, problem.spectrum.trace
    exact = trace - float(measure.masses @ np.exp(measure.log_values)) / (trace + problem.noise)
    for method in ("two", "d", "degenerate", "wv"):
        if METHODS[method].objection(problem) is None:
            np.testing.assert_allclose(evaluate(problem, method, [1])[0], exact, rtol=1e-11, err_msg=method)


def test_plaskota_tends_to_micchelli_wahba_without_noise() -> None:
    for name in ("power law", "exponential", "random"):
        n = np.array([0.0, 1.0, 5.0, 20.0])
        without = evaluate(SpectrumProblem(SPECTRA[name], 0.0), "mw", n)
        assert np.array_equal(evaluate(SpectrumProblem(SPECTRA[name], 0.0), "plaskota", n), without)
        np.testing.assert_allclose(evaluate(SpectrumProblem(SPECTRA[name], 1e-30), "plaskota", n), without, rtol=1e-11)


@given(
    logs=hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-12, 3)),
    noise=st.floats(1e-6, 1e3),
    n=st.integers(0, 200),
)
def test_orderings_hold_for_any_spectrum(logs: FloatArray, noise: float, n: int) -> None:
    problem = SpectrumProblem(Spectrum(np.exp(logs)), noise)
    names = ("lo", "ov", "lc", "uc", "lc1", "mw", "plaskota", "two", "info", "uo", "d", "degenerate")
    value = {name: float(evaluate(problem, name, [n])[0]) for name in names}
    slack = 1e-11 * problem.spectrum.trace
    for low, high in itertools.pairwise(("lo", "ov", "lc", "uc")):
        assert value[low] <= value[high] + slack
    for low, high in (("lc1", "lc"), ("mw", "plaskota"), ("lc", "info"), ("ov", "two"), ("ov", "uo")):
        assert value[low] <= value[high] + slack, (low, high)
    # the degenerate scenario is a real problem with this spectrum: bounds hold for it
    for low in ("lo", "ov", "mw", "plaskota"):
        assert value[low] <= value["degenerate"] + slack, low
    for high in ("two", "info"):
        assert value["degenerate"] <= value[high] + slack, high


@pytest.mark.parametrize("decay", [2.0, 2.5, 4.0])
def test_exponents_of_power_laws(decay: float) -> None:
    spectrum = Spectrum(np.arange(1.0, 400_001.0) ** -decay)
    # error far below the noise: (n/noise)^-(r-1)/r; far above it: n^-(r-1)
    for noise, n, expected in ((1.0, 1e6, -(decay - 1) / decay), (1e-30, 1e2, -(decay - 1))):
        low, high = evaluate(SpectrumProblem(spectrum, noise), "lc", [n, 2 * n])
        np.testing.assert_allclose(math.log2(high / low), expected, atol=0.02)


POINTS = np.array([[0.0], [0.3], [0.45], [1.1]])
CHANCE = np.array([0.1, 0.4, 0.3, 0.2])
KERNELS: dict[str, Kernel] = {
    "ou": OU(0.5),
    "rbf": RBF(0.4, 2.0),
    "linear": Linear(bias=0.2),
    "mixed": OU(0.5) + Linear(),
}


@functools.cache
def enumerated(name: str, noise: float, n: int) -> tuple[float, float]:
    """Return the average over all data sets of n examples, and the smallest error of any of them."""
    C = KERNELS[name](POINTS)
    average, smallest = 0.0, math.inf
    for data in itertools.product(range(len(C)), repeat=n):
        rows = list(data)
        K = C[np.ix_(rows, rows)] + noise * np.eye(n)
        variances = np.diagonal(C) - np.einsum("ij,ij->j", C[rows], np.linalg.solve(K, C[rows]))
        error = float(CHANCE @ variances)
        average += float(np.prod(CHANCE[rows])) * error
        smallest = min(smallest, error)
    return average, smallest


ENUMERATED = [
    (method, name) for name, k in KERNELS.items() for method in applicable(Problem(k, Discrete(POINTS, CHANCE), 1.0))
]


@pytest.mark.parametrize("noise", [1e-3, 0.1, 5.0])
@pytest.mark.parametrize(("method", "name"), ENUMERATED)
def test_bounds_bound_the_exact_average_over_all_data_sets(method: str, name: str, noise: float) -> None:
    problem = Problem(KERNELS[name], Discrete(POINTS, CHANCE), noise)
    chosen = METHODS[method]
    uniform = name in ("ou", "rbf")
    sizes = [0, 1, 2, 3, 4]
    for n, error in zip(sizes, evaluate(problem, method, sizes).tolist(), strict=True):
        average, smallest = enumerated(name, noise, n)
        if chosen.kind is Kind.LOWER_BOUND:
            single = chosen.scope is Scope.EVERY_DATASET and (uniform or method == "mw")
            assert error <= (smallest if single else average) * (1 + 1e-9) + 1e-14
        elif chosen.kind is Kind.UPPER_BOUND and (chosen.scope is Scope.AVERAGE or average < noise):
            assert error >= average * (1 - 1e-9)
        elif chosen.kind is Kind.APPROXIMATION and noise == 5.0:
            np.testing.assert_allclose(error, average, rtol=0.08)


@pytest.mark.parametrize("noise", [1e-3, 0.1, 5.0])
def test_bounds_stay_close_enough_to_the_truth_to_mean_something(noise: float) -> None:
    problem = Problem(OU(0.5), Discrete(POINTS, CHANCE), noise)
    for n in (1, 4):
        average, smallest = enumerated("ou", noise, n)
        two = evaluate(problem, "two", [n])[0]
        assert average <= two * (1 + 1e-12) < 2.5 * average + noise
        assert evaluate(problem, "plaskota", [n])[0] > 0.05 * smallest


def test_ou_on_the_circle_without_noise_against_its_exact_curve() -> None:
    # exact: n ∫ (n-1)(1-g)^(n-2) [g coth(g/l) - l] dg; for large n LC / exact tends to 3/4
    scale = 0.3
    problem = Problem(OU(scale), Torus(1), 0.0)
    x, w = np.polynomial.legendre.leggauss(400)
    gap, weight = (x + 1) / 2, w / 2
    for n in (2, 5, 40):
        exact = n * float(weight @ ((n - 1) * (1 - gap) ** (n - 2) * (gap / np.tanh(gap / scale) - scale)))
        found = {name: evaluate(problem, name, [n])[0] for name in ("mw", "lc", "d", "wv", "two", "ov")}
        assert found["ov"] <= found["mw"] < exact < min(found["wv"], found["two"])
        assert 0.74 < found["lc"] / exact < 1.1
    assert evaluate(problem, "lc", [4000])[0] * 3 * scale * 4000 / 2 == pytest.approx(0.75, abs=0.001)


def test_listed_spectra_are_what_they_say() -> None:
    assert all(len(listed(spectrum)) == spectrum.count for spectrum in SPECTRA.values())
