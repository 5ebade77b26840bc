"""Curves with inducing points: along n, one line per m; along m at one n; or the plane of both in colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.inducing import InducingGoal
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.page import table
from gpcurves.render.scene import Axis, Cells, Scene, Stroke, Text, plain

COLOURS = ("#440154", "#31688e", "#35b779", "#fde725")
_ENOUGH = 4  # numbers of examples and of inducing points from which on a plane shows more than lines do
_MOST_WRITTEN = 10  # cells in a row up to which numbers fit into them
_MARK = "#B3261E"


def unfold(curves: CurveSet) -> tuple[CurveSet, str]:
    """Return curves that are lines along one axis, and which: "m" if inducing points vary and n does not.

    Those without inducing points become level lines along m.
    """
    sparse = [curve for curve in curves.values() if curve.m is not None]
    if not sparse:
        return curves, curves.axis
    examples = {float(n) for curve in sparse for n in curve.n}
    counts = np.unique(np.concatenate([curve.m for curve in sparse if curve.m is not None]))
    if len(examples) == 1 and len(counts) > 1:
        (n,) = examples
        lines = {label: _along_m(curve, n, counts) for label, curve in curves.items()}
        return CurveSet({label: line for label, line in lines.items() if line is not None}, curves.skipped), "m"
    apart: dict[str, LearningCurve] = {}
    for label, curve in curves.items():
        own = [] if curve.m is None else list(dict.fromkeys(curve.m.tolist()))
        if len(own) < 2 or len(own) == len(np.unique(curve.sizes)) == len(curve.sizes):  # without a list, m follows n
            apart[label] = curve
        else:
            apart |= {f"{label}, m {m:g}": curve.at(m=m) for m in own}
    return CurveSet(apart, curves.skipped), curves.axis


def _along_m(curve: LearningCurve, n: float, counts: FloatArray) -> LearningCurve | None:
    """Return a curve whose sizes are numbers of inducing points, or None if it has no value at this n."""
    if curve.m is not None:
        return replace(curve, sizes=curve.m)
    if n not in curve.n:
        return None
    error, stderr = curve.error[curve.n == n][0], None if curve.stderr is None else curve.stderr[curve.n == n][0]
    level = np.full(len(counts), error), None if stderr is None else np.full(len(counts), stderr)
    return replace(
        curve, sizes=counts, error=level[0], stderr=level[1], spectrum_error=None, details={}, diagnostics={}
    )


def is_plane(curves: CurveSet) -> bool:
    """Tell whether a single curve has many numbers of examples and many of inducing points."""
    (first, *others) = curves.values()
    if others or first.m is None or len(np.unique(first.m)) < _ENOUGH or len(np.unique(first.n)) < _ENOUGH:
        return False
    return len(np.unique(first.m)) * len(np.unique(first.n)) == len(first.error)


def plane_scene(curve: LearningCurve, title: str, goals: Sequence[InducingGoal]) -> Scene:
    """Return the errors of a curve in the plane of n and m, as colours and, if there is room, as numbers."""
    assert curve.m is not None
    n, m = np.unique(curve.n[curve.n > 0]), np.unique(curve.m)
    values = np.full((len(m), len(n)), np.nan)
    for size, count, error in zip(curve.n.tolist(), curve.m.tolist(), curve.error.tolist(), strict=True):
        if size > 0:
            values[np.searchsorted(m, count), np.searchsorted(n, size)] = error
    x, y = _edges(n), _edges(m)
    axes = [
        Axis(f"number of {what}", edges[0], edges[-1], True, short)
        for what, edges, short in (("examples n", x, "n"), ("inducing points m", y, "m"))
    ]
    caption = " ".join([f"Average squared error of {curve.method}; colours are its logarithm.", *map(str, goals)])
    scene = Scene(axes[0], axes[1], title, caption)
    scene.marks.append(Cells(x, y, values, COLOURS, name=curve.method, layer=1))
    every = (-(-len(m) // _MOST_WRITTEN), -(-len(n) // _MOST_WRITTEN))
    shown = np.log(values[np.isfinite(values)])
    middle = (shown.min() + shown.max()) / 2
    for i in range(0, len(m), every[0]):
        for j in range(0, len(n), every[1]):
            if np.isfinite(values[i, j]):
                ink = "#ffffff" if np.log(values[i, j]) < middle else "#000000"
                words = plain(float(f"{values[i, j]:.2g}"))
                scene.marks.append(Text(float(n[j]), float(m[i]), words, ink, "center", "center", halo=False))
    for goal in goals:
        if x[0] <= goal.n <= x[-1] and y[0] <= goal.m <= y[-1]:
            name = f"{goal.m:,} inducing points are within {100 * goal.excess:g} % of the full GP"
            scene.add_diamond(goal.n, goal.m, _MARK, 7.0, name)
    return scene


def mark_goals(scene: Scene, goals: Sequence[InducingGoal], axis: str) -> None:
    """Draw an upright line along m at each number of inducing points that is enough, with the methods that say so."""
    enough = sorted({goal.m for goal in goals if axis == "m" and scene.x.low <= goal.m <= scene.x.high})
    for m in enough:
        scene.add_upright(m, Stroke(_MARK, "solid", 1.2))
    for m in enough:
        said = ", ".join(goal.method for goal in goals if goal.m == m)
        # beside the last line, so that no line crosses the words
        scene.label_point(enough[-1], scene.y.at(0.9), f"m = {m:,} is enough ({said})", _MARK)


def claims(curves: CurveSet) -> str:
    """Return a table of what approximations report as their own error, beside what it is."""
    rows = []
    for label, curve in curves.items():
        if curve.m is None:
            continue
        every = np.unique(np.linspace(0, len(curve.error) - 1, 12).round().astype(int))
        for k in every.tolist():
            has, said = float(curve.error[k]), float(curve.details["claimed"][k])
            if np.isfinite(has):
                rows.append(
                    [label, f"{curve.n[k]:g}", f"{curve.m[k]:g}", f"{has:.4g}", f"{said:.4g}", f"{said / has:.2f}"]
                )
    head = ("curve", "n", "m", "error", "predictive variance", "variance / error")
    return table("What each approximation reports, and what its error is", head, rows) if rows else ""


def _edges(values: FloatArray) -> FloatArray:
    """Return the edges of cells around values, in the middle between neighbours on a logarithmic scale."""
    logs = np.log(values)
    inner = (logs[1:] + logs[:-1]) / 2
    return np.exp(np.concatenate(([2 * logs[0] - inner[0]], inner, [2 * logs[-1] - inner[-1]])))
