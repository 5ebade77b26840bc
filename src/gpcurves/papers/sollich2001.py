"""Sollich (NIPS 2001), "Gaussian process regression with mismatched models": its three scenarios, from the formulas.

The text of the paper was not at hand. These are its scenarios, plateaux, several overfitting maxima and logarithmically slow
learning, with parameters of our own. Claims are about the scenarios; none is about a number of its figures.
"""

from __future__ import annotations

from math import comb

import numpy as np

import gpcurves as gpc
from gpcurves.papers.gallery import BLUE, DASH, DOT, GREEN, ORANGE, Claim, Drawn, Quality, Sheet, check, figure_of

DIM = 100
DEGREES = np.arange(4)
COUNTS = np.array([comb(DIM, degree) for degree in DEGREES], dtype=np.float64)
"""Functions of each degree of inputs with 100 binary components: 1, 100, 4,950 and 161,700."""
TAUGHT = np.array([0.1, 0.4, 0.3, 0.2])  # power of the true function in each degree
LEARNT = np.cumsum(COUNTS)  # examples that determine all functions up to a degree
EXAMPLES, ERROR = "number of examples n", "average squared error"


def degrees_problem(student: float, noise: float, true_noise: float) -> gpc.Problem:
    """Return a student whose prior variance falls by a factor from degree to degree, and a teacher with a slower decay."""
    mass = student**DEGREES
    spectrum = gpc.Spectrum(mass / mass.sum() / COUNTS, COUNTS)
    coefficients = np.repeat(np.sqrt(TAUGHT / COUNTS), COUNTS.astype(int))
    return gpc.SpectrumProblem(spectrum, noise, gpc.Teacher(coefficients=coefficients, noise=true_noise))


def maxima_of(curve: gpc.LearningCurve) -> list[float]:
    """Return the sizes at which a curve has a maximum."""
    inner = curve.error[1:-1]
    found = (inner > curve.error[:-2]) & (inner > curve.error[2:])
    return [float(size) for size in curve.n[1:-1][found]]


def plateaux(curve: gpc.LearningCurve) -> list[Claim]:
    """Check that between two degrees the error stays near the power of the degrees not yet learnt."""
    claims = []
    for degree in (1, 2):
        n = float(np.sqrt(LEARNT[degree] * COUNTS[degree + 1]))
        left = float(TAUGHT[degree + 1 :].sum())
        found = float(np.interp(np.log(n), np.log(curve.n), curve.error))
        text = f"at n = {n:,.0f} degrees up to {degree} are learnt: error over the variance of higher degrees"
        claims.append(check(text, found / left, at_least=0.8, at_most=1.4, expected="a plateau"))
    return claims


def slow(wrong: gpc.LearningCurve, right: gpc.LearningCurve) -> list[Claim]:
    """Check that one curve falls as one over the root of the logarithm, and the other as a power."""
    late = wrong.n >= 1e6
    n, error = wrong.n[late], wrong.error[late]
    product = error * np.sqrt(np.log(n / wrong.problem.noise))
    fall = -np.diff(np.log(right.error[late])).mean() / np.diff(np.log(n)).mean()
    text = "error times the root of ln(n/noise) from n = 1e6 on: largest over smallest"
    return [
        check(text, product.max() / product.min(), at_most=1.15, expected="constant"),
        check("error at n = 1e14 over that at 1e6", error[-1] / error[0], at_least=0.5, expected="slow"),
        check(
            "power of 1/n by which the error of the right model falls",
            fall,
            at_least=0.45,
            at_most=0.55,
            expected="1/2",
        ),
    ]


@figure_of("Sollich 2001", "sollich2001", "1", "Plateaux: one degree is learnt after the other")
def figure_1(quality: Quality) -> Drawn:
    """Functions of 100 binary inputs: 1, 100, 4,950 and 161,700 functions of degree 0 to 3. The prior variance of the model (student) falls
    by a factor of 10 with each degree, that of the true process (teacher) much less. With noise the error goes down in steps, each to the variance
    of the degrees not yet learnt (dotted).
    """
    sheet = Sheet()
    n = np.geomspace(1, 1e6, quality.choose(400, 120))
    (panel,) = sheet.panels
    panel.setup("Model with a steep prior, noise variance 0.01", x=EXAMPLES, y=ERROR, xscale="log", yscale="log")
    curve = gpc.learning_curve(degrees_problem(0.1, 0.01, 0.01), "lc", n)
    panel.curve("misspecified, LC", curve, color=BLUE)
    for degree in (0, 1, 2):
        left = np.full(2, TAUGHT[degree + 1 :].sum())
        panel.line(f"power above degree {degree}", n[[0, -1]], left, color="#8a8a8a", linestyle=DOT, linewidth=1)
        panel.name(f"all degrees up to {degree} learnt", n[0], left[0], va="top", xytext=(2, -3))
    panel.name("misspecified, LC", n[0], curve.error[0], BLUE, xytext=(40, -6))
    return sheet.finish(plateaux(curve))


@figure_of("Sollich 2001", "sollich2001", "2", "Several overfitting maxima")
def figure_2(quality: Quality) -> Drawn:
    """As Figure 1, for a model that assumes little noise and small contributions of higher degrees. It mistakes these contributions
    for signal of the degree that it is about to learn. So the error has a maximum when there are as many examples as functions up
    to that degree (dotted). More assumed noise removes the maxima (dashed).
    """
    sheet = Sheet()
    n = np.geomspace(2, 1e6, quality.choose(2000, 700))
    (panel,) = sheet.panels
    panel.setup("Model with a very steep prior", x=EXAMPLES, y=ERROR, xscale="log", yscale="log")
    low = gpc.learning_curve(degrees_problem(1e-3, 1e-10, 1e-10), "lc", n)
    high = gpc.learning_curve(degrees_problem(1e-3, 0.5, 1e-10), "lc", n)
    panel.curve("assumed noise 1e-10", low, color=ORANGE)
    panel.curve("assumed noise 0.5", high, color=GREEN, linestyle=DASH)
    for size in LEARNT[1:]:
        panel.line(f"{size:.0f} functions", np.full(2, size), np.array([1e-4, 20.0]), color="#8a8a8a", linestyle=DOT)
        panel.name(f"{size:,.0f} functions", size, 1e-4, ha="right", xytext=(-3, 0))
    panel.legend(loc="center left", handles=panel.axes.lines[:2])
    maxima = maxima_of(low)
    claims = [check("number of overfitting maxima", len(maxima), at_least=2, expected="several")]
    for size in LEARNT[1:3]:
        nearest = min(maxima, key=lambda found: abs(np.log(found / size)), default=np.inf)
        text = f"a maximum near n = {size:,.0f}, the number of functions: ratio of the two"
        claims.append(check(text, nearest / size, at_least=0.9, at_most=1.1))
    claims.append(check("number of maxima of a model that assumes much noise", len(maxima_of(high)), at_most=0))
    return sheet.finish(claims)


@figure_of("Sollich 2001", "sollich2001", "3", "Logarithmically slow learning")
def figure_3(quality: Quality) -> Drawn:
    """The model assumes an RBF kernel, but the data come from an OU kernel, both with lengthscale 0.1 on the circle, noise 0.1. The
    model's eigenvalues fall so fast that the number of waves it learns grows only as the square root of ln n, and the error falls
    as the inverse of that root. With the right kernel the error falls as a power of n.
    """
    sheet = Sheet(1, 2)
    left, right = sheet.panels
    n = np.geomspace(1e2, 1e14, quality.choose(100, 40))
    teacher = gpc.Teacher(gpc.OU(0.1), 0.1)
    wrong = gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1, teacher), "lc", n)
    right_model = gpc.learning_curve(gpc.Problem(gpc.OU(0.1), gpc.Torus(1), 0.1), "lc", n)
    left.setup("RBF model, OU truth", x=EXAMPLES, y=ERROR, xscale="log", yscale="log")
    left.curve("misspecified", wrong, color=ORANGE)
    left.curve("well specified", right_model, color=BLUE, linestyle=DASH)
    left.legend(loc="lower left")
    root = np.sqrt(np.log(n / 0.1))
    right.setup(
        "Error times the root of the logarithm", x=EXAMPLES, y=r"$\epsilon\,\sqrt{\ln(n/\sigma^2)}$", xscale="log"
    )
    right.line("misspecified", n, wrong.error * root, color=ORANGE)
    return sheet.finish(slow(wrong, right_model))
