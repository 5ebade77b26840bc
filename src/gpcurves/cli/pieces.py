"""Problems from the command line: which pieces there are to choose from, and how what was given makes a problem."""

from __future__ import annotations

import click

from gpcurves import graphs
from gpcurves.cli import parse
from gpcurves.cli.options import INTEGER, READ, Family, Given, Option
from gpcurves.designs import Design
from gpcurves.errors import InputError
from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.numerics.parameters import Parameter, parameters_of
from gpcurves.observations import Observation
from gpcurves.problem import GraphProblem, Problem, SpectrumProblem, Teacher

KERNELS = Family(Kernel, "kernel", None, "Kernel")
GRAPH_KERNELS = Family(GraphKernel, "kernel", "random-walk", "Kernel")
INPUTS = Family(Inputs, "inputs", "torus", "Inputs")
LIKELIHOODS = Family(Observation, "likelihood", "gaussian", "Labels")
DESIGNS = Family(Design, "design", "random", "Inputs")


def graph_options() -> list[Option]:
    """Return the options that say which graph."""
    forms = ", ".join(map(_form, Ensemble.offered().values()))
    own = "Your own graph: an edge list, or .graphml, .gml or .mtx, also with .gz."
    repair = "Your own graph: make edges undirected, drop self-loops, merge repeats."
    ignore = "Your own graph: let every edge count 1, whatever its weight."
    return [
        Option("--edges", type=READ, section="Graph", metavar="FILE", help=own),
        Option("--ensemble", section="Graph", metavar="NAME:NUMBERS", help=f"Random graphs: {forms}."),
        Option("--repair", is_flag=True, section="Graph", help=repair),
        Option("--ignore-weights", is_flag=True, section="Graph", help=ignore),
    ]


def single_graph_options() -> list[click.Parameter]:
    """Return the options of commands about one graph: the file is an argument, or the graph is drawn from an ensemble."""
    size = "Size of a graph of the ensemble [500]; of your own graph, to count vertices without edges."
    return [
        click.Argument(["edges"], required=False, type=READ),
        *graph_options()[1:],
        Option("--vertices", type=INTEGER, section="Graph", metavar="INTEGER", help=size),
        Option("--rng", type=INTEGER, default=0, section="Graph", metavar="SEED", help="Seed of random numbers.  [0]"),
    ]


def read_graph(given: Given, vertices: int | None) -> Graph | Ensemble:
    """Return the graph, or the ensemble of graphs, that was given."""
    edges, ensemble = given["edges"], given["ensemble"]
    if (ensemble is None) == (edges is None):
        raise InputError("give either --ensemble (random graphs) or your own graph, a file of edges")
    if edges is not None:
        return read_own_graph(given, vertices)
    for name in ("repair", "ignore_weights"):
        if given[name]:
            raise InputError(f"--{name.replace('_', '-')} belongs to your own graph, not to --ensemble")
    return read_ensemble(ensemble)


def read_own_graph(given: Given, vertices: int | None = None) -> Graph:
    """Return the graph in the file that was given."""
    graph = graphs.read_graph(given["edges"], vertices=vertices, repair=given["repair"])
    return graphs.as_graph(graph, weighted=not given["ignore_weights"])


def read_ensemble(text: str) -> Ensemble:
    """Return the ensemble with a name and numbers, such as ``powerlaw:2.5,2``; its own numbers if there are none."""
    name, _, rest = text.partition(":")
    kind = Ensemble.named(name)
    parameters = parameters_of(kind)
    several = bool(parameters) and _is_list(parameters[-1])  # the last parameter takes all numbers that are left
    numbers = rest.split(",", len(parameters) - 1 if several else -1) if rest else []
    if len(numbers) != len(parameters) and (numbers or any(each.required for each in parameters)):
        raise InputError(f"--ensemble {kind.name} must be {_form(kind)}, got {text!r}")
    pairs = zip(parameters, numbers, strict=False)
    return kind(**{each.name: parse.value(f"--ensemble {kind.name}", number, each.kind) for each, number in pairs})


def _form(kind: type[Ensemble]) -> str:
    """Return how an ensemble is written, such as ``powerlaw:ALPHA,CUTOFF``."""
    words = [(each.name.upper(), _is_list(each)) for each in parameters_of(kind)]
    numbers = ",".join(f"{word}0,{word}1,..." if several else word for word, several in words)
    return f"{kind.name}:{numbers}" if numbers else kind.name


def _is_list(parameter: Parameter) -> bool:
    return str(parse.metavar(parameter.kind)).endswith(",...")


def build_vector_problem(given: Given) -> Problem:
    """Return the problem of a kernel and inputs, or of a spectrum, that was given."""
    if given["spectrum"] is not None:
        for each in given.context.command.params:
            part = getattr(each, "group", "") or str(each.name)
            if part.startswith(("kernel", "inputs", "design", "teacher")) and given.has(str(each.name)):
                raise InputError(f"--spectrum replaces the kernel and the inputs: {each.opts[0]} is not used")
        return SpectrumProblem(parse.spectrum(given["spectrum"]), LIKELIHOODS.build(given))
    kernel = KERNELS.build(given)
    dim = {} if kernel.input_dim is None else {"dim": kernel.input_dim}  # as many as the kernel has lengthscales
    inputs, observation = INPUTS.build(given, **dim), LIKELIHOODS.build(given)
    teacher = _build_teacher(given, KERNELS, observation)
    return Problem(kernel, inputs, observation, teacher, DESIGNS.build(given))


def build_graph_problem(given: Given, graph: Graph | Ensemble) -> Problem:
    """Return the problem on a graph that was given."""
    kernel, observation = GRAPH_KERNELS.build(given), LIKELIHOODS.build(given)
    return GraphProblem(graph, kernel, observation, _build_teacher(given, GRAPH_KERNELS, observation))


def _build_teacher(given: Given, family: Family, observation: Observation) -> Teacher | None:
    """Return the teacher that the options describe, or None; what they leave out is as for the student."""
    noise = given["teacher_noise"]
    if not (given.has("teacher_kernel") or given.has("teacher_noise") or given.of("teacher-kernel")):
        return None
    kernel = family.build_teacher(given)
    level = observation.noise if noise is None else parse.number("--teacher-noise", noise)
    if level is None:
        raise InputError("--teacher-noise is needed: the true noise variance")
    return Teacher(kernel, level)
