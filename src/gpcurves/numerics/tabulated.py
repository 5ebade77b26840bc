"""A smooth function of a positive number that takes long: computed at few points, and interpolated to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpcurves.numerics.validation import FloatArray

_DEGREE = 27
_WIDTH = 2.0  # of a panel in ln x


class Tabulated:
    r"""Interpolates :math:`\ln f` by Chebyshev polynomials in :math:`\ln x`, on panels that are computed when first needed.

    Functions that are analytic in the right half-plane of `x`, as averages over a Gaussian of variance `x` are, have an error
    of about 1e-12 with the usual ``degree``, and of 1e-9 with 19. Below ``lowest`` the function is taken to be constant. Panels end at 1.
    """

    def __init__(self, function: Callable[[FloatArray], FloatArray], lowest: float, degree: int = _DEGREE) -> None:
        self.function, self.lowest = function, lowest
        self.panels: dict[int, FloatArray] = {}
        self.count = np.arange(degree + 1)
        self.nodes = np.cos(np.pi * (self.count + 0.5) / (degree + 1))
        self.to_coefficients = 2 / (degree + 1) * np.cos(np.outer(self.count, np.arccos(self.nodes)))
        self.to_coefficients[0] /= 2

    def __call__(self, x: FloatArray) -> FloatArray:
        place = np.log(np.maximum(x, self.lowest)) / _WIDTH
        panel = np.ceil(place).astype(np.int64) - 1
        position = np.arccos(np.clip(2 * (place - panel) - 1, -1.0, 1.0))
        result = np.empty_like(place)
        for each in np.unique(panel).tolist():
            chosen = panel == each
            result[chosen] = np.cos(np.multiply.outer(position[chosen], self.count)) @ self._coefficients(each)
        return np.asarray(np.exp(result))

    def _coefficients(self, panel: int) -> FloatArray:
        if panel not in self.panels:
            at = np.exp(_WIDTH * (panel + (1 + self.nodes) / 2))
            self.panels[panel] = self.to_coefficients @ np.log(self.function(at))
        return self.panels[panel]
