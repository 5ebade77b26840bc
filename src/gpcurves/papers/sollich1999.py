"""Sollich (1999), Figure 1: approximations and bounds beside simulated learning curves, for the lengthscale 0.1.

Theory beside the simulated truth, and how far each curve is from it, is what most figures of Sollich's papers show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import gpcurves as gpc
from gpcurves.numerics.validation import FloatArray, Sizes
from gpcurves.papers.gallery import Claim, Drawn, Figuring, Quality, Sheet, check, figure_of
from gpcurves.render.wording import parts_of, shared_words

MARKS = 30  # how many points of the simulation are drawn
CAPTION = (
    "Learning curve for the {kernel} with lengthscale 0.1, inputs uniform on the torus in {where} and noise {noise}: "
    "the simulated truth; the approximations LC, UC and D; the upper {upper} and the lower bounds LO and MW. UO "
    "bounds a modified error only."
)
METHODS = ["lc", "uc", "d", "mw", "lo", "uo"]


@dataclass(frozen=True)
class Comparison:
    """Curves of several methods and of a simulation, of one problem and for the same numbers of examples."""

    theory: gpc.CurveSet
    truth: gpc.LearningCurve

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
        listed = ", ".join(map(capitals, others))
        text = f"{capitals(name)} is closer to the truth than {listed}: mean distance over that of the best of them"
        claim = check(text, self.distance(name) / distances[next_best], at_most=1.0)
        return replace(claim, found=f"{claim.found} ({capitals(next_best)})")


def capitals(name: str) -> str:
    """Return the name of a method as the papers write it."""
    return "Plaskota" if name == "plaskota" else name.upper()


Saying = Callable[[Comparison], list[Claim]]  # checks what the text says about a comparison


def compare(
    problem: gpc.Problem, n: Sizes, methods: Sequence[str], datasets: tuple[int, int], quality: Quality
) -> Comparison:
    """Compute the curves of some methods and simulate the truth, with so many data sets (full and quick)."""
    problem = quality.change(problem)
    theory = gpc.learning_curves(problem, n, [gpc.METHODS[name] for name in methods])
    truth = gpc.learning_curve(problem, "simulation", n, datasets=quality.choose(*datasets), rng=0, **quality.running)
    return Comparison(theory, truth)


def draw_comparisons(claims: Sequence[Claim], *comparisons: Comparison) -> Drawn:
    """Draw one comparison, or several beside each other: all of the theory, and some points of the simulation."""
    several, shared = len(comparisons) > 1, shared_words(compared.truth.problem for compared in comparisons)
    sheet = Sheet(1, len(comparisons), height=4.4 if several else 5.8)
    for panel, compared in zip(sheet.panels, comparisons, strict=True):
        truth = compared.truth
        few = slice(None, None, max(1, (len(truth.n) - 1) // MARKS))
        stderr = None if truth.stderr is None else truth.stderr[few]
        points = replace(truth, sizes=truth.n[few], error=truth.error[few], stderr=stderr, details={})
        title = "; ".join(", ".join(part) for part in parts_of(truth.problem) if ", ".join(part) not in shared)
        panel.curves(gpc.CurveSet.of(*compared.theory.values(), points), title if several else shared)
    if several:
        sheet.figure.suptitle(shared, fontsize=10.5)
        sheet.legend(columns=3)
    return sheet.finish(claims)


def panel(letter: str, kernel: str, dim: int, noise: str) -> Callable[[Figuring], Figuring]:
    """Enter one panel of Figure 1 into the list of figures."""
    upper, where = ("bounds WV and UO", "one dimension") if dim == 1 else ("bound UO", "two dimensions")
    caption = CAPTION.format(kernel=kernel, where=where, noise=noise, upper=upper)
    title = f"Theory, bounds and truth: {kernel}, {where}, noise {noise}"
    return figure_of("Sollich 1999", "sollich1999", f"1{letter}", title, caption, takes_changes=True)


@panel("a", "OU kernel", 1, "0.001")
def figure_1a(quality: Quality) -> Drawn:
    """Rough functions, low noise."""
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.001)
    return draw_panel(problem, 600, (300, 20), quality, above_modified)


@panel("b", "RBF kernel", 1, "0.001")
def figure_1b(quality: Quality) -> Drawn:
    """Smooth functions, low noise: the one panel in which D and UC can be told apart."""
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.001)
    return draw_panel(problem, 200, (2000, 100), quality, above_modified, asymptotic_shape, crossover, apart=True)


@panel("c", "OU kernel", 1, "0.1")
def figure_1c(quality: Quality) -> Drawn:
    """Rough functions, high noise."""
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.1)
    return draw_panel(problem, 600, (300, 20), quality, partial(on_top, decades=2), crossover)


@panel("d", "RBF kernel", 1, "0.1")
def figure_1d(quality: Quality) -> Drawn:
    """Smooth functions, high noise."""
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.1)
    return draw_panel(problem, 600, (600, 40), quality, partial(on_top, decades=4), crossover)


@panel("e", "OU kernel", 2, "0.001")
def figure_1e(quality: Quality) -> Drawn:
    """Rough functions in two dimensions."""
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=2), noise=0.001)
    return draw_panel(problem, 600, (100, 8), quality, above_modified, partial(on_top, decades=3))


@panel("f", "RBF kernel", 2, "0.001")
def figure_1f(quality: Quality) -> Drawn:
    """Smooth functions in two dimensions."""
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=2), noise=0.001)
    return draw_panel(problem, 600, (600, 20), quality, above_modified, asymptotic_shape, crossover)


def draw_panel(
    problem: gpc.Problem, n: int, datasets: tuple[int, int], quality: Quality, *special: Saying, apart: bool = False
) -> Drawn:
    """Draw one panel, with what the text says about all panels and what it says about this one."""
    line = quality.change(problem).inputs.dim == 1
    compared = compare(problem, n, [*METHODS, "wv"] if line else METHODS, datasets, quality)
    if quality.changes:  # about which the text says nothing
        return draw_comparisons([], compared)
    mw = np.exp(np.log(compared.ratio("mw")[compared.initial]).mean())
    width = np.log10(compared.theory["uo"].error[1:] / compared.theory["lo"].error[1:]).mean()
    difference = abs(compared.theory["d"].error / compared.theory["uc"].error - 1).max()
    limit: dict[str, Any] = {"at_least": 0.1} if apart else {"at_most": 0.1}
    look = "differ visibly here" if apart else "coincide on the plot"
    claims = [
        *compared.brackets("the paper conjectures that the truth is always above LC"),
        compared.closer("lc", [name for name in compared.theory if name != "lc"]),
        check("MW is not tight: mean ratio of the truth to it, while that is above the noise", mw, at_least=1.5),
        check("LO and UO are 1 to 2 orders of magnitude apart: mean number", width, at_least=0.8, at_most=2.0),
        check(f"D and UC {look}: largest relative difference", difference, **limit),
    ]
    for claims_of in (*special, *[williams_vivarelli] * line):
        claims += claims_of(compared)
    return draw_comparisons(claims, compared)


def above_modified(compared: Comparison) -> list[Claim]:
    """Check that UO, which bounds a modified error, is below the true error if examples are few."""
    text = "UO bounds a modified error, and the error can be much larger at small n: largest ratio of the truth to UO"
    return [check(text, compared.ratio("uo").max(), at_least=2.0)]


def on_top(compared: Comparison, decades: int) -> list[Claim]:
    """Check that the simulation lies on the LC curve, on an axis of some decades."""
    assert compared.truth.stderr is not None
    slack = 2 * compared.truth.stderr[1:] / compared.truth.error[1:]
    distance = np.maximum(abs(np.log(compared.ratio("lc"))) - slack, 0.0).max() / np.log(10) / decades
    text = f"the simulation is on top of LC: largest distance, as part of the height of an axis of {decades} decades"
    return [check(text, distance, at_most=0.03)]


def crossover(compared: Comparison) -> list[Claim]:
    """Check that LC is furthest from the truth between the initial and the asymptotic regime."""
    worst = 1 + int(abs(np.log(compared.ratio("lc"))).argmax())
    text = "LC deviates most in the crossover between the regimes: LC there, divided by the noise"
    return [check(text, compared.theory["lc"].error[worst] / compared.truth.problem.noise, at_least=0.1, at_most=10.0)]


def asymptotic_shape(compared: Comparison) -> list[Claim]:
    """Check that Opper's bounds have the shape of the curve in the asymptotic regime only."""
    claims = []
    for name in ("lo", "uo"):
        ratio = compared.ratio(name)
        late, early = ratio[~compared.initial], ratio[compared.initial]
        text = (
            f"{capitals(name)} has the shape of the curve only when the error is below the noise: spread of the ratio"
        )
        claims.append(check(f"{text} then", late.max() / late.min(), at_most=3.0))
        claims.append(check(f"{text} before", early.max() / early.min(), at_least=6.0))
    return claims


def williams_vivarelli(compared: Comparison) -> list[Claim]:
    """Check that WV works well for rough functions, less so for smooth ones, and where it ends."""
    problem, ratio, prior = compared.truth.problem, 1 / compared.ratio("wv"), compared.truth.error[0]
    early = ratio[compared.initial].max()
    text = "functions: largest ratio of it to the truth, while that is above the noise"
    if isinstance(problem.kernel, gpc.RBF):
        claims = [check(f"WV works less well for smooth {text}", early, at_least=1.8)]
    else:
        claims = [check(f"WV works well for rough {text}", early, at_most=1.8)]
    if not compared.initial.all():
        text = "WV is not useful in the asymptotic regime: largest ratio of it to the truth, below the noise"
        claims.append(check(text, ratio[~compared.initial].max(), at_least=2.5))
    limit = gpc.learning_curve(problem, "wv", [1e9]).error[0]
    floor = prior / (prior + problem.noise)
    note = "the paper says that WV stays above the noise; corrected: it falls to C(0) noise / (C(0) + noise)"
    text = "WV has a floor near the noise: its limit for large n, divided by the noise"
    return [*claims, check(text, limit / problem.noise, at_least=floor - 1e-5, at_most=floor + 1e-5, note=note)]
