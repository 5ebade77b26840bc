"""Single functions instead of averages: draws from the prior, and the posterior variance for one data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.methods.simulation.dataset import Prior
from gpcurves.methods.simulation.method import SimulationOptions, check_graph_size
from gpcurves.methods.simulation.vertices import LocalErrors, draw_counts
from gpcurves.montecarlo import Rng, Run, seed_of
from gpcurves.numerics.cholesky import Factor, factorise_pivoted
from gpcurves.numerics.validation import FloatArray, nonnegative, points
from gpcurves.problem import Problem


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
    """
    X = _check_inputs(problem, "at", at)
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
        Training inputs and where to evaluate, one per row.
    """
    if problem.teacher is not None:
        raise InputError("the error at a point is the posterior variance only if student and teacher agree")
    X, Y = _check_inputs(problem, "examples", examples), _check_inputs(problem, "at", at)
    prior = Prior(problem.kernel, problem.inputs, problem.noise)
    factor = Factor.from_matrix(prior.observe(X))
    if factor.size < len(X):
        raise NumericalError(f"double precision resolves only {factor.size} of {len(X)} examples: add noise")
    W = factor.solve(prior.between(X, Y))
    variance: FloatArray = prior.variances(Y) - np.einsum("ij,ij->j", W, W)
    return variance


@dataclass(frozen=True, eq=False)
class VertexErrors:
    """One data set on one graph: how many examples each vertex has, and its error."""

    graph: Graph
    counts: IntArray
    error: FloatArray


def one_data_set(problem: Problem, nu: float, *, vertices: int | None = None, rng: Rng = None) -> VertexErrors:
    """Draw one data set, on the given graph or on one of the ensemble, and return the error of every vertex."""
    at = nonnegative("nu", nu)
    options = SimulationOptions(vertices=vertices)
    if (reason := options.objection(problem)) is not None:
        raise InputError(reason)
    size = options.size(problem)
    check_graph_size(problem, np.array([at]), size, Run())
    experiment = LocalErrors(problem, (at,), seed_of(rng), (), size, 1)
    graph, generator = experiment.draw_graph(0)
    _, counts = draw_counts((at,), size, generator.spawn(1)[0])
    error = experiment.errors(*experiment.covariances(graph), counts)
    return VertexErrors(graph, counts[0], error[0])


def _check_inputs(problem: Problem, name: str, value: object) -> FloatArray:
    X = points(name, value)
    if X.shape[1] != problem.inputs.dim:
        raise InputError(f"{name} must have {problem.inputs.dim} dimensions as the inputs, got {X.shape[1]}")
    return X
