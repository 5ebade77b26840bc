r"""What the rows say about the model: its members, the posterior density of their hyperparameters, and draws from it.

A member is a covariance function (squared exponential or Matérn-5/2, with the parts of `parts`: a linear one and a sum of functions
of one input each) and a warp of the target (none, or that of `choose_warp`). Its hyperparameters are
:math:`\theta = (\ln s^2, \ln b^2, \ln a^2, \ln l_1, \dots, \ln l_B, \ln\sigma^2, w)`: see `evidence` and `warping`. Priors are
Student's t: weak, with tails heavy enough for noise-free simulators. That of a lengthscale is nearly flat above its centre, so that
inputs which do nothing are switched off: a long lengthscale costs nothing, and the evidence gains by it.

Draws come from the normal distribution with the curvature at the mode (Laplace's approximation), with importance weights; those
that are kept are spread evenly over all of them in the order of their noise, which decides most of the error far ahead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.evidence import JITTER, Evidence, Family
from gpcurves.forecasting.groups import GroupEffect, Groups, Shared, indicate, measure_crowding
from gpcurves.forecasting.parts import FeaturePart, TargetPart, list_parts
from gpcurves.forecasting.warping import NoWarp, Warp, Warped, choose_warp
from gpcurves.inputs import Inputs
from gpcurves.kernels import RBF, Matern52, Sum
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import GaussianNoise
from gpcurves.problem import Problem

FAMILIES: tuple[Family, ...] = (RBF, Matern52)
_NOISELESS = (math.log(1e-7), 3.0, 1.5)  # centre and widths of the prior of the log noise of a deterministic simulator
_VARIANCE, _LENGTHSCALE, _NOISE = (-12.0, 12.0), (-5.0, 12.0), (-20.0, 5.0)
"""Limits of the log hyperparameters, beyond which double precision gets difficult and nothing changes."""
_SCOUTING, _ITERATIONS = 12, 50  # iterations from each start before the best one is chosen, and from that one
_WARM = 400  # more rows than this are fitted starting from a fit to so many,
_POLISHING = 10  # with so many iterations
_STEP = 1e-4  # of differences by the parameters of a warp
_BATCH = 4  # draws whose learning curves share their inputs
_PROPOSALS = 4  # times as many draws are proposed as are kept
_TAILS = 6.0  # degrees of freedom of the proposals
_SMALL = 0.02  # members with less weight are left out of the draws


class HyperPrior:
    """Independent Student t distributions of the log hyperparameters, wider above the centre for lengthscales."""

    def __init__(
        self, blocks: int, parts: tuple[TargetPart, ...], deterministic: bool = False, tails: float = 4.0
    ) -> None:
        lengthscale = math.log(3 * math.sqrt(blocks))
        noise, below, above = _NOISELESS if deterministic else (-1.5, 2.2, 2.2)
        self.parts, widths = parts, [part.width for part in parts]
        self.location = np.array([1.0, *[part.centre for part in parts], *[lengthscale] * blocks, noise])
        self.below = np.array([2.0, *widths, *[1.4] * blocks, below])
        self.above = np.array([2.0, *widths, *[4 * 1.4] * blocks, above])
        self.tails = tails

    def centre_noise(self, log_noise: float) -> HyperPrior:
        """Return the prior if the noise variance is known, but for what the model itself misses."""
        known = copy(self)
        known.location, known.below, known.above = self.location.copy(), self.below.copy(), self.above.copy()
        known.location[-1], known.below[-1], known.above[-1] = log_noise, 0.2, 1.0
        return known

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density, up to a constant, and its gradient."""
        away, tails = theta - self.location, self.tails
        scale = np.where(away > 0, self.above, self.below)
        z = away / scale
        return -0.5 * (tails + 1) * float(np.log1p(z * z / tails).sum()), -(tails + 1) * z / (tails + z * z) / scale


class LogPosterior:
    """Log posterior density of the hyperparameters, up to a constant, and its gradient.

    ``y`` is the target in units of its standard deviation, not centred. If rows come in ``groups``, the last part is the effect of these.
    """

    def __init__(
        self, evidence: Evidence, y: FloatArray, warp: Warp, prior: HyperPrior, groups: Groups | None = None
    ) -> None:
        self.evidence, self.y, self.warp, self.prior, self.groups = evidence, y, warp, prior, groups
        self.split = len(prior.location)  # where the parameters of the warp begin
        self.scales = slice(1 + len(prior.parts), self.split - 1)  # where the lengthscales are
        lengthscales = [_LENGTHSCALE] * (self.scales.stop - self.scales.start)
        self.bounds = [_VARIANCE, *[part.limits for part in prior.parts], *lengthscales, _NOISE, *warp.limits]
        self._low, self._high = np.array(self.bounds).T

    def warped(self, theta: FloatArray) -> Warped:
        """Return the warp with these parameters."""
        return Warped.of(self.warp, theta[self.split :], self.y)

    def _target(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return the standardised target, and what the log density gains by the warp and its prior."""
        warped = self.warped(theta)
        return warped.standardise(self.y), warped.log_slope(self.y) + self.warp.log_prior(warped.w)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density and its gradient; minus infinity outside the limits."""
        if (theta < self._low).any() or (theta > self._high).any():
            return -math.inf, np.zeros(len(theta))
        split = self.split
        z, gain = self._target(theta)
        value, gradient, alpha = self.evidence(theta[:split], z)
        prior, slope = self.prior(theta[:split])
        gradient += slope
        changes = []
        for step in _STEP * np.eye(len(theta))[split:]:
            (up, more), (down, less) = self._target(theta + step), self._target(theta - step)
            changes.append((more - less - alpha @ (up - down)) / (2 * _STEP))
        return value + prior + gain, np.concatenate((gradient, changes))

    def value(self, theta: FloatArray) -> float:
        """Return the log density alone; minus infinity outside the limits."""
        if (theta < self._low).any() or (theta > self._high).any():
            return -math.inf
        z, gain = self._target(theta)
        return self.evidence.value(theta[: self.split], z) + self.prior(theta[: self.split])[0] + gain

    def of_rows(self, rows: npt.NDArray[np.int64]) -> LogPosterior:
        """Return the density given a part of the rows."""
        own = self.evidence
        part = Evidence(
            own.family,
            own.X[rows],
            own.blocks,
            parts=[features[:, rows] for features in own.parts],
            weights=own.weights[rows],
        )
        groups = None if self.groups is None else self.groups[rows]
        return LogPosterior(part, self.y[rows], self.warp, self.prior, groups)

    @property
    def thinned(self) -> LogPosterior:
        """The density given so many rows that it is fast, drawn at random; itself if there are not more."""
        count = len(self.y)
        return self.of_rows(np.random.default_rng(0).permutation(count)[:_WARM]) if count > _WARM else self

    def find_mode(self, starts: Sequence[FloatArray], iterations: int) -> FloatArray:
        """Return the highest of the modes reached from the starts: a few steps from each, the rest from the best."""
        if len(starts) > 1:
            starts = [max((self._climb(start, _SCOUTING) for start in starts), key=lambda pair: pair[0])[1]]
        return self._climb(starts[0], iterations)[1]

    def _climb(self, start: FloatArray, iterations: int) -> tuple[float, FloatArray]:
        def loss(theta: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self(theta)
            return (-value, -gradient) if math.isfinite(value) else (1e12, np.zeros(len(theta)))

        options = {"maxiter": iterations, "ftol": 1e-7, "gtol": 1e-3}
        start = np.clip(start, self._low, self._high)
        top = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=self.bounds, options=options)
        return -float(top.fun), np.asarray(top.x)

    def curvature(self, mode: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return eigenvalues and eigenvectors of minus the Hessian at a mode, the former kept from vanishing."""
        step, inside = 1e-3, np.clip(mode, self._low + 2e-3, self._high - 2e-3)
        rows = [self(inside + step * unit)[1] - self(inside - step * unit)[1] for unit in np.eye(len(mode))]
        H = -np.array(rows) / (2 * step)
        values, vectors = np.linalg.eigh((H + H.T) / 2)
        return np.maximum(values, 0.2), vectors


@dataclass(frozen=True)
class Member:
    """One member of the family of models, at its most probable hyperparameters."""

    density: LogPosterior
    mode: FloatArray

    def problem(self, theta: FloatArray, inputs: Inputs) -> Problem:
        """Return the problem with these log hyperparameters, for the standardised target."""
        density, evidence = self.density, self.density.evidence
        variance, noise = math.exp(theta[0]), math.exp(theta[density.split - 1])
        scales = np.exp(theta[density.scales])[list(evidence.blocks)]
        parts = zip(density.prior.parts, theta[1:], strict=False)
        terms = (
            evidence.family(tuple(scales.tolist()), variance),
            *(part.kernel(math.exp(log)) for part, log in parts if isinstance(part, FeaturePart)),
        )
        return Problem(Sum(terms), inputs, noise + JITTER * variance)

    def share(self, theta: FloatArray, groups: Groups | None) -> Shared | None:
        """Return what rows in these groups share with these log hyperparameters; nothing if there are no groups."""
        return None if groups is None else Shared(math.exp(theta[len(self.density.prior.parts)]), groups)


def find_members(
    X: FloatArray,
    blocks: tuple[int, ...],
    y: FloatArray,
    errors: FloatArray | None = None,
    deterministic: bool = False,
    groups: Groups | None = None,
) -> list[Member]:
    """Return all members at their most probable hyperparameters; ``y`` is in units of its deviation, not centred.

    ``errors`` are standard errors of the targets, in the same units; the noise that is learnt is then about their average.
    Rows with the same number in ``groups`` share an effect.
    The first is looked for from many starts. The others start where it ended: the second of each warp at the first of it.
    """
    parts: tuple[TargetPart, ...] = list_parts(blocks)
    features = [part.features(X).T for part in list_parts(blocks)]
    if groups is not None:
        parts, features = (*parts, GroupEffect()), [*features, indicate(groups)]
    prior = HyperPrior(max(blocks) + 1, parts, deterministic)
    weights = None
    if errors is not None:
        weights = noise_weights(errors)
        prior = prior.centre_noise(float(np.log(np.mean(errors**2))))
    members: list[Member] = []
    for warp in (NoWarp(y), choose_warp(y)):
        for number, family in enumerate(FAMILIES):
            evidence = Evidence(family, X, blocks, parts=features, weights=weights)
            density = LogPosterior(evidence, y, warp, prior, groups)
            part = density.thinned
            if not members:
                starts = suggest_starts(part)
            else:
                starts = [members[-1].mode if number else np.concatenate((members[0].mode, warp.start))]
            mode = part.find_mode(starts, _ITERATIONS)
            members.append(Member(density, density.find_mode([mode], _POLISHING) if part is not density else mode))
    return members


def noise_weights(errors: FloatArray) -> FloatArray:
    """Return the noise variance of each row over their average."""
    return np.asarray(errors**2 / np.mean(errors**2))


def suggest_starts(density: LogPosterior) -> list[FloatArray]:
    """Return hyperparameters to start from, since there are many modes.

    Some have equal lengthscales, one of them with parts that explain most. In the others, inputs along which a cubic polynomial
    explains little begin with long ones.
    """
    X, blocks, y = density.evidence.X, np.array(density.evidence.blocks), density.y
    count = int(blocks.max()) + 1
    explained = [_explained_share(X[:, blocks == block], y) for block in range(count)]
    longer = np.clip(0.5 * np.log(max(explained) / np.array(explained)), 0.0, 2.5)
    equal = np.full(count, 0.5 * math.log(count))
    plain = [part.start for part in density.prior.parts]
    mostly = [part.mostly for part in density.prior.parts]
    starts = [
        (equal, 1.0, 0.4, 0.1, plain),
        (equal, 3.0, 1.2, 0.5, plain),
        (longer, 7.0, 1.5, 0.05, plain),
        (longer, 7.0, 1.0, 0.005, plain),
        (longer, 3.0, 0.0, 0.05, plain),
        (longer, 1.0, -2.5, 0.1, plain),
    ]
    if mostly != plain:
        starts.append((equal, 0.3, 1.0, 0.3, mostly))
    return [
        np.concatenate(([math.log(variance), *parts], shape + shift, [math.log(noise)], density.warp.start))
        for shape, variance, shift, noise, parts in starts
    ]


def _explained_share(columns: FloatArray, y: FloatArray) -> float:
    """Return the share of the variance of y that an input explains, as a cubic polynomial or as categories; at least 0.001."""
    terms = np.vander(columns[:, 0], 4) if columns.shape[1] == 1 else np.column_stack((columns, np.ones(len(y))))
    residual = y - terms @ np.linalg.lstsq(terms, y, rcond=None)[0]
    return max(1e-3, 1 - float(np.var(residual) / np.var(y)))


class Draws(NamedTuple):
    """Problems drawn from the posterior with their probabilities, their warps, and how many of each member share inputs.

    ``noises`` are the variances of a new target about the function. Those of the problems differ if rows come in groups.
    """

    problems: tuple[Problem, ...]
    warps: tuple[Warped, ...]
    weights: FloatArray
    batches: tuple[tuple[int, ...], ...]
    noises: tuple[float, ...]


def draw_problems(members: list[Member], weights: FloatArray, inputs: Inputs, computation: Computation) -> Draws:
    """Draw problems from the posterior of each member, more from those with more weight."""
    kept = [(member, weight) for member, weight in zip(members, weights, strict=True) if weight >= _SMALL]
    total = sum(weight for _, weight in kept)
    problems: list[Problem] = []
    warps: list[Warped] = []
    shares: list[float] = []
    batches: list[tuple[int, ...]] = []
    noises: list[float] = []
    for (member, weight), rng in zip(kept, computation.rng.spawn(len(kept)), strict=True):
        count = max(2, round(computation.effort.draws * weight / total))
        draws = draw_hyperparameters(member, count, rng)
        for theta in draws:
            problem, shared = member.problem(theta, inputs), member.share(theta, member.density.groups)
            noises.append(problem.noise)
            if shared is not None:
                noises[-1] += shared.variance
                crowding = measure_crowding(problem.kernel, member.density.evidence.X, shared.groups)
                problem = replace(problem, observation=GaussianNoise(problem.noise + crowding * shared.variance))
            problems.append(problem)
        warps += [member.density.warped(theta) for theta in draws]
        shares += [weight / total / count] * count
        batches.append(split_draws(count))
    return Draws(tuple(problems), tuple(warps), np.array(shares), tuple(batches), tuple(noises))


def split_draws(count: int) -> tuple[int, ...]:
    """Return the sizes of batches of draws: at least two batches if there are two draws, so that they can be compared."""
    size = min(_BATCH, (count + 1) // 2)
    return tuple(min(size, count - begin) for begin in range(0, count, size))


def draw_hyperparameters(member: Member, count: int, rng: np.random.Generator) -> FloatArray:
    """Return draws of the log hyperparameters, one per row."""
    density, mode = member.density, member.mode
    rows = len(density.y)
    values, vectors = density.thinned.curvature(mode)
    whitening = vectors / np.sqrt(values * max(1.0, rows / _WARM))  # information grows with the rows
    size = _PROPOSALS * count
    normal = rng.standard_normal((size, len(mode)))
    z = normal * np.sqrt(_TAILS / rng.chisquare(_TAILS, size))[:, None]
    proposals = np.clip(mode + z @ whitening.T, *np.array(density.bounds).T)
    dim = len(mode)
    proposed = -0.5 * (_TAILS + dim) * np.log1p((z * z).sum(axis=1) / _TAILS)
    logs = np.array([density.value(theta) for theta in proposals]) - proposed
    if not np.isfinite(logs).any():
        return np.tile(mode, (count, 1))
    importance = np.exp(logs - logs.max())
    importance = np.minimum(importance, importance.mean() * math.sqrt(size))  # none decides alone
    order = np.argsort(proposals[:, density.split - 1], kind="stable")
    cumulated = np.cumsum(importance[order]) / importance.sum()
    place = (np.arange(count) + rng.random()) / count
    chosen = order[np.minimum(np.searchsorted(cumulated, place), size - 1)]
    return np.asarray(proposals[rng.permutation(chosen)])
