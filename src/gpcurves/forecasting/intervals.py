"""The band of a forecast: the error to expect with intervals learnt on the tasks of ``benchmarks/forecast``.

`benchmarks.forecast.score` reports how good they are on tasks left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.calibration import FURTHEST, TABLES, TAILS, Calibration
from gpcurves.forecasting.crossvalidation import CrossValidation
from gpcurves.forecasting.error_curve import ErrorCurve
from gpcurves.forecasting.traits import UNKNOWN, Traits, ramp
from gpcurves.numerics.validation import FloatArray, frozen

HORIZON = 1_000  # required numbers of rows are looked for up to this multiple of the rows at hand
_GOALS = 400
_ASSURANCE = 0.7
"""Width of a one-sided 80 % interval over that above a 90 % one. More than 80 % of tasks left out are below it: goals are asked
for where the forecast promises to reach them, which is more often where it is too low."""
_FADE = 1.5
_NOISY, _NOISELESS = 1e-3, 1e-5
_FAR = 2.0
_EXPONENTS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # of power laws through cross-validated errors,
_OFFSETS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 1.0)  # what of the last error more rows do not lower,
_SCATTER = 0.4  # and how far logarithms of cross-validated errors may be from them
_ABOVE = 4.0  # so far above the noise, in logarithms, a function counts as free of noise
_TINY = -3.0, -8.0  # logarithm of the noise variance over the target's from which it may be none, and from which it is
_TRUST = 0.9  # in the steeper of model and power laws, if a target is surely smooth and free of noise
_FASTER = 0.5  # power of n by which errors of computed functions fall faster than model and power laws expect
_STRAIGHT = 1 / 3  # share of one straight power law in what is expected of a smooth target without noise
_HEAVIEST, _HEAVIEST_TARGET = 5.0, 3.0  # tails of residuals and of targets up to which they widen the interval


_STEP, _LONG_STEP = 0.01, 0.1  # between knots in ln n, up to the horizon and beyond: interpolation is good to 1e-6
_LARGEST = 1e15


def goal_grid(rows: int) -> FloatArray:
    """Return numbers of rows at which goals are looked for, from 1 to the horizon.

    They are fewer than all, so that no ups and downs from one number to the next decide.
    """
    return np.unique(np.geomspace(1, HORIZON * rows, _GOALS).round())


@dataclass(frozen=True, eq=False)
class Band:
    """Root mean squared errors against noisy targets, in the target's own units, at increasing numbers of rows.

    ``estimate`` is the error to expect, ``low`` and ``high`` are the ends of the 90 % interval, and the error is below
    ``assured`` with a probability of 80 %. Between the knots ``n``, logarithms are interpolated. ``stderr`` is the standard
    error of the logarithm of the estimate that comes from random draws and inputs; more draws make it smaller.
    """

    n: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    assured: FloatArray
    stderr: FloatArray

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, frozen(np.array(getattr(self, each.name), dtype=np.float64)))

    def at(self, n: FloatArray) -> tuple[FloatArray, ...]:
        """Return estimate, low, high and assured at each n."""
        knots, wanted = np.log1p(self.n), np.log1p(n)
        return tuple(np.exp(np.interp(wanted, knots, np.log(curve))) for curve in self._curves)

    def find(self, goal: float, grid: FloatArray) -> tuple[int | None, ...]:
        """Return the smallest n at which each curve is at the goal, looked for on a grid of knots; None if it never is."""
        marked = np.isin(self.n, grid)
        return tuple(_find_first(self.n[marked], curve[marked], goal) for curve in self._curves)

    def monte_carlo_error(self, goal: float, grid: FloatArray) -> float | None:
        """Return the standard error of the smallest n at which the estimate is at the goal.

        It is half the distance between the answers to goals that are one standard error easier and harder. It is None if the
        estimate never is at the goal, and unknown (None as well) if there is one draw, with which no other can be compared.
        """
        at_goal = self.find(goal, grid)[0]
        stderr = 0.0 if at_goal is None else float(np.interp(at_goal, self.n, self.stderr))
        if at_goal is None or stderr == 0.0:
            return None
        fewer, more = (self.find(goal * math.exp(shift), grid)[0] for shift in (stderr, -stderr))
        if more is None:  # a goal that is a little harder is never reached: what is known is one side
            return float(at_goal - (fewer or 0))
        return 0.5 * (more - (fewer or 0))

    @property
    def _curves(self) -> tuple[FloatArray, ...]:
        return self.estimate, self.low, self.high, self.assured


def _find_first(n: FloatArray, curve: FloatArray, goal: float) -> int | None:
    """Return the smallest n at which a falling curve is at the goal."""
    reached = curve <= goal
    if not reached.any():
        return None
    i = int(np.argmax(reached))
    if i == 0:
        return int(n[0])
    before, after = float(n[i - 1]), float(n[i])
    share = math.log(curve[i - 1] / goal) / math.log(curve[i - 1] / curve[i])
    return math.ceil(before * math.pow(after / before, share) - 1e-9)


def fading(noise: float, deterministic: bool = False) -> float:
    """Return how fast noise of this share of the target's variance fades as rows are added.

    Measured quantities carry noise of a thousandth of their variance or more. What is fitted far below that is the
    misfit of a function without noise, which more rows resolve.
    """
    if deterministic:
        return _FADE
    return _FADE * float(np.clip(math.log(_NOISY / noise) / math.log(_NOISY / _NOISELESS), 0.0, 1.0))


def combine(
    now: FloatArray | float,
    gap: FloatArray | float,
    level: FloatArray | float,
    drops: tuple[FloatArray, FloatArray],
    shares: tuple[FloatArray | float, FloatArray | float],
) -> FloatArray:
    """Return the logarithm of the mean squared error to expect, from what the model expects and what cross-validation shows.

    The model expects ``now`` at the size of cross-validation, which shows ``gap`` more. ``drops`` are those that the model and power
    laws expect from there on, and ``shares`` of them happen.
    """
    return np.asarray(now + level * gap - shares[0] * drops[0] - shares[1] * drops[1])


def follow_power_laws(observed: CrossValidation, n: FloatArray, endless: bool = False) -> FloatArray:
    """Return the logarithm of the error that power laws through cross-validated errors expect.

    A power law falls to an offset, a + b n^-c. The logarithm is averaged over a grid of exponents c and of shares of the offset in
    the last error, weighted by how well each law fits: unlike the best law, the average changes little with the folds. With
    ``endless`` only laws without an offset count: without noise errors fall without end.
    """
    exponent, offset = (each.reshape(-1, 1) for each in np.meshgrid(_EXPONENTS, _OFFSETS[:1] if endless else _OFFSETS))

    def fall(at: FloatArray) -> FloatArray:
        return np.asarray(np.log(offset + (1 - offset) * (at / observed.n[-1]) ** -exponent))

    away = np.log(observed.mse) - fall(observed.n)
    level = away.mean(axis=1)
    misfit = ((away - level[:, None]) ** 2).sum(axis=1)
    weights = np.exp(-0.5 * (misfit - misfit.min()) / _SCATTER**2)
    return np.asarray(weights @ (level[:, None] + fall(n)) / weights.sum())


def ingredients(
    factor: FloatArray,
    spread: FloatArray,
    scatter: FloatArray | float,
    gap: FloatArray | float,
    drop: FloatArray,
    above: FloatArray,
    tails: FloatArray | float,
    heavy: FloatArray | float,
) -> FloatArray:
    """Return what makes a forecast uncertain, one row each, in logarithms of the squared error.

    In this order: how far it reaches, as a ``factor`` of the rows at hand; how much the posterior varies (``spread``); the
    ``scatter`` of the squared residuals of cross-validation; the ``gap`` between cross-validation and expectation; by how
    much the model expects the error to ``drop``; how far it is then still ``above`` the noise, up to a limit; how heavy the ``tails``
    of the residuals are, up to another one; and by how much those of the target are ``heavy``-er than normal, up to a third.
    """
    ones = np.ones(len(factor))
    reach = np.abs(np.log(np.clip(factor, 1e-3, FURTHEST)))
    far, of_residuals = np.clip(above, 0.0, _FAR), np.clip(tails, 0.0, _HEAVIEST) * ones
    of_target = np.clip(np.asarray(heavy) - TAILS[0], 0.0, _HEAVIEST_TARGET) * ones
    return np.array([reach, spread, scatter * ones, gap * ones, np.abs(drop), far, of_residuals, of_target])


def measure_noiselessness(above: FloatArray | float) -> FloatArray:
    """Return how free of noise a target is, from 0 to 1, given how far the logarithm of the present error is above the noise."""
    return ramp(above, 0.0, _ABOVE)


def measure_exactness(above: FloatArray | float, log_noise: FloatArray | float) -> FloatArray:
    """Return how free of noise a smooth target is, from 0 to 1: its noise is both far below the error and next to nothing."""
    return np.asarray(measure_noiselessness(above) * ramp(log_noise, *_TINY))


def follow_straight_law(observed: CrossValidation, n: FloatArray) -> FloatArray:
    """Return the logarithm of the error on the straight line through logarithms of cross-validated errors; it does not rise."""
    logs = np.log(observed.n)
    away = logs - logs.mean()
    slope = min(0.0, float(away @ np.log(observed.mse) / (away @ away))) if len(logs) > 1 else 0.0
    return np.asarray(np.log(observed.mse).mean() + slope * (np.log(n) - logs.mean()))


def find_steeper(
    model: FloatArray, laws: FloatArray, straight: FloatArray, reach: FloatArray, computed: FloatArray | float
) -> FloatArray:
    """Return what is expected of a smooth function without noise: the steeper of model and power laws.

    If it is surely ``computed``, it falls faster still, the more so the further it ``reach``es beyond cross-validation, as a multiple
    of its rows. Both look back, and the error of a smooth function falls the faster the better it is known already. A third of
    it is the ``straight`` power law, which overshoots less often than the steeper of two.
    """
    steeper = np.minimum(model, laws) - _FASTER * computed * np.maximum(np.log(reach), 0.0)
    return np.asarray((1 - _STRAIGHT) * steeper + _STRAIGHT * straight)


def follow_function(measured: FloatArray, steep: FloatArray, exact: FloatArray | float) -> FloatArray:
    """Return what is expected if the target is, as surely as ``exact`` says, a smooth function without noise."""
    return np.asarray((1 - _TRUST * exact) * measured + _TRUST * exact * steep)


@dataclass(frozen=True)
class PosteriorCurves:
    """Learning curves of the problems in the posterior with their probabilities, beside cross-validated errors.

    They are for the standardised target, whose standard deviation is ``scale``; of the rows, ``fitted_rows`` were used.
    ``batches`` are how many consecutive curves of each family of covariance functions were drawn together, on the same inputs.
    """

    curves: tuple[ErrorCurve, ...]
    weights: FloatArray
    batches: tuple[tuple[int, ...], ...]
    observed: CrossValidation
    rows: int
    fitted_rows: int
    scale: float
    rate: float = 1.0  # rows for each unit that n counts, which may be a group of them
    most: float = math.inf  # rows that there can be: of labels, one for each vertex of a graph
    calibration: Calibration = TABLES
    traits: Traits = UNKNOWN

    def moments(self, n: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean and standard deviation of the log mean squared error, and how far it is above the noise."""
        logs = self._logs(n)
        middle = self.weights @ logs
        return middle, np.sqrt(self.weights @ (logs - middle) ** 2), middle - self._log_noise(n)

    def _logs(self, n: FloatArray) -> FloatArray:
        """Return the logarithm of each curve, computed once for the same numbers of rows: estimate, width and error need it."""
        sizes = self.rate * np.minimum(n, self.most)
        if (key := sizes.tobytes()) not in self._computed:
            self._computed[key] = frozen(np.log([curve(sizes) for curve in self.curves]))
        return self._computed[key]

    @cached_property
    def _computed(self) -> dict[bytes, FloatArray]:
        return {}

    def stderr(self, n: FloatArray) -> FloatArray:
        r"""Return the Monte-Carlo standard error of the log RMSE, by leaving out one batch of curves after the other.

        Without batch b of the B of a family, the forecast changes by :math:`\delta_b`; the variance is the sum over families of
        :math:`\frac{B-1}B\sum_b\delta_b^2` (the jackknife). Cross-validation and the probabilities of families count as known.
        """
        curves, near, now = (self._logs(each) for each in (n, self._within(n), self.observed.n[-1:]))
        level, _, laws, _ = self._weights
        share = self._share_of_model(n)
        measured = share * near + (1 - level - share) * now + self._share_outside * (curves - near)
        measured = measured + laws * (near - self._logs(self._scored(n)))
        followed = (1 - _STRAIGHT) * self._steep(n)[1]  # where power laws are steeper, curves do not matter
        steep = followed * (curves - now) + _STRAIGHT * (curves - self._logs(self._scored(n)))
        logs = 0.5 * follow_function(measured, steep, self._exact)
        variance, begin = np.zeros(len(n)), 0
        for sizes in self.batches:
            count, total = len(sizes), sum(sizes)
            family = slice(begin, begin + total)
            begin += total
            weights = self.weights[family]
            if count == 1 or not weights.sum() > 0:
                continue
            starts = np.cumsum((0, *sizes[:-1]))
            away = weights[:, None] * (logs[family] - weights @ logs[family] / weights.sum())
            left = weights.sum() - np.add.reduceat(weights, starts)  # that of the curves that are left
            change = weights.sum() * np.add.reduceat(away, starts, axis=0) / np.maximum(left, 1e-300)[:, None]
            variance += (count - 1) / count * (change**2).sum(axis=0)
        return np.asarray(np.sqrt(variance))

    def _log_noise(self, n: FloatArray) -> FloatArray:
        return np.asarray(self.weights @ np.log([curve.noise_at(self.rate * n) for curve in self.curves]))

    @cached_property
    def _noiseless(self) -> float:
        """How free of noise the target is, from 0 to 1."""
        return float(measure_noiselessness(self.moments(self.observed.n[-1:])[2][0]))

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        """The share of the gap by which the curve is moved, those of the drops of model and power laws, and the shift."""
        level, model, laws, shift = map(float, self.calibration.weigh(self._noiseless, self.traits.heavy))
        return level, model, laws, shift

    def _share_of_model(self, n: FloatArray) -> FloatArray:
        """Return the share of the drop of the model: with fewer rows than in cross-validation, errors are larger in full."""
        _, model, laws, _ = self._weights
        return np.where(n < self.observed.n[-1], 1 - laws, model)

    @property
    def _share_outside(self) -> float:
        """The share of the drop of the model where power laws end: it has theirs, too, but for a graph, whose vertices end there."""
        _, model, laws, _ = self._weights
        return model if math.isfinite(self.most) else model + laws

    @cached_property
    def _exact(self) -> float:
        """How surely the target is smooth and free of noise, from 0 to 1."""
        _, _, (above,) = self.moments(self.observed.n[-1:])
        (log_noise,) = self._log_noise(self.observed.n[-1:])
        return self.traits.smooth * float(measure_exactness(above, log_noise))

    @cached_property
    def gap(self) -> float:
        """The logarithm of the cross-validated error over the expected one."""
        return float(np.log(self.observed.mse[-1]) - self.moments(self.observed.n[-1:])[0][0])

    @property
    def noise_rmse(self) -> float:
        """The noise floor in the target's own units, which is what is left of the noise at the horizon."""
        n = np.array([float(HORIZON * self.rows)])
        return float(self._in_units(np.minimum(self._estimate(n, self._log_noise(n)), self._estimate(n)))[0])

    def _estimate(self, n: FloatArray, log_mse: FloatArray | None = None) -> FloatArray:
        """Return the logarithm of the error to expect, for these curves or for another one, at the level that was observed."""
        now = float(self.moments(self.observed.n[-1:])[0][0])
        near = self.moments(self._within(n))[0]
        ahead = self.moments(n)[0] if log_mse is None else log_mse
        laws = follow_power_laws(self.observed, self._scored(n), self.calibration.endless)
        level, _, share, shift = self._weights
        drops = now - near, np.log(self.observed.mse[-1]) - laws
        expected = shift + combine(now, self.gap, level, drops, (self._share_of_model(n), share))
        # Power laws end where they were scored and begin with the fewest rows of cross-validation: outside, the model has their share.
        below = share * (near - self.moments(self._scored(n))[0])
        measured = np.asarray(expected + below - self._share_outside * (near - ahead))
        return follow_function(measured, self._steep(n, ahead)[0], self._exact)

    def _steep(self, n: FloatArray, ahead: FloatArray | None = None) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return what is expected of a smooth function without noise, and where it follows the model instead of power laws."""
        now, scored = float(self.moments(self.observed.n[-1:])[0][0]), self._scored(n)
        model = (self.moments(n)[0] if ahead is None else ahead) - now + np.log(self.observed.mse[-1])
        laws = follow_power_laws(self.observed, scored, endless=True)
        outside = model - self.moments(scored)[0] + now - np.log(self.observed.mse[-1])  # where the model has its share
        straight = follow_straight_law(self.observed, scored) + outside
        return find_steeper(model, laws, straight, scored / self.observed.n[-1], self.traits.computed), model < laws

    def _within(self, n: FloatArray) -> FloatArray:
        """Return numbers of rows kept below those up to which forecasts by power laws were scored."""
        return np.minimum(n, min(self.most, FURTHEST * self.rows))

    def _scored(self, n: FloatArray) -> FloatArray:
        """Return the same kept above the fewest rows of cross-validation as well."""
        return np.asarray(np.maximum(self._within(n), self.observed.n[0]))

    def _in_units(self, log_mse: FloatArray) -> FloatArray:
        """Return root mean squared errors."""
        return self.scale * np.exp(0.5 * log_mse)

    def make_band(self) -> Band:
        """Average the curves, and compute the ends of the interval around them."""
        goals, fitted = goal_grid(self.rows), self.fitted_rows
        kinks = [
            FURTHEST * fitted,
            FURTHEST * self.rows,
            *(2**k * self.rows for k in range(5)),
        ]  # and what is usually asked for
        simulated = max(len(curve.error) for curve in self.curves) - 1
        # every number of rows that was simulated, those that are wanted, and enough beyond for interpolation
        horizon = max(float(goals[-1]), *kinks, simulated)
        near = np.exp(np.arange(math.log(simulated), math.log(horizon), _STEP))
        far = np.exp(np.arange(math.log(horizon), math.log(_LARGEST) + _LONG_STEP, _LONG_STEP))
        n = np.unique(np.concatenate((np.arange(simulated + 1.0), near.round(), far.round(), goals, kinks)))
        middle, spread, above = self.moments(n)
        factor, today = np.minimum(n, self.most) / fitted, n == fitted
        drop = float(self.moments(self.observed.n[-1:])[0][0]) - middle
        scatter, tails = self.observed.log_stderr[-1], self.observed.tails
        squares = ingredients(factor, spread, scatter, self.gap, drop, above, tails, self.traits.heavy) ** 2
        # fewer rows than there are were tried out in cross-validation: they are as uncertain as today
        widths = self.calibration.widths(squares, factor)
        down, up = (np.where(factor < 1, width[today], width) for width in widths)
        ahead = n >= fitted
        expected = self._estimate(n)
        ends = (never_rise(end, ahead) for end in (expected - down, expected + up, expected + _ASSURANCE * up))
        estimate, low, high, assured = map(self._in_units, (expected, *ends))
        return Band(n, estimate, low, high, assured, self.stderr(n))


def never_rise(values: FloatArray, marks: npt.NDArray[np.bool_]) -> FloatArray:
    """Return values lowered to the least of those before them that are marked: more rows never make an end worse."""
    before = np.minimum.accumulate(np.where(marks, values, np.inf))
    return np.minimum(values, before)
