r"""Covariances between vertices of a graph: functions of the normalised adjacency matrix `T`, and their normalisation.

Each class holds all that is special to a kernel, with the variables of its messages in ``vertex_model``.
"""

from gpcurves.graphs.kernels.attributes import VertexAttributeKernel as VertexAttributeKernel
from gpcurves.graphs.kernels.base import NORMALISATIONS as NORMALISATIONS
from gpcurves.graphs.kernels.base import GraphKernel as GraphKernel
from gpcurves.graphs.kernels.base import Normalisation as Normalisation
from gpcurves.graphs.kernels.base import chebyshev_coefficients as chebyshev_coefficients
from gpcurves.graphs.kernels.base import check_normalisation as check_normalisation
from gpcurves.graphs.kernels.base import normalise_parameter as normalise_parameter
from gpcurves.graphs.kernels.base import variance_parameter as variance_parameter
from gpcurves.graphs.kernels.laplacian import DiffusionKernel as DiffusionKernel
from gpcurves.graphs.kernels.laplacian import MaternGraphKernel as MaternGraphKernel
from gpcurves.graphs.kernels.laplacian import RegularisedLaplacianKernel as RegularisedLaplacianKernel
from gpcurves.graphs.kernels.sums import GraphKernelSum as GraphKernelSum
from gpcurves.graphs.kernels.walks import LONGEST_WALK as LONGEST_WALK
from gpcurves.graphs.kernels.walks import PolynomialWalkKernel as PolynomialWalkKernel
from gpcurves.graphs.kernels.walks import RandomWalkKernel as RandomWalkKernel
from gpcurves.graphs.kernels.walks import check_inverse_probability as check_inverse_probability
from gpcurves.graphs.kernels.walks import power_series as power_series
