"""The experiments of the cavity method: populations for an ensemble, belief propagation for data sets on a given graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gpcurves.graphs import Ensemble
from gpcurves.graphs.groups import members
from gpcurves.inputs import Vertices
from gpcurves.methods.cavity.beliefs import adjacency_of
from gpcurves.methods.cavity.instance import Beliefs, propagate
from gpcurves.methods.cavity.population import PopulationResult, population_curve, population_size
from gpcurves.methods.simulation.vertex_datasets import examples, training_counts
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

SHARE = 1.3
"""Precision of each of the first two replicas, in units of that of their average."""
_ALGORITHM = 1
"""Changes whenever the numbers of a task would, so that old stores are not mixed with new results."""
_ALONG = ("error", "error_stderr", "variance", "converged", "rounds")


@dataclass(frozen=True)
class _Cavity:
    """What experiments on ensembles and on given graphs share.

    Attributes
    ----------
    problem, nu, seed
        What to compute, at how many examples per vertex, and what determines the random numbers.
    among
        Groups of vertices to average over besides.
    threads
        How many threads share the work of a task; None for all cores.
    """

    problem: Problem
    nu: tuple[float, ...]
    seed: int
    among: tuple[str, ...]
    threads: int | None

    task: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Further fields that determine the results."""

    @property
    def key(self) -> Mapping[str, Any]:
        """Everything that determines a task."""
        problem, graph = self.problem, self.problem.graph
        plain: dict[str, Any] = {"algorithm": _ALGORITHM, "nu": list(self.nu), "rng": self.seed, "task": self.task}
        plain |= {"graph": graph.to_dict() if isinstance(graph, Ensemble) else graph.digest}
        plain |= {"kernel": problem.kernel.to_dict(), "noise": problem.noise, "among": list(self.among)}
        given = {name: getattr(self, name) for name in self.settings}
        return plain | {name: value for name, value in given.items() if value is not None}

    @property
    def sizes(self) -> Mapping[str, int]:
        """What was chosen for the run, if it was not given."""
        return {}

    @property
    def fields(self) -> Mapping[str, Shape]:
        """Mean, its standard error, variance over vertices, converged, rounds, and each group, at each nu; and shares."""
        along = {name: (len(self.nu),) for name in (*_ALONG, *(f"sum {name}" for name in self.among))}
        return {**along, **{f"share {name}": () for name in self.among}}


@dataclass(frozen=True)
class Replicas(_Cavity):
    """The curve of an ensemble from independent populations."""

    precision: float
    local: str
    max_sweeps: int
    population: int | None

    task = "cavity, ensemble"
    settings = ("precision", "local", "max_sweeps", "population")

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many vertices each population has."""
        chosen = population_size(SHARE * self.precision) if self.population is None else self.population
        return {"population": chosen}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Run populations for all nu, each starting where the one before stopped."""
        problem = self.problem
        assert problem.ensemble is not None
        results = population_curve(
            problem.ensemble.degree_distribution(),
            problem.kernel.vertex_model(),
            problem.noise,
            self.nu,
            normalise=problem.kernel.normalise,
            local=self.local,
            precision=SHARE * self.precision,
            vertices=self.population,
            max_sweeps=self.max_sweeps,
            rng=stream(self.seed, task),
            threads=self.threads,
        )
        rows = [[r.error, r.stderr, _variance(r), float(r.converged), float(r.sweeps)] for r in results]
        found: dict[str, FloatArray | float] = dict(zip(_ALONG, np.array(rows).T, strict=True))
        for name in self.among:
            found[f"sum {name}"] = np.array([_of_group(r, name) for r in results])
            found[f"share {name}"] = _of_group(results[0], name, share=True)
        return found


def _variance(result: PopulationResult) -> float:
    mean = float(result.weight @ result.variance)
    return float(result.weight @ (result.variance - mean) ** 2)


def _of_group(result: PopulationResult, name: str, *, share: bool = False) -> float:
    """Return the part of the error that vertices of a degree have, or their share."""
    degree = {"isolated": 0, "ends": 1}.get(name)
    if degree is None:
        degree = int(float(name.partition("=")[2]))
    weights = result.weight * (result.degree == degree)
    return float(weights.sum() if share else weights @ result.variance)


@dataclass(frozen=True)
class GivenGraph(_Cavity):
    """Belief propagation for one data set on a given graph, at all nu."""

    tolerance: float
    max_rounds: int
    damping: float
    kappa: FloatArray = field(repr=False)

    task = "cavity, graph"
    settings = ("tolerance", "max_rounds", "damping")

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a growing data set and follow the messages along nu."""
        assert isinstance(self.problem.inputs, Vertices)
        graph = self.problem.inputs.graph
        rng = stream(self.seed, task).spawn(1)[0]  # the data sets of the simulation with the same seed
        sizes = examples(self.nu, graph.vertices, rng.random())
        order = np.argsort(sizes, kind="stable")
        masks = [members(graph, name) for name in self.among]
        names = [*_ALONG, *(f"sum {name}" for name in self.among)]
        rows = np.empty((len(names), len(order)))
        beliefs: Beliefs | None = None
        for k, counts in zip(order.tolist(), training_counts(sizes[order], graph.vertices, rng), strict=True):
            beliefs = propagate(
                adjacency_of(graph),
                self.problem.kernel.vertex_model(),
                counts,
                self.problem.noise,
                self.kappa,
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                damping=self.damping,
                start=beliefs if beliefs is None or beliefs.converged else None,
                threads=self.threads,
            )
            local = beliefs.variance
            rows[:, k] = [
                local.mean(),
                0.0,
                local.var(),
                float(beliefs.converged),
                float(beliefs.rounds),
                *(local[mask].sum() / len(local) for mask in masks),
            ]
        shares = {f"share {name}": float(mask.mean()) for name, mask in zip(self.among, masks, strict=True)}
        return {**dict(zip(names, rows, strict=True)), **shares}
