"""Learning curves for several tasks: theory, simulation, and the cheapest mix of labels that reaches a goal."""

from gpcurves.methods.tasks import simulation, theory  # noqa: F401
