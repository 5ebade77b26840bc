"""Gaussian noise that depends on the input: a function of it, or one variance for each row or vertex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.numerics.frozen import frozen_array
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.observations.base import Observation

Function = Callable[[FloatArray], npt.ArrayLike]
"""Takes inputs, one per row (on a graph the numbers of vertices), and returns one noise variance for each."""
_TRIED = 200  # nodes at which a function is tried when a problem is made
_MOST_DIMENSIONS = 100


@dataclass(frozen=True, eq=False, repr=False, init=False)
class UnevenNoise(Observation):
    """A function value plus Gaussian noise whose variance depends on the input.

    Parameters
    ----------
    function
        Takes inputs, one per row, and returns the noise variance at each.
    values
        The noise variances themselves instead: one for each row of a `Sample`, point of `Discrete` inputs or vertex of a graph.
        Equal rows share the average of their values.
    title
        Name of the function in saved problems; by default its own. To load a saved problem, first define noise with this
        name: code is not saved.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> noise = gpc.UnevenNoise(lambda X: 0.01 + X[:, 0] ** 2 / 2, title="wide")
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(dim=1), noise)
    >>> gpc.learning_curve(problem, "local", n=[0, 80]).error.round(4)
    array([1.    , 0.0283])
    """

    name = ""
    uneven = True
    made: ClassVar[dict[str, Function]] = {}
    function: Function | None = parameter(None, help="Noise variance as a function of the input")
    values: FloatArray | None = parameter(None, help="Noise variance of each row or vertex")
    title: str = parameter("", help="Name in saved problems")

    def __init__(
        self, function: Function | None = None, values: npt.ArrayLike | None = None, title: str | None = None
    ) -> None:
        if (function is None) == (values is None):
            raise InputError("uneven noise needs either a function of the inputs or values, one for each row or vertex")
        if function is not None and not callable(function):
            raise InputError(
                f"the noise function must be callable, got {function!r}; pass variances of rows or vertices as values="
            )
        listed = None
        if values is not None:
            listed = frozen_array(_checked(as_numbers(values, "noise variances must be numbers"), "noise variances"))
            if listed.ndim != 1 or listed.size == 0:
                raise InputError(f"noise variances must be one for each row or vertex, got shape {listed.shape}")
        named = str(title or ("" if function is None else getattr(function, "__qualname__", type(function).__name__)))
        for name, value in (("function", function), ("values", listed), ("title", named)):
            object.__setattr__(self, name, value)
        if function is not None:
            self.made[named] = function

    def objection(self, inputs: Any) -> str | None:
        if inputs.axis == "nu" and not inputs.enumerable:
            return "noise per vertex needs a given graph, but this is an ensemble"
        if self.function is not None:
            self.noise_at(inputs, inputs.nodes(_TRIED)[0])
            return None
        if not inputs.enumerable:
            return f"values of the noise belong to rows or vertices, but inputs are {inputs!r}: give a function instead"
        count = len(self._places(inputs))
        what = "vertices" if inputs.axis == "nu" else "rows"
        assert self.values is not None
        return None if len(self.values) == count else f"noise has {len(self.values)} values for {count} {what}"

    def noise_at(self, inputs: Any, X: FloatArray) -> FloatArray:
        if self.function is not None:
            return _evaluate(self.function, X)
        assert self.values is not None
        if inputs.axis == "nu":
            return self.values[X[:, 0].astype(np.int64)]
        places = self._places(inputs)
        unique, which = np.unique(np.concatenate((places, X)), axis=0, return_inverse=True)
        which = which.reshape(-1)
        known, asked = which[: len(places)], which[len(places) :]
        counts = np.bincount(known, minlength=len(unique))
        if (counts[asked] == 0).any():
            raise InputError("the noise is known at the rows of the inputs alone, but some input is not among them")
        return np.asarray(np.bincount(known, weights=self.values, minlength=len(unique))[asked] / counts[asked])

    @staticmethod
    def _places(inputs: Any) -> FloatArray:
        """Return all inputs that there are."""
        points: FloatArray = inputs.points if hasattr(inputs, "points") else inputs.nodes(1)[0]
        return points

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        raise NotApplicableError("the information in a label depends on the input: use information_at")

    def information_at(self, inputs: Any, X: FloatArray, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        return np.asarray(1 / (self.noise_at(inputs, X) + error))

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        if self.function is None:
            raise NotApplicableError("labels are drawn if the noise is a function of the input")
        labels: FloatArray = values + np.sqrt(_evaluate(self.function, inputs)) * rng.standard_normal(values.shape)
        return labels

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnevenNoise):
            return NotImplemented
        if self.values is not None or other.values is not None:
            return np.array_equal(self._listed, other._listed)
        return self.function is other.function or self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.title, self._listed.tobytes()))

    @property
    def _listed(self) -> FloatArray:
        return np.empty(0) if self.values is None else self.values

    def to_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"type": "UnevenNoise"}
        if self.values is not None:
            return {**plain, "values": self.values.tolist()}
        return {**plain, "title": self.title, "function": self._fingerprint()}

    def _fingerprint(self) -> str:
        """Return what tells functions of the same name apart: a digest of some of their values."""
        assert self.function is not None
        rng = np.random.default_rng(0)
        for dim in range(1, _MOST_DIMENSIONS + 1):  # the number of dimensions that it takes is not known here
            try:
                with np.errstate(all="ignore"):
                    found = np.asarray(self.function(rng.standard_normal((7, dim))), dtype=np.float64)
            except (IndexError, ValueError, TypeError):
                continue
            return sha256(np.round(np.nan_to_num(found), 9).tobytes()).hexdigest()[:16]
        raise InputError(
            f"the noise {self.title!r} cannot be saved: it accepts none of the input dimensions that were tried"
        )

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        if "values" in parameters:
            return cls(values=parameters["values"])
        title, digest = parameters["title"], parameters["function"]
        if title not in cls.made:
            raise InputError(
                f"{title!r} is code of your own, which is not saved: make this UnevenNoise again before loading"
            )
        built = cls(cls.made[title], title=title)
        if built._fingerprint() != digest:
            raise InputError(f"{title!r} is no longer the function that was saved")
        return built

    def __repr__(self) -> str:
        if self.values is None:
            return f"UnevenNoise({self.title})"
        return f"UnevenNoise({len(self.values)} values, {self.values.min():.4g} to {self.values.max():.4g})"


def _evaluate(function: Function, X: FloatArray) -> FloatArray:
    """Return the noise variance at each input, or raise if it is none."""
    found = as_numbers(function(X), "the noise function must return one number for each input")
    if found.shape == (len(X), 1):
        found = found[:, 0]
    if found.shape != (len(X),):
        raise InputError(
            f"the noise function must return one number for each input, got shape {found.shape} for {len(X)} inputs"
        )
    return _checked(found, "the noise function")


def _checked(variances: FloatArray, name: str) -> FloatArray:
    if not np.isfinite(variances).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    if (variances < 0).any():
        raise InputError(f"{name} must be at least 0, got {variances.min():g}")
    return variances
