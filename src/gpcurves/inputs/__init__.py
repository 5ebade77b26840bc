"""Input distributions: where the examples come from. One file each holds all that is special to it."""

from gpcurves.inputs.base import Eigenvalues as Eigenvalues
from gpcurves.inputs.base import Inputs as Inputs
from gpcurves.inputs.box import Box as Box
from gpcurves.inputs.gaussian import Gaussian as Gaussian
from gpcurves.inputs.rows import Copula as Copula
from gpcurves.inputs.rows import Discrete as Discrete
from gpcurves.inputs.rows import Pool as Pool
from gpcurves.inputs.rows import Sample as Sample
from gpcurves.inputs.sphere import Sphere as Sphere
from gpcurves.inputs.torus import Torus as Torus
from gpcurves.inputs.univariate import Univariate as Univariate
from gpcurves.inputs.vertices import RandomVertices as RandomVertices
from gpcurves.inputs.vertices import Vertices as Vertices
