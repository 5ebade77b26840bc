"""Urry and Sollich (2013), Figures 1 to 12: random walk kernels on random graphs, and how fast one learns with them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np

import gpcurves as gpc
from gpcurves.graphs import Ensemble, Normalisation, tree
from gpcurves.numerics.validation import FloatArray
from gpcurves.papers import urry2013_claims as claim
from gpcurves.papers.gallery import BLUE, DASH, DOT, GREEN, ORANGE, Drawn, Panel, Quality, Sheet, check, figure_of
from gpcurves.papers.urry2013_claims import POISSON, POWER, REGULAR, TITLES, NoiseLevels, part, vectors_on, walk_problem

figure = partial(figure_of, "Urry & Sollich 2013", "urry2013")
COLOURS = {1.0: BLUE, 0.1: "#56B4E9", 0.01: GREEN, 1e-3: "#E69F00", 1e-4: ORANGE}
"""Noise levels; the paper does not list its own, of which 0.1 and 0.0001 are known from Figures 9 and 11."""
NOISES = (list(COLOURS), [1.0, 0.01, 1e-4])
STYLES = {
    "simulation": {"linestyle": "-", "linewidth": 2.2, "alpha": 0.75},
    "cavity": {"linestyle": DASH, "linewidth": 1.1, "color": "black"},
    "eigenvalue": {"linestyle": DOT, "linewidth": 1.6},
}
PER_VERTEX = r"examples per vertex $\nu$"
ERROR = r"error $\epsilon$"


@figure("1", "Long walks on a tree do not correlate everything")
def figure_1(quality: Quality) -> Drawn:
    """Left: random walk kernel on the 3-regular tree (a = 2) by distance, for walks of p steps, and its limit.
    Right: the kernel between neighbours on random 3-regular graphs with 500 vertices (points) and on the tree
    (lines) against p/a; cycles matter from the dotted line on.
    """
    sheet, walks = Sheet(1, 2), (1, 2, 5, 10, 20, 50, 200, 1000)
    left, right = sheet.panels
    by_distance(left, walks)
    lengths, threshold = np.unique(np.geomspace(1, 60, quality.choose(18, 9)).astype(int)), tree.cycle_threshold(3, 500)
    right.setup("Neighbours", x="$p/a$", y="correlation of neighbours", xscale="log")
    graphs = [REGULAR.sample(500, rng=seed) for seed in range(quality.choose(5, 1))]
    for a, colour, size in ((2, BLUE, 7), (4, ORANGE, 3)):
        on_tree = np.array([tree.tree_kernel(3, a * p, a)[1] for p in lengths.tolist()])
        kernels = [gpc.RandomWalkKernel(a * p, a, "global") for p in lengths.tolist()]
        on_graphs = [[tree.mean_correlation(graph, kernel) for graph in graphs] for kernel in kernels]
        right.line(f"$C_{{1,p}}$, tree, $a={a}$", lengths, on_tree, color=colour)
        dots: dict[str, Any] = {
            "color": colour,
            "marker": "o",
            "linestyle": "",
            "markersize": size,
            "fillstyle": "none",
        }
        right.line(f"$K_{{1,p}}$, graphs of 500, $a={a}$", lengths, np.mean(on_graphs, axis=1), **dots)
    right.axes.axvline(threshold, color="black", linestyle=DOT, label=r"cycles matter: $\log V/\log(d-1)$")
    right.legend(loc="lower right", frameon=True, edgecolor="none", framealpha=0.95)
    apart = np.mean(on_graphs, axis=1) - on_tree
    return sheet.finish([*claim.grows_to_a_limit(walks), *claim.cycles_matter(lengths, apart, on_tree, threshold)])


@figure("2", "Prior variances under global normalisation")
def figure_2(quality: Quality) -> Drawn:
    """Prior variances of the random walk kernel (a = 2, p = 10, average 1) over the vertices of one graph with
    10,000 vertices (grey; quick: 4,000) and in the limit of large graphs by the cavity method (black). Left:
    Erdős-Rényi graph with mean degree 3. Right: power law with exponent 2.5 and cutoff 2. Insets: the tail, on a
    logarithmic scale.
    """
    sheet, claims, edges = Sheet(1, 2), [], np.linspace(0, 9, 181)
    results = {}
    for panel, ensemble in zip(sheet.panels, (POISSON, POWER), strict=True):
        graph = claim.diagnosed_in_full(ensemble.sample(quality.choose(10_000, 4_000), rng=1))
        problem, precision = walk_problem(ensemble, "global", 0.1), quality.choose(0.001, 0.01)
        limit = gpc.vertex_variances(problem, 0, "cavity", precision=precision, rng=1)
        panel.setup(TITLES[ensemble], x="prior variance $C_{ii}$", y="density", xlim=(-0.1, 9), ylim=(0, 1.6))
        inset = panel.inset((0.4, 0.4, 0.57, 0.52), f"{TITLES[ensemble]}, tail")
        inset.axes.set(yscale="log", xlim=(1, 9), ylim=(1e-4, 2))
        for axes in (panel, inset):
            histogram(axes, graph.variances, limit, edges)
        panel.legend(loc="upper right", bbox_to_anchor=(1.0, 0.3))
        results[ensemble] = graph, limit
        claims += claim.variances_of(ensemble, graph, limit, edges)
    return sheet.finish([*claims, *claim.tails_of(results)])


@figure("3", "Learning curves with global normalisation", takes_changes=True)
def figure_3(quality: Quality) -> Drawn:
    """Error against examples per vertex for the globally normalised random walk kernel (p = 10, a = 2) and
    several noise levels: simulation on graphs of 500 vertices (quick: 300), cavity method, eigenvalue theory.
    3-regular graphs, Erdős-Rényi graphs with mean degree 3, and a power law with exponent 2.5 and cutoff 2.
    """
    sheet, claims = Sheet(2, 2), []
    for panel, ensemble in zip(sheet.panels, (REGULAR, POISSON, POWER), strict=False):
        levels = levels_of(ensemble, "global", STYLES, quality)
        by_noise(panel, TITLES[ensemble], levels)
        if not quality.changes:
            claims += [claim.agreement(ensemble, levels), *claim.eigenvalues_fail(ensemble, levels)]
    key(sheet.panels[-1], levels, STYLES)
    return sheet.finish(claims)


@figure("4", "Curves for long walks collapse when the examples are scaled")
def figure_4(quality: Quality) -> Drawn:
    """Learning curves on random 3-regular graphs (a = 2, noise 0.1) for walks of p steps, with the number of
    examples scaled. Left: eigenvalue theory for infinitely large graphs approaches the master curve as walks get
    longer. Right: simulation on graphs of 500 vertices, where longer walks would meet cycles, and theory (dotted).
    """
    sheet, scaled = Sheet(1, 2), np.geomspace(0.1, 1000, quality.choose(41, 21))
    left, right = sheet.panels
    looks: dict[str, Any] = {"x": r"$\nu p^{3/2}$", "y": ERROR, "xscale": "log", "yscale": "log", "ylim": (1e-3, 1.3)}
    walks, few = (5, 10, 15, 20, 50, 100, 200, 500), (5, 10, 15, 20)
    left.setup("Eigenvalue theory", **looks)
    right.setup("Simulation, and theory for the same $p$ (dotted)", **looks)
    theory, truth = {}, {}
    for p, colour in zip(walks, shades(len(walks)), strict=True):
        problem = walk_problem(REGULAR, "global", 0.1, p=p)
        theory[p] = gpc.learning_curve(problem, "mckay", nu=scaled / p**1.5)
        left.line(f"$p={p}$", scaled, theory[p].error, color=colour)
        if p in few:
            truth[p] = simulate(problem, scaled / p**1.5, quality, graphs=quality.choose(20, 6), vertices=500)
            right.line(f"$p={p}$", scaled, truth[p].error, truth[p].stderr, color=colour, linewidth=2.2)
            right.line(f"theory, $p={p}$", scaled, theory[p].error, color="black", linestyle=DOT, linewidth=1.4)
    master = gpc.learning_curve(walk_problem(REGULAR, "global", 0.1, p=1000), "master", nu=scaled / 1000**1.5)
    for panel in sheet.panels:
        panel.line("master curve", scaled, master.error, color="black", linestyle=DASH)
    sheet.legend([left], columns=5)
    return sheet.finish(claim.collapse(scaled, theory, truth, master))


@figure("5", "Learning curves with local normalisation", takes_changes=True)
def figure_5(quality: Quality) -> Drawn:
    """As Figure 3 for the locally normalised kernel, on Erdős-Rényi (left) and power law graphs (right). Above:
    simulation and cavity method. Middle: both normalisations by the cavity method, which is the exact one here and not
    the paper's equation (29). Below: what isolated vertices contribute (dotted); the paper has it as an inset.
    """
    sheet, claims = Sheet(3, 2, height=3.3), []
    for ensemble, above, below in zip((POISSON, POWER), sheet.panels[:2], sheet.panels[2:4], strict=True):
        levels = levels_of(ensemble, "local", ("simulation", "cavity"), quality)
        wider = {noise: quality.change(walk_problem(ensemble, "global", noise), but="noise") for noise in levels}
        other = {noise: curve_of(problem, "cavity", quality) for noise, problem in wider.items()}
        by_noise(above, f"{TITLES[ensemble]}, local normalisation", levels)
        if ensemble is POISSON:
            isolated(sheet.panels[4], levels)
        below.setup(f"{TITLES[ensemble]}, both normalisations", x=PER_VERTEX, y=ERROR, xscale="log", yscale="log")
        for noise, curves in levels.items():
            below.curve(f"local, {power_of_ten(noise)}", curves["cavity"], color=colour_of(noise), linestyle=DASH)
            below.curve(f"global, {power_of_ten(noise)}", other[noise], color=colour_of(noise))
        if not quality.changes:
            claims += [claim.agreement(ensemble, levels), *claim.shoulder(ensemble, levels, other)]
    lines: dict[str, dict[str, Any]] = {
        "middle: local": {"linestyle": DASH},
        "middle: global": {"linestyle": "-"},
        "below: isolated": {"linestyle": DOT},
    }
    above_all: dict[str, dict[str, Any]] = {name: STYLES[name] for name in ("simulation", "cavity")}
    key(sheet.panels[5], levels, above_all | lines)
    return sheet.finish([*claims, *quality.claims(lambda: [claim.simplified(quality)])])


@figure("6", "Posterior variances over the vertices")
def figure_6(quality: Quality) -> Drawn:
    """Distribution of posterior variances for the locally normalised kernel (a = 2, p = 10) on Erdős-Rényi
    graphs with mean degree 3: ten data sets on each of ten graphs with 1000 vertices (grey; quick: 4 and 4 with
    400) and the cavity method (black), after 1.172 (left) and 6.210 (right) examples per vertex. The paper does
    not say which noise; here it is 0.1.
    """
    sheet, claims = Sheet(1, 2), []
    vertices, each = quality.choose((1000, 10), (400, 4))
    amounts: dict[str, Any] = {"vertices": vertices, "graphs": each, "datasets": each}
    for nu, top, number in ((1.172, 0.25, 0), (6.210, 0.05, 1), (0.3, 1.0, None), (3.0, 0.1, None)):
        problem, edges = walk_problem(POISSON, "local", 0.1), np.linspace(0, top, 101)
        truth = gpc.vertex_variances(problem, nu, rng=1, **amounts, **quality.running)
        limit = gpc.vertex_variances(problem, nu, "cavity", precision=quality.choose(0.002, 0.01), rng=1)
        text = f"ν = {nu:g}: cavity and simulated distribution agree: largest difference of the shares below a value"
        claims.append(check(text, claim.furthest(truth.values, limit, edges), at_most=0.03))
        if number is not None:
            panel = sheet.panels[number]
            panel.setup(
                rf"$\nu={nu:.3f}$", x="posterior variance", y="density", yscale="log", xlim=(0, top), ylim=(0.05, 500)
            )
            histogram(panel, truth.values, limit, edges)
            panel.legend()
    return sheet.finish(claims)


@figure("7", "A global student of a local teacher")
def figure_7(quality: Quality) -> Drawn:
    """Simulated error of models (students) that assume the globally normalised kernel (p = 10, a = 2), while the true
    kernel (the teacher's) is normalised locally, averaged over 15 graphs of 500 vertices, and over 40 for noise of 0.0001
    (quick: 6 and 70 of 250). Left: Erdős-Rényi graphs with mean degree 3. Right: power law. Dashed: the cavity method for a
    misspecified model, which the paper does not have.
    """
    return draw_crossed("global", "local", quality, {1e-4: 40})


@figure("8", "A local student of a global teacher")
def figure_8(quality: Quality) -> Drawn:
    """As Figure 7, for models that assume the locally normalised kernel, while the true kernel is normalised globally,
    and with 60 graphs for noise of 0.001 and 0.0001. Bands are wide if single graphs have errors that are many times the average.
    """
    return draw_crossed("local", "global", quality, {1e-3: 60, 1e-4: 60})


@figure("9", "How much the error differs between vertices")
def figure_9(quality: Quality) -> Drawn:
    """Variance of the posterior variances over the vertices of a graph, for locally (stars) and globally
    (circles) normalised kernels (p = 10, a = 2, noise 0.1), simulated on graphs of 500 vertices (quick: 300). The
    step of the circles near four examples per vertex is due to chance: isolated pairs of vertices without any label
    have most of the variance, and none of the 400 data sets leaves one beyond. Left: Erdős-Rényi graphs with mean degree 3. Right: power law with exponent 2.5 and cutoff 2.
    """
    sheet, claims = Sheet(1, 2), []
    nu = np.concatenate(([0.0], np.geomspace(0.01, 10, quality.choose(40, 13))))
    for panel, ensemble in zip(sheet.panels, (POISSON, POWER), strict=True):
        panel.setup(TITLES[ensemble], x=PER_VERTEX, y="variance of the error over vertices", xscale="log", yscale="log")
        problems = [walk_problem(ensemble, how, 0.1) for how in ("local", "global")]
        amounts = quality.choose({"graphs": 80, "datasets": 5}, {"graphs": 20, "datasets": 2})
        curves = (simulate(problem, nu, quality, **amounts) for problem in problems)
        local, overall = (curve.details["variance"] for curve in curves)
        for name, variance, marker, colour in (("local", local, "*", ORANGE), ("global", overall, "o", BLUE)):
            panel.line(name, nu[1:], variance[1:], marker=marker, color=colour, linewidth=1)
        panel.legend()
        claims += claim.spread_over_vertices(ensemble, nu, local, overall)
    return sheet.finish(claims)


@figure("10", "How long walks on a tree approach their limit")
def figure_10(quality: Quality) -> Drawn:
    """Weight of the shell at distance l of the 3-regular tree (a = 2) after p steps, scaled, against l divided
    by the root of p, and the form that it approaches (dashed). The exponent of that form is corrected.
    """
    sheet, walks = Sheet(), (10, 30, 100, 300, 1000, 3000)
    (panel,) = sheet.panels
    panel.setup("3-regular tree, $a=2$", r"distance $l/\sqrt{p}$", r"weight of the shell, $p\,\rho_{l,p}$", xlim=(0, 4))
    for p, colour in zip(walks, shades(len(walks)), strict=True):
        shown = np.arange(p + 1) <= 4 * np.sqrt(p)
        panel.line(f"$p={p}$", np.arange(p + 1)[shown] / np.sqrt(p), tree.shell_profile(3, p)[shown], color=colour)
    limit = tree.scaling_form(3, 10_000, shift=False)[:401]
    panel.line(r"$p\to\infty$", np.arange(401) / 100, limit, color="black", linestyle=DASH)
    panel.legend()
    return sheet.finish(claim.cut_off(walks))


@figure("11", "Where a global student of a local teacher fails")
def figure_11(quality: Quality) -> Drawn:
    """An Erdős-Rényi graph with 250 vertices and mean degree 3 (p = 10, a = 2, noise 0.0001), 150 examples.
    Left: how much more than expected the teacher excites each prediction vector of the student, averaged over
    teachers; a matched teacher gives 1. Right: the prediction vector of the largest spike (circle).
    """
    return draw_excited("global", "local", seed=4, quality=quality)


@figure("12", "Where a local student of a global teacher fails")
def figure_12(quality: Quality) -> Drawn:
    """As Figure 11, for a student with local and a teacher with global normalisation."""
    return draw_excited("local", "global", seed=4, quality=quality)


def by_distance(panel: Panel, walks: tuple[int, ...]) -> None:
    """Draw the kernel on the tree by distance, for walks of several lengths and in their limit."""
    panel.setup("3-regular tree, $a=2$", x="distance $l$", y="correlation $C_{l,p}$", xlim=(0, 15))
    for p, colour in zip(walks, shades(len(walks)), strict=True):
        panel.line(f"$p={p}$", np.arange(min(p, 15) + 1), tree.tree_kernel(3, p)[:16], color=colour)
    panel.line(r"$p\to\infty$", np.arange(16), tree.tree_limit(3, np.arange(16)), color="black", linestyle=DASH)
    panel.legend()


def simulate(problem: gpc.Problem, nu: FloatArray, quality: Quality, **options: Any) -> gpc.LearningCurve:
    """Return the truth on graphs of finite size."""
    amounts = quality.choose(
        {"vertices": 500, "graphs": 40, "datasets": 2}, {"vertices": 300, "graphs": 20, "datasets": 1}
    )
    return gpc.learning_curve(problem, "simulation", nu=nu, rng=1, **(amounts | options), **quality.running)


@lru_cache(maxsize=64)  # Figures 3 and 5 have curves in common
def curve_of(problem: gpc.Problem, method: str, quality: Quality) -> gpc.LearningCurve:
    """Return the curve of a method along the numbers of examples of Figures 3 and 5."""
    nu = np.geomspace(0.01, 30, quality.choose(17, 8))
    if method == "simulation":
        return simulate(problem, nu, quality)
    options: dict[str, Any] = quality.choose({"vertices": 500, "graphs": 20}, {"vertices": 300, "graphs": 3})
    if method == "cavity":
        precision, population = quality.choose((0.05, 256), (0.3, 64))
        options = {"precision": precision, "population": population, "among": ["isolated"]}
    return gpc.learning_curve(problem, gpc.METHODS[method], nu=nu, rng=1, **options, **quality.running)


def levels_of(ensemble: Ensemble, student: Normalisation, methods: Iterable[str], quality: Quality) -> NoiseLevels:
    """Return the curves of several methods at every noise level."""
    levels: NoiseLevels = {}
    given = dict(quality.changes).get("noise", quality.choose(*NOISES))
    for noise in np.atleast_1d(given).tolist():
        problem = quality.change(walk_problem(ensemble, student, noise), but="noise")
        levels[noise] = {method: curve_of(problem, method, quality) for method in methods}
    return levels


def draw_crossed(student: Normalisation, teacher: Normalisation, quality: Quality, graphs: dict[float, int]) -> Drawn:
    """Draw mismatched curves on both ensembles, at some noise levels with more graphs, and check the maximum."""
    sheet, claims = Sheet(1, 2), []
    nu = np.unique(np.concatenate((np.geomspace(0.01, 10, quality.choose(16, 7)), (0.3, 0.5, 0.7, 1.0))))
    for panel, ensemble in zip(sheet.panels, (POISSON, POWER), strict=True):
        levels = {}
        panel.setup(TITLES[ensemble], x=PER_VERTEX, y=ERROR, xscale="log", yscale="log")
        for noise in quality.choose(*NOISES):
            problem = walk_problem(ensemble, student, noise, teacher)
            number = quality.choose(graphs.get(noise, 15), 70 if noise in graphs else 6)
            amounts = {"vertices": quality.choose(500, 250), "graphs": number, "datasets": 1}
            levels[noise] = simulate(problem, nu, quality, among=["dangling"], **amounts)
            panel.curve(power_of_ten(noise), levels[noise], color=colour_of(noise))
            names = "precision", "population", "replicas", "max_sweeps"
            options: dict[str, Any] = dict(
                zip(names, quality.choose((0.1, 200, 4, 100), (0.2, 40, 2, 30)), strict=True)
            )
            options["rng"] = 2
            limit = gpc.learning_curve(problem, "cavity", nu=nu, **options, **quality.running)
            panel.curve(f"cavity, {power_of_ten(noise)}", limit, **STYLES["cavity"])
        claims += claim.maximum(ensemble, levels[1e-4], levels[0.01], student)
        claims += claim.maximum_by_messages(ensemble, levels[1e-4], limit)
    handles = [line for line in sheet.panels[0].axes.lines if not str(line.get_label()).startswith("cavity")]
    handles.append(sheet.panels[0].axes.lines[1])
    labels = [f"simulation, {line.get_label()}" for line in handles[:-1]]
    sheet.legend(handles=handles, labels=[*labels, "cavity method"], columns=3)
    return sheet.finish(claims)


def draw_excited(student: Normalisation, teacher: Normalisation, seed: int, quality: Quality) -> Drawn:
    """Draw the weights of prediction vectors and the vector of the largest, and check on which vertices such vectors live."""
    sheet = Sheet(1, 2, height=4.0)
    left, right = sheet.panels
    vectors = vectors_on(seed, student, teacher)
    first = int(vectors.largest()[0])
    numbers = np.arange(len(vectors.weights))
    title = f"Model {student}, truth {teacher}"
    left.setup(title, x="example", y=r"excitation $\langle zz^T\rangle_{\mu\mu}$", yscale="log")
    left.line("matched", numbers, np.ones(len(numbers)), color="black")
    left.line("mismatched", numbers, vectors.weights, color=ORANGE, linewidth=1)
    ring = {"markersize": 12, "markerfacecolor": "none", "markeredgecolor": GREEN, "markeredgewidth": 2}
    left.axes.plot(first, vectors.weights[first], "o", **ring)
    sheet.legend([left])
    title, graph = "Prediction vector of the largest spike", vectors.problem.graph
    gpc.draw_graph(graph, vectors.vectors[:, first], colours="signed", label="", title=title, ax=right.axes)
    right.remember("prediction vector", np.arange(len(vectors.vectors)), vectors.vectors[:, first])
    return sheet.finish(claim.spikes(vectors, student, teacher, quality.choose(60, 30)))


def shades(count: int) -> list[Any]:
    """Return colours from light to dark, for a parameter that grows."""
    from matplotlib import colormaps

    return list(colormaps["viridis_r"](np.linspace(0.08, 1, count)))


def power_of_ten(noise: float) -> str:
    """Write a noise level."""
    power = np.log10(noise)
    return rf"$\sigma^2=10^{{{power:.0f}}}$" if power < 0 and power == round(power) else rf"$\sigma^2={noise:g}$"


def key(panel: Panel, levels: Iterable[float], styles: dict[str, dict[str, Any]]) -> None:
    """Explain colours by the noise level and lines by the method, in place of a panel."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **({"color": "#8a8a8a"} | style), label=name) for name, style in styles.items()]
    handles += [Line2D([], [], color=colour_of(noise), linewidth=2.5, label=power_of_ten(noise)) for noise in levels]
    panel.axes.set_axis_off()
    panel.legend(handles=handles, loc="center", fontsize=10)


def colour_of(noise: float) -> str:
    """Return the colour of a noise level: that of the nearest one in the paper."""
    return COLOURS[min(COLOURS, key=lambda level: abs(np.log(level / noise)))]


def by_noise(panel: Panel, title: str, levels: NoiseLevels) -> None:
    """Draw curves of several methods for each noise level."""
    panel.setup(title, x=PER_VERTEX, y=ERROR, xscale="log", yscale="log")
    for noise, curves in levels.items():
        for method, curve in curves.items():
            panel.curve(f"{method}, {power_of_ten(noise)}", curve, **({"color": colour_of(noise)} | STYLES[method]))


def histogram(panel: Panel, values: FloatArray, limit: gpc.VarianceDistribution, edges: FloatArray) -> None:
    """Draw the density on simulated graphs in grey and that of the limit as a black line."""
    middle = (edges[1:] + edges[:-1]) / 2
    density = np.histogram(values, edges)[0] / len(values) / np.diff(edges)
    panel.axes.stairs(density, edges, fill=True, color="#b5bcc4", label="graphs")
    panel.remember("graphs", middle, density)
    weights = np.histogram(limit.values, edges, weights=limit.weights)[0] / np.diff(edges)
    panel.axes.stairs(weights, edges, color="black", linewidth=0.9, label="cavity")
    panel.remember("cavity", middle, weights)


def isolated(panel: Panel, levels: NoiseLevels) -> None:
    """Show what vertices without neighbours contribute to the error."""
    panel.setup(
        "Erdős-Rényi: isolated vertices (dotted)", x=PER_VERTEX, y=ERROR, xscale="log", yscale="log", xlim=(0.3, 30)
    )
    for noise, curves in levels.items():
        curve, level, colour = curves["cavity"], power_of_ten(noise), colour_of(noise)
        panel.line(f"cavity, {level}", curve.nu, curve.error, color=colour)
        panel.line(f"isolated, {level}", curve.nu, part(curve, "isolated"), color=colour, linestyle=DOT)
