r"""Eigenvalues of a covariance function with respect to an input distribution.

Mercer's theorem (Sollich & Halees 2002, eq. 5): :math:`C(x,x') = \sum_i \lambda_i \phi_i(x)\phi_i(x')` with
:math:`\langle\phi_i\phi_j\rangle = \delta_{ij}`. A `Spectrum` holds the leading eigenvalues one by one and everything
beyond them as a `Tail`, a smooth function of the index. Two kinds of question are asked of it:

* smooth sums over *all* eigenvalues, answered from the compressed `Measure`;
* sums over the first or the last of them *in order* (`beyond`, `root_sum`), answered from the list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.numerics.frozen import FrozenMapping, ReadOnly
from gpcurves.numerics.validation import FloatArray, as_numbers, frozen
from gpcurves.spectra.measure import Measure, compress
from gpcurves.spectra.tail import Boundary, Tail

CLOSED_FORM = "closed form"
"""Origin of spectra that are listed in the order of their frequencies or quantum numbers."""
GIVEN = "given eigenvalues"
UNDERFLOW = 690.0
"""Eigenvalues smaller than the largest by this much in the logarithm are beyond double precision."""


@dataclass(frozen=True, eq=False, init=False)
class Spectrum(ReadOnly):
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
        variance depends on the input; if it does not, each would be the trace. "power" holds the average of
        :math:`\langle\phi_i f^*\rangle^2` over true functions, if they come from another process than the kernel.
    coarse
        The same spectrum from a quarter of the nodes, if it is numerical: the difference estimates its error.
    origin
        How it was obtained, in words.
    resolution
        Errors below this are lost in the rounding errors of a numerical spectrum.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> spectrum = gpc.Spectrum([1.0, 0.5], multiplicities=[1, 4])
    >>> spectrum.trace
    3.0
    >>> gpc.learning_curve(spectrum, "lc", n=[0, 10], noise=0.05).error.round(3)
    array([3.   , 0.048])
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
        origin: str = GIVEN,
        resolution: float = 0.0,
    ) -> None:
        values = _check_numbers("eigenvalues", values)
        number = np.ones(len(values)) if multiplicities is None else _check_numbers("multiplicities", multiplicities)
        further = dict(channels or {})
        if len(values) != len(number):
            raise InputError(f"a spectrum needs as many multiplicities as values, got {len(number)} and {len(values)}")
        # lists are long and usually in order and positive: they are copied only if that is not so
        if min(values.min(initial=1.0), number.min(initial=1.0)) <= 0 or (values[1:] > values[:-1]).any():
            order = np.argsort(-values, kind="stable")
            order = order[(values[order] > 0) & (number[order] > 0)]
            values, number = values[order], number[order]
            further = {name: weights[order] for name, weights in further.items()}
        if len(values) == 0:
            raise InputError("a spectrum needs at least one eigenvalue greater than 0")
        lists = {"values": frozen(values), "multiplicities": frozen(number), "channels": FrozenMapping(further)}
        self.__dict__.update(lists, tail=tail, coarse=coarse, origin=origin, resolution=resolution)

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
        powers = self.channels.get("power")
        if powers is not None and (self.multiplicities != 1).any():
            powers = self.multiplicities * powers
        if (tail := self.tail) is not None:
            number = number * tail.list_share
            logs = np.concatenate((logs, tail.log_values))
            number = np.concatenate((number, tail.multiplicities))
            matters = number != 0  # nodes without weight would only widen the range of the bins
            if powers is not None and tail.power is not None:
                powers = np.concatenate((powers * tail.list_share, tail.multiplicities * tail.power))
            elif powers is not None:
                powers = np.concatenate((powers, np.zeros(len(tail.log_values))))
                matters |= powers != 0
            keep = np.flatnonzero(matters)
            order = keep[np.argsort(-logs[keep], kind="stable")]
            logs, number = logs[order], number[order]
            powers = None if powers is None else powers[order]
        return compress(logs, number, powers=powers)

    def with_power(self, listed: FloatArray, beyond: FloatArray | None = None) -> Spectrum:
        """Return the spectrum with the power of the true function in each eigenfunction of the list, and at nodes of the tail."""
        tail = self.tail if self.tail is None or beyond is None else replace(self.tail, power=beyond)
        other = copy(self)  # the lists are in order, and need not be checked again
        other.__dict__.pop("measure", None)
        other.__dict__.update(channels=FrozenMapping({**self.channels, "power": listed}), tail=tail)
        return other

    def with_matched_power(self) -> Spectrum:
        """Return the spectrum with the power that functions of its own kernel have: the eigenvalues."""
        own = self.with_power(self.values, None if self.tail is None else np.exp(self.tail.log_values))
        return own if self.coarse is None else replace(own, coarse=self.coarse.with_matched_power())

    def with_coefficients(self, coefficients: FloatArray) -> Spectrum:
        """Return the spectrum with the power of one function; further coefficients are of functions that the kernel lacks.

        Coefficients begin with the largest eigenvalue; one that occurs several times has as many of them.
        """
        power = coefficients * coefficients
        if self.multiplicities.max() > 1 or self.multiplicities.min() < 1:
            ends = np.minimum(np.rint(self._before).astype(np.int64), len(power))
            power = np.diff(np.concatenate(([0.0], np.cumsum(power)))[ends]) / self.multiplicities
        listed = np.zeros(self.size)
        listed[: len(power)] = power[: self.size]
        own = self.with_power(listed)
        return own if self.coarse is None else replace(own, coarse=self.coarse.with_coefficients(coefficients))

    def beyond(self, count: FloatArray) -> FloatArray:
        """Return the sum of all eigenvalues after the first ``count`` (any real number, linear in between)."""
        return self._sum_in_order(count, self.values, self._masses_after, -1.0, 1.0)

    def root_sum(self, count: FloatArray) -> FloatArray:
        """Return the sum of the square roots of the first ``count`` eigenvalues."""
        return self._sum_in_order(count, np.sqrt(self.values), self._roots_before, 1.0, 0.5)

    def _sum_in_order(
        self, count: FloatArray, each: FloatArray, sums: FloatArray, sign: float, power: float
    ) -> FloatArray:
        block = np.clip(np.searchsorted(self._before, count, side="right") - 1, 0, self.size - 1)
        inside = np.minimum(count - self._before[block], self.multiplicities[block])
        result: FloatArray = sums[block] + sign * inside * each[block]
        beyond = count > self.listed
        if self.tail is not None and beyond.any():
            if sign < 0:
                fading = (self.listed / count[beyond]) ** self.tail.boundary.join_power
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
        # long double, because millions of terms would otherwise leave an error that differences of sums magnify
        sums = np.cumsum(np.sqrt(self.values) * self.multiplicities, dtype=np.longdouble)
        return np.concatenate(([0.0], sums[:-1])).astype(np.float64)

    @cached_property
    def _tail_mass(self) -> float:
        return float(self.tail.integral(self.tail.edges[:1], 1.0)[0]) if self.tail is not None else 0.0

    @cached_property
    def _tail_factor(self) -> float:
        """Factor that makes list and tail together conserve the trace, if it is known well enough for that."""
        tail = self.tail
        if tail is None or self._tail_mass == 0:
            return 1.0
        if tail.boundary is not Boundary.REPLACED:
            # What the smooth nodes have beyond the list. This is not the trace minus the list, in which nearly everything would
            # cancel: only the small part of the list that nodes of the tail have taken over is subtracted.
            beyond = float(np.exp(tail.log_values) @ tail.multiplicities)
            if tail.boundary is Boundary.SOFT:
                beyond -= float(np.dot(self.values * self.multiplicities, 1 - tail.list_share))
            return beyond / self._tail_mass
        # Here nothing but the trace is known. Its rounding error of about 1e-16 must stay small beside the tail.
        if self._tail_mass < 1e-5 * self.trace:
            return 1.0
        listed = float(np.sum(self.values * self.multiplicities, dtype=np.longdouble))
        return (self.trace - listed) / self._tail_mass

    @cached_property
    def _masses_after(self) -> FloatArray:
        """Sum of the eigenvalues of each listed block and of all that come after it."""
        rest = 0.0 if self.tail is None else self._tail_factor * self._tail_mass
        # summed from the smallest on, so that each partial sum keeps its relative accuracy
        masses = np.concatenate(([rest], (self.values * self.multiplicities)[::-1]))
        return np.cumsum(masses, dtype=np.longdouble)[:0:-1].astype(np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` needs to build this spectrum again; only a list can be written out."""
        if self.tail is not None:
            raise InputError("only a spectrum given by its eigenvalues can be saved; save its problem instead")
        plain: dict[str, Any] = {"values": self.values.tolist(), "multiplicities": self.multiplicities.tolist()}
        if self.channels:
            plain["channels"] = {name: weights.tolist() for name, weights in self.channels.items()}
        if self.coarse is not None:
            plain["coarse"] = self.coarse.to_dict()
        return plain if self.origin == GIVEN else {**plain, "origin": self.origin, "resolution": self.resolution}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spectrum:
        """Build a spectrum from what `to_dict` returned."""
        kept = dict(data)
        channels = {name: np.array(weights) for name, weights in kept.pop("channels", {}).items()}
        coarse = kept.pop("coarse", None)
        return cls(**kept, channels=channels, coarse=None if coarse is None else cls.from_dict(coarse))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spectrum) or self.origin != other.origin:
            return False
        one, two = self._arrays(), other._arrays()
        return one.keys() == two.keys() and all(np.array_equal(array, two[name]) for name, array in one.items())

    def _arrays(self) -> dict[str, FloatArray]:
        """Return what makes a spectrum: the list, further weights, and the nodes of its tail."""
        nodes = {} if self.tail is None else {"logs": self.tail.log_values, "weights": self.tail.multiplicities}
        return {"values": self.values, "multiplicities": self.multiplicities, **self.channels, **nodes}

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{value:.4g}" + (f" ×{number:g}" if number != 1 else "")
            for value, number in zip(self.values[:3], self.multiplicities[:3], strict=True)
        )
        more = ", …" if self.size > 3 or self.tail is not None else ""
        beyond = " and a tail" if self.tail is not None else ""
        return f"Spectrum([{shown}{more}], {self.size} distinct{beyond}, trace={self.trace:.6g}, {self.origin})"


def _check_numbers(name: str, value: object) -> FloatArray:
    array = as_numbers(value, f"{name} must be numbers, got {type(value).__name__}")
    if array.ndim != 1:
        raise InputError(f"{name} must be a one-dimensional sequence, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    if array.min(initial=0.0) < 0:
        raise InputError(f"{name} must be at least 0, got {array.min():g}")
    return array
