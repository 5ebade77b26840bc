"""Pages of one file: ES modules of the package become one script, and data stand in a page where they cannot end it.

Each module becomes a function that returns what it exports, in the order of their imports, so that names of different modules
do not meet. Modules are named by folder and file under ``render``, as in "explorer/chart".
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

_FROM = r'from "(?P<file>\.{1,2}/[\w/-]+)\.js";\n'
_IMPORT = re.compile(r"^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) " + _FROM, re.MULTILINE)
_PASSED_ON = re.compile(r"^export \{(?P<some>[^}]*)\} " + _FROM, re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_COMMENTS = re.compile(
    r"^ *//[^\n]*\n|^ */\*\*(?:(?!\*/).)*\*/\n|/\*\* @type(?:(?!\*/).)*\*/ ?", re.MULTILINE | re.DOTALL
)


def fill(name: str, parts: dict[str, str]) -> str:
    """Return a page with parts in the places that it keeps for them, as in ``/*STYLE*/``."""
    return re.sub(r"/\*([A-Z]+)\*/", lambda found: parts[found[1]], read_source(name))


@lru_cache(maxsize=4)
def bundle(entry: str) -> str:
    """Return one script of a module and all that it imports, without comments."""
    order: list[str] = []
    _visit(entry, order, ())
    code = "\n".join(map(_wrap, order))
    assert "</script" not in code.lower(), "the source of a page must not end its own script"
    return f'"use strict";\n{code}'


def read_source(name: str) -> str:
    """Return the text of a file under ``render``."""
    return files("gpcurves.render").joinpath(*name.split("/")).read_text(encoding="utf-8")


def as_script(data: Any) -> str:
    """Return data as JSON that may stand between the tags of a script."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _visit(name: str, order: list[str], path: tuple[str, ...]) -> None:
    """List what a module imports before the module itself."""
    assert name not in path, f"modules import each other: {' → '.join((*path, name))}"
    if name in order:
        return
    source = read_source(f"{name}.js")
    for found in (*_IMPORT.finditer(source), *_PASSED_ON.finditer(source)):
        _visit(_resolve(name, found["file"]), order, (*path, name))
    order.append(name)


def _resolve(name: str, target: str) -> str:
    """Return the name of a module that another one imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def _wrap(name: str) -> str:
    """Return a module as a constant that holds what it exports."""
    source = read_source(f"{name}.js")
    exported = _EXPORTED.findall(source)
    for found in _PASSED_ON.finditer(source):
        home = _constant(_resolve(name, found["file"]))
        exported += [f"{each}: {home}.{each}" for each in _split(found["some"])]
    body = _EXPORT.sub("", _IMPORT.sub(lambda found: _take(name, found), _PASSED_ON.sub("", source)))
    assert not re.search(r'^(import *[{*"]|export )', body, re.MULTILINE), (
        f"{name}.js has an import or export of another form"
    )
    return f"const {_constant(name)} = (() => {{\n{_COMMENTS.sub('', body)}return {{ {', '.join(exported)} }};\n}})();"


def _take(name: str, found: re.Match[str]) -> str:
    """Return an import as a constant."""
    home = _constant(_resolve(name, found["file"]))
    if found["all"]:
        return f"const {found['all']} = {home};\n"
    names = [part.replace(" as ", ": ") for part in _split(found["some"])]
    return f"const {{ {', '.join(names)} }} = {home};\n"


def _split(names: str) -> list[str]:
    return [part.strip() for part in names.split(",") if part.strip()]


def _constant(module: str) -> str:
    return f"module_{re.sub(r'[^0-9A-Za-z]', '_', posixpath.basename(module))}"
