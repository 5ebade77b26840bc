"""Errors of groups of vertices, such as communities, as curves of their own beside the average over all vertices."""

from __future__ import annotations

from dataclasses import replace

from gpcurves.curve import CurveSet, LearningCurve

_ERROR, _STDERR = "error ", "stderr "


def unfold(curves: CurveSet) -> CurveSet:
    """Return the curves, each followed by those of the groups of vertices that were asked for besides."""
    apart: dict[str, LearningCurve] = {}
    for label, curve in curves.items():
        apart[label] = curve
        for name, error in curve.details.items():
            if not name.startswith(_ERROR):
                continue
            group = name.removeprefix(_ERROR)
            stderr = curve.details.get(f"{_STDERR}{group}")
            apart[f"{label}, {group}"] = replace(
                curve, error=error, stderr=stderr, spectrum_error=None, details={}, diagnostics={}
            )
    return CurveSet(apart, curves.skipped)
