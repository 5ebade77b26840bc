"""Every figure of the papers, drawn with the public names of this package, and every claim about them checked.

>>> from gpcurves.papers import FIGURES, draw
>>> drawn = draw("sollich2002-8", quick=True)
>>> all(claim.holds for claim in drawn.claims)
True
"""

from gpcurves.papers import sollich1999, sollich2001, sollich2002, urry2013
from gpcurves.papers.gallery import FIGURES, Claim, Drawn, Entry, Quality, draw

__all__ = [
    "FIGURES",
    "Claim",
    "Drawn",
    "Entry",
    "Quality",
    "draw",
    "sollich1999",
    "sollich2001",
    "sollich2002",
    "urry2013",
]
