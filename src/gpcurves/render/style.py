"""How each kind of curve is drawn, for pictures and pages alike: colours that colour-blind readers can tell apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpcurves.api import METHODS
from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.methods import Kind, Scope
from gpcurves.numerics.validation import FloatArray

REGION = "#dfe8f1"
_LOWER, _UPPER, _OTHER, _TRUTH = "#46525c", "#a0522d", "#8a8a2a", "#000000"
_APPROXIMATIONS = {
    "lc": "#0072B2",
    "eigenvalue": "#0072B2",
    "uc": "#D55E00",
    "d": "#009E73",
    "lc1": "#CC79A7",
    "mckay": "#E69F00",
    "cavity": "#D55E00",
    "master": "#CC79A7",
}
_DASHED = {"d": "dash", "lc1": "dot", "mckay": "dash", "cavity": "dash", "master": "dot"}
_MORE = ("#56B4E9", "#E69F00", "#F0E442")
OTHERS = "of something else"
DASHES = ("dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class Style:
    """Colour, dash pattern (in plotly's words), width, and the label of a curve."""

    colour: str
    dash: str
    width: float
    label: str


def kind_of(curve: LearningCurve) -> Kind | None:
    """Return what a curve promises; None for those that estimate the truth."""
    kind = METHODS[curve.method].kind
    return None if kind is Kind.ESTIMATE else kind


def group_of(name: str) -> str:
    """Return the heading under which a legend lists a method."""
    method = METHODS[name]
    if method.kind is Kind.ESTIMATE:
        return "truth"
    if method.kind is Kind.EXACT or method.scope is Scope.MODIFIED:
        return OTHERS
    return f"{method.kind.value}s"


def style_of(curves: CurveSet, name: str) -> Style:
    """Return how the curve of this name is drawn among the others."""
    kind = kind_of(curves[name])
    same = [other for other in curves if kind_of(curves[other]) is kind]
    place = same.index(name)
    if kind is None:
        return Style(_TRUTH, "solid", 1.5, "simulation, ± standard error")
    label = f"{name}: {METHODS[name].title}"
    if kind is Kind.APPROXIMATION:
        colour = _APPROXIMATIONS.get(name, _MORE[place % len(_MORE)])
        return Style(colour, _DASHED.get(name, "solid"), 2.2, label)
    if group_of(name) == OTHERS:
        return Style(_OTHER, "dashdot" if kind is Kind.EXACT else "dot", 1.6, label)
    return Style(_LOWER if kind is Kind.LOWER_BOUND else _UPPER, DASHES[place % len(DASHES)], 1.4, label)


def ascending(curves: CurveSet) -> CurveSet:
    """Return the same curves with their sizes in ascending order, as lines need it."""
    ordered = {}
    for name, curve in curves.items():
        order = np.argsort(curve.sizes, kind="stable")
        stderr = None if curve.stderr is None else curve.stderr[order]
        ordered[name] = replace(
            curve, sizes=curve.sizes[order], error=curve.error[order], stderr=stderr, spectrum_error=None
        )
    return CurveSet(ordered, curves.skipped)


def region(curves: CurveSet) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return n and the edges of the region in which the bounds say that the average error lies.

    The prior variance is an upper bound too: no data set makes a posterior variance larger. None without any bound.
    """
    bounds = [name for name in curves if group_of(name).endswith("bounds")]
    if not bounds:
        return None
    n = curves[bounds[0]].sizes
    same = [name for name in bounds if np.array_equal(curves[name].sizes, n)]
    lower = [curves[name].error for name in same if METHODS[name].kind is Kind.LOWER_BOUND]
    upper = [curves[name].error for name in same if METHODS[name].kind is Kind.UPPER_BOUND]
    prior = np.full(len(n), _prior(curves))
    return n, np.max([np.zeros(len(n)), *lower], axis=0), np.min([prior, *upper], axis=0)


def _prior(curves: CurveSet) -> float:
    """Return the average prior variance, the error before anything is learnt, or 0 where it is not known."""
    problem = curves.problem
    if problem.axis == "nu":
        return 0.0 if problem.true_kernel.normalise == "none" else 1.0
    return problem.spectrum.trace


AXIS_LABELS = {"n": "number of examples n", "nu": "number of examples per vertex ν"}


def logarithmic(curves: CurveSet) -> bool:
    """Tell whether the sizes are better seen on a logarithmic axis: on graphs always, else where n spans decades."""
    sizes = next(iter(curves.values())).sizes
    return len(np.unique(sizes[sizes > 0])) > 1 if curves.problem.axis == "nu" else logarithmic_n(sizes)


def logarithmic_n(n: FloatArray) -> bool:
    """Tell whether n spans decades, and not in equal steps."""
    some = n[n > 0]
    if len(some) < 3 or some.max() < 50 * some.min():
        return False
    steps = np.diff(np.sort(some))
    return bool(steps.max() > 1.5 * steps.min())


def error_limits(curves: CurveSet) -> tuple[float, float]:
    """Return the range of errors worth showing: down to the curves, or to the best bounds where there are only bounds."""
    shown = [c.error for name, c in curves.items() if kind_of(c) in (None, Kind.APPROXIMATION, Kind.EXACT)]
    if not shown:
        allowed = region(curves)
        shown = [c.error for c in curves.values()] if allowed is None else [allowed[1], allowed[2]]
    values = np.concatenate(shown)
    values = values[values > 0]
    top = max(_prior(curves), float(values.max(initial=0.0))) or 1.0
    return max(float(values.min(initial=top)) / 4, top * 1e-15), top * 1.6
