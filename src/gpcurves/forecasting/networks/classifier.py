"""Classes on the vertices of a graph: class probabilities from labels at some vertices, in the style of scikit-learn."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError, NumericalError
from gpcurves.forecasting.networks.attributes import Attributes
from gpcurves.forecasting.networks.candidates import (
    MOST_DENSE,
    Candidate,
    add_attributes,
    choose_kernels,
    make_candidates,
)
from gpcurves.forecasting.networks.class_labels import ClassLabels, normalise
from gpcurves.forecasting.networks.class_mixture import (
    ClassesLeftOut,
    PropagatedClasses,
    leave_out_of_shares,
    mix,
    score,
    weigh_parts,
)
from gpcurves.forecasting.networks.class_posterior import (
    VARIANCES,
    NetworkClassPosterior,
    explain,
    extend,
    log_score,
    screen,
    weigh,
)
from gpcurves.forecasting.networks.observed import vertex_numbers
from gpcurves.forecasting.networks.regressor import LARGEST, describe_kernel
from gpcurves.graphs import Graph, GraphKernel, as_graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.records import list_names
from gpcurves.graphs.solving import solve_mean
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations import Logit
from gpcurves.observations.classes import Classes

_FITTED = 200  # labels that find the kernel; of more, so many are drawn at random
_BLOCK = 4_000_000  # covariances that are held at a time
_MOST_MEMBERS, _FEW = 8, 3  # explanations that are kept, and on large graphs
_MOST = 100  # steps of Newton's method
_TOLERANCE = 1e-5


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the probability of each class at every vertex of a graph from the classes of some.

    A function on the vertices is inferred by Laplace's method for each class against all others; for two classes it is one. By default
    the prediction is an average over kernels and variances, weighted by the probability that they give to labels left out, and over
    label propagation and the shares of the classes.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes.
    kernel
        "fit", or a covariance between vertices, which is not fitted. Functions then have mean 0, and label propagation is not used.
    variance
        "fit", or the prior variance of the functions: a large one means that most labels are certain.
    likelihood
        How classes depend on the function: ``Logit()``, the default, or ``Probit(noise)``.
    attributes
        What else is known about every vertex, as for `GraphRegressor`.

    Attributes
    ----------
    classes_
        The classes, in order.
    graph_, everywhere_
        The graph with its vertices in the order of their names; the numbers there of the vertices in the order in which they
        were given.
    kernel_, variance_
        What was chosen, or given; the likeliest of those that are averaged.
    weights_
        The weights of the Gaussian process, of label propagation and of the shares of the classes; found at labels left out.
    left_out_
        Error rates and log losses at labelled vertices if each is predicted from the others, beside those of simple methods.
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
        attributes: Any = None,
    ) -> None:
        self.graph = graph
        self.kernel = kernel
        self.variance = variance
        self.likelihood = likelihood
        self.attributes = attributes

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from classes at vertices, which are given by number or by name and may repeat."""
        graph = as_graph(self.graph)
        return self.fit_labels(graph, ClassLabels.collect(graph, X, y))

    def fit_labels(self, graph: Graph, labels: ClassLabels) -> Self:
        """Learn from classes that are gathered by vertex."""
        self.likelihood_ = Logit() if self.likelihood is None else self.likelihood
        if not isinstance(self.likelihood_, Classes):
            raise InputError(f"likelihood must be one of classes such as Logit() or Probit(), got {self.likelihood!r}")
        if self.attributes is not None and self.kernel != "fit":
            raise InputError("attributes of vertices are used only if the kernel is fitted: leave out one of the two")
        attributes = None if self.attributes is None else Attributes.read(graph, self.attributes)
        # Random draws and ties go by names: the same labels in another order, or in another file, give the same answer.
        self.graph_, self.everywhere_ = graph.by_name
        self.labels_ = labels.renumber(self.everywhere_)
        self.classes_ = labels.classes
        self.attributes_ = None if attributes is None else attributes.take(np.argsort(self.everywhere_))
        self.notes_: tuple[str, ...] = ()
        with threadpool_limits(1):
            self._weigh()
            if self.graph_.vertices * len(self.labels_.vertices) > LARGEST:
                self._infer_large()
            else:
                self._infer()
        self._describe(None if attributes is None else attributes.notes)
        return self

    def _weigh(self) -> None:
        """Find the covariances, from a part of the labels if there are many."""
        labels, o = self.labels_, self.labels_.vertices
        variances = VARIANCES if isinstance(self.variance, str) else (positive("variance", self.variance),)
        if not isinstance(self.kernel, str):
            self._use(self.kernel, variances)
            return
        self.fitted_ = labels
        if len(o) > _FITTED:
            self.fitted_ = labels.take(np.sort(np.random.default_rng(0).permutation(len(o))[:_FITTED]))
        found = list(make_candidates(self.graph_, self.fitted_.vertices, choose_kernels(self.graph_)))
        if self.attributes_ is not None:
            found = add_attributes(found, self.graph_, self.fitted_.vertices, self.attributes_)
        self.pairs_: list[tuple[Candidate, float]] = [
            (candidate, variance) for candidate in screen(found, self.fitted_) for variance in variances
        ]
        most = _FEW if self.graph_.vertices > MOST_DENSE else _MOST_MEMBERS
        self.posterior_: NetworkClassPosterior = weigh(self.pairs_, self.fitted_, self.likelihood_, most=most)
        self.kernel_, self.variance_ = self.posterior_.members[0].candidate.kernel, self.posterior_.members[0].variance

    def _use(self, kernel: GraphKernel, variances: tuple[float, ...]) -> None:
        """Take a kernel as it is, with the variance with which labels left out are the most probable."""
        labels, self.kernel_ = self.labels_, kernel
        (candidate,) = make_candidates(self.graph_, labels.vertices, [(kernel, 1.0)])
        if len(variances) == 1 and self.graph_.vertices * len(labels.vertices) > LARGEST:
            self.variance_ = variances[0]
            return
        count = len(variances)
        given = ([candidate] * count, variances, labels, self.likelihood_, [candidate.block] * count)
        members = list(explain(*given, centred=True))
        best = members[0] if count == 1 else max(members, key=lambda each: log_score(each.left_out, labels.counts))
        self.variance_, self.posterior_ = best.variance, NetworkClassPosterior(labels, (best,))

    def _infer(self) -> None:
        labels = self.labels_
        if len(self.posterior_.labels.vertices) < len(labels.vertices):
            self.posterior_ = extend(self.posterior_, labels)
        self.propagation_ = PropagatedClasses.fit(self.graph_, labels)
        process = self.posterior_.leave_out()
        propagated = None if self.propagation_ is None else self.propagation_.leave_out()
        self.weights_: FloatArray = np.array([1.0, 0.0, 0.0])
        if isinstance(self.kernel, str):
            self.weights_ = weigh_parts(process, propagated, labels.counts)
        simple = leave_out_of_shares(labels.counts)
        self.left_out_: ClassesLeftOut | None = ClassesLeftOut(
            score(mix(process, propagated, simple, self.weights_), labels.counts),
            score(simple, labels.counts),
            None
            if propagated is None
            else score(mix(simple, propagated, simple, np.array([0, 0.95, 0.05])), labels.counts),
        )
        likeliest = self.posterior_.members[0]
        size = max(1, _BLOCK // len(labels.vertices))
        every = np.arange(self.graph_.vertices)
        blocks = [every[i : i + size] for i in range(0, len(every), size)]
        process = np.concatenate([self.posterior_.predict(block) for block in blocks])
        parts = [
            likeliest.infer(likeliest.candidate.between(block, labels.vertices).T, likeliest.candidate.variances(block))
            for block in blocks
        ]
        self._keep(*(np.concatenate([part[k] for part in parts], axis=1) for k in range(2)))
        everywhere = None if self.propagation_ is None else self.propagation_.values
        self.probabilities_: FloatArray = mix(process, everywhere, labels.shares, self.weights_)

    def _keep(self, means: FloatArray, variances: FloatArray) -> None:
        """Keep the means and variances of functions at all vertices: of one for two classes, else in a column for each."""
        one = len(means) == 1
        self.means_, self.variances_ = (each[0] if one else each.T for each in (means, variances))

    def _infer_large(self) -> None:
        """Newton's steps as regressions with noise per vertex, and variances by belief propagation."""
        from gpcurves.methods.cavity.beliefs import links_of, normalisers, propagate  # compiles, which takes long

        if self.attributes_ is not None:
            raise InputError("attributes of vertices cannot be used on a graph of this size: leave them out")
        kappa, note = normalisers(self.kernel_, self.graph_)
        kappa = np.asarray(kappa) / self.variance_
        covariance = self.kernel_.on(self.graph_).normalised_by(kappa)
        labels, o = self.labels_, self.labels_.vertices
        odds = labels.shares if labels.functions > 1 else labels.shares[1:]
        offsets = np.log(odds / (1 - odds)) if isinstance(self.kernel, str) else np.zeros(labels.functions)
        found = []
        for function, offset in enumerate(offsets.tolist()):
            counted, f = labels.against_rest(function, self.likelihood_, offset), np.zeros(len(o))
            for _ in range(_MOST):
                _, slope, curvature = counted.slopes(f, f)
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
            weights[o] = counted.slopes(f, f)[2]
            beliefs = propagate(links_of(self.graph_), self.kernel_.vertex_model(), weights, 1.0, kappa)
            if not beliefs.converged:
                raise NumericalError(
                    f"variances did not converge after {beliefs.rounds} iterations of belief propagation: give a kernel of shorter range"
                )
            found.append((np.asarray(solved.mean) + offset, np.asarray(beliefs.variance)))
        means, variances = (np.array([each[k] for each in found]) for k in range(2))
        self._keep(means, variances)
        sure = self.likelihood_.probability(means, np.maximum(variances, 0.0))[0]
        self.probabilities_ = normalise(np.clip(sure, 1e-9, 1 - 1e-9))
        self.weights_, self.left_out_ = np.array([1.0, 0.0, 0.0]), None
        how = "variances by belief propagation, which is exact on trees only"
        self.notes_ = (how if note is None else f"{how}; {note}",)

    def _describe(self, of_attributes: tuple[str, ...] | None) -> None:
        notes = [self.left_out_.warning if self.left_out_ is not None else None, self.labels_.rare]
        part = connected_components(self.graph_.adjacency, directed=False)[1]
        unreached = np.flatnonzero(~np.isin(part, part[self.labels_.vertices]))
        if len(unreached):
            are = "vertex is in a component" if len(unreached) == 1 else "vertices are in components"
            names = list_names([self.graph_.label(k) for k in unreached.tolist()])
            what = (
                "probabilities are the shares of the classes" if isinstance(self.kernel, str) else "classes are guessed"
            )
            notes.append(f"{len(unreached):,} {are} of the graph without labels ({names}): {what}")
        self.notes_ = (*self.notes_, *(note for note in notes if note is not None), *(of_attributes or ()))

    @property
    def findings(self) -> tuple[str, ...]:
        """What was fitted: the kernel, and error rates at labels left out."""
        kernel = f"kernel {self.kernel_!r}, as given"
        if isinstance(self.kernel, str):
            kernel = f"most likely {describe_kernel(self.kernel_)}, {self.kernel_.normalise} normalisation"
        if self.left_out_ is None:
            return (kernel,)
        left = self.left_out_
        simple = "" if left.propagation is None else f", label propagation {100 * left.propagation[0]:.3g} %"
        compared = (
            f"fitted model {100 * left.process[0]:.3g} %, most frequent class {100 * left.majority[0]:.3g} %{simple}"
        )
        return kernel, f"leave-one-out error rate, to compare methods: {compared}"

    def predict_proba(self, X: npt.ArrayLike | None = None) -> FloatArray:
        """Return the probability of each class (columns, as in ``classes_``) at vertices, or at all of them."""
        at = self._find(X)
        return np.asarray(self.probabilities_[at])

    def predict(self, X: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return the most likely class at the given vertices, or at all."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def _find(self, X: npt.ArrayLike | None) -> IntArray:
        if not hasattr(self, "probabilities_"):
            raise InputError("this model is not fitted yet: call fit first")
        return self.everywhere_ if X is None else vertex_numbers(self.graph_, X)

    def __repr__(self) -> str:
        shown = self.graph if isinstance(self.graph, Graph) else type(self.graph).__name__
        told = "".join(
            f", {name}={getattr(self, name)!r}" for name in ("kernel", "variance") if getattr(self, name) != "fit"
        )
        return f"GraphClassifier({shown!r}{told})"
