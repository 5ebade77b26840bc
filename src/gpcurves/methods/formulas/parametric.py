r"""Curves that are explicit in a parameter: :math:`\epsilon = g(h)` with `n` an increasing function of `h`.

With :math:`g(h) = \sum\lambda/(1+h\lambda)` and :math:`T(h) = \sum\ln(1+h\lambda)`,

* LC: :math:`n = h(\sigma^2 + g(h))`,
* UC: :math:`n = h\sigma^2 + T(h)`.

So `h` is the root of one smooth monotone function, found for all `n` at once by safeguarded Newton steps in
:math:`\ln h`. Everything is measured in units of the largest eigenvalue. The difference between `n` and its target is
summed in a way that keeps its digits if the noise is tiny and `n` is close to a number of eigenvalues: those above
:math:`1/h` contribute :math:`1 - 1/(1+h\lambda)`, and their exact count is subtracted from the target first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.numerics.quadrature import GAUSS_NODES, GAUSS_WEIGHTS
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

Excess = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
_CELLS = 2_000_000  # 16 MB for an array of rows by nodes
_LARGEST_LOG = 690.0  # e^690 is finite, and so is its product with eigenvalues of at most 1


class Scaled:
    """The spectrum and the noise level of a problem in units of the largest eigenvalue."""

    def __init__(self, problem: Problem) -> None:
        measure = problem.spectrum.measure
        shift = float(np.log(problem.spectrum.values[0]))
        self.unit = math.exp(shift)
        self.noise = math.nan if problem.observation.gaussian_noise is None else problem.noise / self.unit
        self.observation, self.trace = problem.observation, problem.spectrum.trace
        self.values = np.exp(measure.log_values - shift)
        self.multiplicities, self.counts = measure.multiplicities, measure.counts
        self.masses = measure.multiplicities * self.values
        self.pivots = measure.pivots - shift

    def lc_excess(self, log_h: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return h (noise + g(h)) - n, and its derivative with respect to ln h."""
        h = np.exp(log_h)
        x = np.multiply.outer(h, self.values)
        q = 1 / (1 + x)
        x *= q
        slope = h * self.noise + (x * q) @ self.multiplicities
        # Eigenvalues above 1/h contribute x/(1+x) = 1 - q. Their ones are summed exactly, as a count, and n is subtracted from
        # it before the small terms are added: on a plateau, with n = count, everything but the small terms cancels.
        above = np.searchsorted(-self.pivots, log_h)
        large = np.arange(len(self.values)) < above[:, None]
        terms = np.where(large, -q, x) @ self.multiplicities
        return h * self.noise + terms + (self.counts[above] - n), slope

    def uc_excess(self, log_h: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return h noise + T(h) - n, and its derivative with respect to ln h."""
        h = np.exp(log_h)
        x = np.multiply.outer(h, self.values)
        slope = h * self.noise + (x / (1 + x)) @ self.multiplicities
        return h * self.noise + np.log1p(x) @ self.multiplicities - n, slope

    def g(self, h: FloatArray) -> FloatArray:
        r"""Return :math:`g(h) = \sum \lambda/(1+h\lambda)`; 0 at infinite `h`."""
        return self.by_rows(lambda part: (1 / (1 + np.multiply.outer(part, self.values))) @ self.masses, h)

    def T(self, h: FloatArray) -> FloatArray:  # noqa: N802  (the papers' letter)
        r"""Return :math:`T(h) = \sum \ln(1+h\lambda)`; `h` is in units of one over an eigenvalue."""
        scaled = np.asarray(h * self.unit)
        return self.by_rows(lambda part: np.log1p(np.multiply.outer(part, self.values)) @ self.multiplicities, scaled)

    def label_variance(self, error: FloatArray) -> FloatArray:
        r"""Return one over the information of a label at an error, for Gaussian noise :math:`\sigma^2+\epsilon`."""
        return 1 / (self.unit * self.observation.information(self.unit * error, self.trace))

    def by_rows(self, function: Callable[..., FloatArray], *columns: FloatArray) -> FloatArray:
        """Apply a function that works on (rows, nodes) to a few rows at a time, so that memory stays bounded."""
        rows = max(1, _CELLS // len(self.values))
        parts = [function(*(c[i : i + rows] for c in columns)) for i in range(0, len(columns[0]), rows)]
        return np.concatenate(parts) if parts else np.empty(0)


def solve(excess: Excess, scaled: Scaled, n: FloatArray) -> FloatArray:
    """Return ln h at each n > 0, or infinity if no h below e^690 reaches it."""
    return scaled.by_rows(lambda part: _solve_block(excess, scaled, part), n)


def integrated_h(scaled: Scaled, n: FloatArray) -> FloatArray:
    r"""Return the `h` at which :math:`\int_0^h dh'/r(g(h')) = n`: UC for labels of any kind, of which `r` is the information.

    In :math:`\ln h` the integrand is analytic in a strip of half-width :math:`\pi` or so, whatever the eigenvalues are, so that
    panels of width 1 are exact to rounding. Newton's method then solves within a panel.
    """

    def rate(log_h: FloatArray) -> FloatArray:
        h = np.exp(log_h)
        return np.asarray(h * scaled.label_variance(scaled.g(h)))

    result = np.zeros(len(n))
    if not (some := n > 0).any():
        return result
    # where h is so small that nothing is learnt, n is proportional to it
    first = math.log(1e-14 * min(1.0, float(n[some].min() / rate(np.zeros(1))[0])))
    edges, sums = [first], [float(rate(np.array([first]))[0])]
    while sums[-1] < n.max() and edges[-1] < _LARGEST_LOG:
        start = edges[-1] + np.arange(16)
        values = rate((start[:, None] + (1 + GAUSS_NODES) / 2).ravel()).reshape(16, -1) @ GAUSS_WEIGHTS / 2
        edges += (start + 1).tolist()
        sums += (sums[-1] + np.cumsum(values)).tolist()
    target = n[some]
    panel = np.clip(np.searchsorted(sums, target) - 1, 0, len(edges) - 2)
    left, before = np.array(edges)[panel], np.array(sums)[panel]
    log_h = left + (target - before) / (np.array(sums)[panel + 1] - before)
    for _ in range(50):
        width = log_h - left
        inside = left[:, None] + width[:, None] * (1 + GAUSS_NODES) / 2
        reached = before + width / 2 * (rate(inside.ravel()).reshape(inside.shape) @ GAUSS_WEIGHTS)
        step = (reached - target) / rate(log_h)
        log_h = np.clip(log_h - step, left, left + 1)
        if np.max(abs(step)) < 1e-13:
            break
    result[some] = np.where(target > sums[-1], np.inf, np.exp(log_h))
    return result


def _solve_block(excess: Excess, scaled: Scaled, n: FloatArray) -> FloatArray:
    # n <= h (noise + trace), and n >= h noise
    low = np.log(n) - math.log(scaled.noise + float(scaled.masses.sum()))
    high = np.full(len(n), _LARGEST_LOG)
    if scaled.noise > 0:
        high = np.minimum(high, np.log(n) - math.log(scaled.noise) + 1e-12)
    # one table for all n brackets each root within a step of the grid; nearly all that Newton's method needs
    grid = np.linspace(low.min() - 1e-9, high.max(), 200)
    at_grid = excess(grid, np.zeros(len(grid)))[0]
    beyond = n > at_grid[-1] * (1 - 1e-15)
    # on a plateau, with n close to a number of eigenvalues, the rounded grid does not resolve the root
    below = np.clip(np.searchsorted(at_grid, n * (1 - 1e-11)) - 1, 0, len(grid) - 1)
    above = np.clip(np.searchsorted(at_grid, n * (1 + 1e-11)), 0, len(grid) - 1)
    low = np.maximum(low, grid[below] - 1e-6)
    high = np.minimum(high, grid[above] + 1e-6)
    # Only roots on plateaus still have wide brackets. Newton's steps would crawl there, because the slope is nearly zero.
    for _ in range(12):
        wide = high - low > 8.0
        if not wide.any():
            break
        middle = (low[wide] + high[wide]) / 2
        over = excess(middle, n[wide])[0] > 0
        high[wide] = np.where(over, middle, high[wide])
        low[wide] = np.where(over, low[wide], middle)
    log_h = np.clip(np.interp(np.log(n), np.log(at_grid), grid), low, high)
    active = ~beyond
    for _ in range(100):
        if not active.any():
            log_h[beyond] = np.inf
            return log_h
        now, target = log_h[active], n[active]
        value, slope = excess(now, target)
        lower = np.where(value < 0, now, low[active])
        upper = np.where(value > 0, now, high[active])
        # Newton's step for ln n(h), which is nearly linear in ln h
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.log1p(value / target) * (target + value) / slope
        new = now - step
        # a step out of the bracket means that the function is not yet nearly linear: halve the bracket instead
        inside = (new >= lower) & (new <= upper) & np.isfinite(new)
        new = np.where(inside, new, (lower + upper) / 2)
        tiny = abs(new - now) <= 1e-14 * np.maximum(1.0, abs(now))
        # if n(h) is not on a plateau a small Newton step squares the error: no need to look again
        last = inside & (abs(step) <= 3e-8) & (slope > 0.1 * (target + value))
        done = tiny | last | (value == 0) | (upper - lower <= 4e-16 * abs(now))
        low[active], high[active] = lower, upper
        log_h[active] = np.where(value == 0, now, new)
        active[active] = ~done
    raise NumericalError("the self-consistency equation was not solved in 100 steps")
