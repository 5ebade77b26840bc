"""How fast does a Gaussian process learn: the average error after n examples.

The package is laid out as the theory is:

* `problem`   a kernel (`kernels`), an input distribution (`inputs`) and a noise level
* `spectra`   eigenvalues of the kernel with respect to the inputs
* `theory`    approximations, bounds and exact scenarios, in one list: ``METHODS``
* `simulation` the truth by Monte Carlo, run by the `engine`
* `compute`   `learning_curve`, `learning_curves`, `required_n`
* `curve`     `LearningCurve` and `CurveSet`, what every method returns; `load`
* `report`    pictures and pages; `cli` the command line

>>> import gpcurves as gpc
>>> problem = gpc.Problem(kernel=gpc.RBF(0.1), inputs=gpc.Torus(dim=2), noise=0.05)
>>> gpc.required_n(problem, error=0.01, method="lc")
619
"""

from importlib import import_module
from typing import TYPE_CHECKING

from gpcurves._version import __version__

if TYPE_CHECKING:
    from gpcurves.compute import METHODS, learning_curve, learning_curves, required_n
    from gpcurves.curve import CurveSet, LearningCurve, load
    from gpcurves.errors import (
        GoalUnreachableError,
        GPCurvesError,
        InputError,
        NotApplicableError,
        NumericalError,
    )
    from gpcurves.inputs import Box, Discrete, Gaussian, Sample, Torus, Univariate
    from gpcurves.kernels import (
        OU,
        RBF,
        GammaExponential,
        Linear,
        Matern,
        Matern32,
        Matern52,
        Polynomial,
        RationalQuadratic,
    )
    from gpcurves.problem import Problem, SpectrumProblem, Teacher
    from gpcurves.spectra import Spectrum

__all__ = [
    "METHODS",
    "OU",
    "RBF",
    "Box",
    "CurveSet",
    "Discrete",
    "GPCurvesError",
    "GammaExponential",
    "Gaussian",
    "GoalUnreachableError",
    "InputError",
    "LearningCurve",
    "Linear",
    "Matern",
    "Matern32",
    "Matern52",
    "NotApplicableError",
    "NumericalError",
    "Polynomial",
    "Problem",
    "RationalQuadratic",
    "Sample",
    "Spectrum",
    "SpectrumProblem",
    "Teacher",
    "Torus",
    "Univariate",
    "__version__",
    "learning_curve",
    "learning_curves",
    "load",
    "required_n",
]

_HOME = {
    "compute": ("METHODS", "learning_curve", "learning_curves", "required_n"),
    "curve": ("CurveSet", "LearningCurve", "load"),
    "errors": ("GPCurvesError", "GoalUnreachableError", "InputError", "NotApplicableError", "NumericalError"),
    "inputs": ("Box", "Discrete", "Gaussian", "Sample", "Torus", "Univariate"),
    "kernels": (
        "OU",
        "RBF",
        "GammaExponential",
        "Linear",
        "Matern",
        "Matern32",
        "Matern52",
        "Polynomial",
        "RationalQuadratic",
    ),
    "problem": ("Problem", "SpectrumProblem", "Teacher"),
    "spectra": ("Spectrum",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if name in _MODULE_OF:
        return getattr(import_module(f"gpcurves.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'gpcurves' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
