"""Saved results: whatever was written as JSON is built again by one function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpcurves.curve import SCHEMA, curve_from_dict, curve_set_from_dict
from gpcurves.errors import InputError


def load(path: str | Path) -> Any:
    """Return the `LearningCurve`, the `CurveSet` or the `Forecast` that was saved to a JSON file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise InputError(f"{path} has schema {data['schema']}, this version reads {SCHEMA}")
        if "curve" in data:
            return curve_from_dict(data)
        if "curves" in data:
            return curve_set_from_dict(data)
        from gpcurves.forecasting import Forecast

        return Forecast.from_dict(data)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"{path} holds no result that was saved by gpcurves") from error
