"""The setting of Urry and Sollich (2013), random graphs and problems on them, and what the paper says about its figures, checked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import gpcurves as gpc
from gpcurves.graphs import Ensemble, Normalisation, tree
from gpcurves.graphs.groups import members
from gpcurves.numerics.validation import FloatArray
from gpcurves.papers.gallery import Claim, Quality, check

REGULAR, POISSON, POWER = gpc.RandomRegular(3), gpc.ErdosRenyi(3), gpc.PowerLaw(alpha=2.5, cutoff=2)
TITLES: dict[Ensemble, str] = {REGULAR: "3-regular", POISSON: "Erdős-Rényi", POWER: "power law"}
NoiseLevels = dict[float, dict[str, gpc.LearningCurve]]  # curves by noise level and method


def walk_problem(
    graph: Ensemble | gpc.Graph, student: Normalisation, noise: float, teacher: Normalisation | None = None, p: int = 10
) -> gpc.Problem:
    """Return learning with a random walk kernel, perhaps from a teacher whose kernel is normalised in another way."""
    kernel = gpc.RandomWalkKernel(p=p, a=2, normalise=student)
    true = None if teacher is None else gpc.Teacher(kernel.normalised(teacher), noise)
    return gpc.GraphProblem(graph, kernel, noise, true)


def vectors_on(seed: int, student: Normalisation, teacher: Normalisation) -> gpc.PredictionVectors:
    """Return the prediction vectors of 150 examples on a graph of 250 vertices."""
    problem = walk_problem(POISSON.sample(250, rng=seed), student, 1e-4, teacher)
    return gpc.prediction_vectors(problem, np.random.default_rng(seed).integers(250, size=150))


def part(curve: gpc.LearningCurve, group: str) -> FloatArray:
    """Return the part of the error that a group of vertices has."""
    return np.asarray(curve.details[f"share {group}"] * curve.details[f"error {group}"])


def grows_to_a_limit(walks: tuple[int, ...]) -> list[Claim]:
    """Check what is said of the kernel on the tree."""
    kernels = np.array([np.pad(tree.tree_kernel(3, p), (0, 2))[1:3] for p in walks])
    long = tree.tree_kernel(3, 10_000)
    far = long[:6] / tree.tree_limit(3, np.arange(6)) - 1
    growth = np.diff(kernels, axis=0).min()
    return [
        check("the kernel reaches further with every p: smallest growth at l = 1, 2", growth, at_least=1e-3),
        check("p → ∞: largest difference to the limit, equation (5), l ≤ 5, p = 10,000", abs(far).max(), at_most=0.01),
        check("p → ∞ for neighbours on the tree: 2√(d-1)/d", long[1], at_least=0.942, at_most=0.943, expected="0.943"),
    ]


def cycles_matter(lengths: FloatArray, apart: FloatArray, on_tree: FloatArray, threshold: float) -> list[Claim]:
    """Check where neighbours on a graph become more alike than those on the tree."""
    gap = 1 - tree.tree_limit(3, 1).item()
    start = float(np.interp(0.1 * gap, np.maximum.accumulate(apart), lengths))
    return [
        check("neighbours on tree and graph coincide for small p: difference up to half the threshold", abs(apart[lengths < threshold / 2]).max(), at_most=0.004),
        check("they separate where p/a crosses log V/log(d-1): p/a at a tenth of the final gap, over that", start / threshold, at_least=0.5, at_most=2.0),
        check("p → ∞ on a graph: full correlation", on_tree[-1] + apart[-1], at_least=0.99, expected="1"),
    ]  # fmt: skip


def diagnosed_in_full(graph: gpc.Graph) -> gpc.Diagnosis:
    """Return the prior variances of all vertices: a sample, which `diagnose` takes of a large graph, has few pairs."""
    kernel = gpc.RandomWalkKernel(normalise="global")
    return gpc.Diagnosis(graph, kernel, kernel.on(graph).variances)


def variances_of(
    ensemble: Ensemble, graph: gpc.Diagnosis, limit: gpc.VarianceDistribution, edges: FloatArray
) -> list[Claim]:
    """Check the peaks of the prior variances and where they come from."""
    name, frame = TITLES[ensemble], graph.to_frame()
    kappa = 2.0**-10 / limit.values.min()
    pairs, singles = frame[frame.component == 2], frame[frame.component == 1]
    dangling = frame[(frame.degree == 1) & (frame.component > 100)]
    density = np.histogram(limit.values, np.linspace(0.2, 3, 15), weights=limit.weights)[0]
    peak = 0.3 + 0.2 * float(np.argmax(density))
    largest, printed = float(graph.variances.max()), 15 if ensemble is POISSON else 40
    spike: dict[str, Any] = {"at_least": 8.2, "at_most": 8.9}
    if ensemble is POISSON:
        spike = {"at_least": 6.65, "at_most": 6.95, "expected": "6.8"}
    claims = [
        check(f"{name}: most variances are near the average 1: fullest of bins of width 0.2", peak, at_least=0.6, at_most=1.2, note="the peak is somewhat below 1, since the tail is long"),
        check(f"{name}: spike near 0 is that of single vertices, at", singles.variance.max(), at_least=0.5 * 2**-10 / kappa, at_most=0.05),
        check(f"{name}: two-vertex components make a spike at ½/κ =", pairs.variance.mean(), **spike),
        check(f"{name}: share of pairs among the vertices above 0.95/(2κ)", (frame[frame.variance > 0.475 / kappa].component == 2).mean(), at_least=0.8, note="the others are centres of stars, from which a walk also returns after any even number of steps"),
        check(f"{name}: other vertices with one neighbour are not that high: their mean over that of pairs", dangling.variance.mean() / pairs.variance.mean(), at_most=0.3),
        check(f"{name}: cavity and graph agree: largest difference of the shares below a value", furthest(graph.variances, limit, edges), at_most=0.04),
        check(f"{name}: largest prior variance over 1/(2κ)", largest * 2 * kappa, at_most=1.05, note=f"the paper says a largest value of about {printed}; no value of this kernel exceeds 1/(2κ) = {0.5 / kappa:.3g}, and here it is {largest:.3g}"),
    ]  # fmt: skip
    if ensemble is POISSON:
        regular = tree.tree_normaliser(gpc.RandomWalkKernel(), 3)
        expected = "0.0735, from the spike at 6.8"
        claims.append(check(f"{name}: κ", kappa, at_least=0.072, at_most=0.074, expected=expected))
        claims.append(check("3-regular: κ", regular, at_least=0.0817, at_most=0.0819))
    return claims


def tails_of(results: dict[Ensemble, tuple[gpc.Diagnosis, gpc.VarianceDistribution]]) -> list[Claim]:
    """Check how much the prior variances differ."""
    rates, straight = {}, {}
    for ensemble, (_, limit) in results.items():
        edges = np.linspace(1.2, 3.6, 9)
        log, at = np.log(np.histogram(limit.values, edges, weights=limit.weights)[0]), edges[1:]
        rates[ensemble] = -float(np.polyfit(at, log, 1)[0])
        straight[ensemble] = float(np.corrcoef(at, log)[0, 1] ** 2)
    deviation = {ensemble: limit.variance**0.5 for ensemble, (_, limit) in results.items()}
    return [
        check("the tail beyond the mean is roughly exponential: R² of a straight line, the smaller of both", min(straight.values()), at_least=0.9),
        check("power law: slower decay of the tail, rate over that of Erdős-Rényi", rates[POWER] / rates[POISSON], at_most=0.95),
        check("power law: larger standard deviation, over that of Erdős-Rényi", deviation[POWER] / deviation[POISSON], at_least=1.1),
    ]  # fmt: skip


def furthest(values: FloatArray, limit: gpc.VarianceDistribution, edges: FloatArray) -> float:
    """Return the largest difference between two cumulative distributions, at the edges of bins."""
    seen = np.cumsum(np.histogram(values, edges)[0]) / len(values)
    return float(abs(seen - np.cumsum(np.histogram(limit.values, edges, weights=limit.weights)[0])).max())


def excess(theory: gpc.LearningCurve, truth: gpc.LearningCurve) -> float:
    """Return the largest relative difference of two curves beyond what chance explains.

    That is four standard errors, and three unlucky vertices: at low noise the error comes from few vertices that no
    example tells about, and if a simulation has met none of them its standard error is too small.
    """
    assert theory.stderr is not None
    assert truth.stderr is not None
    met = truth.options["vertices"] * truth.options["graphs"] * truth.options["datasets"]
    doubt = 4 * np.hypot(theory.stderr, truth.stderr) + 3 / met
    return float(((abs(theory.error - truth.error) - doubt) / truth.error).max())


def agreement(ensemble: Ensemble, levels: NoiseLevels) -> Claim:
    """Check that the cavity method gives the truth."""
    text = f"{TITLES[ensemble]}: cavity and simulation agree along the whole curve: largest relative difference beyond chance"
    return check(text, max(excess(curves["cavity"], curves["simulation"]) for curves in levels.values()), at_most=0.03)


def eigenvalues_fail(ensemble: Ensemble, levels: NoiseLevels) -> list[Claim]:
    """Check where eigenvalue theory is accurate and where it is not, compared with the cavity method."""
    name, quiet = TITLES[ensemble], min(levels)
    ratios = {noise: curves["eigenvalue"].error / curves["cavity"].error for noise, curves in levels.items()}
    nu = levels[quiet]["cavity"].nu
    ends = max(abs(ratio[[0, -1]] - 1).max() for ratio in ratios.values())
    worst = [1 - ratios[noise].min() for noise in sorted(levels)]
    return [
        check(f"{name}: eigenvalue theory is accurate for small and large ν: largest relative error at both ends", ends, at_most=0.06),
        check(f"{name}: it fails in between at noise {quiet:g}: largest relative error", worst[0], at_least=0.5),
        check(f"{name}: ν of that failure, of order unity", nu[np.argmin(ratios[quiet])], at_least=0.3, at_most=3.0),
        check(f"{name}: it improves with the noise: largest relative error at the next noise level, over that at one, at most", max(later / former for former, later in pairwise(worst)), at_most=1.0),
        check(f"{name}: by the measure by which the cavity method agrees with the simulation, eigenvalue theory is off by", excess(levels[quiet]["eigenvalue"], levels[quiet]["simulation"]), at_least=0.3),
    ]  # fmt: skip


def collapse(
    scaled: FloatArray,
    theory: dict[int, gpc.LearningCurve],
    truth: dict[int, gpc.LearningCurve],
    master: gpc.LearningCurve,
) -> list[Claim]:
    """Check that curves for different p fall onto each other."""
    early, late = (int(np.argmin(abs(np.log(scaled / x)))) for x in (1.0, 100.0))
    off = {p: abs(np.log(curve.error / master.error)) for p, curve in theory.items()}
    growth = np.log2(tree.first_example(3, 4000, 2.0, 0.1) / tree.first_example(3, 2000, 2.0, 0.1))
    first, last = (abs(np.log(truth[b].error / truth[a].error))[scaled <= 100].mean() for a, b in ((5, 10), (15, 20)))
    nearer = [max(off[b][at] / off[a][at] for a, b in pairwise(list(off)[3:])) for at in (early, late)]
    return [
        check("the first example lowers the error as p to the power", growth, at_least=1.45, at_most=1.55, expected="3/2"),
        check("theory approaches the master curve with p, at νp^(3/2) = 1: largest ratio of distances", nearer[0], at_most=1.0),
        check("and in the tail, at νp^(3/2) = 100", nearer[1], at_most=1.0),
        check("the initial part collapses for small p: p = 20, relative difference at νp^(3/2) = 1", off[20][early], at_most=0.1),
        check("the tail needs large p: p = 20, distance at νp^(3/2) = 100 over that at 1", off[20][late] / off[20][early], at_least=5.0),
        check("p = 500: relative difference at νp^(3/2) = 1", off[500][early], at_most=0.01),
        check("simulation: curves get closer with p: distance of p = 15, 20 over that of p = 5, 10", last / first, at_most=0.6),
    ]  # fmt: skip


def shoulder(ensemble: Ensemble, levels: NoiseLevels, other: dict[float, gpc.LearningCurve]) -> list[Claim]:
    """Check the shoulder that isolated vertices make at low noise."""
    name, quiet = TITLES[ensemble], min(levels)
    curve = levels[quiet]["cavity"]
    share, ratio = part(curve, "isolated") / curve.error, curve.error / other[quiet].error

    def level(values: FloatArray, nu: float) -> float:
        return float(np.interp(np.log(nu), np.log(curve.nu), values))

    return [
        check(f"{name}, noise {quiet:g}: shoulder around ν = 2: local error over global one there", level(ratio, 2.0), at_least=2.0),
        check(f"{name}: the shoulder is due to isolated vertices: ν at which their share of the error is largest", curve.nu[np.argmax(share)], at_least=1.0, at_most=6.0, expected="around 2"),
        check(f"{name}: their largest share of the error", share.max(), at_least=0.5),
        check(f"{name}: their share of the error before, ν = 0.1", level(share, 0.1), at_most=0.15),
        check(f"{name}: their share once they have been seen, ν = 30", share[-1], at_most=0.15),
        check(f"{name}: learning then is similar to the global case: local error over global one at ν = 30", ratio[-1], at_least=0.9, at_most=1.25),
    ]  # fmt: skip


def simplified(quality: Quality) -> Claim:
    """Check equation (29), which the paper believes to be exact, against the exact method."""
    problem, options = (
        walk_problem(POISSON, "local", 1.0),
        {"precision": 0.01, "population": quality.choose(1024, 128), "rng": 1},
    )
    exact, paper = (gpc.learning_curve(problem, "cavity", nu=[3.0], local=way, **options) for way in ("exact", "paper"))
    note = "the paper believes equation (29) to be exact; it is approximate, and its error is 4 % too low here"
    text = "noise 1, ν = 3: error by equation (29) over that of the exact cavity method"
    return check(text, paper.error[0] / exact.error[0], at_least=0.94, at_most=0.98, expected="1; corrected", note=note)


def maximum(ensemble: Ensemble, quiet: gpc.LearningCurve, noisy: gpc.LearningCurve, student: str) -> list[Claim]:
    """Check that the error rises towards one example per vertex, and where."""
    name, nu = TITLES[ensemble], quiet.nu
    assert quiet.stderr is not None
    low = int(np.argmin(np.where(nu <= 0.31, quiet.error, np.inf)))
    high = int(np.argmax(np.where((nu >= 0.31) & (nu <= 1.5), quiet.error, 0)))
    rise = (quiet.error[high] - quiet.error[low]) / np.hypot(quiet.stderr[high], quiet.stderr[low])
    chains = part(quiet, "dangling")
    share = (chains[high] - chains[low]) / (quiet.error[high] - quiet.error[low])
    note = f"the paper says that dangling ends cause the maximum; {100 * quiet.details['share dangling'][0]:.0f} % of the vertices are on them, "
    if student == "global":
        limits = {"at_least": 0.4, "at_most": 0.8}
        note += "and their part is about twice as large: the error rises elsewhere too"
    else:
        limits = {"at_most": 0.5}
        note += "and with a local student the error rises about as much elsewhere"
    return [
        check(f"{name}, noise 0.0001: the error rises towards a maximum, in standard errors", rise, at_least=2.0),
        check(f"{name}: ν of the maximum", nu[high], at_least=0.4, at_most=1.2, expected="as ν approaches 1"),
        check(f"{name}, noise 0.01: the curve falls throughout: largest ratio of neighbouring errors", (noisy.error[1:] / noisy.error[:-1]).max(), at_most=1.0, note="the paper shows a maximum for small noise and does not say from where on; with noise 0.001 it is gone"),
        check(f"{name}: part of the rise that dangling chains have", share, expected="1; corrected", note=note, **limits),
    ]  # fmt: skip


def maximum_by_messages(ensemble: Ensemble, quiet: gpc.LearningCurve, limit: gpc.LearningCurve) -> list[Claim]:
    """Check that the cavity method follows the maximum, which eigenvalues do not."""
    name, note = TITLES[ensemble], "not in the paper, which leaves this theory to future work"
    near = (quiet.nu >= 0.31) & (quiet.nu <= 1.5)
    ratio = limit.error[near].mean() / quiet.error[near].mean()
    text = f"{name}, noise 0.0001: cavity over simulation, averaged over ν from 0.31 to 1.5"
    return [check(text, ratio, at_least=0.6, at_most=1.6, note=note)]


def spread_over_vertices(ensemble: Ensemble, nu: FloatArray, local: FloatArray, overall: FloatArray) -> list[Claim]:
    """Check where the error differs most between vertices."""
    name = TITLES[ensemble]
    rises = "the paper says that it decays from ν = 0 on; it first rises, by 1 % up to ν = 0.03"
    note = "" if ensemble is POWER else rises
    return [
        check(f"{name}, local: ν of the largest variance", nu[np.argmax(local)], at_least=0.1, at_most=0.4, expected="about 0.2"),
        check(f"{name}, local: variance before any example", local[0], at_most=1e-20, expected="low"),
        check(f"{name}, local: variance at ν = 0.01 over the largest", local[1] / local.max(), at_most=0.35, expected="low"),
        check(f"{name}, local: variance at ν = 10 over the largest", local[-1] / local.max(), at_most=0.01, expected="low"),
        check(f"{name}, global: the variance is largest at ν = 0: largest later value over it", overall[1:].max() / overall[0], at_most=1.06, expected="at most 1", note=note),
        check(f"{name}, global: it decays, from ν = 0.1 on: largest ratio of neighbouring values", (overall[1:] / overall[:-1])[nu[1:] > 0.1].max(), at_most=1.0),
    ]  # fmt: skip


def cut_off(walks: tuple[int, ...]) -> list[Claim]:
    """Check the scaling form, and that its printed exponent is wrong."""

    def distance(p: int, a: float, form: FloatArray) -> float:
        profile = tree.shell_profile(3, p, a)
        return float(abs(profile / profile.max() - form / form.max()).max())

    off = [distance(p, 2, tree.scaling_form(3, p, 2, shift=False)) for p in walks]
    scaled = np.arange(10_001) / 100
    printed = scaled * np.exp(-(scaled**2) * 3 / (2 * 2**0.5))
    top = [np.argmax(tree.shell_profile(3, p)) / np.sqrt(p) for p in walks[-2:]]
    note = (
        "the paper prints exp(-l'² d/(2√(d-1))); corrected: exp(-l'² aγd/(4√(d-1))), which is close to it at a = 2 only"
    )
    return [
        check("the profile approaches the asymptotic form: largest ratio of distances from one p to the next", max(b / a for a, b in pairwise(off)), at_most=1.0),
        check("distance at p = 3000, relative to the maximum", off[-1], at_most=0.15),
        check("the cut-off is at l of order √p: place of the maximum at p = 3000 over that at p = 1000, scaled", top[1] / top[0], at_least=0.9, at_most=1.2),
        check("a = 4, p = 10,000: distance from the corrected form", distance(10_000, 4, tree.scaling_form(3, 10_000, 4)), at_most=0.05, note=note),
        check("a = 4, p = 10,000: distance from the printed form", distance(10_000, 4, printed), at_least=0.2, expected="0; corrected", note=note),
    ]  # fmt: skip


def spikes(shown: gpc.PredictionVectors, student: Normalisation, teacher: Normalisation, graphs: int) -> list[Claim]:
    """Check that the prediction vectors with the largest weights live on dangling chains, on the graph shown and on others."""
    drawn = gpc.as_graph(shown.problem.graph)
    matched = gpc.prediction_vectors(walk_problem(drawn, student, 1e-4, student), shown.examples)
    first = int(shown.largest()[0])
    on_chain = members(drawn, "dangling")[shown.centre(first)]
    largest, common, usual, alone = [], [], [], []
    for seed in range(100, 100 + graphs):
        vectors = vectors_on(seed, student, teacher)
        graph = gpc.as_graph(vectors.problem.graph)
        centres = np.array([vectors.centre(example) for example in vectors.largest(150).tolist()])
        dangling = members(graph, "dangling")[centres[~members(graph, "isolated")[centres]]]
        largest.append(dangling[0])
        common.append(dangling[:5].mean())
        usual.append(dangling.mean())
        alone.append(members(graph, "isolated")[centres[0]])
    note = f"leaving out isolated vertices, which have the largest spike on {100 * np.mean(alone):.0f} % of the graphs"
    return [
        check("a matched teacher excites all alike: largest difference from 1", abs(matched.weights - 1).max(), at_most=1e-9),
        check("the largest spike, over a matched one", shown.weights[first], at_least=20.0),
        check("its prediction vector is localised: on how many of 250 vertices", shown.localisation(first), at_most=12.0),
        Claim("its centre is on a dangling chain", "yes", "yes" if on_chain else "no", bool(on_chain)),
        check(f"share of {graphs} graphs on which the largest spike is on one", float(np.mean(largest)), at_least=0.8, expected="typical", note=note),
        check("share of the five largest spikes that are", float(np.mean(common)), at_least=0.7, expected="generally", note=note),
        check("for comparison, share of all prediction vectors", float(np.mean(usual)), at_most=0.5),
    ]  # fmt: skip
