"""How results are shown: by what the package as a whole says, since what draws and writes results imports them."""

from __future__ import annotations

import html
import io
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

if TYPE_CHECKING:
    import plotly.graph_objects as go

Backend = Literal["matplotlib", "plotly"]


@dataclass(frozen=True, repr=False)
class Display:
    """A picture that was drawn: the axes, the figure, its parts by name, and the result that it shows."""

    ax_: Any
    figure_: Any
    lines_: dict[str, Any]
    result_: Any = None

    def plot(self, ax: Any = None, **options: Any) -> Display:
        """Draw the same result once more, into ``ax`` or into a new figure."""
        shown: Display = Shown.renderer().plot(self.result_, ax, **options)
        return shown

    def to_bytes(self, suffix: str) -> bytes:
        """Return the figure as a file of this format, "png" or "svg"."""
        buffer = io.BytesIO()
        metadata = {"Date": None} if suffix == "svg" else {"Software": "gpcurves"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # a box stands for the letter
            self.figure_.savefig(buffer, format=suffix, dpi=150, metadata=metadata, bbox_inches="tight")
        return buffer.getvalue()

    def __repr__(self) -> str:
        return f"<Display of {', '.join(self.lines_)}>"

    def _repr_png_(self) -> bytes:
        return self.to_bytes("png")


class Listed:
    """Something that a notebook shows as a table of its properties, each with its name."""

    def _properties(self) -> Iterable[tuple[str, object]]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_table(self._properties())


def html_table(rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """Return a table for notebooks; the first cell of each row is its heading."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    lines = [f"<thead><tr>{head}</tr></thead>"] if header else []
    for first, *others in rows:
        cells = "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in others)
        lines.append(f"<tr><th style='text-align:left;white-space:nowrap'>{html.escape(str(first))}</th>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


class Shown:
    """A result that can be drawn, saved and seen in a notebook."""

    renderer: ClassVar[Callable[[], ModuleType]]
    """Returns the module that has ``plot``, ``save`` and ``notebook``; the package sets it."""

    @overload
    def plot(self, ax: Any = None, *, backend: Literal["matplotlib"] = "matplotlib", **options: Any) -> Display: ...
    @overload
    def plot(self, ax: None = None, *, backend: Literal["plotly"], **options: Any) -> go.Figure: ...
    def plot(self, ax: Any = None, *, backend: Backend = "matplotlib", **options: Any) -> Display | go.Figure:
        """Draw the result with Matplotlib, into ``ax`` or into a new figure, or as an interactive figure of Plotly.

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw into; those of a new figure if None.
        backend
            "matplotlib" returns a `Display`, which has the axes, the figure and its parts by name. "plotly" returns a figure of
            Plotly, which answers to the mouse.
        **options
            What this kind of result can show besides, such as the ``goals`` of curves or the ``goal`` of a forecast.
        """
        shown: Display | go.Figure = Shown.renderer().plot(self, ax, backend=backend, **options)
        return shown

    def save(self, path: str | Path, **options: Any) -> None:
        """Write the result in the format that the suffix names: .csv, .json, .png, .svg, .html or one registered since."""
        Shown.renderer().save(self, path, **options)

    def _repr_html_(self) -> str:
        return str(Shown.renderer().notebook(self))
