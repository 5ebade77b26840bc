"""What each input of a table contributes to its forecast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gpcurves.numerics.display import html_table
from gpcurves.numerics.validation import FloatArray

_KEYS = ("name", "lengthscale_sd", "lengthscale", "share")


@dataclass(frozen=True, repr=False)
class Relevance:
    """What each of the user's columns contributes: its share of the explainable variance, and its lengthscale.

    Lengthscales are geometric means over the posterior, in standard deviations of the input: functions hardly change over
    much less. For a category it is the shortest of its columns. ``units`` are the same in the input's own units, NaN for a
    category, or if there are only two values.
    """

    names: tuple[str, ...]
    lengthscales: FloatArray
    units: FloatArray
    share: FloatArray

    def __repr__(self) -> str:
        order = np.argsort(-self.share, kind="stable").tolist()
        return f"<Relevance: {', '.join(f'{self.names[k]} {self.share[k]:.0%}' for k in order)}>"

    def _repr_html_(self) -> str:
        order = np.argsort(-self.share, kind="stable").tolist()
        rows = [(self.names[k], f"{self.share[k]:.0%}", f"{self.lengthscales[k]:.3g}") for k in order]
        return html_table(rows, ("input", "share of the explainable variance", "lengthscale in standard deviations"))

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per column, ready for JSON."""
        units = [None if math.isnan(own) else own for own in self.units.tolist()]
        columns = (self.names, self.lengthscales.tolist(), units, self.share.tolist())
        return [dict(zip(_KEYS, row, strict=True)) for row in zip(*columns, strict=True)]

    @classmethod
    def from_records(cls, records: list[dict[str, Any]]) -> Self:
        """Build it from what `to_records` returned."""
        names, *columns = ([record[key] for record in records] for key in _KEYS)
        return cls(tuple(names), *(np.array(column, dtype=np.float64) for column in columns))
