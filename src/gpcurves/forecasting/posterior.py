r"""What the data say about the hyperparameters: modes, and draws from the posterior.

The prior of each log hyperparameter is Student's t: weak, and with tails heavy enough for irrelevant inputs and for
noise-free simulators. Draws come from Hamiltonian Monte Carlo in coordinates whitened by the curvature at the mode; the
two families are weighted by Laplace's approximation to their evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from gpcurves.forecasting.evidence import Evidence, Family
from gpcurves.numerics.validation import FloatArray

NOISELESS = math.log(1e-8)
"""Log noise variance of a deterministic simulator, in units of the target's variance."""
_LIMITS = {"variance": (-12.0, 12.0), "lengthscale": (-5.0, 12.0), "noise": (-20.0, 5.0)}
"""Of the log hyperparameters, beyond which double precision gets difficult and nothing changes."""
_SCOUTING = 25
"""Iterations from each start before the best one is chosen."""


@dataclass(frozen=True)
class Prior:
    """Independent Student t distributions of the log hyperparameters."""

    location: FloatArray
    scale: FloatArray
    tails: float = 4.0

    @classmethod
    def default(cls, dim: int) -> Prior:
        """Return the prior for standardised data: learnt from the tasks of ``benchmarks/forecast``."""
        lengthscale = math.log(3 * math.sqrt(dim))
        return cls(
            np.concatenate(([1.0], np.full(dim, lengthscale), [-1.5])),
            np.concatenate(([2.0], np.full(dim, 1.4), [2.2])),
        )

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density, up to a constant, and its gradient."""
        z = (theta - self.location) / self.scale
        tails = self.tails
        value = -0.5 * (tails + 1) * float(np.log1p(z * z / tails).sum())
        return value, -(tails + 1) * z / (tails + z * z) / self.scale


class LogPosterior:
    """Log posterior density of the hyperparameters, up to a constant, and its gradient; the noise may be fixed."""

    def __init__(self, evidence: Evidence, prior: Prior, fixed_noise: float | None = None) -> None:
        self.evidence = evidence
        self.prior = prior
        self.fixed_noise = fixed_noise
        self.family: Family = evidence.family
        dim = evidence.X.shape[1]
        self.bounds = [_LIMITS["variance"], *[_LIMITS["lengthscale"]] * dim, _LIMITS["noise"]]
        self._low, self._high = np.array(self.bounds).T

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return minus infinity outside the limits."""
        if (theta < self._low).any() or (theta > self._high).any():
            return -math.inf, np.zeros(len(theta))
        value, gradient = self.evidence(theta)
        prior, slope = self.prior(theta)
        gradient += slope
        if self.fixed_noise is not None:
            gradient[-1] = 0.0
        return value + prior, gradient

    def mode(self, starts: list[FloatArray], iterations: int) -> FloatArray:
        """Return the highest of the modes reached from the starts: a few steps from each, the rest from the best."""
        if len(starts) > 1:
            starts = [max((self._climb(start, _SCOUTING) for start in starts), key=lambda pair: pair[0])[1]]
        return self._climb(starts[0], iterations)[1]

    def _climb(self, start: FloatArray, iterations: int) -> tuple[float, FloatArray]:
        def loss(theta: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self(theta)
            return (-value, -gradient) if math.isfinite(value) else (1e12, np.zeros(len(theta)))

        if self.fixed_noise is not None:
            start = np.concatenate((start[:-1], [self.fixed_noise]))
        options = {"maxiter": iterations, "ftol": 1e-7, "gtol": 1e-3}
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=self.bounds, options=options)
        return -float(found.fun), np.asarray(found.x)

    def curvature(self, mode: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return eigenvalues and eigenvectors of minus the Hessian at a mode, the former kept from vanishing."""
        step = 1e-3
        rows = [self(mode + step * unit)[1] - self(mode - step * unit)[1] for unit in np.eye(len(mode))]
        H = -np.array(rows) / (2 * step)
        if self.fixed_noise is not None:
            H[-1], H[:, -1] = 0.0, 0.0
            H[-1, -1] = 1.0
        values, vectors = np.linalg.eigh((H + H.T) / 2)
        return np.maximum(values, 0.2), vectors


def starts(X: FloatArray, y: FloatArray) -> list[FloatArray]:
    """Return hyperparameters to begin at, since there are many modes: equal lengthscales, and such as a glance suggests.

    Inputs along which a cubic polynomial explains little begin with long lengthscales.
    """
    dim = X.shape[1]
    explained = [_explained(column, y) for column in X.T]
    longer = np.clip(0.5 * np.log(max(explained) / np.array(explained)), 0.0, 2.5)
    equal = np.full(dim, 0.5 * math.log(dim))
    return [
        np.concatenate(([math.log(variance)], shape + shift, [math.log(noise)]))
        for shape, variance, shift, noise in (
            (equal, 1.0, 0.4, 0.1),
            (equal, 1.0, -0.5, 0.01),
            (equal, 3.0, 1.2, 0.5),
            (longer, 7.0, 1.5, 0.05),
            (longer, 7.0, 1.0, 0.005),
            (longer, 3.0, 0.0, 0.05),
            (longer, 3.0, -1.0, 0.005),
            (longer, 1.0, -2.5, 0.1),
        )
    ]


def _explained(x: FloatArray, y: FloatArray) -> float:
    """Return the share of the variance of y that a cubic polynomial in x explains, at least a thousandth."""
    powers = np.vander(x, 4)
    residual = y - powers @ np.linalg.lstsq(powers, y, rcond=None)[0]
    return max(1e-3, 1 - float(np.var(residual) / np.var(y)))


@dataclass(frozen=True)
class Posterior:
    """Draws of the hyperparameters under one family.

    Attributes
    ----------
    family
        The covariance function.
    mode
        The most probable hyperparameters.
    draws
        One draw per row.
    log_evidence
        Laplace's approximation, up to a constant that is the same for all families.
    """

    family: Family
    mode: FloatArray
    draws: FloatArray
    log_evidence: float


@dataclass(frozen=True)
class Peak:
    """The most probable hyperparameters under one family, and how the density falls off around them.

    Attributes
    ----------
    density
        The posterior density.
    mode
        Where it is highest.
    whitening
        Steps in these units, columns of a matrix, change the density about equally.
    log_evidence
        Laplace's approximation, up to a constant that is the same for all families.
    """

    density: LogPosterior
    mode: FloatArray
    whitening: FloatArray
    log_evidence: float

    @classmethod
    def of(cls, density: LogPosterior, first: list[FloatArray]) -> Peak:
        """Find the mode, starting at these hyperparameters."""
        mode = density.mode(first, 100)
        value = density(mode)[0]
        values, vectors = density.curvature(mode)
        log_evidence = value - 0.5 * float(np.log(values).sum())
        whitening = vectors / np.sqrt(values)
        if density.fixed_noise is not None:
            whitening[-1] = 0.0
        return cls(density, mode, whitening, log_evidence)


def sample(
    peak: Peak, draws: int, evaluations: int, rng: np.random.Generator, done: Callable[[float], None]
) -> Posterior:
    """Draw from the posterior around its mode by Hamiltonian Monte Carlo; say which share of it is done."""
    chain = _hamiltonian(peak.density, peak.mode, peak.whitening, evaluations, rng, done)
    pick = np.linspace(0, len(chain) - 1, draws).round().astype(int)
    return Posterior(peak.density.family, peak.mode, chain[pick], peak.log_evidence)


def _hamiltonian(
    density: LogPosterior,
    mode: FloatArray,
    whitening: FloatArray,
    evaluations: int,
    rng: np.random.Generator,
    done: Callable[[float], None],
) -> FloatArray:
    """Run a chain from the mode and return its states after the first third, which also tunes the step."""
    theta = mode
    value, gradient = density(theta)
    step, states, spent = 0.4, [], 0
    while spent < evaluations:
        momentum = rng.standard_normal(len(theta))
        leaps = int(rng.integers(3, 9))
        new, speed, slope = theta, momentum, gradient
        size = step * rng.uniform(0.8, 1.2)
        ahead = -math.inf
        for _ in range(leaps):
            speed = speed + 0.5 * size * (slope @ whitening)
            new = new + size * (whitening @ speed)
            ahead, slope = density(new)
            spent += 1
            if not math.isfinite(ahead):
                break
            speed = speed + 0.5 * size * (slope @ whitening)
        chance = math.exp(min(0.0, ahead - value + 0.5 * float(momentum @ momentum - speed @ speed)))
        if rng.random() < chance:
            theta, value, gradient = new, ahead, slope
        if 3 * spent < evaluations:
            step *= math.exp(0.15 * (chance - 0.8))
        else:
            states.append(theta)
        done(min(1.0, spent / evaluations))
    return np.array(states)
