"""How results are shown: what draws and writes them is loaded by name when a result is first shown, as pandas loads its plotting backend."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

RENDERER = "gpcurves.render"
"""The module that has ``plot``, ``save`` and ``notebook``."""


def renderer() -> ModuleType:
    """Return the module that draws and writes results; results do not import it, because it imports them."""
    return import_module(RENDERER)


@dataclass(frozen=True, repr=False)
class Display:
    """A picture that was drawn: the axes, the figure, its parts by name, and the result that it shows."""

    ax_: Any
    figure_: Any
    lines_: dict[str, Any]
    result_: Any = None

    def plot(self, ax: Any = None, **options: Any) -> Display:
        """Draw the same result once more, into ``ax`` or into a new figure."""
        shown: Display = renderer().plot(self.result_, ax, **options)
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


class Shown:
    """A result that can be drawn, saved and seen in a notebook."""

    def plot(self, ax: Any = None, **options: Any) -> Display:
        """Draw the result into ``ax``, or into a new figure; returns what was drawn."""
        shown: Display = renderer().plot(self, ax, **options)
        return shown

    def save(self, path: str | Path, **options: Any) -> None:
        """Write the result in the format that the suffix names: .csv, .json, .png, .svg, .html or one registered since."""
        renderer().save(self, path, **options)

    def _repr_html_(self) -> str:
        return str(renderer().notebook(self))
