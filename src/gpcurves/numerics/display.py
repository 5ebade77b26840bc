"""How results are shown without importing what draws them: the renderer is loaded by name when it is first needed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

RENDERER = "gpcurves.render"
"""The module that draws; results only know its name, so that imports flow one way."""


def renderer() -> ModuleType:
    """Return the module that draws, and import it when it is first needed."""
    return import_module(RENDERER)


class Shown:
    """A result that can be drawn, saved and shown in a notebook."""

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw into Matplotlib axes, or into a new figure; returns what was drawn."""
        return renderer().plot(self, ax, **options)

    def save(self, path: str | Path, **options: Any) -> None:
        """Write to a file in the format that its suffix names, completely or not at all."""
        renderer().save(self, path, **options)

    def _repr_html_(self) -> str:
        text: str = renderer().notebook(self)
        return text
