"""What every method takes: a kernel, inputs and an observation; perhaps a teacher and a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from gpcurves.designs import Design, Random, as_design
from gpcurves.errors import InputError
from gpcurves.graphs import Ensemble, Graph, GraphKernel, as_graph
from gpcurves.inputs import Eigenvalues, Inputs, RandomVertices, Sample, Vertices
from gpcurves.inputs.vertices import per_vertex
from gpcurves.kernels import Kernel, is_stationary
from gpcurves.kernels.sklearn import ScikitLearnKernel
from gpcurves.numerics.display import Listed
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import GaussianNoise, Observation, UnevenNoise, as_observation
from gpcurves.spectra import Spectrum
from gpcurves.teacher import Teacher, check_kernel

_MANY = 4_096  # nodes over which averages are taken at test inputs
_ROUNDING = 1e-11
"""Power outside all eigenfunctions below this share is what rounding leaves of sums that agree."""


@dataclass(frozen=True, init=False, repr=False)
class Problem(Listed):
    """Functions drawn from a Gaussian process, learnt from labels at inputs.

    Parameters
    ----------
    kernel
        A kernel of this package or of scikit-learn; on a graph a covariance between vertices.
    inputs
        The distribution of training and test inputs.
    noise
        What a label is: the variance of Gaussian noise (the papers' sigma squared), or an observation.
    teacher
        The true kernel (or function) and noise, if the model is misspecified.
    design
        How training inputs are chosen, such as ``Greedy()`` or the name "greedy"; by default they are drawn at random.
    observation
        Another name for ``noise`` if that is an observation.
    test
        The distribution of test inputs, if it differs from that of training inputs (covariate shift).

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
    test: Inputs | None

    def __init__(
        self,
        kernel: Kernel | GraphKernel | ScikitLearnKernel | None,
        inputs: Inputs,
        noise: float | Observation | None = None,
        teacher: Teacher | None = None,
        design: Design | str | None = None,
        *,
        observation: Observation | None = None,
        test: Inputs | None = None,
    ) -> None:
        if noise is None and observation is None:
            raise InputError("noise is needed: the noise variance, or an observation such as GaussianNoise(0.1)")
        if noise is not None and observation is not None:
            raise InputError("give noise or observation, not both; to replace noise, replace observation")
        if not isinstance(inputs, Inputs):
            raise InputError(f"inputs must be an input distribution such as Torus(dim=1), got {inputs!r}")
        if teacher is not None and not isinstance(teacher, Teacher):
            raise InputError(f"a teacher must be a Teacher(kernel, noise), got {teacher!r}")
        set_ = object.__setattr__
        set_(self, "kernel", None if kernel is None and isinstance(inputs, Eigenvalues) else check_kernel(kernel))
        set_(self, "inputs", inputs)
        set_(self, "observation", as_observation(noise if observation is None else observation))
        set_(self, "teacher", teacher)
        set_(self, "design", as_design(design))
        set_(self, "test", test)
        self._check_places()
        if (reason := inputs.objection(self.kernel)) is not None:
            raise InputError(reason)
        if teacher is not None and (reason := teacher.objection(inputs, self.observation)) is not None:
            raise InputError(f"of the teacher: {reason}")
        if (reason := self.design.objection(self)) is not None:
            raise InputError(reason)

    def _check_places(self) -> None:
        """Refuse test inputs and labels that do not go with the training inputs."""
        test, inputs = self.test, self.inputs
        if (reason := self.observation.objection(inputs)) is not None:
            raise InputError(reason)
        if test is None:
            return
        if not isinstance(test, Inputs) or isinstance(test, Eigenvalues | RandomVertices):
            raise InputError(f"test inputs must be an input distribution such as Gaussian(dim=1), got {test!r}")
        if isinstance(inputs, Eigenvalues | RandomVertices):
            raise InputError("separate test inputs need training inputs or a given graph")
        if isinstance(test, Vertices) != isinstance(inputs, Vertices) or test.dim != inputs.dim:
            raise InputError(f"test inputs {test!r} are not of the kind of the training inputs {inputs!r}")
        if isinstance(test, Vertices) and isinstance(inputs, Vertices) and test.graph != inputs.graph:
            raise InputError("test inputs must be vertices of the same graph as training inputs")
        own = type(test).kernel_matrix  # other than the plain kernel on the torus
        if own not in (Inputs.kernel_matrix, type(inputs).kernel_matrix):
            raise InputError(f"test inputs {test!r} are periodic, but training inputs are not: take inputs on the box")

    @property
    def test_inputs(self) -> Inputs:
        """The distribution of test inputs: by default that of training inputs."""
        return self.inputs if self.test is None else self.test

    @property
    def uneven(self) -> str | None:
        """Why theory with one error for all inputs does not apply, in words, or None: uneven labels, noise or test inputs."""
        if isinstance(self.inputs, Vertices) and self.inputs.weights is not None:
            return "all vertices must be labelled equally often, but here some are labelled more often than others"
        if self.observation.uneven:
            return f"noise must be the same everywhere, but here it depends on the input: {self.observation!r}"
        if self.test is not None:
            return "test inputs must be distributed as training inputs, but here they are not"
        return None

    def noise_at(self, X: FloatArray) -> FloatArray:
        """Return the variance of Gaussian noise at inputs, one per row (on a graph the numbers of vertices)."""
        variances = self.observation.noise_at(self.inputs, X)
        if variances is None:
            raise InputError(f"{self.observation!r} has no noise variance")
        return variances

    @cached_property
    def least_noise(self) -> float:
        """The smallest variance of Gaussian noise at any input, of a function of inputs at some nodes."""
        if not self.observation.uneven:
            return self.noise
        return float(self.noise_at(self.inputs.nodes(_MANY)[0]).min())

    @cached_property
    def target_noise(self) -> float:
        """The average variance of Gaussian noise of test targets: the teacher's if there is one."""
        if not self.observation.uneven or self.teacher is not None:
            return self.true_noise
        X, weights = self.test_inputs.nodes(_MANY)
        return float(weights @ self.noise_at(X))

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
        """The kernel of the true function: the teacher's if there is one; None if that is one fixed function."""
        return self.kernel if self.teacher is None else self.teacher.kernel

    @property
    def true_noise(self) -> float:
        """The noise variance of the labels: the teacher's if there is one."""
        return self.noise if self.teacher is None else self.teacher.noise

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
        """Eigenvalues of the kernel with respect to the inputs, computed when first accessed.

        With a teacher they have the channel "power", how much of the true function is in each eigenfunction.
        """
        if self.teacher is None:
            return self.inputs.spectrum(self.kernel)
        return self.teacher.spectrum(self.inputs, self.kernel)

    @cached_property
    def outside(self) -> float:
        """The average square of the part of the true function that is orthogonal to all eigenfunctions, and cannot be learnt."""
        powers = self.spectrum.measure.powers
        if powers is None:
            return 0.0
        left = self.true_variance - float(powers.sum())
        return left if left > _ROUNDING * self.true_variance else 0.0

    @cached_property
    def believed(self) -> Problem:
        """The same problem without a teacher."""
        other = Problem(self.kernel, self.inputs, observation=self.observation, design=self.design, test=self.test)
        other.__dict__["spectrum"] = self.spectrum  # where the cached property keeps it
        return other

    @cached_property
    def largest_variance(self) -> float | None:
        """The largest prior variance C(x, x) over all inputs, or None if it has no known limit."""
        if isinstance(self.kernel, Kernel) and is_stationary(self.kernel):
            return self.spectrum.trace  # on the torus periodic images add to the variance of the kernel
        return self.inputs.largest_variance(self.kernel)

    @cached_property
    def true_variance(self) -> float:
        """The average prior variance of the true function at test inputs, its error before anything is learnt."""
        if self.test is not None:
            X, weights = self.test.nodes(_MANY)
            own = self.teacher
            variances = self.inputs.variances(self.kernel, X) if own is None else own.variances(self.inputs, X)
            return float(weights @ variances)
        return (
            self.inputs.prior_variance(self.kernel)
            if self.teacher is None
            else self.teacher.prior_variance(self.inputs)
        )

    def coarser(self) -> Problem | None:
        """Return this problem, but with a spectrum of lower accuracy, or None if the spectrum is exact."""
        if self.spectrum.coarse is None:
            return None
        other = copy(self)
        for name in ("outside", "believed"):  # follow from the spectrum
            other.__dict__.pop(name, None)
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
            plain["teacher"] = self.teacher.to_dict()
        if self.design != Random():
            plain["design"] = self.design.to_dict()
        if self.test is not None:
            test = self.test.to_dict()
            plain["test"] = {name: test[name] for name in test if name != "graph"}  # that of the training inputs
        return plain

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a problem from what `to_dict` returned."""
        inputs = Inputs.from_dict(data["inputs"])
        kernels: Any = GraphKernel if inputs.axis == "nu" else Kernel
        teacher, design, test = data.get("teacher"), data.get("design"), data.get("test")
        if test is not None and isinstance(inputs, Vertices):
            test = {**test, "graph": data["inputs"]["graph"]}
        return cls(
            kernels.from_dict(data["kernel"]) if "kernel" in data else None,
            inputs,
            data["noise"] if "noise" in data else Observation.from_dict(data["observation"]),
            None if teacher is None else Teacher.from_dict(teacher, kernels),
            None if design is None else Design.from_dict(design),
            test=None if test is None else Inputs.from_dict(test),
        )

    def _properties(self) -> list[tuple[str, object]]:
        """Return what the problem consists of; what is as usual is left out."""
        usual = {"teacher": None, "test": None, "design": Random()}
        named = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return [(name, part) for name, part in named if name not in usual or part != usual[name]]

    def __repr__(self) -> str:
        return f"Problem({', '.join(f'{name}={part!r}' for name, part in self._properties())})"

    def describe(self) -> str:
        """Return the problem in one line."""
        parts = [] if self.kernel is None else [repr(self.kernel)]
        gaussian = isinstance(self.observation, GaussianNoise)
        parts += [repr(self.inputs), f"noise {self.noise:g}" if gaussian else repr(self.observation)]
        if self.design != Random():
            parts.append(repr(self.design))
        if self.test is not None:
            own = "vertices counted unevenly" if isinstance(self.test, Vertices) else repr(self.test)
            even = isinstance(self.test, Vertices) and self.test.weights is None
            parts.append("test: all vertices alike" if even else f"test: {own}")
        line = ", ".join(parts)
        if self.teacher is not None:
            line += f"; teacher {self.teacher.describe()}, {self.teacher.describe_labels().replace('=', ' ', 1)}"
        return line


def GraphProblem(  # noqa: N802  (a way to write down a Problem, called like one)
    graph: object,
    kernel: GraphKernel,
    noise: float | Observation | Mapping[Any, float] | Sequence[float] | FloatArray,
    teacher: Teacher | None = None,
    design: Design | str | None = None,
    *,
    weights: Mapping[Any, float] | Sequence[float] | FloatArray | None = None,
    test_weights: Mapping[Any, float] | Sequence[float] | FloatArray | None = None,
) -> Problem:
    """Return the problem of learning on the vertices of a graph; examples are at random vertices unless a design is given.

    Parameters
    ----------
    graph
        A graph (also of NetworkX or igraph, a sparse matrix or a square array), or an ensemble of random graphs.
    kernel
        A covariance between vertices.
    noise
        The noise variance, at least 0, or an observation; on a given graph also one variance for each vertex, as a sequence or
        as a mapping by the names of vertices.
    teacher
        The true kernel and noise, if the model is misspecified.
    design
        How vertices are chosen: "greedy" or "greedy-variance"; by default they are drawn at random.
    weights
        How often each vertex of a given graph is labelled: probabilities that sum to 1, as a sequence or as a mapping by
        the names of vertices; vertices left out are never labelled.
    test_weights
        The weight of each vertex in the average error, likewise; equal weights by default.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=6), noise=0.1)
    >>> gpc.learning_curve(problem, "eigenvalue", nu=[0, 1, 10]).error.round(3)
    array([1.   , 0.074, 0.006])
    """
    if isinstance(graph, Ensemble):
        if weights is not None or test_weights is not None:
            raise InputError("weights of vertices need a given graph, but this is an ensemble")
        return Problem(kernel, RandomVertices(graph), noise, teacher, design)  # type: ignore[arg-type]
    given = as_graph(graph)
    if isinstance(noise, Mapping) or np.ndim(noise) > 0:  # type: ignore[arg-type]
        noise = UnevenNoise(values=per_vertex("noise", given, noise))
    uneven = weights is not None or test_weights is not None
    test = Vertices(given, test_weights) if uneven else None  # type: ignore[arg-type]
    return Problem(kernel, Vertices(given, weights), noise, teacher, design, test=test)  # type: ignore[arg-type]


def SpectrumProblem(  # noqa: N802  (as above)
    spectrum: Spectrum, noise: float | Observation, teacher: Teacher | None = None
) -> Problem:
    """Return a problem given by its eigenvalues and noise alone; the prior variance is assumed to be uniform.

    Parameters
    ----------
    spectrum
        The eigenvalues.
    noise
        The variance of Gaussian noise, or an observation.
    teacher
        The truth, if the model is misspecified. It is given by coefficients: there are no inputs at which another function or
        kernel could be evaluated.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.SpectrumProblem(gpc.Spectrum([1.0, 0.5, 0.1]), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.6  , 0.021, 0.002])
    """
    return Problem(None, Eigenvalues(spectrum), noise, teacher)


def ModelProblem(  # noqa: N802  (as above)
    model: object, inputs: Inputs | None = None, noise: object = None
) -> Problem:
    """Return the problem of a fitted GPflow or GPyTorch model, with its kernel, noise and training inputs.

    Parameters
    ----------
    model
        A model with a ``kernel`` (GPflow) or a ``covar_module`` (GPyTorch). Its mean function is ignored.
    inputs
        The input distribution; by default the model's training inputs. Models that train on batches do not keep these: give
        ``Sample(X)``.
    noise
        The noise variance, if the model has no Gaussian likelihood of its own, such as ``likelihood.noise``.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import gpytorch
    >>> model = gpytorch.models.GP()  # in place of your own model after training
    >>> model.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
    >>> problem = gpc.ModelProblem(model, inputs=gpc.Box(dim=1), noise=0.1)
    >>> problem.inputs, problem.noise
    (Box(dim=1), 0.1)
    """
    from gpcurves.kernels.libraries import as_number, read_model

    kernel, level, X = read_model(model)
    if noise is not None:
        level = as_number("noise", noise)
    if level is None:
        raise InputError("the model has no noise of its own: give noise, such as likelihood.noise")
    if inputs is None:
        if X is None:
            raise InputError("the model does not keep its training inputs: give inputs, such as Sample(X)")
        inputs = Sample(X)
    return Problem(kernel, inputs, level)


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
