"""Sums of covariances between vertices: of kernels on the graph with each other, and with kernels of vertex attributes.

If no term is normalised, the sum is again a function of `T`, and has messages. Otherwise every term has normalisers of its own, and
the sum is the sum of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.graph import Graph, as_graph, check_dense
from gpcurves.graphs.kernels.base import GraphKernel, Normalisation
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, frozen


class MatrixCovariance(GraphCovariance):
    """A covariance that is no function of `T`: products go by its rows, or by those of its terms."""

    @property
    def diagonal_work(self) -> float:
        return float(self.graph.vertices) ** 2

    @cached_property
    def normaliser(self) -> FloatArray:
        return frozen(np.ones(self.graph.vertices))

    @property
    def raw_diagonal(self) -> FloatArray:
        return self.variances

    def roughly(self, share: float) -> None:
        return None

    @property
    def factors(self) -> None:
        return None

    def eigenvalues(self) -> FloatArray:
        from scipy.linalg import eigvalsh

        check_dense(self.graph, 3)
        return np.asarray(np.maximum(eigvalsh(self.matrix(), overwrite_a=True, check_finite=False), 0.0))


class SumCovariance(MatrixCovariance):
    """The sum of the covariances of several kernels on one graph."""

    kernel: GraphKernelSum

    @cached_property
    def parts(self) -> tuple[GraphCovariance, ...]:
        """The covariance of each term."""
        return tuple(term.on(self.graph) for term in self.kernel.terms)

    @cached_property
    def variances(self) -> FloatArray:
        return frozen(np.sum([part.variances for part in self.parts], axis=0))

    def rows(self, vertices: object) -> FloatArray:
        return np.asarray(sum(part.rows(vertices) for part in self.parts))

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        return np.asarray(sum(part @ vectors for part in self.parts))


def _check_terms(name: str, value: object) -> tuple[GraphKernel, ...]:
    terms = value if isinstance(value, tuple | list) else (value,)
    flat: list[GraphKernel] = []
    for term in terms:
        if not isinstance(term, GraphKernel):
            raise InputError(
                f"a sum of kernels between vertices has terms such as RandomWalkKernel(p=10), got {term!r}"
            )
        flat += term.terms if isinstance(term, GraphKernelSum) else (term,)
    if len(flat) < 2:
        raise InputError(f"a sum needs at least two kernels, got {len(flat)}")
    return tuple(flat)


@dataclass(frozen=True, repr=False)
class GraphKernelSum(GraphKernel):
    """Independent contributions added: ``0.7 * RandomWalkKernel(p=4) + 0.3 * RandomWalkKernel(p=40)``.

    Each term is normalised separately, and its variance is its share of the prior variance. Simulation and eigenvalue
    theory support any sum. The cavity method needs terms without normalisation, whose sum is again a function of `T`.

    Parameters
    ----------
    terms
        Kernels between vertices.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> kernel = 0.7 * gpc.RandomWalkKernel(p=4) + 0.3 * gpc.RandomWalkKernel(p=40)
    >>> isinstance(kernel, gpc.GraphKernelSum), len(kernel.terms)
    (True, 2)
    """

    name: ClassVar[str] = ""
    terms: tuple[GraphKernel, ...] = parameter(help="Kernels to add", check=_check_terms)

    @property
    def spectral(self) -> bool:  # type: ignore[override]
        """Whether the sum is a function of ``T``: whether all terms are, and none is normalised."""
        return all(term.spectral and term.normalise == "none" for term in self.terms)

    @property
    def normalise(self) -> Normalisation:  # type: ignore[override]
        """What all terms are; "none" if they differ in that some are not normalised."""
        kinds = {term.normalise for term in self.terms}
        return "none" if "none" in kinds else "global" if "global" in kinds else "local"

    @property
    def variance(self) -> float:  # type: ignore[override]
        """The prior variance, if terms are normalised; without normalisation the factors are in the terms."""
        return 1.0 if self.normalise == "none" else float(sum(term.variance for term in self.terms))

    def scaled(self, factor: float) -> GraphKernelSum:
        return GraphKernelSum(tuple(term.scaled(factor) for term in self.terms))

    def normalised(self, how: Normalisation) -> Self:
        if how == "none" and self.normalise == "none":
            return self
        raise NotApplicableError(f"the terms of a sum are normalised one by one: normalise each, not {self!r}")

    def raw(self) -> Self:
        return self.normalised("none")

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        if not self.spectral:
            raise NotApplicableError(self._reason)
        return np.asarray(sum(term.variance * term.eigenvalue(t) for term in self.terms))

    def vertex_model(self) -> VertexModel:
        if not self.spectral:
            raise NotApplicableError(self._reason)
        return super().vertex_model()

    @property
    def _reason(self) -> str:
        guilty = next(term for term in self.terms if not (term.spectral and term.normalise == "none"))
        return (
            "messages exist for sums of kernels of the graph alone without normalisation (normalise='none'), but "
            "one term is "
            f"{guilty!r}"
        )

    def on(self, graph: object) -> GraphCovariance:
        return super().on(graph) if self.spectral else SumCovariance(self, as_graph(graph))

    def details_of(self, graph: Graph) -> str:
        return "".join(term.details_of(graph) for term in self.terms)

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(tuple(GraphKernel.from_dict(term) for term in parameters["terms"]))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))
