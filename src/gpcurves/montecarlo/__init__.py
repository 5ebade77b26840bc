"""Many independent tasks: seeds, workers, a store, progress, and the one average."""

from gpcurves.montecarlo.average import Estimate, Interrupted, Run, Shape, Stop, average, stream
from gpcurves.numerics.randomness import Rng, seed_of

__all__ = ["Estimate", "Interrupted", "Rng", "Run", "Shape", "Stop", "average", "seed_of", "stream"]
