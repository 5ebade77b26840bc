"""Learning on graphs: graphs and their ensembles, kernels between vertices, and the regular tree."""

from gpcurves.graphs.configuration import graph_with_degrees
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.ensembles import (
    DegreeDistribution,
    Ensemble,
    ErdosRenyi,
    PowerLaw,
    RandomRegular,
)
from gpcurves.graphs.graph import Graph, as_graph, graph_from_dict
from gpcurves.graphs.kernels import (
    NORMALISATIONS,
    DiffusionKernel,
    GraphKernel,
    Normalisation,
    PolynomialWalkKernel,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
    normalise_parameter,
)
from gpcurves.graphs.reading import read_graph

__all__ = [
    "NORMALISATIONS",
    "DegreeDistribution",
    "DiffusionKernel",
    "Ensemble",
    "ErdosRenyi",
    "Graph",
    "GraphCovariance",
    "GraphKernel",
    "Normalisation",
    "PolynomialWalkKernel",
    "PowerLaw",
    "RandomRegular",
    "RandomWalkKernel",
    "RegularisedLaplacianKernel",
    "as_graph",
    "graph_from_dict",
    "graph_with_degrees",
    "normalise_parameter",
    "read_graph",
]
