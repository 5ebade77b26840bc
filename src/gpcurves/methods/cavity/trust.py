"""Whether the cavity method may be trusted on a given graph: its error is measured against dense algebra on pieces of the graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gpcurves.errors import GPCurvesError
from gpcurves.graphs import Graph, GraphKernel, RandomWalkKernel, as_graph
from gpcurves.graphs import diagnosis as about
from gpcurves.problem import GraphProblem

_NOISE, _NU = 0.1, (0.3, 1.0)  # at which it is measured: cycles matter most at few labels and low noise
_SMALL, _LARGE = 0.03, 0.1  # relative errors up to which it is trusted, and from which on it is not


@dataclass(frozen=True)
class LoopTrust:
    """How far cycles put the cavity method off on a graph, and what follows from that.

    ``loop_error`` is the largest relative error of the average over vertices, measured with its standard error; 0 on a graph without
    cycles, and None if the kernel has no messages.
    """

    loop_error: float | None
    stderr: float | None
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return asdict(self)


def loop_trust(graph: Graph, kernel: GraphKernel) -> LoopTrust:
    """Measure how far the cavity method is off on a graph, and say whether it may be trusted."""
    from gpcurves.methods.cavity.beliefs import is_forest, normalisers
    from gpcurves.methods.cavity.experiments import GivenGraph, loop_errors

    if is_forest(graph):
        return LoopTrust(0.0, 0.0, "The graph has no cycles: the cavity method is exact on it.")
    local = kernel.raw().normalised("local")
    try:
        local.vertex_model()
        kappa, _ = normalisers(local, graph)
        problem = GraphProblem(graph, local, _NOISE)
        found = loop_errors(GivenGraph(problem, _NU, 0, (), None, 1e-8, 1_000, 0.0, kappa, None))
    except GPCurvesError as error:
        return LoopTrust(None, None, f"The cavity method cannot be used: {error}.")
    worst = int(np.argmax(abs(found.off)))
    off, stderr = float(abs(found.off[worst])), float(found.stderr[worst])
    measured = (
        f"its error is off by {100 * off:.2g} % ± {200 * stderr:.1g} % (measured at noise {_NOISE:g} against dense algebra on "
        f"{found.vertices:,} vertices of {found.drawn} data sets)"
    )
    if off <= _SMALL:
        return LoopTrust(off, stderr, f"You can trust the cavity method here: {measured}.")
    if off <= _LARGE:
        return LoopTrust(off, stderr, f"The cavity method is a rough approximation here: {measured}.")
    remedy = "use simulation, or eigenvalue for many labels"
    return LoopTrust(off, stderr, f"Do not trust the cavity method here: {measured}; {remedy}.")


def diagnose(graph: object, kernel: GraphKernel | None = None) -> about.Diagnosis:
    """Examine a graph: how uneven prior variances are, its shape, and whether the cavity method may be trusted on it.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes. Large ones are sampled.
    kernel
        The kernel; a random walk of 10 steps with a = 2 if None. Its own normalisation is not used.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import networkx
    >>> print(gpc.diagnose(networkx.karate_club_graph()).verdict().partition(",")[0])
    Warning: with global normalisation the prior variance differs 15.3-fold over vertices
    """
    network = as_graph(graph)
    examined = RandomWalkKernel() if kernel is None else kernel
    return replace(about.diagnose(network, examined), measure=partial(loop_trust, network, examined))
