"""Covariances of evaluations: of function values and derivatives at points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.inputs import Inputs, Torus
from gpcurves.kernels.derivatives import derivative_covariance
from gpcurves.numerics.validation import FloatArray


def covariance(
    kernel: Any, inputs: Inputs, X: FloatArray, own: IntArray | None, Y: FloatArray, others: IntArray | None
) -> FloatArray:
    """Return the covariances between evaluations at the rows of X and at those of Y.

    ``own`` and ``others`` are the components by which these are differentiated, -1 or None for function values.
    """
    if own is None and others is None:
        return inputs.kernel_matrix(kernel, X, Y)
    left = np.full(len(X), -1) if own is None else own
    right = np.full(len(Y), -1) if others is None else others
    periodic = isinstance(inputs, Torus)
    values, derived, matrix = (np.flatnonzero(left < 0), np.flatnonzero(left >= 0), np.empty((len(X), len(Y))))
    also, differentiated = np.flatnonzero(right < 0), np.flatnonzero(right >= 0)
    if len(values) and len(also):
        matrix[np.ix_(values, also)] = inputs.kernel_matrix(kernel, X[values], Y[also])
    if len(derived) and len(also):
        matrix[np.ix_(derived, also)] = derivative_covariance(
            kernel, X[derived], left[derived], Y[also], None, periodic
        )
    if len(values) and len(differentiated):
        by = right[differentiated]
        matrix[np.ix_(values, differentiated)] = derivative_covariance(
            kernel, Y[differentiated], by, X[values], None, periodic
        ).T
    if len(derived) and len(differentiated):
        about = X[derived], left[derived], Y[differentiated], right[differentiated]
        matrix[np.ix_(derived, differentiated)] = derivative_covariance(kernel, *about, periodic)
    return matrix
