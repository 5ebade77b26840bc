"""Learning on graphs: graphs and their ensembles, kernels between vertices, and the regular tree."""

from gpcurves.graphs.blocks import PreferentialAttachment as PreferentialAttachment
from gpcurves.graphs.blocks import StochasticBlockModel as StochasticBlockModel
from gpcurves.graphs.ensembles import DegreeDistribution as DegreeDistribution
from gpcurves.graphs.ensembles import Ensemble as Ensemble
from gpcurves.graphs.ensembles import ErdosRenyi as ErdosRenyi
from gpcurves.graphs.ensembles import PowerLaw as PowerLaw
from gpcurves.graphs.ensembles import RandomRegular as RandomRegular
from gpcurves.graphs.ensembles import graph_with_degrees as graph_with_degrees
from gpcurves.graphs.graph import Graph as Graph
from gpcurves.graphs.graph import as_graph as as_graph
from gpcurves.graphs.graph import graph_from_dict as graph_from_dict
from gpcurves.graphs.kernels import NORMALISATIONS as NORMALISATIONS
from gpcurves.graphs.kernels import DiffusionKernel as DiffusionKernel
from gpcurves.graphs.kernels import GraphKernel as GraphKernel
from gpcurves.graphs.kernels import MaternGraphKernel as MaternGraphKernel
from gpcurves.graphs.kernels import Normalisation as Normalisation
from gpcurves.graphs.kernels import PolynomialWalkKernel as PolynomialWalkKernel
from gpcurves.graphs.kernels import RandomWalkKernel as RandomWalkKernel
from gpcurves.graphs.kernels import RegularisedLaplacianKernel as RegularisedLaplacianKernel
from gpcurves.graphs.kernels import normalise_parameter as normalise_parameter
from gpcurves.graphs.labels import Labels as Labels
from gpcurves.graphs.labels import read_attributes as read_attributes
from gpcurves.graphs.labels import read_labels as read_labels
from gpcurves.graphs.reading import read_graph as read_graph
