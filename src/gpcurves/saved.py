"""Saved results: whatever was written as JSON is built again by one function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpcurves.curve import SCHEMA, curve_from_dict, curve_set_from_dict
from gpcurves.errors import InputError
from gpcurves.numerics.files import read_bytes

_PARSED = 30  # times the size of a file that reading it takes, for lists of pairs


def load(path: str | Path) -> Any:
    """Return the `LearningCurve`, the `CurveSet` or the `Forecast` that was saved to a JSON file."""
    try:
        data = json.loads(read_bytes(Path(path), _PARSED))
        if data["schema"] != SCHEMA:
            raise InputError(f"{path} has schema {data['schema']}, this version reads {SCHEMA}")
        if "curve" in data:
            return curve_from_dict(data)
        if "curves" in data:
            return curve_set_from_dict(data)
        from gpcurves.forecasting import Forecast

        return Forecast.from_dict(data)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"{path} holds no result that was saved by gpcurves") from error
