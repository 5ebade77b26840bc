"""Methods that average over random tasks: what they share, from the experiment to the result."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.methods.base import Method, Result
from gpcurves.methods.converting import QUANTILES as QUANTILES
from gpcurves.montecarlo import Estimate, Interrupted, Run, Stop, average
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

"""Quantiles over tasks that go into the details of a curve."""


class Sampled(Method[Any]):
    """A method that repeats an experiment and averages.

    A new one says what the experiment is, when enough was drawn, and what becomes of the estimate. The experiment has a method
    ``at``, which returns it at other sizes.
    """

    random = True

    @abstractmethod
    def experiment(self, problem: Problem, options: Any, run: Run) -> Any:
        """Return what is repeated, an `Experiment`, with all that sizes share, and no sizes yet."""

    def check_sizes(self, experiment: Any, run: Run) -> None:
        """Refuse an experiment with sizes that cannot be drawn, or that memory does not hold."""

    @abstractmethod
    def stop(self, problem: Problem, options: Any) -> Stop:
        """Return when enough was drawn."""

    @abstractmethod
    def summarise(self, experiment: Any, estimate: Estimate) -> Result:
        """Return what the results of all tasks say."""

    def unit(self, problem: Problem) -> str:
        """Return what is drawn, in words."""
        return "graphs" if problem.ensemble is not None else "data sets"

    def prepare(self, problem: Problem, options: Any, run: Run) -> Any:
        return self.experiment(problem, options, run), self.stop(problem, options), run

    def evaluate(self, state: Any, sizes: FloatArray) -> Result:
        """Repeat the experiment until it is enough; after Ctrl-C, summarise what was finished."""
        prepared, enough, run = state
        experiment = prepared.at(sizes)
        self.check_sizes(experiment, run)
        try:
            estimate = average(experiment, run, enough, self.unit(experiment.problem))
        except Interrupted as stop:
            if stop.estimate.count < 2:
                raise
            return replace(self.summarise(experiment, stop.estimate), interrupted=True)
        return self.summarise(experiment, estimate)


def average_over_groups(estimate: Estimate, names: tuple[str, ...]) -> tuple[dict[str, FloatArray], list[str]]:
    """Return error, standard error and share of groups of vertices, and a sentence for each that is empty.

    The fields "sum NAME" hold sums of errors over a group divided by all vertices, "share NAME" its share of them.
    """
    details: dict[str, FloatArray] = {}
    notes = []
    for name in names:
        sums, shares = estimate.values[f"sum {name}"], estimate.values[f"share {name}"]
        share = float(shares.mean())
        details[f"share {name}"] = np.full(sums.shape[1], share)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = sums.mean(axis=0) / share
            residual = sums - shares[:, None] * error  # a ratio of averages, to first order
            stderr = residual.std(axis=0, ddof=1) / np.sqrt(len(sums)) / share
        details[f"error {name}"], details[f"stderr {name}"] = error, stderr
        if share == 0:
            notes.append(f"no vertex belongs to the group {name!r}")
    return details, notes


def refuse_groups(names: tuple[str, ...], quantity: str) -> None:
    """Raise if averages over groups of vertices are asked for together with a quantity that has none."""
    if names:
        raise InputError(f"among averages squared errors over groups of vertices, and does not apply to {quantity}")


def remarks(sizes: FloatArray, mean: FloatArray, stderr: FloatArray, axis: str) -> list[str]:
    """Say from which size on values are missing, and at which size the error rises with more examples."""
    notes = []
    if (missing := np.isnan(mean)).any():
        notes.append(
            f"from {axis} = {sizes[missing].min():g} on double precision cannot resolve the error of every data set: "
            "no value is given there"
        )
    order = np.argsort(sizes)
    known = order[~np.isnan(mean[order])]
    lowest = np.minimum.accumulate(mean[known] + 2 * stderr[known])
    rise = mean[known] - 2 * stderr[known] - lowest  # beyond what four standard errors explain
    if len(rise) and rise.max() > 1e-12 * mean[known].max():
        worst = known[np.argmax(rise)]
        notes.append(f"the curve is not monotonic: the error rises with more examples near {axis} = {sizes[worst]:g}")
    return notes
