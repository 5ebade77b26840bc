"""Bounds that need the spectrum alone (and the prior variance): lower ones, and the upper ones of Opper and of TWO.

Sources: Sollich & Halees 2002 (SH02), Sollich 1999 (S99); see ``docs/theory/bounds.md``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.designs import Random
from gpcurves.errors import InputError
from gpcurves.methods.base import METHODS, Kind, Scope, formula, gives, needs_noise
from gpcurves.methods.formulas.parametric import Scaled
from gpcurves.numerics.roots import bisect
from gpcurves.numerics.validation import FloatArray, points
from gpcurves.problem import Problem
from gpcurves.spectra import Spectrum


def _is_homogeneous(problem: Problem, quantity: str | None = None) -> bool:
    """Tell whether all inputs of a problem are alike, so that bounds for averages hold for every choice of inputs."""
    return problem.kernel is not None and problem.inputs.homogeneous(problem.kernel)


def _informs_of_designs(problem: Problem, quantity: str | None) -> bool:
    return quantity in (None, "information") and _is_homogeneous(problem)


def _given_graph(problem: Problem) -> str | None:
    return (
        None
        if problem.ensemble is None
        else "an ensemble of graphs has no eigenvalues of its own: it needs a given graph"
    )


def _examples(problem: Problem, sizes: FloatArray, *, integers: bool = False) -> FloatArray:
    """Return numbers of examples: on a graph sizes are per vertex, and bounds that need integers take the next one."""
    n = sizes * problem.examples_per_size
    return np.ceil(n - 1e-9) if integers else n


def _is_aside(problem: Problem) -> bool:
    return problem.axis == "nu" and (problem.ensemble is not None or problem.design == Random())


_ON_GRAPHS: dict[str, Any] = {"axes": ("n", "nu"), "aside": _is_aside}
"""Bounds that hold on given graphs too, where they are asked for by name, or come with chosen inputs."""


@formula(
    "mw",
    "Micchelli-Wahba",
    Kind.LOWER_BOUND,
    scope=Scope.EVERY_DATASET,
    promise="holds for every data set, at any noise; tight only for small n",
    source="Sollich & Halees 2002, eq. (18)",
    needs="integer n",
    conditions=(_given_graph,),
    integers=True,
    **_ON_GRAPHS,
)
def micchelli_wahba(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_{i>n}\lambda_i`, SH02 (18)."""
    return problem.spectrum.beyond(_examples(problem, n, integers=True))


def _budget(problem: Problem) -> float:
    """Return the prior variance of an example: the average one, or the largest if inputs are chosen."""
    largest = None if problem.design == Random() else problem.largest_variance
    return problem.spectrum.trace if largest is None else largest


def _knows_budget(problem: Problem) -> str | None:
    return None if problem.design == Random() else _needs_largest_variance(problem)


def _needs_largest_variance(problem: Problem) -> str | None:
    if problem.largest_variance is not None:
        return None
    return "the prior variance C(x, x) must have a known maximum, as for stationary kernels and discrete inputs"


@formula(
    "plaskota",
    "Plaskota",
    Kind.LOWER_BOUND,
    scope=Scope.EVERY_DATASET,
    promise="holds for every data set if the prior variance is uniform, otherwise for the average over data sets",
    source="Sollich & Halees 2002, eqs. (19) and (42)",
    needs="integer n; if inputs are chosen, a prior variance with a known maximum",
    conditions=(_given_graph, _knows_budget),
    integers=True,
    **_ON_GRAPHS,
)
def plaskota(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\frac{\sigma^2}{S+k\sigma^2}(\sum_{i\le k}\sqrt{\lambda_i})^2 + \sum_{i>k}\lambda_i`, SH02 App. B.

    `k` is the largest number up to `n` with :math:`\eta_k > 0`, eq. (42), and :math:`S = n\,\mathrm{tr}\Lambda`. That is
    :math:`S/\sigma^2 > \sum_{j\le k}(\sqrt{\lambda_j/\lambda_k} - 1)`, whose right side increases with `k`. The bound is
    convex in `S`, so that the mean of `S` bounds the average error if the prior variance is not uniform. Of inputs that are
    chosen, `S` may be `n` times the largest prior variance, which bounds the error of every choice. Without
    noise `k = n` and the bound is that of Micchelli and Wahba.
    """
    n = _examples(problem, n, integers=True)
    return _plaskota(problem, n, n * _budget(problem))


def plaskota_bound(problem: Problem, X: npt.ArrayLike) -> FloatArray:
    r"""Return Plaskota's lower bound on the error for the inputs that you have: before the first, and after each of them.

    It depends on them only through their prior variances, :math:`S = \sum_{l\le n} C(x_l,x_l)`. If the prior variance is
    uniform, it equals the method "plaskota". Otherwise the method bounds the average over data sets, and this function your
    data set.

    Parameters
    ----------
    problem
        A problem on vectors with a kernel.
    X
        Training inputs, one per row.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.plaskota_bound(problem, [[0.1], [0.5], [0.9]]).round(3)
    array([1.   , 0.761, 0.565, 0.369])
    """
    if problem.kernel is None or problem.axis != "n":
        raise InputError("a bound for given inputs needs a problem on vectors with a kernel")
    method = METHODS["plaskota"]
    rows = points("X", X)
    method.refuse(method.objection(problem))
    if rows.shape[1] != problem.inputs.dim:
        raise InputError(f"X must have {problem.inputs.dim} columns as the inputs, got {rows.shape[1]}")
    known = np.concatenate(([0.0], np.cumsum(problem.inputs.variances(problem.kernel, rows))))
    return _plaskota(problem, np.arange(len(rows) + 1.0), known)


def _plaskota(problem: Problem, n: FloatArray, budget: FloatArray) -> FloatArray:
    """Return the bound for n inputs whose prior variances sum to ``budget``."""
    spectrum, noise = problem.spectrum, problem.noise
    if noise == 0:
        return spectrum.beyond(n)
    with np.errstate(over="ignore"):  # tiny noise: infinity means that every observation is worth while
        k = np.minimum(n, _count_worth_observing(spectrum, budget / noise))
    return noise / np.where(n > 0, budget + k * noise, 1.0) * spectrum.root_sum(k) ** 2 + spectrum.beyond(k)


def _count_worth_observing(spectrum: Spectrum, ratio: FloatArray) -> FloatArray:
    """Return how many eigenfunctions are worth observing, given S / noise and any number of observations."""
    root = np.sqrt(spectrum.values)
    before = np.concatenate(([0.0], np.cumsum(spectrum.multiplicities)))
    # increasing in exact arithmetic; rounding must not make it fall, or the search below would go astray
    deficit = np.maximum.accumulate(spectrum.root_sum(before[:-1]) / root - before[:-1])
    k: FloatArray = before[np.searchsorted(deficit, ratio)]
    if spectrum.tail is not None and (deep := k >= before[-1]).any():
        tail = spectrum.tail

        def too_many(log_index: FloatArray) -> npt.NDArray[np.bool_]:
            index = np.exp(log_index)
            deficit = spectrum.root_sum(index) * np.exp(-tail.log_eigenvalue(index) / 2) - index
            return np.asarray(deficit >= ratio[deep])

        start, end = (np.full(int(deep.sum()), math.log(index)) for index in (before[-1], tail.edges[-1]))
        k[deep] = np.exp(bisect(too_many, start, end, 60)[0])
    return k


@formula(
    "ov",
    "Opper-Vivarelli",
    Kind.LOWER_BOUND,
    promise=(
        "holds for the average error, and for every data set if inputs are homogeneous (a torus, a walk-regular "
        "graph); tight for large noise and for large n, vacuous as the noise vanishes"
    ),
    source="Sollich & Halees 2002, eq. (9); for every data set docs/theory/designs.md",
    conditions=(_given_graph,),
    **_ON_GRAPHS,
    every_design=_is_homogeneous,
)
def opper_vivarelli(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`g(n/\sigma^2)`, SH02 (9); exact for :math:`\sigma^2 \to \infty` at fixed :math:`n/\sigma^2`."""
    scaled = Scaled(problem)
    return scaled.unit * scaled.g(_ratio(scaled, _examples(problem, n)))


@formula(
    "lo",
    "lower Opper",
    Kind.LOWER_BOUND,
    promise="holds for the average error; always below OV, kept for comparison",
    source="Sollich 1999, section 3",
    every_design=_is_homogeneous,
)
def lower_opper(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\frac14\sum\frac{\lambda}{1+b\lambda}(1 + \frac1{1+b\lambda})`, :math:`b = 2n/\sigma^2`, S99."""
    scaled = Scaled(problem)

    def bound(b: FloatArray) -> FloatArray:
        q = 1 / (1 + np.multiply.outer(b, scaled.values))
        return 0.25 * (q * (1 + q)) @ scaled.masses

    return scaled.unit * scaled.by_rows(bound, 2 * _ratio(scaled, n))


@formula(
    "uo",
    "upper Opper",
    Kind.UPPER_BOUND,
    scope=Scope.MODIFIED,
    promise="bounds a modified error that never exceeds twice the noise; uninformative if the error is above the noise",
    source="Sollich & Halees 2002, eq. (20)",
    needs="noise > 0",
    conditions=(needs_noise,),
)
def upper_opper(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\frac{\sigma^2}{n} T(n/\sigma^2) + g(n/\sigma^2)`, SH02 (20); twice the trace at `n = 0`."""
    scaled = Scaled(problem)
    h = _ratio(scaled, n)
    return scaled.unit * (scaled.g(h) + _mean_log(scaled, h))


@formula(
    "info",
    "information gain",
    Kind.UPPER_BOUND,
    promise=(
        "holds for the average error, at any noise and n; loose, meant for large n in place of UO. As a bound on the "
        "information gain it holds for every data set if inputs are homogeneous"
    ),
    source="gpcurves, docs/theory/bounds.md (after Opper 1997)",
    needs="noise > 0, a prior variance with a known maximum",
    conditions=(_given_graph, needs_noise, _needs_largest_variance),
    **_ON_GRAPHS,
    every_design=_informs_of_designs,
)
def information_gain(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\frac{c}{\ln(1+c/\sigma^2)}\,\frac{T((n+1)/\sigma^2)}{n+1}` with :math:`C(x,x) \le c`.

    The chain rule gives :math:`\sum_{m\le n}\langle\ln(1+\epsilon_m/\sigma^2)\rangle \le T((n+1)/\sigma^2)`; each term is
    at least the last; and :math:`\ln(1+\epsilon/\sigma^2) \ge (\epsilon/c)\ln(1+c/\sigma^2)` for
    :math:`0\le\epsilon\le c`.
    """
    scaled = Scaled(problem)
    largest = problem.largest_variance
    assert largest is not None  # a condition of the method
    ratio = largest / problem.noise
    gain = math.log1p(ratio) if ratio < math.inf else math.log(largest) - math.log(problem.noise)
    # T(h)/(n+1) = T(h)/h / noise
    return largest / gain * _mean_log(scaled, _ratio(scaled, _examples(problem, n) + 1)) / scaled.noise


@gives("information", "info")
def most_information(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\frac12T(n/\sigma^2)`: :math:`\ln\det` is concave, so that its average is at most that of the average."""
    scaled = Scaled(problem)
    with np.errstate(over="ignore"):
        return scaled.T(_examples(problem, n) / problem.noise) / 2


@formula(
    "two",
    "Trecate-Williams-Opper",
    Kind.UPPER_BOUND,
    promise="holds for the average error; exact at n = 1 if the prior variance is uniform",
    source="Sollich & Halees 2002, eq. (24)",
)
def trecate_williams_opper(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_i \lambda_i(c_i - n\lambda_i)/c_i`, :math:`c_i = (n-1)\lambda_i+\sigma^2+v_i`, SH02 (24).

    :math:`v_i = \langle C(x,x)\phi_i^2(x)\rangle`, the trace if the prior variance is uniform. The sum is of positive
    terms, since :math:`v_i \ge \lambda_i`. Eigenvalues beyond the list count in full if their :math:`v_i` is unknown,
    which keeps the bound.
    """
    spectrum, noise = problem.spectrum, problem.noise
    if "variance" in spectrum.channels:
        values, overlaps = spectrum.values, spectrum.channels["variance"]
        mass = values * spectrum.multiplicities
        gap = noise + overlaps - values
        listed: FloatArray = (gap / (gap + np.multiply.outer(n, values))) @ mass
        return listed + (spectrum.trace - float(mass.sum()) if spectrum.tail is not None else 0.0)
    scaled = Scaled(problem)
    # noise + trace - value, without cancellation if one eigenvalue is nearly all of the trace
    others = float(scaled.masses[1:].sum()) + float(scaled.multiplicities[0] - 1) * float(scaled.values[0])
    gap = scaled.noise + others + (scaled.values[0] - scaled.values)

    def bound(n: FloatArray) -> FloatArray:
        return np.asarray((gap / (gap + np.multiply.outer(n, scaled.values))) @ scaled.masses)

    return scaled.unit * scaled.by_rows(bound, n)


def _ratio(scaled: Scaled, n: FloatArray) -> FloatArray:
    """Return n / noise; without noise infinity, but 0 at n = 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(n > 0, n / np.float64(scaled.noise), 0.0)


def _mean_log(scaled: Scaled, h: FloatArray) -> FloatArray:
    """Return T(h) / h, the trace at h = 0."""

    def mean(part: FloatArray) -> FloatArray:
        x = np.multiply.outer(part, scaled.values)
        small = x < 1e-200  # there the quotient is 1, and 0/0 at h = 0
        return (np.where(small, 1.0, np.log1p(x) / np.where(small, 1.0, x))) @ scaled.masses

    return scaled.by_rows(mean, h)
