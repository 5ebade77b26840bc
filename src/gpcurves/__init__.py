"""How fast does a Gaussian process learn: the average error after n examples.

The package is laid out as the theory is:

* `problem`   a kernel (`kernels`), an input distribution (`inputs`) and a noise level
* `graphs`    graphs, random graph ensembles and kernels between vertices, for learning on networks
* `spectra`   eigenvalues of the kernel with respect to the inputs
* `theory`    approximations, bounds and exact scenarios, in one list: ``METHODS``
* `simulation` the truth by Monte Carlo, run by the `engine`
* `cavity`    belief propagation: exact for large random graphs, and for one's own graph of any size
* `compute`   `learning_curve`, `learning_curves`, `required_n`
* `curve`     `LearningCurve` and `CurveSet`, what every method returns; `load`
* `planning`  `forecast`: from a user's own rows to the error at more of them; `LearningCurveForecast` for scikit-learn
* `report`    pictures and pages; `figures` those of the papers; `cli` the command line

>>> import gpcurves as gpc
>>> problem = gpc.Problem(kernel=gpc.RBF(0.1), inputs=gpc.Torus(dim=2), noise=0.05)
>>> gpc.required_n(problem, error=0.01, method="lc")
619
"""

from importlib import import_module
from typing import TYPE_CHECKING

from gpcurves._version import __version__

if TYPE_CHECKING:
    from gpcurves.api import METHODS, learning_curve, learning_curves, required_n, vertex_variances
    from gpcurves.curve import CurveSet, LearningCurve, load
    from gpcurves.errors import (
        GoalUnreachableError,
        GPCurvesError,
        InputError,
        NotApplicableError,
        NumericalError,
    )
    from gpcurves.forecasting import Forecast, forecast
    from gpcurves.forecasting.estimator import LearningCurveForecast
    from gpcurves.graphs import (
        DegreeDistribution,
        DiffusionKernel,
        ErdosRenyi,
        Graph,
        PolynomialWalkKernel,
        PowerLaw,
        RandomRegular,
        RandomWalkKernel,
        RegularisedLaplacianKernel,
        as_graph,
        read_graph,
    )
    from gpcurves.graphs.diagnosis import Diagnosis, diagnose
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
    from gpcurves.methods.cavity.curves import belief_propagation
    from gpcurves.methods.cavity.regressor import GraphRegressor
    from gpcurves.methods.formulas.degenerate import degenerate_best
    from gpcurves.methods.simulation.prediction import PredictionVectors, prediction_vectors
    from gpcurves.methods.simulation.single import posterior_variance, sample_prior
    from gpcurves.methods.variances import VarianceDistribution
    from gpcurves.problem import GraphProblem, Problem, SpectrumProblem, Teacher
    from gpcurves.render.drawing import draw_graph
    from gpcurves.spectra import Spectrum

__all__ = [
    "METHODS",
    "OU",
    "RBF",
    "Box",
    "CurveSet",
    "DegreeDistribution",
    "Diagnosis",
    "DiffusionKernel",
    "Discrete",
    "ErdosRenyi",
    "Forecast",
    "GPCurvesError",
    "GammaExponential",
    "Gaussian",
    "GoalUnreachableError",
    "Graph",
    "GraphProblem",
    "GraphRegressor",
    "InputError",
    "LearningCurve",
    "LearningCurveForecast",
    "Linear",
    "Matern",
    "Matern32",
    "Matern52",
    "NotApplicableError",
    "NumericalError",
    "Polynomial",
    "PolynomialWalkKernel",
    "PowerLaw",
    "PredictionVectors",
    "Problem",
    "RandomRegular",
    "RandomWalkKernel",
    "RationalQuadratic",
    "RegularisedLaplacianKernel",
    "Sample",
    "Spectrum",
    "SpectrumProblem",
    "Teacher",
    "Torus",
    "Univariate",
    "VarianceDistribution",
    "__version__",
    "as_graph",
    "belief_propagation",
    "degenerate_best",
    "diagnose",
    "draw_graph",
    "forecast",
    "learning_curve",
    "learning_curves",
    "load",
    "posterior_variance",
    "prediction_vectors",
    "read_graph",
    "required_n",
    "sample_prior",
    "vertex_variances",
]

_HOME = {
    "methods.cavity.curves": ("belief_propagation",),
    "methods.cavity.regressor": ("GraphRegressor",),
    "api": ("METHODS", "learning_curve", "learning_curves", "required_n", "vertex_variances"),
    "curve": ("CurveSet", "LearningCurve", "load"),
    "methods.variances": ("VarianceDistribution",),
    "errors": ("GPCurvesError", "GoalUnreachableError", "InputError", "NotApplicableError", "NumericalError"),
    "graphs": (
        "DegreeDistribution",
        "DiffusionKernel",
        "ErdosRenyi",
        "Graph",
        "PolynomialWalkKernel",
        "PowerLaw",
        "RandomRegular",
        "RandomWalkKernel",
        "RegularisedLaplacianKernel",
        "as_graph",
        "read_graph",
    ),
    "graphs.diagnosis": ("Diagnosis", "diagnose"),
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
    "forecasting": ("Forecast", "forecast"),
    "forecasting.estimator": ("LearningCurveForecast",),
    "problem": ("GraphProblem", "Problem", "SpectrumProblem", "Teacher"),
    "render.drawing": ("draw_graph",),
    "methods.simulation.single": ("posterior_variance", "sample_prior"),
    "methods.simulation.prediction": ("PredictionVectors", "prediction_vectors"),
    "spectra": ("Spectrum",),
    "methods.formulas.degenerate": ("degenerate_best",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if name in _MODULE_OF:
        return getattr(import_module(f"gpcurves.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'gpcurves' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
