r"""Labels of any kind, by the logarithm of their density: quadrature in place of closed forms.

Labels are real numbers, of which most lie within a few ``scale`` of the function, or one of finitely many values. All integrals are
trapezoidal sums over :math:`\sinh` of equal steps, which resolve the middle of a density and reach far into its tails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.tabulated import Tabulated
from gpcurves.numerics.validation import FloatArray, as_numbers, positive
from gpcurves.observations.base import Observation, Tilted

LogDensity = Callable[[Any, Any], Any]
_STEP = 0.1
_T = np.linspace(-16.0, 16.0, 321)
_MIDDLE = len(_T) // 2
_FAR, _JACOBIAN = (
    np.sinh(_T),
    _STEP * np.cosh(_T),
)  # 4 million widths on either side, of which a Cauchy density has nearly all
_Z = np.linspace(-8.4, 8.4, 29)  # equal steps of 0.6 are exact to about 1e-9 for smooth functions
_GAUSS = 0.6 * np.exp(-0.5 * _Z**2) / np.sqrt(2 * np.pi)
_FARTHER = np.array([-8.0, -5.0, 4.0, 8.0])  # further function values at which the reach of labels is looked at
_NOTHING = 1e-20  # a share of a density that is left out
_STENCIL = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12  # derivatives of fourth order
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12
_WIDTH = 0.01  # steps of numerical derivatives, in units of the scale
_SMOOTH = 1e-3  # by how much derivatives with steps of twice the width may differ, relative to the largest
_TRIED = np.array([-3.0, -1.0, -0.2, 0.0, 0.5, 2.0])
_TOLERANCE = 1e-6


def _check_labels(name: str, value: object) -> tuple[float, ...] | None:
    if value is None:
        return None
    array = as_numbers(value, f"{name} must be the possible values of a label, or None for real numbers")
    if array.ndim != 1 or len(np.unique(array)) < max(2, len(array)) or not np.isfinite(array).all():
        raise InputError(f"{name} must be two or more different finite numbers, or None for real numbers")
    return tuple(array.tolist())


def _check_function(name: str, value: object) -> object:
    if not callable(value):
        raise InputError(f"{name} must be a function of labels and function values, got {value!r}")
    return value


@dataclass(frozen=True, repr=False)
class Likelihood(Observation):
    """A likelihood of your own, by the logarithm of its density.

    Parameters
    ----------
    log_density
        Takes arrays of labels and of function values, and returns the logarithm of the probability (density) of each label.
    labels
        The possible values of a label, such as (-1, 1) for classes; None if labels are real numbers.
    scale
        The typical distance of real labels from the function value, for integrals over labels.
    title
        Its name in saved problems; by default that of the function. To load a saved problem, first define a likelihood with
        this name: code is not saved.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> cauchy = gpc.Likelihood(lambda y, f: -np.log(np.pi * (1 + (y - f) ** 2)), title="cauchy")
    >>> gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), cauchy), "lc", n=[0, 100]).error.round(3)
    array([1.   , 0.158])
    """

    name = ""
    made: ClassVar[dict[str, LogDensity]] = {}
    log_density: LogDensity = parameter(help="Logarithm of the density", check=_check_function)
    labels: Sequence[float] | None = parameter(None, help="Possible values of a label", check=_check_labels)
    scale: float = parameter(1.0, help="Width of the density of real labels", check=positive)
    title: str = parameter("", help="Name in saved problems")
    additive: bool = field(init=False, repr=False, compare=False, default=False)
    concave: bool = field(
        init=False, repr=False, compare=False, default=False
    )  # smooth and log-concave, where it was tried
    reach: int = field(init=False, repr=False, compare=False, default=_MIDDLE)  # nodes of labels on either side

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.title:
            object.__setattr__(
                self, "title", getattr(self.log_density, "__qualname__", type(self.log_density).__name__)
            )
        self._check_normalised()
        object.__setattr__(self, "reach", self._find_reach())
        object.__setattr__(self, "additive", self._is_additive())
        object.__setattr__(self, "concave", self._is_concave())
        self.made[self.title] = self.log_density

    @property
    def inferences(self) -> tuple[str, ...]:  # type: ignore[override]
        """Expectation propagation, and Laplace's method if the log density is smooth and concave in the function."""
        return ("ep", "laplace") if self.concave else ("ep",)

    @property
    def classes(self) -> bool:  # type: ignore[override]
        return self.labels == (-1.0, 1.0)

    def at(self, labels: FloatArray, values: FloatArray) -> FloatArray:
        """Return the logarithm of the density, or raise if it is NaN or infinitely large."""
        with np.errstate(all="ignore"):
            given = np.asarray(self.log_density(labels, values))
        shape = np.broadcast_shapes(np.shape(labels), np.shape(values))
        if given.dtype.kind not in "fiu" or given.shape != shape:
            raise InputError(
                f"the log density of {self.title} must return a real number for each label and value, of shape {shape}, got shape "
                f"{given.shape}"
            )
        if np.isnan(given).any() or (given == np.inf).any():
            raise InputError(f"the log density of {self.title} returns NaN or infinity for some labels and values")
        return given.astype(np.float64)

    def _grid(self, values: FloatArray, width: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return labels and their measure, along a new last axis."""
        if self.labels is not None:
            every = np.array(self.labels)
            return np.broadcast_to(every, (*values.shape, len(every))), np.ones_like(every)
        spread, inside = np.asarray(width)[..., None], slice(_MIDDLE - self.reach, _MIDDLE + 1 + self.reach)
        return values[..., None] + spread * _FAR[inside], spread * _JACOBIAN[inside]

    def _check_normalised(self) -> None:
        labels, measure = self._grid(_TRIED, self.scale)
        total = (measure * np.exp(self.at(labels, _TRIED[:, None]))).sum(axis=-1)
        worst = int(np.argmax(abs(total - 1)))
        if not abs(total[worst] - 1) < _TOLERANCE:
            hint = "" if self.labels is not None else "; if it is one, its scale may be wrong"
            raise InputError(
                f"{self.title} is not a likelihood: at the function value {_TRIED[worst]:g} its density sums to {total[worst]:.6g} over "
                f"labels, not to 1{hint}"
            )

    def _find_reach(self) -> int:
        """Return how many nodes on either side hold all of the density, so that light tails take little time."""
        if self.labels is not None:
            return 0
        values = np.concatenate((_TRIED, _FARTHER))
        labels, measure = self._grid(values, self.scale)
        held = (measure * np.exp(self.at(labels, values[:, None]))).max(axis=0) > _NOTHING
        farthest = int(np.max(abs(np.flatnonzero(held) - _MIDDLE), initial=0))
        return min(_MIDDLE, farthest + 7)  # twice as far, because densities may be wider elsewhere

    def _is_concave(self) -> bool:
        labels, _ = self._grid(_TRIED, self.scale)
        near = labels if self.labels is not None else labels[:, abs(labels - _TRIED[:, None])[0] < 6 * self.scale]
        values = np.broadcast_to(_TRIED[:, None], near.shape)
        fine, coarse = (self._derivatives(near, values, step) for step in (_WIDTH, 2 * _WIDTH))
        if not all(np.isfinite(each).all() for each in (*fine, *coarse)):
            return False
        differ = abs(fine[1] - coarse[1]).max()
        return bool(differ < _SMOOTH * abs(fine[1]).max() and fine[1].min() > -1e-6 * abs(fine[1]).max())

    def _derivatives(self, labels: FloatArray, values: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
        """Return the derivative of the log density by the function value, and minus the second one."""
        step = width * self.scale
        around = self.at(labels[..., None], values[..., None] + step * _STENCIL)
        return around @ _FIRST / step, -(around @ _SECOND) / step**2

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        slope, curvature = self._derivatives(labels, values, _WIDTH)
        return self.at(labels, values), slope, np.maximum(curvature, 0.0)  # rounding; it is concave

    def _is_additive(self) -> bool:
        if self.labels is not None:
            return False
        residuals = self.scale * np.array([-3.0, -0.7, 0.1, 1.9])
        values = self.at(_TRIED[:, None] + residuals, _TRIED[:, None])
        return bool(np.allclose(values, values[0], rtol=1e-9, atol=1e-9))

    def _average(self, labels: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, ...]:
        """Return ln Z and the mean and the variance of values given the label, in units of the belief, along all axes but the last."""
        z, log_weights = self._nodes(np.sqrt(variance))
        terms = log_weights + self.at(labels[..., None], mean[..., None] + np.sqrt(variance)[..., None] * z)
        log_z = scipy.special.logsumexp(terms, axis=-1)
        share = np.exp(terms - log_z[..., None])
        first = (share * z).sum(axis=-1)
        second = (share * (z - first[..., None]) ** 2).sum(axis=-1)
        return log_z, first, second

    def _nodes(self, root: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return standard Gaussian nodes and the logarithms of their weights."""
        # steps of a quarter of what is narrower, the belief or the density of labels
        step = 0.25 * min(1.0, self.scale / float(np.max(root, initial=self.scale)))
        z = step * np.arange(-np.ceil(8.5 / step), np.ceil(8.5 / step) + 1)
        return z, -0.5 * z**2 + np.log(step) - 0.5 * np.log(2 * np.pi)

    def tilt(self, labels: FloatArray, mean: FloatArray, variance: FloatArray) -> Tilted:
        log_z, first, second = self._average(labels, mean, variance)
        return log_z, first / np.sqrt(variance), (1 - second) / variance

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        if self.additive:
            return _additive_table(self)(np.asarray(error, dtype=np.float64) / self.scale**2)
        if np.ndim(variance):
            pairs = np.broadcast_arrays(np.asarray(error, dtype=np.float64), variance)
            direct = np.vectorize(lambda e, v: self._information(float(e), float(v)), otypes=[np.float64])
            return np.asarray(direct(*pairs))
        return _table(self, float(variance))(np.asarray(error, dtype=np.float64) / float(variance))

    def _information(self, error: float, variance: float) -> float:
        predictions = np.zeros(1) if self.additive else np.sqrt(max(variance - error, 0.0)) * _Z
        weights = np.ones(1) if self.additive else _GAUSS
        root = np.sqrt(np.array(error))
        z, log_weights = self._nodes(root)
        gauss, total = np.column_stack((np.exp(log_weights), np.exp(log_weights) * z)), 0.0
        for weight, prediction in zip(weights.tolist(), predictions, strict=True):
            labels, measure = self._grid(prediction, np.sqrt(self.scale**2 + error))
            # of labels that have a probability; with that and its derivative no logarithm is needed
            Z, slope = (np.exp(self.at(labels[..., None], prediction + root * z)) @ gauss).T
            total += weight * float((measure * np.divide(slope**2, Z, out=np.zeros_like(Z), where=Z > 0)).sum())
        return total / error

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        labels, measure = self._grid(values, self.scale)
        share = measure * np.exp(self.at(labels, values[..., None]))
        total = np.cumsum(share, axis=-1)
        chance = rng.random((*values.shape, 1)) * total[..., -1:]
        place = np.minimum((total < chance).sum(axis=-1, keepdims=True), labels.shape[-1] - 1)
        if self.labels is not None:
            return np.take_along_axis(labels, place, -1)[..., 0]
        upper, width = np.take_along_axis(total, place, -1), np.take_along_axis(share, place, -1)
        t = _T[place + _MIDDLE - self.reach] + _STEP * ((chance - upper) / width + 0.5)  # within a step of the grid
        return np.asarray(values + self.scale * np.sinh(t[..., 0]))

    def to_dict(self) -> dict[str, Any]:
        plain = super().to_dict()
        plain["log_density"] = self._fingerprint()
        return plain

    def _fingerprint(self) -> str:
        """Return what tells functions of the same name apart: a digest of some of their values."""
        labels, _ = self._grid(_TRIED, self.scale)
        return sha256(np.round(self.at(labels, _TRIED[:, None]), 9).tobytes()).hexdigest()[:16]

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        title, digest = parameters["title"], parameters["log_density"]
        if title not in cls.made:
            raise InputError(
                f"{title!r} is code of your own, which is not saved: make this Likelihood again before loading"
            )
        built = cls(cls.made[title], parameters.get("labels"), parameters["scale"], title)
        if built._fingerprint() != digest:
            raise InputError(f"{title!r} is no longer the function that was saved")
        return built

    def __repr__(self) -> str:
        return f"Likelihood({self.title})"


@lru_cache(maxsize=16)
def _additive_table(of: Likelihood) -> Tabulated:
    squared = of.scale**2
    return Tabulated(lambda x: np.array([of._information(float(each) * squared, 0.0) for each in x]), 1e-12, 19)


@lru_cache(maxsize=16)
def _table(of: Likelihood, variance: float) -> Tabulated:
    return Tabulated(lambda x: np.array([of._information(float(each) * variance, variance) for each in x]), 1e-12, 19)
