r"""Posterior means at all vertices of large graphs, by conjugate gradients or a sparse factorisation.

With labels :math:`y` at the vertices `o`, of noise variances :math:`s`, the mean is :math:`C_{\cdot o}(C_{oo}+\mathrm{diag}(s))^{-1}y`.
Conjugate gradients need products with `C` alone, and no matrix. Powers of a resolvent, :math:`C = \kappa^{-1/2}A^{-\nu}\kappa^{-1/2}`
with the sparse :math:`A = I + \alpha L`, have another form with the same mean: :math:`\sqrt\kappa\,m = z` and

.. math:: \big(A^\nu + \kappa^{-1/2}\Gamma\kappa^{-1/2}\big)z = \kappa^{-1/2}\Gamma y,\qquad \Gamma = \mathrm{diag}(1/s)\ \text{at}\ o.

No eigenvalue of this matrix is below 1, so that the error of `z` is at most the residual. The form that takes less work is used.

Products with `C` are long series of steps along edges. Iterations do with shorter ones, of a millionth of the largest eigenvalue,
since the residual is computed from the whole series every four digits, and what is left of it is solved again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError, NumericalError
from gpcurves.graphs.covariance import GraphCovariance, Resolvent
from gpcurves.graphs.elimination import elimination, factorise, shifted
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray, as_numbers, frozen, integer, positive

_ROUGH = 1e-6  # share of the largest eigenvalue that products inside iterations may leave out
_DIGITS = 1e-4  # by which iterations with such products lower the residual before it is computed anew
_ITERATIONS = 80  # that conjugate gradients with products take on typical labels, for the choice between the forms
_HALVINGS, _WORSE = 0.5 * math.log(2e8), 3.0  # iterations per root of the condition number for eight digits
_FACTOR = 0.3
"""Multiplications of a sparse factorisation that take as long as one entry of a product with T."""
_MOST_FILL = 3e7  # entries of the factor up to which the sparse form is factorised instead of iterated


class Solution(NamedTuple):
    """Posterior means at all vertices, the iterations that they took (0 by a factorisation) and the relative residual."""

    mean: FloatArray
    iterations: int
    residual: float


def solve_mean(
    covariance: GraphCovariance,
    observed: npt.ArrayLike,
    noise: npt.ArrayLike,
    targets: npt.ArrayLike,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 5_000,
) -> Solution:
    """Return posterior means at all vertices from labels at some.

    Parameters
    ----------
    covariance
        A kernel on a graph, ``kernel.on(graph)``.
    observed
        The numbers of the vertices with labels, each once.
    noise
        The noise variance of each label (that of an average over several labels at a vertex), or one for all.
    targets
        The labels; several columns are solved together, and the mean then has as many.
    tolerance
        The largest residual relative to the right-hand side.
    max_iterations
        After so many iterations without convergence `NumericalError` is raised.
    """
    vertices, variances, values = _check(covariance.graph.vertices, observed, noise, targets)
    limit, most = positive("tolerance", tolerance), integer("max_iterations", max_iterations, 1)
    columns = values[:, None] if values.ndim == 1 else values
    labels = vertices, variances, columns
    if columns.size == 0:
        return Solution(frozen(np.zeros((covariance.graph.vertices, *values.shape[1:]))), 0, 0.0)
    sparse = covariance.kernel.resolvent
    if sparse is not None and _prefers_precision(covariance, sparse, labels, most):
        mean, iterations, residual = _by_precision(covariance, sparse, labels, limit, most)
    else:
        mean, iterations, residual = _by_products(covariance, labels, limit, most)
    return Solution(frozen(mean[:, 0].copy() if values.ndim == 1 else mean), iterations, residual)


Labels = tuple[IntArray, FloatArray, FloatArray]
Product = Callable[[FloatArray], FloatArray]


def _check(count: int, observed: npt.ArrayLike, noise: npt.ArrayLike, targets: npt.ArrayLike) -> Labels:
    vertices = np.asarray(observed)
    if vertices.size == 0:
        vertices = vertices.astype(np.int64)
    if vertices.ndim != 1 or vertices.dtype.kind not in "iu" or ((vertices < 0) | (vertices >= count)).any():
        raise InputError(f"observed must be vertex numbers between 0 and {count - 1}")
    if len(np.unique(vertices)) < len(vertices):
        raise InputError("observed must be different vertices: give the average of several labels at one")
    values = as_numbers(targets, "targets must be numbers")
    if values.ndim not in (1, 2) or len(values) != len(vertices):
        raise InputError(f"targets must be one row per observed vertex ({len(vertices)}), got the shape {values.shape}")
    variances = as_numbers(noise, "noise must be one number, or one per observed vertex", shape=(len(vertices),))
    if not (np.isfinite(variances) & (variances > 0)).all():
        raise InputError("noise must be finite and greater than 0 at every observed vertex")
    if not np.isfinite(values).all():
        raise InputError("targets must be finite, got NaN or infinity")
    return vertices.astype(np.int64), variances, values


def _prefers_precision(covariance: GraphCovariance, sparse: Resolvent, labels: Labels, most: int) -> bool:
    """Tell whether the sparse form takes fewer products with the matrix of edges than the covariances."""
    if sparse.exponent == 1:
        return True
    V = covariance.graph.vertices
    # Without data the eigenvalues lie between 1 and this number. Labels raise the smallest ones by about their average
    # gain; three times what the quotient suggests are needed, since labels are not everywhere (measured on grids).
    largest = (1 + 2 * sparse.factor) ** float(sparse.exponent)
    gain = float((1 / (labels[1] * covariance.normaliser[labels[0]])).sum()) / V
    expected = _WORSE * _HALVINGS * math.sqrt(1 + largest / (1 + gain))
    rough = covariance.roughly(_ROUGH)
    if rough is not None:
        steps = float(rough[1])
    else:
        found = elimination(covariance.graph)
        assert found is not None
        steps = sparse.exponent * found.solving / V
    return expected <= most / 2 and expected * sparse.exponent <= _ITERATIONS * steps


def _by_products(
    covariance: GraphCovariance, labels: Labels, tolerance: float, most: int
) -> tuple[FloatArray, int, float]:
    vertices, variances, columns = labels

    # Scaled to noise of 1, so that labels of very different precision do not slow the iteration down.
    root = np.sqrt(variances)[:, None]

    def spread(weights: FloatArray, product: Product) -> FloatArray:
        everywhere = np.zeros((covariance.graph.vertices, weights.shape[1]))
        everywhere[vertices] = weights / root
        return product(everywhere)

    def multiply(weights: FloatArray) -> FloatArray:
        return spread(weights, covariance.__matmul__)[vertices] / root + weights

    rough = covariance.roughly(_ROUGH)
    quick = None if rough is None else lambda x: spread(x, rough[0])[vertices] / root + x
    solved, iterations, residual = conjugate_gradients(multiply, columns / root, tolerance, most, quick=quick)
    return spread(solved, covariance.__matmul__), iterations, residual


def _by_precision(
    covariance: GraphCovariance, sparse: Resolvent, labels: Labels, tolerance: float, most: int
) -> tuple[FloatArray, int, float]:
    vertices, variances, columns = labels
    graph, root = covariance.graph, np.sqrt(covariance.normaliser)
    gains = np.zeros(graph.vertices)
    gains[vertices] = 1 / (variances * root[vertices] ** 2)
    right = np.zeros((graph.vertices, columns.shape[1]))
    right[vertices] = columns / (variances * root[vertices])[:, None]
    A = shifted(graph, sparse.factor).tocsr()

    def precision(z: FloatArray) -> FloatArray:
        result = z
        for _ in range(sparse.exponent):
            result = A @ result
        return np.asarray(result + gains[:, None] * z)

    if sparse.exponent == 1 and _factorises(covariance, sparse):
        z = np.asarray(factorise(graph, sparse.factor, gains).solve(right))
        residual = _relative(right - precision(z), right)
        iterations = 0
        if not residual <= tolerance:
            raise NumericalError(f"the factorisation left a relative residual of {residual:.1e}")
    else:
        # The diagonal of A^ν is nearly the same at all vertices, that of the data is not.
        inverse = 1 / ((1 + sparse.factor) ** float(sparse.exponent) + gains)[:, None]
        z, iterations, residual = conjugate_gradients(precision, right, tolerance, most, lambda r: inverse * r)
    return z / root[:, None], iterations, residual


def _factorises(covariance: GraphCovariance, sparse: Resolvent) -> bool:
    """Tell whether a factorisation takes less work than iterations."""
    found = elimination(covariance.graph)
    if found is None or found.fill > _MOST_FILL:
        return False
    iterations = _HALVINGS * math.sqrt(1 + 2 * sparse.factor)
    return _FACTOR * found.work <= iterations * covariance.graph.vertices


def conjugate_gradients(
    multiply: Product,
    right: FloatArray,
    tolerance: float,
    most: int,
    precondition: Product = lambda r: r,
    quick: Product | None = None,
) -> tuple[FloatArray, int, float]:
    """Solve a positive definite system for several right-hand sides, and return also iterations and relative residual.

    Columns share products, but each has steps of its own, as if it were alone. The residual is computed afresh at the end; the
    iteration is restarted if rounding errors had made it look smaller than it is. ``quick`` multiplies nearly as ``multiply`` does:
    if given it is used inside iterations, as long as restarts lower the residual by ten or more.
    """
    x = np.zeros_like(right)
    done, former_residual = 0, np.inf
    while True:
        r = right - multiply(x) if done else right.copy()
        residual = _relative(r, right)
        if residual <= tolerance:
            return x, done, residual
        if done >= most or not np.isfinite(residual):
            raise NumericalError(
                f"conjugate gradients left a relative residual of {residual:.1e} after {done} iterations, "
                f"which should be {tolerance:.1e}: allow more iterations, or more noise"
            )
        if quick is not None and residual > 0.1 * former_residual:
            quick = None
        goal = 0.5 * tolerance if quick is None else max(0.5 * tolerance, _DIGITS * residual)
        added, steps = _iterate(multiply if quick is None else quick, r, right, goal, most - done, precondition)
        x, done, former_residual = x + added, done + steps, residual


def _iterate(
    multiply: Product, r: FloatArray, right: FloatArray, goal: float, most: int, precondition: Product
) -> tuple[FloatArray, int]:
    """Solve for a residual until it is small relative to the right-hand side, and return also the iterations."""
    x = np.zeros_like(r)
    z = precondition(r)
    p, rho = z, _dots(r, z)
    for done in range(1, most + 1):
        q = multiply(p)
        curvature = _dots(p, q)
        step = np.divide(rho, curvature, out=np.zeros_like(rho), where=curvature > 0)
        x = x + step * p
        r = r - step * q
        if _relative(r, right) <= goal or not np.isfinite(step).all():
            return x, done
        z = precondition(r)
        former, rho = rho, _dots(r, z)
        p = z + np.divide(rho, former, out=np.zeros_like(rho), where=former > 0) * p
    return x, most


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->j", a, b))


def _relative(r: FloatArray, right: FloatArray) -> float:
    """Return the largest residual of a column relative to its right-hand side."""
    size = np.sqrt(_dots(right, right))
    return float(np.max(np.sqrt(_dots(r, r)) / np.where(size > 0, size, 1.0)))
