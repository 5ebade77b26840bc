"""The order of the package: imports flow one way, nothing heavy is loaded early, public names are written once."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import gpcurves as gpc

PACKAGE = Path(gpc.__file__).parent
LAYERS = [
    "_version",
    "errors",
    "numerics",
    "kernels",
    "spectra",
    "graphs",
    "inputs",
    "observations",
    "designs",
    "teacher",
    "problem",
    "quantities",
]
LAYERS += [
    "montecarlo",
    "curve",
    "methods",
    "api",
    "goals",
    "choosing",
    "inducing",
    "guarantees",
    "tables",
    "datasets",
    "forecasting",
    "saved",
    "render",
    "papers",
    "cli",
]
"""What a module imports stands before it in this list; nothing imports the command line."""


HEAVY = {
    "asyncio",
    "numpy.ma",
    "pandas",
    "matplotlib",
    "plotly",
    "sklearn",
    "networkx",
    "numba",
    "joblib",
    "tqdm",
    "dask",
}
HEAVY |= {f"scipy.{name}" for name in ("integrate", "linalg", "optimize", "sparse", "spatial", "special", "stats")}
THEORY = "curve --lengthscale 0.01 --noise 0.05 --n 0,1,50,300 --kernel "


def imported_layers(path: Path) -> Iterator[str]:
    """Yield the parts of the package that a module imports: at its top, inside functions, for types alone, or by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            names = [node.value]  # a name that something may be imported by
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [node.module or ""]
            if names == ["gpcurves"]:
                names = [f"gpcurves.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("gpcurves."))


MODULES = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.name.startswith("__")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_flow_one_way(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for other in imported_layers(path):
        assert LAYERS.index(other) <= LAYERS.index(layer), f"{layer} must not import {other}"


def test_imports_inside_functions_are_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "def f():\n    from gpcurves.render import plot\n    import gpcurves.cli.parse\n    import_module('gpcurves.api')\n"
    )
    assert list(imported_layers(module)) == ["render", "cli", "api"]


def commands(*lines: str) -> tuple[str, set[str]]:
    """Return code that runs commands one after the other, and what none of them may load."""
    return f"from gpcurves.cli import run; assert not any([run(each.split()) for each in {lines}])", HEAVY


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            "import gpcurves",
            {"numpy", "scipy", "click", *HEAVY},
        ),
        ("import gpcurves.methods", {*HEAVY, "click"}),
        commands("methods", "curve --help", "graph --help", "plan --help"),
        commands(*(THEORY + kernel for kernel in ("rbf", "ou", "matern32", "matern52", "matern --smoothness 3.5"))),
    ],
)
def test_importing_is_cheap(code: str, heavy: set[str]) -> None:
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()
    assert not set(loaded) & heavy


def test_public_names_are_written_once_and_exist() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.asname: node.module for node in imports for alias in node.names}
    assert list(homes) == getattr(gpc, "__all__")  # noqa: B009  (type checkers read the stub, which has no such list)
    assert set(homes) <= set(dir(gpc))
    for name, module in homes.items():
        assert getattr(gpc, str(name)) is getattr(import_module(str(module)), str(name))


def test_an_unknown_name_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="module 'gpcurves' has no attribute 'forcast': did you mean 'forecast'"):
        getattr(gpc, "forcast")  # noqa: B009
