"""Every figure of the papers, drawn with the public names of this package, and every claim about them checked.

Examples
--------
>>> import gpcurves as gpc
>>> drawn = gpc.papers.figure("sollich2002-8")
>>> all(claim.holds for claim in drawn.claims)
True
"""

from gpcurves.papers import sollich1999, sollich2001, sollich2002, urry2013
from gpcurves.papers.gallery import FIGURES, Claim, Drawn, Entry, Quality, draw, figure

__all__ = [
    "FIGURES",
    "Claim",
    "Drawn",
    "Entry",
    "Quality",
    "draw",
    "figure",
    "sollich1999",
    "sollich2001",
    "sollich2002",
    "urry2013",
]
