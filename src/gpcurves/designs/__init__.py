"""How training inputs are chosen: at random, unless a problem says otherwise. One file per design."""

from gpcurves.designs.base import Design as Design
from gpcurves.designs.base import as_design as as_design
from gpcurves.designs.greedy import Greedy as Greedy
from gpcurves.designs.greedy_variance import GreedyVariance as GreedyVariance
from gpcurves.designs.grid import Grid as Grid
from gpcurves.designs.latin_hypercube import LatinHypercube as LatinHypercube
from gpcurves.designs.random import Random as Random
from gpcurves.designs.sobol import Sobol as Sobol
