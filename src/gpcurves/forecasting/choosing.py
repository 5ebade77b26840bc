"""Which rows to measure next: chosen one by one, each where it lowers the variance of the predictions the most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.forecasting.error_curve import choose_inputs
from gpcurves.numerics.validation import FloatArray, integer
from gpcurves.problem import Problem

CANDIDATES, _REFERENCE = 1_000, 500
_STREAM = 1  # beside the seed, so that the choice has random numbers of its own
Chosen = tuple[pd.DataFrame, list[int] | None]


@dataclass(frozen=True)
class Chooser:
    """The likeliest model of some rows, and what further rows are chosen from.

    These are ``candidates``, inputs as the model needs them, which are rows of the user's own ``pool`` with these ``numbers``,
    counted from 1. Without a pool they are drawn from the inputs of the model. ``in_units`` writes them in the user's columns.
    """

    problem: Problem
    known: FloatArray
    in_units: Callable[[FloatArray], pd.DataFrame]
    seed: int
    pool: pd.DataFrame | None = None
    candidates: FloatArray | None = None
    numbers: npt.NDArray[np.intp] | None = None
    _chosen: dict[int, Chosen] = field(default_factory=dict, repr=False)  # reports, files and messages ask for the same

    def choose(self, k: int) -> Chosen:
        """Return k different rows, the most informative first, and their numbers if they are from a pool."""
        if k not in self._chosen:
            self._chosen[k] = self._choose(k)
        table, numbers = self._chosen[k]
        return table.copy(), numbers

    def _choose(self, k: int) -> Chosen:
        rng = np.random.default_rng([self.seed, _STREAM])
        most = CANDIDATES if self.candidates is None else min(CANDIDATES, len(self.candidates))
        count = integer("the number of next rows", k, 1, most)
        with threadpool_limits(1):
            places = None if self.candidates is None else np.sort(rng.permutation(len(self.candidates))[:most])
            candidates = (
                self.problem.inputs.draw(most, rng)
                if self.candidates is None or places is None
                else self.candidates[places]
            )
            reference = self.problem.inputs.draw(_REFERENCE, rng)
            chosen = choose_inputs(self.problem, self.known, candidates, reference, count, once=True)
        if places is None or self.pool is None or self.numbers is None:
            return self.in_units(candidates[chosen]), None
        return self.pool.iloc[places[chosen]], self.numbers[places[chosen]].tolist()
