"""Options for what differs from place to place: test inputs, noise and weights of vertices, and the map of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpcurves import graphs
from gpcurves.cli import output, parse
from gpcurves.cli.options import READ, Family, Given, Option, parameter_options
from gpcurves.errors import InputError
from gpcurves.graphs import Ensemble, Graph
from gpcurves.inputs import Inputs
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import UnevenNoise
from gpcurves.problem import Problem

_TEST = Family(Inputs, "test-inputs", None, "Inputs", without=("dim",))
_FILES = {
    "noise_per_vertex": "--noise-per-vertex",
    "label_weights": "--label-weights",
    "test_weights": "--test-weights",
}
_NOT_MAPPED = {"sizes": "", "methods": "--methods", "goals": "--goal", "quantity": "--quantity"}


def map_option(what: str, after: str) -> Option:
    """Return the option that asks for the error at every place."""
    text = f"Instead of curves: the error at every {what} after {after}, by the method local."
    return Option("--map", section="What to compute", metavar="NUMBER", help=text)


def vertex_options() -> list[Option]:
    """Return the options that say how vertices of one's own graph differ: files with a vertex and a number per line."""
    noise = "Your own graph: file with a vertex and its noise variance per line, instead of --noise."
    often = (
        "Your own graph: file with a vertex and its relative labelling frequency per line; others are never labelled."
    )
    counts = "Your own graph: file with a vertex and the relative weight of its error per line.  [equal weights]"
    return [
        Option("--noise-per-vertex", type=READ, section="Labels", metavar="FILE", help=noise),
        Option("--label-weights", type=READ, section="Labels", metavar="FILE", help=often),
        Option("--test-weights", type=READ, section="Labels", metavar="FILE", help=counts),
    ]


def test_options(taken: set[str]) -> list[Option]:
    """Return the options that say where test inputs come from."""
    listed = ", ".join(_TEST.members)
    text = f"Distribution of test inputs, if it differs from that of training inputs: {listed}."
    made = parameter_options("test-inputs", _TEST.members, taken, section="Inputs", prefix="test-")
    for each in made:
        each.help = f"Like --{each.flag.removeprefix('--test-').removeprefix('inputs-')}, for test inputs."
    return [Option("--test-inputs", section="Inputs", metavar="NAME", help=text), *made]


def build_test_inputs(given: Given, dim: int) -> Inputs | None:
    """Return the test inputs that were given, in as many dimensions as the training inputs; None if there are none."""
    name = given.context.params.get("test_inputs")
    if name is None:
        for option, _ in given.of("test-inputs"):
            raise InputError(f"{option.flag} needs --test-inputs")
        return None
    kind = Inputs.named(name)
    own = {"dim": dim} if "dim" in getattr(kind, "__dataclass_fields__", {}) else {}
    arguments = _TEST.arguments(given, str(kind.name), "test-inputs")
    for each in _TEST.members[str(kind.name)]:
        if each.required and each.name not in arguments:
            raise InputError(f"--test-inputs {kind.name} needs its {each.name}: {each.help[:1].lower()}{each.help[1:]}")
    return kind(**own, **arguments)


def has_vertex_noise(given: Given) -> bool:
    """Tell whether the noise of every vertex comes from a file; another noise besides is refused."""
    if given.context.params.get("noise_per_vertex") is None:
        return False
    for option, _ in given.of("likelihood"):
        raise InputError(f"--noise-per-vertex replaces {option.flag}: give one of them")
    if given.has("likelihood"):
        raise InputError("--noise-per-vertex is Gaussian noise: --likelihood is not used")
    return True


def read_vertices(given: Given, graph: Graph | Ensemble) -> tuple[UnevenNoise | None, dict[str, FloatArray | None]]:
    """Return the noise of every vertex if it was given, and the weights of vertices, which sum to 1."""
    params = given.context.params
    asked = [name for name in _FILES if params.get(name) is not None]
    if asked and isinstance(graph, Ensemble):
        raise InputError(f"{_FILES[asked[0]]} applies to your own graph, not to --ensemble")
    assert isinstance(graph, Graph) or not asked
    noise = None
    if "noise_per_vertex" in asked:
        values = _read(given, "noise_per_vertex", graph)
        if np.isnan(values).any():
            missing = graph.label(int(np.isnan(values).argmax()))  # type: ignore[union-attr]
            raise InputError(f"--noise-per-vertex: the vertex {missing!r} has no noise")
        noise = UnevenNoise(values=values)
    weights: dict[str, FloatArray | None] = {"weights": None, "test_weights": None}
    for name, target in (("label_weights", "weights"), ("test_weights", "test_weights")):
        if name in asked:
            values = np.nan_to_num(_read(given, name, graph))
            if (values < 0).any() or values.sum() == 0:
                raise InputError(f"{_FILES[name]}: weights must be at least 0, and at least one must be greater than 0")
            weights[target] = values / values.sum()
    return noise, weights


def _read(given: Given, name: str, graph: Any) -> FloatArray:
    """Return one number for each vertex from a file; NaN for those that it leaves out."""
    try:
        labels = graphs.read_labels(given[name], graph)
    except InputError as error:
        raise InputError(f"{_FILES[name]}: {error}") from error
    if len(np.unique(labels.vertices)) < len(labels):
        raise InputError(f"{_FILES[name]}: a vertex occurs twice: give it once")
    values = np.full(graph.vertices, np.nan)
    values[labels.vertices] = labels.values
    return values


def show_map(given: Given, build: Callable[[Given], Problem]) -> int:
    """Compute the error at every place, and write it; returns the exit code."""
    from gpcurves.cli.computing import read_given
    from gpcurves.methods.local.errors import ErrorMap, local_errors

    output.check_out(given, ErrorMap)
    for name, flag in _NOT_MAPPED.items():
        if given.has(name):
            raise InputError(f"--map replaces curves: {flag or '--n or --nu'} is not used")
    problem = build(given)
    options, flags = read_given(given)
    for name in options:
        if name not in ("nodes", "rank"):
            raise InputError(f"--map is by the method local: {flags[name]} is not used")
    size = parse.number("--map", given["map"])
    found = local_errors(problem, **{problem.axis: size}, **options)
    output.write(given, found)
    output.say(given, found.describe())
    return 0
