r"""Predictions: Gaussian processes that have learnt from rows, and the mixture of them that is best on rows left out.

With known hyperparameters, the posterior mean and the variance of a new observation are (Rasmussen & Williams 2.25, 2.26)

.. math:: m(x) = k^T\alpha, \qquad v(x) = C(x,x) - |L^{-1}k|^2 + \sigma^2, \qquad k = C(X, x), \qquad K = LL^T.

Without row i its mean would be :math:`y_i - \alpha_i/K^{-1}_{ii}` and its variance :math:`1/K^{-1}_{ii}` (5.12).

Few rows with heavy tails make any such model worse than no model at all. So the mean of the rows has a weight in the mixture, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize
from scipy.special import ndtr

from gpcurves.forecasting.groups import Groups, Shared
from gpcurves.forecasting.posterior import Member, noise_weights
from gpcurves.forecasting.warping import Warped
from gpcurves.inputs import Sample
from gpcurves.numerics.cholesky import factorise, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_PULL = 3.0  # how strongly weights of members are drawn to equal ones, in units of the information that they lose


class Regression:
    """A Gaussian process that has learnt from rows; targets are in units of their deviation, not centred."""

    def __init__(
        self,
        problem: Problem,
        X: FloatArray,
        y: FloatArray,
        warped: Warped,
        weights: FloatArray | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.problem, self.X, self.warped, self.shared = problem, X, warped, shared
        K = problem.kernel(X)
        K.ravel()[:: len(K) + 1] += problem.noise if weights is None else problem.noise * weights
        if shared is not None:
            K += shared.covariance
        self.noise = problem.noise + (0.0 if shared is None else shared.variance)  # of a row of a new group
        self.factor = factorise(K)
        self._target = warped.standardise(y)
        self.alpha = solve_factorised(self.factor, self._target)

    @classmethod
    def of(
        cls,
        member: Member,
        rows: tuple[FloatArray, FloatArray, FloatArray | None] | None = None,
        groups: Groups | None = None,
    ) -> Regression:
        """Learn with the most probable hyperparameters of a member, from its own rows if no others are given."""
        density = member.density
        if rows is None:
            rows, groups = (density.evidence.X, density.y, density.evidence.weights), density.groups
        X, y, weights = rows
        shared = member.share(member.mode, groups)
        return cls(member.problem(member.mode, Sample(X)), X, y, density.warped(member.mode), weights, shared)

    def mean(self, X: FloatArray) -> FloatArray:
        """Return the posterior mean of the standardised target at each input."""
        return np.asarray(self.problem.kernel(X, self.X) @ self.alpha)

    def variance(self, X: FloatArray) -> FloatArray:
        """Return the variance of a noisy observation at each input, which is never below the noise."""
        W = solve_lower(self.factor, self.problem.kernel(self.X, X))
        left = self.problem.kernel.diag(X) - np.einsum("ij,ij->j", W, W)
        return np.asarray(np.maximum(left, 0.0) + self.noise)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the mean of a noisy observation at each input, in units of the target's deviation."""
        mean = self.mean(X)
        return self.warped.mean_in_units(mean, mean if self.warped.is_plain else self.variance(X))

    def leave_one_out(self) -> FloatArray:
        """Return the prediction for each row from all others, or from all other groups."""
        inverse = lapack.dpotri(self.factor, lower=1)[0]
        if self.shared is not None:
            symmetric = np.tril(inverse) + np.tril(inverse, -1).T
            return self.warped.mean_in_units(*self.shared.leave_out(self._target, self.alpha, symmetric))
        diagonal = inverse.diagonal()
        return self.warped.mean_in_units(self._target - self.alpha / diagonal, 1 / diagonal)


@dataclass(frozen=True)
class Guess:
    """A prediction that ignores the inputs: the mean of the rows, and their quantiles; its share in a mixture."""

    share: float
    y: FloatArray

    def mix(self, predicted: FloatArray, guess: FloatArray | float) -> FloatArray:
        """Move predictions towards a guess."""
        return np.asarray((1 - self.share) * predicted + self.share * guess)


NO_GUESS = Guess(0.0, np.zeros(1))


@dataclass(frozen=True)
class Mixture:
    """Predictions of members, mixed with weights, and moved towards a guess."""

    regressions: tuple[Regression, ...]
    weights: FloatArray
    left_out: FloatArray  # the prediction for each row from all others, in units of the target's deviation
    guess: Guess = NO_GUESS

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the mean at each input, in units of the target's deviation."""
        found = self.weights @ np.array([each.predict(X) for each in self.regressions])
        return self.guess.mix(found, float(self.guess.y.mean()))

    def quantile(self, X: FloatArray, normal: float) -> FloatArray:
        """Return a quantile of a noisy observation at each input; ``normal`` is that of a standard normal variable."""
        each = [r.warped.in_units(r.mean(X) + normal * np.sqrt(r.variance(X))) for r in self.regressions]
        return self.guess.mix(self.weights @ np.array(each), float(np.quantile(self.guess.y, ndtr(normal))))


def mix(
    members: list[Member],
    X: FloatArray,
    y: FloatArray,
    errors: FloatArray | None = None,
    groups: Groups | None = None,
) -> Mixture:
    """Learn from rows with all members, and give them and the mean of the rows the weights that are best on rows left out.

    Rows with the same number in ``groups`` are left out together.
    """
    weights = None if errors is None else noise_weights(errors)
    regressions = tuple(Regression.of(member, (X, y, weights), groups) for member in members)
    own = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    mean_of_others = ((y.sum() - np.bincount(own, y)) / (len(y) - np.bincount(own)))[own]
    left_out = np.array([*(each.leave_one_out() for each in regressions), mean_of_others])
    best = stack(left_out, y)
    return Mixture(regressions, best[:-1] / best[:-1].sum(), best @ left_out, Guess(float(best[-1]), y))


def stack(predictions: FloatArray, y: FloatArray) -> FloatArray:
    """Return weights of predictions, one row each, with the least squared error, drawn to equal ones if it does not matter."""
    residuals = predictions - y
    products = residuals @ residuals.T
    count, scale = len(predictions), len(y) / products.diagonal().min()

    def loss(logs: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        slope = scale * products @ weights
        information = np.log(np.maximum(weights * count, 1e-12))
        gradient = slope + _PULL * (information + 1)
        value = 0.5 * float(weights @ slope) + _PULL * float(weights @ information)
        return value, weights * (gradient - weights @ gradient)

    logs = minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B").x
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
