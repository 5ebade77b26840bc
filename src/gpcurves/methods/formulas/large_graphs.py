r"""Eigenvalue theory in the limit of large random regular graphs.

The eigenvalues are those of the tree, Urry & Sollich 2013, eq. (16), and for long walks the curves fall onto one master
curve in :math:`\nu p^{3/2}`, eq. (17).
"""

from __future__ import annotations

import math

import numpy as np

from gpcurves.graphs import RandomRegular, RandomWalkKernel
from gpcurves.graphs.tree import tree_spectrum
from gpcurves.methods.base import Kind, formula
from gpcurves.methods.formulas.approximations import lower_continuous
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem, SpectrumProblem
from gpcurves.spectra import Spectrum

_LONG_WALK = 30
_STEP, _STEPS = 0.04, 700  # nodes in the square root of y for the master curve, until exp(-y) underflows


def _large_regular(problem: Problem) -> str | None:
    if not problem.kernel.spectral:
        return f"it needs a kernel that is a function of T, which {problem.kernel!r} is not"
    if isinstance(problem.ensemble, RandomRegular):
        return None if problem.ensemble.degree >= 1 else "it needs a degree of at least 1"
    return "it is the limit of large random regular graphs, and this is another graph or ensemble"


def _long_walks(problem: Problem) -> str | None:
    if not (isinstance(problem.kernel, RandomWalkKernel) and problem.kernel.p >= _LONG_WALK):
        return f"it is the limit of long walks: it needs a random walk kernel with p of at least {_LONG_WALK}"
    if isinstance(problem.ensemble, RandomRegular) and problem.ensemble.degree < 3:
        return "it needs a degree of at least 3"
    return None if problem.kernel.normalise != "none" else "it needs a normalised kernel"


@formula(
    "mckay",
    "eigenvalue approximation for large regular graphs",
    Kind.APPROXIMATION,
    promise="limit of the eigenvalue approximation for large random regular graphs; not a bound",
    source="Urry & Sollich 2013, eq. (16); spectrum by McKay 1981",
    needs="the ensemble of random regular graphs",
    conditions=(_large_regular,),
    axes=("nu",),
    optimistic=True,
)
def mckay(problem: Problem, nu: FloatArray) -> FloatArray:
    """Return LC with the eigenvalues of the infinite regular tree."""
    assert isinstance(problem.ensemble, RandomRegular)
    t, weight = tree_spectrum(problem.ensemble.degree)
    values = problem.kernel.eigenvalue(t)
    if problem.kernel.normalise != "none":  # on a regular tree global and local normalisation are the same
        values = values / (weight @ values)
    spectrum = Spectrum(problem.kernel.variance * values, weight)
    return lower_continuous(SpectrumProblem(spectrum, problem.noise), nu)


@formula(
    "master",
    "master curve of long walks on large regular graphs",
    Kind.APPROXIMATION,
    promise="limit of the eigenvalue approximation for p → ∞, approached most slowly in the tail; not a bound",
    source="Urry & Sollich 2013, eq. (17)",
    needs="the ensemble of random regular graphs and a random walk kernel with p ≥ 30",
    conditions=(_large_regular, _long_walks),
    axes=("nu",),
    optimistic=True,
)
def master(problem: Problem, nu: FloatArray) -> FloatArray:
    r"""Return the solution of :math:`\epsilon = F(\nu c^{-1}/(\epsilon+\sigma^2))/F(0)`.

    :math:`F(z) = \int_0^\infty \sqrt y/(e^y + z)\,dy`, which is `g` of the eigenvalues :math:`e^{-y}/c` with the density
    :math:`c\sqrt y/F(0)`; :math:`c = rF(0)((a-\lambda_-)/p)^{3/2}`.
    """
    assert isinstance(problem.ensemble, RandomRegular)
    assert isinstance(problem.kernel, RandomWalkKernel)
    d, p, a = problem.ensemble.degree, problem.kernel.p, problem.kernel.a
    edge = 1 - 2 * math.sqrt(d - 1) / d
    F0 = math.sqrt(math.pi) / 2
    r = (d - 1) ** 0.25 * d**2.5 / (math.pi * (d - 2) ** 2)
    c = r * F0 * ((a - edge) / p) ** 1.5
    u = _STEP * np.arange(1, _STEPS)  # y = u²: the integrand is smooth and even in u, so that equal steps converge fast
    spectrum = Spectrum(problem.kernel.variance * np.exp(-u * u) / c, c * 2 * u * u * _STEP / F0)
    return lower_continuous(SpectrumProblem(spectrum, problem.noise), nu)
