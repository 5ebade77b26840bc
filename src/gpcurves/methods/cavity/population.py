r"""Learning curves of large random graphs: population dynamics for an ensemble given by its degree distribution.

The population are the messages on large random graphs with these degrees. In every sweep all messages are sent once, with new
numbers of examples, $\gamma\sim$ Poisson($\nu$): seen from a vertex the graph is a tree, and the message that arrives after $s$ steps meets numbers
that were drawn $s$ sweeps ago, so that each sweep is a new sample. The wiring is drawn anew every few sweeps, or
in every sweep where nothing belongs to it.

**Local normalisation.** Within one wiring the normaliser $\kappa_i$ of every vertex comes from the same neighbourhood that its messages come
from, as it must. UM13 (29) draws the message from above at random instead; this is what happens if the wiring is drawn anew in
every sweep, and it is available as ``local="paper"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gpcurves.errors import InputError, NotApplicableError, unknown_name
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import thread_count
from gpcurves.methods.cavity.poisson import mean_posterior, poisson_weights, stratified_counts
from gpcurves.methods.cavity.rounds import last_pivots, send
from gpcurves.methods.cavity.walks import close, next_series, returning_walks
from gpcurves.methods.cavity.wiring import DegreeDistribution, Wiring
from gpcurves.montecarlo.seeds import Rng, seed_of
from gpcurves.numerics.validation import FloatArray, frozen, nonnegative, positive, whole

POPULATIONS = 8
_SMALLEST, _LARGEST = 1024, 131_072
_SETTLED, _CALM = 3, 0.02
_MOST_ROUNDS = 400
_FIRST_EPOCHS = 3
_NORMALISATIONS = ("global", "local", "none")


@dataclass(frozen=True, eq=False)
class Normaliser:
    """The average prior variance of an ensemble, by which global normalisation divides, and its standard error."""

    value: float
    stderr: float


@dataclass(frozen=True, eq=False)
class State:
    """Messages on a wiring, from which the next run may start."""

    wiring: Wiring = field(repr=False)
    messages: FloatArray = field(repr=False)


@dataclass(frozen=True, eq=False)
class PopulationResult:
    """The error of an ensemble at one number of examples per vertex, and how sure it is.

    Attributes
    ----------
    error, stderr
        Posterior variance averaged over vertices, and its standard error: the larger of what independent populations and what
        independent wirings say, with that of the normaliser.
    normaliser
        What global normalisation divided by; None for local normalisation.
    converged
        Whether the messages settled and the precision was reached.
    populations, vertices, sweeps
        Independent populations, vertices in each of them, sweeps in all.
    relaxation
        Sweeps that messages need to forget: with exact local normalisation they follow each new wiring and are not measured.
    degree, cavity_variance, variance, weight
        Samples of vertices: degree, variance given the examples elsewhere, variance given those at the vertex too, and
        weight; weights add up to 1.
    """

    nu: float
    error: float
    stderr: float
    normaliser: Normaliser | None
    converged: bool
    populations: int
    vertices: int
    sweeps: int
    relaxation: int
    degree: FloatArray = field(repr=False)
    cavity_variance: FloatArray = field(repr=False)
    variance: FloatArray = field(repr=False)
    weight: FloatArray = field(repr=False)
    state: State | None = field(repr=False)

    def error_of_degree(self, degree: int) -> float:
        """Return the error restricted to vertices of one degree, NaN where no vertex of the sample has it."""
        chosen = self.degree == degree
        return float(np.average(self.variance[chosen], weights=self.weight[chosen])) if chosen.any() else float("nan")


def mean_prior_variance(
    degrees: object, model: VertexModel, *, precision: float = 5e-4, rng: Rng = None, threads: int | None = None
) -> Normaliser:
    r"""Return $\kappa$, the average of $\hat C_{ii}$ over the vertices of large graphs of the ensemble."""
    distribution = DegreeDistribution.of(degrees)
    goal, workers = positive("precision", precision), thread_count(threads)
    rngs = _streams(rng)
    share = 1 - distribution.isolated
    means: list[FloatArray] = []
    while True:
        wiring = Wiring.draw(distribution, _LARGEST // POPULATIONS, rngs)
        prior = _prior(wiring, model, workers)
        means.append(prior.reshape(len(rngs), -1).mean(axis=1))
        value = distribution.isolated * model.isolated + share * float(np.mean(means))
        stderr = share * float(np.std(means, ddof=1)) / float(np.sqrt(np.size(means)))
        if stderr <= goal * value or len(means) >= 50:
            return Normaliser(value, stderr)


def population_error(
    degrees: object,
    model: VertexModel,
    noise: float,
    nu: float,
    *,
    normalise: str = "global",
    local: str = "exact",
    normaliser: Normaliser | None = None,
    precision: float = 0.005,
    vertices: int | None = None,
    max_sweeps: int = 2000,
    start: PopulationResult | None = None,
    rng: Rng = None,
    threads: int | None = None,
) -> PopulationResult:
    """Return the average posterior variance over the vertices of large graphs of an ensemble.

    Parameters
    ----------
    degrees
        Probabilities of the degrees 0, 1, 2, ...
    model
        The kernel before normalisation.
    noise, nu
        Noise variance, and the average number of examples per vertex.
    normalise
        "global", "local", or "none" for the kernel as it is.
    local
        With local normalisation: "exact", or "paper" for the approximation of UM13 (29).
    normaliser
        For global normalisation: what to divide by, if it is known already.
    precision
        Stop when the standard error is this fraction of the error.
    vertices
        Vertices in each of the eight populations, chosen from ``precision`` unless given.
    max_sweeps
        Give up after so many sweeps, with ``converged`` false.
    start
        A result for the same ensemble and kernel, from whose messages this run starts.
    rng
        Seed: the same seed gives the same numbers, for any number of threads.
    """
    distribution = DegreeDistribution.of(degrees)
    if normalise not in _NORMALISATIONS:
        raise unknown_name("normalisation", normalise, _NORMALISATIONS)
    if local not in ("exact", "paper"):
        raise unknown_name("local normalisation", local, ("exact", "paper"))
    if normalise == "local" and local == "paper" and model.walk is None:
        raise NotApplicableError("local='paper' needs a kernel that is a polynomial in T, which this is not")
    variance, examples, goal = positive("noise", noise), nonnegative("nu", nu), positive("precision", precision)
    size = population_size(goal) if vertices is None else whole("vertices", vertices, 2)
    rngs = _streams(rng)
    if normalise == "global" and normaliser is None:
        normaliser = mean_prior_variance(degrees, model, precision=goal / 5, rng=rngs[0], threads=threads)
    constant = 1.0 if normalise == "none" else normaliser.value if normaliser and normalise == "global" else None
    walker = _Walker(
        distribution, model, variance, examples, constant, local == "paper", goal, size, rngs, thread_count(threads)
    )
    walker.begin(start.state if start is not None else None)
    return walker.measure(max_sweeps, normaliser if normalise == "global" else None)


def population_curve(
    degrees: object,
    model: VertexModel,
    noise: float,
    nu: Sequence[float],
    *,
    normalise: str = "global",
    local: str = "exact",
    precision: float = 0.005,
    vertices: int | None = None,
    max_sweeps: int = 2000,
    rng: Rng = None,
    threads: int | None = None,
) -> list[PopulationResult]:
    """Return the error at several numbers of examples per vertex, each run starting from the messages of the one before."""
    seeds = np.random.SeedSequence(seed_of(rng)).spawn(len(nu) + 1)
    normaliser = None
    if normalise == "global":
        normaliser = mean_prior_variance(degrees, model, precision=precision / 5, rng=seeds[-1], threads=threads)
    results: list[PopulationResult] = [None] * len(nu)  # type: ignore[list-item]
    start = None
    for place in np.argsort(np.asarray(nu, dtype=np.float64), kind="stable"):
        start = results[place] = population_error(
            degrees, model, noise, nu[place], normalise=normalise, local=local, normaliser=normaliser, precision=precision,
            vertices=vertices, max_sweeps=max_sweeps, start=start, rng=seeds[place], threads=threads,
        )  # fmt: skip
    return results


class _Walker:
    """Messages on the present wiring, and how to send them; local to one call."""

    def __init__(
        self,
        distribution: DegreeDistribution,
        model: VertexModel,
        noise: float,
        nu: float,
        constant: float | None,
        paper: bool,
        goal: float,
        vertices: int,
        rngs: Sequence[np.random.Generator],
        threads: int,
    ) -> None:
        self.distribution, self.model, self.noise, self.nu = distribution, model, noise, nu
        self.constant, self.vertices, self.rngs, self.threads = constant, vertices, rngs, threads
        self.paper = paper and constant is None
        self.quenched = constant is None and not paper  # normalisers belong to a wiring, which must then last a while
        self.goal, self.sweeps = goal, 0
        self.relaxation = 4
        self.settled = True

    def begin(self, start: State | None) -> None:
        """Take over messages or start from none, and find out how many sweeps it takes to settle."""
        if start is not None and start.messages.shape[1] != self.model.packed:
            raise InputError("start must be a result with the same kernel")
        if start is not None and len(start.wiring.bounds) != len(self.rngs) + 1:
            raise InputError(f"start must be a result with {len(self.rngs)} populations")
        self.wiring = Wiring.draw(self.distribution, self.vertices, self.rngs)
        if start is None:
            self.messages = np.zeros((self.wiring.slots, self.model.packed))
        else:
            self.messages = self.wiring.carry(start.messages, start.wiring, self.rngs)
        self.new = np.empty_like(self.messages)
        self.series = np.zeros((0, 0))
        self._normalise()
        if self.model.size == 0:
            return
        for cold in (True, False) if start is None else (False,):
            if not cold:
                self.rewire()
            self.relaxation = max(4, self._settle(self.model.size // 2 + 2 if cold else 0))

    def rewire(self) -> None:
        """Draw new degrees and edges, and hand the messages out at random."""
        former, self.wiring = self.wiring, Wiring.draw(self.distribution, self.vertices, self.rngs)
        self.messages = self.wiring.carry(self.messages, former, self.rngs)
        self.new = np.empty_like(self.messages)
        self._normalise()

    def counts(self) -> FloatArray:
        """Draw the number of examples at every vertex."""
        return np.concatenate([stratified_counts(self.vertices, self.nu, rng) for rng in self.rngs])

    def sweep(self, counts: FloatArray) -> None:
        """Send every message once."""
        self.sweeps += 1
        if self.model.size == 0:
            return
        if self.paper:
            self._shuffle()
            self._send_series()
        wiring, model = self.wiring, self.model
        gains = counts / (wiring.degrees * self.kappa * self.noise)
        send(wiring, model, gains, gains, self.messages, self.new, self.threads)
        self.messages, self.new = self.new, self.messages

    def cavity(self) -> FloatArray:
        """Return the variance of every vertex given the examples at all others."""
        if self.model.size == 0:
            return np.asarray(self.model.isolated / self.kappa)
        if self.paper:
            self._shuffle()
        return np.asarray(_cavity(self.wiring, self.model, self.messages, self.threads) / self.kappa)

    def measure(self, max_sweeps: int, normaliser: Normaliser | None) -> PopulationResult:
        """Average over wirings and sweeps until the standard error is small enough."""
        alone = self.distribution.isolated
        bare = 1.0 if self.constant is None else self.model.isolated / self.constant
        isolated = alone * float(mean_posterior(np.array([bare]), self.noise, self.nu)[0])
        doubt = 0.0 if normaliser is None else normaliser.stderr / normaliser.value
        rows: list[FloatArray] = []
        error = stderr = np.inf
        while True:
            measured: list[FloatArray] = []
            for step in range(2 * self.relaxation):
                if not self.quenched:
                    self.wiring = self.wiring.rewired(self.rngs)
                self.sweep(self.counts())
                if not self.quenched or step >= self.relaxation:
                    cavity = self.cavity()
                    local = mean_posterior(cavity, self.noise, self.nu)
                    measured.append(local.reshape(len(self.rngs), -1).mean(axis=1))
            rows.append(np.mean(measured, axis=0))
            if len(rows) >= _FIRST_EPOCHS:
                table = isolated + (1 - alone) * np.array(rows)
                error = float(table.mean())
                # rows are independent wirings, columns independent populations
                spread = max(
                    table.mean(axis=0).std(ddof=1) / np.sqrt(table.shape[1]), table.std(ddof=1) / np.sqrt(table.size)
                )
                stderr = float(np.hypot(spread, doubt * error))
                reached = stderr <= self.goal * error
                if reached or self.sweeps >= max_sweeps:
                    break
            self.rewire()
        return self._result(error, stderr, normaliser, self.settled and bool(reached), cavity, bare)

    def _result(
        self,
        error: float,
        stderr: float,
        normaliser: Normaliser | None,
        converged: bool,
        cavity: FloatArray,
        bare: float,
    ) -> PopulationResult:
        alone = self.distribution.isolated
        counts, chances = poisson_weights(self.nu)
        drawn = self.counts()
        share = (1 - alone) / len(cavity)
        atoms = len(counts) if alone > 0 else 0
        return PopulationResult(
            nu=self.nu,
            error=error,
            stderr=stderr,
            normaliser=normaliser,
            converged=converged,
            populations=len(self.rngs),
            vertices=self.vertices,
            sweeps=self.sweeps,
            relaxation=self.relaxation,
            degree=frozen(np.append(self.wiring.degrees, np.zeros(atoms))),
            cavity_variance=frozen(np.append(cavity, np.full(atoms, bare))),
            variance=frozen(
                np.append(1 / (drawn / self.noise + 1 / cavity), 1 / (counts[:atoms] / self.noise + 1 / bare))
            ),
            weight=frozen(np.append(np.full(len(cavity), share), alone * chances[:atoms])),
            state=State(self.wiring, frozen(self.messages)),
        )

    def _settle(self, least: int) -> int:
        """Send messages with fixed numbers of examples until the average no longer moves; return how many sweeps it took."""
        counts = self.counts()
        last, calm = np.inf, 0
        if self.paper:  # no wiring lasts: nothing settles but the distribution
            for _ in range(least + 16):
                self.sweep(self.counts())
            return 4
        for done in range(1, _MOST_ROUNDS + 1):
            self.sweep(counts)
            now = float(mean_posterior(self.cavity(), self.noise, self.nu).mean())
            calm = calm + 1 if abs(now - last) <= _CALM * self.goal * now else 0
            last = now
            if calm >= _SETTLED and done >= least:
                return done - _SETTLED
        self.settled = False
        return done

    def _normalise(self) -> None:
        """Set the normaliser of every vertex for the present wiring."""
        wiring = self.wiring
        if self.constant is not None:
            self.kappa = np.full(wiring.vertices, self.constant)
        elif self.model.size == 0:
            self.kappa = np.full(wiring.vertices, self.model.isolated)
        elif self.paper:
            assert self.model.walk is not None
            depth = max(len(self.model.walk[::2]) - 1, 1)
            self.series = np.zeros((wiring.slots, depth))
            for _ in range(depth):
                self._shuffle()
                self._send_series()
        else:
            self.kappa = _prior(wiring, self.model, self.threads)

    def _shuffle(self) -> None:
        """Hand all pairs (V_loc, V) out at random, and take normalisers from the V that arrive: UM13 (30)."""
        order = self.wiring.shuffled(self.rngs)
        self.messages, self.series = self.messages[order], self.series[order]
        assert self.model.walk is not None
        self.kappa = close(self.wiring, self.model.walk, self.series, self.threads)

    def _send_series(self) -> None:
        """Send the V of every pair, as power series."""
        self.series = next_series(self.wiring, self.series, self.series.shape[1], self.threads)


def _prior(wiring: Wiring, model: VertexModel, threads: int) -> FloatArray:
    r"""Return $\hat C_{ii}$ of every vertex."""
    if model.walk is not None:
        return returning_walks(wiring, model.walk, threads)
    old, new = np.zeros((2, wiring.slots, model.packed))
    none = np.zeros(wiring.vertices)
    for _ in range(_MOST_ROUNDS):
        change = send(wiring, model, none, none, old, new, threads, compare=True)
        old, new = new, old
        if change.max() < 1e-10:
            break
    return _cavity(wiring, model, old, threads)


def _cavity(wiring: Wiring, model: VertexModel, messages: FloatArray, threads: int) -> FloatArray:
    pivots, _ = last_pivots(wiring, model, messages, threads)
    return -pivots / wiring.degrees


def population_size(precision: float) -> int:
    """Return vertices per population: the bias of finite populations falls as 1/size and must stay far below the precision."""
    return int(np.clip(2 ** np.ceil(np.log2(5 / precision)), _SMALLEST, _LARGEST))


def _streams(rng: Rng) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in np.random.SeedSequence(seed_of(rng)).spawn(POPULATIONS)]
