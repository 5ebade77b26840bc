r"""The average error of a GP with given inducing inputs: the local theory of a student with a degenerate prior.

A GP with inducing inputs `U` predicts as if the covariance were :math:`Q(x,x') = \varphi(x)\cdot\varphi(x')` (`SparseFeatures`) and the
noise :math:`s(x)`: the true noise :math:`\sigma^2` for the subset of regressors, and :math:`\sigma^2 + C(x,x) - Q(x,x)` for FITC. The
data come from `C`. The average over the other training inputs is Malzahn and Opper's variational theory on nodes :math:`x_j` with
weights :math:`w_j`, for uneven inputs and noise,

.. math:: G = Q - Q(Q + W^{-1})^{-1}Q,\quad W_j = \frac{w_j n}{s_j + G_{jj}},

in which `G` is what the student believes about its own error. Differentiating along :math:`(Q + tC, s + t\sigma^2)` at `t = 0` gives
its true error `d` (see ``docs/theory/inducing.md``),

.. math:: d_j = (ACA^T)_{jj} + \sum_k G_{jk}^2 \frac{w_k n}{(s_k+G_{kk})^2}(\sigma^2 + d_k),\quad A = 1 - GW.

Inducing inputs that are training inputs as well are no random draws given `U`: they enter with their own noise,
:math:`W_u = 1/s_u`. With as many of them as examples nothing random is left, and the theory is the full GP of this data set, exactly.
With :math:`Q = C` and uniform inputs it is the approximation LC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from gpcurves.errors import NumericalError
from gpcurves.methods.sparse.inducing import Inducing, SparseFeatures
from gpcurves.numerics.cholesky import factorise, factorise_pivoted, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_COUNTS = (125, 250, 500, 1_000)  # nodes: more of them as long as they still change the mean squared covariance
_EXACT, RESOLVED = 1e-6, 0.01  # changes that need no more nodes, at all or if inducing points are few
_PER_POINT = 4  # nodes per inducing point that rough kernels need, whose errors vary from point to point
_NEGLIGIBLE = 1e-8  # total weight of nodes far out that are left out
_CONVERGED, _MOST_ROUNDS = 1e-7, 2_000
_SOLVED, _MOST_STEPS = 1e-8, 1_000


@dataclass(frozen=True)
class Nodes:
    """Places that stand for all inputs, with their weights, and the covariances of the true function between them."""

    inputs: FloatArray
    weights: FloatArray
    covariance: FloatArray
    resolved: float  # by how much the mean squared covariance differs from that of half as many nodes

    @classmethod
    def of(cls, problem: Problem, m: int) -> Nodes:
        """Return few nodes, or many if the kernel varies too fast for few; m is the largest number of inducing points."""
        inputs, kernel = problem.inputs, problem.kernel
        before, off = 0.0, 0.0
        for count in _COUNTS if not inputs.enumerable else (2 * _COUNTS[-1],):
            X, weights = _thinned(*inputs.nodes(count))
            C = inputs.kernel_matrix(kernel, X)
            square = float(weights @ (C * C) @ weights)
            off = abs(square / before - 1) if before else 0.0
            if before and (off < _EXACT or (off < RESOLVED and len(X) >= _PER_POINT * m)):
                break
            before = square
        if problem.teacher is not None:
            C = inputs.kernel_matrix(problem.true_kernel, X)
        return cls(X, weights, C, off)


def _thinned(X: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes without those that weigh next to nothing, and at most as many as can be afforded."""
    every = -(-len(X) // (2 * _COUNTS[-1]))  # inputs that can be listed have as many nodes as they have values
    X, weights = X[::every], weights[::every]
    order = np.argsort(weights)
    kept = np.sort(order[np.cumsum(weights[order]) > _NEGLIGIBLE * weights.sum()])
    return X[kept], weights[kept] / weights[kept].sum()


@dataclass(frozen=True)
class Student:
    """What a GP with inducing inputs believes, at all nodes and at those inducing inputs that are examples as well."""

    features: FloatArray  # one row per place
    residual: FloatArray  # the part of the prior variance that inducing inputs do not explain
    true: FloatArray  # covariances of the true function between all places
    weights: FloatArray  # of the nodes, which come first

    @property
    def trained(self) -> int:
        """How many of the inducing inputs are examples."""
        return len(self.features) - len(self.weights)

    @property
    def mean_residual(self) -> float:
        """The average over inputs of the prior variance that inducing inputs do not explain."""
        return float(self.weights @ self.residual[: len(self.weights)])

    @classmethod
    def of(cls, problem: Problem, nodes: Nodes, inducing: Inducing) -> Student:
        """Return the student with these inducing inputs."""
        inputs = problem.inputs
        places, true = _places(problem, nodes, inducing)
        F = np.ascontiguousarray(SparseFeatures.of(problem, inducing.inputs).at(places).T)
        residual = np.maximum(inputs.variances(problem.kernel, places) - np.einsum("ij,ij->i", F, F), 0.0)
        return cls(F, residual, true, nodes.weights)

    @classmethod
    def full(cls, problem: Problem, nodes: Nodes, inducing: Inducing) -> Student:
        """Return the full GP, trained at the same inducing inputs: a feature for every place that adds something to the others."""
        places, true = _places(problem, nodes, inducing)
        C = problem.inputs.kernel_matrix(problem.kernel, places)
        L, order = factorise_pivoted(C, 1e-10 * float(C.diagonal().max()))
        F = np.empty_like(L)
        F[order] = L
        return cls(F, np.zeros(len(F)), true, nodes.weights)

    def believe(self, n: float, noise: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what the student believes about its error at all places, the precisions W, and the posterior of features.

        The map from beliefs to beliefs rises, so that it falls from the prior to its largest fixed point without damping.
        """
        F, nodes = self.features, len(self.weights)
        examples = self.weights * (n - self.trained)
        own, others = np.asfortranarray(F[:nodes].T), F[nodes:].T
        W_others = 1.0 / noise[nodes:]
        known = np.eye(len(own)) + (others * W_others) @ others.T  # examples that are given: the same in every round
        belief = np.einsum("ij,ij->j", own, own)
        for _ in range(_MOST_ROUNDS):
            W = examples / (noise[:nodes] + belief)
            L = factorise(scipy.linalg.blas.dsyrk(1.0, own * np.sqrt(W), lower=1, beta=1.0, c=known), overwrite=True)
            half = solve_lower(L, own)
            new = np.einsum("ij,ij->j", half, half)
            change = float(self.weights @ abs(new - belief))
            belief = new
            if change <= _CONVERGED * float(self.weights @ new):
                everywhere = np.concatenate((half, solve_lower(L, others)), axis=1)
                beliefs = np.einsum("ij,ij->j", everywhere, everywhere)
                return beliefs, np.concatenate((W, W_others)), everywhere
        raise NumericalError(f"the self-consistent variances did not converge in {_MOST_ROUNDS} iterations")

    def errors(self, n: float, noise: FloatArray, true_noise: float) -> tuple[float, float]:
        """Return the average true error, and the average of what the student believes it to be."""
        belief, W, half = self.believe(n, noise)
        nodes = len(self.weights)
        weighted = half * W
        cross = weighted @ self.true  # products with features alone: never one matrix of nodes times another
        power = (cross @ weighted.T) @ half
        plain = self.true.diagonal() + np.einsum("ij,ij->j", half, power - 2 * cross)
        drawn = np.arange(len(W)) < nodes
        # the precisions of nodes depend on the beliefs there, so that they change as beliefs do
        sensitivity = W / (noise + np.where(drawn, belief, 0.0))
        G = half.T @ half
        G *= G
        right = plain[:nodes] + true_noise * (G[:nodes] @ sensitivity)
        root = np.sqrt(sensitivity[:nodes])
        scaled = _solve_contraction(G[:nodes, :nodes] * root * root[:, None], root * right)
        d = right + G[:nodes, :nodes] @ (root * scaled)
        return float(self.weights @ d), float(self.weights @ belief[:nodes])


def full_error(problem: Problem, nodes: Nodes, inducing: Inducing, n: float) -> float:
    """Return the error of the full GP whose model is true, trained at the inducing inputs if these are examples.

    This is what `Student.full` finds; here all is a matrix between nodes, after conditioning on the examples that are known.
    """
    C, trained = nodes.covariance, 0
    if inducing.trained:
        places, covariance = _places(problem, nodes, inducing)
        trained, count = len(places) - len(nodes.inputs), len(nodes.inputs)
        known = covariance[count:, count:] + problem.noise * np.eye(trained)
        half = solve_lower(factorise(known), covariance[count:, :count])
        C = C - half.T @ half
    error = C.diagonal().copy()
    if n <= trained:
        return float(nodes.weights @ error)
    for _ in range(_MOST_ROUNDS):
        noise = (problem.noise + error) / (nodes.weights * (n - trained))
        K = np.array(C, order="F")
        K.ravel(order="K")[:: len(K) + 1] += noise
        inverse, info = scipy.linalg.lapack.dpotri(factorise(K, overwrite=True), lower=1, overwrite_c=1)
        assert info == 0
        new = noise * (1 - noise * inverse.diagonal())  # the diagonal of C - C (C + noise)^-1 C
        change = float(nodes.weights @ abs(new - error))
        error = new
        if change <= _CONVERGED * float(nodes.weights @ new):
            return float(nodes.weights @ error)
    raise NumericalError(f"the self-consistent variances did not converge in {_MOST_ROUNDS} iterations")


def _places(problem: Problem, nodes: Nodes, inducing: Inducing) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and those inducing inputs that are examples as well, and the true covariances between all of them."""
    if not inducing.trained:
        return nodes.inputs, nodes.covariance
    cross = problem.inputs.kernel_matrix(problem.true_kernel, inducing.inputs, nodes.inputs)
    own = problem.inputs.kernel_matrix(problem.true_kernel, inducing.inputs)
    return np.concatenate((nodes.inputs, inducing.inputs)), np.block([[nodes.covariance, cross.T], [cross, own]])


def _solve_contraction(M: FloatArray, right: FloatArray) -> FloatArray:
    """Return the x with x - Mx = right by conjugate gradients; M is symmetric with eigenvalues between 0 and 1."""
    x = right.copy()
    residual = M @ x
    direction = residual.copy()
    size, goal = float(residual @ residual), _SOLVED**2 * float(right @ right)
    for _ in range(_MOST_STEPS):
        if size <= goal:
            return x
        image = direction - M @ direction
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        x += size / curvature * direction
        residual -= size / curvature * image
        size, before = float(residual @ residual), size
        direction = residual + size / before * direction
    raise NumericalError("the linear equations for the true error have no solution: the theory breaks down here")
