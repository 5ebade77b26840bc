"""What every picture shares: new axes without matplotlib's global state, and the object that holds what was drawn."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Display:
    """What was drawn: the axes, the figure and its parts by name."""

    ax_: Any
    figure_: Any
    lines_: dict[str, Any]

    def to_bytes(self, suffix: str) -> bytes:
        """Return the figure as a file of this format, "png" or "svg"."""
        buffer = io.BytesIO()
        metadata = {"Date": None} if suffix == "svg" else {"Software": "gpcurves"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # a box stands for the letter
            self.figure_.savefig(buffer, format=suffix, dpi=150, metadata=metadata, bbox_inches="tight")
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.to_bytes("png")


def new_axes(ax: Any = None, size: tuple[float, float] = (8, 5)) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot()
