"""Problems from the command line: which pieces there are to choose from, and how what was given makes a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpcurves.cli import parse
from gpcurves.cli.command import FILE, Given, Option
from gpcurves.cli.options import Family
from gpcurves.errors import InputError

if TYPE_CHECKING:
    from gpcurves.graphs import Ensemble, Graph
    from gpcurves.inputs import Inputs
    from gpcurves.problem import Problem, Teacher

TEACHER = "Misspecified model: where the data come from, if not from the model (what is left out is as for the model)"


def kernels() -> Family:
    """Return the covariance functions on vectors."""
    from gpcurves.kernels import Kernel

    return Family(Kernel, "kernel", None, "Kernel")


def graph_kernels(*without: str) -> Family:
    """Return the covariances between vertices."""
    from gpcurves.graphs import GraphKernel

    return Family(GraphKernel, "kernel", "random-walk", "Kernel", without)


def input_distributions() -> Family:
    """Return the input distributions."""
    from gpcurves.inputs import Inputs

    return Family(Inputs, "inputs", "torus", "Inputs")


def likelihoods() -> Family:
    """Return what a label may be."""
    from gpcurves.observations import Observation

    return Family(Observation, "likelihood", "gaussian", "Labels")


def teacher_options(family: Family, taken: set[str]) -> list[Option]:
    """Return the options that describe the process that the data come from."""
    noise = Option("--teacher-noise", section=TEACHER, metavar="NUMBER", help="True noise variance.")
    return [*family.teacher_options(taken, TEACHER), noise]


def graph_options(*, argument: bool) -> list[click.Parameter]:
    """Return the options that say which graph; the file is an argument or the option --edges."""
    from gpcurves.graphs import Ensemble
    from gpcurves.numerics.parameters import parameters_of

    section = "Graph"
    forms = [
        ":".join(filter(None, (name, ",".join(_field(each) for each in parameters_of(kind)))))
        for name, kind in Ensemble.offered().items()
    ]
    help_file = "Your own graph: an edge list, or .graphml, .gml or .mtx, also with .gz."
    own: click.Parameter = (
        click.Argument(["edges"], required=False, type=FILE)
        if argument
        else Option("--edges", type=FILE, section=section, metavar="FILE", help=help_file)
    )
    return [
        own,
        Option("--ensemble", section=section, metavar="NAME:NUMBERS", help=f"Random graphs: {', '.join(forms)}."),
        Option(
            "--repair",
            is_flag=True,
            section=section,
            help="Your own graph: make edges undirected, drop self-loops, merge repeats.",
        ),
    ]


def vertices_option() -> Option:
    """Return the option for the number of vertices, for commands that have no methods with such an option."""
    text = "Size of a graph of the ensemble [500]; of your own graph, to count vertices without edges."
    return Option("--vertices", type=int, section="Graph", metavar="INTEGER", help=text)


def seed_option() -> Option:
    """Return the option for the seed of the random graph."""
    return Option("--rng", type=int, default=0, section="Graph", metavar="SEED", help="Seed of random numbers.  [0]")


def read_graph(given: Given, vertices: int | None) -> Graph | Ensemble:
    """Return the graph, or the ensemble of graphs, that was given."""
    edges, ensemble = given["edges"], given["ensemble"]
    if (ensemble is None) == (edges is None):
        raise InputError("give either --ensemble (random graphs) or your own graph, a file of edges")
    if edges is not None:
        from gpcurves.graphs import read_graph as read_file

        return read_file(edges, vertices=vertices, repair=given["repair"])
    if given["repair"]:
        raise InputError("--repair belongs to your own graph, not to --ensemble")
    return read_ensemble(ensemble)


def read_ensemble(text: str) -> Ensemble:
    """Return the ensemble with a name and numbers, such as ``powerlaw:2.5,2``; its own numbers if there are none."""
    from gpcurves.graphs import Ensemble
    from gpcurves.numerics.parameters import parameters_of

    name, _, rest = text.partition(":")
    kind = Ensemble.named(name)
    parameters = parameters_of(kind)
    numbers = rest.split(",") if rest else []
    arguments: dict[str, Any] = {}
    for each in parameters if numbers else ():
        several = (parse.metavar(each.kind) or "").endswith(",...")
        own, numbers = (numbers, []) if several else (numbers[:1], numbers[1:])
        if own:
            arguments[each.name] = parse.value(f"--ensemble {kind.name}", ",".join(own), each.kind)
    incomplete = rest and len(arguments) < len(parameters)
    if numbers or incomplete or any(each.required and each.name not in arguments for each in parameters):
        form = f"{kind.name}:{','.join(map(_field, parameters))}" if parameters else kind.name
        raise InputError(f"--ensemble {kind.name} must be {form}, got {text!r}")
    return kind(**arguments)


def _field(parameter: Any) -> str:
    name = parameter.name.upper()
    return f"{name}0,{name}1,..." if (parse.metavar(parameter.kind) or "").endswith(",...") else str(name)


def build_piece(given: Given, family: Family) -> Any:
    """Return the piece of a family that was given, with its parameters."""
    name = family.name(given)
    return family.build(given, name, family.arguments(given, name))


def build_vector_problem(given: Given) -> Problem:
    """Return the problem of a kernel and inputs, or of a spectrum, that was given."""
    from gpcurves.problem import Problem, SpectrumProblem

    if given["spectrum"] is not None:
        _refuse_beside_spectrum(given)
        return SpectrumProblem(parse.spectrum(given["spectrum"]), build_piece(given, likelihoods()))
    family = kernels()
    kernel = build_piece(given, family)
    inputs = _inputs(given, kernel.input_dim)
    observation = build_piece(given, likelihoods())
    return Problem(kernel, inputs, observation, build_teacher(given, family, observation.noise))


def _refuse_beside_spectrum(given: Given) -> None:
    groups = ("kernel", "inputs", "teacher-kernel")
    for flag in [f"--{each}" for each in groups if given.has(each.replace("-", "_"))] + [
        option.flag for group in groups for option, _ in given.of(group)
    ]:
        raise InputError(f"--spectrum replaces the kernel and the inputs: {flag} is not used")
    if given.has("teacher_noise"):
        raise InputError("--spectrum has no kernel, and a teacher needs one: --teacher-noise is not used")


def _inputs(given: Given, dim: int | None) -> Inputs:
    """Return the inputs that were given, with as many dimensions as the kernel has lengthscales if nothing else is said."""
    family = input_distributions()
    name = family.name(given)
    arguments = family.arguments(given, name)
    if dim is not None and "dim" in {each.name for each in family.members[name]}:
        arguments.setdefault("dim", dim)
    inputs: Inputs = family.build(given, name, arguments)
    return inputs


def build_graph_problem(given: Given, graph: Graph | Ensemble) -> Problem:
    """Return the problem on a graph that was given."""
    from gpcurves.problem import GraphProblem

    family = graph_kernels()
    kernel, observation = build_piece(given, family), build_piece(given, likelihoods())
    return GraphProblem(graph, kernel, observation, build_teacher(given, family, observation.noise))


def build_teacher(given: Given, family: Family, noise: float | None) -> Teacher | None:
    """Return the teacher that the options describe, or None; what they leave out is as for the student."""
    from gpcurves.problem import Teacher

    described = given.has("teacher_kernel") or given.has("teacher_noise") or given.of("teacher-kernel")
    if not described:
        return None
    student = family.name(given)
    name = str(family.root.named(given["teacher_kernel"] or student).name)
    own = family.arguments(given, name, "teacher-kernel")
    takes = {each.name for each in family.members[name]}
    shared = {key: value for key, value in family.arguments(given, student).items() if key in takes}
    level = noise if given["teacher_noise"] is None else parse.number("--teacher-noise", given["teacher_noise"])
    if level is None:
        raise InputError("--teacher-noise is needed: the true noise variance")
    return Teacher(family.build(given, name, shared | own), level)
