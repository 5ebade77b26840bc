"""The posterior of covariance, noise, variance and mean given labels on a graph: a weighted set of explanations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.forecasting.networks.candidates import Candidate
from gpcurves.forecasting.networks.evidence import Explained, Setting, log_evidence, solve
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray

NOISES = (1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
VARIANCES = (0.1, 0.3, 1.0, 3.0, 10.0)  # in units of that of the labels, if these have standard errors of their own
_EXTRA = (1e-4, 0.03, 0.3)  # noise beyond those standard errors
_KEPT, MOST_MEMBERS = 0.99, 24  # probability that members hold together, and how many they are at most


@dataclass(frozen=True, eq=False)
class Explanation:
    """A covariance with a noise, and the labels explained by both."""

    candidate: Candidate
    setting: Setting
    solution: Explained
    weight: float


@dataclass(frozen=True, eq=False)
class NetworkPosterior:
    """The most likely explanations of labels; probabilities of local normalisation, and that attributes of vertices matter."""

    observed: Observed
    members: tuple[Explanation, ...]
    local: float
    attributed: float = 0.0

    @property
    def weights(self) -> FloatArray:
        return np.array([member.weight for member in self.members])

    @property
    def noise_variance(self) -> float:
        """The variance of the noise of one label."""
        return float(sum(member.weight * member.solution.noise_variance for member in self.members))

    def predict(self, vertices: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the function at vertices."""
        parts: dict[int, tuple[FloatArray, FloatArray]] = {}
        for place in self.by_kernel:
            member = self.members[place]
            across = member.candidate.between(vertices, self.observed.vertices)
            parts[place] = member.solution.predict(across, member.candidate.variances(vertices))
        return self._mix([parts[place] for place in range(len(self.members))])

    @property
    def by_kernel(self) -> list[int]:
        """The places of members in an order in which those of one kernel follow each other, since they share covariances."""
        return sorted(range(len(self.members)), key=lambda place: id(self.members[place].candidate.raw))

    def leave_out(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each vertex's mean label, predicted from the labels of the others."""
        return self._mix([member.solution.leave_out(self.observed.means) for member in self.members])

    def _mix(self, parts: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
        means, variances = (np.array(each) for each in zip(*parts, strict=True))
        mean = self.weights @ means
        return mean, self.weights @ (variances + (means - mean) ** 2)


def default_settings(
    observed: Observed, noise: float | None = None, mean: float | None = None, variance: float | None = None
) -> list[Setting]:
    """Return the settings to average over: what is None is unknown."""
    noises = NOISES if observed.known is None else _EXTRA
    variances: tuple[float | None, ...] = (variance,)
    if variance is None and observed.known is not None:
        variances = tuple(share * observed.deviation**2 for share in VARIANCES)
    return [Setting(each, size, mean) for each in (noises if noise is None else (noise,)) for size in variances]


def find_posterior(
    candidates: Sequence[Candidate],
    observed: Observed,
    settings: Sequence[Setting],
    places: IntArray | None = None,
    most: int = MOST_MEMBERS,
) -> NetworkPosterior:
    """Weigh all candidates with all settings by their evidence; with ``places``, from the labels there alone."""
    some = observed if places is None else observed.take(places)
    logs = np.full((len(candidates), len(settings)), -np.inf)
    for i, candidate in enumerate(candidates):
        block = candidate.block if places is None else candidate.block[np.ix_(places, places)]
        with suppress(np.linalg.LinAlgError):  # a covariance that rounding has made indefinite explains nothing
            logs[i] = candidate.log_prior + log_evidence(block, some, settings)
    if not np.isfinite(logs).any():
        raise NumericalError("the labels have no covariance that double precision can factorise")
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    local = float(weights[[candidate.local for candidate in candidates]].sum())
    attributed = float(weights[[candidate.part is not None for candidate in candidates]].sum())
    order = np.argsort(-weights, axis=None)
    kept = order[: min(most, int(np.searchsorted(np.cumsum(weights.flat[order]), _KEPT)) + 1)]
    total = weights.flat[kept].sum()
    members = []
    for number in kept.tolist():
        i, j = divmod(number, len(settings))
        block = candidates[i].block if places is None else candidates[i].block[np.ix_(places, places)]
        solution = solve(block, some, settings[j])
        members.append(Explanation(candidates[i], settings[j], solution, float(weights.flat[number] / total)))
    return NetworkPosterior(some, tuple(members), local, attributed)


def extend(posterior: NetworkPosterior, observed: Observed) -> NetworkPosterior:
    """Return the same explanations of more labels than those that they were found with."""
    vertices = observed.vertices
    members = list(posterior.members)
    for place in posterior.by_kernel:
        member = members[place]
        solution = solve(member.candidate.between(vertices, vertices), observed, member.setting)
        members[place] = replace(member, solution=solution)
    return replace(posterior, observed=observed, members=tuple(members))
