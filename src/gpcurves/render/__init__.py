"""Finished results in; pictures, tables, data and pages out. The package loads this module when a result is first shown."""

from __future__ import annotations

from typing import Any, get_args

from gpcurves.errors import InputError, check_name
from gpcurves.numerics.display import Backend
from gpcurves.render.formats import save
from gpcurves.render.plotly import figure
from gpcurves.render.views import view_of

__all__ = ["notebook", "plot", "save"]
BACKENDS = get_args(Backend)


def plot(result: Any, ax: Any = None, *, backend: Backend = "matplotlib", **options: Any) -> Any:
    """Draw a result with Matplotlib, into ``ax`` or into a new figure, or return it as a figure of Plotly."""
    view = view_of(result, **options)
    if check_name("backend", backend, BACKENDS) == "matplotlib":
        return view.draw(ax)
    if ax is not None:
        raise InputError("ax is for Matplotlib: a figure of Plotly is always a new one")
    return figure(view.scene(), titled=True)


def notebook(result: Any) -> str:
    """Return what a notebook shows of a result, as HTML."""
    return view_of(result).notebook()
