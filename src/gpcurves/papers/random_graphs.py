"""What the figures of Urry and Sollich (2013) share: random graphs, problems on them, and how much work to put into a curve."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import gpcurves as gpc
from gpcurves.graphs import Ensemble, Normalisation
from gpcurves.papers.gallery import BLUE, GREEN, ORANGE, SKY, YELLOW, Quality

FloatArray = npt.NDArray[np.float64]
REGULAR, POISSON, POWER = gpc.RandomRegular(3), gpc.ErdosRenyi(3), gpc.PowerLaw(alpha=2.5, cutoff=2)
TITLES: dict[Ensemble, str] = {REGULAR: "3-regular", POISSON: "Erdős-Rényi", POWER: "power law"}
COLOURS = {1.0: BLUE, 0.1: SKY, 0.01: GREEN, 1e-3: YELLOW, 1e-4: ORANGE}
"""Noise levels; the paper does not list its own, of which 0.1 and 0.0001 are known from Figures 9 and 11."""
NoiseLevels = dict[float, dict[str, gpc.LearningCurve]]
"""Curves by noise level and method."""


def globally(graph: Ensemble | gpc.Graph, noise: float = 0.1, p: int = 10) -> gpc.Problem:
    """Return learning with the globally normalised random walk kernel."""
    return gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=p, a=2, normalise="global"), noise)


def locally(ensemble: Ensemble, noise: float) -> gpc.Problem:
    """Return learning with the locally normalised random walk kernel."""
    return gpc.GraphProblem(ensemble, gpc.RandomWalkKernel(p=10, a=2, normalise="local"), noise)


def mismatched_problem(
    graph: Ensemble | gpc.Graph, student: Normalisation, teacher: Normalisation, noise: float
) -> gpc.Problem:
    """Return learning by a student with one normalisation from a teacher with another."""
    true = gpc.Teacher(gpc.RandomWalkKernel(p=10, a=2, normalise=teacher), noise)
    return gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=10, a=2, normalise=student), noise, teacher=true)


def noises(quality: Quality) -> list[float]:
    """Return the noise levels of a figure."""
    return quality.choose(list(COLOURS), [1.0, 0.01, 1e-4])


def simulate(problem: gpc.Problem, nu: FloatArray, quality: Quality, **options: Any) -> gpc.LearningCurve:
    """Return the truth on graphs of finite size."""
    amounts = quality.choose(
        {"vertices": 500, "graphs": 40, "datasets": 2}, {"vertices": 300, "graphs": 20, "datasets": 1}
    )
    return gpc.learning_curve(problem, "simulation", nu=nu, rng=1, **(amounts | options), **quality.running)


@lru_cache(maxsize=64)  # Figures 3 and 5 have curves in common
def curve_of(problem: gpc.Problem, method: str, quality: Quality) -> gpc.LearningCurve:
    """Return the curve of a method along the numbers of examples of Figures 3 and 5."""
    nu = np.geomspace(0.01, 30, quality.choose(17, 8))
    if method == "simulation":
        return simulate(problem, nu, quality)
    options: dict[str, Any]
    if method == "cavity":
        options = quality.choose({"precision": 0.05, "population": 256}, {"precision": 0.3, "population": 64})
        options = {**options, "among": ["isolated"]}
    else:
        options = quality.choose({"vertices": 500, "graphs": 20}, {"vertices": 300, "graphs": 3})
    return gpc.learning_curve(problem, method, nu=nu, rng=1, **options, **quality.running)


def vectors_on(seed: int, student: Normalisation, teacher: Normalisation) -> gpc.PredictionVectors:
    """Return the prediction vectors of 150 examples on a graph of 250 vertices."""
    problem = mismatched_problem(POISSON.sample(250, rng=seed), student, teacher, 1e-4)
    return gpc.prediction_vectors(problem, np.random.default_rng(seed).integers(250, size=150))


def part(curve: gpc.LearningCurve, group: str) -> FloatArray:
    """Return the part of the error that a group of vertices has."""
    return np.asarray(curve.details[f"share {group}"] * curve.details[f"error {group}"])
