"""The vertices of random graphs as inputs: an ensemble of graphs is a distribution over graphs, and so over vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gpcurves.errors import NotApplicableError
from gpcurves.graphs import Ensemble, GraphKernel
from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra import Spectrum


@dataclass(frozen=True, repr=False)
class RandomVertices(Inputs):
    """The vertices of a graph that is drawn from an ensemble; their number is left open until a graph is drawn."""

    name = ""
    axis = "nu"
    ensemble: Ensemble

    @property
    def dim(self) -> int:
        """One: the number of the vertex."""
        return 1

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        raise self._open()

    def nodes(self, count: int) -> Nodes:
        raise self._open()

    def spectrum(self, kernel: Any) -> Spectrum:
        raise self._open()

    def prior_variance(self, kernel: Any) -> float:
        raise self._open()

    def _open(self) -> NotApplicableError:
        return NotApplicableError("an ensemble of graphs has no vertices of its own: sample a graph from it")

    def objection(self, kernel: Any) -> str | None:
        return object_to_kernel(kernel)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "RandomVertices", "ensemble": self.ensemble.to_dict()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(Ensemble.from_dict(parameters["ensemble"]))

    def __repr__(self) -> str:
        return repr(self.ensemble)


def object_to_kernel(kernel: Any) -> str | None:
    """Say why a kernel is not one between vertices, or return None if it is."""
    if isinstance(kernel, GraphKernel):
        return None
    return f"on a graph the kernel must be one such as RandomWalkKernel(p=10), got {kernel!r}"
