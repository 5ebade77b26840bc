"""Settings of the whole suite: property tests draw the same examples on every run, registries are put back; quick forecasts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None, max_examples=25, print_blob=False)
settings.load_profile("reproducible")


@pytest.fixture
def all_refits() -> None:
    """Keep the full number of refits for a test of accuracy among others that need few."""


@pytest.fixture
def few_refits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refit less often in cross-validation, most of the work of a forecast, for tests of all that is made from its numbers."""
    if "all_refits" in request.fixturenames:
        return
    package = "gpcurves.forecasting"
    monkeypatch.setattr(f"{package}.crossvalidation._WORK", 20)
    monkeypatch.setattr(f"{package}.classes.validation._SPLITS", 2)
    for module in ("validation", "class_validation"):
        monkeypatch.setattr(f"{package}.networks.{module}._SPLITS", {0.25: 2, 0.5: 2})
    for module in ("classes.validation", "networks.validation", "networks.class_validation"):
        monkeypatch.setattr(f"{package}.{module}._REPEATS", 1)


@pytest.fixture
def registries() -> Iterator[None]:
    """Let a test register kernels, inputs, methods, quantities, formats and so on without leaving them behind."""
    from gpcurves.designs import Design
    from gpcurves.graphs import Ensemble, GraphKernel
    from gpcurves.inputs import Inputs
    from gpcurves.kernels import Kernel
    from gpcurves.methods import METHODS
    from gpcurves.methods.base import Formula
    from gpcurves.observations import Observation
    from gpcurves.quantities import QUANTITIES
    from gpcurves.render.formats import FORMATS

    families = (Kernel, GraphKernel, Inputs, Ensemble, Observation, Design)
    registered: list[dict[Any, Any]] = [METHODS, FORMATS, QUANTITIES, *(family.known for family in families)]
    registered += [method.measures for method in METHODS.values() if isinstance(method, Formula)]
    before = [dict(each) for each in registered]
    yield
    for each, former in zip(registered, before, strict=True):
        each.clear()
        each.update(former)
