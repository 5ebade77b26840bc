"""Theory beside the simulated truth, and how far each curve is from it: what most figures of Sollich's papers show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

import gpcurves as gpc
from gpcurves.numerics.validation import FloatArray
from gpcurves.papers.gallery import Claim, Drawn, Panel, Quality, Sheet, check

MARKS = 30
"""How many points of the simulation are drawn."""


@dataclass(frozen=True)
class Comparison:
    """Curves of several methods and of a simulation, of one problem and for the same numbers of examples."""

    theory: gpc.CurveSet
    truth: gpc.LearningCurve

    def draw(self, panel: Panel, *, legend: bool) -> None:
        """Draw all of the theory, and some points of the simulation."""
        few = slice(None, None, max(1, (len(self.truth.n) - 1) // MARKS))
        stderr = None if self.truth.stderr is None else self.truth.stderr[few]
        points = replace(self.truth, sizes=self.truth.n[few], error=self.truth.error[few], stderr=stderr, details={})
        panel.curves(gpc.CurveSet.of(*self.theory.values(), points), self.truth.problem.describe(), legend=legend)

    def ratio(self, name: str) -> FloatArray:
        """Return the truth divided by a curve, from one example on."""
        with np.errstate(divide="ignore"):  # MW may be zero
            return self.truth.error[1:] / self.theory[name].error[1:]

    def distance(self, name: str) -> float:
        """Return how far a curve is from the truth: the mean of the absolute logarithm of their ratio."""
        return float(abs(np.log(self.ratio(name))).mean())

    @property
    def initial(self) -> npt.NDArray[np.bool_]:
        """Where the true error is above the noise, from one example on."""
        return self.truth.error[1:] > self.truth.problem.noise

    def brackets(self, said: str = "the paper sees the truth above LC") -> list[Claim]:
        """Check that the truth lies between LC and UC as far as one sees; if it does not, quote the paper."""
        lower, upper = self.ratio("lc"), self.ratio("uc")
        assert self.truth.stderr is not None
        surely = lower * (1 + 3 * self.truth.stderr[1:] / self.truth.error[1:])
        least = int(surely.argmin())
        note = ""
        if surely[least] < 1 - 1e-6:
            note = f"{said}; corrected: it is {100 * (1 - lower[least]):.2g} % below LC at n = {least + 1}"
        return [
            check("the truth is above LC: smallest ratio of the two", lower.min(), at_least=0.97, note=note),
            check("the truth is below UC: largest ratio of the two", upper.max(), at_most=1.01),
        ]

    def closer(self, name: str, others: Sequence[str]) -> Claim:
        """Check that one curve is closer to the truth than others are."""
        distances = {other: self.distance(other) for other in others}
        next_best = min(distances, key=lambda other: distances[other])
        text = f"{name} is closer to the truth than {', '.join(others)}: mean distance over that of the best of them"
        claim = check(text, self.distance(name) / distances[next_best], at_most=1.0)
        return replace(claim, found=f"{claim.found} ({next_best})")


def compare(
    problem: gpc.Problem, n: npt.ArrayLike | int, methods: Sequence[str], datasets: int, quality: Quality
) -> Comparison:
    """Compute the curves of some methods and simulate the truth."""
    theory = gpc.learning_curves(problem, n, methods)
    truth = gpc.learning_curve(problem, "simulation", n, datasets=datasets, rng=0, **quality.running)
    return Comparison(theory, truth)


def draw_comparisons(claims: Sequence[Claim], *comparisons: Comparison) -> Drawn:
    """Draw one comparison, or several beside each other, of which the last has the legend."""
    sheet = Sheet(1, len(comparisons), size=(10, 5.4) if len(comparisons) == 1 else (7, 5))
    for panel, compared in zip(sheet.panels, comparisons, strict=True):
        compared.draw(panel, legend=compared is comparisons[-1])
    return sheet.finish(claims)
