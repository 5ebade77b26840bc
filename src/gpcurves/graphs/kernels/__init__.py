"""Covariances between vertices of a graph: one file per kernel, which holds all that is special to it."""

from gpcurves.graphs.kernels.base import NORMALISATIONS, GraphKernel, Normalisation, normalise_parameter
from gpcurves.graphs.kernels.diffusion import DiffusionKernel
from gpcurves.graphs.kernels.laplacian import RegularisedLaplacianKernel
from gpcurves.graphs.kernels.polynomial import PolynomialWalkKernel
from gpcurves.graphs.kernels.random_walk import RandomWalkKernel

__all__ = [
    "NORMALISATIONS",
    "DiffusionKernel",
    "GraphKernel",
    "Normalisation",
    "PolynomialWalkKernel",
    "RandomWalkKernel",
    "RegularisedLaplacianKernel",
    "normalise_parameter",
]
