"""The verbs: compute a learning curve, several of them, a sweep, or the number of examples that a goal needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.designs import Random
from gpcurves.errors import InputError, NotApplicableError, NumericalError, check_name
from gpcurves.graphs import Ensemble, Graph
from gpcurves.inputs import RandomVertices
from gpcurves.methods import METHODS, Kind, Method, MethodName
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Run
from gpcurves.numerics.validation import FloatArray, Sizes, names_of, nonnegative, sizes
from gpcurves.observations import Observation
from gpcurves.problem import Problem, SpectrumProblem, as_problem
from gpcurves.spectra import Spectrum

Methods = MethodName | Method[Any] | Literal["all"] | Iterable[MethodName | Method[Any]]
_RUN = tuple(each.name for each in fields(Run))
_SMALL_GRAPH = 1_500  # vertices up to which a given graph is simulated: dense algebra is quick there, and exact


def learning_curve(
    problem: Problem | Spectrum,
    method: MethodName | Method[Any],
    n: Sizes | None = None,
    *,
    nu: Sizes | None = None,
    noise: float | Observation | None = None,
    **options: Any,
) -> LearningCurve:
    """Return the average error after n examples, or after nu examples per vertex of a graph.

    Parameters
    ----------
    problem
        A `Problem`; or a bare `Spectrum`, which needs ``noise`` besides.
    method
        Name of a method, or the method; ``gpcurves.METHODS`` lists them.
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
    n: Sizes | None = None,
    methods: Methods = "all",
    *,
    nu: Sizes | None = None,
    noise: float | Observation | None = None,
    **options: Any,
) -> CurveSet:
    """Return the curves of several methods.

    "all" takes the theory that applies, and records why the rest does not, or fails; with options that only a simulation has, such
    as ``datasets``, it takes the simulation too. A small given graph and a misspecified model are simulated anyway. Each
    method gets those options that it has and that belong to the problem; one that no method uses is an error.
    """
    asked = as_problem(problem, noise)
    at = _sizes_of(asked, n, nu)
    given = {name: value for name, value in options.items() if value is not None or name == "workers"}
    run, own = split_run(given)
    chosen, skipped = choose_methods(asked, at, methods, own)
    shares = share_options(asked, chosen, given)
    checked = [(method, method.check(asked, at, share)) for method, share in zip(chosen, shares, strict=True)]
    curves: list[LearningCurve] = []
    for method, each in checked:
        try:
            curves.append(method.compute(asked, at, each, run))
        except NumericalError as error:
            # one of many formulas may fail, but not a method that was named, nor one that takes long, nor the last
            if (
                not isinstance(methods, str)
                or methods != "all"
                or method.draws(asked)
                or (method is checked[-1][0] and not curves)
            ):
                raise
            skipped[method.name] = str(error)
    return CurveSet.of(*curves, skipped=skipped)


def choose_methods(
    problem: Problem,
    at: FloatArray,
    methods: str | Method[Any] | Iterable[str | Method[Any]],
    options: Mapping[str, Any],
) -> tuple[list[Method[Any]], dict[str, str]]:
    """Return the methods that were asked for, and why others of "all" are left out."""
    if not (isinstance(methods, str) and methods == "all"):
        return list(dict.fromkeys(METHODS[each] for each in names_of("methods", methods, Method))), {}
    along = [method for method in METHODS.values() if problem.axis in method.axes]
    reasons = {method.name: method.objection(problem, at) for method in along}
    able = [method for method in along if reasons[method.name] is None]
    reasons |= {method.name: _spare(method, problem) for method in able}
    chosen = [method for method in able if reasons[method.name] is None]
    for name, value in options.items():  # an option that no other method takes asks for its own
        if not any(_refuses(method, name, value, problem) is None for method in chosen):
            chosen += (method for method in able if _refuses(method, name, value, problem) is None)
    skipped = {name: why for name, why in reasons.items() if why and METHODS[name] not in chosen}
    if not chosen:
        raise NotApplicableError(f"no method applies: {next(iter(skipped.values()))}")
    return sorted(chosen, key=along.index), skipped


def default_method(problem: Problem) -> MethodName:
    """Return the method that answers questions about goals best."""
    if problem.axis == "n":
        return "lc"
    small = isinstance(problem.graph, Graph) and problem.graph.vertices <= _SMALL_GRAPH
    return "simulation" if small or problem.observation.noise == 0 or problem.teacher is not None else "cavity"


def _spare(method: Method[Any], problem: Problem) -> str | None:
    """Say why a method that applies is not among "all", or return None if it is; an empty text needs no words.

    A simulation of vectors takes long, so that it is asked for. On a given graph that is small it is exact and quick, whereas
    the cavity method is an approximation; on a large one dense algebra takes long.
    """
    default = default_method(problem)
    if method.name == default:
        return None
    if problem.axis == "nu" and isinstance(problem.graph, Graph):
        vertices = f"{problem.graph.vertices:,} vertices"
        if method.name == "cavity":
            return f"on {vertices} the simulation is quick, and exact; name it among the methods to compute it"
        if method.name in ("eigenvalue", "simulation") and default == "cavity":
            return f"dense algebra on {vertices} takes long; name it among the methods to compute it"
    usual = problem.teacher is None and problem.design == Random()  # otherwise little theory applies
    return "" if method.kind is Kind.ESTIMATE and usual else None


def _refuses(method: Method[Any], name: str, value: Any, problem: Problem) -> str | None:
    """Say why a method does not take an option for a problem, or return None; the text is empty if it has no such option."""
    return method.Options(**{name: value}).objection(problem, (name,)) if name in method.option_names() else ""


def share_options(
    problem: Problem,
    methods: Sequence[Method[Any]],
    options: Mapping[str, Any],
    flags: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the options of each method; refuse one that none of them uses. ``flags`` are its names on the command line."""
    names = ", ".join(method.name for method in methods)
    who = f"method {names!r} takes no" if len(methods) == 1 else f"none of the methods {names} takes"
    shares: list[dict[str, Any]] = [{} for _ in methods]
    for name, value in options.items():
        flag = (flags or {}).get(name)
        if name in _RUN:
            if not any(method.draws(problem) for method in methods):
                raise InputError(
                    f"{flag or name} is not used: nothing is drawn at random by {names}; add the method simulation"
                )
            continue
        reasons = [_refuses(method, name, value, problem) for method in methods]
        for share, reason in zip(shares, reasons, strict=True):
            share |= {name: value} if reason is None else {}
        if None in reasons:
            continue
        if reason := next(filter(None, reasons), None):
            raise InputError(f"{flag}: {reason}" if flag else reason)
        owners = [method for method in METHODS.values() if name in method.option_names()]
        whose = f": it belongs to {', '.join(owner.name for owner in owners)}" if owners else ""
        why = owners[0].objection(problem) if owners else None
        raise InputError(f"{who} {flag or f'option {name!r}'}{whose}{f', but {why}' if why else ''}")
    return shares


def split_run(options: Mapping[str, Any]) -> tuple[Run, dict[str, Any]]:
    """Return how to run, and all other options."""
    own = {name: value for name, value in options.items() if name not in _RUN}
    return Run(**{name: value for name, value in options.items() if name in _RUN}), own


def sweep(
    problem: Problem | Spectrum,
    n: Sizes | None = None,
    methods: Methods = "lc",
    *,
    nu: Sizes | None = None,
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
        A list of values varies a piece of the problem, a parameter of one (of the kernel, the inputs, the ensemble or the
        design), the noise, or an option; every combination is computed. A single value is an option for all curves.

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
    found = []
    for piece in ("kernel", "inputs", "observation", "design"):
        own: Any = problem.ensemble if piece == "inputs" and problem.ensemble is not None else getattr(problem, piece)
        for each in getattr(own, "__dataclass_fields__", {}).values():
            flag = (each.metadata.get("flag") or each.name).replace("-", "_")
            if name == flag or (name == each.name and piece != "observation"):  # its variance is called noise
                found.append((piece, flag, replace(own, **{each.name: plain})))
    if len(found) > 1:
        owners = ", ".join(f"{flag} of the {piece}" for piece, flag, _ in found)
        raise InputError(f"{name} is ambiguous ({owners}): vary a name that is not, or the {found[0][0]} as a whole")
    if not found:
        return None
    piece, _, new = found[0]
    whole: Any = RandomVertices(new) if isinstance(new, Ensemble) else new
    return replace(problem, **{piece: whole})


def vertex_variances(
    problem: Problem, nu: float, method: MethodName | Method[Any] = "simulation", **options: Any
) -> VarianceDistribution:
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
    name = METHODS[method].name if isinstance(method, Method) else method
    chosen: Any = METHODS[check_name("method for variances of vertices", name, capable)]
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
