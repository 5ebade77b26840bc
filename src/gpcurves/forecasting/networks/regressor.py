"""A Gaussian process on the vertices of a graph that fits its own kernel, noise, variance and mean, in the style of scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, RegressorMixin
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.networks.attributes import Attributes, list_attributes
from gpcurves.forecasting.networks.candidates import (
    MOST_DENSE,
    Candidate,
    add_attributes,
    choose_kernels,
    make_candidates,
)
from gpcurves.forecasting.networks.evidence import Setting
from gpcurves.forecasting.networks.large import LargeFit, choose_large
from gpcurves.forecasting.networks.observed import FEWEST_LABELS, Observed, vertex_numbers
from gpcurves.forecasting.networks.posterior import (
    MOST_MEMBERS,
    NetworkPosterior,
    default_settings,
    extend,
    find_posterior,
)
from gpcurves.forecasting.networks.simple import LabelPropagation, find_share, leave_out_of_mean
from gpcurves.graphs import DiffusionKernel, Graph, GraphKernel, MaternGraphKernel, as_graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.records import list_names
from gpcurves.numerics.validation import FloatArray, positive

_NINETY = 1.6448536269514722  # half the width of a 90 % interval, in standard deviations
LARGEST = 1e8  # vertices times labels up to which all their covariances are held
_CLEARLY = 0.98  # below this share of an error, another one is worth a word
_FEW = 3  # explanations that are kept on large graphs
FITTED = 400  # labels that find the kernel; of more, so many are drawn at random
_BLOCK = 4_000_000  # covariances that are held at a time


@dataclass(frozen=True)
class LeftOut:
    """Root mean squared errors at labelled vertices, each predicted from the labels of the others."""

    process: float
    mean: float
    propagation: float | None

    @property
    def warning(self) -> str | None:
        """What to say if something simpler predicts better."""
        simple = {"label propagation": self.propagation, "the mean of the labels": self.mean}
        better = {name: rmse for name, rmse in simple.items() if rmse is not None and rmse < _CLEARLY * self.process}
        if not better:
            return None
        name, rmse = min(better.items(), key=lambda each: each[1])
        return (
            f"{name} has a lower leave-one-out error than the fitted model (RMSE {rmse:.4g} against "
            f"{self.process:.4g}): check that edges join vertices with similar values"
        )


class GraphRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict a real value at every vertex of a graph from its values at some, in the units of these values.

    What is not given is fitted: by default the prediction is an average over kernels (smooth and rough, of short and long range,
    with local and global normalisation), noises, variances and means, weighted by their probability given the labels.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes.
    kernel
        "fit", or a covariance between vertices, which is not fitted.
    noise
        "fit", or the noise variance of a label in units of the prior variance.
    mean, variance
        "fit", or the prior mean and variance of the function, in the units of the labels.
    attributes
        Attributes of every vertex that may help to predict the values: a table by vertex (a DataFrame whose index names the
        vertices, or an array with a row for each), or "auto" for the attributes of the graph itself. Texts are categories.
        Models with a covariance of the attributes are then added to those of the graph alone.

    Attributes
    ----------
    graph_, everywhere_
        The graph with its vertices in the order of their names, by which all else goes; the numbers there of the vertices in
        the order in which they were given.
    posterior_
        The models with their posterior probabilities.
    kernel_, noise_, mean_, variance_
        The most likely kernel, and averages over the posterior: the variance of the noise of a label, the mean and the
        variance of the function, all in the units of the labels.
    local_, attributed_
        The probabilities of local normalisation, and that the attributes matter.
    share_
        The weight of the Gaussian process in the prediction, which is averaged with label propagation if the kernel is
        fitted; chosen by leave-one-out errors.
    left_out_
        Leave-one-out errors at labelled vertices, next to those of simple methods.
    notes_
        Warnings about the predictions, in sentences.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> model = gpc.GraphRegressor(chain).fit([0, 2, 4, 8], [10.0, 12.0, 14.0, 18.0])
    >>> model.predict([1, 3]).round(0)
    array([11., 13.])
    """

    def __init__(
        self,
        graph: object = None,
        kernel: GraphKernel | Literal["fit"] = "fit",
        noise: float | Literal["fit"] = "fit",
        *,
        mean: float | Literal["fit"] = "fit",
        variance: float | Literal["fit"] = "fit",
        attributes: Any = None,
    ) -> None:
        self.graph = graph
        self.kernel = kernel
        self.noise = noise
        self.mean = mean
        self.variance = variance
        self.attributes = attributes

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, errors: npt.ArrayLike | None = None) -> Self:
        """Learn from values at vertices, which are given by number or by name and may repeat.

        ``errors`` are the standard errors of the values, if they are known.
        """
        graph = as_graph(self.graph)
        return self.fit_observed(graph, Observed.collect(graph, X, y, errors))

    def fit_observed(self, graph: Graph, observed: Observed) -> Self:
        """Learn from labels that are gathered by vertex."""
        if len(observed.vertices) < FEWEST_LABELS and "fit" in (self.kernel, self.noise, self.mean, self.variance):
            raise InputError(
                f"labels at {FEWEST_LABELS} vertices or more are needed to fit a model, got {len(observed.vertices)}"
            )
        if self.attributes is not None and self.kernel != "fit":
            raise InputError("attributes of vertices are used only if the kernel is fitted: leave out one of the two")
        if observed.deviation == 0 and self.variance == "fit":
            raise InputError("all labels are equal: there is no variation to fit")
        attributes = None if self.attributes is None else Attributes.read(graph, self.attributes)
        # Random draws and ties go by names: the same labels in another order, or in another file, give the same answer.
        graph, self.everywhere_ = graph.by_name
        observed = observed.renumber(self.everywhere_)
        self.graph_, self.observed_ = graph, observed
        self.attributes_ = None if attributes is None else attributes.take(np.argsort(self.everywhere_))
        self.settings_ = self._settings(observed)
        kernels = self._kernels(graph)
        if graph.vertices * len(observed.vertices) > LARGEST:
            return self._fit_large(kernels)
        large = graph.vertices > MOST_DENSE
        self.fitted_, fitted = observed, FITTED // 2 if large else FITTED
        if len(observed.vertices) > fitted:  # a part of the labels finds the kernel, and all of them predict
            pick = np.sort(np.random.default_rng(0).permutation(len(observed.vertices))[:fitted])
            self.fitted_ = observed.take(pick)
        with threadpool_limits(1):  # many small matrices
            self._weigh(graph, kernels, observed, _FEW if large else MOST_MEMBERS)
        self._describe()
        return self

    def _fit_large(self, kernels: list[tuple[GraphKernel, float]]) -> Self:
        if self.attributes_ is not None:
            raise InputError("attributes of vertices cannot be used on a graph of this size: leave them out")
        if self.observed_.known is not None:
            raise InputError("standard errors of labels cannot be used on a graph of this size: leave them out")
        tried = [kernel for kernel, _ in kernels]
        if len(tried) > 1:
            tried = [
                kernel.normalised("local") for kernel in tried if kernel.resolvent and kernel.resolvent.exponent <= 2
            ]
        found = choose_large(self.graph_, tried, self.observed_, self.settings_)
        self.large_: LargeFit | None = found
        self.kernel_, self.local_, self.share_ = found.trial.kernel, float(found.trial.kernel.normalise == "local"), 1.0
        self.attributed_ = 0.0
        self.mean_, self.variance_, self.noise_ = found.mean, found.variance, found.noise
        self.propagation_: LabelPropagation | None = None
        y, places = self.observed_.means, found.trial.places
        self.left_out_ = LeftOut(found.trial.rmse, _rms((leave_out_of_mean(y) - y)[places]), None)
        notes = [self.left_out_.warning, self._find_unreached(self.observed_.vertices), found.how]
        self.notes_ = tuple(note for note in notes if note is not None)
        return self

    def _weigh(self, graph: Graph, kernels: list[tuple[GraphKernel, float]], observed: Observed, most: int) -> None:
        self.large_ = None
        found = list(make_candidates(graph, self.fitted_.vertices, kernels))
        if self.attributes_ is not None:
            found = add_attributes(found, graph, self.fitted_.vertices, self.attributes_)
        self.candidates_: tuple[Candidate, ...] = tuple(found)
        self.posterior_: NetworkPosterior = find_posterior(self.candidates_, self.fitted_, self.settings_, most=most)
        if self.fitted_ is not observed:
            self.posterior_ = extend(self.posterior_, observed)

    def _kernels(self, graph: Graph) -> list[tuple[GraphKernel, float]]:
        if isinstance(self.kernel, str):
            return choose_kernels(graph)
        if not self.kernel.spectral or self.kernel.variance != 1 or len(getattr(self.kernel, "terms", ())) > 1:
            raise InputError(
                "kernel must be a single one of the graph with variance 1: the prior variance is given as variance=, and attributes "
                f"as attributes=, got {self.kernel!r}"
            )
        return [(self.kernel, 1.0)]

    def _settings(self, observed: Observed) -> list[Setting]:
        mean = None if isinstance(self.mean, str) else float(self.mean)
        variance = None if isinstance(self.variance, str) else positive("variance", self.variance)
        return default_settings(observed, None if isinstance(self.noise, str) else self.noise, mean, variance)

    def _describe(self) -> None:
        """Set what users read."""
        posterior, observed = self.posterior_, self.posterior_.observed
        solutions = [member.solution for member in posterior.members]
        self.kernel_ = posterior.members[0].candidate.kernel
        self.local_, self.attributed_ = posterior.local, posterior.attributed
        self.noise_ = posterior.noise_variance
        self.mean_, self.variance_ = (
            float(posterior.weights @ [getattr(each, name) for each in solutions]) for name in ("mean", "variance")
        )
        self.propagation_ = LabelPropagation.fit(self.graph_, observed.vertices, observed.means)
        y, process = observed.means, posterior.leave_out()[0]
        self.share_, combined, propagated = 1.0, process, None
        if self.propagation_ is not None:
            propagated = self.propagation_.leave_out()
            if self.kernel == "fit":
                self.share_ = find_share(y, process, propagated)
            combined = self.share_ * process + (1 - self.share_) * propagated
        self.left_out_ = LeftOut(
            _rms(combined - y), _rms(leave_out_of_mean(y) - y), None if propagated is None else _rms(propagated - y)
        )
        notes = [self.left_out_.warning, self._find_unreached(observed.vertices)]
        notes += () if self.attributes_ is None else self.attributes_.notes
        self.notes_ = tuple(note for note in notes if note is not None)

    def _find_unreached(self, labelled: IntArray) -> str | None:
        part = connected_components(self.graph_.adjacency, directed=False)[1]
        unreached = np.flatnonzero(~np.isin(part, part[labelled]))
        if len(unreached) == 0:
            return None
        are = "vertex is in a component" if len(unreached) == 1 else "vertices are in components"
        names = list_names([self.graph_.label(k) for k in unreached.tolist()])
        return (
            f"{len(unreached):,} {are} of the graph without labels ({names}): their prediction is the mean of the "
            "labels, with a wide interval"
        )

    @overload
    def predict(self, X: npt.ArrayLike | None = None, return_std: Literal[False] = False) -> FloatArray: ...
    @overload
    def predict(
        self, X: npt.ArrayLike | None = None, *, return_std: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...
    @overload
    def predict(self, X: npt.ArrayLike | None, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    @overload
    def predict(
        self, X: npt.ArrayLike | None = None, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]: ...

    def predict(
        self, X: npt.ArrayLike | None = None, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the mean at vertices, or at all of them, and with ``return_std`` the standard deviation of the function."""
        mean, variance = self._predict(self._find(X))
        return (mean, np.sqrt(variance)) if return_std else mean

    def predict_interval(self, X: npt.ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the 90 % interval of a new label at vertices, or at all of them; noise is included."""
        return self.predict_at(self._find(X))[2:]

    def predict_at(self, vertices: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the mean and the standard deviation of the function at vertices given by number in ``graph_``.

        After these come the ends of the 90 % interval of a new label.
        """
        mean, variance = self._predict(vertices)
        half = _NINETY * np.sqrt(variance + self.noise_)
        return mean, np.sqrt(variance), mean - half, mean + half

    @property
    def summary(self) -> str:
        """The fitted model in one sentence, with leave-one-out errors."""
        return "; ".join(part[0].lower() + part[1:] for part in self.findings)

    @property
    def findings(self) -> tuple[str, ...]:
        """The parts of the summary: the kernel, whether attributes matter if there are any, and leave-one-out errors."""
        left = self.left_out_
        simple = "" if left.propagation is None else f", label propagation {left.propagation:.3g}"
        kernel = f"most likely {describe_kernel(self.kernel_)}, {describe_odds(self.local_)}"
        if self.large_ is not None:  # only local normalisation was tried
            kernel = f"{describe_kernel(self.kernel_)}, which has the lowest leave-one-out error"
        kernel = kernel if self.kernel == "fit" else f"kernel {self.kernel_!r}, as given"
        found = [kernel]
        if self.attributes_ is not None:
            found.append(describe_attributes(self.attributes_.names, self.attributed_))
        compared = f"fitted model {left.process:.3g}, mean of the labels {left.mean:.3g}{simple}"
        return (*found, f"Leave-one-out RMSE, to compare methods: {compared}")

    def _find(self, X: npt.ArrayLike | None) -> IntArray:
        if not hasattr(self, "large_"):
            raise InputError("this model is not fitted yet: call fit first")
        return self.everywhere_ if X is None else vertex_numbers(self.graph_, X)

    def _predict(self, at: IntArray) -> tuple[FloatArray, FloatArray]:
        if self.large_ is not None:
            return self.large_.means[at], self.large_.variances[at]
        size = max(1, _BLOCK // len(self.posterior_.observed.vertices))
        blocks = [self.posterior_.predict(at[begin : begin + size]) for begin in range(0, max(1, len(at)), size)]
        mean, variance = (np.concatenate([block[k] for block in blocks]) for k in range(2))
        if self.propagation_ is not None:
            mean = self.share_ * mean + (1 - self.share_) * self.propagation_.values[at]
        return mean, variance

    def __repr__(self) -> str:
        shown = self.graph if isinstance(self.graph, Graph) else type(self.graph).__name__
        given = {name: getattr(self, name) for name in ("kernel", "noise", "mean", "variance")}
        told = "".join(f", {name}={value!r}" for name, value in given.items() if value != "fit")
        if self.attributes is not None:
            told += f", attributes={self.attributes if isinstance(self.attributes, str) else type(self.attributes).__name__}"
        return f"GraphRegressor({shown!r}{told})"


def describe_kernel(kernel: GraphKernel) -> str:
    """Write a fitted kernel in words."""
    if isinstance(kernel, MaternGraphKernel):
        return f"a Matérn kernel of smoothness {kernel.smoothness:g} over about {kernel.scale:.2g} edges"
    if isinstance(kernel, DiffusionKernel):
        return f"a diffusion kernel over about {kernel.scale:.2g} edges"
    return repr(kernel)


def describe_odds(local: float) -> str:
    """Say how likely local normalisation is against global."""
    if 0.005 < local < 0.995:
        return f"local normalisation with a probability of {100 * local:.0f} %"
    return f"{'local' if local > 0.5 else 'global'} normalisation with near certainty"


def describe_attributes(names: Sequence[str], attributed: float) -> str:
    """Say how likely it is that attributes matter beside the graph."""
    verb = "matters" if len(names) == 1 else "matter"
    if 0.005 < attributed < 0.995:
        return f"the {list_attributes(names)} {verb} with a probability of {100 * attributed:.0f} %"
    sure = verb if attributed > 0.5 else f"{'does' if len(names) == 1 else 'do'} not matter"
    return f"the {list_attributes(names)} {sure} with near certainty"


def _rms(residuals: FloatArray) -> float:
    return math.sqrt(float(np.mean(residuals**2)))
