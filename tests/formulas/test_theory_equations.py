"""Every method of the list retyped as naively as possible, from its formula, and compared."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from cases import PROBLEMS, SPECTRA, evaluate, listed
from gpcurves import METHODS, Linear, NotApplicableError, Problem, Spectrum, SpectrumProblem
from gpcurves.inputs import Discrete

Naive = Callable[[list[float], float, int], float]


def g(values: list[float], h: float) -> float:
    return math.fsum(v / (1 + h * v) for v in values)


def lc(values: list[float], noise: float, n: float) -> float:
    if n == 0:
        return math.fsum(values)
    return float(brentq(lambda e: e - g(values, n / (noise + e)), 0.0, math.fsum(values) + 1, xtol=1e-300, rtol=1e-15))


def lc1(values: list[float], noise: float, n: int) -> float:
    error = lc(values, noise, n)
    total = noise + error
    h = n / total
    a2, a3 = (math.fsum((v / (1 + h * v)) ** k for v in values) / total**k for k in (2, 3))
    return error + total * n * (a2**2 - a3) / (1 - n * a2) ** 2


def uc(values: list[float], noise: float, n: int) -> float:
    def excess(other: float) -> float:
        return other + math.fsum(math.log1p(other / noise * v) for v in values) - n

    return g(values, float(brentq(excess, 0.0, float(n), xtol=1e-300, rtol=1e-15)) / noise if n > 0 else 0.0)


def discrete(values: list[float], noise: float, n: int) -> float:
    G = np.diag(values)
    for _ in range(n):
        G = G - G @ G / (noise + np.trace(G))
    return float(np.trace(G))


def mw(values: list[float], noise: float, n: int) -> float:
    return math.fsum(sorted(values, reverse=True)[n:])


def plaskota(values: list[float], noise: float, n: int) -> float:
    order = sorted(values, reverse=True)
    budget = n * math.fsum(values)
    for k in range(min(n, len(order)), 0, -1):
        roots = math.fsum(math.sqrt(v) for v in order[:k])
        if math.sqrt(order[k - 1]) * (budget + k * noise) / roots - noise > 0:
            return noise / (budget + k * noise) * roots**2 + math.fsum(order[k:])
    return math.fsum(order)


def lo(values: list[float], noise: float, n: int) -> float:
    b = 2 * n / noise
    return math.fsum(v / (1 + b * v) * (1 + 1 / (1 + b * v)) for v in values) / 4


def uo(values: list[float], noise: float, n: int) -> float:
    if n == 0:
        return 2 * math.fsum(values)
    return noise / n * math.fsum(math.log1p(n / noise * v) for v in values) + g(values, n / noise)


def info(values: list[float], noise: float, n: int) -> float:
    largest = math.fsum(values)
    gain = math.fsum(math.log1p((n + 1) / noise * v) for v in values)
    return largest / math.log(1 + largest / noise) * gain / (n + 1)


def two(values: list[float], noise: float, n: int) -> float:
    trace = math.fsum(values)
    return trace - n * math.fsum(v**2 / ((n - 1) * v + noise + trace) for v in values)


def degenerate(values: list[float], noise: float, n: int) -> float:
    trace = math.fsum(values)
    total = []
    for value in values:
        p = value / trace
        for k in range(n + 1):
            chance = math.comb(n, k) * p**k * (1 - p) ** (n - k)
            total.append(value * chance * noise / (noise + k * trace))
    return math.fsum(total)


NAIVE: dict[str, Naive] = {
    "lc": lc,
    "lc1": lc1,
    "uc": uc,
    "d": discrete,
    "mw": mw,
    "plaskota": plaskota,
    "ov": lambda values, noise, n: g(values, n / noise),
    "lo": lo,
    "uo": uo,
    "info": info,
    "two": two,
    "degenerate": degenerate,
}
ELSEWHERE = {"grid", "wv", "ou-exact", "simulation", "eigenvalue", "mckay", "master", "cavity", "local"}
"""Retyped in test_designs.py, test_williams_vivarelli.py, test_exact_scenarios.py, from quadratures, and in test_graph_theory.py,
test_cavity_*.py and test_local.py."""


def test_every_method_is_retyped() -> None:
    sparse = {name for name, method in METHODS.items() if method.second is not None}  # in test_sparse.py
    compound = {name for name, method in METHODS.items() if method.compound is not None}  # in test_tasks.py and others
    assert set(METHODS) == set(NAIVE) | ELSEWHERE | sparse | compound


@pytest.mark.parametrize("noise", [1e-2, 0.3, 20.0])
@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("method", NAIVE)
def test_method_is_its_formula(method: str, name: str, noise: float) -> None:
    spectrum = SPECTRA[name]
    sizes = [0, 1, 2, 3, 7, 19, 60]
    expected = [NAIVE[method](listed(spectrum), noise, n) for n in sizes]
    # the naive differences of LC1 and TWO lose digits themselves
    loose = method in ("lc1", "two")
    found = evaluate(SpectrumProblem(spectrum, noise), method, sizes)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if loose else 1e-11, atol=1e-13 if loose else 0)


@pytest.mark.parametrize("name", ["circle, rbf", "gaussian, rbf", "discrete, ou"])
@pytest.mark.parametrize("method", NAIVE)
def test_method_is_its_formula_on_a_problem(method: str, name: str) -> None:
    problem = PROBLEMS[name]
    values = [value for value in listed(problem.spectrum) if value > 1e-17]
    sizes = [0, 1, 4, 13]
    expected = [NAIVE[method](values, problem.noise, n) for n in sizes]
    np.testing.assert_allclose(evaluate(problem, method, sizes), expected, rtol=1e-9, atol=1e-13)


def test_two_where_the_prior_variance_depends_on_the_input() -> None:
    problem = PROBLEMS["discrete, linear"]
    assert isinstance(problem, Problem)
    assert isinstance(problem.inputs, Discrete)
    x, p = problem.inputs.points, problem.inputs.probabilities
    kernel = Linear(bias=0.5)
    values, vectors = np.linalg.eigh(np.sqrt(np.outer(p, p)) * kernel(x))
    expected = []
    for n in range(6):
        error = float(p @ kernel.diag(x))
        for value, vector in zip(values, vectors.T, strict=True):
            phi = vector / np.sqrt(p)
            overlap = sum(p[a] * kernel.diag(x)[a] * phi[a] ** 2 for a in range(4))
            error -= n * value**2 / ((n - 1) * value + 0.1 + overlap)
        expected.append(error)
    np.testing.assert_allclose(evaluate(problem, "two", range(6)), expected, rtol=1e-11)


def test_plaskota_is_the_best_allocation_of_the_observations() -> None:
    # minimise sum_{i<=n} lambda_i s/(s + eta_i) + sum_{i>n} lambda_i over eta_i >= 0 with sum S
    for name in ("power law", "random", "multiplicities"):
        values = np.array(sorted(listed(SPECTRA[name]), reverse=True))
        for noise, n in ((0.5, 3), (20.0, 5), (3.0, 8)):
            budget, first = n * values.sum(), values[:n]
            result = minimize(
                lambda eta, v=first, s=noise: float((v * s / (s + eta)).sum() / v.sum()),
                np.full(n, budget / n),
                jac=lambda eta, v=first, s=noise: -v * s / (s + eta) ** 2 / v.sum(),
                bounds=[(0, None)] * n,
                constraints={"type": "eq", "fun": lambda eta, b=budget: eta.sum() / b - 1},
                method="SLSQP",
                options={"ftol": 1e-15, "maxiter": 500},
            )
            best = float(result.fun) * first.sum() + values[n:].sum()
            found = evaluate(SpectrumProblem(SPECTRA[name], noise), "plaskota", [n])[0]
            np.testing.assert_allclose(found, best, rtol=1e-7)


def test_degenerate_at_one_example() -> None:
    for spectrum in SPECTRA.values():
        values = listed(spectrum)
        trace = math.fsum(values)
        expected = trace - math.fsum(v * v for v in values) / (trace + 0.3)
        np.testing.assert_allclose(evaluate(SpectrumProblem(spectrum, 0.3), "degenerate", [1])[0], expected, rtol=1e-11)


def test_degenerate_scenario_is_what_its_name_says() -> None:
    # independent values at four inputs: the exact average over all data sets of three examples
    p, c, noise = np.array([0.1, 0.2, 0.3, 0.4]), 2.0, 0.5
    exact = 0.0
    for data in np.ndindex(4, 4, 4):
        counts = np.bincount(data, minlength=4)
        exact += float(np.prod(p[list(data)]) * (p @ (c * noise / (noise + counts * c))))
    spectrum = Spectrum.from_kernel_matrix(c * np.eye(4), p)
    np.testing.assert_allclose(evaluate(SpectrumProblem(spectrum, noise), "degenerate", [3])[0], exact, rtol=1e-12)


def test_methods_for_whole_numbers_refuse_fractions() -> None:
    problem = PROBLEMS["circle, rbf"]
    for name, method in METHODS.items():
        if "n" not in method.axes or method.objection(problem) is not None:
            continue
        if not method.integers:
            between, around = evaluate(problem, name, [2.5])[0], evaluate(problem, name, [2, 3])
            assert around[1] < between < around[0]
        else:
            with pytest.raises(NotApplicableError, match=r"n must be integers, got 2\.5"):
                evaluate(problem, name, [2.5])


@pytest.mark.parametrize("method", ["uo", "info"])
def test_methods_that_need_noise_say_so(method: str) -> None:
    with pytest.raises(NotApplicableError, match="the noise must be greater than 0, got 0"):
        evaluate(PROBLEMS["circle, no noise"], method, [3])
