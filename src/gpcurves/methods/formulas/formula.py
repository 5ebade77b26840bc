"""Formulas: methods that are a function of a problem and sizes, without options and without random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpcurves.methods.base import METHODS, Kind, Method, MethodOptions, Result
from gpcurves.montecarlo import Run
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

Function = Callable[[Problem, FloatArray], FloatArray]


class Formula(Method[Problem]):
    """A method given by one function; ``function`` is that function, the rest is as for every `Method`."""

    def __init__(self, function: Function, spectral: bool, **about: Any) -> None:
        self.function = function
        self.spectral = spectral
        if unknown := [name for name in about if not hasattr(Method, name) and name not in Method.__annotations__]:
            raise TypeError(f"a method has no attribute {unknown[0]}")
        for name, value in about.items():
            setattr(self, name, value)

    def prepare(self, problem: Problem, options: MethodOptions, run: Run) -> Problem:
        """Keep the problem, whose spectrum is computed once and kept with it."""
        return problem

    def evaluate(self, state: Problem, sizes: FloatArray) -> Result:
        """Evaluate the function, and once more on a coarser spectrum if the spectrum is numerical."""
        error = self.function(state, sizes)
        if not self.spectral:
            return Result(error)
        notes = []
        uncertainty = None
        if (coarser := state.coarser()) is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                relative = np.where(error > 0, abs(self.function(coarser, sizes) / error - 1), 0.0)
            order = np.argsort(sizes)  # the difference may cross zero by chance: it never gets smaller with n
            relative[order] = np.maximum.accumulate(relative[order])
            uncertainty = relative * error
            if (worst := float(relative.max())) > 1e-4:
                origin = state.spectrum.origin
                notes.append(f"the spectrum is {origin}: the curve is uncertain by up to {100 * worst:.2g} %")
        resolution = state.spectrum.resolution
        if (lost := (error < resolution) & (sizes > 0)).any() and state.noise < resolution:
            notes.append(f"errors from n = {sizes[lost].min():g} on are below what the numerical spectrum resolves")
        if (error < 0).any():
            notes.append(
                f"the expansion breaks down at n = {sizes[error < 0][0]:g}, where the correction exceeds LC itself"
            )
        return Result(error, spectrum_error=uncertainty, notes=tuple(notes))


def formula(
    name: str, title: str, kind: Kind, *, axes: tuple[str, ...] = ("n",), spectral: bool = True, **about: Any
) -> Callable[[Function], Function]:
    """Enter a function of a problem and sizes into the registry of methods.

    ``about`` are further attributes of `Method`: promise, source, scope, needs, conditions, integers. ``spectral`` says whether
    the function uses the spectrum of the problem, so that the error of a numerical spectrum can be estimated from a coarser one.
    """

    def enter(function: Function) -> Function:
        METHODS.add(Formula(function, spectral and "n" in axes, name=name, title=title, kind=kind, axes=axes, **about))
        return function

    return enter
