"""The explorer: one page that computes learning curves in the browser, from the ES modules in this folder.

The same script runs in the page and in its workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpcurves._version import __version__
from gpcurves.methods import METHODS
from gpcurves.render.bundling import as_script, bundle, fill, read_source


def explorer_page(state: Mapping[str, Any] | None = None, plan: str | None = None) -> str:
    """Return the page as HTML, opened in a state; ``plan`` is where it asks for a forecast, if it is served."""
    about = {"version": __version__, "methods": sorted(METHODS), "state": dict(state or {}), "plan": plan}
    style = read_source("explorer/style.css")
    return fill("explorer/page.html", {"STYLE": style, "ABOUT": as_script(about), "CODE": bundle("explorer/main")})
