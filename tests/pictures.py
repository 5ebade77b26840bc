"""What tests of pictures share."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread


def assert_drawn(png: bytes, width: int = 600, height: int = 400) -> None:
    """Check that a picture is at least this large, in pixels, and shows coloured lines or filled areas.

    An empty frame with its labels has no colours and fills about a fiftieth of the picture.
    """
    pixels = imread(io.BytesIO(png), format="png")[..., :3]
    assert pixels.shape[0] >= height, pixels.shape
    assert pixels.shape[1] >= width, pixels.shape
    coloured = (np.ptp(pixels, axis=2) > 0.2).mean()
    filled = (abs(pixels - pixels[0, 0]).max(axis=2) > 0.1).mean()
    assert coloured > 0.001 or filled > 0.1, f"{coloured:.2%} of the picture is coloured, {filled:.2%} filled"


def some_are_slow(names: Iterable[str], *quick: str) -> list[Any]:
    """Return names as parameters of a test; all but the quick ones are left to `make slow`."""
    assert set(quick) <= set(names)
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]
