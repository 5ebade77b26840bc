r"""Linear observations: a label is a weighted sum of function values, or of derivatives, plus Gaussian noise.

Methods need two things of an observation: the rows of a data set, :math:`y = HF + \mathrm{noise}` with evaluations `F` of the function
(or of its derivatives) at points; and the second moment :math:`M = \langle\ell\ell^T\rangle` of a row on nodes, which is all that theory
depends on.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.inputs import Inputs
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer, nonnegative
from gpcurves.observations.base import Observation

NODES = 600  # that stand for continuous inputs in theory


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Labels as rows of weights on evaluations at points."""

    points: FloatArray
    weights: Any  # a sparse matrix, a row per label and a column per evaluation
    components: IntArray | None = None  # by which component an evaluation is differentiated; None for function values
    mixing: Any = (
        None  # a sparse matrix that mixes independent noise into that of the labels; None if that is independent itself
    )


@dataclass(frozen=True, eq=False)
class Moments:
    """The second moment of a row on nodes, and the weights of the nodes in the test average."""

    points: FloatArray
    test: FloatArray
    second: FloatArray
    components: IntArray | None = None  # -1 for function values


class Functional(Observation):
    """Labels that are linear in the function, with Gaussian noise of the same variance each."""

    name = ""
    compound = True
    meaning = "linear functionals, such as Differences(0.1)"
    independent: ClassVar[bool] = True  # whether labels are drawn independently of each other
    variance: float

    @abstractmethod
    def rows(self, inputs: Inputs, count: int, rng: np.random.Generator) -> LabelRows:
        """Draw the rows of ``count`` labels."""

    @abstractmethod
    def moments(self, inputs: Inputs) -> Moments:
        """Return what theory needs."""

    @property
    def homogeneous(self) -> tuple[float, float] | None:
        """How strongly a label sees each eigenfunction of the torus, and how strongly the constant; None if that differs."""
        return None

    def unfit(self, kernel: Any, inputs: Inputs) -> str | None:
        """Say why such labels do not exist for a kernel and inputs, or return None if they do."""
        return None

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        """Return what a label tells about its own functional, whose error this is."""
        return np.asarray(1 / (self.variance + error))

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw labels of functionals with these values."""
        labels: FloatArray = values + np.sqrt(self.variance) * rng.standard_normal(values.shape)
        return labels


def noise_parameter() -> Any:
    """Return the field for the noise variance of a label."""
    return parameter(help="Noise variance of a label", check=nonnegative, label="noise", flag="noise")


def block_rows(points: FloatArray, block: FloatArray) -> LabelRows:
    """Return rows that each have the same weights on the next few points."""
    import scipy.sparse

    count = len(points) // len(block)
    return LabelRows(points, scipy.sparse.kron(scipy.sparse.eye_array(count), block[None, :], format="csr"))


@dataclass(frozen=True, repr=False)
class Averages(Functional):
    """The average of the function over several independent inputs plus noise: pooled samples, aggregated records.

    Parameters
    ----------
    variance
        The noise variance of a label, at least 0.
    count
        How many inputs a label averages over.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Averages(0.05, count=3))
    >>> gpc.learning_curve(problem, "functionals", n=[0, 100]).error.round(3)
    array([1.   , 0.015])
    """

    name = "averages"
    variance: float = noise_parameter()
    count: int = parameter(
        2,
        help="Number of inputs that a label averages over",
        check=partial(integer, minimum=1, maximum=1000),
        flag="averaged",
    )

    @property
    def homogeneous(self) -> tuple[float, float]:
        return 1 / self.count, 1.0

    def rows(self, inputs: Inputs, count: int, rng: np.random.Generator) -> LabelRows:
        return block_rows(inputs.draw(count * self.count, rng), np.full(self.count, 1 / self.count))

    def moments(self, inputs: Inputs) -> Moments:
        points, weights = inputs.nodes(NODES)
        second = (1 - 1 / self.count) * np.multiply.outer(weights, weights) + np.diag(weights / self.count)
        return Moments(points, weights, second)


@dataclass(frozen=True, repr=False)
class Differences(Functional):
    """The difference of the function between two independent inputs plus noise: comparisons, preferences.

    Parameters
    ----------
    variance
        The noise variance of a label, at least 0.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Differences(0.05))
    >>> gpc.learning_curve(problem, "functionals", n=[0, 100]).error.round(3)
    array([1.   , 0.254])
    """

    name = "differences"
    variance: float = noise_parameter()
    homogeneous = (2.0, 0.0)

    def rows(self, inputs: Inputs, count: int, rng: np.random.Generator) -> LabelRows:
        return block_rows(inputs.draw(2 * count, rng), np.array([1.0, -1.0]))

    def moments(self, inputs: Inputs) -> Moments:
        points, weights = inputs.nodes(NODES)
        return Moments(points, weights, 2 * (np.diag(weights) - np.multiply.outer(weights, weights)))
