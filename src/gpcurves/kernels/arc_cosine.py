r"""Arc-cosine kernels: wide neural networks with one hidden layer (Cho & Saul 2009).

With the angle :math:`\theta` between :math:`(x, \sqrt b)` and :math:`(x', \sqrt b)`, and the lengths of these vectors,
:math:`C = \sigma_f^2\,|x|^n|x'|^n J_n(\theta)/J_n(0)`, where :math:`J_0 = \pi-\theta`,
:math:`J_1 = \sin\theta + (\pi-\theta)\cos\theta` and :math:`J_2 = 3\sin\theta\cos\theta + (\pi-\theta)(1+2\cos^2\theta)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from gpcurves.kernels.base import Kernel
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer, nonnegative, positive


@dataclass(frozen=True, repr=False)
class ArcCosine(Kernel):
    """A network with infinitely many hidden units: steps (order 0), rectified linear (1) or quadratic units (2).

    Parameters
    ----------
    order
        Activation of the hidden units: 0 for steps, 1 for ReLU, 2 for squared ReLU.
    variance
        The prior variance at inputs of length 1 without bias.
    bias
        Prior variance of the biases of hidden units, relative to that of a weight. Without it the kernel lacks every other degree
        on the sphere.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.ArcCosine(1), gpc.Sphere(dim=5), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.264, 0.024])
    """

    name = "arc-cosine"
    order: int = parameter(
        1,
        help="Activation of the hidden units: 0 for steps, 1 for ReLU, 2 for squared ReLU",
        check=partial(integer, minimum=0, maximum=2),
    )
    variance: float = parameter(1.0, help="Prior variance of the kernel", check=positive)
    bias: float = parameter(0.0, help="Constant added to the scalar product", check=nonnegative)

    isotropic = True

    @property
    def smoothness(self) -> float:
        return self.order + 0.5

    def scaled(self, factor: float) -> Self:
        return replace(self, variance=self.variance * factor)

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        from scipy.spatial.distance import cdist

        length, unit = self._directions(X)
        other_length, other = (length, unit) if Y is None else self._directions(Y)
        # from both distances, because the arc cosine loses half of the digits of a small angle
        angle = 2 * np.arctan2(cdist(unit, other), cdist(unit, -other))
        return np.asarray(self.variance * np.multiply.outer(length, other_length) ** self.order * self._shape(angle))

    def diag(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.variance * (np.einsum("ij,ij->i", X, X) + self.bias) ** self.order)

    def _directions(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lengths of inputs with their bias, and unit vectors along them; of zero any direction will do."""
        with_bias = np.column_stack((X, np.full(len(X), np.sqrt(self.bias))))
        length = np.linalg.norm(with_bias, axis=1)
        with_bias[length == 0, -1] = 1.0
        return length, with_bias / np.where(length > 0, length, 1.0)[:, None]

    def _shape(self, angle: FloatArray) -> FloatArray:
        rest, cosine, sine = np.pi - angle, np.cos(angle), np.sin(angle)
        if self.order == 0:
            return np.asarray(rest / np.pi)
        if self.order == 1:
            return np.asarray((sine + rest * cosine) / np.pi)
        return np.asarray((3 * sine * cosine + rest * (1 + 2 * cosine * cosine)) / (3 * np.pi))
