"""Inputs with a density: uniform on the torus or on the box, and Gaussian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, roots_legendre

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs, tensor_rule
from gpcurves.numerics.validation import FloatArray, positive, whole

_MOST_DIMENSIONS = 100
_TENSOR_DIM = 3
"""Up to this dimension nodes are a tensor product of one-dimensional rules, beyond it a Sobol sequence."""


def _sobol(dim: int, count: int) -> FloatArray:
    from scipy.stats import qmc

    points: FloatArray = qmc.Sobol(dim, scramble=True, rng=0).random_base2(int(np.ceil(np.log2(count))))
    return points


def _equal(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    return points, np.full(len(points), 1.0 / len(points))


def _normal_rule(count: int) -> tuple[FloatArray, FloatArray]:
    """Integrate over the standard normal: Gauss-Hermite, or the trapezoidal rule where that would overflow."""
    if count <= 120:
        x, weight = np.polynomial.hermite_e.hermegauss(count)
    else:  # converges exponentially for analytic functions that decay at both ends
        x = np.linspace(-8.5, 8.5, count)
        weight = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


@dataclass(frozen=True, repr=False)
class _Unit(Inputs):
    dim: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", whole("dimension", self.dim, 1, _MOST_DIMENSIONS))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.random((count, self.dim))


@dataclass(frozen=True, repr=False)
class Torus(_Unit):
    """Uniform on [0, 1]^dim with opposite faces joined; the kernel is summed over all its periodic images."""

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        if self.dim > _TENSOR_DIM:
            return _equal(_sobol(self.dim, count))
        each = max(2, round(count ** (1 / self.dim)))
        return tensor_rule(self.dim, np.arange(each) / each, np.full(each, 1.0 / each))


@dataclass(frozen=True, repr=False)
class Box(_Unit):
    """Uniform on [0, 1]^dim, without periodic images."""

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        if self.dim > _TENSOR_DIM:
            return _equal(_sobol(self.dim, count))
        x, w = roots_legendre(max(2, round(count ** (1 / self.dim))))
        return tensor_rule(self.dim, (x + 1) / 2, w / 2)


@dataclass(frozen=True, repr=False)
class Gaussian(Inputs):
    """Gaussian with zero mean.

    Parameters
    ----------
    dim
        Number of components.
    variance
        Variance of each component; 1/12 unless given, that of the uniform distribution on [0, 1].
    covariance
        A full covariance matrix instead, as nested sequences or an array.
    """

    dim: int = 1
    variance: float = 1 / 12
    covariance: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", whole("dimension", self.dim, 1, _MOST_DIMENSIONS))
        object.__setattr__(self, "variance", positive("input variance", self.variance))
        if self.covariance is None:
            return
        try:
            matrix = np.array(self.covariance, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError("covariance must be a square matrix of finite numbers") from error
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise InputError(f"covariance must be a square matrix of finite numbers, got shape {matrix.shape}")
        if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0) or np.linalg.eigvalsh(matrix)[0] <= 0:
            raise InputError("covariance must be symmetric and positive definite")
        if self.dim not in (1, len(matrix)):
            raise InputError(f"covariance must have {self.dim} rows for {self.dim} dimensions, got {len(matrix)}")
        object.__setattr__(self, "covariance", tuple(map(tuple, matrix.tolist())))
        object.__setattr__(self, "dim", len(matrix))

    @property
    def matrix(self) -> FloatArray:
        """The covariance matrix."""
        return self.variance * np.eye(self.dim) if self.covariance is None else np.array(self.covariance)

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        drawn: FloatArray = rng.standard_normal((count, self.dim)) @ np.linalg.cholesky(self.matrix).T
        return drawn

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        root = np.linalg.cholesky(self.matrix).T
        if self.dim > _TENSOR_DIM:
            return _equal(ndtri(np.clip(_sobol(self.dim, count), 1e-12, 1 - 1e-12)) @ root)
        points, weights = tensor_rule(self.dim, *_normal_rule(max(2, round(count ** (1 / self.dim)))))
        return points @ root, weights
