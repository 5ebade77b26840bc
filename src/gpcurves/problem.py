"""What every method takes: a kernel, inputs and an observation; perhaps a teacher and a design."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from gpcurves.designs import Design, Random
from gpcurves.errors import InputError
from gpcurves.graphs import Ensemble, Graph, GraphKernel, as_graph
from gpcurves.inputs import Eigenvalues, Inputs, RandomVertices, Vertices
from gpcurves.kernels import Kernel, as_kernel, is_stationary
from gpcurves.kernels.sklearn import ScikitLearnKernel
from gpcurves.numerics.validation import nonnegative
from gpcurves.observations import GaussianNoise, Observation, as_observation
from gpcurves.spectra import Spectrum


@dataclass(frozen=True)
class Teacher:
    """Where the data really come from, if the model is misspecified: not what the student (the model) assumes.

    Parameters
    ----------
    kernel
        The true covariance function, between vectors or between vertices of a graph as for the student.
    noise
        The true noise variance.
    """

    kernel: Kernel | GraphKernel | ScikitLearnKernel
    noise: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", _check_kernel(self.kernel))
        object.__setattr__(self, "noise", nonnegative("the teacher's noise", self.noise))


@dataclass(frozen=True, init=False)
class Problem:
    """Functions drawn from a Gaussian process, learnt from labels at inputs.

    Parameters
    ----------
    kernel
        A kernel of this package or of scikit-learn; on a graph a covariance between vertices.
    inputs
        Where training and test inputs come from.
    noise
        What a label is: the variance of Gaussian noise (the papers' sigma squared), or an observation.
    teacher
        The true kernel and noise, if the data come from another process than the model assumes.
    design
        How training inputs are chosen; drawn at random unless given.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=2), noise=0.05).noise
    0.05
    """

    kernel: Any
    inputs: Inputs
    observation: Observation
    teacher: Teacher | None
    design: Design

    def __init__(
        self,
        kernel: Kernel | GraphKernel | ScikitLearnKernel | None,
        inputs: Inputs,
        noise: float | Observation | None = None,
        teacher: Teacher | None = None,
        design: Design | None = None,
        *,
        observation: Observation | None = None,
    ) -> None:
        if noise is None and observation is None:
            raise InputError("noise is needed: the noise variance, or an observation such as GaussianNoise(0.1)")
        if noise is not None and observation is not None:
            raise InputError("give noise or observation, not both; to replace noise, replace observation")
        if not isinstance(inputs, Inputs):
            raise InputError(f"inputs must be an input distribution such as Torus(dim=1), got {inputs!r}")
        if teacher is not None and not isinstance(teacher, Teacher):
            raise InputError(f"a teacher must be a Teacher(kernel, noise), got {teacher!r}")
        if design is not None and not isinstance(design, Design):
            raise InputError(f"a design must be a rule that chooses inputs such as Random(), got {design!r}")
        set_ = object.__setattr__
        set_(self, "kernel", None if kernel is None and isinstance(inputs, Eigenvalues) else _check_kernel(kernel))
        set_(self, "inputs", inputs)
        set_(self, "observation", as_observation(noise if observation is None else observation))
        set_(self, "teacher", teacher)
        set_(self, "design", Random() if design is None else design)
        if (reason := inputs.objection(self.kernel)) is not None:
            raise InputError(reason)
        if teacher is not None and (reason := inputs.objection(teacher.kernel)) is not None:
            raise InputError(f"of the teacher: {reason}")

    @property
    def axis(self) -> str:
        """What sizes of training sets are counted in: "n" examples, or "nu" examples per vertex of a graph."""
        return self.inputs.axis

    @property
    def examples_per_size(self) -> int:
        """How many examples a size of 1 stands for: on a given graph the number of its vertices, and otherwise 1.

        The graphs of an ensemble have no given size, so that examples are counted per vertex there.
        """
        return self.inputs.graph.vertices if isinstance(self.inputs, Vertices) else 1

    @property
    def noise(self) -> float:
        """The variance of Gaussian noise; labels of another kind have none."""
        level = self.observation.gaussian_noise
        if level is None:
            raise InputError(f"{self.observation!r} has no noise variance")
        return level

    @property
    def true_kernel(self) -> Any:
        """The kernel of the true function: the teacher's if there is one."""
        return self.kernel if self.teacher is None else self.teacher.kernel

    @property
    def graph(self) -> Graph | Ensemble:
        """The graph, or the ensemble of graphs, whose vertices are the inputs."""
        if isinstance(self.inputs, Vertices):
            return self.inputs.graph
        if self.ensemble is None:
            raise AttributeError("this problem is not on a graph")
        return self.ensemble

    @property
    def ensemble(self) -> Ensemble | None:
        """The ensemble of graphs, or None if inputs are vectors or the graph is given."""
        return self.inputs.ensemble if isinstance(self.inputs, RandomVertices) else None

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues of the kernel with respect to the inputs, computed when first asked for."""
        return self.inputs.spectrum(self.kernel)

    @cached_property
    def largest_variance(self) -> float | None:
        """The largest prior variance C(x, x) over all inputs, or None if it has no known limit."""
        if isinstance(self.kernel, Kernel) and is_stationary(self.kernel):
            return self.spectrum.trace  # on the torus periodic images add to the variance of the kernel
        return self.inputs.largest_variance(self.kernel)

    @cached_property
    def true_variance(self) -> float:
        """The average prior variance of the true function, its error before anything is learnt."""
        return self.inputs.prior_variance(self.true_kernel)

    def coarser(self) -> Problem | None:
        """Return this problem, but with a spectrum of lower accuracy, or None if the spectrum is exact."""
        if self.spectrum.coarse is None:
            return None
        other = copy(self)
        other.__dict__["spectrum"] = self.spectrum.coarse  # where the cached property keeps it
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the pieces alone: what was computed from them is large, and need not travel to workers."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data; `from_dict` builds it again."""
        plain: dict[str, Any] = {} if self.kernel is None else {"kernel": self.kernel.to_dict()}
        plain["inputs"] = self.inputs.to_dict()
        if isinstance(self.observation, GaussianNoise):
            plain["noise"] = self.noise
        else:
            plain["observation"] = self.observation.to_dict()
        if self.teacher is not None:
            plain["teacher"] = {"kernel": self.true_kernel.to_dict(), "noise": self.teacher.noise}
        if self.design != Random():
            plain["design"] = self.design.to_dict()
        return plain

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a problem from what `to_dict` returned."""
        inputs = Inputs.from_dict(data["inputs"])
        kernels: Any = GraphKernel if inputs.axis == "nu" else Kernel
        teacher, design = data.get("teacher"), data.get("design")
        return cls(
            kernels.from_dict(data["kernel"]) if "kernel" in data else None,
            inputs,
            data["noise"] if "noise" in data else Observation.from_dict(data["observation"]),
            None if teacher is None else Teacher(kernels.from_dict(teacher["kernel"]), teacher["noise"]),
            None if design is None else Design.from_dict(design),
        )

    def describe(self) -> str:
        """Return the problem in one line."""
        parts = [] if self.kernel is None else [repr(self.kernel)]
        gaussian = isinstance(self.observation, GaussianNoise)
        parts += [repr(self.inputs), f"noise {self.noise:g}" if gaussian else repr(self.observation)]
        if self.design != Random():
            parts.append(repr(self.design))
        line = ", ".join(parts)
        if self.teacher is not None:
            line += f"; teacher {self.teacher.kernel!r}, noise {self.teacher.noise:g}"
        return line


def GraphProblem(  # noqa: N802  (a way to write down a Problem, called like one)
    graph: object, kernel: GraphKernel, noise: float | Observation, teacher: Teacher | None = None
) -> Problem:
    """Return the problem of learning on the vertices of a graph, of which examples are drawn uniformly.

    Parameters
    ----------
    graph
        A graph (also of NetworkX or igraph, a sparse matrix or a square array), or an ensemble of random graphs.
    kernel
        A covariance between vertices.
    noise
        The noise variance, at least 0, or an observation.
    teacher
        The true kernel and noise, if the data come from another process than the model assumes.
    """
    inputs = RandomVertices(graph) if isinstance(graph, Ensemble) else Vertices(as_graph(graph))
    return Problem(kernel, inputs, noise, teacher)


def SpectrumProblem(spectrum: Spectrum, noise: float | Observation) -> Problem:  # noqa: N802  (as above)
    """Return a problem of which only eigenvalues and noise are known; the prior variance is taken to be uniform."""
    return Problem(None, Eigenvalues(spectrum), noise)


def as_problem(problem: object, noise: float | Observation | None = None) -> Problem:
    """Return a problem; a bare spectrum becomes one with its noise."""
    if isinstance(problem, Spectrum):
        if noise is None:
            raise InputError("a bare spectrum needs the noise variance: pass noise=, or a SpectrumProblem")
        return SpectrumProblem(problem, noise)
    if not isinstance(problem, Problem):
        raise InputError(f"a problem must be a Problem, a GraphProblem or a Spectrum, got {type(problem).__name__}")
    if noise is not None:
        raise InputError("noise is part of the problem: it is passed only with a bare spectrum")
    return problem


def _check_kernel(kernel: object) -> Kernel | GraphKernel:
    return kernel if isinstance(kernel, GraphKernel) else as_kernel(kernel)
