"""Ways from a problem to its learning curve, in one registry: `METHODS`."""

from gpcurves.methods.base import METHODS, Kind, Method, MethodName, MethodOptions, Result, Scope, formula, register

# isort: split
# Importing a module enters its methods into the registry, which lists them in this order: theory first.
from gpcurves.methods import formulas, eigenvalue  # noqa: F401, I001
from gpcurves.methods.cavity import method as cavity_method  # noqa: F401
from gpcurves.methods.local import method as local_method  # noqa: F401
from gpcurves.methods import sparse, tasks, functionals  # noqa: F401

__all__ = ["METHODS", "Kind", "Method", "MethodName", "MethodOptions", "Result", "Scope", "formula", "register"]
