"""Finished results in; pictures, tables, data and pages out. The package loads this module when a result is first shown."""

from __future__ import annotations

from typing import Any

from gpcurves.numerics.display import Display
from gpcurves.render.formats import save
from gpcurves.render.views import view_of

__all__ = ["notebook", "plot", "save"]


def plot(result: Any, ax: Any = None, **options: Any) -> Display:
    """Draw a result into ``ax``, or into a new figure."""
    return view_of(result, **options).draw(ax)


def notebook(result: Any) -> str:
    """Return what a notebook shows of a result, as HTML."""
    return view_of(result).notebook()
