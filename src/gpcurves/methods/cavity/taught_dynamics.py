r"""Population dynamics for a misspecified model: pairs of a message and its derivative, and the messages of the teacher with them.

Messages of the teacher come from the same neighbourhood as those of the student, so that they travel in the same row: first the
student, its derivative and the block between both (`taught`), then the teacher. Wirings, numbers of examples and all averages
are those of the plain `dynamics`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.dynamics import Dynamics, State, Wiring, poisson_weights, raw_diagonal
from gpcurves.methods.cavity.scores import LabelNoise
from gpcurves.methods.cavity.taught import Chain, TaughtGraph
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, eq=False)
class EnsembleTeacher:
    """The teacher of an ensemble: its kernel, its noise, and what its kernel is divided by."""

    model: VertexModel
    noise: float
    normalise: str
    variance: float = 1.0  # what the kernel is multiplied by after that
    constant: float | None = None  # None for local normalisation
    doubt: float = 0.0  # relative standard error of the constant

    def dynamics(self, plain: Dynamics) -> TaughtDynamics:
        """Return the steps of a population that has those of a well-specified model already."""
        about = {each.name: getattr(plain, each.name) for each in fields(plain)}
        return TaughtDynamics(**about, truth=replace(self, constant=1.0) if self.normalise == "none" else self)


@dataclass(frozen=True, eq=False)
class TaughtState(State):
    """Messages on a wiring, with the normalisers of the student and of the teacher."""

    true_normaliser: FloatArray


@dataclass(frozen=True, eq=False)
class TaughtDynamics(Dynamics):
    """Steps from one state to the next. What is observed has two columns: the cavity variance, and its derivative."""

    truth: EnsembleTeacher

    @property
    def _taught_width(self) -> int:
        x, z = self.model, self.truth.model
        return 2 * x.packed + x.size * z.size

    @property
    def width(self) -> int:
        return self._taught_width + self.truth.model.packed

    @property
    def quenched(self) -> bool:
        return self.constant is None or self.truth.constant is None

    @property
    def bare(self) -> FloatArray:
        truth = self.truth
        true = 1.0 if truth.constant is None else truth.model.isolated / truth.constant
        return np.array([[float(super().bare[0]), truth.variance * true]])

    def error(self, cavity: FloatArray, counts: FloatArray) -> FloatArray:
        r"""Return :math:`v^2(\gamma\sigma_0^2/\sigma^4 + \dot v_c/v_c^2)` with :math:`1/v = \gamma/\sigma^2 + 1/v_c`."""
        variance, slope = cavity[..., 0], cavity[..., 1]
        kept = self.noise / (self.noise + counts * variance)  # v/v_c
        return np.asarray(kept**2 * (slope + counts * self.truth.noise * (variance / self.noise) ** 2))

    def moments(self, cavity: FloatArray) -> tuple[FloatArray, FloatArray]:
        return cavity[..., 0], cavity[..., 1]

    @property
    def labels(self) -> LabelNoise:
        return LabelNoise(self.noise, self.truth.noise)

    def mean_error(self, cavity: FloatArray, rate: float) -> FloatArray:
        weighed = zip(*poisson_weights(self.nu * rate), strict=True)
        return np.asarray(sum(weight * self.error(cavity, np.asarray(count)) for count, weight in weighed))

    def sweep(self, state: State, counts: FloatArray) -> State:
        graph, own = self._graph(state), self._taught_width
        old = np.ascontiguousarray(state.messages[:, :own])
        new = np.empty_like(old)
        prior, known, _ = graph.send_prior(np.ascontiguousarray(state.messages[:, own:]), self.threads)
        graph.send((old, new), known, counts, self.threads)
        return replace(state, messages=np.concatenate([new, prior], axis=1))

    def observe(self, state: State) -> tuple[State, FloatArray]:
        own = self._taught_width
        messages = np.ascontiguousarray(state.messages[:, :own]), np.ascontiguousarray(state.messages[:, own:])
        return state, np.stack(self._graph(state).observe(*messages, self.threads), axis=1)

    def _graph(self, state: State) -> TaughtGraph:
        assert isinstance(state, TaughtState)
        wiring = state.wiring
        student = Chain.of(self.model, wiring.weights, wiring.degrees, state.normaliser)
        teacher = Chain.of(self.truth.model, wiring.weights, wiring.degrees, state.true_normaliser)
        return TaughtGraph(wiring, student, teacher, self.noise, self.truth.noise)

    def _normalise(self, wiring: Wiring, messages: FloatArray) -> TaughtState:
        plain = super()._normalise(wiring, messages)
        if self.truth.constant is None:
            true = raw_diagonal(wiring, self.truth.model, self.threads)
        else:
            true = np.full(wiring.vertices, self.truth.constant)
        return TaughtState(plain.wiring, plain.messages, plain.normaliser, plain.series, true / self.truth.variance)
