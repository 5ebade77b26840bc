"""Labels that are partial derivatives of the function: gradients from adjoint codes, velocities, slopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.inputs import Inputs, Torus
from gpcurves.kernels import Kernel
from gpcurves.kernels.derivatives import differentiable_terms, too_many_images
from gpcurves.observations.functionals import NODES, Functional, LabelRows, Moments, noise_parameter


@dataclass(frozen=True, repr=False)
class Derivatives(Functional):
    """A partial derivative of the function plus noise; a whole gradient at an input is one label per dimension.

    Parameters
    ----------
    variance
        The noise variance of a label, at least 0.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Derivatives(0.05))
    >>> gpc.learning_curve(problem, "functionals", n=[0, 100]).error.round(3)
    array([1.   , 0.251])
    """

    name = "derivatives"
    variance: float = noise_parameter()

    def rows(self, inputs: Inputs, count: int, rng: np.random.Generator) -> LabelRows:
        import scipy.sparse

        dim = inputs.dim
        points = np.repeat(inputs.draw(-(-count // dim), rng), dim, axis=0)[:count]
        return LabelRows(points, scipy.sparse.eye_array(count, format="csr"), np.arange(count) % dim)

    def moments(self, inputs: Inputs) -> Moments:
        points, weights = inputs.nodes(2 * NODES // (1 + inputs.dim))
        dim, count = inputs.dim, len(points)
        everywhere = np.tile(points, (1 + dim, 1))
        components = np.repeat(np.arange(-1, dim), count)
        derived = components >= 0
        test = np.where(derived, 0.0, np.tile(weights, 1 + dim))
        return Moments(everywhere, test, np.diag(np.where(derived, np.tile(weights, 1 + dim) / dim, 0.0)), components)

    def unfit(self, kernel: Any, inputs: Inputs) -> str | None:
        if not isinstance(kernel, Kernel):
            return "derivatives need inputs that are vectors, but here they are vertices of a graph"
        if differentiable_terms(kernel) is None:
            return (
                f"derivatives are implemented for RBF and Matern52 kernels and their sums, but the kernel is {kernel!r}"
            )
        if isinstance(inputs, Torus) and too_many_images(kernel, inputs.dim):
            return "the lengthscales are too long for derivatives on the torus: use inputs on the box"
        return None
