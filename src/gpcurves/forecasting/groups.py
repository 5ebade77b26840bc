r"""What the rows of a group share beyond what their inputs say, such as all visits of a patient: a random effect.

The target of row i in group :math:`g_i` is

.. math:: y_i = f(x_i) + u_{g_i} + e_i, \qquad u_g \sim N(0, b^2), \quad e_i \sim N(0, \sigma^2).

The variance :math:`b^2` is learnt with the other hyperparameters. Nothing is known of the effect of a new group, so that its rows have
errors of :math:`b^2+\sigma^2` besides that of f, however many groups are known. Without the effect, f itself would follow the
groups, and promise that new ones are like those that it knows.

Rows of a group say less about f than as many rows of different groups. To functions that hardly vary within groups, m rows are
like a single one with noise :math:`b^2+\sigma^2/m`, or m with noise :math:`\sigma^2+mb^2`; in general, they are about like m with noise
:math:`\sigma^2+b^2[1+(m-1)\rho]`, where :math:`\rho` is the share of the variance of f that lies between groups (Moulton 1986).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from gpcurves.forecasting.parts import TargetPart
from gpcurves.kernels import Kernel
from gpcurves.numerics.validation import FloatArray

Groups = npt.NDArray[np.int64]  # rows with the same number belong together


@dataclass(frozen=True)
class GroupEffect(TargetPart):
    """The prior of the variance that rows of a group share."""

    centre, width, limits = -1.5, 2.2, (-34.0, 8.0)
    start = mostly = -1.5
    # The lower limit is so low because a target without noise may have no effect of groups, either.


def indicate(groups: Groups) -> FloatArray:
    """Return a row for each group, which is 1 where a row of the data is in it: features whose products are the same group."""
    return np.asarray(np.unique(groups)[:, None] == groups, dtype=np.float64)


@dataclass(frozen=True)
class Shared:
    """The variance that rows of the same group have in common."""

    variance: float
    groups: Groups

    @property
    def covariance(self) -> FloatArray:
        """The covariance of all pairs of rows."""
        return self.variance * np.equal.outer(self.groups, self.groups)

    def leave_out(self, target: FloatArray, alpha: FloatArray, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return mean and variance of each target given all other groups.

        With the block :math:`J = (K^{-1})_{gg}` of a group they are those of a normal variable with mean
        :math:`y_g - J^{-1}\alpha_g` and covariance :math:`J^{-1}`; a group of one row has Rasmussen & Williams (5.12).
        """
        mean, variance = np.empty((2, len(target)))
        for group in np.unique(self.groups):
            rows = np.flatnonzero(self.groups == group)
            block = cho_factor(inverse[np.ix_(rows, rows)])
            mean[rows] = target[rows] - cho_solve(block, alpha[rows])
            variance[rows] = cho_solve(block, np.eye(len(rows))).diagonal()
        return mean, variance


def measure_crowding(kernel: Kernel, X: FloatArray, groups: Groups) -> float:
    r"""Return :math:`1 + (m-1)\rho`, by which the shared variance counts as noise of single rows; m is the size of a row's group."""
    sizes = np.bincount(np.unique(groups, return_inverse=True)[1])
    largest = float(np.sum(sizes**2) / np.sum(sizes))  # the mean over rows
    same = np.equal.outer(groups, groups)
    others = same & ~np.eye(len(groups), dtype=bool)
    if not others.any() or same.all():
        return largest
    K = kernel(X)
    alone, apart = float(K.diagonal().mean()), float(K[~same].mean())
    between = (float(K[others].mean()) - apart) / (alone - apart) if alone > apart else 1.0
    return 1.0 + (largest - 1.0) * float(np.clip(between, 0.0, 1.0))
