"""Many independent tasks: random streams, workers, a store that survives anything, and progress.

The engine knows nothing about Gaussian processes. It is given `Work`, something that turns a number into an array, and
returns the arrays of the numbers 0, 1, 2, … for as long as a rule asks for more. Results do not depend on how many
workers there are or in which order they finish.
"""

from gpcurves.montecarlo.run import Interrupted, Settings, Work, run
from gpcurves.montecarlo.seeds import seed_of, stream
from gpcurves.montecarlo.store import Store

__all__ = ["Interrupted", "Settings", "Store", "Work", "run", "seed_of", "stream"]
