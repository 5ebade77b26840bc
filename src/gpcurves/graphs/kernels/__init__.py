"""Covariances between vertices of a graph: each class holds all that is special to a kernel."""

from gpcurves.graphs.kernels.base import NORMALISATIONS as NORMALISATIONS
from gpcurves.graphs.kernels.base import GraphKernel as GraphKernel
from gpcurves.graphs.kernels.base import Normalisation as Normalisation
from gpcurves.graphs.kernels.base import normalise_parameter as normalise_parameter
from gpcurves.graphs.kernels.laplacian import DiffusionKernel as DiffusionKernel
from gpcurves.graphs.kernels.laplacian import RegularisedLaplacianKernel as RegularisedLaplacianKernel
from gpcurves.graphs.kernels.walks import PolynomialWalkKernel as PolynomialWalkKernel
from gpcurves.graphs.kernels.walks import RandomWalkKernel as RandomWalkKernel
