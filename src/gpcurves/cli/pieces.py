"""Problems from the command line: which pieces there are to choose from, and how what was given makes a problem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import click

from gpcurves import graphs
from gpcurves.cli import parse
from gpcurves.cli.options import INTEGER, READ, Family, File, Given, Option, read_options
from gpcurves.cli.streams import tell
from gpcurves.cli.uneven import build_test_inputs, has_vertex_noise, read_vertices
from gpcurves.designs import Design
from gpcurves.errors import InputError, check_name
from gpcurves.graphs import Ensemble, Graph, GraphKernel, Labels
from gpcurves.graphs.labels import Task
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.numerics.parameters import Parameter, parameters_of
from gpcurves.observations import Observation
from gpcurves.problem import GraphProblem, Problem, SpectrumProblem
from gpcurves.teacher import Teacher

KERNELS = Family(Kernel, "kernel", None, "Kernel")
GRAPH_KERNELS = Family(GraphKernel, "kernel", "random-walk", "Kernel")
FITTED_KERNELS = Family(GraphKernel, "kernel", "fit", "Kernel", without=("variance",))
INPUTS = Family(Inputs, "inputs", "torus", "Inputs")
LIKELIHOODS = Family(Observation, "likelihood", "gaussian", "Labels")
FILES = (".graphml", ".gml", ".gexf", ".net", ".adjlist", ".json", ".mtx")
DESIGNS = Family(Design, "design", "random", "Inputs")
VERTEX_DESIGNS = Family(Design, "design", "random", "Labels", without=("candidates",))  # all vertices are candidates


def graph_options() -> list[Option]:
    """Return the options that say which graph."""
    forms = ", ".join(map(_form, Ensemble.offered().values()))
    own = f"Your own graph: an edge list, or {', '.join(FILES)}; also with .gz."
    columns = "Columns of an edge list: both ends of an edge and perhaps its weight, by name or position."
    header = "Whether the first line of an edge list names its columns.  [detected]"
    weights = "Meaning of the weights: affinity (large means similar), or distance (1/weight is used).  [affinity]"
    weight = "Attribute of edges, or column of an edge list, that is their weight.  [weight, or the third column]"
    repair = "Your own graph: make edges undirected, drop self-loops, merge repeated edges."
    ignore = "Your own graph: ignore weights, so that every edge counts 1."
    return [
        Option("--edges", type=READ, section="Graph", metavar="FILE", help=own),
        Option("--ensemble", section="Graph", metavar="NAME:NUMBERS", help=f"Random graphs: {forms}."),
        Option("--columns", section="Graph", metavar="SOURCE,TARGET[,WEIGHT]", help=columns),
        Option("--header/--no-header", default=None, section="Graph", help=header),
        Option("--weights", section="Graph", metavar="NAME", help=weights),
        Option("--weight", section="Graph", metavar="ATTRIBUTE", help=weight),
        Option("--repair", is_flag=True, section="Graph", help=repair),
        Option("--ignore-weights", is_flag=True, section="Graph", help=ignore),
    ]


def single_graph_options() -> list[click.Parameter]:
    """Return the options of commands about one graph: the file is an argument, or the graph is drawn from an ensemble."""
    size = "Number of vertices of each random graph [500]; for your own graph, including vertices without edges."
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
    for option in graph_options()[2:]:
        if given.has(str(option.name)):
            raise InputError(f"{option.flag} applies to your own graph, not to --ensemble")
    return read_ensemble(ensemble)


def read_own_graph(given: Given, vertices: int | None = None) -> Graph:
    """Return the graph in the file that was given, after notes about its reading on stderr."""
    weights, ignored = given["weights"], given["ignore_weights"]
    for name in ("weights", "weight"):
        if given[name] is not None and ignored:
            raise InputError(f"--{name} is not used with --ignore-weights: give one of them")
    if weights is not None:
        check_name("value of --weights", weights, ["affinity", "distance"])
    graph = graphs.read_graph(
        given["edges"],
        vertices=vertices,
        repair=given["repair"],
        columns=None if given["columns"] is None else parse.fields(given["columns"]),
        header=given["header"],
        weights="ignore" if ignored else weights,
        weight=given["weight"],
    )
    tell_notes(given, graph.notes)
    return graphs.as_graph(graph, weighted=not ignored)


def label_options() -> list[Option]:
    """Return the options that say which values are known at vertices."""
    known = "File with a vertex and a value per line, or with a header."
    target = "Column with the values, if the header is ambiguous."
    vertex = "Column with the vertices, if the header is ambiguous."
    errors = "Column with the standard error of each value."
    task = "Whether the labels are numbers or classes.  [detected, and reported]"
    return [
        Option("--labels", type=READ, required=True, section="Labels", metavar="FILE", help=known),
        Option("--target", section="Labels", metavar="COLUMN", help=target),
        Option("--task", section="Labels", metavar="numbers|classes", help=task),
        Option("--vertex-column", section="Labels", metavar="COLUMN", help=vertex),
        Option("--noise-column", section="Labels", metavar="COLUMN", help=errors),
    ]


def attribute_option(section: str) -> Option:
    """Return the option that says what else is known about vertices."""
    text = (
        "File with attributes of every vertex (numbers or categories) to predict from; auto: those of the graph file."
    )
    return Option("--attributes", type=File(word="auto"), section=section, metavar="FILE|auto", help=text)


def read_attributes(given: Given, graph: Graph) -> object:
    """Return the attributes that were given: a table by the names of vertices, "auto" for those of the graph, or None."""
    if given["attributes"] in (None, "auto"):
        return given["attributes"]
    table = graphs.read_attributes(given["attributes"], graph)
    return table.set_axis([graph.label(number) for number in table.index], axis=0)


def read_labels(given: Given, graph: Graph, task: str | None) -> Labels:
    """Return the labels in the file that was given, after notes about its reading on stderr.

    Without a task, what they are is seen from their values, and said if these leave it open.
    """
    from gpcurves.forecasting.networks.class_labels import recognise

    known: Task | None = None
    if task is not None:
        if task not in ("numbers", "classes"):
            raise InputError(f"--task must be numbers or classes, got {task!r}")
        known = "numbers" if task == "numbers" else "classes"
    labels = graphs.read_labels(
        given["labels"], graph, given["target"], given["noise_column"], vertex=given["vertex_column"], task=known
    )
    if task is None and given["noise_column"] is None:
        labels = recognise(labels)
    tell_notes(given, labels.notes)
    return labels


def refuse_of_numbers(given: Given, *names: str) -> None:
    """Refuse options that have a meaning for numbers only, since the labels are classes."""
    for name in names:
        if given[name] is not None:
            raise InputError(f"--{name.replace('_', '-')} is for numbers, and the labels are classes")


def tell_notes(given: Given, notes: Iterable[str]) -> None:
    """Print what there is to say about files, unless people asked for quiet."""
    for note in () if given["quiet"] else notes:
        tell(f"note: {note}")


def read_ensemble(text: str) -> Ensemble:
    """Return the ensemble with a name and numbers, such as ``powerlaw:2.5,2``; its own numbers if there are none."""
    name, _, rest = text.partition(":")
    kind = Ensemble.named(name)
    if kind.form:
        return kind.read(rest)
    parameters = parameters_of(kind)
    several = bool(parameters) and _is_list(parameters[-1])  # the last parameter takes all numbers that are left
    numbers = rest.split(",", len(parameters) - 1 if several else -1) if rest else []
    if len(numbers) != len(parameters) and (numbers or any(each.required for each in parameters)):
        raise InputError(f"--ensemble {kind.name} must be {_form(kind)}, got {text!r}")
    pairs = zip(parameters, numbers, strict=False)
    return kind(**{each.name: parse.value(f"--ensemble {kind.name}", number, each.kind) for each, number in pairs})


def _form(kind: type[Ensemble]) -> str:
    """Return how an ensemble is written, such as ``powerlaw:ALPHA,CUTOFF``."""
    if kind.form:
        return kind.form
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
            if part.startswith(("kernel", "inputs", "design", "teacher", "test")) and given.has(str(each.name)):
                raise InputError(f"--spectrum replaces the kernel and the inputs: {each.opts[0]} is not used")
        return SpectrumProblem(parse.spectrum(given["spectrum"]), LIKELIHOODS.build(given))
    kernel = KERNELS.build(given)
    dim = {} if kernel.input_dim is None else {"dim": kernel.input_dim}  # as many as the kernel has lengthscales
    inputs, observation = INPUTS.build(given, **dim), LIKELIHOODS.build(given)
    teacher = build_teacher(given, KERNELS, observation)
    test = build_test_inputs(given, inputs.dim)
    return Problem(kernel, inputs, observation, teacher, build_designs(given, DESIGNS)[0], test=test)


def build_designs(given: Given, family: Family) -> list[Design]:
    """Return the designs that were given, separated by commas; an option must belong to one of them."""
    chosen = given.context.params.get("design")
    names = [family.root.named(each).name for each in parse.names("--design", chosen)] if chosen else ["random"]
    if len(names) == 1:
        return [family.root.named(names[0])(**family.arguments(given, names[0], family.option))]
    for option, _ in given.of(family.option):
        if not set(names) & set(option.owners):
            raise InputError(f"none of the designs {', '.join(names)} takes {option.flag}")
    return [family.root.named(name)(**read_options(given, family.option, name)) for name in names]


def build_fitted_kernel(given: Given) -> GraphKernel | Literal["fit"]:
    """Return the kernel that was given, or "fit" if none was."""
    if given["kernel"] not in (None, "fit"):
        kernel: GraphKernel = FITTED_KERNELS.build(given)
        return kernel
    for option, _ in given.of("kernel"):
        raise InputError(f"{option.flag} needs --kernel: without it, kernels are fitted")
    return "fit"


def build_graph_problem(given: Given, graph: Graph | Ensemble) -> Problem:
    """Return the problem on a graph that was given."""
    kernel = GRAPH_KERNELS.build(given)
    noise, weights = read_vertices(given, graph)
    observation = noise if noise is not None and has_vertex_noise(given) else LIKELIHOODS.build(given)
    teacher, design = build_teacher(given, GRAPH_KERNELS, observation), build_designs(given, VERTEX_DESIGNS)[0]
    return GraphProblem(graph, kernel, observation, teacher, design, **weights)


def build_teacher(given: Given, family: Family, observation: Observation) -> Teacher | None:
    """Return the teacher that the options describe, or None; what they leave out is as for the student."""
    noise = given["teacher_noise"]
    if not (given.has("teacher_kernel") or given.has("teacher_noise") or given.of("teacher-kernel")):
        return None
    kernel = family.build_teacher(given)
    level = observation.gaussian_noise if noise is None else parse.number("--teacher-noise", noise)
    if level is None:
        raise InputError("--teacher-noise is needed: the true noise variance")
    return Teacher(kernel, level)
