r"""Learning curves of large random graphs: population dynamics for an ensemble given by its degree distribution, or by types of vertices.

Three tolerances, three questions. Messages that give prior variances converge like those on a given graph (`rounds.iterate`).
The average over a population settles before anything is measured (`Dynamics.settle`). What is measured is a mean over
independent wirings and populations, and ends when its standard error is small enough (`_measure`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpcurves.errors import NotApplicableError
from gpcurves.graphs.kernels import Normalisation
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import thread_count
from gpcurves.methods.cavity.dynamics import (
    LEAST_RELAXATION,
    Dynamics,
    State,
    Wiring,
    check_degrees,
    poisson_weights,
    raw_diagonal,
)
from gpcurves.methods.cavity.taught_dynamics import EnsembleTeacher
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.numerics.validation import FloatArray, frozen

POPULATIONS = 8
"""Independent populations, from which the standard error comes."""
_SMALLEST, _LARGEST = 1024, 131_072
"""Vertices of one population; the largest is also the number of all vertices behind the normaliser."""
_FIRST_EPOCHS = 3  # wirings before a standard error is trusted
_MOST_WIRINGS = 50


@dataclass(frozen=True, eq=False)
class Normaliser:
    """The average prior variance of an ensemble, by which global normalisation divides, and its standard error."""

    value: float
    stderr: float


@dataclass(frozen=True, eq=False)
class PopulationResult:
    """The error of an ensemble at one number of examples per vertex, and how uncertain it is.

    The standard error is the larger of those from independent populations and from independent wirings, with that of the
    normaliser. ``degree`` to ``kind`` are samples of vertices; their weights add up to 1.
    """

    nu: float
    error: float
    stderr: float
    normaliser: Normaliser | None  # what global normalisation divided by
    converged: bool  # whether the messages settled and the precision was reached
    vertices: int  # in each of the populations
    sweeps: int
    degree: FloatArray = field(repr=False)
    cavity_variance: FloatArray = field(repr=False)  # given the examples at all other vertices
    variance: FloatArray = field(repr=False)  # given those at the vertex too
    weight: FloatArray = field(repr=False)
    kind: FloatArray = field(repr=False)  # number of its type
    type_errors: FloatArray = field(repr=False)  # average error of each type, whose shares weigh them
    state: State = field(repr=False)
    score: tuple[float, float] | None = (
        None  # training error or predictive density and its standard error, if asked for
    )


def mean_prior_variance(
    degrees: object, model: VertexModel, *, precision: float = 5e-4, rng: Rng = None, threads: int | None = None
) -> Normaliser:
    r"""Return :math:`\kappa`, the average of :math:`\hat C_{ii}` over the vertices of large graphs of the ensemble."""
    types = check_degrees(degrees)
    rngs = _streams(rng)
    alone = float(types.isolated.sum())
    means: list[FloatArray] = []
    while True:
        wiring = Wiring.draw(types, _LARGEST // POPULATIONS, rngs)
        prior = raw_diagonal(wiring, model, thread_count(threads)).reshape(len(rngs), -1)
        means.append(types.linked @ _means(np.split(prior, np.cumsum(wiring.sizes)[:-1], axis=1)))
        value = alone * model.isolated + float(np.mean(means))
        stderr = float(np.std(means, ddof=1)) / float(np.sqrt(np.size(means)))
        if stderr <= precision * value or len(means) >= _MOST_WIRINGS:
            return Normaliser(value, stderr)


def population_error(  # noqa: PLR0913  (the ensemble and the model, and how to sample by keyword)
    degrees: object,
    model: VertexModel,
    noise: float,
    nu: float,
    *,
    normalise: Normalisation,
    local: str = "exact",
    normaliser: Normaliser | None = None,
    precision: float = 0.005,
    vertices: int | None = None,
    max_sweeps: int = 2000,
    start: PopulationResult | None = None,
    rng: Rng = None,
    threads: int | None = None,
    truth: EnsembleTeacher | None = None,
    quantity: str | None = None,
) -> PopulationResult:
    """Return the average posterior variance over the vertices of large graphs of an ensemble, or its error with a ``truth``.

    ``degrees`` are the probabilities of the degrees 0, 1, 2, ..., or `VertexTypes`. Local normalisation is "exact", or that of "paper", UM13 (29). A
    ``normaliser`` (for global normalisation) and the number of ``vertices`` of each population are found unless given. The run
    begins with the messages of ``start``, a result for the same ensemble and kernel, and ends when the standard error is the
    fraction ``precision`` of the error, or after ``max_sweeps`` with ``converged`` false. A ``quantity``, training or nlpd, is measured besides.
    """
    types = check_degrees(degrees)
    if normalise == "local" and local == "paper" and model.walk is None:
        raise NotApplicableError("local='paper' needs a kernel that is a polynomial in T, which this is not")
    size = population_size(precision) if vertices is None else vertices
    rngs = _streams(rng)
    if normalise == "global" and normaliser is None:
        # A fifth of the precision, so that the normaliser hardly adds to the standard error.
        normaliser = mean_prior_variance(degrees, model, precision=precision / 5, rng=rngs[0], threads=threads)
    constant = 1.0 if normalise == "none" else normaliser.value if normaliser and normalise == "global" else None
    paper = constant is None and local == "paper"
    dynamics = Dynamics(types, model, noise, nu, constant, paper, size, rngs, thread_count(threads))
    if truth is not None:
        dynamics = truth.dynamics(dynamics)
    used = normaliser if normalise == "global" else None
    doubt = max(0.0 if used is None else used.stderr / used.value, 0.0 if truth is None else truth.doubt)
    return _measure(dynamics, start, used, doubt, precision, max_sweeps, quantity)


def population_curve(
    degrees: object,
    model: VertexModel,
    noise: float,
    nu: Sequence[float],
    *,
    normalise: Normalisation,
    precision: float = 0.005,
    rng: Rng = None,
    **how: Any,
) -> list[PopulationResult]:
    """Return the error at several numbers of examples per vertex, each run starting from the messages of the one before.

    ``how`` are further options of `population_error`.
    """
    seeds = np.random.SeedSequence(seed_of(rng)).spawn(len(nu) + 1)
    how |= {"normalise": normalise, "precision": precision}
    threads, truth = how.get("threads"), how.get("truth")
    if normalise == "global":
        how["normaliser"] = mean_prior_variance(degrees, model, precision=precision / 5, rng=seeds[-1], threads=threads)
    if truth is not None and truth.normalise == "global":
        found = mean_prior_variance(degrees, truth.model, precision=precision / 5, rng=seeds[-1], threads=threads)
        how["truth"] = replace(truth, constant=found.value, doubt=found.stderr / found.value)
    results: dict[int, PopulationResult] = {}
    start = None
    for k in np.argsort(nu, kind="stable").tolist():
        start = results[k] = population_error(degrees, model, noise, nu[k], start=start, rng=seeds[k], **how)
    return [results[k] for k in range(len(nu))]


def _prepare(dynamics: Dynamics, former: State | None, precision: float) -> tuple[State, bool, int, int]:
    """Return settled messages, whether they converged, in how many sweeps, and how many they need on a new wiring."""
    state, converged, sweeps, relaxation = dynamics.rewire(former), True, 0, LEAST_RELAXATION
    if dynamics.model.size == 0:
        return state, converged, sweeps, relaxation
    # Messages that start from nothing take longer to settle than those that were handed out anew on another wiring. Only
    # the latter happens during the measurement, so that the relaxation is taken from a second time.
    for cold in (True, False) if former is None else (False,):
        least = dynamics.model.size // 2 + 2 if cold else 0  # steps that the longest walk takes
        begin = state if cold else dynamics.rewire(state)
        state, settled, more, relaxation = dynamics.settle(begin, precision, least)
        converged, sweeps = converged and settled, sweeps + more
    return state, converged, sweeps, relaxation


def _measure(
    dynamics: Dynamics,
    start: PopulationResult | None,
    normaliser: Normaliser | None,
    doubt: float,
    precision: float,
    max_sweeps: int,
    quantity: str | None,
) -> PopulationResult:
    """Average over wirings and sweeps until the standard error is small enough; ``doubt`` is the relative one of normalisers."""
    types = dynamics.types
    # Isolated vertices send no messages: their part of the error is known exactly.
    rates = types.rates.tolist()
    isolated = types.isolated * [float(dynamics.mean_error(dynamics.bare, rate)[0]) for rate in rates]
    asked = [] if quantity is None else [quantity]
    alone = [
        types.isolated @ [float(dynamics.mean_score(each, dynamics.bare, rate)[0]) for rate in rates] for each in asked
    ]
    state, converged, sweeps, relaxation = _prepare(dynamics, None if start is None else start.state, precision)
    rows: list[FloatArray] = []
    scores: list[FloatArray] = []
    while True:
        state, cavity, (row, *more) = _run_epoch(dynamics, state, relaxation, [None, *asked])
        sweeps += 2 * relaxation
        rows.append(row)
        scores += more
        if len(rows) >= _FIRST_EPOCHS:
            error, spread = _average(isolated.sum() + types.linked @ np.array(rows))
            stderr = float(np.hypot(spread, doubt * error))
            reached = stderr <= precision * error
            if reached or sweeps >= max_sweeps:
                break
        state = dynamics.rewire(state)
    score = None
    if quantity is not None:
        value, spread = _average(alone[0] + types.linked @ np.array(scores))
        # If all variances change by a share, a training error changes by that share at most; a density also through its logarithm.
        least = 1.0 if quantity == "nlpd" else 0.0
        score = value, float(np.hypot(spread, doubt * max(least, abs(value))))
    return PopulationResult(
        nu=dynamics.nu,
        error=error,
        stderr=stderr,
        normaliser=normaliser,
        converged=converged and bool(reached),
        vertices=dynamics.vertices,
        sweeps=sweeps,
        **_describe_vertices(dynamics, state, cavity),
        type_errors=frozen((isolated + types.linked * np.mean(rows, axis=(0, 2))) / types.shares),
        state=replace(state, messages=frozen(state.messages)),
        score=score,
    )


def _average(table: FloatArray) -> tuple[float, float]:
    """Return the average of a table and its standard error. Rows are independent wirings, columns independent populations."""
    # Few of either may agree by chance, so that the larger of both estimates is taken.
    between, within = table.mean(axis=0).std(ddof=1) / np.sqrt(table.shape[1]), table.std(ddof=1)
    return float(table.mean()), float(max(between, within / np.sqrt(table.size)))


def _run_epoch(
    dynamics: Dynamics, state: State, relaxation: int, asked: Sequence[str | None]
) -> tuple[State, FloatArray, FloatArray]:
    """Sweep, and return the state, the last cavity variances and what is asked for: means of each type in each population."""
    # If normalisers belong to the wiring, messages made on the former one are forgotten first, and these sweeps do not count.
    # Otherwise each message goes to a random slot in every sweep, as if all edges were drawn anew.
    quenched = dynamics.quenched
    measured: list[FloatArray] = []
    for step in range(2 * relaxation):
        if not quenched:
            reverse = state.wiring.redirect(dynamics.rngs)
            state = replace(state, wiring=replace(state.wiring, reverse=reverse))
        state = dynamics.sweep(state, dynamics.draw_counts())
        if not quenched or step >= relaxation:
            state, cavity = dynamics.observe(state)
            each = [_means(dynamics.by_type(dynamics.mean_errors(cavity, quantity))) for quantity in asked]
            measured.append(np.array(each))
    return state, cavity, np.mean(measured, axis=0)


def _means(parts: list[FloatArray]) -> FloatArray:
    """Return the average over the vertices of each type in each population; 0 for a type without any."""
    return np.array([part.mean(axis=1) if part.shape[1] else np.zeros(len(part)) for part in parts])


def _describe_vertices(dynamics: Dynamics, state: State, cavity: FloatArray) -> dict[str, FloatArray]:
    """Return the samples of vertices of a result: those of the populations, and isolated ones with every number of examples."""
    types, populations = dynamics.types, len(dynamics.rngs)
    sizes = types.split(dynamics.vertices)
    variance = dynamics.error(cavity, dynamics.draw_counts())
    numbers = np.tile(np.repeat(np.arange(float(len(types))), sizes), populations)
    share = types.linked / np.maximum(populations * np.array(sizes), 1)
    columns = [(state.wiring.degrees, cavity, variance, share[numbers.astype(np.int64)], numbers)]
    for number, (alone, rate) in enumerate(zip(types.isolated.tolist(), types.rates.tolist(), strict=True)):
        counts, weights = poisson_weights(dynamics.nu * rate)
        if alone > 0:
            none, bare = np.zeros(len(counts)), np.repeat(dynamics.bare, len(counts), axis=0)
            columns.append((none, bare, dynamics.error(bare, counts), alone * weights, none + number))
    names = ("degree", "cavity_variance", "variance", "weight", "kind")
    return {name: frozen(np.concatenate(parts)) for name, parts in zip(names, zip(*columns, strict=True), strict=True)}


def population_size(precision: float) -> int:
    """Return vertices per population: the bias of finite populations falls as 1/size and must stay below the precision."""
    return int(np.clip(2 ** np.ceil(np.log2(5 / precision)), _SMALLEST, _LARGEST))


def _streams(rng: Rng) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in np.random.SeedSequence(seed_of(rng)).spawn(POPULATIONS)]
