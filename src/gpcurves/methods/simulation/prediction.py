r"""Which vertices make a mismatched student fail: the analysis of Urry & Sollich 2013, appendix B.

The student's prediction is :math:`\bar f = Mz` with :math:`M = K_V K^{-1/2}` and pseudo-outputs :math:`z = K^{-1/2}y`.
For a matched teacher :math:`\langle zz^T\rangle = I`; otherwise its diagonal says how much more, or less, than expected
each *prediction vector* (column of `M`) contributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from gpcurves.errors import InputError
from gpcurves.graphs.covariance import check_dense
from gpcurves.graphs.graph import IntArray
from gpcurves.inputs import Vertices
from gpcurves.numerics.validation import FloatArray, frozen
from gpcurves.problem import Problem

_MOST_EXAMPLES = 5_000


@dataclass(frozen=True, eq=False)
class PredictionVectors:
    """Prediction vectors of a data set on a graph, and how strongly the teacher excites each.

    Attributes
    ----------
    weights
        Diagonal of the covariance of the pseudo-outputs, one per example; 1 for a matched teacher.
    vectors
        Prediction vectors as columns, of shape (vertices, examples).
    examples
        The vertex of each example.
    covariance
        The whole covariance of the pseudo-outputs.
    problem
        What was asked.
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
        """Return on how many vertices a prediction vector lives: one over the sum of its fourth powers, normalised."""
        share = self.vectors[:, example] ** 2
        return float(share.sum() ** 2 / (share @ share))


def prediction_vectors(problem: Problem, examples: object) -> PredictionVectors:
    """Return the prediction vectors for examples at given vertices of a given graph.

    Parameters
    ----------
    problem
        On a given graph, with noise; with a teacher, or matched without one.
    examples
        Numbers of the vertices at which there is an example, with repeats.
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
    values, axes = eigh(K)
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
