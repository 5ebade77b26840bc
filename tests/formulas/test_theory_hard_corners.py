"""Where published solvers fail: no noise, almost none, n at the rank, gaps, huge n. References have 350 digits."""

from __future__ import annotations

import functools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from cases import evaluate
from gpcurves import Spectrum, SpectrumProblem

mp = mpmath.mp.clone()
mp.dps = 350  # 1e-300 beside 1, and 50 digits of it

NOISES = [0.0, 1e-300, 1e-12, 1.0, *(pytest.param(noise, marks=pytest.mark.slow) for noise in (1e-40, 1e-6, 1e6))]
SPECTRA: dict[str, Spectrum] = {
    "one": Spectrum(np.array([0.7])),
    "two": Spectrum(np.array([1.0, 0.3])),
    "gaps": Spectrum(np.array([1.0, 1e-5, 1e-20])),
    "equal": Spectrum(np.full(6, 0.25)),
    "power law": Spectrum(np.arange(1.0, 26.0) ** -2),
    "exponential": Spectrum(np.exp(-57.5 * np.arange(11.0))),
    "multiplicities": Spectrum(np.array([3.0, 1e-3, 1e-30]), np.array([1.0, 4.0, 9.0])),
}
ACCURACY = 1e-10
SMALLEST = 1e-299  # results below are at the end of double precision


def exact_values(name: str) -> list[tuple[Any, int]]:
    spectrum = SPECTRA[name]
    return [
        (mp.mpf(v), round(m)) for v, m in zip(spectrum.values.tolist(), spectrum.multiplicities.tolist(), strict=True)
    ]


def sizes(name: str) -> list[float]:
    rank = SPECTRA[name].count
    around = [rank - 1e-6, rank, rank + 1e-6, rank - 1, rank / 2]
    return sorted({n for n in (1e-3, 0.5, 1.0, 7.0, 1e3, 1e9, *around) if n > 0})


def whole_sizes(name: str) -> list[float]:
    return sorted({float(round(n)) for n in sizes(name)})


def g(values: list[tuple[Any, int]], h: Any, power: int = 1) -> Any:
    return mp.fsum(m * (v / (1 + h * v)) ** power for v, m in values)


def log_sum(values: list[tuple[Any, int]], h: Any) -> Any:
    return mp.fsum(m * mp.log1p(h * v) for v, m in values)


def examples(method: str, values: list[tuple[Any, int]], noise: Any, h: Any) -> tuple[Any, Any]:
    """Return n(h) and its derivative with respect to ln h, for LC or UC."""
    if method == "lc":
        slope = mp.fsum(m * v / (1 + h * v) ** 2 for v, m in values)
        return h * (noise + g(values, h)), h * (noise + slope)
    return h * noise + log_sum(values, h), h * (noise + g(values, h))


@functools.cache
def solved(method: str, name: str, noise: float, n: float) -> Any:
    """Return h with n(h) = n by safeguarded Newton steps in ln h, or infinity where there is none."""
    values, s, target = exact_values(name), mp.mpf(noise), mp.mpf(n)
    if method == "lc" and noise == 0 and n >= SPECTRA[name].count:
        return mp.inf
    low, high, y = mp.mpf(-3000), mp.mpf(10) ** 12, mp.mpf(0)
    if noise > 0:
        high = mp.log(target / s) + 1
    elif method == "lc":
        high = mp.mpf(3000)
    for _ in range(400):
        value, slope = examples(method, values, s, mp.exp(y))
        low, high = (y, high) if value < target else (low, y)
        step = mp.log(value / target) * value / slope
        if abs(step) < mp.mpf(10) ** -35:
            return mp.exp(y - step)
        y = y - step if low < y - step < high else (low + high) / 2
    raise AssertionError("the reference did not converge")


def as_float(value: Any) -> float:
    return float(value) if value > mp.mpf(10) ** -320 else 0.0


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SPECTRA)
def test_lc_and_its_correction(name: str, noise: float) -> None:
    values, at = exact_values(name), sizes(name)
    leading, corrected = [], []
    for n in at:
        h = solved("lc", name, noise, n)
        error = g(values, h) if h < mp.inf else mp.mpf(0)
        leading.append(as_float(error))
        total = mp.mpf(noise) + error
        if error == 0:
            corrected.append(0.0)
            continue
        a2, a3 = (g(values, h, k) / total**k for k in (2, 3))
        corrected.append(float(error + total * mp.mpf(n) * (a2**2 - a3) / (1 - mp.mpf(n) * a2) ** 2))
    problem = SpectrumProblem(SPECTRA[name], noise)
    np.testing.assert_allclose(evaluate(problem, "lc", at), leading, rtol=ACCURACY, atol=SMALLEST)
    difference = abs(evaluate(problem, "lc1", at) - corrected)
    # the correction is ill-conditioned where n is close to the rank
    assert (difference <= 10 * ACCURACY * np.maximum(leading, np.abs(corrected)) + SMALLEST).all()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SPECTRA)
def test_uc(name: str, noise: float) -> None:
    at = [n for n in sizes(name) if noise > 0 or n < 600]  # without noise it falls as exp(-n/rank), below any float
    expected = [as_float(g(exact_values(name), solved("uc", name, noise, n))) for n in at]
    # near exp(-600) the logarithm of the error is what is computed, to 1e-13
    np.testing.assert_allclose(
        evaluate(SpectrumProblem(SPECTRA[name], noise), "uc", at), expected, rtol=ACCURACY, atol=1e-290
    )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SPECTRA)
def test_direct_sums(name: str, noise: float) -> None:
    values, s = exact_values(name), mp.mpf(noise)
    at = [n for n in sizes(name) if n <= 1e305 * noise or noise == 0]  # n/noise itself must not overflow
    problem = SpectrumProblem(SPECTRA[name], noise)
    trace = mp.fsum(m * v for v, m in values)
    expected: dict[str, list[Any]] = {"ov": [], "lo": [], "two": [], "uo": [], "info": []}
    for n in map(mp.mpf, at):
        if noise > 0:
            b = 2 * n / s
            expected["ov"].append(g(values, n / s))
            expected["lo"].append(mp.fsum(m * v / (1 + b * v) * (1 + 1 / (1 + b * v)) for v, m in values) / 4)
            expected["uo"].append(s / n * log_sum(values, n / s) + g(values, n / s))
            expected["info"].append(trace / mp.log1p(trace / s) * log_sum(values, (n + 1) / s) / (n + 1))
        else:
            expected["ov"].append(mp.mpf(0))
            expected["lo"].append(mp.mpf(0))
        expected["two"].append(trace - n * mp.fsum(m * v**2 / ((n - 1) * v + s + trace) for v, m in values))
    for method, reference in expected.items():
        if reference:
            found = evaluate(problem, method, at)
            np.testing.assert_allclose(
                found, [as_float(v) for v in reference], rtol=ACCURACY, atol=SMALLEST, err_msg=method
            )


def exact_plaskota(values: list[tuple[Any, int]], noise: Any, n: int) -> Any:
    order = [v for v, m in values for _ in range(m)]
    budget = n * mp.fsum(order)
    for k in range(min(n, len(order)), 0, -1):
        roots = mp.fsum(mp.sqrt(v) for v in order[:k])
        if mp.sqrt(order[k - 1]) * (budget + k * noise) / roots > noise:
            return noise / (budget + k * noise) * roots**2 + mp.fsum(order[k:])
    return mp.fsum(order)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SPECTRA)
def test_bounds_of_single_data_sets(name: str, noise: float) -> None:
    values, at = exact_values(name), whole_sizes(name)
    problem = SpectrumProblem(SPECTRA[name], noise)
    order = [v for v, m in values for _ in range(m)]
    expected = [as_float(mp.fsum(order[int(n) :])) for n in at]
    np.testing.assert_allclose(evaluate(problem, "mw", at), expected, rtol=ACCURACY)
    expected = [as_float(exact_plaskota(values, mp.mpf(noise), int(n))) for n in at]
    np.testing.assert_allclose(evaluate(problem, "plaskota", at), expected, rtol=ACCURACY, atol=SMALLEST)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SPECTRA)
def test_discrete_steps(name: str, noise: float) -> None:
    G, s = exact_values(name), mp.mpf(noise)
    expected = []
    for _ in range(61):
        total = mp.fsum(m * v for v, m in G)
        expected.append(as_float(total))
        G = [(v - v * v / (s + total), m) for v, m in G] if s + total > 0 else G
    found = evaluate(SpectrumProblem(SPECTRA[name], noise), "d", range(61))
    np.testing.assert_allclose(found, expected, rtol=ACCURACY, atol=SMALLEST)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", SPECTRA)
def test_degenerate_scenario(name: str, noise: float) -> None:
    values, s = exact_values(name), mp.mpf(noise)
    trace = mp.fsum(m * v for v, m in values)
    expected = []
    for n in (0, 1, 2, 7, 40):
        total = []
        for v, m in values:
            p = v / trace
            for k in range(n + 1):
                left = s / (s + k * trace) if k else mp.mpf(1)
                total.append(m * v * math.comb(n, k) * p**k * (1 - p) ** (n - k) * left)
        expected.append(as_float(mp.fsum(total)))
    found = evaluate(SpectrumProblem(SPECTRA[name], noise), "degenerate", [0, 1, 2, 7, 40])
    np.testing.assert_allclose(found, expected, rtol=ACCURACY, atol=1e-16)


@pytest.mark.parametrize("noise", [1e-6, 1.0])
def test_degenerate_scenario_at_a_billion_examples(noise: float) -> None:
    # E 1/(s + K c) for binomial K with large mean Np: 1/(s + Npc) (1 + c^2 N p q/(s + Npc)^2 + ...), 1e-9 in all
    values = np.array([0.5, 0.3, 0.2])
    expected = sum(v * noise / (noise + 1e9 * v) * (1 + 1e9 * v * (1 - v) / (noise + 1e9 * v) ** 2) for v in values)
    found = evaluate(SpectrumProblem(Spectrum(values), noise), "degenerate", [1e9])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


MILLION = np.arange(1.0, 1_000_001.0) ** -1.3


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1e-12, *(pytest.param(noise, marks=pytest.mark.slow) for noise in (0.0, 1e-3, 1e3))])
def test_a_million_eigenvalues(noise: float) -> None:
    problem = SpectrumProblem(Spectrum(MILLION), noise)
    at = np.array([0.1, 50.0, 1e4, 9.9e5])
    for n, error in zip(at, evaluate(problem, "lc", at).tolist(), strict=True):
        # the residual of the equation, divided by its slope, is the error of the solution
        h = n / (noise + error)
        rest = MILLION / (1 + h * MILLION)
        slope = 1 - n * math.fsum(rest**2) / (noise + error) ** 2
        assert abs(error - math.fsum(rest)) / slope < ACCURACY * error
    for n, error in zip(at, evaluate(problem, "uc", at).tolist(), strict=True):
        low, high = -40.0, 100.0
        for _ in range(45):
            middle = (low + high) / 2
            reached = math.exp(middle) * noise + float(np.log1p(math.exp(middle) * MILLION).sum()) < n
            low, high = (middle, high) if reached else (low, middle)
        np.testing.assert_allclose(error, math.fsum(MILLION / (1 + math.exp(low) * MILLION)), rtol=ACCURACY)


@pytest.mark.slow
def test_leaps_of_the_discrete_recursion_agree_with_single_steps() -> None:
    for name, noise in (("power law", 0.3), ("gaps", 1e-3), ("exponential", 1.0)):
        values = np.repeat(SPECTRA[name].values, SPECTRA[name].multiplicities.astype(int))
        G = values.astype(np.longdouble)
        direct = {}
        for n in range(1, 77_778):
            G = G - G * G / (noise + G.sum())
            if n in (20_001, 20_300, 30_000, 77_777):
                direct[n] = float(G.sum())
        found = evaluate(SpectrumProblem(SPECTRA[name], noise), "d", list(direct))
        np.testing.assert_allclose(found, list(direct.values()), rtol=ACCURACY)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", ["two", "power law", "multiplicities"])
def test_the_discrete_recursion_at_a_billion_steps_tends_to_uc(name: str, noise: float) -> None:
    problem = SpectrumProblem(SPECTRA[name], noise)
    n = np.array([1e7, 1e8, 1e9])
    np.testing.assert_allclose(evaluate(problem, "d", n), evaluate(problem, "uc", n), rtol=1e-4)
    assert abs(evaluate(problem, "d", n)[-1] / evaluate(problem, "uc", n)[-1] - 1) < 1e-6
