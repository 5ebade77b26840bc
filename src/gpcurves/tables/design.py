"""How the columns of a table become a design matrix, kept so that other tables can be brought into the same form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from gpcurves.numerics.validation import FloatArray
from gpcurves.tables import columns
from gpcurves.tables.cells import Reading, Values, check_cells
from gpcurves.tables.encoding import Categories, ColumnEncoding


@dataclass(frozen=True)
class TableDesign:
    """What each column that is used becomes; ``fillers`` stand for missing cells where those are filled in."""

    readings: Mapping[str, Reading]
    encodings: tuple[ColumnEncoding, ...]
    fillers: Mapping[str, float | str]
    filled: bool = False  # whether cells were filled in, not their rows dropped

    @property
    def sources(self) -> tuple[str, ...]:
        """The user's column that each design column comes from."""
        return tuple(encoding.source for encoding in self.encodings for _ in encoding.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The design columns, such as ``colour=red``."""
        return tuple(name for encoding in self.encodings for name in encoding.names)

    @property
    def blocks(self) -> tuple[int, ...]:
        """For every design column which lengthscale it has, counted over all of them."""
        blocks: list[int] = []
        for encoding in self.encodings:
            begin = blocks[-1] + 1 if blocks else 0
            blocks += [begin + number for number in encoding.blocks]
        return tuple(blocks)

    def read(self, table: pd.DataFrame, what: str) -> dict[str, Values]:
        """Return the cells of the columns that are used, not filled in; the table is called ``what`` in errors."""
        for encoding in self.encodings:
            columns.check_column(what, encoding.source, table.columns)
            check_cells(encoding.source, table[encoding.source])
        return {each.source: self.readings[each.source].read(table[each.source]) for each in self.encodings}

    def encode(self, values: Mapping[str, Values], *, fill: bool) -> FloatArray:
        """Return design columns, NaN in rows with missing cells that are not filled."""
        if fill:
            values = {name: columns.fill_missing(cells, self.fillers[name]) for name, cells in values.items()}
        gone = np.any([pd.isna(cells) for cells in values.values()], axis=0)
        X = np.full((len(gone), len(self.names)), np.nan)
        if not gone.all():
            X[~gone] = np.hstack([each.encode(values[each.source][~gone]) for each in self.encodings])
        return X

    def decode(self, X: FloatArray) -> pd.DataFrame:
        """Return a table with the user's columns whose design columns are these: the inverse of `encode`."""
        table, begin = {}, 0
        for each in self.encodings:
            width = len(each.names)
            table[each.source] = each.decode(X[:, begin : begin + width], self.readings[each.source])
            begin += width
        return pd.DataFrame(table)

    def find_new(self, values: Mapping[str, Values]) -> list[str]:
        """Return categories that no row with a target has, such as ``colour=red``."""
        return sorted(
            f"{each.source}={text}"
            for each in self.encodings
            if isinstance(each, Categories)
            for text in {text for text in values[each.source] if text is not None} - each.seen - {columns.MISSING_LEVEL}
        )
