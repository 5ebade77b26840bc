"""Asks the explorer's own source, in Node, for numbers; tests that need Node or Chromium say so where these are missing."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import gpcurves as gpc

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gpcurves" / "render" / "explorer"
KERNELS: dict[str, Any] = {"rbf": gpc.RBF, "ou": gpc.OU, "matern32": gpc.Matern32, "matern52": gpc.Matern52}
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed (Debian: nodejs)")
needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed (Debian: chromium)"
)


def ask(requests: list[dict[str, Any]]) -> list[Any]:
    """Return what the module answers to each request."""
    command = ["node", str(Path(__file__).parent / "pages" / "explorer_values.js")]
    done = subprocess.run(command, input=json.dumps(requests), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


def kernel(name: str, lengthscale: float, variance: float = 1.0) -> dict[str, Any]:
    return {"name": name, "lengthscale": lengthscale, "variance": variance}


def python_kernel(plain: dict[str, Any]) -> Any:
    return KERNELS[plain["name"]](plain["lengthscale"], plain["variance"])
