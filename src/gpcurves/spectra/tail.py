r"""What lies beyond the listed eigenvalues of a spectrum: a smooth function of the index, integrated by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from gpcurves.numerics.quadrature import GAUSS_NODES, GAUSS_WEIGHTS, gauss_legendre
from gpcurves.numerics.validation import FloatArray

_JOIN = 20.0
_POWER_LAW_END = 1e12
_STEP = 0.02


class Boundary(Enum):
    """How a list of eigenvalues and the quadrature nodes of its tail divide smooth sums between them.

    Sums in order always take the list as it is, and the tail's function of the index beyond it.
    """

    SHARP = "the list counts in full, and the nodes begin at its end"
    """A numerical spectrum: up to the last trusted eigenvalue the list is right, beyond it the tail is all there is."""
    SOFT = "the list fades out before its end, and the nodes fade in"
    """A lattice that is listed completely up to a limit, at which a sharp cut would count vectors unevenly."""
    REPLACED = "the nodes stand for all eigenvalues, and the list for none"
    """A lattice too large to be listed up to the limit: the list is only the beginning, for sums in order."""

    @property
    def join_power(self) -> float:
        """Power of the index with which the correction that joins the tail to the list dies out beyond the list.

        After a complete list the continuum is right by itself, and the correction is only for the last few fluctuations of
        the count, so that it dies out at once: 20 is about e-fold per 5 %. A replaced list ends anywhere, and its correction
        stays.
        """
        return 0.0 if self is Boundary.REPLACED else _JOIN


@dataclass(frozen=True)
class Tail:
    """Everything beyond the listed eigenvalues, as a smooth decreasing function of a real index.

    ``log_eigenvalue`` takes a real index: the eigenvalue number ``i`` sits at ``i - 1/2``. ``edges`` are indices that cut the
    tail into panels on which 16 Gauss-Legendre points integrate it; the first is the number of eigenvalues in the list.
    ``log_values`` and ``multiplicities`` are quadrature nodes for smooth sums, and ``list_share`` is the share of each listed
    eigenvalue that they leave to the list. ``power`` is the power of the true function in each eigenfunction at the nodes; None
    if it has none there, so that it is all in the list.
    """

    log_eigenvalue: Callable[[FloatArray], FloatArray]
    edges: FloatArray
    log_values: FloatArray
    multiplicities: FloatArray
    boundary: Boundary = Boundary.SHARP
    list_share: FloatArray | float = 1.0
    power: FloatArray | None = None

    @classmethod
    def sharp(cls, log_eigenvalue: Callable[[FloatArray], FloatArray], start: float) -> Tail:
        """Return the tail that takes over abruptly after the first ``start`` eigenvalues."""
        edges = panels(log_eigenvalue, start)
        index, width = gauss_legendre(edges)
        return cls(log_eigenvalue, edges, log_eigenvalue(index), width)

    def integral_to(self, upper: FloatArray, power: float) -> FloatArray:
        r"""Return :math:`\int_{start}^{n} \lambda(x)^{p}\,dx` for each upper limit at or beyond the list."""
        earlier = np.concatenate(([0.0], np.cumsum(self._panel_integrals(power))))
        panel = np.clip(np.searchsorted(self.edges, upper, side="right") - 1, 0, len(self.edges) - 2)
        return self._between(self.edges[panel], np.minimum(upper, self.edges[-1]), power) + earlier[panel]

    def integral(self, lower: FloatArray, power: float) -> FloatArray:
        r"""Return :math:`\int_{n}^{\infty} \lambda(x)^{p}\,dx` for each lower limit at or beyond the list."""
        later = np.append(np.cumsum(self._panel_integrals(power)[::-1])[::-1], 0.0)
        upper = np.searchsorted(self.edges, lower, side="right")
        inside = upper < len(self.edges)
        result = np.zeros(len(lower))
        result[inside] = self._between(lower[inside], self.edges[upper[inside]], power) + later[upper[inside]]
        return result

    def _panel_integrals(self, power: float) -> FloatArray:
        index, width = gauss_legendre(self.edges)
        integrand = np.exp(power * self.log_eigenvalue(index)) * width
        return np.asarray(integrand.reshape(-1, len(GAUSS_NODES)).sum(axis=1))

    def _between(self, lower: FloatArray, upper: FloatArray, power: float) -> FloatArray:
        """Integrate between limits inside one panel each."""
        half = (upper - lower) / 2
        index = (upper + lower)[:, None] / 2 + half[:, None] * GAUSS_NODES
        return np.asarray(half * (np.exp(power * self.log_eigenvalue(index)) @ GAUSS_WEIGHTS))


def panels(
    log_eigenvalue: Callable[[FloatArray], FloatArray],
    start: float,
    resolution: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """Cut the index axis from ``start`` on so that the logarithms of index and eigenvalue change little in a panel.

    It ends where the eigenvalues underflow, or where a power law has nothing left to give: its mass beyond is below
    1e-15 of that beyond the index 1e12. ``resolution`` may ask for finer panels, as panels per unit of ln(index).
    """
    y = np.arange(math.log(start), 650.0, _STEP)  # up to indices of e^650, near the largest float
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond what is kept below
        logs = log_eigenvalue(np.exp(y))
        slope = -np.gradient(logs, y)
        spent = np.cumsum(np.maximum(slope - 1.0, 0.0)) * _STEP  # how far the mass beyond has fallen, in logarithm
    # e^-700 is just above underflow, and e^-35 just below the relative precision of a double
    enough = (logs > -700.0) & np.isfinite(slope)
    far = math.log(_POWER_LAW_END)
    enough &= (y < far) | (spent < spent[np.searchsorted(y, far) - 1] + 35.0)
    last = max(int(np.argmin(enough)) if not enough.all() else len(y), 3)
    y, slope = y[:last], slope[:last]
    # in a panel the index grows by at most e and the eigenvalue falls by at most e^2, which 16 nodes integrate to 1e-16
    rate = np.maximum(slope / 2, 1.0)
    if resolution is not None:
        rate = np.maximum(rate, resolution(np.exp(y)))
    cost = np.concatenate(([0.0], np.cumsum((rate[1:] + rate[:-1]) / 2) * _STEP))
    edges: FloatArray = np.exp(np.interp(np.linspace(0.0, cost[-1], max(2, math.ceil(cost[-1]) + 1)), cost, y))
    edges[0] = start
    return edges
