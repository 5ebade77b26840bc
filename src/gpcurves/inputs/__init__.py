"""Input distributions: where the examples come from."""

from gpcurves.inputs.base import Inputs, inputs_from_dict
from gpcurves.inputs.continuous import Box, Gaussian, Torus
from gpcurves.inputs.copula import Copula, Pool
from gpcurves.inputs.finite import Discrete, Sample
from gpcurves.inputs.univariate import Univariate

__all__ = [
    "Box",
    "Copula",
    "Discrete",
    "Gaussian",
    "Inputs",
    "Pool",
    "Sample",
    "Torus",
    "Univariate",
    "inputs_from_dict",
]
