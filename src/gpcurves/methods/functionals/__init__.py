"""Learning from linear observations: averages, differences, derivatives and temporal differences."""

from gpcurves.methods.functionals import simulation, theory  # noqa: F401
