"""How a forecast is computed: how much, from which random numbers, and with which progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from gpcurves.errors import InputError
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.validation import integer
from gpcurves.tables.rows import FEWEST_ROWS


@dataclass(frozen=True)
class ForecastEffort:
    """How much a forecast computes. The intervals were calibrated with the defaults; less is faster and rougher."""

    draws: int = 16  # from the posterior of all members of the model together
    most_rows: int = 5_000  # of more rows, so many are drawn at random
    fitted_rows: int = 1_000  # the posterior is that given so many of them, drawn at random
    simulated_rows: int = 800  # the largest data set whose learning curve is simulated
    test_inputs: int = 250  # over which errors are averaged
    candidates: int = 500  # inputs from which further ones are chosen one by one
    chosen: int = 250  # how many of them

    def __post_init__(self) -> None:
        for each in fields(self):
            least = FEWEST_ROWS if each.name.endswith("_rows") else 1
            object.__setattr__(self, each.name, integer(each.name, getattr(self, each.name), least))


def choose_effort(effort: ForecastEffort | None, draws: int | None) -> ForecastEffort:
    """Return the effort that is asked for: the default one if None, with another number of draws if given."""
    effort = ForecastEffort() if effort is None else effort
    if not isinstance(effort, ForecastEffort):
        raise InputError(f"effort must be a ForecastEffort, got {effort!r}")
    return effort if draws is None else replace(effort, draws=draws)


@dataclass(frozen=True)
class Computation:
    """How a forecast is computed: its seed, the random numbers that follow from it, its effort, and its progress."""

    seed: int
    rng: np.random.Generator
    effort: ForecastEffort
    progress: Progress

    def start_stage(self, units: int) -> Callable[[float], None]:
        """Return a function that takes the share of a stage that is done; the whole stage is so many units of progress."""
        reported = 0

        def report(share: float) -> None:
            nonlocal reported
            self.progress.advance(int(units * share) - reported)
            reported = int(units * share)

        return report
