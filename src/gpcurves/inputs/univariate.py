"""One-dimensional inputs with any density that SciPy knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs
from gpcurves.numerics.quadrature import GAUSS_NODES, GAUSS_WEIGHTS, distance_edges, gauss_legendre
from gpcurves.numerics.validation import FloatArray, real


class Univariate(Inputs):
    """A one-dimensional continuous distribution of ``scipy.stats`` with its parameters fixed.

    Parameters
    ----------
    distribution
        For example ``scipy.stats.beta(2, 5)``.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import scipy
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Univariate(scipy.stats.beta(2, 3)), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.097, 0.006])
    """

    name = ""
    dim = 1
    has_quantiles = True

    def __init__(self, distribution: Any) -> None:
        named = getattr(getattr(distribution, "dist", None), "name", None)
        if named is None or not hasattr(distribution, "pdf"):
            raise InputError(
                f"a distribution must be a frozen one of scipy.stats, like norm(0, 1), got {distribution!r}"
            )
        self.distribution = distribution

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self.distribution.ppf(rng.random((count, 1))))

    def from_uniform(self, cube: FloatArray) -> FloatArray:
        return np.asarray(self.distribution.ppf(np.clip(cube, 1e-12, 1 - 1e-12)))

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        u, weight = np.polynomial.legendre.leggauss(count)
        return np.asarray(self.distribution.ppf((u + 1) / 2))[:, None], weight / 2

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        law = self.distribution
        x, share = self.quantiles(np.concatenate(([0.0], 2.0 ** np.arange(-40, 0.0))))
        first, last = law.support()
        edges = distance_edges(float(x[-1] - x[0]), n)
        result = np.zeros(len(n))
        for at, weight in zip(x.tolist(), share.tolist(), strict=True):
            ends = [end for end in (at - first, last - at) if edges[1] < end < edges[-1]]  # where the density may jump
            a, width = gauss_legendre(np.unique(np.concatenate((edges, ends))))
            density = law.pdf(at + a) + law.pdf(at - a)
            probability = law.cdf(at + a) - law.cdf(at - a)
            small = probability < 1e-3
            lower, upper = np.maximum(at - a[small], first), np.minimum(at + a[small], last)
            # quadrature over the density keeps the relative accuracy that a difference of probabilities loses
            half = (upper - lower) / 2
            points = lower[:, None] + half[:, None] * (1 + GAUSS_NODES)
            probability[small] = half * (law.pdf(points) @ GAUSS_WEIGHTS)
            with np.errstate(divide="ignore"):
                outside = np.log(law.sf(at + a) + law.cdf(at - a))
                log_none = np.where(probability < 0.5, np.log1p(-np.minimum(probability, 0.5)), outside)
            log_none = np.maximum(log_none, -1e30)  # so that 0 times it is 0
            result += weight * n * (np.exp(np.multiply.outer(n - 1, log_none)) @ (width * density * function(a)))
        return result

    def quantiles(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points and weights by Gauss-Legendre between these quantiles in both tails; 0 to 1/2 is half of it."""
        u, weight = gauss_legendre(edges)
        points = np.concatenate((self.distribution.ppf(u), self.distribution.isf(u)[::-1]))
        return points, np.concatenate((weight, weight[::-1]))

    def to_dict(self) -> dict[str, Any]:
        law = self.distribution
        kwds = {key: float(value) for key, value in law.kwds.items()}
        return {"type": "Univariate", "name": law.dist.name, "args": [*map(float, law.args)], "kwds": kwds}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        from scipy import stats

        family = getattr(stats, str(parameters["name"]), None)
        if not isinstance(family, stats.rv_continuous):
            raise InputError(f"scipy.stats has no continuous distribution {parameters['name']!r}")
        args = [real(f"args[{k}]", value) for k, value in enumerate(parameters["args"])]
        kwds = {key: real(key, value) for key, value in parameters["kwds"].items()}
        law = family(*args, **kwds)
        if np.isnan(law.support()).any():
            raise InputError(f"the parameters of {family.name} are invalid")
        return cls(law)

    def __repr__(self) -> str:
        law = self.distribution
        words = [f"{value:g}" for value in law.args] + [f"{key}={value:g}" for key, value in law.kwds.items()]
        return f"Univariate({law.dist.name}({', '.join(words)}))"
