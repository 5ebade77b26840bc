"""Sollich and Halees (2002), Figures 1 to 10: priors, learning curves, and how good bounds can be."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import gpcurves as gpc
from gpcurves.numerics.validation import FloatArray
from gpcurves.papers.gallery import BLUE, DASH, GREEN, ORANGE, PINK, Claim, Drawn, Quality, Sheet, check, figure_of
from gpcurves.papers.sollich1999 import Comparison, capitals, compare, draw_comparisons
from gpcurves.render.wording import in_words, say

figure = partial(figure_of, "Sollich & Halees 2002", "sollich2002")
LOWER, UPPER = ["plaskota", "ov"], ["two"]
USUAL = ["lc", "uc", *LOWER, *UPPER]
EXAMPLES = "number of examples $n$"
ROUGH_LINE = gpc.Problem(gpc.OU(0.01), gpc.Torus(dim=1), noise=0.05)
ROUGH_PLANE = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=2), noise=0.05)
SMOOTH_LINE = gpc.Problem(gpc.RBF(0.01), gpc.Torus(dim=1), noise=0.05)
GAUSSIAN_LINE = gpc.Problem(gpc.RBF(0.01), gpc.Gaussian(dim=1), noise=0.05)


def four_dimensions(inputs: Any, noise: float) -> gpc.Problem:
    """Return the RBF kernel of Figures 5 and 7 to 10."""
    return gpc.Problem(gpc.RBF(0.3), inputs, noise=noise)


@figure("1", "Functions from a rough and from a smooth prior")
def figure_1(quality: Quality) -> Drawn:
    """One function drawn from the prior with OU kernel (left) and one with RBF kernel (right), on the unit
    square, both with lengthscale 0.1 and prior variance 1.
    """
    side = quality.choose(72, 48)
    line = np.linspace(0, 1, side)
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    sheet, claims = Sheet(1, 2), []
    for panel, kernel, power in zip(sheet.panels, (gpc.OU(0.1), gpc.RBF(0.1)), (1, 2), strict=True):
        values = gpc.sample_prior(gpc.Problem(kernel, gpc.Box(dim=2), noise=0.0), points, rng=3).reshape(side, side)
        panel.setup(", ".join(say(kernel, "kernel")), x="$x_1$", y="$x_2$")
        panel.picture("value by place", points, values)
        claims += roughness(kernel, values, power)
    return sheet.finish(claims)


@figure("2", "The error at each input, after 2 and after 100 examples")
def figure_2(quality: Quality) -> Drawn:
    """Generalisation error at each input of [0, 1] for one random data set with 2 (left) and with 100 examples,
    for the RBF kernel with lengthscale 0.1 and noise 0.05 (dashed). Right: 100 examples on a finer scale.
    """
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05)
    inputs = problem.inputs.draw(100, np.random.default_rng(14))
    x = np.linspace(0, 1, 401)[:, None]
    few, many = (gpc.posterior_variance(problem, inputs[:n], x) for n in (2, 100))
    sheet, looks = Sheet(1, 2), (("2 and 100 examples", 1.08), ("100 examples, enlarged", 0.056))
    for panel, (title, top) in zip(sheet.panels, looks, strict=True):
        panel.setup(title, x="input $x$", y=r"error at $x$", ylim=(0, top), xlim=(0, 1))
        if top > 1:
            panel.line("2 examples", x[:, 0], few, color=BLUE)
            panel.axes.plot(
                inputs[:2], [0, 0], "^", color=BLUE, clip_on=False, zorder=5, label="inputs of the 2 examples"
            )
        panel.line("100 examples", x[:, 0], many, color=ORANGE, zorder=3)
        panel.line(r"noise variance $\sigma^2$", [0, 1], [0.05, 0.05], color="black", linestyle=DASH, linewidth=1)
    sheet.legend()
    return sheet.finish(dents(problem, inputs[:2], x, many))


@figure("3", "Rough functions: theory, bounds and truth", takes_changes=True)
def figure_3(quality: Quality) -> Drawn:
    """Learning curves for the OU kernel on the torus with noise 0.05. Left: one dimension, lengthscale 0.01.
    Right: two dimensions, lengthscale 0.1; there the bound WV (Williams-Vivarelli) does not exist.
    """
    line = compare(ROUGH_LINE, 300, [*USUAL, "wv"], (1000, 40), quality)
    plane = compare(ROUGH_PLANE, 300, USUAL, (300, 12), quality)
    claims = quality.claims(lambda: [*usual("d = 1", line), *usual("d = 2", plane), *far_from_tight(line, plane)])
    return draw_comparisons(claims, line, plane)


@figure("4", "Smooth functions: theory, bounds and truth", takes_changes=True)
def figure_4(quality: Quality) -> Drawn:
    """Learning curves for the RBF kernel with lengthscale 0.01 on the circle, noise 0.05. The bound MW starts
    close to Plaskota's and then misses the change at which the error falls below the noise.
    """
    compared = compare(SMOOTH_LINE, 300, [*USUAL, "wv", "mw"], (1000, 40), quality)
    return draw_comparisons(quality.claims(lambda: [*usual("", compared), *two_regimes(compared)]), compared)


@figure("5", "Four dimensions, at two noise levels", takes_changes=True)
def figure_5(quality: Quality) -> Drawn:
    """Learning curves for the RBF kernel with lengthscale 0.3 on the torus in four dimensions. Left: noise 0.05.
    Right: noise 0.001. Kinks of Plaskota's bound are where a block of equal eigenvalues ends.
    """
    high, low = (
        compare(four_dimensions(gpc.Torus(dim=4), noise), 300, USUAL, (600, 20), quality) for noise in (0.05, 0.001)
    )
    claims = quality.claims(lambda: [*usual("noise 0.05", high), *usual("noise 0.001", low), *lower_noise(high, low)])
    return draw_comparisons(claims, high, low)


@figure("6", "Gaussian inputs in one dimension", takes_changes=True)
def figure_6(quality: Quality) -> Drawn:
    """Learning curves for the RBF kernel with lengthscale 0.01 and Gaussian inputs of variance 1/12, noise 0.05.
    WV is the version of the bound for any density.
    """
    n = np.arange(0, 301, quality.choose(2, 10))
    compared = compare(GAUSSIAN_LINE, n, [*USUAL, "wv"], (1000, 40), quality)
    uniform = compare(SMOOTH_LINE, n, ["lc"], (1000, 40), quality)
    return draw_comparisons(quality.claims(lambda: [*usual("", compared), *less_uniform(compared, uniform)]), compared)


@figure("7", "Gaussian inputs in four dimensions: the truth below LC", takes_changes=True)
def figure_7(quality: Quality) -> Drawn:
    """Learning curves for the RBF kernel with lengthscale 0.3 and Gaussian inputs of variance 1/12 in four
    dimensions. Left: noise 0.05. Right: noise 0.001. For small n the truth is below LC, which is therefore no
    bound.
    """
    high, low = (
        compare(four_dimensions(gpc.Gaussian(dim=4), noise), 300, USUAL, (1000, 40), quality) for noise in (0.05, 0.001)
    )
    if quality.changes:  # about which the text says nothing
        return draw_comparisons([], high, low)
    looser = looseness(low, "ov") / looseness(high, "ov")
    claims = [*drops_below("noise 0.05", high, 0.02), *drops_below("noise 0.001", low, 0.05)]
    claims.append(check("OV is useless at low noise: looser by which factor", looser, at_least=5.0))
    return draw_comparisons(claims, high, low)


@figure("8", "The correction for integer n is small")
def figure_8(quality: Quality) -> Drawn:
    """The LC approximation and, times -100, its first-order correction for the discreteness of n, for the
    problem of Figure 7 with noise 0.05.
    """
    problem = four_dimensions(gpc.Gaussian(dim=4), 0.05)
    lc, lc1 = (gpc.learning_curve(problem, name, 300) for name in ("lc", "lc1"))
    sheet = Sheet()
    (panel,) = sheet.panels
    panel.setup(in_words(problem), x=EXAMPLES, y="average squared error", xlim=(0, 300), ylim=(0, 1.05))
    panel.line(r"LC", lc.n, lc.error, color=BLUE)
    panel.line(
        r"correction for integer $n$, times $-100$", lc.n, -100 * (lc1.error - lc.error), color=PINK, linestyle=DASH
    )
    panel.legend()
    return sheet.finish(small(lc, lc1, quality))


@figure("9", "The same spectrum, another learning curve", takes_changes=True)
def figure_9(quality: Quality) -> Drawn:
    """As Figure 5, noise 0.05, with the exact curve of the degenerate scenario: the same eigenvalues and noise,
    but no correlation between different inputs.
    """
    problem = four_dimensions(gpc.Torus(dim=4), 0.05)
    compared = compare(problem, 300, ["lc", "uc", *UPPER, "degenerate"], (600, 20), quality)
    return draw_comparisons(quality.claims(lambda: same_spectrum(compared)), compared)


@figure("10", "Plaskota's bound is nearly reached")
def figure_10(quality: Quality) -> Drawn:
    """Plaskota's bound (solid) and the lowest error of any single data set of the degenerate scenario (dashed),
    for the spectra of Figures 5 and 7 (RBF kernel, lengthscale 0.3, four dimensions) and two noise levels.
    """
    sheet, ratios, gaps = Sheet(), {}, {}
    panel, n = sheet.panels[0], np.arange(301)
    panel.setup(
        "RBF kernel, lengthscale 0.3; four dimensions", EXAMPLES, "average squared error", yscale="log", xlim=(0, 300)
    )
    both, levels = {"uniform": gpc.Torus(dim=4), "Gaussian": gpc.Gaussian(dim=4)}, (0.05, 0.001)
    cases = {f"{name}, {noise}": four_dimensions(inputs, noise) for name, inputs in both.items() for noise in levels}
    for colour, (label, problem) in zip((BLUE, ORANGE, GREEN, PINK), cases.items(), strict=True):
        bound, best = gpc.learning_curve(problem, "plaskota", n).error, gpc.degenerate_best(problem, n)
        panel.line(f"{label}: Plaskota", n, bound, color=colour, linewidth=2.6, alpha=0.75)
        panel.line(f"{label}: best data set", n, best, color="black", linestyle=DASH, linewidth=1)
        panel.name(
            f"{label.replace(', ', ' inputs, noise ')}", n[-1], bound[-1], colour, va="center", annotation_clip=False
        )
        ratios[label], gaps[label] = best / bound, best - bound
    panel.legend(handles=panel.axes.lines[:2], labels=["Plaskota's bound", "best data set"])
    return sheet.finish(nearly_reached(ratios, gaps, four_dimensions(both["uniform"], 0.0)))


def roughness(kernel: Any, values: FloatArray, power: int) -> list[Claim]:
    """Check how much a function on the unit square varies, over a small distance and over its lengthscale."""
    kind, steps = type(kernel).__name__, round(0.1 * (len(values) - 1))
    growth = np.log2(increments(values, 2) / increments(values, 1))
    expected = 2 - 2 * kernel(np.zeros((1, 2)), np.array([[steps / (len(values) - 1), 0.0]])).item()
    ratio = increments(values, steps) / expected
    small = f"{kind} functions: squared increments grow with which power of a small distance"
    large = f"{kind} functions vary over the lengthscale: squared increment there, over its expectation"
    return [
        check(small, growth, at_least=power - 0.25, at_most=power + 0.1, expected=f"{power}"),
        check(large, ratio, at_least=0.7, at_most=1.3),
    ]


def increments(values: FloatArray, steps: int) -> float:
    """Return the mean squared difference of values some steps apart, along both sides."""
    along, across = values[steps:] - values[:-steps], values[:, steps:] - values[:, :-steps]
    return float((np.mean(along**2) + np.mean(across**2)) / 2)


def dents(problem: gpc.Problem, examples: FloatArray, x: FloatArray, many: FloatArray) -> list[Claim]:
    """Check that few examples dent the error, and that many push it below the noise."""
    noise = problem.noise
    few, there = (gpc.posterior_variance(problem, examples, at) for at in (x, examples))
    shape = 1 - (problem.kernel(x, examples) ** 2).sum(axis=1) / (1 + noise)
    less = gpc.posterior_variance(gpc.Problem(problem.kernel, problem.inputs, noise=noise / 2), examples, x)
    floor, change, off = there.max() * (1 + noise) / noise, few.mean() / less.mean() - 1, abs(few - shape).max()
    return [
        check("2 examples: each dents the error in the shape of the squared kernel", off, at_most=0.03),
        check("2 examples: outside the dents the error is the prior variance 1, largest", few.max(), at_least=0.99),
        check("2 examples: error at an example over noise / (1 + noise)", floor, at_least=0.97, at_most=1.03),
        check("2 examples: average error over the noise, much above 1", few.mean() / noise, at_least=5.0),
        check("2 examples: half the noise changes the average error little", change, at_most=0.05),
        check("100 examples: the error is below the noise everywhere, largest ratio", many.max() / noise, at_most=1.0),
    ]


def usual(case: str, compared: Comparison) -> list[Claim]:
    """Check what the text says about every comparison: the bounds are loose, LC and UC bracket the truth closely."""
    above = [name for name in ("two", "wv") if name in compared.theory]
    claims = [*compared.brackets(), compared.closer("lc", LOWER), compared.closer("uc", above)]
    claims += [loose(compared, name, 1.5) for name in LOWER]
    return [replace(claim, text=f"{case}: {claim.text}" if case else claim.text) for claim in claims]


def looseness(compared: Comparison, name: str) -> float:
    """Return the largest factor between a bound and the truth."""
    return float(np.exp(abs(np.log(compared.ratio(name))).max()))


def loose(compared: Comparison, name: str, factor: float, case: str = "") -> Claim:
    """Check that a bound is far from the truth."""
    text = f"{case}{capitals(name)} is loose: largest factor between it and the truth"
    return check(text, looseness(compared, name), at_least=factor)


def far_from_tight(line: Comparison, plane: Comparison) -> list[Claim]:
    """Check that TWO is loose for rough functions, and WV better if it exists."""
    better = line.distance("wv") / line.distance("two")
    return [
        loose(line, "two", 1.5, "d = 1: "),
        loose(plane, "two", 1.3, "d = 2: "),
        check("d = 1: WV is closer to the truth than TWO, ratio of mean distances", better, at_most=1.0),
    ]


def two_regimes(compared: Comparison) -> list[Claim]:
    """Check which curves show the change from the initial to the asymptotic regime."""
    rough = gpc.learning_curve(ROUGH_LINE, "lc", [300]).error[0] / compared.truth.error[-1]
    errors = {name: curve.error for name, curve in compared.theory.items()} | {"truth": compared.truth.error}
    bend = {name: pace(error[20:41]) / pace(error[250:]) for name, error in errors.items()}
    hasty = pace(errors["ov"][:11]) / pace(errors["truth"][:11])
    close = errors["mw"] / errors["plaskota"]
    rate = "decay rate at n = 20 to 40 over that at 250 to 300"
    late = "OV is of use in the asymptotic regime: ratio of the truth to it at n = 300"
    return [
        check("smooth functions are learnt faster: OU error (LC) over RBF error at n = 300", rough, at_least=3.0),
        check(f"the truth slows down in the asymptotic regime: {rate}", bend["truth"], at_least=2.0),
        check(f"LC captures the change: {rate}", bend["lc"], at_least=2.0),
        check(f"Plaskota's bound captures it: {rate}", bend["plaskota"], at_least=2.0),
        check(f"MW misses it: {rate}", bend["mw"], at_most=1.0),
        check("MW is first close to Plaskota's bound: ratio at n = 20", close[20], at_least=0.9),
        check("MW is far from Plaskota's bound later: ratio at n = 100", close[100], at_most=0.2),
        check("OV has the wrong shape at first: decay rate up to n = 10 over that of the truth", hasty, at_least=4.0),
        check(late, compared.ratio("ov")[-1], at_most=2.0),
    ]


def pace(error: FloatArray) -> float:
    """Return the mean rate at which the logarithm of an error falls."""
    return float(np.log(error[0] / error[-1]) / (len(error) - 1))


def lower_noise(high: Comparison, low: Comparison) -> list[Claim]:
    """Check what lower noise does to the bounds, and where Plaskota's bound changes its slope most."""
    ov, plaskota = (looseness(low, name) / looseness(high, name) for name in ("ov", "plaskota"))
    change = abs(low.theory["two"].error / high.theory["two"].error - 1).max()
    ends = np.cumsum(low.truth.problem.spectrum.multiplicities)
    bends = abs(np.diff(np.log(low.theory["plaskota"].error), 2))[1:]  # the first at n = 2
    missed = max(float(abs(ends - n).min()) for n in 2 + np.argsort(-bends)[:4])
    kinks = (
        "the kinks of Plaskota's bound are where blocks of equal eigenvalues end: largest distance of the 4 sharpest"
    )
    return [
        check("OV is looser at lower noise: by which factor", ov, at_least=5.0),
        check("Plaskota's bound is looser at lower noise: by which factor", plaskota, at_least=1.5),
        check("Plaskota's bound suffers less than OV: ratio of the factors", plaskota / ov, at_most=0.5),
        check("TWO is only weakly affected by the noise: largest relative change", change, at_most=0.1),
        loose(high, "two", 3.0, "noise 0.05: "),
        loose(low, "two", 3.0, "noise 0.001: "),
        check(kinks, missed, at_most=1.0),
    ]


def less_uniform(compared: Comparison, uniform: Comparison) -> list[Claim]:
    """Check that WV stays tight for Gaussian inputs while LC does not."""
    tight = (1 / compared.ratio("wv")).max()
    farther = compared.distance("lc") / uniform.distance("lc")
    worse = compared.ratio("lc")[-1] / uniform.ratio("lc")[-1]
    text = "LC is worse than for uniform inputs"
    return [
        check("WV is reasonably tight: largest ratio of it to the truth", tight, at_most=2.0),
        check(f"{text}: mean distance from the truth over that in Figure 4", farther, at_least=1.0),
        check(f"{text}: truth over LC at n = 300, over that in Figure 4", worse, at_least=1.2),
    ]


def drops_below(case: str, compared: Comparison, least: float) -> list[Claim]:
    """Check that the truth is below LC for small n, by more than chance, and below UC everywhere."""
    ratio = compared.ratio("lc")
    lowest = int(ratio.argmin())
    assert compared.truth.stderr is not None
    sigmas = (1 / ratio[lowest] - 1) * compared.truth.error[1:][lowest] / compared.truth.stderr[1:][lowest]
    drop = f"{case}: the truth drops visibly below LC, by which part (at n = {lowest + 1})"
    return [
        check(drop, 1 - ratio[lowest], at_least=least),
        check(f"{case}: that is how many standard errors", sigmas, at_least=4.0),
        check(f"{case}: for large n the truth is above LC, ratio at n = 300", ratio[-1], at_least=1.0),
        check(f"{case}: the truth is below UC, largest ratio", compared.ratio("uc").max(), at_most=1.01),
    ]


def small(lc: gpc.LearningCurve, lc1: gpc.LearningCurve, quality: Quality) -> list[Claim]:
    """Check that the correction is small, of one sign, and does not make LC a bound."""
    correction = lc1.error - lc.error
    datasets = quality.choose(1000, 40)
    truth = gpc.learning_curve(lc.problem, "simulation", 60, datasets=datasets, rng=0, **quality.running)
    drop = 1 - (truth.error[1:] / lc1.error[1:61]).min()
    note = "the paper points to Figure 6, where the truth is above LC; Figure 7 is meant"
    share = (-correction / lc.error).max()
    return [
        check("the correction is about 1 % of LC or less: largest share", share, at_least=0.003, at_most=0.015),
        check("the correction vanishes without examples", abs(correction[0]), at_most=1e-12),
        check("the correction is negative for all other n: largest", correction[1:].max(), at_most=-1e-6),
        check("LC1 is no lower bound either: how far the truth drops below it", drop, at_least=0.02, note=note),
    ]


def same_spectrum(compared: Comparison) -> list[Claim]:
    """Check that the spectrum alone does not determine the curve."""
    degenerate, uc, two = (compared.theory[name].error[1:] for name in ("degenerate", "uc", "two"))
    above = max((degenerate / two).max(), compared.ratio("two").max())
    differ = (1 / compared.ratio("degenerate")).max()
    under = "UC underestimates the degenerate curve, so it is no upper bound: largest ratio"
    return [
        check("the same spectrum has quite different curves: largest ratio", differ, at_least=2.0),
        check(under, (degenerate / uc).max(), at_least=1.3),
        check("TWO, a bound, is above both: largest ratio of a curve to it", above, at_most=1.0 + 1e-9),
    ]


def nearly_reached(ratios: dict[str, FloatArray], gaps: dict[str, FloatArray], noise_free: gpc.Problem) -> list[Claim]:
    """Check that the best data set is close to Plaskota's bound, closer at lower noise, and reaches it without noise."""
    claims = []
    for label, ratio in ratios.items():
        far = np.flatnonzero(ratio > 1.5)
        note = f"the paper calls all curves close; later, these are up to a factor of {ratio.max():.2g} apart"
        text = f"{label}: the curves are close, largest ratio up to n = 100"
        claims.append(check(text, ratio[:101].max(), at_least=1.0, at_most=1.5, note=note if len(far) else ""))
    for inputs in ("uniform", "Gaussian"):
        high, low = f"{inputs}, 0.05", f"{inputs}, 0.001"
        farther = np.flatnonzero(ratios[low] > ratios[high] + 1e-9)
        note = "the paper says closer at any n; true of the difference, but not of the ratio from n = {} on"
        text = f"{inputs}: at each n the curves are closer for lower noise, largest ratio of the differences"
        gap = (gaps[low][2:] / gaps[high][2:]).max()
        claims.append(check(text, gap, at_most=1.0, note=note.format(farther[0]) if len(farther) else ""))
    best, bound = gpc.degenerate_best(noise_free, 300), gpc.learning_curve(noise_free, "mw", 300).error
    text = "without noise the bound, then that of MW, is reached: largest relative difference"
    return [*claims, check(text, abs(best / bound - 1).max(), at_most=1e-7)]
