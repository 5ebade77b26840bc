"""Laws of decay: the limits of LC, exponents and prefactors retyped, crossovers, words and pictures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from pictures import assert_drawn


def lc(problem: gpc.Problem, n: Any) -> Any:
    return gpc.learning_curve(problem, "lc", n).error


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [(gpc.OU(0.1), 1), (gpc.Matern32(0.2), 1), (gpc.Matern32(0.3), 2), (gpc.Matern52((0.2, 0.4)), 2), (gpc.OU(0.3), 3)],
    ids=repr,
)
def test_both_limits_of_lc_on_the_torus(kernel: Any, dim: int) -> None:
    inputs = gpc.Torus(dim)
    noisy, free = gpc.Problem(kernel, inputs, 0.05), gpc.Problem(kernel, inputs, 0.0)
    law = gpc.asymptotics(noisy)
    assert law.exponent == pytest.approx(2 * kernel.smoothness / (2 * kernel.smoothness + dim))
    assert law.early_exponent == pytest.approx(2 * kernel.smoothness / dim)
    # the correction is of the order of error / noise, and without noise of the order of the boundary of the lattice
    far = law.crossover * 1e6
    np.testing.assert_allclose(law.late([far]), lc(noisy, [far]), rtol=0.01)
    np.testing.assert_allclose(gpc.asymptotics(free).early([1e5]), lc(free, [1e5]), rtol=0.03)
    np.testing.assert_allclose(lc(noisy, [law.crossover]), noisy.noise, rtol=1e-9)


def test_the_constants_retyped() -> None:
    """Matérn on the torus: r = 1 + 2ν/d and A, written out with Gamma functions."""
    scale, nu, dim, noise = 0.3, 1.5, 2, 0.1
    law = gpc.asymptotics(gpc.Problem(gpc.Matern32(scale), gpc.Torus(dim), noise))
    r = 1 + 2 * nu / dim
    volume = math.pi ** (dim / 2) / math.gamma(dim / 2 + 1)
    A = scale**dim * 2**dim * math.pi ** (dim / 2) * math.gamma(nu + dim / 2) * (2 * nu) ** nu / math.gamma(nu)
    A *= (2 * math.pi * scale) ** (-2 * nu - dim) * volume**r
    B = (math.pi / r) / math.sin(math.pi / r)
    found = (law.decay, law.amplitude, law.prefactor, law.early_prefactor)
    np.testing.assert_allclose(found, [r, A, B * A ** (1 / r) * noise ** (1 - 1 / r), A * B**r], rtol=1e-9)


def test_smooth_kernels_on_the_torus() -> None:
    scale = 0.1
    free = gpc.asymptotics(gpc.Problem(gpc.RBF(scale), gpc.Torus(1), 0.0))
    n = np.array([15.0, 30.0])
    expected = math.sqrt(2 * math.pi) * scale * n * np.exp(-(math.pi**2) * scale**2 * n**2 / 2)
    np.testing.assert_allclose(free.early(n), expected, rtol=1e-9)
    np.testing.assert_allclose(free.early(n), lc(free.problem, n), rtol=0.1)
    noisy = gpc.asymptotics(gpc.Problem(gpc.RBF((0.1, 0.2)), gpc.Torus(2), 0.05))
    assert (noisy.exponent, noisy.log_power) == (1, 1)
    far = noisy.crossover * np.array([1e3, 1e5])
    np.testing.assert_allclose(noisy.late(far), lc(noisy.problem, far), rtol=0.03)


@pytest.mark.parametrize(
    "problem",
    [
        gpc.Problem(gpc.OU(0.3), gpc.Box(1), 0.1),
        gpc.Problem(gpc.OU(0.5), gpc.Gaussian(1), 0.05),
        gpc.Problem(gpc.ArcCosine(1, bias=0.5), gpc.Sphere(3), 0.01),
        gpc.Problem(gpc.RBF(0.3), gpc.Gaussian(2), 0.05),
        gpc.Problem(gpc.RBF(0.3), gpc.Box(2), 0.05),
        gpc.Problem(gpc.RationalQuadratic(0.3), gpc.Torus(1), 0.05),
        gpc.Problem(gpc.Polynomial(1.0, 1.0, 3), gpc.Sphere(4), 0.01),
        gpc.SpectrumProblem(gpc.Spectrum(np.arange(1.0, 20_001.0) ** -2.5), 0.05),
    ],
    ids=lambda problem: problem.describe()[:40],
)
def test_elsewhere_the_law_is_fitted(problem: gpc.Problem) -> None:
    law = gpc.asymptotics(problem)
    far = law.crossover * 300
    np.testing.assert_allclose(law.late([far]), lc(problem, [far]), rtol=0.06)
    if law.family != "finite" and not isinstance(problem.inputs, gpc.Box):
        assert "fitted" in law.origin
        assert "fitted" in str(law)


def test_a_bare_power_law_is_recognised() -> None:
    law = gpc.asymptotics(gpc.Spectrum(3 * np.arange(1.0, 5_001.0) ** -2.5), noise=0.1)
    np.testing.assert_allclose((law.decay, law.amplitude), (2.5, 3.0), rtol=0.02)
    assert gpc.asymptotics(gpc.Spectrum(np.exp(-0.1 * np.arange(300.0))), noise=0.1).family == "smooth"
    assert gpc.asymptotics(gpc.Spectrum([1.0, 0.5]), noise=0.1).prefactor == 0.2


def test_what_ten_times_more_data_give() -> None:
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(1), 0.1)
    law = gpc.asymptotics(problem)
    assert law.gain(10) == pytest.approx(math.sqrt(10))
    before, after = lc(problem, [50, 500])
    assert law.gain(10, n=50) == pytest.approx(before / after)
    assert gpc.asymptotics(gpc.Problem(gpc.OU(0.1), gpc.Torus(1), 0.0)).gain(10) == 10
    with pytest.raises(gpc.InputError, match="times must be greater than 0"):
        law.gain(0)


def test_words_for_every_regime() -> None:
    noisy = str(gpc.asymptotics(gpc.Problem(gpc.OU(0.1), gpc.Torus(1), 0.1)))
    assert "Beyond about 99 examples the error is below the noise, and it falls as n to the power -0.5" in noisy
    assert "ten times more data divide it by 3.2. Before, it falls as n to the power -1" in noisy
    loud = str(gpc.asymptotics(gpc.Problem(gpc.OU(0.1), gpc.Torus(1), 50.0)))
    assert loud.startswith("The noise dominates from the start")
    assert "Before" not in loud
    free = str(gpc.asymptotics(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.0)))
    assert free.startswith("Without noise the error falls faster than any power of n.")
    few = str(gpc.asymptotics(gpc.Problem(gpc.Linear(), gpc.Sphere(3), 0.1)))
    assert "only 3 eigenfunctions" in few
    assert "0.3/n" in few


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (
            gpc.Problem(gpc.OU(0.1), gpc.Torus(1), 0.1, gpc.Teacher(gpc.RBF(0.1), 0.1)),
            "the model must be well specified",
        ),
        (gpc.Problem(gpc.OU(0.1), gpc.Torus(1), gpc.Probit()), "they need Gaussian noise"),
        (gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(p=4), 0.1), "this is a graph"),
    ],
)
def test_what_is_refused(problem: gpc.Problem, reason: str) -> None:
    with pytest.raises(gpc.NotApplicableError, match=reason):
        gpc.asymptotics(problem)


def test_pictures_pages_and_data(tmp_path: Path) -> None:
    problem = gpc.Problem(gpc.Matern32(0.1), gpc.Torus(1), 0.01)
    law = gpc.asymptotics(problem)
    law.save(tmp_path / "law.png")
    assert_drawn((tmp_path / "law.png").read_bytes())
    assert str(law).split(":")[0] in law._repr_html_()
    law.save(tmp_path / "law.json")
    plain = json.loads((tmp_path / "law.json").read_text())
    assert plain["law"]["exponent"] == law.exponent
    gpc.learning_curve(problem, "lc", [10, 100]).save(tmp_path / "curve.html")
    assert "How fast the error falls" in (tmp_path / "curve.html").read_text()
    gpc.learning_curve(problem, "simulation", [10], datasets=4, rng=0).save(tmp_path / "curve.html")
    assert "How fast the error falls" not in (tmp_path / "curve.html").read_text()
