"""Input distributions: what nodes integrate, what draws look like, and what is refused."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable

import numpy as np
import pytest

from cases import INPUTS
from gpcurves import RBF, Box, Discrete, Gaussian, InputError, Linear, Problem, Sample, Sphere, Torus
from gpcurves.inputs import Copula, Inputs, Univariate
from gpcurves.inputs import base as inputs_base
from gpcurves.numerics.validation import FloatArray, points


def mean_and_covariance(inputs: Inputs) -> tuple[FloatArray, FloatArray]:
    """Return the first two moments from the definition of the distribution."""
    if isinstance(inputs, Torus | Box):
        return np.full(inputs.dim, 0.5), np.eye(inputs.dim) / 12
    if isinstance(inputs, Sphere):
        return np.zeros(inputs.dim), np.eye(inputs.dim) / inputs.dim
    if isinstance(inputs, Gaussian):
        return np.zeros(inputs.dim), inputs.matrix
    if isinstance(inputs, Univariate):
        return np.array([inputs.distribution.mean()]), np.array([[inputs.distribution.var()]])
    if isinstance(inputs, Copula):  # no closed form: its many nodes are held against its draws below
        x, weight = inputs.nodes(2**17)
        return weight @ x, np.cov(x, rowvar=False, ddof=0)
    assert isinstance(inputs, Discrete | Sample)
    x = inputs.points
    chance = inputs.probabilities if isinstance(inputs, Discrete) else np.full(len(x), 1 / len(x))
    mean = sum(p * v for p, v in zip(chance, x, strict=True))
    return mean, sum(p * np.outer(v - mean, v - mean) for p, v in zip(chance, x, strict=True))


def test_every_input_distribution_is_in_the_registry() -> None:
    concrete = {name for name, cls in inputs_base.Inputs.known.items() if not inspect.isabstract(cls)}
    others = {"Eigenvalues", "Vertices", "RandomVertices"}  # not vectors: they have tests of their own
    assert concrete - others == {type(inputs).__name__ for inputs in INPUTS.values()}


@pytest.mark.parametrize("name", INPUTS)
def test_weights_of_nodes_are_positive_and_sum_to_one(name: str) -> None:
    for count in (1, 7, 150, 1000):
        x, weight = INPUTS[name].nodes(count)
        assert x.shape == (len(weight), INPUTS[name].dim)
        assert (weight > 0).all()
        np.testing.assert_allclose(weight.sum(), 1, rtol=1e-13)


@pytest.mark.parametrize("name", INPUTS)
def test_nodes_have_the_moments_of_the_distribution(name: str) -> None:
    inputs = INPUTS[name]
    x, weight = inputs.nodes(1024)
    # Sobol points, beyond three dimensions, are exact to about 1/N only; quantiles have algebraic ends
    accuracy = 0.01 if inputs.dim > 3 else 1e-8 if isinstance(inputs, Univariate) else 1e-12
    if isinstance(inputs, Torus):  # its nodes integrate periodic functions, and so Fourier's waves
        waves = [np.exp(2j * np.pi * wave * x).T @ weight for wave in range(1, 4)]
        np.testing.assert_allclose(waves, 0, atol=accuracy)
    else:
        mean, covariance = mean_and_covariance(inputs)
        np.testing.assert_allclose(weight @ x, mean, atol=accuracy)
        np.testing.assert_allclose((x - mean).T @ ((x - mean) * weight[:, None]), covariance, atol=2 * accuracy)


@pytest.mark.parametrize("name", INPUTS)
def test_draws_are_reproducible_and_have_the_moments_of_the_distribution(name: str) -> None:
    inputs = INPUTS[name]
    draws = inputs.draw(20_000, np.random.default_rng(3))
    assert draws.shape == (20_000, inputs.dim)
    assert np.array_equal(draws, inputs.draw(20_000, np.random.default_rng(3)))
    assert not np.array_equal(draws, inputs.draw(20_000, np.random.default_rng(4)))
    mean, covariance = mean_and_covariance(inputs)
    sigma = np.sqrt(np.diagonal(covariance) / 20_000)
    assert (abs(draws.mean(axis=0) - mean) < 4 * sigma).all()
    centred = draws - mean
    for i in range(inputs.dim):
        for j in range(inputs.dim):
            product = centred[:, i] * centred[:, j]
            assert abs(product.mean() - covariance[i, j]) < 4 * product.std() / np.sqrt(20_000)


@pytest.mark.parametrize("name", INPUTS)
def test_saved_and_loaded_distribution_is_the_same(name: str) -> None:
    again = Inputs.from_dict(json.loads(json.dumps(INPUTS[name].to_dict())))
    assert again == INPUTS[name]
    assert repr(again) == repr(INPUTS[name])
    assert np.array_equal(again.draw(5, np.random.default_rng(1)), INPUTS[name].draw(5, np.random.default_rng(1)))


def test_the_default_gaussian_has_the_variance_of_the_unit_interval() -> None:
    assert Gaussian(2).matrix == pytest.approx(np.eye(2) / 12, rel=1e-15)


def test_points_cannot_be_changed_behind_ones_back() -> None:
    given = np.zeros((2, 1))
    sample = Sample(given)
    given[0] = 5.0
    assert sample.points[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        sample.points[0] = 1.0


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: Torus(0), "dimension must be an integer, at least 1, got 0"),
    (lambda: Box(1.5), "dimension must be an integer, at least 1, got 1.5"),  # type: ignore[arg-type]
    (lambda: Gaussian(1, -1.0), "input variance must be greater than 0, got -1"),
    (lambda: Gaussian(covariance=((1.0, 2.0), (2.0, 1.0))), "covariance must be symmetric and positive definite"),
    (lambda: Gaussian(covariance=((1.0, 0.2), (0.1, 1.0))), "covariance must be symmetric and positive definite"),
    (
        lambda: Gaussian(covariance=((1.0, 0.2),)),
        r"covariance must be a square matrix of finite numbers, got shape \(1, 2\)",
    ),
    (lambda: Gaussian(3, covariance=((1.0, 0.2), (0.2, 1.0))), "covariance must have 3 rows for 3 dimensions, got 2"),
    (lambda: Sample(np.empty((0, 2))), "points must have shape"),
    (lambda: Sample(np.array([[np.nan]])), "points must be finite, got NaN or infinity"),
    (lambda: points("points", ["a", "b"]), "points must be an array of numbers, got list"),
    (lambda: points("points", np.zeros((2, 2, 2))), r"points must have shape \(points, dimensions\) and not be empty"),
    (
        lambda: Discrete(np.zeros(3), np.array([0.5, 0.5])),
        r"probabilities must be one per point \(3\), got shape \(2,\)",
    ),
    (lambda: Discrete(np.zeros(2), np.array([0.5, 0.4])), "probabilities must sum to 1, got 0.9"),
    (lambda: Discrete(np.zeros(2), np.array([1.5, -0.5])), "probabilities must be finite and at least 0"),
    (lambda: Discrete(np.zeros(2), np.array([np.nan, 1.0])), "probabilities must be finite and at least 0"),
    (lambda: Copula(np.zeros((3, 1)), targets=np.zeros(2)), r"targets must be one per point \(3\), got shape \(2,\)"),
    (lambda: Inputs.from_dict({"type": "Cone"}), "unknown input distribution 'Cone'"),
    (lambda: Sphere(1), "dimension must be an integer, at least 2, got 1"),
    (lambda: Problem(RBF(), None, 0.1), "inputs must be an input distribution such as"),  # type: ignore[arg-type]
    (lambda: Problem(RBF((1.0, 2.0)), Box(3), 0.1), "the kernel has 2 lengthscales but inputs have 3 dimensions"),
    (lambda: Problem(Linear(), Torus(1), 0.1), "the torus needs a stationary kernel"),
    (lambda: Problem(RBF(), Torus(1), -0.1), "noise must be at least 0, got -0.1"),
    (lambda: Problem(RBF(), Torus(1), "loud"), "noise must be a number, got 'loud'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("build", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_parameters_are_refused_in_a_sentence(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build()
