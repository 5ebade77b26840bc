"""What a label is: numbers with Gaussian noise or with outliers, classes, of several tasks, linear functionals, or what a likelihood of your own says."""

from gpcurves.observations.base import Observation as Observation
from gpcurves.observations.derivatives import Derivatives as Derivatives
from gpcurves.observations.functionals import Averages as Averages
from gpcurves.observations.functionals import Differences as Differences
from gpcurves.observations.gaussian import GaussianNoise as GaussianNoise
from gpcurves.observations.gaussian import as_observation as as_observation
from gpcurves.observations.laplace import LaplaceNoise as LaplaceNoise
from gpcurves.observations.likelihood import Likelihood as Likelihood
from gpcurves.observations.logit import Logit as Logit
from gpcurves.observations.probit import Probit as Probit
from gpcurves.observations.student import StudentT as StudentT
from gpcurves.observations.tasks import Fidelities as Fidelities
from gpcurves.observations.tasks import Tasks as Tasks
from gpcurves.observations.temporal import TemporalDifferences as TemporalDifferences
from gpcurves.observations.uneven import UnevenNoise as UnevenNoise
