r"""The exact error of a GP with inducing inputs on one data set, averaged over functions and noise.

All these predictors are linear in the targets, :math:`f(x) = b(x)\cdot y`, so that the error needs no targets:
:math:`\epsilon(x) = C(x,x) - 2b^TC(X,x) + b^T(C_{XX}+\sigma^2)b`. With features :math:`\varphi` (`SparseFeatures`), those of the training
inputs :math:`\Phi` and :math:`A = \Phi\Lambda^{-1}`, the coefficients are :math:`b = A^Tg`, :math:`g = (1+A\Phi^T)^{-1}\varphi(x)`. The
approximations differ in :math:`\Lambda`: the noise alone (subset of regressors and VFE), with the diagonal of :math:`C_{XX} - Q_{XX}`
(FITC), or with blocks of it (PITC).

Only :math:`AC_{XX}A^T` needs all pairs of examples. Beyond a few thousand the true function is represented by features of its own, of
many more inputs than there are inducing ones; what these do not explain counts as independent at every input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpcurves.methods.sparse.inducing import SparseFeatures
from gpcurves.numerics.cholesky import factorise, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

Kind = Literal["sor", "vfe", "fitc", "pitc", "full"]
MOST_PAIRS = 4_000  # examples up to which all pairs of them are computed
_CHUNK = 2_000
_FEATURES = 1_000  # of the true function beyond, and at least twice as many as inducing points


@dataclass(frozen=True)
class SparseError:
    """What one data set gives: errors averaged over test inputs."""

    error: float
    claimed: float  # the predictive variance of the approximation itself
    trace: float  # the trace of C - Q over the training inputs
    unresolved: float  # the prior variance that the features of the true function leave out


def sparse_error(
    problem: Problem, X: FloatArray, inducing: FloatArray, test: tuple[FloatArray, FloatArray], kind: Kind, block: int
) -> SparseError:
    """Return the error of an approximation after training on X, averaged over test inputs with weights."""
    features = SparseFeatures.of(problem, inducing)
    sums = _Sums(problem, X, features, test[0])
    size = max(1, _CHUNK // block) * block if kind == "pitc" else _CHUNK
    for start in range(0, len(X), size):
        sums.add(X[start : start + size], kind, block)
    at_test = features.at(test[0])
    precision = sums.gram + np.eye(features.count)
    L = factorise(precision)
    g = solve_factorised(L, at_test)
    power, cross = sums.moments()
    truth = problem.inputs.variances(problem.true_kernel, test[0])
    errors = truth + np.einsum("ij,ij->j", g, power @ g - 2 * cross)
    half = solve_lower(L, at_test)
    claimed = np.einsum("ij,ij->j", half, half)
    if kind != "sor":
        prior = problem.inputs.variances(problem.kernel, test[0])
        claimed += np.maximum(prior - np.einsum("ij,ij->j", at_test, at_test), 0.0)
    weights = test[1]
    return SparseError(float(weights @ errors), float(weights @ claimed), sums.trace, sums.unresolved)


def full_error(problem: Problem, X: FloatArray, test: tuple[FloatArray, FloatArray]) -> float:
    """Return the error of the full GP after training on X, averaged over test inputs with weights."""
    points, weights = test
    inputs, kernel, true = problem.inputs, problem.kernel, problem.true_kernel
    K = inputs.kernel_matrix(kernel, X)
    K.ravel()[:: len(K) + 1] += problem.noise
    L = factorise(K, overwrite=True)
    if problem.teacher is None:
        half = solve_lower(L, inputs.kernel_matrix(kernel, X, points))
        return float(weights @ (inputs.variances(kernel, points) - np.einsum("ij,ij->j", half, half)))
    b = solve_factorised(L, inputs.kernel_matrix(kernel, X, points))
    C = inputs.kernel_matrix(true, X)
    C.ravel()[:: len(C) + 1] += problem.teacher.noise
    cross = C @ b - 2 * inputs.kernel_matrix(true, X, points)
    return float(weights @ (inputs.variances(true, points) + np.einsum("ij,ij->j", b, cross)))


class _Sums:
    """Sums over the examples, taken a few thousand at a time so that memory stays bounded."""

    def __init__(self, problem: Problem, X: FloatArray, features: SparseFeatures, test: FloatArray) -> None:
        self.problem, self.features, self.X, self.test = problem, features, X, test
        count = features.count
        self.gram = np.zeros((count, count))  # A Φᵀ
        self.noise = np.zeros((count, count))  # A Aᵀ
        self.trace, self.unresolved = 0.0, 0.0
        self.true: SparseFeatures | None = None
        self.pieces: list[FloatArray] = []  # A, if all pairs of examples are computed
        reference = test
        if len(X) > MOST_PAIRS:
            many = max(_FEATURES, 2 * count)
            self.true = SparseFeatures.of(problem, X[:: max(1, len(X) // many)][:many], problem.true_kernel)
            reference = self.true.inputs
        self.reference = reference
        self.cross = np.zeros((count, len(reference)))  # A C(X, ·)

    def add(self, X: FloatArray, kind: Kind, block: int) -> None:
        """Add some examples; those of a block are added together."""
        problem = self.problem
        P = self.features.at(X)
        residual = np.maximum(problem.inputs.variances(problem.kernel, X) - np.einsum("ij,ij->j", P, P), 0.0)
        self.trace += float(residual.sum())
        if kind == "pitc":
            A = np.empty_like(P)
            for start in range(0, len(X), block):
                part = slice(start, start + block)
                own = problem.inputs.kernel_matrix(problem.kernel, X[part]) - P[:, part].T @ P[:, part]
                own.ravel()[:: len(own) + 1] += problem.noise
                A[:, part] = solve_factorised(factorise(own), np.asfortranarray(P[:, part].T)).T
        else:
            A = P / (problem.noise + (residual if kind == "fitc" else 0.0))
        self.gram += A @ P.T
        self.noise += A @ A.T
        self.cross += A @ problem.inputs.kernel_matrix(problem.true_kernel, X, self.reference)
        if self.true is None:
            self.pieces.append(A)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return A(C + noise)Aᵀ, and A C(X, ·) at the test inputs."""
        problem = self.problem
        noise = problem.noise if problem.teacher is None else problem.teacher.noise
        if self.true is None:
            if not self.pieces:
                return self.noise, self.cross
            A = np.concatenate(self.pieces, axis=1)
            C = problem.inputs.kernel_matrix(problem.true_kernel, self.X)
            return A @ C @ A.T + noise * self.noise, self.cross
        known = solve_lower(self.true.L, self.cross.T).T
        at_test = self.true.at(self.test)
        prior = problem.inputs.variances(problem.true_kernel, self.test)
        self.unresolved = float(np.maximum(prior - np.einsum("ij,ij->j", at_test, at_test), 0.0).mean())
        return known @ known.T + (noise + self.unresolved) * self.noise, known @ at_test
