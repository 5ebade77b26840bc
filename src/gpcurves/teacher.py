"""The teacher: the process that the data come from, if the model (the student) is misspecified."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs import Graph, GraphKernel, as_graph, graph_from_dict
from gpcurves.inputs import Eigenvalues, Inputs, RandomVertices, Vertices
from gpcurves.kernels import Kernel, as_kernel
from gpcurves.kernels.sklearn import ScikitLearnKernel
from gpcurves.numerics.frozen import frozen_array
from gpcurves.numerics.validation import FloatArray, as_numbers, nonnegative
from gpcurves.observations import GaussianNoise, Observation, Probit
from gpcurves.spectra import Spectrum
from gpcurves.spectra.nystrom import Truth

Function = Callable[[FloatArray], npt.ArrayLike]
"""Takes inputs, one per row (on a graph the numbers of vertices), and returns one value for each."""
_AVERAGED = 4_096  # nodes over which the square of one function is averaged


def check_kernel(kernel: object) -> Kernel | GraphKernel:
    """Return a kernel; those of scikit-learn are converted."""
    return kernel if isinstance(kernel, GraphKernel) else as_kernel(kernel)


@dataclass(frozen=True, eq=False, init=False)
class Teacher:
    """The true process that generates the data, if the model (the student) is misspecified.

    Parameters
    ----------
    kernel
        The true covariance function, between vectors or between vertices of a graph as for the student.
    noise
        The true noise variance or observation, such as ``StudentT(3, 0.3)``.
    function
        One fixed true function instead of a kernel: it takes inputs, one per row (on a graph the numbers of vertices), and returns
        one value for each.
    coefficients
        One fixed true function by its coefficients in the eigenfunctions of the student's kernel, that of the largest eigenvalue
        first; an eigenvalue that occurs several times has as many. Further coefficients are of functions outside the span
        of these eigenfunctions.
    graph
        The true graph, on the same vertices, if it differs from the model's, for example if some edges are unknown.
    observation
        Another name for ``noise`` if that is an observation.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> wrong = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05, teacher=gpc.Teacher(gpc.OU(0.1), noise=0.05))
    >>> gpc.learning_curve(wrong, "lc", n=[0, 100]).error.round(3)
    array([1.   , 0.192])
    """

    kernel: Any
    observation: Observation
    function: Function | None
    coefficients: FloatArray | None
    graph: Graph | None

    def __init__(
        self,
        kernel: Kernel | GraphKernel | ScikitLearnKernel | None = None,
        noise: float | Observation | None = None,
        *,
        function: Function | None = None,
        coefficients: npt.ArrayLike | None = None,
        graph: object = None,
        observation: Observation | None = None,
    ) -> None:
        if noise is not None and observation is not None:
            raise InputError("give a teacher its noise or its observation, not both")
        noise = noise if observation is None else observation
        if noise is None:
            raise InputError("a teacher needs the true noise variance: pass noise=")
        if sum(each is not None for each in (kernel, function, coefficients)) != 1:
            raise InputError("a teacher needs one of kernel, function and coefficients")
        if function is not None and not callable(function):
            raise InputError(f"the teacher's function must be callable, got {function!r}")
        listed = None
        if coefficients is not None:
            listed = frozen_array(as_numbers(coefficients, "the teacher's coefficients must be numbers"))
            if listed.ndim != 1 or not np.isfinite(listed).all():
                raise InputError("the teacher's coefficients must be a sequence of finite numbers")
        set_ = object.__setattr__
        set_(self, "kernel", None if kernel is None else check_kernel(kernel))
        set_(
            self,
            "observation",
            noise if isinstance(noise, Observation) else GaussianNoise(nonnegative("the teacher's noise", noise)),
        )
        set_(self, "function", function)
        set_(self, "coefficients", listed)
        set_(self, "graph", None if graph is None else as_graph(graph))
        if graph is not None and not isinstance(self.kernel, GraphKernel):
            raise InputError("a teacher's graph needs a kernel between its vertices, such as RandomWalkKernel(p=10)")

    @property
    def noise(self) -> float:
        """The true noise variance; NaN if labels are not a function plus noise."""
        return self.observation.noise_variance

    def labels(self, believed: Observation) -> Observation:
        """Return how labels are really made if the student believes in an observation of its own.

        If it believes in classes, Gaussian noise is what the function has before its sign is taken.
        """
        level = self.observation.gaussian_noise
        return Probit(level) if believed.classes and level is not None else self.observation

    def objection(self, inputs: Inputs, believed: Observation) -> str | None:
        """Say why this teacher does not fit inputs and the observation of the student, or return None if it does."""
        true = self.labels(believed)
        if true.classes != believed.classes:
            return f"its labels are {true!r}, but those of the model are {believed!r}: both must be classes or neither"
        if believed.gaussian_noise is not None and not math.isfinite(self.noise):
            return f"{true!r} has no finite variance, so the error of a model with Gaussian noise is infinite"
        if isinstance(inputs, Eigenvalues) and self.coefficients is None:
            return "a bare spectrum has no inputs: give its coefficients"
        if self.kernel is not None and (reason := inputs.objection(self.kernel)) is not None:
            return reason
        if isinstance(inputs, RandomVertices) and (self.kernel is None or self.graph is not None):
            return "on an ensemble of graphs it must be a kernel, because the vertices are not known"
        if self.graph is not None and isinstance(inputs, Vertices) and self.graph.vertices != inputs.graph.vertices:
            return f"its graph has {self.graph.vertices} vertices, but that of the model has {inputs.graph.vertices}"
        return None

    def inputs_of(self, inputs: Inputs) -> Inputs:
        """Return the inputs with the true graph if there is one."""
        return inputs if self.graph is None else Vertices(self.graph)

    def values(self, X: FloatArray) -> FloatArray:
        """Return the values of the one true function at inputs."""
        assert self.function is not None
        values = as_numbers(self.function(X), "the teacher's function must return one number for each input")
        if values.shape == (len(X), 1):
            values = values[:, 0]
        if values.shape != (len(X),):
            raise InputError(
                f"the teacher's function must return one number for each input, got shape {values.shape} for {len(X)} inputs"
            )
        if not np.isfinite(values).all():
            raise InputError("the teacher's function must be finite, but it returned NaN or infinity")
        return values

    def between(self, inputs: Inputs, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return the true covariances between inputs; one fixed function varies with itself alone."""
        if self.kernel is None:
            values = self.values(X)
            return np.multiply.outer(values, values if Y is None else self.values(Y))
        return self.inputs_of(inputs).kernel_matrix(self.kernel, X, Y)

    def matrix(self, graph: Graph) -> FloatArray:
        """Return the true covariances between all vertices of a graph, which is the true one unless the teacher has its own."""
        if isinstance(self.kernel, GraphKernel):
            return self.kernel.on(self.graph or graph).matrix()
        return self.between(Vertices(graph), np.arange(float(graph.vertices))[:, None])

    def variances(self, inputs: Inputs, X: FloatArray) -> FloatArray:
        """Return the average square of the true function at inputs."""
        return self.values(X) ** 2 if self.kernel is None else self.inputs_of(inputs).variances(self.kernel, X)

    def prior_variance(self, inputs: Inputs) -> float:
        """Return the average square of the true function, the error before anything is learnt."""
        if self.coefficients is not None:
            return float(self.coefficients @ self.coefficients)
        if self.kernel is None:
            X, weights = inputs.nodes(_AVERAGED)
            return float(weights @ self.values(X) ** 2)
        return self.inputs_of(inputs).prior_variance(self.kernel)

    def spectrum(self, inputs: Inputs, kernel: Any) -> Spectrum:
        """Return the eigenvalues of the student's kernel, with the power of the true function in each eigenfunction."""
        if self.coefficients is not None:
            return inputs.spectrum(kernel).with_coefficients(self.coefficients)
        if self.kernel == kernel and self.graph is None:
            return inputs.spectrum(kernel).with_matched_power()
        return inputs.taught_spectrum(kernel, self._truth(inputs))

    def _truth(self, inputs: Inputs) -> Truth:
        smoothness = self.kernel.smoothness if isinstance(self.kernel, Kernel) else None
        return Truth(
            lambda X: self.between(inputs, X),
            None if self.kernel is not None else self.values,
            self.prior_variance(inputs),
            None if self.graph is not None else self.kernel,
            smoothness,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Teacher):
            return NotImplemented
        same = (self.kernel, self.observation, self.function, self.graph)
        alike = same == (other.kernel, other.observation, other.function, other.graph)
        return alike and np.array_equal(self._listed, other._listed)

    def __hash__(self) -> int:
        return hash((self.kernel, self.observation, self.function))

    @property
    def _listed(self) -> FloatArray:
        return np.empty(0) if self.coefficients is None else self.coefficients

    def to_dict(self) -> dict[str, Any]:
        """Return the teacher as plain data; `from_dict` builds it again."""
        if self.function is not None:
            raise InputError("a teacher that is a Python function cannot be saved: give its coefficients instead")
        gaussian = self.observation.gaussian_noise is not None
        plain: dict[str, Any] = {"noise": self.noise} if gaussian else {"observation": self.observation.to_dict()}
        if self.kernel is not None:
            plain["kernel"] = self.kernel.to_dict()
        else:
            plain["coefficients"] = self._listed.tolist()
        return plain if self.graph is None else {**plain, "graph": self.graph.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], kernels: Any) -> Teacher:
        """Build a teacher from what `to_dict` returned; ``kernels`` is the family of its kernel."""
        return cls(
            kernels.from_dict(data["kernel"]) if "kernel" in data else None,
            data["noise"] if "noise" in data else Observation.from_dict(data["observation"]),
            coefficients=data.get("coefficients"),
            graph=graph_from_dict(data["graph"]) if "graph" in data else None,
        )

    def describe(self) -> str:
        """Return what the true function is, in few words."""
        if self.kernel is not None:
            return repr(self.kernel) if self.graph is None else f"{self.kernel!r} on {self.graph!r}"
        if self.coefficients is not None:
            return f"a function with {len(self.coefficients)} coefficients"
        return f"the function {getattr(self.function, '__name__', repr(self.function))}"

    def describe_labels(self) -> str:
        """Return what is between the true function and a label, in few words."""
        return f"noise={self.noise:g}" if isinstance(self.observation, GaussianNoise) else repr(self.observation)

    def __repr__(self) -> str:
        return f"Teacher({self.describe()}, {self.describe_labels()})"
