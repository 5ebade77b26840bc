r"""What is known about one function after labels at given inputs: its posterior mean, covariances, and draws from them.

Every label counts as a Gaussian one with the precision :math:`\tau_i` and the value :math:`t_i`: its own with Gaussian noise, and the
factor that expectation propagation or Laplace's method puts in its place otherwise. With :math:`S = \mathrm{diag}\,\tau`,
:math:`B = 1+S^{1/2}KS^{1/2} = LL^T` and :math:`W = L^{-1}S^{1/2}C(X, x)`, means are :math:`m(x)+W^TL^{-1}S^{1/2}(t-m(X))` and covariances
:math:`C(x, x')-W^TW'` (Rasmussen & Williams 2006, 2.25, 2.26). With Gaussian noise :math:`K+S^{-1}` is factorised instead, so that some
of it may be zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpcurves.errors import InputError, NumericalError, check_name
from gpcurves.graphs import Graph
from gpcurves.inputs import Vertices
from gpcurves.methods.simulation.dataset import Prior
from gpcurves.methods.simulation.inference import Covariances, expectation_propagation, laplace
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.numerics.cholesky import Factor, factorise_pivoted
from gpcurves.numerics.display import Shown
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, as_numbers, integer, points
from gpcurves.problem import Problem

Mean = float | Callable[[FloatArray], Any]
"""The prior mean: a number, or a function of inputs, one per row, that returns a number for each."""


class Posterior(Shown):
    """The function given labels at inputs; `posterior` makes one.

    Attributes
    ----------
    problem
        Kernel, inputs and kind of label.
    examples, labels
        What was observed: inputs, one per row, and a label for each.
    log_evidence
        The logarithm of the probability of the labels; not a number if expectation propagation inferred the function.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.2), gpc.Box(dim=1), noise=0.01)
    >>> known = gpc.posterior(problem, [[0.2], [0.7]], [1.0, -1.0])
    >>> known.mean([[0.2], [0.7]]).round(2)
    array([ 0.99, -0.99])
    """

    def __init__(self, problem: Problem, examples: FloatArray, labels: FloatArray, mean: Mean, inference: str) -> None:
        self.problem, self.examples, self.labels = problem, examples, labels
        self._mean, self._inference = mean, inference
        self._prior = Prior(problem.kernel, problem.inputs, 0.0)
        n = len(examples)
        check_memory(8.0 * 3 * n**2, f"the posterior of {n} labels", "use fewer labels")
        K = self._prior.between(examples) if n else np.empty((0, 0))
        self._factor, self._scale, target, self.log_evidence = self._learn(K, labels - self._prior_mean(examples))
        self._projected = self._factor.solve((self._scale * target)[:, None])[:, 0]
        if inference == "exact":
            logs = np.log(self._factor.L.diagonal() / self._scale).sum()
            self.log_evidence = float(-0.5 * self._projected @ self._projected - logs - 0.5 * n * math.log(2 * math.pi))

    def _learn(self, K: FloatArray, labels: FloatArray) -> tuple[Factor, FloatArray, FloatArray, float]:
        """Return a factor of the covariances, the scale of its rows, the targets of regression, and the evidence if it is known."""
        n, noises, evidence = len(K), self.problem.observation.noise_at(self.problem.inputs, self.examples), math.nan
        if noises is not None:
            scale, target, B = np.ones(n), labels, np.asfortranarray(K)
            B.ravel(order="K")[:: n + 1] += noises
        else:
            precision, linear, evidence = self._infer(K, labels)
            target = np.divide(linear, precision, out=np.zeros(n), where=precision > 0)
            scale = np.sqrt(precision)
            B = np.asfortranarray(scale[:, None] * K * scale)
            B.ravel(order="K")[:: n + 1] += 1.0
        factor = Factor.from_matrix(B)
        if factor.size < n:
            raise NumericalError(f"double precision resolves only {factor.size} of {n} examples: add noise")
        return factor, scale, target, evidence

    def _infer(self, K: FloatArray, labels: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return the precisions and linear terms of Gaussian factors that stand for labels of any kind, and the evidence."""
        observation = self.problem.observation
        if self._inference == "laplace":
            found = laplace(K, labels, observation)
            return found.precision, found.linear, found.log_evidence
        belief = expectation_propagation(Covariances(K), labels, observation)
        if not belief.converged:
            raise NumericalError(f"expectation propagation did not converge for {len(labels)} labels")
        return belief.precision, belief.linear, math.nan

    def _prior_mean(self, X: FloatArray) -> FloatArray:
        if not callable(self._mean):
            return np.full(len(X), float(self._mean))
        complaint = f"the mean function must return a finite number for each of {len(X)} inputs"
        values = as_numbers(self._mean(X), complaint)
        if values.shape not in ((), (len(X),)) or not np.isfinite(values).all():
            raise InputError(complaint)
        return np.broadcast_to(values, (len(X),)).astype(np.float64)

    def _inputs(self, at: object) -> FloatArray:
        return read_inputs(self.problem, "at", at)

    def _whiten(self, X: FloatArray) -> FloatArray:
        return self._factor.solve(self._scale[:, None] * self._prior.between(self.examples, X))

    def mean(self, at: object) -> FloatArray:
        """Return the expected value of the function at each point."""
        X = self._inputs(at)
        return np.asarray(self._prior_mean(X) + self._whiten(X).T @ self._projected)

    def variance(self, at: object) -> FloatArray:
        """Return the variance of the function at each point, without the noise of labels."""
        X = self._inputs(at)
        W = self._whiten(X)
        return np.asarray(np.maximum(self._prior.variances(X) - np.einsum("ij,ij->j", W, W), 0.0))

    def covariance(self, at: object, other: object = None) -> FloatArray:
        """Return the covariances of the function between points, or between them and others."""
        X = self._inputs(at)
        W = self._whiten(X)
        if other is None:
            return np.asarray(self._prior.between(X) - W.T @ W)
        Y = self._inputs(other)
        return np.asarray(self._prior.between(X, Y) - W.T @ self._whiten(Y))

    def draw(self, at: object, count: int = 1, *, rng: Rng = None) -> FloatArray:
        """Return functions drawn from the posterior: a row of values at the points for each."""
        X = self._inputs(at)
        rows = integer("count", count, 1)
        check_memory(8.0 * (3 * len(X) ** 2 + rows * len(X)), f"functions at {len(X)} points", "ask for fewer points")
        C = np.asfortranarray(self.covariance(X))
        scale = float(self._prior.variances(X).max())
        if not C.diagonal().max() > np.finfo(float).eps * len(X) * scale:  # all of them are known
            return np.broadcast_to(self.mean(X), (rows, len(X))).copy()
        # with pivots, the factor ends where smooth functions leave nothing more to decide
        factor, order = factorise_pivoted(C, np.finfo(float).eps * len(X) * scale)
        normal = np.random.default_rng(seed_of(rng)).standard_normal((rows, factor.shape[1]))
        values = np.empty((rows, len(X)))
        values[:, order] = normal @ factor.T
        return values + self.mean(X)

    def __repr__(self) -> str:
        return f"Posterior({len(self.labels)} labels; {self.problem.describe()})"


def posterior(
    problem: Problem, examples: object, labels: object, *, mean: Mean = 0.0, inference: str | None = None
) -> Posterior:
    """Return the posterior of the function given labels at some inputs; without labels, the prior.

    Parameters
    ----------
    problem
        Kernel, inputs and noise or kind of label, as the model assumes them; a teacher is ignored.
    examples
        Training inputs, one per row; on a given graph names of vertices, or their numbers if they have no names.
    labels
        A label for each example: a number, or a class -1 or 1.
    mean
        The prior mean: a number, or a function of inputs. A known mean does not change a learning curve; for an unknown
        linear trend add the kernel `Linear`.
    inference
        For labels other than numbers with Gaussian noise: "ep" or "laplace".

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.2), gpc.Box(dim=1), noise=0.01)
    >>> known = gpc.posterior(problem, [[0.2], [0.7]], [1.0, -1.0])
    >>> known.mean([[0.2], [0.7]]).round(2)
    array([ 0.99, -0.99])
    >>> known.draw([[0.2], [0.45]], count=3, rng=0).shape
    (3, 2)
    """
    if not isinstance(problem, Problem):
        raise InputError(f"a problem must be a Problem, got {type(problem).__name__}")
    if problem.kernel is None or problem.ensemble is not None:
        raise InputError("a posterior needs a kernel and inputs: a bare spectrum and an ensemble of graphs have none")
    X = read_inputs(problem, "examples", examples)
    y = as_numbers(labels, f"labels must be {len(X)} finite numbers, one for each example", (len(X),))
    if not np.isfinite(y).all():
        raise InputError(f"labels must be {len(X)} finite numbers, one for each example")
    observation = problem.observation
    if observation.classes and not np.isin(y, (-1.0, 1.0)).all():
        raise InputError(f"labels of {observation!r} must be -1 or 1")
    if not callable(mean):
        mean = float(as_numbers(mean, "mean must be a number or a function of inputs", ()))
        if not math.isfinite(mean):
            raise InputError(f"mean must be finite, got {mean}")
    if observation.noise_at(problem.inputs, X) is not None:
        if inference is not None:
            raise InputError("inference is for labels of other kinds: with Gaussian noise the posterior is exact")
        return Posterior(problem, X, y, mean, "exact")
    capable = [each for each in observation.inferences if each in ("ep", "laplace")]
    if observation.classes and (callable(mean) or mean != 0.0):
        raise InputError("a mean applies to numeric labels only: for classes, add a constant kernel")
    return Posterior(problem, X, y, mean, check_name("inference", inference or capable[0], capable))


def read_inputs(problem: Problem, name: str, value: Any) -> FloatArray:
    """Return inputs of a problem, one per row; on a graph vertices by their names, or by numbers if they have none."""
    if isinstance(problem.inputs, Vertices):
        return _vertices(problem.inputs.graph, name, value)
    if hasattr(value, "__len__") and len(value) == 0:
        return np.empty((0, problem.inputs.dim))
    X = points(name, value)
    if X.shape[1] != problem.inputs.dim:
        raise InputError(f"{name} must have {problem.inputs.dim} dimensions as the inputs, got {X.shape[1]}")
    return X


def _vertices(graph: Graph, name: str, value: Any) -> FloatArray:
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f":
        return value  # read already
    if isinstance(value, str) or not np.iterable(value):
        raise InputError(f"{name} must be a list of vertices, got {value!r}")
    return np.array([graph.number(each) for each in value], dtype=np.float64).reshape(-1, 1)
