"""Pyright in its strict mode knows every type in a user's script, and finds wrong names and sizes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gpcurves as gpc

ROOT = Path(__file__).parents[2]
PUBLIC: list[str] = vars(gpc)["__all__"]
PYRIGHT = ROOT / "node_modules" / "pyright" / "index.js"


def check(folder: Path, **files: str) -> list[dict[str, Any]]:
    """Return what strict pyright complains about in files that a user might have."""
    if shutil.which("node") is None or not PYRIGHT.exists():
        pytest.skip("pyright is not installed: `make browser` installs it, if there is Node")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    settings = {
        "typeCheckingMode": "strict",
        "reportMissingTypeStubs": False,
        "reportUnnecessaryTypeIgnoreComment": True,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["node", str(PYRIGHT), "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths})
    found: list[dict[str, Any]] = json.loads(done.stdout)["generalDiagnostics"]
    return found


def test_the_script_has_every_public_name() -> None:
    text = (ROOT / "tests" / "user_script.py").read_text(encoding="utf-8")
    assert set(PUBLIC) - set(re.findall(r"gpc\.(\w+)", text)) == set()


@pytest.mark.slow
def test_nothing_in_a_users_script_is_unknown(tmp_path: Path) -> None:
    files = {
        "user_script": ROOT / "tests" / "user_script.py",
        "test_typing": ROOT / "tests" / "laws" / "test_typing.py",
    }
    found = check(tmp_path, **{name: path.read_text(encoding="utf-8") for name, path in files.items()})
    assert [
        f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}: {each['message']}" for each in found
    ] == []


@pytest.mark.slow
def test_wrong_calls_are_found(tmp_path: Path) -> None:
    lines = [
        "import gpcurves as gpc",
        "problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.1)",
        "gpc.forcast(problem)",
        'gpc.learning_curve(problem, "lokal", n=3)',
        'gpc.learning_curve(problem, "lc", n="banana")',
        'gpc.RandomWalkKernel(normalise="lokal")',
        'gpc.learning_curve(problem, "lc", n=3).plot(backend="plotli")',
        'gpc.learning_curve(problem, "lc", n=3).errors',
    ]
    found = check(tmp_path, wrong="\n".join(lines) + "\n")
    assert {each["range"]["start"]["line"] for each in found} == set(range(2, len(lines)))
