"""Covariances from features of one's own: functions that are weighted sums of them, with independent Gaussian weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from gpcurves.errors import InputError
from gpcurves.kernels.base import Kernel
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers, positive_each


def _function(name: str, value: object) -> Callable[[FloatArray], Any]:
    if not callable(value):
        raise InputError(f"{name} must be a function of inputs that returns a row of features for each, got {value!r}")
    return value


@dataclass(frozen=True, repr=False)
class FeatureKernel(Kernel):
    r"""Weighted sums of features: :math:`\sum_j \sigma_j^2\phi_j(x)\phi_j(x')`.

    Parameters
    ----------
    features
        A function that takes inputs, one per row, and returns their features, a row for each: of scikit-learn a transformer's
        ``transform``, or one of your own.
    variances
        The prior variance of each weight: one number for all, or one for each feature.

    Examples
    --------
    >>> import numpy as np
    >>> import gpcurves as gpc
    >>> waves = gpc.FeatureKernel(lambda x: np.hstack([np.cos(2 * np.pi * x), np.sin(2 * np.pi * x)]))
    >>> problem = gpc.Problem(waves, gpc.Box(dim=1), noise=0.1)
    >>> problem.spectrum.values[:2].round(6)
    array([0.5, 0.5])
    """

    name = ""
    features: Callable[[FloatArray], Any] = parameter(
        help="Function that returns a row of features for each input", check=_function
    )
    variances: float | tuple[float, ...] = parameter(1.0, help="Prior variance of each weight", check=positive_each)

    def scaled(self, factor: float) -> FeatureKernel:
        return replace(self, variances=tuple(float(each) * factor for each in np.atleast_1d(self.variances)))

    def _weighted(self, X: FloatArray) -> FloatArray:
        """Return the features of inputs times the deviations of their weights."""
        complaint = f"features must be a table of numbers with a row for each of {len(X)} inputs"
        values = as_numbers(self.features(X), complaint)
        if values.ndim != 2 or len(values) != len(X):
            raise InputError(f"{complaint}, got shape {values.shape}")
        if not np.isfinite(values).all():
            raise InputError("features must be finite, but it returned NaN or infinity")
        deviations = np.sqrt(np.atleast_1d(self.variances))
        if len(deviations) not in (1, values.shape[1]):
            raise InputError(f"there are {values.shape[1]} features, and variances of {len(deviations)}")
        return np.asarray(values * deviations)

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        left = self._weighted(X)
        return np.asarray(left @ (left if Y is None else self._weighted(Y)).T)

    def diag(self, X: FloatArray) -> FloatArray:
        weighted = self._weighted(X)
        return np.asarray(np.einsum("ij,ij->i", weighted, weighted))

    def to_dict(self) -> NoReturn:
        raise InputError("a kernel made of Python functions cannot be saved, nor kept in a store")

    def __repr__(self) -> str:
        title = getattr(self.features, "__name__", type(self.features).__name__)
        return f"FeatureKernel({'own features' if title == '<lambda>' else title})"
