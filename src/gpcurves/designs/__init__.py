"""How training inputs are chosen: at random, unless a problem says otherwise."""

from gpcurves.designs.base import Design, Random

__all__ = ["Design", "Random"]
