"""The laws that every piece and every method keeps, as functions: a new one inherits them by being passed to its function."""

from __future__ import annotations

import json
from typing import Any

import networkx
import numpy as np

import gpcurves as gpc
from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.methods import METHODS, Kind
from gpcurves.observations import Observation
from gpcurves.problem import Problem

TREE = networkx.random_labeled_tree(12, seed=3)


def obeys_kernel_laws(kernel: Kernel, dim: int = 1) -> None:
    """Symmetric, positive semi-definite, with its own diagonal, scaled as asked, saved and built again."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, dim)), rng.normal(size=(5, dim))
    matrix = kernel(X)
    np.testing.assert_allclose(kernel(X, Y), kernel(Y, X).T, rtol=1e-12)
    np.testing.assert_allclose(matrix, kernel(X, X.copy()), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), matrix.diagonal(), rtol=1e-12)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-10 * matrix.diagonal().max()
    np.testing.assert_allclose(kernel.scaled(2.5)(X), 2.5 * matrix, rtol=1e-12)
    np.testing.assert_allclose((kernel + kernel)(X), 2 * matrix, rtol=1e-12)
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel


def obeys_inputs_laws(inputs: Inputs) -> None:
    """Weights that sum to 1, draws of the right shape with the moments of the nodes, a spectrum that keeps the trace."""
    X, weights = inputs.nodes(300)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(), 1, rtol=1e-12)
    draws = inputs.draw(20_000, np.random.default_rng(1))
    assert draws.shape == (20_000, inputs.dim)
    mean = weights @ X
    deviation = np.sqrt(weights @ (X - mean) ** 2)
    assert (abs(draws.mean(axis=0) - mean) < 6 * deviation / np.sqrt(20_000) + 1e-9).all()
    kernel = gpc.Matern52(0.7, 1.3)
    np.testing.assert_allclose(inputs.spectrum(kernel).trace, inputs.prior_variance(kernel), rtol=1e-6)
    K = inputs.kernel_matrix(kernel, draws[:20])
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    np.testing.assert_allclose(inputs.variances(kernel, draws[:20]), K.diagonal(), rtol=1e-12)
    assert Inputs.from_dict(json.loads(json.dumps(inputs.to_dict()))) == inputs


def obeys_graph_kernel_laws(kernel: GraphKernel) -> None:
    """Products, rows, diagonal and eigenvalues agree; messages are exact on a tree; saved and built again."""
    graph = gpc.as_graph(networkx.karate_club_graph())
    covariance = kernel.on(graph)
    C = covariance.matrix()
    np.testing.assert_allclose(C, C.T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(C), covariance.eigenvalues(), atol=1e-9 * C.trace())
    np.testing.assert_allclose(covariance.variances, C.diagonal(), rtol=1e-9)
    vector = np.random.default_rng(0).normal(size=graph.vertices)
    np.testing.assert_allclose(covariance @ vector, C @ vector, rtol=1e-8, atol=1e-10)
    tree = gpc.as_graph(TREE)
    on_tree = kernel.on(tree).matrix()
    counts = np.bincount([0, 0, 5, 9], minlength=tree.vertices)
    seen = np.flatnonzero(counts)
    K = on_tree[np.ix_(seen, seen)] + np.diag(0.1 / counts[seen])
    exact = on_tree.diagonal() - np.einsum("ij,ij->j", on_tree[seen], np.linalg.solve(K, on_tree[seen]))
    beliefs = gpc.belief_propagation(gpc.GraphProblem(tree, kernel, 0.1), counts)
    np.testing.assert_allclose(beliefs.variance, exact, rtol=1e-6)
    assert GraphKernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel


def obeys_ensemble_laws(ensemble: Ensemble) -> None:
    """Degree probabilities that sum to 1, simple graphs with these degrees, saved and built again."""
    probability = ensemble.degree_probabilities(2_000)
    assert (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(), 1, atol=1e-3)
    graph = ensemble.sample(4_000, 0)
    assert isinstance(graph, Graph)
    seen = np.bincount(graph.neighbours, minlength=2_001)[:2_001] / graph.vertices
    assert abs(seen - probability).max() < 6 * np.sqrt(0.25 / graph.vertices)
    assert Ensemble.from_dict(json.loads(json.dumps(ensemble.to_dict()))) == ensemble


def obeys_observation_laws(observation: Observation) -> None:
    """Information that is positive and falls with the error, a label per value, saved and built again."""
    error = np.array([1e-3, 0.1, 1.0, 10.0])
    information = observation.information(error, error + 1.0)
    assert (information > 0).all()
    assert (np.diff(information) < 0).all()
    if observation.gaussian_noise is not None:
        np.testing.assert_allclose(information, 1 / (observation.gaussian_noise + error))
    assert observation.draw(np.zeros(7), np.zeros((7, 2)), np.random.default_rng(0)).shape == (7,)
    assert Observation.from_dict(json.loads(json.dumps(observation.to_dict()))) == observation


def obeys_method_laws(name: str, problem: Problem, **options: Any) -> None:
    """Starts near the prior variance, is reproduced by itself and after saving, and bounds are on their side of the truth."""
    method = METHODS[name]
    sizes = np.array([0.0, 1.0, 5.0, 30.0])
    curve = method.curve(problem, sizes, **options)
    assert np.isfinite(curve.error).all()
    assert (curve.error[-1:] <= curve.error[:1] * (1 + 1e-12)).all()
    given: dict[str, Any] = {curve.axis: curve.sizes, **curve.options}
    again = gpc.learning_curve(curve.problem, curve.method, rng=curve.rng, **given)
    np.testing.assert_array_equal(again.error, curve.error)
    sampled: dict[str, Any] = {curve.axis: sizes}
    truth = gpc.learning_curve(problem, "simulation", datasets=60, rng=0, **sampled)
    assert truth.stderr is not None
    if method.kind is Kind.UPPER_BOUND:
        assert (curve.error >= truth.error - 4 * truth.stderr - 1e-12).all()
    if method.kind is Kind.LOWER_BOUND:
        assert (curve.error <= truth.error + 4 * truth.stderr + 1e-12).all()
