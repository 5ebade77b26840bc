"""Eigenvalue spectra: lists with tails, how they are compressed, and how matrices get one."""

from gpcurves.spectra.measure import Measure
from gpcurves.spectra.spectrum import CLOSED_FORM, Spectrum
from gpcurves.spectra.tail import Tail

__all__ = ["CLOSED_FORM", "Measure", "Spectrum", "Tail"]
