"""Problems in words, for titles: "RBF kernel, lengthscale 0.1; uniform inputs on the circle; noise variance 0.05"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpcurves.designs import Random
from gpcurves.graphs import Graph
from gpcurves.inputs import Vertices
from gpcurves.observations import GaussianNoise
from gpcurves.problem import Problem

Part = tuple[str, ...]
"""One piece of a problem: what it is, and then its parameters."""
_PIECE = re.compile(
    r"([A-Z]\w*)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
)  # as it is typed, such as RBF(lengthscale=0.1)
_SETTING = re.compile(r"(?:(\w+)=)?(\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]|'[^']*'|[^,]+)(?:, |$)")
_CALLED = {
    "Matern": "Matérn kernel",
    "Matern32": "Matérn-3/2 kernel",
    "Matern52": "Matérn-5/2 kernel",
    "MaternGraphKernel": "Matérn kernel on the graph",
    "ErdosRenyi": "Erdős-Rényi graphs",
    "RandomRegular": "random regular graphs",
    "PowerLaw": "power-law graphs",
    "PreferentialAttachment": "graphs grown by preferential attachment",
    "Gaussian": "Gaussian inputs",
    "Box": "uniform inputs",
    "Torus": "uniform inputs on the torus",
    "Sphere": "uniform inputs on the sphere",
    "StudentT": "Student-t noise",
    "LaplaceNoise": "Laplace noise",
    "Sample": "sample",
    "Spectrum": "spectrum",
    "Probit": "classes, probit",
    "Logit": "classes, logit",
    "Sobol": "Sobol points",
}
_SET = {
    "p": "p = {}", "a": "a = {}", "mean": "mean degree {}", "alpha": "exponent {}", "df": "{} degrees of freedom",
    "shares": "blocks of {}", "labelling": "labels {}",
}  # fmt: skip


def in_words(problem: Problem) -> str:
    """Return a problem in words."""
    return _joined(parts_of(problem))


def shared_words(problems: Iterable[Problem]) -> str:
    """Return what several problems have in common, in words; nothing if that is nothing."""
    alike = zip(*(parts_of(problem) for problem in problems), strict=False)
    shared = [
        tuple(each for each in parts[0] if all(each in part for part in parts))
        for parts in alike
        if len({part[0] for part in parts}) == 1
    ]
    return _joined(shared)


def _joined(parts: Iterable[Part]) -> str:
    text = "; ".join(", ".join(part) for part in parts)
    return text[:1].upper() + text[1:]


def parts_of(problem: Problem) -> list[Part]:
    """Return kernel, inputs, observation and what else there is to say about a problem, each with its parameters."""
    parts = [] if problem.kernel is None else [say(problem.kernel, "kernel")]
    graph = problem.graph if problem.axis == "nu" else None
    parts.append(
        (f"graph of {count_graph(graph)}",) if isinstance(graph, Graph) else say(problem.ensemble or problem.inputs)
    )
    gaussian = isinstance(problem.observation, GaussianNoise)
    parts.append((f"noise variance {problem.noise:g}",) if gaussian else say(problem.observation))
    if problem.design != Random():
        parts.append((f"design: {', '.join(say(problem.design))}",))
    if problem.test is not None:
        own = "vertices counted unevenly" if isinstance(problem.test, Vertices) else ", ".join(say(problem.test))
        parts.append((f"test: {own}",))
    teacher = problem.teacher
    if teacher is not None:
        truth = ", ".join(say(teacher.kernel, "kernel")) if teacher.kernel is not None else teacher.describe()
        parts.append((f"true function: {truth}", teacher.describe_labels().replace("noise=", "noise variance ")))
    return parts


def count_graph(graph: Graph) -> str:
    """Return how large a graph is: "34 vertices and 78 edges"."""
    vertices, edges = (
        f"{count:,} {one if count == 1 else many}"
        for count, one, many in ((graph.vertices, "vertex", "vertices"), (graph.edges, "edge", "edges"))
    )
    return f"{vertices} and {edges}"


def without_calls(text: str) -> str:
    """Return a text in which pieces are written as they are typed, such as a label, in words."""
    return re.sub(r"\b([a-z_]+)=", r"\1 ", _PIECE.sub(lambda found: _together(_say(found, "")), text))


def say(piece: object, kind: str = "") -> Part:
    """Return a piece of a problem in words, with its parameters apart if it is a single one and no sum or product."""
    text = repr(piece)
    whole = _PIECE.fullmatch(text)
    if whole is None:
        return (_PIECE.sub(lambda found: _together(_say(found, kind)), text),)
    return _say(whole, kind)


def _together(part: Part) -> str:
    return f"{part[0]} ({', '.join(part[1:])})" if len(part) > 1 else part[0]


def _say(found: re.Match[str], kind: str) -> Part:
    name, inner = found.groups()
    given: list[tuple[str, str]] = _SETTING.findall(inner)
    if name == "Torus" and given == [("dim", "1")]:
        return ("uniform inputs on the circle",)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z0-9])", " ", name)
    plain = spaced if spaced.isupper() else spaced.lower()
    called = _CALLED.get(name) or (plain if not kind or plain.endswith(kind) else f"{plain} {kind}")
    return called, *(words for key, value in given if (words := _parameter(key, value)))


def _parameter(name: str, value: str) -> str:
    if value == "None" or value.startswith("["):  # a list is too long for a title
        return ""
    if not name:
        return value
    if name == "dim":
        return "1 dimension" if value == "1" else f"{value} dimensions"
    if name == "normalise":
        return "not normalised" if value == "'none'" else f"{value[1:-1]} normalisation"
    return _SET.get(name, f"{name.replace('_', ' ')} {{}}").format(_several(value.strip("'")))


def _several(value: str) -> str:
    """Return a tuple in words, "0.5 and 0.5", and a tuple of tuples row by row; anything else as it is."""
    rows = re.findall(r"\(([^()]*)\)", value) if value.startswith("(") else []
    return " / ".join(" and ".join(row.removesuffix(",").rsplit(", ", 1)) for row in rows) or value
