"""Arguments of a wrong type: a sentence, whatever is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc

PROBLEM = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05)


@pytest.mark.parametrize(
    "value", [b"1", None, {}, {1}, "1", [[1, 2], [3, 4]], [[1], 2], [None], 10**400, True, [], 1j, Path()]
)
def test_lengthscales(value: Any) -> None:
    with pytest.raises(gpc.InputError, match="lengthscale must"):
        gpc.RBF(value)


@pytest.mark.parametrize("value", [5, None, [5], [["lc"]], [], b"lc", True])
def test_methods(value: Any) -> None:
    with pytest.raises(gpc.InputError, match="methods must"):
        gpc.learning_curves(PROBLEM, 5, value)


@pytest.mark.parametrize(
    "options",
    [
        {"store": 5},
        {"store": b"x"},
        {"workers": None},
        {"workers": []},
        {"rng": "x"},
        {"datasets": []},
        {"precision": {}},
    ],
)
def test_options(options: dict[str, Any]) -> None:
    with pytest.raises(gpc.InputError, match=f"{next(iter(options))} must be"):
        gpc.learning_curve(PROBLEM, "simulation", 5, **{"datasets": 2, **options})


@pytest.mark.parametrize("value", ["banana", {}, [[1]], [10**400], 10**400, 10**13, b"5", [1j], ["1"], []])
def test_sizes(value: Any) -> None:
    with pytest.raises(gpc.InputError, match=r"n (must|up to)"):
        gpc.learning_curve(PROBLEM, "lc", value)


@pytest.mark.parametrize("y", [[], 5, {}, None])
def test_targets(y: Any) -> None:
    with pytest.raises(gpc.InputError):
        gpc.forecast(np.ones((20, 2)), y)


@pytest.mark.parametrize("path", [5, None, b"x.json"])
def test_paths(path: Any) -> None:
    with pytest.raises(gpc.InputError, match="path must be the path of a file"):
        gpc.load(path)
