"""Curves that are exact: the OU process without noise, the degenerate scenario with any inputs; Plaskota's bound for given inputs."""

from __future__ import annotations

import math
from math import comb
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import gpcurves as gpc
from commands import command
from laws import obeys_method_laws


def exactly(scale: float, n: int, *, circle: bool) -> float:
    """Return the average over gaps by quadrature in many digits."""
    with mpmath.workdps(30):
        l = mpmath.mpf(scale)  # noqa: E741  (the papers' letter)

        def between(g: Any) -> Any:
            return g * mpmath.coth(g / l) - l

        def beyond(g: Any) -> Any:
            return g - l / 2 * (1 - mpmath.exp(-2 * g / l))

        parts = [0, mpmath.mpf(1) / n, mpmath.mpf(10) / n if n > 10 else mpmath.mpf(1) / 2 + mpmath.mpf(1) / (3 * n), 1]
        parts = sorted({mpmath.mpf(min(each, 1)) for each in parts})
        if circle:
            return float(mpmath.quad(lambda g: n * (n - 1) * (1 - g) ** (n - 2) * between(g), parts))
        return float(
            mpmath.quad(lambda g: n * (1 - g) ** (n - 1) * ((n - 1) * between(g) + 2 * beyond(g)), parts),
        )


@pytest.mark.parametrize("scale", [0.1, 2.0])
@pytest.mark.parametrize("n", [2, 7, 300])
def test_the_rough_process_retyped(scale: float, n: int) -> None:
    for inputs in (gpc.Torus(1), gpc.Box(1)):
        found = gpc.learning_curve(gpc.Problem(gpc.OU(scale, 1.5), inputs, 0.0), "ou-exact", [n]).error[0]
        assert found == pytest.approx(1.5 * exactly(scale, n, circle=isinstance(inputs, gpc.Torus)), rel=1e-10)


def test_the_first_values_and_the_limit() -> None:
    scale = 0.2
    circle = gpc.Problem(gpc.OU(scale), gpc.Torus(1), 0.0)
    first = gpc.learning_curve(circle, "ou-exact", [0, 1, 1e7]).error
    np.testing.assert_allclose(first[0], 1 / math.tanh(1 / (2 * scale)), rtol=1e-12)
    np.testing.assert_allclose(first[1], 1 / math.tanh(1 / scale) - scale, rtol=1e-12)
    np.testing.assert_allclose(first[2], 2 / (3 * scale * 1e7), rtol=1e-5)
    np.testing.assert_allclose(gpc.learning_curve(circle, "lc", [1e7]).error / first[2], 0.75, rtol=1e-4)
    interval = gpc.Problem(gpc.Matern(scale, smoothness=0.5), gpc.Box(1), 0.0)
    np.testing.assert_allclose(
        gpc.learning_curve(interval, "ou-exact", [0, 1e8]).error, [1, 2 / (3 * scale * 1e8)], rtol=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [gpc.Torus(1), gpc.Box(1)], ids=repr)
def test_the_rough_process_simulated(inputs: Any) -> None:
    problem = gpc.Problem(gpc.OU(0.3), inputs, 0.0)
    exact = gpc.learning_curve(problem, "ou-exact", [1, 3, 10, 50])
    truth = gpc.learning_curve(problem, "simulation", [1, 3, 10, 50], datasets=200, rng=0)
    assert truth.stderr is not None
    assert (abs(exact.error - truth.error) < 4 * truth.stderr + 1e-12).all()
    obeys_method_laws("ou-exact", problem)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (gpc.Problem(gpc.OU(0.3), gpc.Torus(1), 0.1), "there must be no noise, got 0.1"),
        (gpc.Problem(gpc.RBF(0.3), gpc.Torus(1), 0.0), "the kernel must be the Ornstein-Uhlenbeck kernel"),
        (gpc.Problem(gpc.OU(0.3), gpc.Torus(2), 0.0), "inputs must be uniform on the circle or the interval"),
    ],
)
def test_other_problems_are_refused(problem: gpc.Problem, reason: str) -> None:
    with pytest.raises(gpc.NotApplicableError, match=reason):
        gpc.learning_curve(problem, "ou-exact", [1])


def binomial(values: Any, chance: Any, noise: float, n: int) -> float:
    """Return the degenerate error as a sum over binomial numbers of examples at each input."""
    return float(
        sum(
            v
            * sum(
                comb(n, k) * p**k * (1 - p) ** (n - k) * (noise / (noise + k * v / p) if k else 1) for k in range(n + 1)
            )
            for v, p in zip(values, chance, strict=True)
        )
    )


def test_the_degenerate_scenario_with_any_probabilities() -> None:
    values, chance = [0.6, 0.3, 0.3, 0.01], [0.1, 0.2, 0.65, 0.05]
    spectrum = gpc.Spectrum([0.6, 0.3, 0.01], [1, 2, 1])
    for noise in (0.1, 1e-6, 30.0):
        curve = gpc.learning_curve(spectrum, "degenerate", [0, 1, 6, 40], noise=noise, probabilities=chance)
        expected = [binomial(values, chance, noise, n) for n in (0, 1, 6, 40)]
        np.testing.assert_allclose(curve.error, expected, rtol=1e-9)
    again = gpc.learning_curve(curve.problem, curve.method, curve.n, **curve.options)
    np.testing.assert_array_equal(again.error, curve.error)
    free = gpc.learning_curve(spectrum, "degenerate", [5], noise=0.0, probabilities=chance).error[0]
    assert free == pytest.approx(sum(v * (1 - p) ** 5 for v, p in zip(values, chance, strict=True)))
    uniform = np.array([0.6, 0.3, 0.3, 0.01]) / 1.21
    np.testing.assert_allclose(
        gpc.learning_curve(spectrum, "degenerate", [30], noise=0.1, probabilities=uniform).error,
        gpc.learning_curve(spectrum, "degenerate", [30], noise=0.1).error,
        rtol=1e-9,
    )
    never = gpc.learning_curve(spectrum, "degenerate", [1000], noise=0.0, probabilities=[0, 0.5, 0.5, 0]).error
    np.testing.assert_allclose(never, 0.61)


def test_no_upper_bound_follows_from_eigenvalues_alone() -> None:
    """SH02 (31): if one small eigenvalue has nearly all inputs, nothing else is learnt."""
    spectrum, chance = gpc.Spectrum([1.0, 0.5, 0.01]), [1e-9, 1e-9, 1 - 2e-9]
    error = gpc.learning_curve(spectrum, "degenerate", [100], noise=0.1, probabilities=chance).error[0]
    assert error > 1.5
    assert error > 10 * gpc.learning_curve(spectrum, "uc", [100], noise=0.1).error[0]


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.5], "probabilities must be one for each of 3 eigenvalues, got 2"),
        ([0.5, 0.4, 0.0], "probabilities must sum to 1, got 0.9"),
        ([0.5, 0.7, -0.2], "probabilities must be finite and at least 0"),
    ],
)
def test_bad_probabilities(probabilities: list[float], message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        gpc.learning_curve(gpc.Spectrum([1.0, 0.5, 0.01]), "degenerate", [5], noise=0.1, probabilities=probabilities)


def test_probabilities_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "values.csv"
    path.write_text("0.5\n0.3\n0.2\n")
    words = "--noise 0.1 --n 6 --methods degenerate --probabilities 0.2,0.2,0.6 -q"
    code, out, err = command("curve", "--spectrum", str(path), *words.split())
    assert (code, err) == (0, "")
    expected = binomial([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], 0.1, 6)
    assert float(out.splitlines()[1].split(",")[2]) == pytest.approx(expected)


def test_plaskota_for_the_inputs_that_one_has() -> None:
    """Every data set is above its own bound; the one for the average is not a bound for each."""
    problem = gpc.Problem(gpc.Polynomial(0.5, 0.2, 2), gpc.Gaussian(1, 1.0), 0.5)
    rng = np.random.default_rng(0)
    nodes, weights = problem.inputs.nodes(40)
    average = gpc.learning_curve(problem, "plaskota", 6).error
    broken = 0
    for _ in range(60):
        X = problem.inputs.draw(6, rng)
        bound = gpc.plaskota_bound(problem, X)
        for n in range(7):
            k, K = problem.kernel(X[:n], nodes), problem.kernel(X[:n]) + 0.5 * np.eye(n)
            error = weights @ (problem.kernel.diag(nodes) - np.einsum("ij,ij->j", k, np.linalg.solve(K, k)))
            assert error >= bound[n] * (1 - 1e-9)
            broken += bool(error < average[n])
    assert broken > 0
    uniform = gpc.Problem(gpc.RBF(0.2), gpc.Torus(1), 0.05)
    X = uniform.inputs.draw(12, rng)
    np.testing.assert_allclose(
        gpc.plaskota_bound(uniform, X), gpc.learning_curve(uniform, "plaskota", 12).error, rtol=1e-9
    )
    with pytest.raises(gpc.InputError, match="X must have 1 columns as the inputs, got 2"):
        gpc.plaskota_bound(uniform, np.zeros((3, 2)))
    with pytest.raises(gpc.InputError, match="needs a problem on vectors with a kernel"):
        gpc.plaskota_bound(gpc.SpectrumProblem(gpc.Spectrum([1.0]), 0.1), X)
