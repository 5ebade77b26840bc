"""Ways from a problem to its learning curve, in one registry: `METHODS`."""

# Methods are listed in the order in which they are defined here: theory first.
# isort: off
from gpcurves.methods.base import METHODS, Kind, Method, MethodOptions, Result, Scope, formula, register
from gpcurves.methods import formulas
from gpcurves.methods.eigenvalue import Eigenvalue
from gpcurves.methods.cavity.method import Cavity
from gpcurves.methods.simulation.method import Simulation
# isort: on

__all__ = [
    "METHODS",
    "Cavity",
    "Eigenvalue",
    "Kind",
    "Method",
    "MethodOptions",
    "Result",
    "Scope",
    "Simulation",
    "formula",
    "formulas",
    "register",
]
