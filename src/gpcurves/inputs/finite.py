"""Inputs on finitely many points: as they are, or as a sample of something unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs
from gpcurves.numerics.validation import FloatArray, frozen
from gpcurves.numerics.validation import points as checked_points


@dataclass(frozen=True, eq=False, repr=False, init=False)
class _Finite(Inputs):
    points: FloatArray

    def __init__(self, points: npt.ArrayLike) -> None:
        object.__setattr__(self, "points", checked_points("points", points))

    @property
    def dim(self) -> int:
        """Number of components of an input."""
        return int(self.points.shape[1])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.points)} points, dim={self.dim})"


class Sample(_Finite):
    """Points drawn from an unknown distribution, which they stand for; its small eigenvalues are extrapolated."""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.points[rng.integers(len(self.points), size=count)]

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        every = max(1, -(-len(self.points) // count))
        chosen = self.points[::every]
        return chosen, np.full(len(chosen), 1.0 / len(chosen))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Discrete(_Finite):
    """Exactly these points, with these probabilities (equal ones if not given)."""

    probabilities: FloatArray

    def __init__(self, points: npt.ArrayLike, probabilities: npt.ArrayLike | None = None) -> None:
        super().__init__(points)
        count = len(self.points)
        try:
            chance = np.full(count, 1.0 / count) if probabilities is None else np.array(probabilities, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError("probabilities must be numbers") from error
        if chance.shape != (count,):
            raise InputError(f"probabilities must be one per point ({count}), got shape {chance.shape}")
        if not np.isfinite(chance).all() or (chance < 0).any():
            raise InputError("probabilities must be finite and at least 0")
        if abs(chance.sum() - 1) > 1e-9:
            raise InputError(f"probabilities must sum to 1, got {chance.sum():g}")
        object.__setattr__(self, "probabilities", frozen(chance / chance.sum()))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.points[rng.choice(len(self.points), size=count, p=self.probabilities)]

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        return self.points, self.probabilities
