r"""Guarantees: what is certain about the error of a model, with a probability that you choose, beside the error that is expected.

Rows that were held out, with `m` models of which the best may be chosen afterwards, losses between 0 and 1, and :math:`\delta` = 1 - confidence:

* Hoeffding: :math:`L \le \hat L + \sqrt{\ln(m/\delta)/2n}` (any loss between 0 and 1);
* Chernoff: :math:`\mathrm{kl}(\hat L\|L) \le \ln(m/\delta)/n` (any such loss; never worse than Hoeffding);
* the binomial tail: the largest `L` for which as few mistakes have a probability of :math:`\delta/m` (losses 0 or 1; exact).

PAC-Bayes needs no held-out rows: for a classifier that draws functions from the posterior, with probability :math:`1-\delta`
:math:`\mathrm{kl}(\hat L\|L) \le (\mathrm{KL}+\ln\frac{n+1}{\delta})/n`, with KL from the prior to the posterior (McAllester, Seeger 2002).

Bounds by the VC dimension say nothing here: see `WHY_NOT_VC`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import scipy

from gpcurves.api import learning_curve
from gpcurves.errors import GPCurvesError, InputError, check_name
from gpcurves.methods import METHODS
from gpcurves.methods.simulation.inference import Belief, laplace
from gpcurves.numerics.cholesky import invert_lower
from gpcurves.numerics.roots import bisect
from gpcurves.numerics.validation import FloatArray, as_numbers, integer, nonnegative, real
from gpcurves.problem import Problem

By = Literal["binomial", "chernoff", "hoeffding"]
WAYS: tuple[By, ...] = ("binomial", "chernoff", "hoeffding")
WHY_NOT_VC = (
    "VC bounds are vacuous here: a Gaussian process with a kernel such as RBF can fit any labels, so its VC "
    "dimension is infinite and the bound exceeds 1 for every number of rows."
)
_MOST_ROWS = 10**9
_SCAN = 20_000  # rows up to which the fewest are found one by one: a step of one mistake makes the answer a sawtooth


def _between(name: str, value: object) -> float:
    number = real(name, value)
    if not 0 < number < 1:
        raise InputError(f"{name} must be greater than 0 and less than 1, got {number:g}")
    return number


def _share(name: str, value: object) -> float:
    number = nonnegative(name, value)
    if number > 1:
        raise InputError(f"{name} must be between 0 and 1, got {number:g}")
    return number


@dataclass(frozen=True)
class Certificate:
    """An upper bound on the error of a model that holds with a given confidence, from rows that it was not trained on.

    Attributes
    ----------
    bound
        The error is at most this, except with probability 1 - confidence.
    observed
        The error on the held-out rows, the best estimate.
    rows, confidence, models, by
        The number of rows, the confidence, the number of models, and the bound that was used.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> certificate = gpc.certificate(3, 100)
    >>> certificate.observed, round(certificate.bound, 3)
    (0.03, 0.076)
    """

    bound: float
    observed: float
    rows: int
    confidence: float
    models: int
    by: By

    def __str__(self) -> str:
        best = "" if self.models == 1 else f" of the one you choose among {self.models:,} models"
        return (
            f"With {100 * self.confidence:g} % confidence the error{best} is at most {self.bound:.4g}; on {self.rows:,} held-out "
            f"rows it was {self.observed:.4g}."
        )


def certificate(
    mistakes: float, rows: int, *, confidence: float = 0.95, models: int = 1, by: By = "binomial"
) -> Certificate:
    """Return an upper bound on a model's error from rows that were held out.

    Parameters
    ----------
    mistakes
        How many of the held-out rows the model gets wrong; the sum of losses between 0 and 1 if ``by`` is not "binomial".
    rows
        How many rows were held out.
    confidence
        Probability with which the bound holds, over the choice of held-out rows.
    models
        Number of models compared on these rows; the bound holds for all of them simultaneously, and so for the best.
    by
        "binomial" (exact, for mistakes), "chernoff" or "hoeffding" (for losses between 0 and 1).

    Examples
    --------
    >>> import gpcurves as gpc
    >>> round(gpc.certificate(3, 100).bound, 4)
    0.0757
    """
    count = integer("rows", rows, 1, _MOST_ROWS)
    wrong = nonnegative("mistakes", mistakes)
    if wrong > count:
        raise InputError(f"mistakes must be at most the number of rows, {count:,}, got {wrong:g}")
    way = check_name("bound", by, WAYS)
    if way == "binomial" and not wrong.is_integer():
        raise InputError(f"mistakes must be an integer, got {wrong:g}: for a sum of losses give by='chernoff'")
    level, several = _between("confidence", confidence), integer("models", models, 1)
    bound = _upper(np.array(wrong), np.array(float(count)), (1 - level) / several, way)
    return Certificate(float(bound), wrong / count, count, level, several, way)


def _upper(wrong: FloatArray, rows: FloatArray, chance: float, by: By) -> FloatArray:
    """Return the bound on the error that fails with a probability of at most ``chance``."""
    share, logarithm = wrong / rows, math.log(1 / chance)
    if by == "hoeffding":
        return np.minimum(share + np.sqrt(logarithm / (2 * rows)), 1.0)
    if by == "chernoff":
        return invert_kl(share, logarithm / rows)
    # P(at most k mistakes) = I_{1-L}(n - k, k + 1) falls with L (Clopper & Pearson)
    left = np.maximum(rows - wrong, 1e-300)
    return np.where(wrong >= rows, 1.0, scipy.special.betaincinv(wrong + 1, left, 1 - chance))


def invert_kl(share: FloatArray | float, amount: FloatArray | float) -> FloatArray:
    r"""Return the largest `L` with :math:`\mathrm{kl}(\hat L\|L) \le` an amount, for the divergence between two coins."""
    observed, allowed = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(amount, dtype=np.float64))
    low, high = observed.copy(), np.ones(observed.shape)
    return bisect(lambda q: coin_divergence(observed, q) > allowed, low, high, 60)[0]


def coin_divergence(p: FloatArray | float, q: FloatArray | float) -> FloatArray:
    """Return the Kullback-Leibler divergence of two coins that show heads with probabilities p and q."""
    return np.asarray(scipy.special.rel_entr(p, q) + scipy.special.rel_entr(1 - np.asarray(p), 1 - np.asarray(q)))


def required_holdout(
    error: float, goal: float, *, confidence: float = 0.95, models: int = 1, by: By = "binomial", power: float = 0.8
) -> int:
    """Return how many rows to hold out so that a certificate says "the error is at most ``goal``".

    Parameters
    ----------
    error
        The error that is expected, for example by `forecast`.
    goal
        The bound that the certificate should have; larger than ``error``.
    confidence, models, by
        As for `certificate`.
    power
        Probability that the held-out rows certify the goal, if the true error equals the expected one.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> gpc.required_holdout(0.05, 0.1)
    179
    """
    expected, aim = _share("error", error), _between("goal", goal)
    if expected >= aim:
        raise InputError(
            f"goal must be greater than the expected error, {expected:g}, got {aim:g}: no number of rows certifies less"
        )
    chance = (1 - _between("confidence", confidence)) / integer("models", models, 1)
    luck, way = _between("power", power), check_name("bound", by, WAYS)
    enough = _is_enough(expected, aim, chance, luck, way)
    high = 1
    while not enough(np.array([high]))[0]:
        high *= 2
        if high > _MOST_ROWS:
            raise InputError(
                f"more than {_MOST_ROWS:,} rows would be needed to certify {aim:g} if {expected:g} is expected"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(np.array([middle]))[0] else (middle, high)
    if high <= _SCAN:
        few = np.arange(1.0, high + 1)
        return int(few[enough(few)][0])
    return high


def _is_enough(
    expected: float, goal: float, chance: float, power: float, by: By
) -> Callable[[FloatArray], np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return whether so many rows give the certificate with the probability asked for."""
    binomial = scipy.special.bdtr  # P(at most k successes of n)

    def enough(rows: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        n = np.asarray(rows, dtype=np.float64)
        # the most mistakes with which the bound is still at most the goal, between -1 (not even 0 mistakes) and n
        low, high = np.full(n.shape, -1.0), np.ceil(n * goal) + 1
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            fine = _upper(np.maximum(np.minimum(middle, n), 0.0), n, chance, by) <= goal
            low, high = np.where(fine & (middle >= 0), middle, low), np.where(fine & (middle >= 0), high, middle)
        most = np.minimum(low, n)
        return np.asarray((most >= 0) & (binomial(np.maximum(most, 0.0), n.astype(int), expected) >= power))

    return enough


@dataclass(frozen=True)
class PacBayes:
    """A bound on the error of a Gaussian process classifier from its training rows alone, without any held out.

    Attributes
    ----------
    bound
        The error of a classifier that draws a function from the posterior for every prediction is at most this.
    training
        The error of that classifier on the training rows.
    divergence
        KL divergence of the posterior from the prior, in nats.
    rows, confidence
        Number of training rows, and the probability with which the bound holds.
    expected
        The error that the learning curve `lc` expects of predictions by the mean, beside the bound; None if it does not apply.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 1))
    >>> problem = gpc.Problem(gpc.RBF(0.3, variance=4), gpc.Box(dim=1), gpc.Probit())
    >>> found = gpc.pac_bayes(problem, X, np.sign(X[:, 0] - 0.5))
    >>> found.training <= found.bound < 1
    True
    """

    bound: float
    training: float
    divergence: float
    rows: int
    confidence: float
    expected: float | None = None

    @property
    def bound_of_mean(self) -> float:
        """Bound on the error of predictions by the sign of the mean: at most twice that of drawn functions."""
        return min(1.0, 2 * self.bound)

    def __str__(self) -> str:
        beside = "" if self.expected is None else f" The learning curve expects {self.expected:.4g}."
        return (
            f"With {100 * self.confidence:g} % confidence the error of a function drawn from the posterior is at most "
            f"{self.bound:.4g} ({self.bound_of_mean:.4g} for predictions by the mean); on the {self.rows:,} training rows it is "
            f"{self.training:.4g}, at {self.divergence:.4g} nats from the prior.{beside}"
        )


def pac_bayes(problem: Problem, X: object, labels: object, *, confidence: float = 0.95) -> PacBayes:
    r"""Return a PAC-Bayes bound for the classifier that Laplace's method gives.

    With :math:`B = 1+W^{1/2}KW^{1/2}` and the mode :math:`\hat f`, the posterior :math:`N(\hat f, (K^{-1}+W)^{-1})` has the divergence
    :math:`\frac12[\ln\det B+\mathrm{tr}B^{-1}-n+\hat f^TK^{-1}\hat f]` from the prior. Kernel and lengthscales must not have been chosen
    by these labels: the prior must be known before.

    Parameters
    ----------
    problem
        A problem with labels of two classes, such as `Probit` or `Logit`.
    X
        Inputs of the training rows, one row each; numbers of vertices on a graph.
    labels
        Their classes, -1 or 1.
    confidence
        Probability with which the bound holds, over the choice of rows.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 1))
    >>> problem = gpc.Problem(gpc.RBF(0.3, variance=4), gpc.Box(dim=1), gpc.Probit())
    >>> round(gpc.pac_bayes(problem, X, np.sign(X[:, 0] - 0.5)).bound, 2)
    0.22
    """
    if not isinstance(problem, Problem):
        raise InputError(f"a problem must be a Problem with classes, got {type(problem).__name__}")
    if not problem.observation.classes:
        raise InputError(f"a PAC-Bayes bound is for classes, such as Probit(), but labels are {problem.observation!r}")
    if problem.kernel is None or problem.ensemble is not None:
        raise InputError(
            "a PAC-Bayes bound needs covariances of rows: give a problem with a kernel, on a given graph if on any"
        )
    level = _between("confidence", confidence)
    rows = as_numbers(X, "inputs must be numbers, a row per training row")
    rows = rows[:, None] if rows.ndim == 1 else rows
    y = as_numbers(labels, "labels must be numbers, -1 or 1")
    if rows.ndim != 2 or y.shape != (len(rows),) or len(y) == 0:
        raise InputError(f"labels must be one per row of inputs ({len(rows)}), got {y.size}")
    if not np.isfinite(rows).all() or rows.shape[1] != problem.inputs.dim:
        raise InputError(
            f"inputs must be finite numbers with {problem.inputs.dim} column(s), as those of {problem.inputs!r}"
        )
    if not np.isin(y, (-1.0, 1.0)).all():
        raise InputError("labels must be -1 or 1, but some are neither")
    K = np.ascontiguousarray(problem.inputs.kernel_matrix(problem.kernel, rows))  # as inference needs it
    belief = laplace(K, y, problem.observation)
    mean, variance = belief.at_examples()
    training = float(scipy.special.ndtr(-y * mean / np.sqrt(variance)).mean())
    divergence, n = posterior_divergence(belief), len(y)
    bound = float(invert_kl(training, (divergence + math.log((n + 1) / (1 - level))) / n))
    return PacBayes(bound, training, divergence, n, level, _expected(problem, n))


def posterior_divergence(belief: Belief) -> float:
    """Return the KL divergence of a Gaussian posterior from the prior, in nats."""
    inverse = np.tril(invert_lower(belief.L))
    log_det = 2 * float(np.log(belief.L.diagonal()).sum())
    energy = float(belief.weights @ belief.K @ belief.weights)
    return 0.5 * (log_det + float(np.square(inverse).sum()) - len(belief.K) + energy)


def _expected(problem: Problem, n: int) -> float | None:
    try:
        method = METHODS["lc" if problem.axis == "n" else "eigenvalue"]
        return float(learning_curve(problem, method, [n], quantity="error-rate").error[0])
    except GPCurvesError:
        return None


def to_dict(result: Certificate | PacBayes) -> dict[str, Any]:
    """Return a guarantee as plain data."""
    return asdict(result) | {"sentence": str(result)}
