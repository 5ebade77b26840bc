r"""What planners ask of a forecast: what the next rows gain, where to stop, and how many rows test the result.

The RMSE falls from :math:`R` by :math:`d = \ln R - \ln R(n)` in the logarithm. The half-width of the 90 % interval of d is

.. math:: \sqrt{(w(n) - w)^2 + (c\,d)^2},

with w the half-width of the interval of :math:`\ln` RMSE today and w(n) that at n: errors of the level are common to both and
drop out. The forecast drop itself is uncertain by a share c of it. The gain :math:`R(1-e^{-d})` inherits that and the uncertainty
of R, as independent errors. It is never negative, since more rows do not hurt on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpcurves.errors import InputError
from gpcurves.forecasting.intervals import HORIZON, Band, goal_grid
from gpcurves.forecasting.measures import ROOT_MEAN_SQUARE, ErrorMeasure, ForecastQuantity
from gpcurves.forecasting.verdict import rounded
from gpcurves.numerics.validation import FloatArray, integer, nonnegative, positive

_DROP = 0.75  # half-width of the 90 % interval of a drop as a share of it: what calibrating the intervals found, about
_NINETY = 1.6448536269514722  # quantile of a standard normal variable: 90 % are within this distance
_MOST = 1e15


@dataclass(frozen=True)
class Gain:
    """By how much further rows lower the error: the estimate and its 90 % interval, in the target's own units."""

    rows: int
    estimate: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """The gain in words, for an RMSE."""
        return self.tell(ROOT_MEAN_SQUARE)

    def tell(self, quantity: ForecastQuantity) -> str:
        """Say the gain in words."""
        estimate, low, high = map(quantity.write, (self.estimate, self.low, self.high))
        return f"The next {_rows(self.rows)} should lower {quantity.subject} by about {estimate} (90 % interval {low} to {high})."

    def judge(self, limit: float, quantity: ForecastQuantity = ROOT_MEAN_SQUARE) -> str:
        """Say whether the gain is below a limit, in one sentence."""
        limit = positive("the limit", limit)
        below = self.estimate < limit
        sure = self.high < limit if below else self.low >= limit
        doubt = f"but the {'upper' if below else 'lower'} end of the interval is {'above' if below else 'below'} it"
        doubt = "and so is the whole 90 % interval" if sure else doubt
        side = "below" if below else "not below"
        return f"{'Yes, stop' if below else 'No, go on'}: the gain is {side} your limit of {ErrorMeasure.of(quantity).write_goal(limit)}, {doubt}."


@dataclass(frozen=True)
class StoppingPoint:
    """The number of rows at which cost of rows and value of error together are least, with its 90 % interval.

    ``net`` is what is won on the way from today's rows to there: the value of the lower error minus the cost of the rows.
    ``rows`` are today's, ``furthest`` the most rows that were looked at.
    """

    estimate: int
    low: int
    high: int
    net: float
    rows: int
    furthest: int

    @property
    def sentence(self) -> str:
        """Where to stop, in words."""
        span = f"(90 % interval {_about(self.low, self.rows)} to {_about(self.high, self.rows)})"
        if self.estimate >= self.furthest:
            return f"Every further row is worth its cost, up to {self.furthest:,} rows and perhaps beyond {span}."
        if self.estimate <= self.rows:
            return f"Stop at your {self.rows:,} rows: further ones are expected to cost more than they gain {span}."
        more = f"{rounded(self.estimate - self.rows)} more than now"
        won = f"The lower error is then worth {self.net:.3g} more than these rows cost."
        return f"Stop at about {rounded(self.estimate)} rows, {more} {span}. {won}"


def _about(n: int, rows: int) -> str:
    return f"{rows:,}" if n == rows else rounded(n)


def find_gain(band: Band, rows: int, k: int) -> Gain:
    """Return what the next k rows gain."""
    k = integer("the number of further rows", k, 1, _MOST)
    ahead = goal_grid(rows)
    n = np.unique(np.append(ahead[(ahead > rows) & (ahead < rows + k)], rows + k))
    estimate, low, high = (float(curve[-1]) for curve in gains(band, rows, n))
    return Gain(k, estimate, low, high)


def gains(band: Band, rows: int, n: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the estimate and the 90 % interval of the gain in RMSE at increasing numbers of rows, all larger than today's."""
    now, low_now, high_now, _ = (float(curve[0]) for curve in band.at(np.array([float(rows)])))
    estimate, low, high, _ = band.at(n)
    drop = np.maximum(np.log(now / estimate), 0.0)
    down = np.hypot(np.log(estimate / low) - math.log(now / low_now), _DROP * drop)
    up = np.hypot(np.log(high / estimate) - math.log(high_now / now), _DROP * drop)
    gain = -now * np.expm1(-drop)
    most, least = (-now * np.expm1(-np.maximum(end, 0.0)) for end in (drop + down, drop - up))
    below = gain - np.hypot(gain - least, gain * (1 - low_now / now))
    above = gain + np.hypot(most - gain, gain * (high_now / now - 1))
    # more rows do not hurt: neither end of the interval falls
    return gain, np.maximum.accumulate(np.maximum(below, 0.0)), np.maximum.accumulate(above)


def find_stopping_point(band: Band, rows: int, cost_per_row: float, value_of_error: float) -> StoppingPoint:
    r"""Return the n, from today's rows on, that minimises :math:`C n + V\,\mathrm{RMSE}(n)`.

    The ends of its interval are those of the ends of the gain. Rows that cost nothing are worth having as far as we look.
    """
    cost, value = nonnegative("the cost per row", cost_per_row), positive("the value of error", value_of_error)
    furthest = HORIZON * rows
    n = np.unique(np.append(np.geomspace(rows + 1, furthest, 4_000).round(), furthest))
    found = []
    for gain in gains(band, rows, n):
        net = np.append(0.0, value * gain - cost * (n - rows))
        best = len(net) - 1 - int(np.argmax(net[::-1]))  # of equally good ones the last
        found.append((int(np.append(rows, n)[best]), float(net[best])))
    (estimate, net_gain), (least, _), (most, _) = found
    return StoppingPoint(estimate, min(least, estimate), max(most, estimate), net_gain, rows, furthest)


def count_test_rows(rmse: float, kurtosis: float, precision: float) -> int:
    r"""Return how many test rows measure an RMSE to within ± ``precision``, with a probability of 90 %.

    With m independent test rows, the squared residuals have the variance :math:`(\kappa-1)\,\mathrm{RMSE}^4`, and the standard
    error of the RMSE is about :math:`\mathrm{RMSE}\sqrt{(\kappa-1)/m}/2`.
    """
    precision = positive("the precision", precision)
    needed = (_NINETY * rmse / (2 * precision)) ** 2 * (kurtosis - 1)
    if needed > _MOST:
        raise InputError(f"the precision must be larger: ± {precision:g} takes more than {_MOST:g} test rows")
    return max(1, math.ceil(needed))


def count_test_labels(error_rate: float, precision: float) -> int:
    r"""Return how many test rows measure an error rate to within ± ``precision``, with a probability of 90 %.

    Mistakes among m independent rows are binomial: their share has the standard error :math:`\sqrt{p(1-p)/m}`.
    """
    precision = positive("the precision", precision)
    needed = (_NINETY / precision) ** 2 * error_rate * (1 - error_rate)
    if needed > _MOST:
        raise InputError(f"the precision must be larger: ± {precision:g} takes more than {_MOST:g} test rows")
    return max(1, math.ceil(needed))


def _rows(count: int) -> str:
    return "row" if count == 1 else f"{count:,} rows"
