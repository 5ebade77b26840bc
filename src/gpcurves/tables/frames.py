"""Tables of other libraries as pandas tables: polars, Arrow, and whatever exports Arrow data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from gpcurves.errors import InputError


def is_table(value: object) -> bool:
    """Tell whether a value is a table of any library, rather than an array or a single column."""
    kind = type(value)  # asking the value itself would make a lazy table find out its columns
    return hasattr(kind, "columns") or (hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "__array__"))


def as_frame(table: Any) -> pd.DataFrame:
    """Return a table as pandas has it: missing cells as None or NaN, dates, durations and categories as such."""
    kind = type(table)
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(kind, "collect") or hasattr(kind, "compute"):
        raise InputError(f"a {kind.__name__} holds no rows yet: collect (polars) or compute (Dask) it first")
    if hasattr(kind, "get_columns"):  # polars, whose own conversion needs pyarrow
        columns = table.get_columns()
        return pd.DataFrame({name: _from_polars(column) for name, column in zip(table.columns, columns, strict=True)})
    try:
        if hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "to_pandas"):
            import pyarrow as pa

            table = pa.table(table)
        return pd.DataFrame(table.to_pandas())
    except Exception as error:  # whatever another library raises, pyarrow missing included
        reason = str(error).partition("\n")[0]
        raise InputError(f"cannot turn a {kind.__name__} into a pandas table: {reason}") from error


def _from_polars(column: Any) -> Any:
    if column.dtype.is_integer() or column.dtype.is_float():
        return column.to_numpy()  # NaN for null
    cells = pd.Series(column.to_list(), dtype=None if column.dtype.is_temporal() else object).infer_objects()
    return cells.astype("category") if str(column.dtype).startswith(("Categorical", "Enum")) else cells


def as_column(values: Any) -> pd.Series[Any]:
    """Return one column of cells, given as an array, a series or a table of one column; masked cells are missing."""
    if is_table(values):
        values = as_frame(values)
    array = _as_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"y must be one column, got shape {array.shape}")
    return pd.Series(array)


def name_array(pool: Any, names: list[str]) -> pd.DataFrame:
    """Return unlabelled inputs, given as an array, as a table with these columns; masked cells are missing."""
    array = _as_array(pool)
    if array.ndim == 1:
        array = array[:, None]
    if array.shape[1:] != (len(names),):
        raise InputError(f"the pool must have the {len(names)} columns of X, got the shape {array.shape}")
    return pd.DataFrame(array, columns=names)


def _as_array(values: Any) -> Any:
    try:
        return values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError as error:  # rows of unlike lengths
        raise InputError(
            f"y and pool must be arrays or tables, got a {type(values).__name__} of unlike parts"
        ) from error
