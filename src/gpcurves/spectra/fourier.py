r"""The Fourier transform of a stationary kernel as a function of the number of wave vectors with larger transforms.

On the torus this is the spectrum itself. On the box it is its asymptotic form (Widom): far down, the eigenvalue number
`i` is the transform at the radius of the ellipsoid that holds `i` integer vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import gammaln, logsumexp

from gpcurves.kernels import Kernel, Stationary, as_rbf
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.lattice import Profile


@dataclass(frozen=True)
class Fourier:
    r"""Transform as a function of :math:`z = \sum_i (l_i q_i)^2`, and `z` as a function of the index."""

    profile: Profile
    scales: FloatArray

    def z_of(self, index: FloatArray) -> FloatArray:
        """Return the `z` of the ellipsoid that holds ``index`` integer vectors."""
        dim = len(self.scales)
        log_volume = 0.5 * dim * math.log(math.pi) - float(gammaln(dim / 2 + 1) + np.log(self.scales).sum())
        return np.asarray(np.exp((np.log(index) - log_volume) * (2 / dim)))

    def log_eigenvalue(self, index: FloatArray) -> FloatArray:
        """Return the logarithm of the transform at this index."""
        return self.profile.log_value(self.z_of(index))


def fourier(kernel: Kernel, dim: int) -> Fourier | None:
    """Return the transform of a kernel, or of a sum of kernels stretched alike, if it has a closed form."""
    terms = [as_rbf(part) or part for part in kernel.terms]
    stationary = [part for part in terms if isinstance(part, Stationary)]
    if len(stationary) < len(terms) or any(part.log_transform(np.zeros(1), dim) is None for part in stationary):
        return None
    scales = np.array([part.lengthscales(dim) for part in stationary])
    direction: FloatArray = scales[0]
    ratio = scales[:, :1] / direction[0]
    if not np.allclose(scales, ratio * direction, rtol=1e-12, atol=0):
        return None  # kernels stretched in different directions: no single z
    return Fourier(Profile(partial(_log_sum, stationary, scales, ratio[:, 0])), direction)


def _log_sum(terms: Sequence[Stationary], scales: FloatArray, ratio: FloatArray, z: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of transforms, of which each is stretched by its own ratio."""
    logs = []
    for term, scale, factor in zip(terms, scales, ratio.tolist(), strict=True):
        shape = term.log_transform(factor * factor * z, len(scale))
        assert shape is not None  # `fourier` has checked it
        logs.append(math.log(term.variance) + float(np.log(scale).sum()) + shape)
    return logs[0] if len(logs) == 1 else np.asarray(logsumexp(logs, axis=0))
