"""What every method takes: a kernel, inputs and a noise level; a bare spectrum; or a graph with a kernel between vertices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs import (
    Ensemble,
    Graph,
    GraphKernel,
    as_graph,
    graph_from_dict,
)
from gpcurves.inputs import Discrete, Inputs, Sample, Torus, inputs_from_dict
from gpcurves.kernels import Kernel, as_kernel, is_stationary, kernel_from_dict
from gpcurves.numerics.validation import nonnegative
from gpcurves.spectra import Spectrum, spectrum_of

_FEW, _MANY = 216, 4_096
"""Nodes for an average over inputs: of a rule that is exact for polynomials, and of a Sobol sequence."""


@dataclass(frozen=True)
class Teacher:
    """Where the data really come from, where that is not what the student believes.

    Parameters
    ----------
    kernel
        The true covariance function, between vectors or between vertices of a graph as for the student.
    noise
        The true noise variance.
    """

    kernel: Kernel | GraphKernel
    noise: float

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, GraphKernel):
            object.__setattr__(self, "kernel", as_kernel(self.kernel))
        object.__setattr__(self, "noise", nonnegative("the teacher's noise", self.noise))


@dataclass(frozen=True)
class Problem:
    """Gaussian process regression: functions from GP(0, kernel), observed with Gaussian noise.

    Parameters
    ----------
    kernel
        A kernel of this package or of scikit-learn.
    inputs
        Where training and test inputs come from.
    noise
        The noise variance (the papers' sigma squared), at least 0.
    teacher
        The true kernel and noise, where kernel and noise above are only what the student believes.
    """

    kernel: Kernel
    inputs: Inputs
    noise: float
    teacher: Teacher | None = None
    axis: ClassVar[str] = "n"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        object.__setattr__(self, "noise", nonnegative("noise", self.noise))
        if not isinstance(self.inputs, Inputs):
            raise InputError(f"inputs must be an input distribution such as Torus(dim=1), got {self.inputs!r}")
        if self.teacher is not None and not isinstance(self.teacher, Teacher):
            raise InputError(f"a teacher must be a Teacher(kernel, noise), got {self.teacher!r}")
        for kernel in (self.kernel, self.true_kernel):
            wanted = kernel.input_dim
            if wanted is not None and wanted != self.inputs.dim:
                raise InputError(f"the kernel has {wanted} lengthscales but inputs have {self.inputs.dim} dimensions")
            if isinstance(self.inputs, Torus) and not is_stationary(kernel):
                raise InputError("the torus needs a stationary kernel, which this is not: use inputs on the box")

    @property
    def true_kernel(self) -> Kernel:
        """The kernel of the true function: the teacher's where there is one."""
        kernel = self.kernel if self.teacher is None else self.teacher.kernel
        if isinstance(kernel, GraphKernel):
            raise InputError("the teacher's kernel is between vertices of a graph, and the student's is not")
        return kernel

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues of the kernel with respect to the inputs, computed when first asked for."""
        return spectrum_of(self.kernel, self.inputs)

    @cached_property
    def largest_variance(self) -> float | None:
        """The largest prior variance C(x, x) over all inputs, or None where it has no known limit."""
        if is_stationary(self.kernel):
            return self.spectrum.trace
        if isinstance(self.inputs, Discrete):
            return float(self.kernel.diag(self.inputs.points).max())
        return None

    @property
    def true_variance(self) -> float:
        """The average prior variance of the true function, its error before anything is learnt."""
        kernel = self.true_kernel
        if isinstance(self.inputs, Torus):
            return spectrum_of(kernel, self.inputs).trace
        if is_stationary(kernel):
            return float(kernel.diag(np.zeros((1, self.inputs.dim)))[0])
        count = len(self.inputs.points) if isinstance(self.inputs, Sample) else _FEW if self.inputs.dim <= 3 else _MANY
        X, weights = self.inputs.nodes(count)
        return float(weights @ kernel.diag(X))

    def coarser(self) -> Problem | None:
        """Return this problem with a spectrum of lower accuracy, or None where the spectrum is exact."""
        if self.spectrum.coarse is None:
            return None
        other = replace(self)
        other.__dict__["spectrum"] = self.spectrum.coarse  # where cached_property keeps it
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data; `problem_from_dict` builds it again."""
        plain = {"kernel": self.kernel.to_dict(), "inputs": self.inputs.to_dict(), "noise": self.noise}
        if self.teacher is not None:
            plain["teacher"] = {"kernel": self.teacher.kernel.to_dict(), "noise": self.teacher.noise}
        return plain

    def describe(self) -> str:
        """Say the problem in one line."""
        said = f"{self.kernel!r}, {self.inputs!r}, noise {self.noise:g}"
        if self.teacher is not None:
            said += f"; teacher {self.teacher.kernel!r}, noise {self.teacher.noise:g}"
        return said


@dataclass(frozen=True)
class SpectrumProblem:
    """A problem of which only eigenvalues and noise are known; the prior variance is taken to be uniform."""

    spectrum: Spectrum
    noise: float
    teacher: ClassVar[None] = None
    axis: ClassVar[str] = "n"

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", nonnegative("noise", self.noise))

    @property
    def largest_variance(self) -> float:
        """The prior variance, the same at every input."""
        return self.spectrum.trace

    def coarser(self) -> SpectrumProblem | None:
        """Return this problem with a spectrum of lower accuracy, or None where the spectrum is exact."""
        return None if self.spectrum.coarse is None else SpectrumProblem(self.spectrum.coarse, self.noise)

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data; `problem_from_dict` builds it again."""
        return {"spectrum": self.spectrum.to_dict(), "noise": self.noise}

    def describe(self) -> str:
        """Say the problem in one line."""
        return f"{self.spectrum!r}, noise {self.noise:g}"


@dataclass(frozen=True)
class GraphProblem:
    """Gaussian process regression on the vertices of a graph, of which examples are drawn uniformly.

    Parameters
    ----------
    graph
        A graph (also of NetworkX or igraph, a sparse matrix or a square array), or an ensemble of random graphs.
    kernel
        A covariance between vertices.
    noise
        The noise variance, at least 0.
    teacher
        The true kernel and noise, where kernel and noise above are only what the student believes.
    """

    graph: Graph | Ensemble
    kernel: GraphKernel
    noise: float
    teacher: Teacher | None = None
    axis: ClassVar[str] = "nu"

    def __post_init__(self) -> None:
        if not isinstance(self.graph, Ensemble):
            object.__setattr__(self, "graph", as_graph(self.graph))
        if not isinstance(self.kernel, GraphKernel):
            raise InputError(f"on a graph the kernel must be one such as RandomWalkKernel(p=10), got {self.kernel!r}")
        object.__setattr__(self, "noise", nonnegative("noise", self.noise))
        if self.teacher is not None and not isinstance(self.teacher, Teacher):
            raise InputError(f"a teacher must be a Teacher(kernel, noise), got {self.teacher!r}")
        if self.teacher is not None and not isinstance(self.teacher.kernel, GraphKernel):
            raise InputError("on a graph the teacher's kernel must be between vertices, as the student's is")

    @property
    def true_kernel(self) -> GraphKernel:
        """The kernel of the true function: the teacher's where there is one."""
        kernel = self.kernel if self.teacher is None else self.teacher.kernel
        assert isinstance(kernel, GraphKernel)  # checked above
        return kernel

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data; `problem_from_dict` builds it again."""
        plain = {"graph": self.graph.to_dict(), "kernel": self.kernel.to_dict(), "noise": self.noise}
        if self.teacher is not None:
            plain["teacher"] = {"kernel": self.teacher.kernel.to_dict(), "noise": self.teacher.noise}
        return plain

    def describe(self) -> str:
        """Say the problem in one line."""
        said = f"{self.kernel!r}, {self.graph!r}, noise {self.noise:g}"
        if self.teacher is not None:
            said += f"; teacher {self.teacher.kernel!r}, noise {self.teacher.noise:g}"
        return said


VectorProblem = Problem | SpectrumProblem
AnyProblem = VectorProblem | GraphProblem


def problem_from_dict(data: dict[str, Any]) -> AnyProblem:
    """Build a problem from what its ``to_dict`` returned."""
    if "spectrum" in data:
        listed = data["spectrum"]
        return SpectrumProblem(Spectrum(np.array(listed["values"]), np.array(listed["multiplicities"])), data["noise"])
    told = data.get("teacher")
    if "graph" in data:
        build = Ensemble.from_dict if "type" in data["graph"] else graph_from_dict
        true = None if told is None else Teacher(GraphKernel.from_dict(told["kernel"]), told["noise"])
        return GraphProblem(build(data["graph"]), GraphKernel.from_dict(data["kernel"]), data["noise"], true)
    teacher = None if told is None else Teacher(kernel_from_dict(told["kernel"]), told["noise"])
    return Problem(kernel_from_dict(data["kernel"]), inputs_from_dict(data["inputs"]), data["noise"], teacher)
