"""Two classes on the vertices of a graph: class probabilities from labels at some vertices, in the style of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError, NumericalError
from gpcurves.forecasting.networks.candidates import choose_kernels
from gpcurves.forecasting.networks.observed import vertex_numbers
from gpcurves.forecasting.networks.regressor import FITTED, LARGEST
from gpcurves.graphs import Graph, GraphKernel, as_graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.solving import solve_mean
from gpcurves.methods.simulation.inference import Belief, laplace
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations import Logit
from gpcurves.observations.base import Tilted
from gpcurves.observations.classes import Classes

_VARIANCES = (0.3, 1.0, 3.0, 10.0, 30.0)  # of the function, in units of the slope of the logistic function
_BLOCK = 4_000_000  # covariances that are held at a time
_MOST = 100  # steps of Newton's method
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Counted:
    """Labels by vertex: how many there are of each class."""

    vertices: IntArray
    minus: FloatArray
    plus: FloatArray
    observation: Classes

    @classmethod
    def collect(cls, numbers: IntArray, positive_class: npt.NDArray[np.bool_], observation: Classes) -> Counted:
        """Gather labels at vertices that are given by number and may repeat."""
        vertices, place = np.unique(numbers, return_inverse=True)
        plus = np.asarray(np.bincount(place, positive_class), dtype=np.float64)
        minus = np.asarray(np.bincount(place, ~positive_class), dtype=np.float64)
        return cls(vertices, minus, plus, observation)

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        """Return the log likelihood of all labels at each vertex, its derivative and minus its second derivative."""
        above = self.observation.slopes(np.ones_like(values), values)
        below = self.observation.slopes(-np.ones_like(values), values)
        sums = (self.plus * a + self.minus * b for a, b in zip(above, below, strict=True))
        return tuple(sums)  # type: ignore[return-value]

    def take(self, places: npt.NDArray[np.intp]) -> Counted:
        """Return the labels at some of the vertices."""
        return Counted(self.vertices[places], self.minus[places], self.plus[places], self.observation)


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the probability of two classes at every vertex of a graph from the classes of some.

    A function on the vertices is inferred by Laplace's method: each step of Newton's method is a regression whose noise depends
    on the vertex. On large graphs the steps use conjugate gradients or a sparse factorisation, and variances come from belief
    propagation.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes.
    kernel
        "fit", which maximises the evidence, or a covariance between vertices, which is not fitted.
    variance
        "fit", or the prior variance of the function: a large one means that most labels are certain.
    likelihood
        How classes depend on the function: ``Logit()``, the default, or ``Probit(noise)``.

    Attributes
    ----------
    classes_
        The two classes, in order.
    kernel_, variance_
        What was chosen, or given.
    log_evidence_
        The logarithm of the evidence by Laplace's method; None on large graphs.
    notes_
        Warnings about the predictions, in sentences.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> kernel = gpc.RandomWalkKernel(p=6, a=2, normalise="local")
    >>> model = gpc.GraphClassifier(chain, kernel, variance=4.0).fit([0, 1, 7, 8], ["red", "red", "blue", "blue"])
    >>> model.predict([2, 6])
    array(['red', 'blue'], dtype='<U4')
    """

    def __init__(
        self,
        graph: object = None,
        kernel: GraphKernel | Literal["fit"] = "fit",
        variance: float | Literal["fit"] = "fit",
        *,
        likelihood: Classes | None = None,
    ) -> None:
        self.graph = graph
        self.kernel = kernel
        self.variance = variance
        self.likelihood = likelihood

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from classes at vertices, which are given by number or by name and may repeat."""
        self.graph_: Graph = as_graph(self.graph)
        self.likelihood_ = Logit() if self.likelihood is None else self.likelihood
        if not isinstance(self.likelihood_, Classes):
            raise InputError(f"likelihood must be one of classes such as Logit() or Probit(), got {self.likelihood!r}")
        numbers, labels = vertex_numbers(self.graph_, X), _check_classes(y)
        if labels.shape != numbers.shape:
            raise InputError(f"there must be one label per vertex, got {labels.size} for {len(numbers)}")
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            listed = ", ".join(map(str, self.classes_[:5].tolist())) + ", …" * (len(self.classes_) > 5)
            raise InputError(f"labels must be of two classes, got {len(self.classes_)}: {listed}")
        self.counted_ = Counted.collect(numbers, labels == self.classes_[1], self.likelihood_)
        with threadpool_limits(1):
            self._choose()
            self._infer()
        part = connected_components(self.graph_.adjacency, directed=False)[1]
        unreached = int((~np.isin(part, part[self.counted_.vertices])).sum())
        if unreached:
            are = "vertex is in a component" if unreached == 1 else "vertices are in components"
            self.notes_ += (f"{unreached:,} {are} of the graph without labels: both classes have the same probability",)
        return self

    def _choose(self) -> None:
        """Choose the kernel and the variance with the largest evidence, of a part of the labels if there are many."""
        fixed = not isinstance(self.kernel, str)
        kernels: list[Any] = [self.kernel] if fixed else [kernel for kernel, _ in choose_kernels(self.graph_)]
        given = not isinstance(self.variance, str)
        variances = (positive("variance", self.variance),) if given else _VARIANCES
        if len(kernels) * len(variances) == 1:
            self.kernel_, self.variance_ = kernels[0], variances[0]
            return
        some, o = self.counted_, self.counted_.vertices
        if len(o) > FITTED:
            some = some.take(np.sort(np.random.default_rng(0).permutation(len(o))[:FITTED]))
        best = -np.inf
        for kernel in kernels:
            C = kernel.on(self.graph_).rows(some.vertices)[:, some.vertices]
            for variance in variances:
                evidence = self._laplace(variance * C, some).log_evidence
                if evidence > best:
                    best, self.kernel_, self.variance_ = evidence, kernel, variance

    def _laplace(self, K: FloatArray, labels: Counted) -> Belief:
        return laplace(np.ascontiguousarray(K), labels.plus, labels)  # type: ignore[arg-type]

    def _infer(self) -> None:
        o = self.counted_.vertices
        self.notes_: tuple[str, ...] = ()
        if self.graph_.vertices * len(o) > LARGEST:
            self._infer_large()
            return
        covariance = self.kernel_.on(self.graph_)
        cross = self.variance_ * covariance.rows(o)
        belief = self._laplace(cross[:, o], self.counted_)
        self.log_evidence_: float | None = belief.log_evidence
        prior, size = self.variance_ * covariance.variances, max(1, _BLOCK // len(o))
        parts = [
            belief.predict(cross[:, i : i + size], prior[i : i + size]) for i in range(0, self.graph_.vertices, size)
        ]
        self.means_, self.variances_ = (np.concatenate([part[k] for part in parts]) for k in range(2))

    def _infer_large(self) -> None:
        """Newton's steps as regressions with noise per vertex, and variances by belief propagation."""
        from gpcurves.methods.cavity.beliefs import links_of, normalisers, propagate  # compiles, which takes long

        kappa, note = normalisers(self.kernel_, self.graph_)
        kappa = np.asarray(kappa) / self.variance_
        covariance = self.kernel_.on(self.graph_).normalised_by(kappa)
        o, f = self.counted_.vertices, np.zeros(len(self.counted_.vertices))
        for _ in range(_MOST):
            _, slope, curvature = self.counted_.slopes(f, f)
            solved = solve_mean(covariance, o, 1 / curvature, f + slope / curvature)
            step = solved.mean[o] - f
            # Newton's method for a concave posterior; a step of more than a few units could overshoot
            f = f + step * min(1.0, 5.0 / max(float(np.max(abs(step))), 1e-300))
            if float(np.max(abs(step))) < _TOLERANCE:
                break
        else:
            raise NumericalError(
                f"Newton's method for the classes did not converge in {_MOST} steps: give a smaller variance"
            )
        weights = np.zeros(self.graph_.vertices)
        weights[o] = self.counted_.slopes(f, f)[2]
        beliefs = propagate(links_of(self.graph_), self.kernel_.vertex_model(), weights, 1.0, kappa)
        if not beliefs.converged:
            raise NumericalError(
                f"variances did not converge after {beliefs.rounds} iterations of belief propagation: give a kernel of shorter range"
            )
        self.means_, self.variances_, self.log_evidence_ = np.asarray(solved.mean), np.asarray(beliefs.variance), None
        how = "variances by belief propagation, which is exact on trees only"
        self.notes_ = (how if note is None else f"{how}; {note}",)

    def predict_proba(self, X: npt.ArrayLike | None = None) -> FloatArray:
        """Return the probability of both classes (columns, as in ``classes_``) at vertices, or at all of them."""
        at = self._find(X)
        p = self.likelihood_.probability(self.means_[at], np.maximum(self.variances_[at], 0.0))[0]
        return np.column_stack((1 - p, p))

    def predict(self, X: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return the more likely class at the given vertices, or at all."""
        at = self._find(X)
        return np.asarray(self.classes_[(self.means_[at] > 0).astype(np.int64)])

    def _find(self, X: npt.ArrayLike | None) -> IntArray:
        if not hasattr(self, "means_"):
            raise InputError("this model is not fitted yet: call fit first")
        return np.arange(self.graph_.vertices) if X is None else vertex_numbers(self.graph_, X)

    def __repr__(self) -> str:
        shown = self.graph if isinstance(self.graph, Graph) else type(self.graph).__name__
        told = "".join(
            f", {name}={getattr(self, name)!r}" for name in ("kernel", "variance") if getattr(self, name) != "fit"
        )
        return f"GraphClassifier({shown!r}{told})"


def _check_classes(y: npt.ArrayLike) -> npt.NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) == 0:
        raise InputError(f"labels must be a list with a class per vertex, got shape {labels.shape}")
    missing = labels.dtype.kind == "f" and not np.isfinite(labels).all()
    if missing or (labels.dtype.kind == "O" and any(each is None or each != each for each in labels.tolist())):
        raise InputError("labels must be classes, but some are missing: leave out vertices whose class is not known")
    return labels
