"""From what was given to a problem, and from a problem to curves and answers: which methods, with which options, run how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import click
import numpy as np

from gpcurves import goals, graphs
from gpcurves.api import learning_curves
from gpcurves.cli import output, parse
from gpcurves.cli.options import FILE, Family, Given, Option, parameter_options
from gpcurves.curve import CurveSet
from gpcurves.designs import Design, Random
from gpcurves.errors import InputError, NotApplicableError, NumericalError
from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.methods import METHODS, Kind, Method
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import Parameter, parameters_of
from gpcurves.numerics.validation import FloatArray, positive, sizes
from gpcurves.observations import Observation
from gpcurves.problem import GraphProblem, Problem, SpectrumProblem, Teacher

_BEYOND, _POINTS = 1.5, 40  # how far beyond the goal a picture shows curves, and by how many points it continues them
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
    return [
        Option("--edges", type=FILE, section="Graph", metavar="FILE", help=own),
        Option("--ensemble", section="Graph", metavar="NAME:NUMBERS", help=f"Random graphs: {forms}."),
        Option("--repair", is_flag=True, section="Graph", help=repair),
    ]


def single_graph_options() -> list[click.Parameter]:
    """Return the options of commands about one graph: the file is an argument, or the graph is drawn from an ensemble."""
    size = "Size of a graph of the ensemble [500]; of your own graph, to count vertices without edges."
    return [
        click.Argument(["edges"], required=False, type=FILE),
        *graph_options()[1:],
        Option("--vertices", type=int, section="Graph", metavar="INTEGER", help=size),
        Option("--rng", type=int, default=0, section="Graph", metavar="SEED", help="Seed of random numbers.  [0]"),
    ]


def read_graph(given: Given, vertices: int | None) -> Graph | Ensemble:
    """Return the graph, or the ensemble of graphs, that was given."""
    edges, ensemble = given["edges"], given["ensemble"]
    if (ensemble is None) == (edges is None):
        raise InputError("give either --ensemble (random graphs) or your own graph, a file of edges")
    if edges is not None:
        return graphs.read_graph(edges, vertices=vertices, repair=given["repair"])
    if given["repair"]:
        raise InputError("--repair belongs to your own graph, not to --ensemble")
    return read_ensemble(ensemble)


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


def size_options(axis: str, default: str) -> list[Option]:
    """Return the options that say what is computed."""
    section = "What to compute"
    what = "Numbers of examples" if axis == "n" else "Examples per vertex"
    sizes = f"{what}: a list, start:stop:step, start:stop:log:count, or a mix.  [{default}]"
    methods = "Methods separated by commas, see 'gpcurves methods'; all takes those that apply.  [all]"
    goal = "Also say how many examples this error needs; may be given several times."
    return [
        Option(f"--{axis}", "sizes", default=default, section=section, metavar="LIST", help=sizes),
        Option("--methods", default="all", section=section, metavar="NAMES", help=methods),
        Option("--goal", "goals", multiple=True, section=section, metavar="NUMBER", help=goal),
    ]


def method_options(axis: str, taken: set[str], **aliases: str) -> list[Option]:
    """Return one option for each option of a method along an axis."""
    members = {
        name: [each for each in parameters_of(method.Options) if each.axis in (None, axis)]
        for name, method in METHODS.items()
        if axis in method.axes
    }
    return parameter_options("method", members, taken, section="Options of methods", aliases=aliases)


def answer(given: Given, build: Callable[[Given], Problem], adding: Sequence[str] = ()) -> int | None:
    """Build the problem, compute the curves, answer the goals, and write both; returns the exit code.

    ``adding`` are methods to compute besides those that were named.
    """
    output.check_out(given, CurveSet)
    problem = build(given)
    axis = problem.axis
    at = sizes(axis, parse.size_list(f"--{axis}", given["sizes"], integers=axis == "n"))
    errors = [positive("--goal", parse.number("--goal", goal)) for goal in given["goals"]]
    methods, skipped = _choose_methods(given, problem, at, adding)
    options = _read_options(given, problem, methods)
    _refuse_idle(given, problem, methods)
    run = Run(given["rng"], given["workers"] or 1, given["store"], False if given["quiet"] else None)
    options[axis] = at
    if any(method.random for method in methods):
        options |= {each.name: getattr(run, each.name) for each in fields(run)}
    try:
        curves = learning_curves(problem, methods=[method.name for method in methods], **options)
    except KeyboardInterrupt as stop:
        return output.say_interrupted(stop, given["store"])
    curves = replace(curves, skipped=skipped)
    answers: list[goals.Goal] = []
    stopped = False
    try:
        for error in errors:
            answers.append(goals.answer_goal(curves, error, run))  # noqa: PERF401  (those before an interruption are kept)
    except KeyboardInterrupt:
        stopped = True
    output.emit_curves(_continue_to_goals(curves, answers) if output.is_shown(given) else curves, answers, given)
    if stopped:
        click.echo("gpcurves: interrupted before all goals were answered", err=True)
        return 130
    stuck = [label for label, curve in curves.items() if np.min(curve.diagnostics.get("converged", 1)) < 1]
    if stuck:
        click.echo(f"gpcurves: {', '.join(stuck)} did not converge; the result so far was written", err=True)
    return 1 if stuck else None


def _choose_methods(
    given: Given, problem: Problem, at: FloatArray, adding: Sequence[str] = ()
) -> tuple[list[Method[Any]], dict[str, str]]:
    """Return the methods to compute, and why others of "all" are left out."""
    text = given["methods"].strip()
    if text != "all":
        names = [*parse.names("--methods", text), *adding]
        return [METHODS[name] for name in dict.fromkeys(names)], {}
    along = [method for method in METHODS.values() if problem.axis in method.axes]
    reasons = {method.name: method.objection(problem, at) for method in along}
    able = [method for method in along if reasons[method.name] is None]
    reasons |= {method.name: _spare(method, problem) for method in able}
    chosen = [method for method in able if reasons[method.name] is None]
    for option, value in given.of("method"):  # an option that no other method takes asks for its own
        if any(_takes(method, option, value, problem) for method in chosen):
            continue
        chosen += (method for method in able if _takes(method, option, value, problem))
        if not any(_takes(method, option, value, problem) for method in chosen):
            owner = METHODS[next(iter(option.owners))]
            reason = reasons[owner.name] or _read(owner, option, value, problem)[1]
            raise InputError(f"{option.flag} belongs to {owner.name}: {reason}")
    skipped = {name: why for name, why in reasons.items() if why and METHODS[name] not in chosen}
    if not chosen:
        raise NotApplicableError(f"no method applies: {next(iter(skipped.values()))}")
    return sorted(chosen, key=along.index), skipped


def _spare(method: Method[Any], problem: Problem) -> str | None:
    """Say why a method that applies is not among "all", or return None if it is; an empty text needs no words.

    A simulation of vectors takes long, so that it is asked for. On a given graph that is small it is exact and quick, whereas
    the cavity method is an approximation; on a large one dense algebra takes long.
    """
    default = goals.default_method(problem)
    if method.name == default:
        return None
    if problem.axis == "nu" and isinstance(problem.graph, Graph):
        vertices = f"{problem.graph.vertices:,} vertices"
        if method.name == "cavity":
            return f"on {vertices} the simulation is quick, and exact; name it in --methods to compute it"
        if method.name in ("eigenvalue", "simulation") and default == "cavity":
            return f"dense algebra on {vertices} takes long; name it in --methods to compute it"
    usual = problem.teacher is None and problem.design == Random()  # otherwise little theory applies
    return "" if method.kind is Kind.ESTIMATE and usual else None


def _takes(method: Method[Any], option: Option, text: Any, problem: Problem) -> bool:
    return _read(method, option, text, problem)[1] is None


def _read(method: Method[Any], option: Option, text: Any, problem: Problem) -> tuple[dict[str, Any], str | None]:
    """Return an option as a method knows it, and why the method does not take it (None if it does)."""
    own = option.owners.get(method.name)
    if own is None:
        return {}, ""
    value = {own.name: parse.value(option.flag, text, own.kind)}
    return value, method.Options(**value).objection(problem)


def _read_options(given: Given, problem: Problem, methods: Sequence[Method[Any]]) -> dict[str, Any]:
    """Return the options of methods that were given; refuse those that none of the methods takes."""
    options: dict[str, Any] = {}
    for option, text in given.of("method"):
        read = [_read(method, option, text, problem) for method in methods]
        for value, reason in read:
            options |= value if reason is None else {}
        reasons = [reason for _, reason in read]
        if None in reasons:
            continue
        if any(reasons):
            raise InputError(f"{option.flag}: {next(filter(None, reasons))}")
        names = ", ".join(method.name for method in methods)
        who = f"the method {names} takes" if len(methods) == 1 else f"none of the methods {names} takes"
        not_ = " no" if len(methods) == 1 else ""
        raise InputError(f"{who}{not_} {option.flag}: it belongs to {', '.join(option.owners)}")
    return options


def _refuse_idle(given: Given, problem: Problem, methods: Sequence[Method[Any]]) -> None:
    """Refuse options that say how to draw random numbers if nothing is drawn."""
    if any(method.draws(problem) for method in methods):
        return
    for name in ("rng", "workers", "store"):
        if given.has(name):
            names = ", ".join(method.name for method in methods)
            remedy = "--simulate N" if problem.axis == "n" else "--methods simulation"
            raise InputError(f"--{name} is not used: nothing is drawn at random by {names}; add {remedy} to simulate")


def _continue_to_goals(curves: CurveSet, answers: Sequence[goals.Goal]) -> CurveSet:
    """Return curves that a picture can show up to the goals: deterministic ones go on until an approximation reaches them."""
    sure = [label for label, curve in curves.items() if not METHODS[curve.method].draws(curve.problem)]
    near = [label for label in sure if METHODS[curves[label].method].kind is Kind.APPROXIMATION]
    reach = max((goal.needed[label] for goal in answers for label in near if label in goal.needed), default=0.0)
    longer = dict(curves)
    for label in sure:
        curve = curves[label]
        last = float(curve.sizes.max())
        if reach <= last:
            continue
        more = np.geomspace(max(last, reach / 1e3), _BEYOND * reach, _POINTS)
        sizes = np.concatenate((curve.sizes, np.unique(np.ceil(more)) if curves.axis == "n" else more))
        with suppress(NumericalError):  # a curve that cannot be continued ends where it did
            longer[label] = METHODS[curve.method].curve(curve.problem, np.unique(sizes), **curve.options)
    return CurveSet(longer, curves.skipped)
