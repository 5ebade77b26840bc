r"""What one data set of linear observations says about the function.

With evaluations `F` at points and labels :math:`y = HF+\mathrm{noise}`, the posterior at other points has the mean
:math:`k^TK^{-1}y` and the covariance :math:`C-k^TK^{-1}k`, with :math:`K = HC_{FF}H^T+R` and :math:`k = HC_{F\cdot}` (Engel, Mannor & Meir 2005
for temporal differences).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.graphs.graph import IntArray
from gpcurves.inputs import Vertices
from gpcurves.methods.functionals.evaluations import covariance
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.validation import FloatArray, as_numbers, frozen
from gpcurves.numerics.validation import points as checked_points
from gpcurves.observations import Derivatives, GaussianNoise, TemporalDifferences
from gpcurves.observations.functionals import Functional
from gpcurves.problem import Problem


@dataclass(frozen=True, eq=False)
class LinearPosterior:
    """The function at some points, given labels that are linear in it.

    Attributes
    ----------
    mean, covariance
        Posterior mean and covariance at the points asked for; read-only.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.3), gpc.Box(dim=1), noise=0.01)
    >>> found = gpc.linear_posterior(problem, [[0.5, 0.5]], [[0.4], [0.6]], labels=[1.0], at=[[0.5], [0.9]])
    >>> found.variance.round(2)
    array([0.02, 0.8 ])
    """

    mean: FloatArray
    covariance: FloatArray

    @property
    def variance(self) -> FloatArray:
        """The posterior variance at each point."""
        return self.covariance.diagonal()


def linear_posterior(
    problem: Problem,
    weights: object,
    points: object,
    labels: object,
    at: object,
    *,
    components: object = None,
    noise: object = None,
) -> LinearPosterior:
    """Return the posterior of the function at some points, given labels that are weighted sums of it.

    Parameters
    ----------
    problem
        Kernel, inputs and noise; temporal differences have their own noise of rewards.
    weights
        A row per label and a column per evaluation of the function, dense or sparse; for rewards along a trajectory
        ``problem.observation.weights(states, ends)``.
    points, at
        Where the function is evaluated, and where it is predicted: one input per row, or numbers of vertices.
    labels
        One number per row of ``weights``.
    components
        By which component each evaluation is differentiated, from 0; -1 for function values. Function values unless given.
    noise
        The covariance of the noise of the labels, or its variance; that of the problem unless given.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.3), gpc.Box(dim=1), noise=0.01)
    >>> found = gpc.linear_posterior(problem, [[0.5, 0.5]], [[0.4], [0.6]], labels=[1.0], at=[[0.5], [0.9]])
    >>> found.mean.round(2)
    array([1.04, 0.47])
    """
    X, Y = _places(problem, "points", points), _places(problem, "at", at)
    rows = _weights(weights, len(X))
    y = as_numbers(labels, "labels must be numbers")
    if y.shape != (rows.shape[0],):
        raise InputError(f"labels must be one per row of weights ({rows.shape[0]}), got shape {y.shape}")
    if not np.isfinite(y).all():
        raise InputError("labels must be finite, got NaN or infinity")
    by = _components(components, len(X), problem)
    C = covariance(problem.kernel, problem.inputs, X, by, X, by)
    K = np.asarray(rows @ (rows @ C).T)
    factor = Factor.from_matrix(np.asfortranarray((K + K.T) / 2 + _noise(problem, rows, noise)))
    if factor.size < len(y):
        raise NumericalError(f"double precision resolves only {factor.size} of {len(y)} labels: add noise")
    W = factor.solve(np.asarray(rows @ covariance(problem.kernel, problem.inputs, X, by, Y, None)))
    mean = W.T @ factor.solve(y[:, None])[:, 0]
    prior = problem.inputs.kernel_matrix(problem.kernel, Y)
    return LinearPosterior(frozen(mean), frozen(np.asarray(prior - W.T @ W)))


def _places(problem: Problem, name: str, value: object) -> FloatArray:
    if problem.kernel is None or problem.ensemble is not None:
        raise InputError("a posterior needs a kernel and inputs, or a given graph")
    places = checked_points(name, value)
    if places.shape[1] != problem.inputs.dim:
        raise InputError(f"{name} must have {problem.inputs.dim} dimensions as the inputs, got {places.shape[1]}")
    if isinstance(problem.inputs, Vertices):
        last = problem.inputs.graph.vertices - 1
        if (places != np.floor(places)).any() or places.min() < 0 or places.max() > last:
            raise InputError(f"{name} must be numbers of vertices between 0 and {last}")
    return places


def _weights(weights: object, count: int) -> Any:
    import scipy.sparse

    if scipy.sparse.issparse(weights):
        rows: Any = scipy.sparse.csr_array(weights)
    else:
        rows = as_numbers(weights, "weights must be a matrix of numbers")
    if rows.ndim != 2 or rows.shape[1] != count or rows.shape[0] == 0:
        raise InputError(f"weights must have a row per label and a column per point ({count}), got shape {rows.shape}")
    if not np.isfinite(rows.sum()):
        raise InputError("weights must be finite, got NaN or infinity")
    return rows


def _components(components: object, count: int, problem: Problem) -> IntArray | None:
    if components is None:
        return None
    by = as_numbers(components, "components must be integers")
    if by.shape != (count,) or not np.isin(by, np.arange(-1, problem.inputs.dim)).all():
        last = problem.inputs.dim - 1
        raise InputError(f"components must be one integer per point ({count}), between -1 and {last}")
    if (reason := Derivatives(0.0).unfit(problem.kernel, problem.inputs)) is not None:
        raise InputError(reason)
    return by.astype(np.int64)


def _noise(problem: Problem, rows: Any, noise: object) -> FloatArray:
    """Return the covariance of the noise of labels."""
    observation, count = problem.observation, rows.shape[0]
    if noise is None:
        if not isinstance(observation, Functional | GaussianNoise):
            raise InputError(f"noise is needed, the covariance of the noise of the labels: these are {observation!r}")
        unit = np.eye(count)
        if isinstance(observation, TemporalDifferences) and observation.dynamics == "stochastic":
            mixed = rows @ rows.T
            unit = np.asarray(mixed if isinstance(mixed, np.ndarray) else mixed.toarray())
        return observation.variance * unit
    matrix = as_numbers(noise, "noise must be a number or a matrix of numbers")
    if matrix.ndim == 0:
        matrix = float(matrix) * np.eye(count)
    if matrix.shape != (count, count) or not np.isfinite(matrix).all():
        raise InputError(f"noise must be a finite number or a matrix of {count} by {count}, got shape {matrix.shape}")
    if matrix.diagonal().min() < 0 or abs(matrix - matrix.T).max() > 1e-10 * max(abs(matrix).max(), 1e-300):
        raise InputError("noise must be symmetric with variances of at least 0")
    return matrix
