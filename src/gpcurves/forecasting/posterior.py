r"""What the rows say about kernel and noise: the evidence, the posterior density of the hyperparameters, and draws from it.

For standardised data and hyperparameters :math:`\theta = (\ln s^2, \ln l_1, \dots, \ln l_d, \ln\sigma^2)`,

.. math:: \ln p(y|\theta) = -\tfrac12 y^TK^{-1}y - \tfrac12\ln\det K - \tfrac n2\ln 2\pi, \quad K = s^2\rho(r) + \sigma^2 I

(Rasmussen & Williams 2.30) with the gradient :math:`\tfrac12\mathrm{tr}[(\alpha\alpha^T - K^{-1})\,\partial K/\partial\theta]`,
:math:`\alpha = K^{-1}y` (5.9). Both correlations depend on :math:`r^2 = \sum_i z_i^2`, differences in units of the
lengthscale, so with :math:`M = (\alpha\alpha^T - K^{-1})\circ 2s^2|\rho'(r^2)|` all lengthscales together need one product
`MZ`: :math:`\tfrac12\sum_{jk}M_{jk}(z_{ji}-z_{ki})^2 = \sum_j z_{ji}^2\sum_kM_{jk} - (Z^TMZ)_{ii}`.

With known hyperparameters, the posterior mean and the variance of a new observation are (2.25, 2.26)

.. math:: m(x) = k^T\alpha, \qquad v(x) = C(x,x) - |L^{-1}k|^2 + \sigma^2, \qquad k = C(X, x), \qquad K = LL^T.

The prior of each log hyperparameter is Student's t: weak, and with tails heavy enough for irrelevant inputs and for
noise-free simulators. Draws are made by Hamiltonian Monte Carlo in coordinates whitened by the curvature at the mode; the two
families of covariance functions are weighted by Laplace's approximation to their evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack
from scipy.optimize import minimize

from gpcurves.errors import NumericalError
from gpcurves.forecasting.effort import Computation
from gpcurves.inputs import Inputs
from gpcurves.kernels import RBF, Matern52
from gpcurves.numerics.cholesky import factorise, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

Family = type[RBF] | type[Matern52]
FAMILIES: tuple[Family, ...] = (RBF, Matern52)
JITTER = 1e-12  # added to the noise in units of the signal, so that factors exist; far below what forecasts resolve
NOISELESS = math.log(1e-8)  # log noise variance of a deterministic simulator, in units of the target's variance
_LIMITS = ((-12.0, 12.0), (-5.0, 12.0), (-20.0, 5.0))
"""Of the log variance, lengthscales and noise, beyond which double precision gets difficult and nothing changes."""
_SCOUTING, _ITERATIONS = 25, 100  # iterations from each start before the best one is chosen, and from that one
_WARM = 400  # more rows than this are fitted starting from a fit to so many
_BATCH = 4  # consecutive draws whose learning curves share their inputs
_LEAST = 1 / 8  # share of the draws that each covariance function has however improbable it is
_TUNING = 8  # a third of the evaluations of up to so many draws tunes the step of a chain
_KEPT = 5 / 6  # of the evaluations per draw those that follow tuning, so that all are used with 16 draws
_MANY = 200  # so many rows pin the hyperparameters down: fewer need more draws, more need shorter chains


class Evidence:
    """The log evidence of data as a function of log hyperparameters."""

    def __init__(self, family: Family, X: FloatArray, y: FloatArray) -> None:
        self.family, self.X, self.y = family, X, y
        self._shape = family()

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log evidence and its gradient; minus infinity if double precision has no factor."""
        variance, lengthscales, noise = unpack(theta)
        Z = self.X / lengthscales
        rho, slope = self._shape.correlation_and_slope(_squared_distances(Z))
        gradient = np.zeros(len(theta))
        K = variance * rho
        n = len(K)
        K.ravel()[:: n + 1] += noise + JITTER * variance
        try:
            L = factorise(K.T, overwrite=True)  # symmetric, and in LAPACK's order without a copy
        except NumericalError:
            return -math.inf, gradient
        alpha = solve_factorised(L, self.y)
        value = -0.5 * float(self.y @ alpha) - float(np.log(L.diagonal()).sum()) - 0.5 * n * math.log(2 * math.pi)
        inverse = lapack.dpotri(L, lower=1, overwrite_c=1)[0]
        # minus the matrix of (5.9), of which only the lower triangle is computed: what is above the diagonal is zero
        M = blas.dsyr(-1.0, alpha, a=inverse, lower=1, overwrite_a=1)
        gradient[-1] = -0.5 * noise * float(np.trace(M))
        gradient[0] = -variance * (float(np.vdot(M.T, rho)) - 0.5 * float(M.diagonal() @ rho.diagonal()))
        M = np.multiply(M.T, slope, out=slope).T
        product = blas.dsymm(-variance, M, np.column_stack((Z, np.ones(n))), lower=1)
        gradient[1:-1] = product[:, -1] @ (Z * Z) - np.einsum("ij,ij->j", Z, product[:, :-1])
        return value, gradient


def _squared_distances(Z: FloatArray) -> FloatArray:
    """Return squared distances between rows by one matrix product, which is what makes the evidence fast."""
    distances = -2.0 * (Z @ Z.T)
    distances += (Z * Z).sum(axis=1)[:, None]
    distances += (Z * Z).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)  # rounding may leave a little less than zero
    np.fill_diagonal(distances, 0.0)
    return distances


def unpack(theta: FloatArray) -> tuple[float, FloatArray, float]:
    """Return the signal variance, the lengthscales and the noise variance."""
    return math.exp(theta[0]), np.exp(theta[1:-1]), math.exp(theta[-1])


def build_problem(family: Family, theta: FloatArray, inputs: Inputs) -> Problem:
    """Return the problem with these log hyperparameters."""
    variance, lengthscales, noise = unpack(theta)
    return Problem(family(tuple(lengthscales.tolist()), variance), inputs, noise + JITTER * variance)


class Regression:
    """A Gaussian process that has learnt from rows: the factor L, and the weights of the posterior mean."""

    def __init__(self, problem: Problem, X: FloatArray, y: FloatArray) -> None:
        self.problem, self.X = problem, X
        K = problem.kernel(X)
        K.ravel()[:: len(K) + 1] += problem.noise
        self.factor = factorise(K)
        self.alpha = solve_factorised(self.factor, y)

    def mean(self, X: FloatArray) -> FloatArray:
        """Return the posterior mean at each input."""
        return np.asarray(self.problem.kernel(X, self.X) @ self.alpha)

    def variance(self, X: FloatArray) -> FloatArray:
        """Return the variance of a noisy observation at each input, which is never below the noise."""
        W = solve_lower(self.factor, self.problem.kernel(self.X, X))
        left = self.problem.kernel.diag(X) - np.einsum("ij,ij->j", W, W)
        return np.asarray(np.maximum(left, 0.0) + self.problem.noise)


@dataclass(frozen=True)
class HyperPrior:
    """Independent Student t distributions of the log hyperparameters."""

    location: FloatArray
    scale: FloatArray
    tails: float = 4.0

    @classmethod
    def default(cls, dim: int) -> HyperPrior:
        """Return the prior for standardised data: learnt from the tasks of ``benchmarks/forecast``."""
        lengthscale = math.log(3 * math.sqrt(dim))
        return cls(np.array([1.0, *[lengthscale] * dim, -1.5]), np.array([2.0, *[1.4] * dim, 2.2]))

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density, up to a constant, and its gradient."""
        z = (theta - self.location) / self.scale
        tails = self.tails
        value = -0.5 * (tails + 1) * float(np.log1p(z * z / tails).sum())
        return value, -(tails + 1) * z / (tails + z * z) / self.scale


class LogPosterior:
    """Log posterior density of the hyperparameters, up to a constant, and its gradient; the noise may be fixed."""

    def __init__(self, evidence: Evidence, prior: HyperPrior, fixed_noise: float | None = None) -> None:
        self.evidence, self.prior, self.fixed_noise = evidence, prior, fixed_noise
        variance, lengthscale, noise = _LIMITS
        self.bounds = [variance, *[lengthscale] * evidence.X.shape[1], noise]
        self._low, self._high = np.array(self.bounds).T

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density and its gradient; minus infinity outside the limits."""
        if (theta < self._low).any() or (theta > self._high).any():
            return -math.inf, np.zeros(len(theta))
        value, gradient = self.evidence(theta)
        prior, slope = self.prior(theta)
        gradient += slope
        if self.fixed_noise is not None:
            gradient[-1] = 0.0
        return value + prior, gradient

    def of_rows(self, rows: slice | npt.NDArray[np.int64]) -> LogPosterior:
        """Return the density given a part of the rows."""
        evidence = self.evidence
        part = Evidence(evidence.family, evidence.X[rows], evidence.y[rows])
        return LogPosterior(part, self.prior, self.fixed_noise)

    def find_mode(self, starts: list[FloatArray], iterations: int) -> FloatArray:
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
        top = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=self.bounds, options=options)
        return -float(top.fun), np.asarray(top.x)

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


class Peak:
    """The most probable hyperparameters under one family, and how the density falls off around them.

    Steps along the columns of ``whitening`` change the density about equally. The evidence is Laplace's approximation, up to
    a constant that is the same for all families.
    """

    def __init__(self, density: LogPosterior) -> None:
        self.density = density
        X, y = density.evidence.X, density.evidence.y
        starts = suggest_starts(X[:_WARM], y[:_WARM])
        if len(y) > _WARM:  # starting from the mode given a part of the rows
            starts = [density.of_rows(slice(_WARM)).find_mode(starts, _ITERATIONS)]
        self.mode = density.find_mode(starts, _ITERATIONS)
        values, vectors = density.curvature(self.mode)
        self.whitening = vectors / np.sqrt(values)
        if density.fixed_noise is not None:
            self.whitening[-1] = 0.0
        self.log_evidence = density(self.mode)[0] - 0.5 * float(np.log(values).sum())


def find_peaks(X: FloatArray, y: FloatArray, deterministic: bool) -> list[Peak]:
    """Return the most probable hyperparameters of each covariance function; this needs no random numbers."""
    noise = NOISELESS if deterministic else None
    prior = HyperPrior.default(X.shape[1])
    return [Peak(LogPosterior(Evidence(family, X, y), prior, noise)) for family in FAMILIES]


class Draws(NamedTuple):
    """Problems drawn from the posterior with their probabilities, and how many of each family were drawn together."""

    problems: tuple[Problem, ...]
    weights: FloatArray
    batches: tuple[tuple[int, ...], ...]


def weigh_families(peaks: list[Peak]) -> FloatArray:
    """Return the probability of each covariance function."""
    evidence = np.array([peak.log_evidence for peak in peaks])
    relative = np.exp(evidence - evidence.max())
    return np.asarray(relative / relative.sum())


def suggest_starts(X: FloatArray, y: FloatArray) -> list[FloatArray]:
    """Return hyperparameters to start from, since there are many modes.

    Some have equal lengthscales. In the others, inputs along which a cubic polynomial explains little begin with long ones.
    """
    dim = X.shape[1]
    explained = [_explained_share(column, y) for column in X.T]
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


def _explained_share(x: FloatArray, y: FloatArray) -> float:
    """Return the share of the variance of y that a cubic polynomial in x explains, at least a thousandth."""
    powers = np.vander(x, 4)
    residual = y - powers @ np.linalg.lstsq(powers, y, rcond=None)[0]
    return max(1e-3, 1 - float(np.var(residual) / np.var(y)))


def draw_problems(peaks: list[Peak], inputs: Inputs, computation: Computation) -> Draws:
    """Draw problems from the posterior of each family, more from the more probable one.

    More draws begin with the same ones, so that their effect is not hidden by others: each family has its own random numbers.
    """
    effort, rows = computation.effort, len(peaks[0].density.evidence.y)
    multiple = min(effort.most_draws, max(1.0, _MANY / rows))
    total = len(peaks) * math.ceil(effort.draws * multiple)
    least = max(1, round(_LEAST * total))
    evaluations = effort.evaluations / (rows * multiple) * min(1.0, math.sqrt(_MANY / rows))
    problems: list[Problem] = []
    weights: list[float] = []
    batches: list[tuple[int, ...]] = []
    probabilities = weigh_families(peaks)
    for peak, probability, rng in zip(peaks, probabilities, computation.rng.spawn(len(peaks)), strict=True):
        count = least + round((total - len(peaks) * least) * probability)
        report = computation.start_stage(80 // len(peaks))
        sizes = split_draws(count)
        limits = evaluations * (min(count, _TUNING * multiple) / 3 + _KEPT * np.cumsum((0, *sizes)))
        draws = draw_hyperparameters(peak, sizes, limits, rng, report)
        problems += [build_problem(peak.density.evidence.family, theta, inputs) for theta in draws]
        weights += [probability / count] * count
        batches.append(sizes)
    return Draws(tuple(problems), np.array(weights), tuple(batches))


def split_draws(count: int) -> tuple[int, ...]:
    """Return the sizes of batches of draws: at least two batches if there are two draws, so that they can be compared."""
    size = min(_BATCH, (count + 1) // 2)
    return tuple(min(size, count - begin) for begin in range(0, count, size))


def draw_hyperparameters(
    peak: Peak, sizes: tuple[int, ...], limits: FloatArray, rng: np.random.Generator, report: Callable[[float], None]
) -> FloatArray:
    """Return draws of the log hyperparameters, one per row, in batches of these sizes from one piece of a chain each.

    The chain starts at the mode. ``limits`` are the evaluations of the density after which it ends to tune its step, and
    after which each batch ends; ``report`` takes the share that is done. Noise decides most of the error far ahead: the draws
    of a batch are spread evenly over the states in the order of their noise, so that they represent more states than they are.
    """
    chain = _Chain(peak, rng)
    while chain.spent < limits[0]:
        chain.step *= math.exp(0.15 * (chain.advance() - 0.8))  # 80 % of the proposals accepted is about best
        report(min(1.0, chain.spent / limits[-1]))
    chosen = []
    for size, limit in zip(sizes, limits[1:], strict=True):
        states: list[FloatArray] = []
        while not states or chain.spent < limit:
            chain.advance()
            states.append(chain.theta)
            report(min(1.0, chain.spent / limits[-1]))
        order = np.argsort([theta[-1] for theta in states], kind="stable")
        place = (rng.permutation(size) + rng.random(size)) / size  # in any order, so that no place in it is special
        chosen += [states[i] for i in order[(place * len(states)).astype(int)]]
    return np.array(chosen)


class _Chain:
    """Hamiltonian Monte Carlo in coordinates whitened by the curvature at the mode, from where it starts."""

    def __init__(self, peak: Peak, rng: np.random.Generator) -> None:
        self.density, self.whitening, self.rng = peak.density, peak.whitening, rng
        self.theta, self.step, self.spent = peak.mode, 0.4, 0
        self._value, self._gradient = self.density(self.theta)

    def advance(self) -> float:
        """Propose one state, go there or stay, and return the probability with which it was accepted."""
        rng, whitening = self.rng, self.whitening
        momentum = rng.standard_normal(len(self.theta))
        leaps = int(rng.integers(3, 9))
        new, speed, slope = self.theta, momentum, self._gradient
        size = self.step * rng.uniform(0.8, 1.2)
        ahead = -math.inf
        for _ in range(leaps):
            speed = speed + 0.5 * size * (slope @ whitening)
            new = new + size * (whitening @ speed)
            ahead, slope = self.density(new)
            self.spent += 1
            if not math.isfinite(ahead):
                break
            speed = speed + 0.5 * size * (slope @ whitening)
        acceptance = math.exp(min(0.0, ahead - self._value + 0.5 * float(momentum @ momentum - speed @ speed)))
        if rng.random() < acceptance:
            self.theta, self._value, self._gradient = new, ahead, slope
        return acceptance
