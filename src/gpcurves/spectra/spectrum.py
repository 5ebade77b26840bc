r"""Eigenvalues of a covariance function with respect to an input distribution.

Mercer's theorem (Sollich & Halees 2002, eq. 5): :math:`C(x,x') = \sum_i \lambda_i \phi_i(x)\phi_i(x')` with
:math:`\langle\phi_i\phi_j\rangle = \delta_{ij}`. A `Spectrum` holds the leading eigenvalues one by one and everything
beyond them as a `Tail`, a smooth function of the index. Two kinds of question are asked of it:

* smooth sums over *all* eigenvalues, answered from the compressed `Measure`;
* sums over the first or the last of them *in order* (`beyond`, `root_sum`), answered from the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.numerics.frozen import FrozenMapping
from gpcurves.numerics.quadrature import GAUSS_NODES, GAUSS_WEIGHTS, gauss_legendre
from gpcurves.numerics.validation import FloatArray, frozen
from gpcurves.spectra.measure import Measure, compress

CLOSED_FORM = "closed form"
"""Origin of spectra that are listed in the order of their frequencies or quantum numbers."""
JOIN = 20.0
"""Power of the index with which what joins a list to its tail dies out beyond the list."""
UNDERFLOW = 690.0
"""Eigenvalues smaller than the largest by this much in the logarithm are beyond double precision."""


@dataclass(frozen=True)
class Tail:
    """Everything beyond the listed eigenvalues, as a smooth decreasing function of a real index.

    Attributes
    ----------
    log_eigenvalue
        Logarithm of the eigenvalue at a real index: the eigenvalue number ``i`` sits at ``i - 1/2``.
    edges
        Indices that cut the tail into panels on which 16 Gauss-Legendre points integrate it; the first is the number
        of eigenvalues in the list.
    log_values, multiplicities
        Quadrature nodes of the tail for smooth sums.
    taper
        Factors on the listed multiplicities in smooth sums, where nodes of the tail already take part of their place;
        None means that the list counts in full.
    """

    log_eigenvalue: Callable[[FloatArray], FloatArray]
    edges: FloatArray
    log_values: FloatArray
    multiplicities: FloatArray
    taper: FloatArray | None = None

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
    y = np.arange(math.log(start), 650.0, 0.02)
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond what is kept below
        logs = log_eigenvalue(np.exp(y))
        slope = -np.gradient(logs, y)
        spent = np.cumsum(np.maximum(slope - 1.0, 0.0)) * 0.02  # how far the mass beyond has fallen, in logarithm
    enough = (logs > -700.0) & np.isfinite(slope)
    enough &= (y < math.log(1e12)) | (spent < spent[np.searchsorted(y, math.log(1e12)) - 1] + 35.0)
    last = max(int(np.argmin(enough)) if not enough.all() else len(y), 3)
    y, slope = y[:last], slope[:last]
    rate = np.maximum(slope / 2, 1.0)
    if resolution is not None:
        rate = np.maximum(rate, resolution(np.exp(y)))
    cost = np.concatenate(([0.0], np.cumsum((rate[1:] + rate[:-1]) / 2) * 0.02))
    edges: FloatArray = np.exp(np.interp(np.linspace(0.0, cost[-1], max(2, math.ceil(cost[-1]) + 1)), cost, y))
    edges[0] = start
    return edges


@dataclass(frozen=True, eq=False, init=False)
class Spectrum:
    r"""Eigenvalues with multiplicities, in any order; zeros are dropped.

    Parameters
    ----------
    values
        Eigenvalues, at least 0.
    multiplicities
        How often each occurs; once if not given. Any positive real number is accepted.
    tail
        What lies beyond the list; None for a spectrum that ends with it.
    channels
        Further weights of each value, by name. "variance" holds :math:`\langle C(x,x)\phi_i^2(x)\rangle_x` if the prior
        variance depends on the input; if it does not, each would be the trace.
    coarse
        The same spectrum from a quarter of the nodes, where it is numerical: the difference estimates its error.
    origin
        Where it came from, in words.
    resolution
        Errors below this are lost in the rounding errors of a numerical spectrum.
    """

    values: FloatArray
    multiplicities: FloatArray
    tail: Tail | None
    channels: Mapping[str, FloatArray]
    coarse: Spectrum | None
    origin: str
    resolution: float

    def __init__(
        self,
        values: npt.ArrayLike,
        multiplicities: npt.ArrayLike | None = None,
        tail: Tail | None = None,
        channels: Mapping[str, FloatArray] | None = None,
        coarse: Spectrum | None = None,
        origin: str = "given eigenvalues",
        resolution: float = 0.0,
    ) -> None:
        values = _checked("eigenvalues", values)
        number = np.ones(len(values)) if multiplicities is None else _checked("multiplicities", multiplicities)
        further = dict(channels or {})
        if len(values) != len(number):
            raise InputError(f"a spectrum needs as many multiplicities as values, got {len(number)} and {len(values)}")
        keep = None if values.min(initial=1.0) > 0 and number.min(initial=1.0) > 0 else (values > 0) & (number > 0)
        if keep is not None:
            values, number = values[keep], number[keep]
            further = {name: weights[keep] for name, weights in further.items()}
        if len(values) == 0:
            raise InputError("a spectrum needs at least one eigenvalue greater than 0")
        if (values[1:] > values[:-1]).any():
            order = np.argsort(-values, kind="stable")
            values, number = values[order], number[order]
            further = {name: weights[order] for name, weights in further.items()}
        for name, value in (
            ("values", frozen(values)),
            ("multiplicities", frozen(number)),
            ("tail", tail),
            ("channels", FrozenMapping(further)),
            ("coarse", coarse),
            ("origin", origin),
            ("resolution", resolution),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_kernel_matrix(cls, matrix: npt.ArrayLike, probabilities: npt.ArrayLike | None = None) -> Spectrum:
        r"""Return the spectrum of a covariance matrix on discrete inputs, eigenvalues of :math:`P^{1/2} C P^{1/2}`.

        Without probabilities the inputs are equally likely. Source: Sollich & Halees 2002, App. B, eq. (36).
        """
        from gpcurves.spectra.nystrom import matrix_spectrum

        return matrix_spectrum(matrix, probabilities)

    @property
    def size(self) -> int:
        """How many distinct eigenvalues are listed."""
        return len(self.values)

    @cached_property
    def count(self) -> float:
        """How many eigenvalues there are; infinite with a tail."""
        return math.inf if self.tail is not None else float(self.multiplicities.sum())

    @cached_property
    def listed(self) -> float:
        """How many eigenvalues are listed one by one, multiplicities counted."""
        return float(self._before[-1])

    @cached_property
    def trace(self) -> float:
        """Sum of all eigenvalues: the average prior variance."""
        return float(self.measure.masses.sum())

    @cached_property
    def measure(self) -> Measure:
        """Nodes and weights for smooth sums over all eigenvalues."""
        logs, number = np.log(self.values), self.multiplicities
        if self.tail is not None:
            number = number if self.tail.taper is None else number * self.tail.taper
            logs = np.concatenate((logs, self.tail.log_values))
            number = np.concatenate((number, self.tail.multiplicities))
            keep = np.flatnonzero(number)
            order = keep[np.argsort(-logs[keep], kind="stable")]
            logs, number = logs[order], number[order]
        return compress(logs, number)

    def beyond(self, count: FloatArray) -> FloatArray:
        """Return the sum of all eigenvalues after the first ``count`` (any real number, linear in between)."""
        return self._ordered(count, self.values, self._masses_after, -1.0, 1.0)

    def root_sum(self, count: FloatArray) -> FloatArray:
        """Return the sum of the square roots of the first ``count`` eigenvalues."""
        return self._ordered(count, np.sqrt(self.values), self._roots_before, 1.0, 0.5)

    def _ordered(self, count: FloatArray, each: FloatArray, sums: FloatArray, sign: float, power: float) -> FloatArray:
        block = np.clip(np.searchsorted(self._before, count, side="right") - 1, 0, self.size - 1)
        inside = np.minimum(count - self._before[block], self.multiplicities[block])
        result: FloatArray = sums[block] + sign * inside * each[block]
        beyond = count > self.listed
        if self.tail is not None and beyond.any():
            if sign < 0:
                fading = (self.listed / count[beyond]) ** (JOIN if self._tail_is_volume else 0.0)
                factor = 1 + (self._tail_factor - 1) * fading
                result[beyond] = self.tail.integral(count[beyond], power) * factor
            else:  # from the list on: the integral of the roots to infinity may be huge, and swallow the difference
                result[beyond] += self.tail.integral_to(count[beyond], power)
        return result

    @cached_property
    def _before(self) -> FloatArray:
        """Number of eigenvalues before each listed block, and of all of them."""
        return np.concatenate(([0.0], np.cumsum(self.multiplicities)))

    @cached_property
    def _roots_before(self) -> FloatArray:
        sums = np.cumsum(np.sqrt(self.values) * self.multiplicities, dtype=np.longdouble)
        return np.concatenate(([0.0], sums[:-1])).astype(np.float64)

    @cached_property
    def _tail_mass(self) -> float:
        return float(self.tail.integral(self.tail.edges[:1], 1.0)[0]) if self.tail is not None else 0.0

    @property
    def _tail_is_volume(self) -> bool:
        """Whether the tail takes over a list that was complete up to its end."""
        return self.tail is not None and (self.tail.taper is None or bool(self.tail.taper.any()))

    @cached_property
    def _tail_factor(self) -> float:
        """Factor that makes list and tail together conserve the trace, where it is known well enough for that."""
        tail = self.tail
        if tail is None or self._tail_mass == 0:
            return 1.0
        if self._tail_is_volume:  # what the smooth nodes have beyond the list: nothing large cancels
            beyond = float(np.exp(tail.log_values) @ tail.multiplicities)
            if tail.taper is not None:
                beyond -= float((self.values * self.multiplicities) @ (1 - tail.taper))
            return beyond / self._tail_mass
        if self._tail_mass < 1e-5 * self.trace:
            return 1.0
        listed = float(np.sum(self.values * self.multiplicities, dtype=np.longdouble))
        return (self.trace - listed) / self._tail_mass

    @cached_property
    def _masses_after(self) -> FloatArray:
        """Sum of the eigenvalues of each listed block and of all that come after it."""
        rest = 0.0 if self.tail is None else self._tail_factor * self._tail_mass
        masses = np.concatenate(([rest], (self.values * self.multiplicities)[::-1]))
        return np.cumsum(masses, dtype=np.longdouble)[:0:-1].astype(np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Return what is needed to build this spectrum again; only a list can be written out."""
        if self.tail is not None or self.channels:
            raise InputError("only a spectrum given by its eigenvalues can be saved; save its problem instead")
        return {"values": self.values.tolist(), "multiplicities": self.multiplicities.tolist()}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Spectrum)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.multiplicities, other.multiplicities)
            and self.origin == other.origin
            and self._beyond_list() == other._beyond_list()
        )

    def _beyond_list(self) -> dict[str, list[float]]:
        """Return what besides the list makes a spectrum: further weights, and the nodes of its tail."""
        further = {name: weights.tolist() for name, weights in self.channels.items()}
        if self.tail is not None:
            further["tail"] = [*self.tail.log_values.tolist(), *self.tail.multiplicities.tolist()]
        return further

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{value:.4g}" + (f" ×{number:g}" if number != 1 else "")
            for value, number in zip(self.values[:3], self.multiplicities[:3], strict=True)
        )
        more = ", …" if self.size > 3 or self.tail is not None else ""
        beyond = " and a tail" if self.tail is not None else ""
        return f"Spectrum([{shown}{more}], {self.size} distinct{beyond}, trace={self.trace:.6g}, {self.origin})"


def _checked(name: str, given: object) -> FloatArray:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {type(given).__name__}") from error
    if array.ndim != 1:
        raise InputError(f"{name} must be a one-dimensional sequence, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    if array.min(initial=0.0) < 0:
        raise InputError(f"{name} must be at least 0, got {array.min():g}")
    return array
