"""The verbs: compute a learning curve, several of them, a sweep, or the number of examples that a goal needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.designs import Random
from gpcurves.errors import InputError, NotApplicableError, NumericalError, TooLargeError, check_name
from gpcurves.graphs import Ensemble
from gpcurves.inputs import RandomVertices
from gpcurves.methods import METHODS, Method, MethodName
from gpcurves.methods.base import Request
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Run
from gpcurves.numerics.validation import FloatArray, Sizes, names_of, nonnegative, sizes
from gpcurves.observations import Observation
from gpcurves.problem import Problem, SpectrumProblem, as_problem
from gpcurves.quantities import MSE, NOISY, QUANTITIES, Quantity
from gpcurves.spectra import Spectrum

Methods = MethodName | Method[Any] | Literal["all"] | Iterable[MethodName | Method[Any]]
_RUN = tuple(each.name for each in fields(Run))


def learning_curve(
    problem: Problem | Spectrum,
    method: MethodName | Method[Any],
    n: Sizes | None = None,
    *,
    nu: Sizes | None = None,
    noise: float | Observation | None = None,
    quantity: Any = MSE.name,
    noisy: Any = False,
    **options: Any,
) -> LearningCurve:
    """Return the average error after n examples, or after nu examples per vertex of a graph.

    Parameters
    ----------
    problem
        A `Problem`; or a bare `Spectrum`, which also needs ``noise``.
    method
        Name of a method, or the method; ``gpcurves.METHODS`` lists them.
    n
        Numbers of examples (labels, on a given graph); an integer n means 0, 1, …, n. For an ensemble of graphs, which have
        no fixed size, use ``nu``.
    nu
        Examples per vertex of a graph, instead of n: numbers, at least 0.
    noise
        Noise variance, for a bare spectrum only.
    quantity : str
        What to compute. The default "mse" is the mean squared error against the noise-free function;
        ``gpcurves.QUANTITIES`` lists all.
    noisy : bool
        Measure errors against new noisy targets, as on a test set, instead of the noise-free function: short for the
        quantity "noisy-mse". Its root, "noisy-rmse", is the RMSE that `forecast` reports.
    **options
        Options of the method: ``help(type(gpcurves.METHODS[method].Options()))`` lists them. Random methods also take
        ``rng`` (seed), ``workers``, ``store`` and ``progress``, see `gpcurves.montecarlo.Run`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(4)
    array([1.    , 0.1155, 0.0062])
    """
    about = {"noise": noise, "quantity": quantity, "noisy": noisy}
    (curve,) = learning_curves(problem, n, [method], nu=nu, **about, **options).values()
    return curve


def learning_curves(
    problem: Problem | Spectrum,
    n: Sizes | None = None,
    methods: Methods = "all",
    *,
    nu: Sizes | None = None,
    noise: float | Observation | None = None,
    quantity: Any = MSE.name,
    noisy: Any = False,
    **options: Any,
) -> CurveSet:
    """Return the curves of several methods.

    "all" runs every theoretical method that applies, and records in ``skipped`` why the others do not apply or fail
    numerically. It also runs the simulation if you give one of its options, such as ``datasets``, and for small given
    graphs and misspecified models. Each method receives the options that it has; an option that no method uses is an error.

    Parameters
    ----------
    methods
        Names of methods, or "all". Type checkers know the names, and take those of a ``list[str]`` as
        ``[gpcurves.METHODS[name] for name in names]``.
    problem, n, nu, noise, quantity, noisy, **options
        As for `learning_curve`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> curves = gpc.learning_curves(problem, n=[10, 100], methods=["plaskota", "lc", "two"])
    >>> curves.to_frame().round(4)
         method      n   error  stderr
    0  plaskota   10.0  0.0381     NaN
    1  plaskota  100.0  0.0040     NaN
    2        lc   10.0  0.1155     NaN
    3        lc  100.0  0.0062     NaN
    4       two   10.0  0.3661     NaN
    5       two  100.0  0.0716     NaN
    """
    asked = as_problem(problem, noise)
    at = sizes_of(asked, n, nu)
    given = {name: value for name, value in options.items() if value is not None or name == "workers"}
    what = quantity_of(quantity, noisy).name
    requests, skipped = request_curves(asked, at, methods, given, read_run(given), quantity=what)
    return compute_curves(requests, at, skipped)[0]


def request_curves(
    problem: Problem,
    at: FloatArray,
    methods: str | Method[Any] | Iterable[str | Method[Any]],
    options: Mapping[str, Any],
    run: Run,
    flags: Mapping[str, str] | None = None,
    quantity: str = MSE.name,
) -> tuple[list[Request], dict[str, str]]:
    """Return what is to be computed, and why others of "all" methods are left out; the one place that checks methods and options.

    Each method gets those ``options`` that it has and that belong to the problem; one that none of them uses is refused, and
    so are fields of `Run` that were given if nothing is random. ``flags`` are names of options on the command line.
    """
    everything = isinstance(methods, str) and methods == "all"
    if everything:
        named = [
            method
            for method in METHODS.values()
            if problem.axis in method.axes
            and (method.second is None or method.second in options)
            and not method.aside(problem)
            and (method.compound is None or problem.observation.mismatch(method.compound) is None)
            and not (method.special and method.objection(problem))
        ]
    else:
        named = list(dict.fromkeys(METHODS[each] for each in names_of("methods", methods, Method)))
    reasons = {
        method.name: method.objection(problem, at) or method.quantity_objection(problem, quantity) for method in named
    }
    chosen = [method for method in named if reasons[method.name] is None] if everything else named
    taken = {method: method.take_options(problem, options) for method in chosen}
    skipped: dict[str, str] = {}
    if everything:
        reasons |= {method.name: method.spare(problem) for method in chosen}
        asked = _asked_by_options([method for method in chosen if reasons[method.name] is None], taken, options)
        chosen = [method for method in chosen if method in asked]
        skipped = {method.name: why for method in named if method not in chosen and (why := reasons[method.name])}
        if not chosen:
            made = [
                skipped[method.name] for method in named if method.compound is not None
            ]  # says more than the others
            raise NotApplicableError(f"no method applies: {[*made, *skipped.values()][0]}")
    _refuse_unused(problem, at, {method: taken[method][1] for method in chosen}, options, flags or {})
    if not everything:
        for method in chosen:
            method.refuse(reasons[method.name])
    requests = [Request(method, problem, taken[method][0], run, everything, quantity) for method in chosen]
    return requests, skipped


def compute_curves(
    requests: Sequence[Request], at: FloatArray, skipped: Mapping[str, str]
) -> tuple[CurveSet, list[Request]]:
    """Return the curves as requested, and the requests that they answer.

    One of "all" that fails numerically, or that memory does not hold, is left out, and the reason is added to those of
    ``skipped``. If that leaves none, the error is raised.
    """
    for request in requests:
        request.method.check_request(request.options, at)
    curves: list[LearningCurve] = []
    answered: list[Request] = []
    reasons = dict(skipped)
    for request in requests:
        try:
            curves.append(request.curve(at))
        except (NumericalError, TooLargeError) as error:
            if not request.spares(error) or (request is requests[-1] and not curves):
                raise
            reasons[request.method.name] = str(error)
        else:
            answered.append(request)
    return CurveSet.of(*curves, skipped=reasons), answered


def _asked_by_options(
    chosen: list[Method[Any]], taken: Mapping[Method[Any], tuple[Any, Mapping[str, str]]], options: Iterable[str]
) -> list[Method[Any]]:
    """Return the chosen methods, and with an option that none of them takes those that do."""
    for name in options:
        takers = [method for method, (_, refused) in taken.items() if name in method.option_names() - set(refused)]
        if not set(takers) & set(chosen):
            chosen = chosen + takers
    return chosen


def _refuse_unused(
    problem: Problem,
    at: FloatArray,
    refused: Mapping[Method[Any], Mapping[str, str]],
    options: Iterable[str],
    flags: Mapping[str, str],
) -> None:
    """Refuse an option that none of the methods uses; ``refused`` says which options of its own each does not take, and why."""
    names = ", ".join(method.name for method in refused)
    who = f"method {names!r} takes no" if len(refused) == 1 else f"none of the methods {names} takes"
    for name in options:
        flag = flags.get(name)
        if name in _RUN:
            if not any(method.draws(problem) for method in refused):
                raise InputError(
                    f"{flag or name} is not used: nothing is drawn at random by {names}; add the method simulation"
                )
            continue
        reasons = [why.get(name) for method, why in refused.items() if name in method.option_names()]
        if None in reasons:
            continue
        if reasons:
            raise InputError(f"{flag}: {reasons[0]}" if flag else str(reasons[0]))
        owners = [method for method in METHODS.values() if name in method.option_names()]
        whose = f": it belongs to {', '.join(owner.name for owner in owners)}" if owners else ""
        why = owners[0].objection(problem, at) if owners else None
        raise InputError(f"{who} {flag or f'option {name!r}'}{whose}{f', but {why}' if why else ''}")


def default_method(problem: Problem) -> Method[Any]:
    """Return the method that answers questions about goals best; if inputs are chosen, a simulation, or the exact curve of a grid."""
    if problem.design != Random():
        exact = METHODS["grid"]
        return exact if not exact.aside(problem) and exact.objection(problem) is None else METHODS["simulation"]
    made = [method for method in METHODS.values() if problem.observation.mismatch(method.compound) is None]
    known = [method for method in made if problem.axis in method.axes and method.answers(problem)]
    return next((method for method in known if method.objection(problem) is None), known[0])


def read_run(options: Mapping[str, Any]) -> Run:
    """Return what options say about how to run."""
    return Run(**{name: value for name, value in options.items() if name in _RUN})


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
        The problem whose parameters are varied.
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
            with_value = with_parameter(changed, name, value)
            if with_value is None:
                options[name] = value
            else:
                changed = with_value
        computed = learning_curves(changed, n, methods, nu=nu, **options)
        curves += computed.values()
        skipped |= computed.skipped
    return CurveSet.of(*curves, skipped=skipped)


def with_parameter(problem: Any, name: str, value: Any) -> Problem | None:
    """Return a problem with one parameter changed, or None if no piece of it has this parameter."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(problem, Spectrum):
        return SpectrumProblem(problem, plain) if name == "noise" else None
    assert isinstance(problem, Problem)
    if name in ("kernel", "inputs", "noise", "observation", "teacher", "design", "test"):
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
        raise InputError(f"{name} is ambiguous ({owners}): vary the whole {found[0][0]} instead")
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

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=6), noise=0.1)
    >>> found = gpc.vertex_variances(problem, 1.0, "simulation", datasets=20, rng=0)
    >>> 0 < found.mean < 1
    True
    """
    capable = [name for name, each in METHODS.items() if hasattr(each, "variances")]
    name = METHODS[method].name if isinstance(method, Method) else method
    chosen: Any = METHODS[check_name("method for variances of vertices", name, capable)]
    at = nonnegative("nu", nu)
    if not isinstance(problem, Problem) or problem.axis != "nu":
        raise InputError("the problem must be on a graph: give a GraphProblem")
    run, own = read_run(options), {name: value for name, value in options.items() if name not in _RUN}
    checked = chosen.check(problem, np.array([at]), own, chosen.VarianceOptions)
    variances: VarianceDistribution = chosen.variances(problem, at, checked, replace(run, rng=run.seed()))
    return variances


def quantity_of(quantity: Any, noisy: object) -> Quantity:
    """Return the quantity asked for; ``noisy`` is short for the error against noisy targets."""
    if not isinstance(noisy, bool | np.bool_):
        raise InputError(f"noisy must be True or False, got {noisy!r}")
    what = QUANTITIES[quantity]
    if noisy and what is not MSE:
        raise InputError(
            f"noisy=True means the quantity {NOISY.name}, but quantity is {what.name}: give only one of them"
        )
    return NOISY if noisy else what


def sizes_of(problem: Problem, n: object, nu: object) -> FloatArray:
    """Return the sizes asked for, along the axis that the problem has."""
    if (n is None) == (nu is None):
        raise InputError("pass either n (numbers of examples) or, on a graph, nu (examples per vertex)")
    if n is None and problem.axis == "n":
        raise InputError("pass n (numbers of examples); nu (examples per vertex) is for graphs only")
    if n is None:
        return sizes("nu", nu)
    return _per_vertex(sizes("n", n), problem.examples_per_size)


def _per_vertex(examples: FloatArray, vertices: int) -> FloatArray:
    """Return examples per vertex that times the vertices are the examples again.

    Some numbers per vertex share their number of examples, because floating-point numbers are not equally dense everywhere.
    Of these the one with few digits is returned, as people write them, so that the sizes of a curve come back from its n. The
    errors do in any case: on a given graph they depend on the number of examples alone.
    """
    if vertices == 1:
        return examples
    per_vertex = examples / vertices
    short = np.array([float(f"{each:.15g}") for each in per_vertex.tolist()])
    return np.where(short * vertices == examples, short, per_vertex)
