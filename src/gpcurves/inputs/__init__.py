"""Input distributions: where the examples come from. One file each holds all that is special to it."""

from gpcurves.inputs.base import Inputs
from gpcurves.inputs.box import Box
from gpcurves.inputs.copula import Copula, Pool
from gpcurves.inputs.eigenvalues import Eigenvalues
from gpcurves.inputs.finite import Discrete, Sample
from gpcurves.inputs.gaussian import Gaussian
from gpcurves.inputs.random_vertices import RandomVertices
from gpcurves.inputs.torus import Torus
from gpcurves.inputs.univariate import Univariate
from gpcurves.inputs.vertices import Vertices

__all__ = [
    "Box",
    "Copula",
    "Discrete",
    "Eigenvalues",
    "Gaussian",
    "Inputs",
    "Pool",
    "RandomVertices",
    "Sample",
    "Torus",
    "Univariate",
    "Vertices",
]
