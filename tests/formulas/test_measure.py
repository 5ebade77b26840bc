"""The compressed measure: smooth sums over a spectrum, against the same sums typed out with math.fsum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.measure import Measure, chebyshev_moments, chebyshev_nodes, compress, moments_to_weights, thin

_rng = np.random.default_rng(17)


def _sorted(logs: FloatArray) -> FloatArray:
    return np.sort(logs)[::-1]


LOGS: dict[str, FloatArray] = {
    "power law": -2 * np.log(np.arange(1.0, 30_001.0)),
    "slow power law": -1.02 * np.log(np.arange(1.0, 30_001.0)),
    "exponential": -0.05 * np.arange(13_000.0),
    "coarse exponential": -7.0 * np.arange(90.0),
    "random": _sorted(_rng.normal(-5, 3, 5_000)),
    "clusters": _sorted(np.concatenate([c + 1e-9 * _rng.normal(size=900) for c in (0.0, -1e-4, -2.0, -40.0, -300.0)])),
    "equal": np.full(1_000, -3.3),
    "huge and tiny": _sorted(np.concatenate((_rng.uniform(200, 300, 500), _rng.uniform(-600, -400, 500)))),
    "one": np.array([0.4]),
}
MULTIPLICITIES = {
    name: np.ones(len(logs)) if name != "random" else _rng.integers(1, 50, len(logs)).astype(float)
    for name, logs in LOGS.items()
}
H = [10.0**k for k in range(-150, 151, 12)]


def sums(measure: Measure, h: float) -> list[float]:
    """Return Σ λ/(1+hλ), Σ ln(1+hλ), Σ (hλ/(1+hλ))^k for k = 2, 3 through the measure."""
    x = np.exp(measure.log_values + math.log(h))
    rest = 1 / (1 + x)
    logs = np.where(x < 1e-200, 1.0, np.log1p(x) / np.maximum(x, 1e-200)) * h
    share = x * rest
    return [
        float(measure.masses @ rest),
        float(measure.masses @ logs),
        float(measure.masses @ (h * rest * share)),
        float(measure.masses @ (h * rest * share**2)),
    ]


def naive(logs: FloatArray, number: FloatArray, h: float) -> list[float]:
    terms: list[list[float]] = [[], [], [], []]
    for log, m in zip(logs.tolist(), number.tolist(), strict=True):
        value = math.exp(log)
        x = h * value
        share = x / (1 + x) if x < 1e300 else 1.0
        terms[0].append(m * (value / (1 + x) if x < 1e300 else 1 / h))
        terms[1].append(m * (math.log1p(x) if x < 1e300 else log + math.log(h)))
        terms[2].append(m * share**2)
        terms[3].append(m * share**3)
    return [math.fsum(each) for each in terms]


@pytest.mark.parametrize("name", LOGS)
def test_smooth_sums_over_three_hundred_orders_of_magnitude(name: str) -> None:
    logs, number = LOGS[name], MULTIPLICITIES[name]
    measure = compress(logs, number)
    for h in H:
        if abs(math.log(h)) + abs(logs).max() > 690:
            continue  # beyond double precision in the naive sum itself
        np.testing.assert_allclose(sums(measure, h), naive(logs, number, h), rtol=5e-13, atol=1e-290)


@pytest.mark.parametrize("name", LOGS)
def test_narrow_bins_are_as_accurate(name: str) -> None:
    logs, number = LOGS[name], MULTIPLICITIES[name]
    np.testing.assert_allclose(
        sums(compress(logs, number, width=0.5), 7.0)[:2], naive(logs, number, 7.0)[:2], rtol=5e-13
    )


@pytest.mark.parametrize("name", LOGS)
def test_counts_and_masses_are_exact(name: str) -> None:
    logs, number = LOGS[name], MULTIPLICITIES[name]
    measure = compress(logs, number)
    assert measure.counts[0] == 0
    assert measure.counts[-1] == number.sum()
    assert len(measure.counts) == len(measure.log_values) + 1
    assert (np.diff(measure.counts) >= 0).all()
    np.testing.assert_allclose(measure.masses.sum(), math.fsum(number * np.exp(logs)), rtol=1e-13)
    # the count before a node is the exact number of eigenvalues in the bins before its own
    before = {float(np.sum(number[logs > edge])) for edge in logs[0] - 2.0 * np.arange(0, 500)} | set(np.cumsum(number))
    assert {float(c) for c in measure.counts} <= before | {0.0, float(number.sum())}


def test_a_million_eigenvalues_become_a_few_hundred_nodes() -> None:
    logs = -1.5 * np.log(np.arange(1.0, 1_000_001.0))
    measure = compress(logs, np.ones(len(logs)))
    assert len(measure.log_values) < 400
    values = np.exp(logs)
    for h in (1.0, 1e4, 1e8):
        expected = math.fsum(values / (1 + h * values))
        np.testing.assert_allclose(sums(measure, h)[0], expected, rtol=2e-13)


def test_thin_keeps_smooth_sums_and_the_exact_mass() -> None:
    logs = _sorted(_rng.uniform(-1, 1, 100_000))
    weight = _rng.uniform(0.5, 2, len(logs))
    fewer, new = thin(logs, weight)
    assert len(fewer) < len(logs) / 50
    np.testing.assert_allclose(new.sum(), math.fsum(weight), rtol=1e-13)
    for h in (1e-6, 0.1, 1.0, 30.0, 1e6):
        expected = math.fsum(weight * np.exp(logs) / (1 + h * np.exp(logs)))
        np.testing.assert_allclose(new @ (np.exp(fewer) / (1 + h * np.exp(fewer))), expected, rtol=1e-13)


def test_thin_leaves_few_eigenvalues_as_they_are() -> None:
    logs, weight = _sorted(_rng.uniform(-1, 1, 100)), np.ones(100)
    fewer, new = thin(logs, weight)
    assert np.array_equal(fewer, logs)
    assert np.array_equal(new, weight)


def test_chebyshev_weights_integrate_polynomials_exactly() -> None:
    x, weight = _rng.uniform(-1, 1, 50), _rng.uniform(0, 3, 50)
    at = moments_to_weights(chebyshev_moments(x, weight, 8))
    for power in range(8):
        expected = math.fsum(w * v**power for w, v in zip(weight, x, strict=True))
        np.testing.assert_allclose(at @ chebyshev_nodes(8) ** power, expected, rtol=1e-12)


@given(
    logs=hnp.arrays(np.float64, st.integers(1, 120), elements=st.floats(-250, 100)),
    spread=st.sampled_from([1.0, 0.01, 1e-6]),
    exponent=st.floats(-150, 150),
)
def test_any_spectrum_at_any_h(logs: FloatArray, spread: float, exponent: float) -> None:
    logs = _sorted(logs * spread)
    number = (1 + np.arange(len(logs)) % 5).astype(np.float64)
    h = 10.0**exponent
    np.testing.assert_allclose(sums(compress(logs, number), h), naive(logs, number, h), rtol=5e-13, atol=1e-290)
