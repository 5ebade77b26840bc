"""The verbs: compute a learning curve, several of them, a sweep, or the number of examples that a goal needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import InputError, NotApplicableError, check_name
from gpcurves.methods import METHODS, Kind, Method
from gpcurves.methods.base import refuse_unknown
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Run
from gpcurves.numerics.validation import FloatArray, names_of, nonnegative, sizes
from gpcurves.observations import Observation
from gpcurves.problem import Problem, SpectrumProblem, as_problem
from gpcurves.spectra import Spectrum

Sizes = npt.ArrayLike | None  # of training sets: a sequence of numbers, or an integer n that stands for 0, 1, …, n
_RUN = tuple(each.name for each in fields(Run))
_MAY_BE_NONE = tuple(each.name for each in fields(Run) if each.default is None)


def learning_curve(
    problem: Problem | Spectrum,
    method: str,
    n: Sizes = None,
    *,
    nu: Sizes = None,
    noise: float | Observation | None = None,
    **options: Any,
) -> LearningCurve:
    """Return the average error after n examples, or after nu examples per vertex of a graph.

    Parameters
    ----------
    problem
        A `Problem`; or a bare `Spectrum`, which needs ``noise`` besides.
    method
        Name of a method; ``gpcurves.METHODS`` lists them.
    n
        Training-set sizes; an integer means 0..n. Not for graphs.
    nu
        Examples per vertex of a graph: numbers, at least 0.
    noise
        Noise variance, for a bare spectrum only.
    **options
        Options of the method: ``help(type(gpcurves.METHODS[method].Options()))`` lists them. Random methods also take
        ``rng`` (seed), ``workers``, ``store`` and ``progress``, see `gpcurves.montecarlo.Run`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(4)
    array([1.    , 0.5249, 0.0267])
    """
    (curve,) = learning_curves(problem, n, [method], nu=nu, noise=noise, **options).values()
    return curve


def learning_curves(
    problem: Problem | Spectrum,
    n: Sizes = None,
    methods: str | Iterable[str] = "all",
    *,
    nu: Sizes = None,
    noise: float | Observation | None = None,
    **options: Any,
) -> CurveSet:
    """Return the curves of several methods.

    "all" takes the theory that applies and records why the rest does not; with options that only a simulation has, such
    as ``datasets``, it takes the simulation too. Each method gets those options that it has and that belong to the problem.
    """
    asked = as_problem(problem, noise)
    at = _sizes_of(asked, n, nu)
    chosen, skipped = choose_methods(asked, at, methods, options)
    given = {name: value for name, value in options.items() if name not in _MAY_BE_NONE or value is not None}
    refuse_unknown(given, _known_options(chosen), chosen)
    run, own = split_run(given)
    checked = [(method, method.check(asked, at, _options_for(method, chosen, asked, own))) for method in chosen]
    curves = [method.compute(asked, at, each, run) for method, each in checked]
    return CurveSet.of(*curves, skipped=skipped)


def choose_methods(
    problem: Problem, at: FloatArray, methods: str | Iterable[str], options: Mapping[str, Any]
) -> tuple[list[Method[Any]], dict[str, str]]:
    """Return the methods that were asked for, and which of "all" do not apply and why."""
    if not (isinstance(methods, str) and methods == "all"):
        return list({name: METHODS[name] for name in names_of("methods", methods)}.values()), {}
    along = [method for method in METHODS.values() if problem.axis in method.axes]
    theory = [method for method in along if method.kind is not Kind.ESTIMATE]
    shared = {name for method in theory for name in method.option_names()} | set(_RUN)
    asked = {name for name, value in options.items() if value is not None} - shared
    named = [m for m in along if m.kind is not Kind.ESTIMATE or asked & m.option_names()]
    refuse_unknown(options, _known_options(named), named)
    skipped = {str(m.name): why for m in named if (why := m.objection(problem, at)) is not None}
    chosen = [m for m in named if m.name not in skipped]
    if not chosen:
        able = any(m.kind is Kind.ESTIMATE and m.objection(problem, at) is None for m in along)
        remedy = "; simulate it instead" if able else ""
        raise NotApplicableError(f"no theory applies: {next(iter(skipped.values()))}{remedy}")
    return chosen, skipped


def split_run(options: Mapping[str, Any]) -> tuple[Run, dict[str, Any]]:
    """Return how to run, and all other options."""
    own = {name: value for name, value in options.items() if name not in _RUN}
    return Run(**{name: value for name, value in options.items() if name in _RUN}), own


def _options_for(
    method: Method[Any], chosen: Sequence[Method[Any]], problem: Problem, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options that a method takes; one that no method takes for this problem is left in, to be refused."""

    def takes(each: Method[Any], name: str) -> bool:
        known = name in each.option_names()
        return known and each.Options(**{name: options[name]}).objection(problem) is None

    own = [name for name in options if name in method.option_names()]
    kept = [name for name in own if takes(method, name) or not any(takes(each, name) for each in chosen)]
    return {name: options[name] for name in kept}


def _known_options(methods: Sequence[Method[Any]]) -> set[str]:
    shared = _RUN if any(method.random for method in methods) else ()
    return {name for method in methods for name in method.option_names()} | set(shared)


def sweep(
    problem: Problem | Spectrum,
    n: Sizes = None,
    methods: str | Iterable[str] = "lc",
    *,
    nu: Sizes = None,
    **varied: Any,
) -> CurveSet:
    """Return the curves of several problems that differ in some parameters, or of several options of a method.

    Parameters
    ----------
    problem
        What the problems have in common.
    n, nu, methods
        As for `learning_curves`.
    **varied
        A list of values varies a parameter of the kernel, of the inputs, the noise, or an option; every combination is
        computed. A single value is an option for all curves.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> list(gpc.sweep(problem, n=100, noise=[0.01, 0.1]))
    ['lc, noise 0.01', 'lc, noise 0.1']
    """
    lists = {name: value for name, value in varied.items() if isinstance(value, list | tuple | range | np.ndarray)}
    fixed = {name: value for name, value in varied.items() if name not in lists}
    if not lists:
        raise InputError("a sweep needs a list of values for at least one parameter, such as noise=[0.01, 0.1]")
    curves: list[LearningCurve] = []
    skipped: dict[str, str] = {}
    for values in itertools.product(*lists.values()):
        options, changed = dict(fixed), problem
        for name, value in zip(lists, values, strict=True):
            with_value = _with_parameter(changed, name, value)
            if with_value is None:
                options[name] = value
            else:
                changed = with_value
        computed = learning_curves(changed, n, methods, nu=nu, **options)
        curves += computed.values()
        skipped |= computed.skipped
    return CurveSet.of(*curves, skipped=skipped)


def _with_parameter(problem: Any, name: str, value: Any) -> Problem | None:
    """Return a problem with one parameter changed, or None if no piece of it has this parameter."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(problem, Spectrum):
        return SpectrumProblem(problem, plain) if name == "noise" else None
    assert isinstance(problem, Problem)
    if name in ("kernel", "inputs", "noise", "observation", "teacher", "design"):
        return replace(problem, **{"observation" if name == "noise" else name: plain})
    for piece in ("kernel", "inputs", "observation", "design"):
        own = getattr(problem, piece)
        if hasattr(own, "__dataclass_fields__") and name in {each.name for each in fields(own)}:
            return replace(problem, **{piece: replace(own, **{name: plain})})
    return None


def vertex_variances(problem: Problem, nu: float, method: str = "simulation", **options: Any) -> VarianceDistribution:
    """Return the errors at all vertices of a graph after nu examples per vertex: their distribution, by vertex and by degree.

    Parameters
    ----------
    problem
        On a given graph or an ensemble of graphs.
    nu
        Examples per vertex; at 0 the prior variances.
    method
        "simulation" or "cavity".
    **options
        Those of the method: ``help(type(gpcurves.METHODS[method]).VarianceOptions)`` lists them; and ``rng`` (seed),
        ``workers``, ``store``, ``progress``.
    """
    capable = [name for name, each in METHODS.items() if hasattr(each, "variances")]
    chosen: Any = METHODS[check_name("method for variances of vertices", method, capable)]
    at = nonnegative("nu", nu)
    if not isinstance(problem, Problem) or problem.axis != "nu":
        raise InputError("a problem on a graph is needed, a GraphProblem")
    run, own = split_run(options)
    checked = chosen.check(problem, np.array([at]), own, chosen.VarianceOptions)
    variances: VarianceDistribution = chosen.variances(problem, at, checked, replace(run, rng=run.seed()))
    return variances


def _sizes_of(problem: Problem, n: object, nu: object) -> FloatArray:
    """Return the sizes asked for, along the axis that the problem has."""
    if problem.axis == "nu":
        if n is not None or nu is None:
            raise InputError("on a graph the examples per vertex are asked for: pass nu=, not n")
        return sizes("nu", nu)
    if nu is not None or n is None:
        raise InputError("pass n, the numbers of examples; nu, examples per vertex, belongs to graphs")
    return sizes("n", n)
