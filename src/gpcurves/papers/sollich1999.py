"""Sollich (1999), Figure 1: approximations and bounds beside simulated learning curves, for the lengthscale 0.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import gpcurves as gpc
from gpcurves.papers.comparison import Comparison, compare
from gpcurves.papers.gallery import Claim, Drawn, Effort, Figuring, Sheet, check, figures_of

CAPTION = (
    "Learning curve for the {kernel} with lengthscale 0.1, inputs uniform on the torus in {where} and noise {noise}: "
    "the simulated truth; the approximations LC, UC and D; the upper {upper} and the lower bounds LO and MW. UO "
    "bounds a modified error only."
)
ONE = ["lc", "uc", "d", "mw", "lo", "uo", "wv"]
TWO = ["lc", "uc", "d", "mw", "lo", "uo"]


def panel(letter: str, kernel: str, dim: int, noise: str) -> Callable[[Figuring], Figuring]:
    """Enter one panel of Figure 1 into the list of figures."""
    upper, where = ("bounds WV and UO", "one dimension") if dim == 1 else ("bound UO", "two dimensions")
    caption = CAPTION.format(kernel=kernel, where=where, noise=noise, upper=upper)
    title = f"Theory, bounds and truth: {kernel}, {where}, noise {noise}"
    return figures_of("Sollich 1999", "sollich1999")(f"1{letter}", title, caption)


@panel("a", "OU kernel", 1, "0.001")
def figure_1a(effort: Effort) -> Drawn:
    """Rough functions, low noise."""
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.001)
    found = compare(problem, 600, ONE, effort.of(300, 20), effort)
    return drawn(found, [coincide(found), above_modified(found), *williams_vivarelli(found, smooth=False)])


@panel("b", "RBF kernel", 1, "0.001")
def figure_1b(effort: Effort) -> Drawn:
    """Smooth functions, low noise: the one panel in which D and UC can be told apart."""
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.001)
    found = compare(problem, 200, ONE, effort.of(2000, 100), effort)
    special = [coincide(found, apart=True), above_modified(found), *asymptotic_shape(found), crossover(found)]
    return drawn(found, [*special, *williams_vivarelli(found, smooth=True)])


@panel("c", "OU kernel", 1, "0.1")
def figure_1c(effort: Effort) -> Drawn:
    """Rough functions, high noise."""
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.1)
    found = compare(problem, 600, ONE, effort.of(300, 20), effort)
    special = [coincide(found), on_top(found, decades=2), crossover(found)]
    return drawn(found, [*special, *williams_vivarelli(found, smooth=False)])


@panel("d", "RBF kernel", 1, "0.1")
def figure_1d(effort: Effort) -> Drawn:
    """Smooth functions, high noise."""
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.1)
    found = compare(problem, 600, ONE, effort.of(600, 40), effort)
    special = [coincide(found), on_top(found, decades=4), crossover(found)]
    return drawn(found, [*special, *williams_vivarelli(found, smooth=True)])


@panel("e", "OU kernel", 2, "0.001")
def figure_1e(effort: Effort) -> Drawn:
    """Rough functions in two dimensions."""
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=2), noise=0.001)
    found = compare(problem, 600, TWO, effort.of(100, 8), effort)
    return drawn(found, [coincide(found), above_modified(found), on_top(found, decades=3)])


@panel("f", "RBF kernel", 2, "0.001")
def figure_1f(effort: Effort) -> Drawn:
    """Smooth functions in two dimensions."""
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=2), noise=0.001)
    found = compare(problem, 600, TWO, effort.of(600, 20), effort)
    return drawn(found, [coincide(found), above_modified(found), *asymptotic_shape(found), crossover(found)])


def drawn(found: Comparison, special: Sequence[Claim]) -> Drawn:
    """Draw one panel, with what the text says about all panels and what it says about this one."""
    sheet = Sheet(size=(10, 5.4))
    sheet.panels[0].curves(found.shown, found.truth.problem.describe())
    rest = [name for name in found.theory if name != "lc"]
    mw = np.exp(np.log(found.ratio("mw")[found.initial]).mean())
    width = np.log10(found.theory["uo"].error[1:] / found.theory["lo"].error[1:]).mean()
    claims = [
        *found.brackets("the paper conjectures that the truth is always above LC"),
        found.closer("lc", rest),
        check("MW is not tight: mean ratio of the truth to it, while that is above the noise", mw, at_least=1.5),
        check("LO and UO are 1 to 2 orders of magnitude apart: mean number", width, at_least=0.8, at_most=2.0),
    ]
    return sheet.drawn([*claims, *special])


def coincide(found: Comparison, *, apart: bool = False) -> Claim:
    """Check whether D and UC can be told apart."""
    difference = abs(found.theory["d"].error / found.theory["uc"].error - 1).max()
    if apart:
        return check("D and UC differ visibly here: largest relative difference", difference, at_least=0.1)
    return check("D and UC coincide on the plot: largest relative difference", difference, at_most=0.1)


def above_modified(found: Comparison) -> Claim:
    """Check that UO, which bounds a modified error, is below the true error where examples are few."""
    text = "UO bounds a modified error, and the error can be much larger at small n: largest ratio of the truth to UO"
    return check(text, found.ratio("uo").max(), at_least=2.0)


def on_top(found: Comparison, decades: int) -> Claim:
    """Check that the simulation lies on the LC curve, on an axis of some decades."""
    assert found.truth.stderr is not None
    slack = 2 * found.truth.stderr[1:] / found.truth.error[1:]
    distance = np.maximum(abs(np.log(found.ratio("lc"))) - slack, 0.0).max() / np.log(10) / decades
    text = f"the simulation is on top of LC: largest distance, as part of the height of an axis of {decades} decades"
    return check(text, distance, at_most=0.03)


def crossover(found: Comparison) -> Claim:
    """Check that LC is furthest from the truth between the initial and the asymptotic regime."""
    worst = 1 + int(abs(np.log(found.ratio("lc"))).argmax())
    text = "LC deviates most in the crossover between the regimes: LC there, divided by the noise"
    return check(text, found.theory["lc"].error[worst] / found.noise, at_least=0.1, at_most=10.0)


def asymptotic_shape(found: Comparison) -> list[Claim]:
    """Check that Opper's bounds have the shape of the curve in the asymptotic regime only."""
    claims = []
    for name in ("lo", "uo"):
        ratio = found.ratio(name)
        late, early = ratio[~found.initial], ratio[found.initial]
        late_spread, early_spread = late.max() / late.min(), early.max() / early.min()
        text = f"{name} has the shape of the curve only where the error is below the noise: spread of the ratio"
        claims += [
            check(f"{text} there", late_spread, at_most=3.0),
            check(f"{text} before", early_spread, at_least=6.0),
        ]
    return claims


def williams_vivarelli(found: Comparison, *, smooth: bool) -> list[Claim]:
    """Check that WV works well for rough functions, less so for smooth ones, and where it ends."""
    ratio, prior, noise = 1 / found.ratio("wv"), found.truth.error[0], found.noise
    early = ratio[found.initial].max()
    if smooth:
        text = (
            "WV works less well for smooth functions: largest ratio of it to the truth, while that is above the noise"
        )
        claims = [check(text, early, at_least=1.8)]
    else:
        text = "WV works well for rough functions: largest ratio of it to the truth, while that is above the noise"
        claims = [check(text, early, at_most=1.8)]
    if not found.initial.all():
        text = "WV is not useful in the asymptotic regime: largest ratio of it to the truth, below the noise"
        claims.append(check(text, ratio[~found.initial].max(), at_least=2.5))
    limit = gpc.learning_curve(found.truth.problem, "wv", [1e9]).error[0]
    floor = prior / (prior + noise)
    note = "the paper says that WV stays above the noise; corrected: it falls to C(0) noise / (C(0) + noise)"
    text = "WV has a floor near the noise: its limit for large n, divided by the noise"
    return [*claims, check(text, limit / noise, at_least=floor - 1e-5, at_most=floor + 1e-5, note=note)]
