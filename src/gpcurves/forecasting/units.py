"""What a forecast counts: the rows of a table, or labels at the vertices of a graph, of which there are only so many."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_SIGHT = 0.8
_ROWS = re.compile(r"\b([Rr])ow(s?)\b")


@dataclass(frozen=True)
class Unit:
    """Rows, unless ``most`` says how many vertices there are to be labelled."""

    most: int | None = None

    @property
    def are_labels(self) -> bool:
        return self.most is not None

    @property
    def limit(self) -> float:
        """The largest number there can be."""
        return math.inf if self.most is None else float(self.most)

    @property
    def sight(self) -> float:
        """The largest number at which there is still something left to be predicted, and to measure the error at."""
        return math.inf if self.most is None else float(max(1, math.floor(_SIGHT * self.most)))

    def say(self, text: str) -> str:
        """Return a sentence about rows as one about what is counted."""
        if not self.are_labels:
            return text
        return _ROWS.sub(lambda found: ("L" if found[1] == "R" else "l") + "abel" + found[2], text)

    def say_number(self, number: str) -> str:
        """Return a number with what it is of: "520", or "520 of 1,888 possible"."""
        return number if self.most is None else f"{number} of {self.most:,} possible"


ROWS = Unit()
