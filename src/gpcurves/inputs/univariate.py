"""One-dimensional inputs with any density that SciPy knows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs
from gpcurves.numerics.quadrature import gauss_legendre
from gpcurves.numerics.validation import FloatArray


class Univariate(Inputs):
    """A one-dimensional continuous distribution of ``scipy.stats`` with its parameters fixed.

    Parameters
    ----------
    distribution
        For example ``scipy.stats.beta(2, 5)``.
    """

    def __init__(self, distribution: Any) -> None:
        named = getattr(getattr(distribution, "dist", None), "name", None)
        if named is None or not hasattr(distribution, "pdf"):
            raise InputError(
                f"a distribution must be a frozen one of scipy.stats, like norm(0, 1), got {distribution!r}"
            )
        self.distribution = distribution

    @property
    def dim(self) -> int:
        """One component."""
        return 1

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        drawn: FloatArray = self.distribution.ppf(rng.random((count, 1)))
        return drawn

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        u, weight = np.polynomial.legendre.leggauss(count)
        return np.asarray(self.distribution.ppf((u + 1) / 2))[:, None], weight / 2

    def quantiles(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points and weights by Gauss-Legendre between these quantiles in both tails; 0 to 1/2 is half of it."""
        u, weight = gauss_legendre(edges)
        points = np.concatenate((self.distribution.ppf(u), self.distribution.isf(u)[::-1]))
        return points, np.concatenate((weight, weight[::-1]))

    def to_dict(self) -> dict[str, Any]:
        law = self.distribution
        return {"type": "Univariate", "name": law.dist.name, "args": list(law.args), "kwds": dict(law.kwds)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        from scipy import stats

        family = getattr(stats, str(data["name"]), None)
        if not isinstance(family, stats.rv_continuous):
            raise InputError(f"scipy.stats has no continuous distribution {data['name']!r}")
        return cls(family(*data["args"], **data["kwds"]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Univariate) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        law = self.distribution
        words = [f"{value:g}" for value in law.args] + [f"{key}={value:g}" for key, value in law.kwds.items()]
        return f"Univariate({law.dist.name}({', '.join(words)}))"
