r"""Laplace's method for many functions at once: several covariances, and for each the labels of every class against all others.

Newton's method finds the mode: with :math:`\tau` and g minus the second and the first derivative of the log likelihood at f, and
:math:`B = 1+\sqrt\tau K\sqrt\tau`, the next weights are :math:`a = b-\sqrt\tau B^{-1}\sqrt\tau Kb`, :math:`b = \tau f+g`, and :math:`f = Ka`
(Rasmussen & Williams 2006, algorithm 3.1). Most problems here are so small that calls would take longer than the algebra: matrices are
stacked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.forecasting.networks.class_labels import ClassLabels
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.classes import Classes

_STEPS, _HALVED = 60, 8
_TOLERANCE = 1e-5
_FAINT = 1e-10  # information of labels that are certain: kept above 0
_HELD = 4_000_000  # entries of matrices that are held at a time


@dataclass(frozen=True, eq=False)
class LabelModes:
    """Factors at the mode, by covariance, function and labelled vertex; and beliefs without the own labels of each vertex."""

    precision: FloatArray
    linear: FloatArray
    left_mean: FloatArray
    left_variance: FloatArray


def find_modes(K: FloatArray, labels: ClassLabels, observation: Classes, offsets: FloatArray) -> LabelModes:
    """Return the factors for a stack of covariances between labelled vertices; ``offsets`` are the means of the functions."""
    size = max(1, _HELD // (len(offsets) * K.shape[1] ** 2))
    parts = [_find(K[i : i + size], labels, observation, offsets) for i in range(0, len(K), size)]
    return LabelModes(*(np.concatenate([part[k] for part in parts]) for k in range(4)))


def _find(
    K: FloatArray, labels: ClassLabels, observation: Classes, offsets: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    functions, n = len(offsets), K.shape[1]
    plus = labels.counts.T if functions > 1 else labels.counts.T[1:]
    minus = labels.counts.sum(axis=1) - plus

    def slopes(f: FloatArray) -> list[FloatArray]:
        there = f + offsets[:, None]
        above, below = (observation.slopes(np.full_like(there, sign), there) for sign in (1.0, -1.0))
        return [plus * a + minus * b for a, b in zip(above, below, strict=True)]

    a = np.zeros((len(K), functions, n))
    f = np.zeros_like(a)
    height = slopes(f)[0].sum(axis=2)
    for _ in range(_STEPS):
        _, slope, curvature = slopes(f)
        root = np.sqrt(np.maximum(curvature, _FAINT))
        B = root[..., None] * K[:, None] * root[..., None, :]
        B[..., np.arange(n), np.arange(n)] += 1.0
        b = root**2 * f + slope
        solved = np.linalg.solve(B, (root * (b @ K))[..., None])[..., 0]
        step = b - root * solved - a
        share = np.ones((len(K), functions, 1))
        for _ in range(_HALVED):  # shorter steps where the posterior would fall
            new = a + share * step
            f_new = new @ K
            risen = slopes(f_new)[0].sum(axis=2) - 0.5 * (new * f_new).sum(axis=2)
            fallen = risen < height - 1e-9 * np.abs(height) - 1e-9
            if not fallen.any():
                break
            share = np.where(fallen[..., None], share / 2, share)
        change = float(np.max(np.abs(f_new - f)))
        a, f, height = new, f_new, risen
        if change < _TOLERANCE:
            break
    _, slope, curvature = slopes(f)
    precision = np.maximum(curvature, _FAINT)
    root = np.sqrt(precision)
    B = root[..., None] * K[:, None] * root[..., None, :]
    B[..., np.arange(n), np.arange(n)] += 1.0
    kept = np.diagonal(np.linalg.inv(B), axis1=2, axis2=3)
    # 1 - kept is the share of the prior variance times precision that labels explain: of faint ones the prior itself
    own = np.maximum((1 - kept) / precision, 1e-12)
    prior = np.diagonal(K, axis1=1, axis2=2)[:, None]
    own = np.where(precision * prior < 1e-7, prior, np.minimum(own, prior))
    left = 1 / np.maximum(1 / own - precision, 1e-12)
    linear = precision * f + slope
    return precision, linear, left * (f / own - linear) + offsets[:, None], left
