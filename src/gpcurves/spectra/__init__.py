"""Eigenvalue spectra, and how each pair of kernel and inputs gets one."""

from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.spectra.closed import closed_form
from gpcurves.spectra.measure import Measure
from gpcurves.spectra.nystrom import numerical_spectrum
from gpcurves.spectra.spectrum import Spectrum, Tail

__all__ = ["Measure", "Spectrum", "Tail", "spectrum_of"]


def spectrum_of(kernel: Kernel, inputs: Inputs) -> Spectrum:
    """Return the spectrum of a kernel with respect to an input distribution: in closed form where there is one."""
    return closed_form(kernel, inputs) or numerical_spectrum(kernel, inputs)
