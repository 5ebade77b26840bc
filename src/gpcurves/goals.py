"""What a goal needs: the answer to "how many examples until the error is this small?" for a set of curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """An error to reach, and the number of examples at which each curve reaches it.

    Attributes
    ----------
    error
        The error to reach.
    axis
        What the numbers are: "n" examples, or "nu" examples per vertex of a graph.
    needed
        The size at which each curve reaches the goal, by the label of the curve.
    missing
        Why there is no such size, by the label of the curve.
    sentence
        The answer in one sentence.
    """

    error: float
    axis: str
    needed: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    sentence: str = ""
