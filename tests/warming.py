"""Compile the loops over vertices and keep the machine code, so that the two processes of `make test` need not both do it."""

from __future__ import annotations

from typing import Any

import gpcurves as gpc
from gpcurves.graphs.elimination import elimination, inverse_diagonal


def main() -> None:
    ring = gpc.Graph.from_edges([(k, (k + 1) % 12) for k in range(12)])
    walk, other = gpc.RandomWalkKernel(p=2, normalise="global"), gpc.Teacher(gpc.RandomWalkKernel(p=3), 0.2)
    few: dict[str, Any] = {"nu": [0.5], "precision": 0.3, "rng": 0}
    for graph, options in ((ring, {}), (gpc.ErdosRenyi(2), {"population": 64})):
        for teacher in (None, other):
            gpc.learning_curve(gpc.GraphProblem(graph, walk, 0.1, teacher), "cavity", **few, **options)
    ordered = elimination(ring)
    assert ordered is not None
    inverse_diagonal(ring, 1.0, 1, ordered)


if __name__ == "__main__":
    main()
