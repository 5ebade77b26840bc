"""What an input distribution is, and everything that depends on it: one file per distribution holds all of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np

from gpcurves.errors import NotApplicableError
from gpcurves.kernels import Kernel, as_rbf, is_stationary, line_covariance
from gpcurves.kernels.base import DotProduct
from gpcurves.kernels.stationary import LineCovariance
from gpcurves.numerics.plain import Piece
from gpcurves.numerics.quadrature import sobol_rule, tensor_rule
from gpcurves.numerics.validation import FloatArray, integer
from gpcurves.spectra import Spectrum
from gpcurves.spectra.nystrom import NODES, Decay, Truth, numerical_spectrum

Overlap = Callable[[FloatArray], FloatArray]
"""Takes inputs X and returns the matrix of averages over a test input, <C_a(x, x*) C_b(x*, x')>, between its rows."""
Nodes = tuple[FloatArray, FloatArray]  # points, and weights that sum to 1
_FEW_NODES, _MANY_NODES = 216, 4_096  # for the average prior variance: of a tensor rule, and of a Sobol sequence
TENSOR_DIM = 3  # up to this dimension nodes are a tensor product of one-dimensional rules, beyond it a Sobol sequence
MOST_WEIGHTED_POINTS = 4_000  # test points up to which an average over all of them is taken for every data set
check_dimension = partial(integer, minimum=1, maximum=100)


class Inputs(Piece, ABC, family="input distribution"):
    """A distribution over inputs.

    A new distribution needs ``dim``, ``draw`` and ``nodes``; everything else has a numerical default, which a class
    overrides if it knows something exact.

    Laws: the weights of ``nodes`` are positive and sum to 1; draws have shape (count, dim); ``kernel_matrix`` is symmetric and
    positive semi-definite; the trace of ``spectrum`` is ``prior_variance``.
    """

    axis: ClassVar[str] = "n"
    """What sizes of training sets are counted in: "n" examples, or "nu" examples per vertex of a graph."""
    enumerable: ClassVar[bool] = False
    """Whether ``nodes`` are all inputs that there are, so that noise-free examples can leave nothing to learn."""
    periodic: ClassVar[bool] = False
    """Whether kernels are summed over periodic images, so that all inputs are alike."""
    has_quantiles: ClassVar[bool] = False
    """Whether ``from_uniform`` is known, so that points of the unit cube can be made inputs."""

    def __eq__(self, other: object) -> bool:
        # dataclasses compare their fields, which fails for arrays: what holds arrays compares as plain data
        return isinstance(other, Inputs) and self.to_dict() == other.to_dict()

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of components of an input."""

    @abstractmethod
    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw independent inputs, one per row."""

    @abstractmethod
    def nodes(self, count: int) -> Nodes:
        """Return about ``count`` points and weights that integrate smooth functions over the distribution."""

    def from_uniform(self, cube: FloatArray) -> FloatArray:
        """Return the inputs at points of the unit cube, by quantiles: uniform points there become draws from this distribution."""
        raise NotApplicableError(f"{self!r} has no quantiles")

    def homogeneous(self, kernel: Any) -> bool:
        """Tell whether all inputs are alike: shifts, or other symmetries, that keep distribution and kernel take any one to any other."""
        return False

    def objection(self, kernel: Any) -> str | None:
        """Say why a kernel does not fit these inputs, or return None if it does."""
        if not isinstance(kernel, Kernel):
            return "a kernel between vertices of a graph needs a graph: use GraphProblem(graph, kernel, noise)"
        if kernel.input_dim is not None and kernel.input_dim != self.dim:
            return f"the kernel has {kernel.input_dim} lengthscales but inputs have {self.dim} dimensions"
        return None

    def kernel_matrix(self, kernel: Kernel, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return the covariances between the rows of X and those of Y (of X itself if not given)."""
        return kernel(X, Y)

    def covariances(self, kernel: Kernel) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Return ``kernel_matrix`` of one kernel, for many calls: what these share is computed once."""
        return partial(self.kernel_matrix, kernel)

    def variances(self, kernel: Kernel, X: FloatArray) -> FloatArray:
        """Return the prior variance at the rows of X."""
        return kernel.diag(X)

    def spectrum(self, kernel: Kernel) -> Spectrum:
        """Return the eigenvalues of a kernel with respect to this distribution, numerically unless overridden."""
        return self.numerical_spectrum(kernel)

    def numerical_spectrum(self, kernel: Kernel, truth: Truth | None = None) -> Spectrum:
        """Return the eigenvalues from a matrix on nodes, with a tail, also if there is a closed form."""
        decay = Decay(kernel.smoothness, self.dim)
        return numerical_spectrum(partial(self.kernel_matrix, kernel), self.nodes, NODES, decay, truth=truth)

    def taught_spectrum(self, kernel: Kernel, truth: Truth) -> Spectrum:
        """Return the eigenvalues with the power of true functions of another process, numerically unless overridden."""
        return self.numerical_spectrum(kernel, truth)

    def prior_variance(self, kernel: Kernel) -> float:
        """Return the average prior variance, the error before anything is learnt."""
        if is_stationary(kernel):
            return float(kernel.diag(np.zeros((1, self.dim)))[0])
        X, weights = self.nodes(_FEW_NODES if self.dim <= TENSOR_DIM else _MANY_NODES)
        return float(weights @ self.variances(kernel, X))

    def largest_variance(self, kernel: Kernel) -> float | None:
        """Return the largest prior variance of a kernel that is not stationary, or None if it has no known limit."""
        return None

    def overlap(self, first: Kernel, second: Kernel) -> Overlap | None:
        r"""Return :math:`B(x,x') = \langle C_a(x,x_*)C_b(x_*,x')\rangle_{x_*}` in closed form, or None if there is none.

        With it the generalisation error of a data set needs no test points: it is exact. Sums of kernels are pairs of terms.
        """
        pairs = [self.overlap_of_terms(as_rbf(a) or a, as_rbf(b) or b) for a in first.terms for b in second.terms]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(pairs):
            return None
        return known[0] if len(known) == 1 else lambda X: reduce(add, (pair(X) for pair in known))

    def overlap_of_terms(self, first: Kernel, second: Kernel) -> Overlap | None:
        """Return the closed form for two kernels that are not sums, or None if there is none."""
        return None

    def exact_nodes(self, kernels: Sequence[Kernel]) -> Nodes | None:
        """Return nodes that average the products of these kernels exactly, or None if there are no such nodes."""
        return None

    def fold_waves(self, kernel: Kernel, side: int) -> tuple[FloatArray, FloatArray] | None:
        r"""Return the sums of eigenvalues whose eigenfunctions agree on a regular grid, and their squares without the diagonal terms.

        That is :math:`S_q = \sum_m\lambda_{q+km}` and :math:`S_q^2 - \sum_m\lambda_{q+km}^2` for a grid with `k` (``side``) points per
        dimension, at each wave `q` that the grid tells apart; None if there is no such form.
        """
        return None

    def line_covariance(self, kernel: Kernel, distance: FloatArray, spectrum: Spectrum) -> LineCovariance:
        """Return C(a), C(0) - C(a) without cancellation, and C(0), for a stationary kernel on one-dimensional inputs."""
        return line_covariance(kernel, distance)

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray | None:
        """Return the mean of a function of the distance to the nearest of n examples, for each n ≥ 1.

        Only for one-dimensional inputs; None if the law of this distance is not known.
        """
        return None


class Eigenvalues(Inputs):
    """An unknown kernel on unknown inputs, given by its eigenvalues: enough for theory, too little for a simulation."""

    name = ""

    def __init__(self, spectrum: Spectrum) -> None:
        self.listed = spectrum

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotApplicableError("it needs the kernel and the inputs, which a bare spectrum does not have")

    draw = nodes = _refuse
    dim = property(_refuse)

    def objection(self, kernel: Any) -> str | None:
        return None if kernel is None else "a bare spectrum replaces the kernel: give no kernel with it"

    def spectrum(self, kernel: Any) -> Spectrum:
        return self.listed

    def prior_variance(self, kernel: Any) -> float:
        return self.listed.trace

    largest_variance = prior_variance

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Eigenvalues", **self.listed.to_dict()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(Spectrum.from_dict(parameters))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Eigenvalues) and self.listed == other.listed

    def __repr__(self) -> str:
        return repr(self.listed)


def product_nodes(dim: int, count: int, line_rule: Callable[[int], Nodes]) -> Nodes:
    """Return a tensor product of rules for one dimension, or beyond three dimensions a Sobol sequence on the unit cube."""
    if dim > TENSOR_DIM:
        return sobol_rule(dim, count)
    return tensor_rule(dim, *line_rule(max(2, round(float(count ** (1 / dim))))))


def polynomial_nodes(inputs: Inputs, kernels: Sequence[Kernel]) -> Nodes | None:
    """Return Gauss nodes that are exact for the product of two polynomial kernels, or None if a kernel is not polynomial."""
    degrees = [kernel.degree for kernel in kernels if isinstance(kernel, DotProduct)]
    if inputs.dim > TENSOR_DIM or len(degrees) < len(kernels):
        return None
    count = (max(degrees) + 1) ** inputs.dim
    return inputs.nodes(count) if count <= MOST_WEIGHTED_POINTS else None
