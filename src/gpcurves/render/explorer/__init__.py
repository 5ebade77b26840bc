"""The explorer: one page that computes learning curves in the browser, from the ES modules in this folder.

`explorer_page` bundles the modules into one script. Each module becomes a function that returns what it exports, in the order of
their imports, so that names of different modules do not meet. The same script runs in the page and in its workers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from gpcurves._version import __version__
from gpcurves.methods import METHODS

_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from "\./(?P<file>[\w-]+)\.js";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_COMMENTS = re.compile(
    r"^ *//[^\n]*\n|^ */\*\*(?:(?!\*/).)*\*/\n|/\*\* @type(?:(?!\*/).)*\*/ ?", re.MULTILINE | re.DOTALL
)


def explorer_page(state: Mapping[str, Any] | None = None, plan: str | None = None) -> str:
    """Return the page as HTML, opened in a state; ``plan`` is where it asks for a forecast, if it is served."""
    about = {"version": __version__, "methods": sorted(METHODS), "state": dict(state or {}), "plan": plan}
    parts = {"STYLE": _read("style.css"), "ABOUT": _as_text(json.dumps(about)), "CODE": bundle("main")}
    return re.sub(r"/\*(STYLE|ABOUT|CODE)\*/", lambda found: parts[found[1]], _read("page.html"))


@lru_cache(maxsize=1)
def bundle(entry: str) -> str:
    """Return one script of a module and all that it imports, without comments."""
    order: list[str] = []
    _visit(entry, order, ())
    code = "\n".join(map(_wrap, order))
    assert "</script" not in code.lower(), "the source of the explorer must not end its own script"
    return f'"use strict";\n{code}'


def _read(name: str) -> str:
    return (files("gpcurves.render.explorer") / name).read_text(encoding="utf-8")


def _as_text(data: str) -> str:
    """Return JSON that may stand between the tags of a script."""
    return data.replace("<", "\\u003c")


def _visit(name: str, order: list[str], path: tuple[str, ...]) -> None:
    """List what a module imports before the module itself."""
    assert name not in path, f"modules import each other: {' → '.join((*path, name))}"
    if name in order:
        return
    for found in _IMPORT.finditer(_read(f"{name}.js")):
        _visit(found["file"], order, (*path, name))
    order.append(name)


def _wrap(name: str) -> str:
    """Return a module as a constant that holds what it exports."""
    source = _read(f"{name}.js")
    exported = _EXPORTED.findall(source)
    body = _EXPORT.sub("", _IMPORT.sub(_take, source))
    assert not re.search(r'^(import *[{*"]|export )', body, re.MULTILINE), (
        f"{name}.js has an import or export of another form"
    )
    return f"const {_constant(name)} = (() => {{\n{_COMMENTS.sub('', body)}return {{ {', '.join(exported)} }};\n}})();"


def _take(found: re.Match[str]) -> str:
    """Return an import as a constant."""
    home = _constant(found["file"])
    if found["all"]:
        return f"const {found['all']} = {home};\n"
    names = [part.strip().replace(" as ", ": ") for part in found["some"].split(",") if part.strip()]
    return f"const {{ {', '.join(names)} }} = {home};\n"


def _constant(module: str) -> str:
    return f"module_{module.replace('-', '_')}"
