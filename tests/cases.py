"""The registries over which laws are tested: a new kernel, input distribution or method enters every law through them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats
from sklearn.gaussian_process import kernels as sklearn_kernels

from gpcurves import (
    OU,
    RBF,
    ArcCosine,
    Box,
    Discrete,
    GammaExponential,
    Gaussian,
    Linear,
    Matern,
    Matern32,
    Matern52,
    Polynomial,
    PowerSeries,
    Problem,
    RationalQuadratic,
    Sample,
    Spectrum,
    SpectrumProblem,
    Sphere,
    Torus,
)
from gpcurves.inputs import Copula, Inputs, Pool, Univariate
from gpcurves.kernels import Kernel, Product, Sum, as_kernel
from gpcurves.methods import METHODS, Kind
from gpcurves.numerics.validation import FloatArray

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.7, 1.3),
    "rbf, one lengthscale per dimension": RBF((0.4, 1.1)),
    "ou": OU(0.5, 0.2),
    "matern32": Matern32(0.8),
    "matern52": Matern52((0.3, 0.9), 2.0),
    "matern, nu = 0.3": Matern(0.6, smoothness=0.3),
    "matern, nu = 1": Matern(0.6, smoothness=1),
    "matern, nu = 3.2": Matern(0.6, 1.7, smoothness=3.2),
    "rational quadratic": RationalQuadratic(0.5, alpha=0.8),
    "rational quadratic, alpha = 6": RationalQuadratic(0.5, alpha=6),
    "stretched exponential": GammaExponential(0.5, gamma=1.4),
    "stretched exponential, gamma = 1": GammaExponential(0.5, gamma=1),
    "stretched exponential, gamma = 2": GammaExponential(0.5, gamma=2),
    "linear": Linear(0.4, 0.3),
    "polynomial": Polynomial(1.2, 0.5, 3),
    "arc cosine": ArcCosine(1, 0.7),
    "arc cosine, steps": ArcCosine(0, bias=0.5),
    "arc cosine, quadratic": ArcCosine(2, bias=0.1),
    "power series": PowerSeries((0.5, 0.0, 1.0, 0.2), 0.6),
    "sum": RBF(0.3) + 2 * OU(1.0),
    "product": RBF(0.3, 0.5) * Matern32(1.0) * Linear(bias=1),
    "sum of products": Matern52(0.4) * OU(1.0) + Linear(),
    "wrapped": as_kernel(sklearn_kernels.RationalQuadratic(0.8, 1.7) ** 2).scaled(0.6),
}
"""At least one of every kernel class."""

_TABLE = np.column_stack((np.linspace(-1, 3, 90) ** 2, np.eye(3)[np.arange(90) // 35], np.arange(90) % 4 * 0.5))
"""A table with a number, a category with three values, and a number with few values."""

INPUTS: dict[str, Inputs] = {
    "circle": Torus(1),
    "torus, d = 2": Torus(2),
    "torus, d = 5": Torus(5),
    "interval": Box(1),
    "box, d = 3": Box(3),
    "box, d = 4": Box(4),
    "gaussian": Gaussian(1, 0.3),
    "gaussian, correlated": Gaussian(covariance=((0.5, 0.2), (0.2, 0.3))),
    "gaussian, d = 4": Gaussian(4, 2.0),
    "discrete": Discrete(np.array([0.1, 0.4, 0.45, 2.0]), np.array([0.1, 0.2, 0.3, 0.4])),
    "discrete, d = 2": Discrete(np.array([[0.0, 1.0], [2.0, 0.5], [0.3, 0.3]])),
    "circle in the plane": Sphere(2),
    "sphere": Sphere(3),
    "sphere, d = 6": Sphere(6),
    "beta": Univariate(stats.beta(2, 5)),
    "sample": Sample(np.random.default_rng(5).normal(size=(300, 2))),
    "pool": Pool(np.random.default_rng(6).normal(size=(200, 2))),
    "copula": Copula(_TABLE, categories=((1, 2, 3),), targets=_TABLE[:, 0] + 2 * _TABLE[:, 2]),
}
"""At least one of every input distribution."""

_RANDOM = np.random.default_rng(11)

SPECTRA: dict[str, Spectrum] = {
    "one value": Spectrum(np.array([0.7])),
    "two values": Spectrum(np.array([1.0, 0.2])),
    "equal values": Spectrum(np.array([0.3]), np.array([7.0])),
    "gaps": Spectrum(np.array([1.0, 1e-5, 1e-20])),
    "power law": Spectrum(np.arange(1.0, 51.0) ** -2),
    "exponential": Spectrum(0.5 * np.exp(-np.arange(40.0))),
    "multiplicities": Spectrum(np.array([2.0, 0.9, 0.05]), np.array([1.0, 6.0, 30.0])),
    "random": Spectrum(_RANDOM.lognormal(-3, 2, 60)),
}
"""Small spectra without a tail, whose sums can be retyped."""

_points = np.array([0.0, 0.15, 0.4, 1.0])
_chance = np.array([0.4, 0.3, 0.2, 0.1])

PROBLEMS: dict[str, Problem] = {
    "circle, rbf": Problem(RBF(0.1), Torus(1), 0.05),
    "circle, ou": Problem(OU(0.3), Torus(1), 0.01),
    "circle, no noise": Problem(OU(0.3), Torus(1), 0.0),
    "torus, rbf": Problem(RBF(0.2), Torus(2), 0.1),
    "torus, matern": Problem(Matern32((0.2, 0.35)), Torus(2), 0.1),
    "interval, matern": Problem(Matern52(0.2), Box(1), 0.05),
    "gaussian, rbf": Problem(RBF(0.2), Gaussian(1), 0.05),
    "sphere, arc cosine": Problem(ArcCosine(1, bias=0.3), Sphere(4), 0.05),
    "discrete, ou": Problem(OU(0.5), Discrete(_points, _chance), 0.1),
    "discrete, linear": Problem(Linear(bias=0.5), Discrete(_points, _chance), 0.1),
    "bare power law": SpectrumProblem(SPECTRA["power law"], 0.02),
    "bare, two values, no noise": SpectrumProblem(SPECTRA["two values"], 0.0),
}


def applicable(problem: Problem) -> list[str]:
    """Return the theoretical methods that apply to a problem, at whole n."""
    known = (method for method in METHODS.values() if "n" in method.axes)
    theory = (method for method in known if method.kind is not Kind.ESTIMATE and method.second is None)
    return [method.name for method in theory if method.objection(problem) is None]


LONG = ("torus, matern", "sphere, arc cosine")
"""Problems on which local theory takes seconds for each size, so that its laws are tested on the others."""
PAIRS = [
    (name, method)
    for name, problem in PROBLEMS.items()
    for method in applicable(problem)
    if not (method == "local" and name in LONG)
]
"""Every problem with every method that applies to it."""


def evaluate(problem: Problem, method: str, n: object) -> FloatArray:
    """Return the error by a method at each n."""
    return METHODS[method](problem, np.atleast_1d(np.asarray(n, dtype=np.float64)))


def listed(spectrum: Spectrum) -> list[float]:
    """Return every eigenvalue as often as it occurs."""
    assert spectrum.tail is None
    return [v for v, m in zip(spectrum.values, spectrum.multiplicities, strict=True) for _ in range(round(m))]


def parts(kernel: Kernel) -> list[Kernel]:
    """Return a kernel and everything that it is made of."""
    inner = kernel.parts if isinstance(kernel, Sum | Product) else ()
    return [kernel, *(each for part in inner for each in parts(part))]


def smooth_sum(spectrum: Spectrum, function: Callable[[FloatArray], FloatArray]) -> float:
    """Return the sum of eigenvalue times function(eigenvalue) over a whole spectrum, through its measure."""
    return float(spectrum.measure.masses @ function(np.exp(spectrum.measure.log_values)))


def g(spectrum: Spectrum, h: float) -> float:
    """Return the sum of λ/(1 + hλ), through the measure."""
    return smooth_sum(spectrum, lambda value: 1 / (1 + h * value))
