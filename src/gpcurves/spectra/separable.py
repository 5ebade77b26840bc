r"""RBF kernels on the box: kernel and inputs factorise, so eigenvalues are products of one-dimensional ones.

Each dimension is diagonalised on its own by Gauss-Legendre quadrature, which converges exponentially for this kernel,
and the products are formed as sums of :math:`z = -\ln(\lambda/\lambda_0)` like any other lattice. In each
dimension eigenvalues smaller than the largest by 1e-13 drown in rounding errors; ``resolution`` says so.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gpcurves.inputs import Box
from gpcurves.kernels import RBF
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.fourier import fourier
from gpcurves.spectra.lattice import Profile, Shells, lattice_spectrum
from gpcurves.spectra.nystrom import ROUNDING, node_spectrum
from gpcurves.spectra.spectrum import UNDERFLOW, Spectrum

_NODES_PER_SCALE = 12
_MOST_NODES = 3_000


def box_rbf(kernel: RBF, dim: int) -> Spectrum | None:
    """Return the spectrum of an RBF kernel on the box, or None where a lengthscale is too short to resolve."""
    scales = kernel.lengthscales(dim)
    if _NODES_PER_SCALE / scales.min() > _MOST_NODES:
        return None
    lines = {
        scale: node_spectrum(RBF(scale), Box(1), 40 + math.ceil(_NODES_PER_SCALE / scale)).values
        for scale in set(scales.tolist())
    }
    log_largest = math.log(kernel.variance) + sum(math.log(lines[scale][0]) for scale in scales.tolist())
    groups = [Shells(np.log(lines[s][0] / lines[s]), np.ones(len(lines[s]))) for s in scales.tolist()]
    transform = fourier(kernel, dim)
    assert transform is not None  # an RBF has one

    def z_of(index: FloatArray) -> FloatArray:
        return np.maximum(log_largest - transform.log_eigenvalue(index), 0.0)

    products = lattice_spectrum(
        groups, Profile(lambda z: log_largest - z), UNDERFLOW, z_of, False, "products of one dimension's"
    )
    return replace(products, resolution=10 * ROUNDING * kernel.variance)
