r"""LC for linear observations, which depends on a label only through the second moment of its weights.

For labels :math:`y = \ell\cdot F+\mathrm{noise}` with evaluations `F` at nodes, whose prior covariance is `C`, and
:math:`M = \langle\ell\ell^T\rangle`,

.. math:: G = \left(C^{-1}+hM\right)^{-1},\quad h = \frac{n}{\sigma^2+\mathrm{tr}\,GM},\quad \epsilon = \sum_jw_jG_{jj}.

With :math:`C = SS^T` and the eigenvalues :math:`\mu_k` and eigenvectors :math:`u_k` of :math:`S^TMS` this is LC for the spectrum
:math:`\mu`, :math:`n = h(\sigma^2+\sum\mu/(1+h\mu))`, and then :math:`\epsilon = \sum_kv_k/(1+h\mu_k)` with
:math:`v_k = \sum_jw_j(Su_k)_j^2`. What no label sees, such as the constant for differences, has :math:`\mu = 0` and stays unknown. Labels
of function values have :math:`M = \mathrm{diag}(w)` and :math:`v = \mu`: LC itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.inputs import Torus
from gpcurves.methods.base import Kind, Method, MethodOptions, Result, needs_kernel, register
from gpcurves.methods.compound import at_random
from gpcurves.methods.formulas.parametric import Scaled, solve
from gpcurves.methods.functionals.evaluations import covariance
from gpcurves.montecarlo import Run
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.roots import invert
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.functionals import Functional
from gpcurves.problem import Problem, SpectrumProblem
from gpcurves.spectra import Spectrum

_RESOLVED = 0.02  # share of the variance that nodes may miss
_ROUNDING = 1e-14  # shares of the largest eigenvalue below are rounding errors


@dataclass(frozen=True, eq=False)
class Waves:
    """On the torus the constant is an eigenfunction, and labels see all others alike: sums over the exact spectrum."""

    problem: Problem
    others: float
    constant: float

    @property
    def unseen(self) -> float:
        """The variance of the function that no label tells anything about."""
        return 0.0 if self.constant else float(self.problem.spectrum.values[0])

    missing = 0.0

    def errors(self, n: FloatArray) -> FloatArray:
        """Return the error after each number of labels."""
        observation, spectrum = self.problem.observation, self.problem.spectrum
        assert isinstance(observation, Functional)
        scaled, first = Scaled(SpectrumProblem(spectrum, observation.variance)), float(spectrum.values[0])

        def parts(h: FloatArray) -> tuple[FloatArray, FloatArray]:
            waves = scaled.unit * scaled.g(self.others * h * scaled.unit) - first / (1 + self.others * h * first)
            return waves, first / (1 + self.constant * h * first)

        def labels(h: FloatArray) -> FloatArray:
            waves, constant = parts(h)
            return np.asarray(h * (observation.variance + self.others * waves + self.constant * constant))

        return np.asarray(sum(parts(np.where(n > 0, invert(labels, n, 1e290), 0.0))))


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvalues of what labels see on nodes, and how much of the function each holds."""

    seen: FloatArray
    powers: FloatArray
    unseen: float  # the variance of the function that no label tells anything about
    noise: float
    missing: float  # the share of the variance in the smaller half of the eigenvalues, which nodes do not resolve

    @classmethod
    def of(cls, problem: Problem) -> Modes:
        """Return the modes of a problem with linear observations."""
        assert isinstance(problem.observation, Functional)
        moments = problem.observation.moments(problem.inputs)
        X, by = moments.points, moments.components
        check_memory(8.0 * 6 * len(X) ** 2, f"theory on {len(X):,} nodes", "use the simulation, or a smaller graph")
        C = covariance(problem.kernel, problem.inputs, X, by, X, by)
        values, vectors = np.linalg.eigh((C + C.T) / 2)
        kept = values > _ROUNDING * values[-1]
        missing = 0.0 if problem.inputs.enumerable else float(values[: len(values) // 2].sum() / values.sum())
        S = vectors[:, kept] * np.sqrt(values[kept])
        seen, axes = np.linalg.eigh(S.T @ moments.second @ S)
        powers = moments.test @ (S @ axes) ** 2
        real = seen > _ROUNDING * seen[-1]
        unseen = max(float(moments.test @ C.diagonal() - powers[real].sum()), 0.0)
        return cls(seen[real][::-1], powers[real][::-1], unseen, problem.observation.variance, missing)

    def errors(self, n: FloatArray) -> FloatArray:
        """Return the error after each number of labels."""
        scaled = Scaled(SpectrumProblem(Spectrum(self.seen), self.noise))
        h = np.where(n > 0, np.inf, 0.0)
        solvable = (n > 0) & ((n < len(self.seen)) | (self.noise > 0))
        h[solvable] = np.exp(solve(scaled.lc_excess, scaled, n[solvable])) / scaled.unit
        return np.asarray(self.unseen + (1 / (1 + np.multiply.outer(h, self.seen))) @ self.powers)


def exists(problem: Problem) -> str | None:
    """Return why the labels do not exist for the kernel and the inputs of a problem, or None."""
    assert isinstance(problem.observation, Functional)
    return problem.observation.unfit(problem.kernel, problem.inputs)


@register
class FunctionalTheory(Method[tuple[Problem, Modes | Waves]]):
    """LC for averages, differences, derivatives and temporal differences; ``diagnostics`` holds what no label can tell."""

    name = "functionals"
    title = "Lower Continuous for linear observations"
    kind = Kind.APPROXIMATION
    promise = "as accurate as LC if labels are drawn independently, often too low along a trajectory; not a bound"
    source = "ours; function values: Sollich & Halees 2002, eq. (16)"
    needs = "labels that are linear functionals, a kernel and inputs"
    axes = ("n", "nu")
    any_labels = True
    compound = Functional
    conditions = (needs_kernel, at_random, exists)

    def answers(self, problem: Problem) -> bool:
        observation = problem.observation
        return isinstance(observation, Functional) and observation.independent

    def prepare(self, problem: Problem, options: MethodOptions, run: Run) -> tuple[Problem, Modes | Waves]:
        assert isinstance(problem.observation, Functional)
        even = problem.observation.homogeneous
        return problem, Waves(problem, *even) if even and isinstance(problem.inputs, Torus) else Modes.of(problem)

    def evaluate(self, state: tuple[Problem, Modes | Waves], sizes: FloatArray) -> Result:
        problem, modes = state
        notes: tuple[str, ...] = ()
        if modes.unseen > 1e-9 * problem.true_variance:
            notes = (f"labels carry no information about a part of the function with variance {modes.unseen:.3g}",)
        if modes.missing > _RESOLVED:
            notes += ("the lengthscale is too short for the nodes that stand for the inputs: simulate instead",)
        assert isinstance(problem.observation, Functional)
        if not problem.observation.independent:
            notes += (
                "labels along a trajectory depend on each other, which this theory neglects: simulate to be sure",
            )
        error = modes.errors(sizes * problem.examples_per_size)
        return Result(error, diagnostics={"unseen": modes.unseen}, notes=notes)
