r"""Spectra known in closed form.

Torus (Sollich & Halees 2002, App. C): the eigenfunctions are Fourier waves and the eigenvalue of the integer vector
`q` is the Fourier transform of the kernel at frequency `q`. Gaussian inputs with an RBF kernel, eq. (45): each
independent direction contributes :math:`(1-\beta)\beta^q`, :math:`\beta^{-1} = 1 + r/2 + \sqrt{r^2/4 + r}`,
:math:`r = l^2/\sigma_x^2`; for correlated inputs or several lengthscales the directions are those that make kernel
metric and input covariance diagonal at once, and :math:`1/r` are the eigenvalues of their product.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from gpcurves.inputs import Gaussian, Inputs, Torus
from gpcurves.kernels import RBF, Kernel, as_rbf
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.fourier import fourier
from gpcurves.spectra.lattice import Profile, Shells, lattice_spectrum, simplex, squares, sums_of_squares
from gpcurves.spectra.spectrum import UNDERFLOW, Spectrum

_CLOSED = "closed form"
_LISTED_LINE = 200_000
_LISTED_VECTORS = 500_000.0
_LISTED_SHELLS = {1: 4e10, 2: 200_000, 3: 200_000, 4: 30_000}
"""How far single components and shells of each dimension (4: or more) are listed, as a squared length."""


def closed_form(kernel: Kernel, inputs: Inputs) -> Spectrum | None:
    """Return the spectrum where the pair has a closed form, None where it has not."""
    if isinstance(inputs, Torus):
        return _torus(kernel, inputs.dim)
    if isinstance(inputs, Gaussian):
        rbf = as_rbf(kernel)
        return None if rbf is None else _gaussian(rbf, inputs)
    return None


def _torus(kernel: Kernel, dim: int) -> Spectrum | None:
    transform = fourier(kernel, dim)
    if transform is None:
        return None
    underflow = transform.profile.underflow
    kinds, sizes = (each.tolist() for each in np.unique(transform.scales, return_counts=True))
    if len(kinds) > 1:
        limit = max((40 * kinds[-1]) ** 2, float(transform.z_of(np.array([_LISTED_VECTORS]))[0]))
    elif dim == 1:
        limit = (_LISTED_LINE * kinds[0]) ** 2
    else:
        limit = _LISTED_SHELLS[min(dim, 4)] * kinds[0] ** 2
    reach = min(underflow, limit)
    groups: list[Shells] = []
    for scale, size in zip(kinds, sizes, strict=True):
        if reach / scale**2 <= _LISTED_SHELLS[min(size, 4)]:
            groups.append(sums_of_squares(size, scale, reach))
        else:
            groups.extend([squares(scale, reach)] * size)
    return lattice_spectrum(groups, transform.profile, reach, transform.z_of, limit < underflow, _CLOSED)


def _gaussian(kernel: RBF, inputs: Gaussian) -> Spectrum:
    scale = kernel.lengthscales(inputs.dim)
    ratio = 1 / np.linalg.eigvalsh(inputs.matrix / np.outer(scale, scale))
    if inputs.covariance is None and len(set(scale.tolist())) == 1:
        ratio = np.full(inputs.dim, scale[0] ** 2 / inputs.variance)
    root = np.sqrt(ratio * ratio / 4 + ratio)
    decay = np.log1p(ratio / 2 + root)  # ln(1/beta)
    origin = math.log(kernel.variance) + float(np.log(-np.expm1(-decay)).sum())
    profile = Profile(lambda z: origin - z)
    kinds, sizes = (each.tolist() for each in np.unique(decay, return_counts=True))
    groups = [simplex(size, rate, UNDERFLOW) for rate, size in zip(kinds, sizes, strict=True)]
    # number of vectors in the simplex sum b q < z, with half a unit of each direction's boundary
    log_volume = -float(gammaln(inputs.dim + 1) + np.log(decay).sum())

    def z_of(index: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(np.exp((np.log(index) - log_volume) / inputs.dim) - decay.sum() / 2, 0.0))

    return lattice_spectrum(groups, profile, UNDERFLOW, z_of, False, _CLOSED)
