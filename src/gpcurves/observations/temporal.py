r"""GP temporal differences: rewards along a trajectory, from which the value function is learnt.

A reward is :math:`R(x_i) = V(x_i)-\gamma V(x_{i+1})+N_i`, and :math:`V(x_i)+N_i` at the end of an episode (Engel, Mannor & Meir 2003 and
2005). For deterministic transitions the noise is independent, :math:`\sigma^2I`. For stochastic ones it is that of the returns,
:math:`\sigma^2HH^T`: then whole episodes say the same as regression on their discounted returns.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs.graph import IntArray, check_dense
from gpcurves.inputs import Discrete, Inputs, Vertices
from gpcurves.numerics.frozen import frozen_array
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers, integer, nonnegative
from gpcurves.observations.functionals import Functional, LabelRows, Moments, noise_parameter

_MOST_STATES = 3_000
_ROUNDING = 1e-9


def _check_discount(name: str, value: object) -> float:
    if (number := nonnegative(name, value)) >= 1:
        raise InputError(f"{name} must be at least 0 and below 1, got {number:g}")
    return number


def _check_transitions(name: str, value: object) -> FloatArray:
    matrix = as_numbers(value, f"{name} must be a square matrix of probabilities")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"{name} must be a square matrix, a row and a column per state, got shape {matrix.shape}")
    if len(matrix) > _MOST_STATES:
        raise InputError(f"{name} must have at most {_MOST_STATES} states, got {len(matrix)}")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError(f"{name} must be finite and at least 0")
    sums = matrix.sum(axis=1)
    if (wrong := np.flatnonzero(abs(sums - 1) > _ROUNDING)).size:
        raise InputError(f"{name} must have rows that sum to 1, but row {wrong[0] + 1} sums to {sums[wrong[0]]:g}")
    return frozen_array(matrix)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TemporalDifferences(Functional):
    """Rewards along a trajectory of a Markov chain over discrete inputs, or of the random walk of a graph.

    Parameters
    ----------
    discount
        Discount factor of a reward one step later, at least 0 and below 1.
    variance
        The noise variance: of a reward if transitions are deterministic, of a return if they are stochastic.
    dynamics
        Whether transitions are "stochastic" or "deterministic".
    episode
        Number of states in an episode, which starts in the stationary state; by default a single endless trajectory.
    transitions
        The probability of each state (column) after each state (row), for discrete inputs; a graph has its own random walk.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import networkx
    >>> rewards = gpc.TemporalDifferences(discount=0.9, variance=0.1)
    >>> ring = gpc.GraphProblem(networkx.cycle_graph(20), gpc.DiffusionKernel(scale=3.0), rewards)
    >>> gpc.learning_curve(ring, "functionals-simulation", n=[0, 40], datasets=20, rng=0).error.round(1)
    array([1. , 0.3])
    """

    name = "temporal-differences"
    independent = False
    discount: float = parameter(help="Discount factor of a reward one step later", check=_check_discount)
    variance: float = noise_parameter()
    dynamics: Literal["stochastic", "deterministic"] = parameter(
        "stochastic", help="Whether transitions are stochastic"
    )
    episode: int | None = parameter(
        None, help="Number of states in an episode  [one trajectory without end]", check=partial(integer, minimum=1)
    )
    transitions: FloatArray | None = parameter(
        None, help="File with the probabilities of a Markov chain, one row per state", check=_check_transitions
    )

    def __init__(
        self,
        discount: float,
        variance: float,
        dynamics: Literal["stochastic", "deterministic"] = "stochastic",
        episode: int | None = None,
        transitions: npt.ArrayLike | None = None,
    ) -> None:
        given = {"discount": discount, "variance": variance, "dynamics": dynamics, "episode": episode}
        for name, value in {**given, "transitions": transitions}.items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TemporalDifferences) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        chain = "" if self.transitions is None else f", {len(self.transitions)} states"
        episodes = "" if self.episode is None else f", episodes of {self.episode}"
        return f"TemporalDifferences(discount={self.discount:g}, variance={self.variance:g}, {self.dynamics}{episodes}{chain})"

    def unfit(self, kernel: Any, inputs: Inputs) -> str | None:
        if isinstance(inputs, Vertices):
            if self.transitions is not None:
                return "a graph has its own random walk: leave out transitions"
            return None if inputs.graph.edges else "a random walk needs edges, but this graph has none"
        if not isinstance(inputs, Discrete):
            return f"temporal differences need a graph or discrete inputs, but inputs are {inputs!r}"
        if self.transitions is None:
            return "discrete inputs need transitions, the probabilities of each state after each state"
        if len(self.transitions) != len(inputs.points):
            return f"transitions are between {len(self.transitions)} states, but there are {len(inputs.points)} inputs"
        return None

    def weights(self, states: int, ends: object = ()) -> Any:
        """Return the sparse matrix of rewards (rows) by the states of a trajectory (columns).

        ``ends`` are the positions of states in which an episode ends, from 0; the next state starts another one. A reward needs
        the state after it: without an end, the last state has none.
        """
        import scipy.sparse

        last = np.zeros(states, dtype=bool)
        last[np.asarray(ends, dtype=np.int64)] = True
        kept = last.copy()
        kept[:-1] = True  # all but the last state have another one after them, unless an episode ends there
        after = np.where(last[:-1], 0.0, -self.discount)
        matrix = scipy.sparse.diags_array(
            [np.ones(states), after], offsets=[0, 1], shape=(states, states), format="csr"
        )
        return matrix[np.flatnonzero(kept)]

    def rows(self, inputs: Inputs, count: int, rng: np.random.Generator) -> LabelRows:
        import scipy.sparse

        chain = MarkovChain.of(self.transitions, inputs)
        length = count + 1 if self.episode is None else self.episode
        episodes = 1 if self.episode is None else -(-count // length)
        states = np.concatenate([chain.walk(length, rng) for _ in range(episodes)])
        ends = np.arange(length - 1, len(states) if self.episode is not None else 0, length)
        seen, column = np.unique(states, return_inverse=True)
        visits = scipy.sparse.csr_array((np.ones(len(states)), (np.arange(len(states)), column)))
        matrix = self.weights(len(states), ends)[:count]
        return LabelRows(chain.points[seen], matrix @ visits, mixing=matrix if self.dynamics == "stochastic" else None)

    def moments(self, inputs: Inputs) -> Moments:
        """Return the second moment of a reward in the stationary state.

        With the noise of returns, rewards say what labels of the values themselves would.
        """
        chain = MarkovChain.of(self.transitions, inputs)
        points, test = inputs.nodes(len(chain.points))
        weights = chain.stationary
        if self.dynamics == "stochastic":
            return Moments(points, test, np.diag(weights))
        going_on = 1.0 if self.episode is None else 1 - 1 / self.episode
        pairs = weights[:, None] * chain.matrix
        second = self.discount**2 * np.diag(weights) - self.discount * (pairs + pairs.T)
        return Moments(points, test, np.diag(weights) + going_on * second)


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """A Markov chain over the points of an input distribution, and how often each is visited in the long run."""

    points: FloatArray
    matrix: FloatArray
    stationary: FloatArray

    @classmethod
    def of(cls, transitions: FloatArray | None, inputs: Inputs) -> MarkovChain:
        """Return the chain with these transitions, or the random walk of a graph, which never visits isolated vertices."""
        if transitions is not None:
            assert isinstance(inputs, Discrete)
            return cls(inputs.points, transitions, _long_run(transitions))
        assert isinstance(inputs, Vertices)
        graph = inputs.graph
        check_dense(graph, 4)
        step = np.asarray(graph.adjacency.todense(), dtype=np.float64)
        step[graph.isolated, graph.isolated] = 1.0
        points = np.arange(float(graph.vertices))[:, None]
        return cls(points, step / step.sum(axis=1, keepdims=True), graph.degrees / graph.degrees.sum())

    def walk(self, count: int, rng: np.random.Generator) -> IntArray:
        """Return the states of a trajectory that starts in the stationary state."""
        numbers = rng.random(count).tolist()
        cumulative: dict[int, list[float]] = {}
        top = len(self.matrix) - 1
        state = min(bisect_right(np.cumsum(self.stationary).tolist(), numbers[0]), top)
        states = [state]
        for number in numbers[1:]:
            if state not in cumulative:
                row = np.cumsum(self.matrix[state])
                cumulative[state] = (row / row[-1]).tolist()
            state = min(bisect_right(cumulative[state], number), top)
            states.append(state)
        return np.array(states)


def _long_run(transitions: FloatArray) -> FloatArray:
    """Return how often each state is visited in the long run, from a uniform start.

    The rows of high powers of the lazy chain, which has the same stationary states and no periods, tend to it.
    """
    power = (np.eye(len(transitions)) + transitions) / 2
    for _ in range(60):
        new = power @ power
        new /= new.sum(axis=1, keepdims=True)
        done = abs(new - power).max() < 1e-14
        power = new
        if done:
            break
    return np.asarray(power.mean(axis=0))
