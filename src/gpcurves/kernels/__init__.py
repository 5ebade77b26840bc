"""Covariance functions on vectors."""

from gpcurves.kernels.arc_cosine import ArcCosine as ArcCosine
from gpcurves.kernels.base import Kernel as Kernel
from gpcurves.kernels.base import Linear as Linear
from gpcurves.kernels.base import Polynomial as Polynomial
from gpcurves.kernels.base import Product as Product
from gpcurves.kernels.base import Sum as Sum
from gpcurves.kernels.base import as_kernel as as_kernel
from gpcurves.kernels.features import FeatureKernel as FeatureKernel
from gpcurves.kernels.power_series import PowerSeries as PowerSeries
from gpcurves.kernels.stationary import OU as OU
from gpcurves.kernels.stationary import RBF as RBF
from gpcurves.kernels.stationary import Matern as Matern
from gpcurves.kernels.stationary import Matern32 as Matern32
from gpcurves.kernels.stationary import Matern52 as Matern52
from gpcurves.kernels.stationary import RationalQuadratic as RationalQuadratic
from gpcurves.kernels.stationary import Stationary as Stationary
from gpcurves.kernels.stationary import as_rbf as as_rbf
from gpcurves.kernels.stationary import is_matern as is_matern
from gpcurves.kernels.stationary import is_stationary as is_stationary
from gpcurves.kernels.stationary import line_covariance as line_covariance
from gpcurves.kernels.stretched import GammaExponential as GammaExponential
