r"""What people would do without a Gaussian process: the mean of the labels, and label propagation.

Label propagation is the harmonic function through the labels: every other vertex has the weighted average of its neighbours.
With the Laplacian :math:`L = D - A`, labels at o and all others at u, it is :math:`-L_{uu}^{-1}L_{uo}y`; the labelled vertices alone
have the precision :math:`S = L_{oo} - L_{ou}L_{uu}^{-1}L_{uo}`, from which follows every prediction of some labels from others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.validation import FloatArray

_LARGEST = 5e7  # unlabelled vertices times labels: numbers that are held
_USUAL_SHARE, _DEVIATION = 0.6, 0.5  # what is assumed about the share of the Gaussian process
_Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LabelPropagation:
    """Values at all vertices, and the precision of the labelled ones.

    Parts of the graph without labels get the mean of all labels. Labels may have several columns, such as one for each class.
    """

    values: FloatArray
    y: FloatArray
    precision: FloatArray

    @classmethod
    def fit(cls, graph: Graph, vertices: IntArray, y: FloatArray) -> LabelPropagation | None:
        """Propagate labels at vertices; None if the graph is too large for the factorisation."""
        from scipy.sparse import diags_array
        from scipy.sparse.csgraph import connected_components
        from scipy.sparse.linalg import splu

        o = vertices
        if graph.vertices * len(o) > _LARGEST:
            return None
        part = connected_components(graph.adjacency, directed=False)[1]
        reached = np.isin(part, part[o])
        reached[o] = False
        u = np.flatnonzero(reached)
        laplacian = (diags_array(graph.degrees) - graph.adjacency).tocsr()
        precision = laplacian[o][:, o].toarray()
        values = np.empty((graph.vertices, *y.shape[1:]))
        values[:] = y.mean(axis=0)
        values[o] = y
        if len(u):
            across = laplacian[u][:, o].toarray()
            solved = splu(laplacian[u][:, u].tocsc(), permc_spec="MMD_AT_PLUS_A").solve(across)
            values[u] = -solved @ y
            precision = precision - across.T @ solved
        return cls(values, y, (precision + precision.T) / 2)

    def predict(self, train: _Places, test: _Places) -> FloatArray:
        """Return the labels at some places, propagated from those at others."""
        own = self.precision[np.ix_(test, test)]
        lift = 1e-9 * max(
            float(np.diag(self.precision).max()), 1e-300
        )  # parts without a label to train on get the mean
        mean = self.y[train].mean(axis=0)
        pull = self.precision[np.ix_(test, train)] @ (self.y[train] - mean)
        return np.asarray(mean - np.linalg.solve(own + lift * np.eye(len(test)), pull))

    def leave_out(self) -> FloatArray:
        """Return each label, propagated from all others."""
        return self._leave_out(self.precision, self.y)

    def leave_out_of(self, train: _Places, test: _Places) -> FloatArray:
        """Return each label at some places, propagated from the others there alone."""
        own = self.precision[np.ix_(test, test)]
        lift = 1e-9 * max(float(np.diag(self.precision).max()), 1e-300)
        across = self.precision[np.ix_(test, train)]
        solved = np.linalg.solve(own + lift * np.eye(len(test)), across)
        return self._leave_out(self.precision[np.ix_(train, train)] - across.T @ solved, self.y[train])

    @staticmethod
    def _leave_out(precision: FloatArray, y: FloatArray) -> FloatArray:
        own = np.diag(precision).reshape(-1, *(1,) * (y.ndim - 1))
        alone = own <= 1e-9 * max(1e-300, float(own.max()))  # the only label of its part of the graph
        away = y - y.mean(axis=0)
        return np.where(alone, leave_out_of_mean(y), y - (precision @ away) / np.where(alone, 1.0, own))


def leave_out_of_mean(y: FloatArray) -> FloatArray:
    """Return the mean of all other labels for each of them."""
    return np.asarray((y.sum(axis=0) - y) / max(1, len(y) - 1))


def find_share(y: FloatArray, process: FloatArray, propagation: FloatArray) -> float:
    """Return the share of the Gaussian process in an average with label propagation that predicts labels left out best.

    Its prior is normal about the usual share, so that it stays near that if both predict nearly the same.
    """
    apart = process - propagation
    squares = float(apart @ apart)
    if squares == 0:
        return _USUAL_SHARE
    best = float(np.clip(apart @ (y - propagation) / squares, 0.0, 1.0))
    left = float(np.mean((y - propagation - best * apart) ** 2))
    weight = squares / (squares + left / _DEVIATION**2)
    return weight * best + (1 - weight) * _USUAL_SHARE
