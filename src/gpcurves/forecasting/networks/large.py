r"""Labels on a graph too large for covariances of all vertices with all labels: one kernel and one noise.

Means by conjugate gradients or a sparse factorisation (`graphs.solving`), variances by belief propagation. With F the
linear map from labels to means, and s their noise, :math:`A^{-1}y = (y - Fy)/s` at labelled vertices, from which mean and variance follow
as on small graphs. Kernel and noise are those that predict labels left out best, which are predicted from the others by the same
means. Belief propagation makes variances too small on graphs with many cycles: all are multiplied by one number, with which they agree with
the squared errors at the labels left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.forecasting.networks.evidence import JITTER, Setting
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.graphs import Graph, GraphKernel
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.solving import solve_mean
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.validation import FloatArray

_LEFT_OUT, _SHARE = 100, 0.1  # labels left out in all if there are so many, and the share of them at a time
_SIGNS = 4
_WORSE, _SLOW = 1.02, 200  # a series of trials ends where the error rises by this factor, or after so many iterations
_ROUGHLY = 1e-5  # residual of means that are only compared with each other
_MOST_FITS = 3  # choices that are fitted if the variances of those before do not converge


@dataclass(frozen=True, eq=False)
class Trial:
    """A kernel with a noise, and what they make of labels left out."""

    kernel: GraphKernel
    setting: Setting
    places: IntArray
    predicted: FloatArray
    rmse: float


@dataclass(frozen=True, eq=False)
class LargeFit:
    """Means and variances of the function at all vertices, with what was estimated, and how."""

    mean: float
    variance: float
    noise: float
    means: FloatArray
    variances: FloatArray
    trial: Trial
    how: str


def choose_large(
    graph: Graph, kernels: Sequence[GraphKernel], observed: Observed, settings: Sequence[Setting]
) -> LargeFit:
    """Return the fit that predicts labels left out best: the best kernel with a middle noise, and then the best noise.

    The choice is made with kernels divided by one number each, since their variances at all vertices take long.
    """
    folds = _draw_folds(len(observed.vertices))
    middle = settings[len(settings) // 2]
    choices = [(kernel, middle) for kernel in kernels]
    if len(kernels) * len(settings) > 1:
        tried: list[Trial] = []
        for _, alike in groupby(kernels, lambda kernel: kernel.resolvent and kernel.resolvent.exponent):
            tried += _try([(kernel, middle) for kernel in alike], graph, observed, folds, _normalise_roughly)
        best = min(tried, key=lambda trial: trial.rmse).kernel
        for some in (settings[: len(settings) // 2][::-1], settings[len(settings) // 2 + 1 :]):
            tried += _try([(best, setting) for setting in some], graph, observed, folds, _normalise_roughly)
        choices = [(trial.kernel, trial.setting) for trial in sorted(tried, key=lambda trial: trial.rmse)]
    failure: NumericalError | None = None
    for choice in choices[:_MOST_FITS]:
        try:
            (trial,) = _try([choice], graph, observed, folds, lambda *about: _normalise(*about)[0])
            return fit_large(graph, observed, trial)
        except NumericalError as error:
            failure = failure or error
    assert failure is not None
    raise failure


def _draw_folds(count: int) -> list[IntArray]:
    """Return places of labels to be left out together, so many times that there are enough in all."""
    order = np.random.default_rng(0).permutation(count)
    size = max(1, round(_SHARE * count))
    folds = min(math.ceil(_LEFT_OUT / size), math.ceil(count / size))
    return [np.sort(order[k * size : (k + 1) * size]) for k in range(folds)]


def _try(
    choices: Sequence[tuple[GraphKernel, Setting]],
    graph: Graph,
    observed: Observed,
    folds: Sequence[IntArray],
    normalise: Callable[[Graph, GraphKernel], GraphCovariance],
) -> list[Trial]:
    """Return what each choice predicts for labels left out; those whose means do not converge are dropped.

    Choices go one way, to longer ranges or away from a middle noise: it ends where the error rises, or where the next one
    would take long.
    """
    places = np.concatenate(folds)
    trials, failure = [], None
    with Progress(None, "trials") as shown:
        shown.expect(len(choices), 0)
        for kernel, setting in choices:
            try:
                covariance = normalise(graph, kernel)
                solved = [_leave_out(covariance, observed, setting, fold) for fold in folds]
            except NumericalError as error:
                failure = failure or error
            else:
                predicted = np.concatenate(
                    [means[observed.vertices[fold]] for fold, (means, _) in zip(folds, solved, strict=True)]
                )
                rmse = math.sqrt(float(np.mean((predicted - observed.means[places]) ** 2)))
                trials.append(Trial(kernel, setting, places, predicted, rmse))
                worse = len(trials) > 1 and rmse > _WORSE * trials[-2].rmse
                if worse or max(iterations for _, iterations in solved) > _SLOW:
                    break
            shown.advance(1)
    if not trials and failure is not None:
        raise failure
    return trials


def _leave_out(
    covariance: GraphCovariance, observed: Observed, setting: Setting, fold: IntArray
) -> tuple[FloatArray, int]:
    """Return means at all vertices without the labels of a fold, and how many iterations they took."""
    rest = observed.take(np.setdiff1d(np.arange(len(observed.vertices)), fold))
    solved = _solve(covariance, rest, setting, _ROUGHLY)
    return solved.means, solved.iterations


@lru_cache(maxsize=2)  # all noises are tried with one kernel
def _normalise_roughly(graph: Graph, kernel: GraphKernel) -> GraphCovariance:
    """Return the kernel divided by its average variance, estimated as that of random signs."""
    covariance = kernel.on(graph).normalised_by(np.ones(graph.vertices))
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (graph.vertices, _SIGNS))
    average = float(np.mean(signs * (covariance @ signs)))
    return kernel.on(graph).normalised_by(np.full(graph.vertices, average))


@lru_cache(maxsize=2)
def _normalise(graph: Graph, kernel: GraphKernel) -> tuple[GraphCovariance, str | None]:
    from gpcurves.methods.cavity.beliefs import normalisers  # compiles, which takes long

    kappa, note = normalisers(kernel, graph)
    return kernel.on(graph).normalised_by(kappa), note


@dataclass(frozen=True, eq=False)
class _Solved:
    mean: float
    variance: float
    means: FloatArray
    iterations: int
    how: str


def _solve(covariance: GraphCovariance, observed: Observed, setting: Setting, tolerance: float) -> _Solved:
    """Estimate mean and variance, and return the means of the function at all vertices."""
    o, y = observed.vertices, observed.means
    s = np.asarray(max(setting.noise, JITTER) / observed.counts)
    right = np.column_stack((y, np.ones(len(y))))
    solved = solve_mean(covariance, o, s, right, tolerance=tolerance)
    mapped = np.asarray(solved.mean)
    inverse = (right - mapped[o]) / s[:, None]
    mean = float(inverse[:, 0].sum() / inverse[:, 1].sum()) if setting.mean is None else setting.mean
    variance = setting.variance
    if variance is None:
        squares = float((y - mean) @ (inverse[:, 0] - mean * inverse[:, 1])) + setting.repeats(observed)
        variance = squares / max(1, observed.labels - (setting.mean is None))
    how = (
        "means by a sparse factorisation"
        if solved.iterations == 0
        else f"means by conjugate gradients in {solved.iterations} iterations"
    )
    how = f"{how} (relative residual {solved.residual:.1g})"
    return _Solved(mean, variance, mean + mapped[:, 0] - mean * mapped[:, 1], solved.iterations, how)


def fit_large(graph: Graph, observed: Observed, trial: Trial) -> LargeFit:
    """Return the posterior; raises `NumericalError` if means or variances do not converge."""
    from gpcurves.methods.cavity.beliefs import links_of, propagate  # compiles, which takes long

    kernel, setting = trial.kernel, trial.setting
    covariance, note = _normalise(graph, kernel)
    solved = _solve(covariance, observed, setting, 1e-8)
    noise = max(setting.noise, JITTER)
    counts = np.zeros(graph.vertices)
    counts[observed.vertices] = observed.counts
    beliefs = propagate(links_of(graph), kernel.vertex_model(), counts, noise, covariance.normaliser)
    if not beliefs.converged:
        raise NumericalError(
            f"variances did not converge after {beliefs.rounds} iterations of belief propagation: give a kernel of shorter range, or more noise"
        )
    variance, how = solved.variance, f"{solved.how}, variances by belief propagation, which is exact on trees only"
    if setting.variance is None:  # without its own labels, a vertex has the cavity variance
        places = trial.places
        spread = beliefs.cavity_variance[observed.vertices] + noise / observed.counts
        factor = float(np.mean((trial.predicted - observed.means[places]) ** 2 / (variance * spread[places])))
        variance *= factor
        how = f"{how}, times {factor:.3g}, so that they agree with the errors at {len(places):,} labels left out"
    return LargeFit(
        solved.mean, variance, setting.noise * variance, solved.means, variance * beliefs.variance, trial,
        how if note is None else f"{how}; {note}",
    )  # fmt: skip
