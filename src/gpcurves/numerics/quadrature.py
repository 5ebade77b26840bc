"""Composite Gauss-Legendre quadrature."""

from __future__ import annotations

import numpy as np

from gpcurves.numerics.validation import FloatArray

GAUSS_NODES, GAUSS_WEIGHTS = (np.asarray(a) for a in np.polynomial.legendre.leggauss(16))
"""The 16-point rule on [-1, 1]."""


def gauss_legendre(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of the composite 16-point rule on these panels."""
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * GAUSS_NODES).ravel(), (half * GAUSS_WEIGHTS).ravel()
