"""Many independent tasks: seeds, workers, a store, progress, and the one average."""

from gpcurves.montecarlo.average import Estimate, Interrupted, Rng, Run, Shape, Stop, average, seed_of, stream

__all__ = ["Estimate", "Interrupted", "Rng", "Run", "Shape", "Stop", "average", "seed_of", "stream"]
