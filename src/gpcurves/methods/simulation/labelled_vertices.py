r"""Labels of any kind at the vertices of graphs: functions and labels are drawn, inferred from, and compared with at all vertices.

A vertex may have several labels. Each has a factor of its own in expectation propagation, and those at a vertex multiply, so that
matrices have the size of the labelled vertices, never that of the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import members
from gpcurves.methods.simulation.inference import Places, expectation_propagation, gibbs, laplace
from gpcurves.methods.simulation.labels import TOLERANCE, compare, draw_function, quantities_of, true_observation
from gpcurves.methods.simulation.vertices import OnGraphs, examples
from gpcurves.montecarlo import Shape
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import Observation
from gpcurves.observations.base import Tilted


@dataclass(frozen=True, eq=False)
class Together:
    """All labels at each vertex as one observation, for Laplace's method."""

    observation: Observation
    labels: FloatArray
    places: Places

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        """Return the log likelihood of all labels at each vertex, its derivative and minus its second derivative."""
        each = self.observation.slopes(self.labels, values[self.places.position])
        log_p, slope, curvature = (self.places.gather(part) for part in each)
        return log_p, slope, curvature


@dataclass(frozen=True)
class LabelledVertices(OnGraphs):
    """The curve of one graph (averaged over its data sets), or of one data set on a given graph, with labels of any kind."""

    inference: str = "ep"
    quantity: str = "mse"

    task = "graph simulation of labels"
    settings = ("vertices", "datasets", "among", "inference", "quantity")
    averages: ClassVar[tuple[str, ...]] = ("error", "claimed", "failed")

    @property
    def quantities(self) -> tuple[str, ...]:
        """What is measured at each size."""
        return quantities_of(self.problem)

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The quantity asked for and all others, the variance that the model claims, and where inference did not converge."""
        return dict.fromkeys(self.quantities, (len(self.nu),)) | dict(super().fields)

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        graph, rng = self.draw_graph(task)
        masks = [members(graph, name) for name in self.among]
        shares = [float(mask.mean()) for mask in masks]
        rows = np.mean([self._measure(graph, masks, own) for own in rng.spawn(self.datasets)], axis=0)
        return self.as_fields(rows, shares)

    def _measure(self, graph: Graph, masks: Sequence[Any], rng: np.random.Generator) -> FloatArray:
        """Draw a data set; return a row of averages for each nu."""
        problem, (C, true) = self.problem, self.covariances(graph)
        sizes = examples(self.nu, graph.vertices, rng.random())
        order = np.argsort(sizes, kind="stable")
        teacher, everywhere = problem.teacher, np.arange(float(graph.vertices))[:, None]
        if teacher is not None and teacher.function is not None:
            values = teacher.values(everywhere)
        else:
            values = draw_function(C if true is None else true, rng)
        vertex = rng.integers(graph.vertices, size=int(sizes.max(initial=0)))
        labels = true_observation(problem).draw(values[vertex], vertex[:, None].astype(np.float64), rng)
        rows = np.empty((len(sizes), len(self.quantities) + len(self.averages) + len(masks)))
        found = _infer(C, vertex, labels, problem.observation, sizes[order], self.inference, rng)
        for place, (mean, variance, converged) in zip(order.tolist(), found, strict=True):
            compared = compare(problem, values, mean[None], variance[None])
            error = compared[self.quantity][0]
            averages = [float(compared[name].mean()) for name in self.quantities]
            sums = [float(error[mask].sum() / len(error)) for mask in masks]
            rows[place] = [*averages, error.mean(), variance.mean(), not converged, *sums]
        return rows


def _infer(
    C: FloatArray,
    vertex: IntArray,
    labels: FloatArray,
    observation: Observation,
    sizes: IntArray,
    inference: str,
    rng: np.random.Generator,
) -> Iterator[tuple[FloatArray, FloatArray, bool]]:
    """Yield means and variances at all vertices for ascending numbers of labels, and whether inference converged."""
    everywhere, prior = np.arange(len(C)), C.diagonal()
    belief: Any = None
    for n in sizes.tolist():
        places = Places(C, vertex[:n])
        cross = C[places.labelled]
        if inference == "gibbs":
            yield *gibbs(places.K, cross, prior, labels[:n], observation, rng, places.position), True
        elif inference == "ep":
            belief = expectation_propagation(places, labels[:n], observation, belief, TOLERANCE)
            yield *belief.predict(everywhere, prior), belief.converged
        else:
            together: Any = Together(observation, labels[:n], places)
            mode = laplace(places.K, np.zeros(len(places.labelled)), together, tolerance=TOLERANCE)
            yield *mode.predict(cross, prior), True
