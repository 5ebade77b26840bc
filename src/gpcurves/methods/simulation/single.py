r"""Single functions and data sets instead of averages.

**Prediction vectors** say which vertices make a mismatched student fail: Urry & Sollich 2013, appendix B. The student's
prediction is :math:`\bar f = Mz` with :math:`M = K_V K^{-1/2}` and pseudo-outputs :math:`z = K^{-1/2}y`. For a matched teacher
:math:`\langle zz^T\rangle = I`; otherwise its diagonal says how much more, or less, than expected each prediction vector
(column of `M`) contributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray, check_dense
from gpcurves.inputs import Vertices
from gpcurves.methods.simulation.dataset import Prior
from gpcurves.methods.simulation.method import SimulationOptions, check_graph_size
from gpcurves.methods.simulation.posterior import posterior, read_inputs
from gpcurves.methods.simulation.vertices import LocalErrors, draw_counts
from gpcurves.montecarlo import Rng, Run, seed_of
from gpcurves.numerics.cholesky import factorise_pivoted
from gpcurves.numerics.validation import FloatArray, frozen, nonnegative
from gpcurves.problem import Problem

_MOST_EXAMPLES = 5_000  # examples of which prediction vectors are computed


def sample_prior(problem: Problem, at: object, *, rng: Rng = None) -> FloatArray:
    """Return the values at some points of one function drawn from the prior, without noise.

    Parameters
    ----------
    problem
        Kernel and inputs; if there is a teacher, the function is the teacher's.
    at
        The points, one per row.
    rng
        Seed: the same seed gives the same function.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.sample_prior(problem, [[0.1], [0.5], [0.9]], rng=0).shape
    (3,)
    """
    X = read_inputs(problem, "at", at)
    C = np.asfortranarray(Prior(problem.true_kernel, problem.inputs, 0.0).between(X))
    # with pivots, the factor ends where smooth functions leave nothing more to decide
    factor, order = factorise_pivoted(C, np.finfo(float).eps * len(X) * float(C.diagonal().max()))
    value = np.empty(len(X))
    normal = np.random.default_rng(seed_of(rng)).standard_normal(factor.shape[1])
    value[order] = factor @ normal
    return value


def posterior_variance(problem: Problem, examples: object, at: object) -> FloatArray:
    r"""Return :math:`\epsilon(x, D) = C(x,x) - k(x)^TK^{-1}k(x)` at some points, SH02 (2).

    Parameters
    ----------
    problem
        Kernel, inputs and noise; without a teacher.
    examples, at
        Training inputs, and points at which to evaluate, one per row.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.posterior_variance(problem, [[0.1], [0.5]], at=[[0.1], [0.3]]).round(3)
    array([0.048, 0.965])
    """
    if problem.teacher is not None:
        raise InputError("the error at a point is the posterior variance only for a well-specified model")
    X = read_inputs(problem, "examples", examples)
    return posterior(problem, X, np.zeros(len(X))).variance(at)


def one_data_set(
    problem: Problem, nu: float, *, vertices: int | None = None, rng: Rng = None
) -> tuple[Graph, IntArray, FloatArray]:
    """Draw one data set on the given graph or on one of the ensemble; return the graph, and counts and errors of its vertices."""
    at = nonnegative("nu", nu)
    options = SimulationOptions(vertices=vertices)
    if (reason := options.objection(problem, () if vertices is None else ("vertices",))) is not None:
        raise InputError(reason)
    size = options.size(problem)
    check_graph_size(problem, at, size, Run())
    experiment = LocalErrors(problem, (at,), seed_of(rng), (), size, 1)
    graph, generator = experiment.draw_graph(0)
    (own,) = generator.spawn(1)
    _, counts = draw_counts((at,), size, own, experiment.label_weights(graph), experiment.choose_vertices(graph, own))
    return graph, counts[0], experiment.errors(*experiment.covariances(graph), counts)[0]


@dataclass(frozen=True, eq=False)
class PredictionVectors:
    """Prediction vectors of a data set on a graph, and the weight of each under the true process.

    Attributes
    ----------
    weights
        Diagonal of the covariance of the pseudo-outputs, one per example; 1 for a well-specified model.
    vectors
        Prediction vectors as columns, of shape (vertices, examples).
    examples
        The vertex of each example.
    covariance
        The whole covariance of the pseudo-outputs.
    problem
        What was asked.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=6), noise=0.1)
    >>> gpc.prediction_vectors(problem, [0, 4, 8]).vectors.shape
    (9, 3)
    """

    weights: FloatArray
    vectors: FloatArray
    examples: IntArray
    covariance: FloatArray
    problem: Problem

    def largest(self, count: int = 1) -> IntArray:
        """Return the numbers of the examples with the largest weights, the largest first."""
        return np.argsort(-self.weights, kind="stable")[:count]

    def centre(self, example: int) -> int:
        """Return the vertex at which a prediction vector is largest."""
        return int(np.argmax(abs(self.vectors[:, example])))

    def localisation(self, example: int) -> float:
        """Return the number of vertices that a prediction vector is spread over (its participation ratio)."""
        share = self.vectors[:, example] ** 2
        return float(share.sum() ** 2 / (share @ share))


def prediction_vectors(problem: Problem, examples: object) -> PredictionVectors:
    """Return the prediction vectors for examples at given vertices of a given graph.

    Parameters
    ----------
    problem
        On a given graph, with noise; with or without a teacher.
    examples
        Numbers of the vertices at which there is an example, with repeats.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=6), noise=0.1)
    >>> gpc.prediction_vectors(problem, [0, 4, 8]).weights.shape
    (3,)
    """
    if not isinstance(problem.inputs, Vertices):
        raise InputError("prediction vectors need a problem on a given graph: draw one with ensemble.sample(vertices)")
    if problem.noise == 0:
        raise InputError("prediction vectors need noise greater than 0")
    graph = problem.inputs.graph
    at = np.asarray(examples)
    if at.ndim != 1 or at.size == 0 or at.dtype.kind not in "iu" or not 0 <= at.min() <= at.max() < graph.vertices:
        raise InputError(f"examples must be vertex numbers between 0 and {graph.vertices - 1}, at least one")
    if len(at) > _MOST_EXAMPLES:
        raise InputError(f"prediction vectors are for at most {_MOST_EXAMPLES} examples, got {len(at)}")
    check_dense(graph, 4)
    C = problem.kernel.on(graph).matrix()
    K = C[np.ix_(at, at)] + problem.noise * np.eye(len(at))
    values, axes = scipy.linalg.eigh(K)
    scaled = axes / np.sqrt(np.maximum(values, problem.noise))  # only rounding takes an eigenvalue below the noise
    if problem.teacher is None:
        covariance = np.eye(len(at))
    else:
        true = problem.true_kernel.on(graph).matrix()[np.ix_(at, at)] + problem.teacher.noise * np.eye(len(at))
        covariance = axes @ (scaled.T @ true @ scaled) @ axes.T
    return PredictionVectors(
        frozen(covariance.diagonal().copy()),
        frozen(C[:, at] @ scaled @ axes.T),
        at.astype(np.int64),
        frozen(covariance),
        problem,
    )
