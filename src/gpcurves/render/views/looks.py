"""How each curve is drawn: its colour, dashes and width, and the heading of the legend under which it is listed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpcurves.curve import LearningCurve
from gpcurves.methods import METHODS, Kind, Scope
from gpcurves.render.scene import Stroke

Curves = Mapping[str, LearningCurve]
# colours that colour-blind readers can tell apart
PALETTE = ("#0072B2", "#CC79A7", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#6A3D9A")
_SEQUENCE = ("#440154", "#31688e", "#35b779", "#e8c319")
_DASHES = ("dash", "dot", "dashdot", "longdash")
_EITHER = ("solid", "dot", "solid", "dash")
"""Approximations that follow each other in a picture often coincide: the second is seen on top of the first."""
TRUTH, ASIDE, SPARSE, EXACT = "simulated truth", "for a modified problem", "few inducing points", "exact"
_LOOKS: dict[str, tuple[float, list[tuple[str, str]]]] = {
    "approximations": (2.2, [(colour, dash) for dash in ("", "dashdot", "longdash") for colour in PALETTE]),
    "lower bounds": (1.4, [(colour, dash) for colour in ("#46525c", "#8795a1") for dash in _DASHES]),
    "upper bounds": (1.4, [(colour, dash) for colour in ("#a0522d", "#d08a5b") for dash in _DASHES]),
    SPARSE: (2.0, [(colour, dash) for dash in ("", "dashdot") for colour in reversed(PALETTE)]),
    EXACT: (1.8, [(colour, dash) for colour in ("#7a4f9a", "#b08fc7") for dash in ("solid", "dashdot", "longdash")]),
    ASIDE: (1.6, [(colour, dash) for colour in ("#8a8a2a", "#b5b554") for dash in ("dot", "dashdot", "longdash")]),
    TRUTH: (1.5, [(colour, "solid") for colour in ("#000000", *PALETTE)]),
}
"""Width, colours and dashes under each heading of the legend; an empty dash stands for the next of the above."""


def kind_of(curve: LearningCurve) -> Kind:
    """Return what a curve is in relation to the truth; a method that is not known here counts as an approximation."""
    return METHODS[curve.method].kind if curve.method in METHODS else Kind.APPROXIMATION


def heading_of(name: str) -> str:
    """Return the heading under which a legend lists the curves of a method."""
    if name not in METHODS:
        return "approximations"
    method = METHODS[name]
    if method.kind is Kind.ESTIMATE:
        return TRUTH
    if method.scope is Scope.SPARSE:
        return SPARSE
    if method.scope in (Scope.MODIFIED, Scope.OTHER_PROBLEM):
        return ASIDE
    return EXACT if method.kind is Kind.EXACT else f"{method.kind.value}s"


def strokes(curves: Curves) -> dict[str, Stroke]:
    """Return how each curve is drawn, so that no two look the same."""
    if len({curve.method for curve in curves.values()}) < len(curves):
        return _of_sweep(curves)
    chosen: dict[str, Stroke] = {}
    taken: dict[str, list[tuple[str, str]]] = {group: [] for group in _LOOKS}
    for label, curve in curves.items():
        group = heading_of(curve.method)
        width, looks = _LOOKS[group]
        # a method has the look of its position among those of its group, so that it looks the same in every picture
        same = [name for name, method in METHODS.items() if curve.axis in method.axes and heading_of(name) == group]
        first = same.index(curve.method) % len(looks) if curve.method in same else len(same)
        look = next((look for look in looks[first:] + looks if look not in taken[group]), looks[0])
        chosen[label] = Stroke(look[0], look[1] or _EITHER[len(taken[group]) % len(_EITHER)], width)
        taken[group].append(look)
    return chosen


def _of_sweep(curves: Curves) -> dict[str, Stroke]:
    """Give each setting a colour and each method a dash pattern."""
    methods = list(dict.fromkeys(curve.method for curve in curves.values() if kind_of(curve) is not Kind.ESTIMATE))
    everyone = list(curves.values())
    settings: dict[str, tuple[int, int]] = {}
    for at, (label, curve) in enumerate(curves.items()):
        same = [k for k, other in enumerate(everyone) if other.problem == curve.problem]
        settings[label] = same[0], sum(everyone[k].method == curve.method for k in same if k < at)
    # a bound that is there once, among several problems, holds for all of them: it has the colour of bounds
    shared = {
        label: _LOOKS[heading_of(curve.method)][1][0][0]
        for label, curve in curves.items()
        if heading_of(curve.method).endswith("bounds") and sum(c.method == curve.method for c in everyone) == 1
    }
    distinct = sorted({setting for label, setting in settings.items() if label not in shared})
    colours = PALETTE if len(distinct) <= len(PALETTE) else _sequence(len(distinct))
    dashes = ("solid", *_DASHES)
    return {
        label: Stroke(
            shared.get(label) or colours[distinct.index(settings[label])],
            dashes[methods.index(curve.method) % len(dashes)] if curve.method in methods else "solid",
            _LOOKS[heading_of(curve.method)][0],
        )
        for label, curve in curves.items()
    }


def _sequence(count: int) -> list[str]:
    """Return colours from dark blue to yellow, for settings that are too many to have colours of their own."""
    at, stops = np.linspace(0, len(_SEQUENCE) - 1, count), range(len(_SEQUENCE))
    channels = [[int(colour[i : i + 2], 16) for colour in _SEQUENCE] for i in (1, 3, 5)]
    mixed = np.rint([np.interp(at, stops, channel) for channel in channels]).astype(int)
    return ["#" + "".join(f"{part:02x}" for part in colour) for colour in mixed.T]
