r"""Labels on a graph too large for covariances of all vertices with all labels: one kernel and one noise.

Means by conjugate gradients or a sparse factorisation (`graphs.solving`), variances by belief propagation. With F the
linear map from labels to means, and s their noise, :math:`A^{-1}y = (y - Fy)/s` at labelled vertices, from which mean and variance follow
as on small graphs. Cavity variances are those without a vertex's own labels: predictions of labels left out cost nothing, and choose
kernel and noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.forecasting.networks.evidence import JITTER, Setting
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.graphs import Graph, GraphKernel
from gpcurves.graphs.solving import solve_mean
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, eq=False)
class LargeFit:
    """Means and variances of the function at all vertices, with what was estimated, and how."""

    mean: float
    variance: float
    noise: float
    means: FloatArray
    variances: FloatArray
    left_out: FloatArray  # predictions of the mean labels of vertices from all others
    score: float  # logarithm of the density of those labels, each predicted from all others
    kernel: GraphKernel
    how: str


def choose_large(
    graph: Graph, kernels: Sequence[GraphKernel], observed: Observed, settings: Sequence[Setting]
) -> LargeFit:
    """Return the fit that predicts labels left out best: the best kernel with a middle noise, and then the best noise."""
    middle = settings[len(settings) // 2]
    tried = [_try(graph, kernel, observed, middle) for kernel in kernels]
    best = _best(tried)
    return _best([best, *(_try(graph, best.kernel, observed, each) for each in settings if each is not middle)])


def _try(graph: Graph, kernel: GraphKernel, observed: Observed, setting: Setting) -> LargeFit | NumericalError:
    try:
        return fit_large(graph, kernel, observed, setting)
    except NumericalError as failure:
        return failure


def _best(tried: Sequence[LargeFit | NumericalError]) -> LargeFit:
    fits = [each for each in tried if isinstance(each, LargeFit)]
    if not fits:
        raise next(each for each in tried if isinstance(each, NumericalError))
    return max(fits, key=lambda each: each.score)


def fit_large(graph: Graph, kernel: GraphKernel, observed: Observed, setting: Setting) -> LargeFit:
    """Return the posterior; raises `NumericalError` if means or variances do not converge."""
    from gpcurves.methods.cavity.beliefs import links_of, normalisers, propagate  # compiles, which takes long

    kappa, note = normalisers(kernel, graph)
    covariance = kernel.on(graph).normalised_by(kappa)
    o, y = observed.vertices, observed.means
    s = np.asarray(max(setting.noise, JITTER) / observed.counts)
    solved = solve_mean(covariance, o, s, np.column_stack((y, np.ones(len(y)))))
    mapped = np.asarray(solved.mean)
    inverse = (np.column_stack((y, np.ones(len(y)))) - mapped[o]) / s[:, None]
    ones = float(inverse[:, 1].sum())
    mean = float(inverse[:, 0].sum() / ones) if setting.mean is None else setting.mean
    residual = inverse[:, 0] - mean * inverse[:, 1]
    variance = setting.variance
    if variance is None:
        squares = float((y - mean) @ residual) + setting.repeats(observed)
        variance = squares / max(1, observed.labels - (setting.mean is None))
    counts = np.zeros(graph.vertices)
    counts[o] = observed.counts
    beliefs = propagate(links_of(graph), kernel.vertex_model(), counts, max(setting.noise, JITTER), kappa)
    if not beliefs.converged:
        raise NumericalError(
            f"variances did not converge after {beliefs.rounds} iterations of belief propagation: give a kernel of shorter range, or more noise"
        )
    # without its own labels, a vertex has the cavity variance c, and (A^-1)_ii = 1/(c + s)
    spread = beliefs.cavity_variance[o] + s
    left_out = y - residual * spread
    score = -0.5 * float(np.sum((y - left_out) ** 2 / (variance * spread) + np.log(variance * spread)))
    how = (
        "means by a sparse factorisation"
        if solved.iterations == 0
        else f"means by conjugate gradients in {solved.iterations} iterations"
    )
    how = f"{how} (relative residual {solved.residual:.1g}), variances by belief propagation, which is exact on trees only"
    how = how if note is None else f"{how}; {note}"
    return LargeFit(
        mean, variance, setting.noise * variance, mean + mapped[:, 0] - mean * mapped[:, 1],
        variance * beliefs.variance, left_out, score, kernel, how,
    )  # fmt: skip
