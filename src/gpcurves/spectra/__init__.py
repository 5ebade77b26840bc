"""Eigenvalue spectra, and how each pair of kernel and inputs gets one."""

from gpcurves.inputs import Box, Inputs
from gpcurves.kernels import Kernel, as_rbf
from gpcurves.spectra.closed import closed_form
from gpcurves.spectra.measure import Measure
from gpcurves.spectra.nystrom import numerical_spectrum
from gpcurves.spectra.separable import box_rbf
from gpcurves.spectra.spectrum import Spectrum, Tail

__all__ = ["Measure", "Spectrum", "Tail", "spectrum_of"]


def spectrum_of(kernel: Kernel, inputs: Inputs) -> Spectrum:
    """Return the spectrum of a kernel with respect to an input distribution.

    In closed form where there is one, as products over dimensions where the problem factorises, else numerically.
    """
    exact = closed_form(kernel, inputs)
    rbf = as_rbf(kernel)
    if exact is None and rbf is not None and isinstance(inputs, Box):
        exact = box_rbf(rbf, inputs.dim)
    return exact or numerical_spectrum(kernel, inputs)
