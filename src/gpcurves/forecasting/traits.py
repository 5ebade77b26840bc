r"""What the target itself says about how its error will fall: heavy tails, digits of a computation, and dates.

Four facts decide how far a Gaussian process may be trusted beyond the rows at hand.

- **Heavy tails.** If a few rows carry most of the variance, the mean square of few residuals is more often below than above that
  of all rows, and what was learnt about the few does not carry over to others. Hill's estimate measures it: the mean of
  :math:`\ln(d_i^2/d_k^2)` over the tenth of the rows that are furthest from the median, :math:`d_k` being the next distance. It
  is about 0.45 for normal targets, and the inverse of :math:`\alpha` if :math:`P(d^2>t)\propto t^{-\alpha}`.
- **Digits.** Measured quantities are rounded; what a program computes has all digits of a floating-point number. Only such a
  target can be free of noise.
- **Dates and times.** Quantities that follow time are smooth if time is resolved: their error falls on where that of others ends at noise.
- **Missing inputs.** What was filled in does not determine the target: its error does not fall without end, whatever the rest of the inputs say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import Rows

_FEWEST_EXTREME, _EXTREME = 3, 0.1  # rows that measure the tail, at least, and their share
_MOST_DIGITS = 12  # that are told apart: rounding errors stay below
_ROUNDED, _COMPUTED = 5.0, 8.0  # significant digits of a measurement, and of a computation
_WHOLE, _PATCHY = 0.05, 0.25  # share of rows with missing inputs: a target may follow from them, and does not
_EVEN, _UNEVEN = 0.6, 1.0  # tails up to which a target may be smooth, and from which it is not


@dataclass(frozen=True)
class Traits:
    """What is known of a target besides what a model of it learns.

    ``heavy`` is Hill's estimate of its tails, ``computed`` how surely it is the result of a computation, from 0 to 1, ``dated``
    whether dates or times are among the inputs, and ``imputed`` the share of rows with an input that was filled in.
    """

    heavy: float = 0.0
    computed: float = 0.0
    dated: bool = False
    imputed: float = 0.0

    @property
    def smooth(self) -> float:
        """How surely the error falls without end as long as noise is not seen, from 0 to 1."""
        known = 1 - float(ramp(self.imputed, _WHOLE, _PATCHY))
        return max(self.computed, float(self.dated)) * (1 - float(ramp(self.heavy, _EVEN, _UNEVEN))) * known


UNKNOWN = Traits()


def measure_traits(rows: Rows, deterministic: bool = False) -> Traits:
    """Return the traits of the target of these rows.

    A model that knows a target to be ``deterministic`` expects its error to fall without end by itself: digits and dates add nothing.
    """
    if deterministic:
        return Traits(measure_tail(rows.y))
    design = rows.design
    dated = design is not None and any(design.readings[each.source].is_time for each in design.encodings)
    digits = count_digits(rows.mean + rows.scale * rows.y)
    return Traits(measure_tail(rows.y), float(ramp(digits, _ROUNDED, _COMPUTED)), dated, rows.imputed)


def ramp(value: FloatArray | float, begin: float, end: float) -> FloatArray:
    """Return how far a value is on the way from ``begin`` to ``end``, from 0 to 1."""
    return np.clip((np.asarray(value) - begin) / (end - begin), 0.0, 1.0)


def measure_tail(y: FloatArray) -> float:
    """Return Hill's estimate for the squared distances from the median."""
    squares = np.sort((y - np.median(y)) ** 2)[::-1]
    count = min(max(_FEWEST_EXTREME, int(_EXTREME * len(y))), len(y) - 1)
    squares = np.maximum(squares, 1e-12 * squares[0])  # more than half of the rows may be equal
    return float(np.mean(np.log(squares[:count] / squares[count])))


def count_digits(y: FloatArray) -> float:
    """Return the median number of significant digits, 0 if most values are integers, which may be counts."""
    if np.mean(np.isclose(y, np.rint(y), rtol=1e-12, atol=0.0)) > 0.5:
        return 0.0
    digits = [f"{value:.{_MOST_DIGITS - 1}e}".split("e")[0].replace(".", "").strip("-") for value in y.tolist()]
    return float(np.median([len(each.rstrip("0")) for each in digits]))
