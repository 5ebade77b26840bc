"""Inputs of which only the spectrum is known: enough for theory, too little for a simulation."""

from __future__ import annotations

from typing import Any, Self

from gpcurves.errors import NotApplicableError
from gpcurves.inputs.base import Inputs
from gpcurves.spectra import Spectrum


class Eigenvalues(Inputs):
    """An unknown kernel on unknown inputs, given by its eigenvalues; the prior variance is taken to be uniform."""

    name = ""

    def __init__(self, spectrum: Spectrum) -> None:
        self.listed = spectrum

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotApplicableError("it needs the kernel and the inputs, and a bare spectrum has neither")

    draw = nodes = _refuse
    dim = property(_refuse)

    def objection(self, kernel: Any) -> str | None:
        return None if kernel is None else "a bare spectrum replaces the kernel: give no kernel with it"

    def spectrum(self, kernel: Any) -> Spectrum:
        return self.listed

    def prior_variance(self, kernel: Any) -> float:
        return self.listed.trace

    def largest_variance(self, kernel: Any) -> float | None:
        return self.listed.trace

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Eigenvalues", **self.listed.to_dict()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(Spectrum.from_dict(parameters))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Eigenvalues) and self.listed == other.listed

    def __repr__(self) -> str:
        return repr(self.listed)
