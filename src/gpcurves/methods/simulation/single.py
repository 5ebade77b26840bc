"""Single functions instead of averages: draws from the prior, and the posterior variance for one data set."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from gpcurves.errors import InputError, NumericalError
from gpcurves.methods.simulation.dataset import Factor, Prior
from gpcurves.montecarlo import seed_of
from gpcurves.montecarlo.seeds import Rng
from gpcurves.numerics.validation import FloatArray, points
from gpcurves.problem import Problem


def sample_prior(problem: Problem, at: object, *, rng: Rng = None) -> FloatArray:
    """Return the values at some points of one function drawn from the prior, without noise.

    Parameters
    ----------
    problem
        Kernel and inputs; where there is a teacher, the function is the teacher's.
    at
        The points, one per row.
    rng
        Seed: the same seed gives the same function.
    """
    X = _inputs(problem, "at", at)
    C = np.asfortranarray(Prior(problem.true_kernel, problem.inputs, 0.0).between(X))
    # with pivots, the factor ends where smooth functions leave nothing more to decide
    factor, order, rank, _ = lapack.dpstrf(C, lower=1, tol=np.finfo(float).eps * len(X) * float(C.diagonal().max()))
    value = np.empty(len(X))
    normal = np.random.default_rng(seed_of(rng)).standard_normal(rank)
    value[order - 1] = np.tril(factor)[:, :rank] @ normal
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
        raise InputError("the error at a point is the posterior variance only where student and teacher agree")
    X, Y = _inputs(problem, "examples", examples), _inputs(problem, "at", at)
    prior = Prior(problem.kernel, problem.inputs, problem.noise)
    factor = Factor.of(prior.observed(X))
    if factor.size < len(X):
        raise NumericalError(f"double precision resolves only {factor.size} of {len(X)} examples: add noise")
    W = factor.solved(prior.between(X, Y))
    variance: FloatArray = prior.variances(Y) - np.einsum("ij,ij->j", W, W)
    return variance


def _inputs(problem: Problem, name: str, given: object) -> FloatArray:
    X = points(name, given)
    if X.shape[1] != problem.inputs.dim:
        raise InputError(f"{name} must have {problem.inputs.dim} dimensions as the inputs, got {X.shape[1]}")
    return X
