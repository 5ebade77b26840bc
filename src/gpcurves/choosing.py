"""What could choosing inputs save? Designs beside random inputs and beside bounds for every choice; and the inputs that they choose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.api import compute_curves, read_run, request_curves, sizes_of
from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.designs import Design, Random, as_design
from gpcurves.designs.candidates import CandidateDesign
from gpcurves.errors import GPCurvesError, InputError, NotApplicableError
from gpcurves.goals import Goal, required_size
from gpcurves.inputs import Vertices
from gpcurves.methods import METHODS, Kind, Method
from gpcurves.methods.base import Request
from gpcurves.methods.simulation.dataset import Prior, TestPoints, errors, exact_test
from gpcurves.montecarlo import Rng, Run, seed_of
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.validation import FloatArray, Sizes, integer, names_of, points, positive
from gpcurves.problem import Problem
from gpcurves.quantities import MSE, QUANTITIES

if TYPE_CHECKING:
    import pandas as pd

_USUAL = ("random", "sobol", "greedy")
_BOUNDS = ("plaskota", "ov")
_FURTHER, _POINTS = (2.0, 4.0, 8.0), 8  # how far beyond the largest size random inputs are simulated, by so many points
_MOST = 1_000.0  # examples up to which they are, unless more were asked for
_TEST_NODES = 2_000


@dataclass(frozen=True)
class Saving(Goal):
    """How many examples an error needs by each curve: chosen inputs, random ones, and at least, by a bound for every choice."""

    design: str = ""  # the design with the fewest examples
    share: float | None = None  # of the examples that the design saves; None if random inputs were not simulated so far

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, repr=False)
class DesignCurves(CurveSet):
    """Learning curves of several designs, each simulated curve by the name of its design, and bounds for every choice.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> curves = gpc.compare_designs(problem, n=[5, 10], designs=["random", "greedy"], datasets=20, rng=0)
    >>> bool(curves["greedy"].error[-1] < curves["random"].error[-1])
    True
    """

    further: LearningCurve | None = (
        None  # random inputs beyond the sizes that were asked for, as far as a comparison needs them
    )

    def saving(self, error: float | None = None) -> Saving:
        """Return how many examples choosing saves for an error; by default the error of the best design at the largest size."""
        designed, random = self._designed, self._random
        if not designed or not random:
            raise InputError("a comparison needs random inputs and another design: designs=('random', 'greedy')")
        if not QUANTITIES[random[0].quantity].falls:
            raise InputError(f"a comparison needs a quantity that falls with more examples, not {random[0].quantity}")
        if error is None:
            error = self._best
            if not 0 < error < math.inf:
                raise InputError("a comparison needs an error above 0 at the largest size: give one")
            error = _round_up(error)
        needed = {label: size for label in self if (size := self._reaches(label, positive("error", error))) is not None}
        missing = {
            label: f"more than {self._count(float(self._longest(label).sizes.max()))}"
            for label in self
            if label not in needed
        }
        reached = [label for label in designed if label in needed]
        if not reached:
            sentence = f"No design reaches an error of {error:.3g} with {self._count(self._largest)} {self._unit}."
            return Saving(error, self.axis, needed, missing, sentence)
        best = min(reached, key=lambda label: needed[label])
        (usual,) = [label for label, curve in self.items() if curve is random[0]]
        share = None
        if usual in needed:
            share = 1 - needed[best] / needed[usual] if needed[usual] else 0.0
        return Saving(error, self.axis, needed, missing, self._say(error, needed, best, usual, share), {}, best, share)

    @property
    def comparable(self) -> bool:
        """Whether `saving` has an answer: it needs random inputs, another design, and an error above 0."""
        falls = QUANTITIES[next(iter(self.values())).quantity].falls
        return bool(falls and self._designed and self._random and 0 < self._best < math.inf)

    @property
    def _designed(self) -> dict[str, LearningCurve]:
        return {
            label: curve
            for label, curve in self.items()
            if curve.problem.design != Random() and METHODS[curve.method].kind in (Kind.ESTIMATE, Kind.EXACT)
        }

    @property
    def _random(self) -> list[LearningCurve]:
        return [curve for curve in self.values() if curve.problem.design == Random() and curve.method == "simulation"]

    @property
    def _best(self) -> float:
        """The smallest error of a design at the largest size, infinite if none is known."""
        last = [float(curve.error[np.argmax(curve.sizes)]) for curve in self._designed.values()]
        return min((each for each in last if math.isfinite(each)), default=math.inf)

    def _say(self, error: float, needed: Mapping[str, float], best: str, usual: str, share: float | None) -> str:
        many = self._count(needed[best])
        said = f"{many} {self._unit} chosen by {best} give an error of {error:.3g}"
        if share is None:
            said += f"; random ones need more than {self._count(float(self._longest(usual).sizes.max()))}."
        elif share >= 0.005:
            said += f"; random ones need about {self._count(needed[usual])}: choosing saves {100 * share:.0f} %."
        else:
            said += f"; random ones need no more than {self._count(needed[usual])}: choosing saves nothing."
        bounds = {label: needed[label] for label in needed if self._holds_for_every_choice(label)}
        if bounds:
            tight = max(bounds, key=lambda label: bounds[label])
            said += f" No choice reaches it with fewer than {self._count(bounds[tight])} ({tight})."
        return said

    def continued(self) -> DesignCurves:
        """Return the same curves, with the curve of random inputs extended as far as it was simulated."""
        return replace(self, curves={label: self._longest(label) for label in self})

    def _holds_for_every_choice(self, label: str) -> bool:
        """Tell whether a curve is a lower bound, and not just for random inputs."""
        curve = self[label]
        return METHODS[curve.method].kind is Kind.LOWER_BOUND and curve.problem.design != Random()

    def _reaches(self, label: str, error: float) -> float | None:
        curve = self[label]
        if METHODS[curve.method].kind is Kind.LOWER_BOUND:  # exactly, not between the points of the curve
            run = Run(0)
            request = Request(METHODS[curve.method], curve.problem, METHODS[curve.method].Options(), run)
            try:
                return required_size(request, error)
            except GPCurvesError:
                return None
        size = self._longest(label).reaches(error * (1 + 1e-9))
        return None if size is None else self._integer(size)

    def _longest(self, label: str) -> LearningCurve:
        curve = self[label]
        return (
            curve
            if self.further is None or self.further.problem != curve.problem or curve.stderr is None
            else self.further
        )

    def _integer(self, size: float) -> float:
        each = self.problems[0].examples_per_size
        return size if self._per_vertex else math.ceil(size * each - 1e-6) / each

    @property
    def _per_vertex(self) -> bool:
        return self.problems[0].ensemble is not None

    @property
    def _largest(self) -> float:
        return max(float(curve.sizes.max()) for curve in self.values())

    @property
    def _unit(self) -> str:
        return "labels per vertex" if self._per_vertex else "labels" if self.axis == "nu" else "inputs"

    def _count(self, size: float) -> str:
        return f"{size:.3g}" if self._per_vertex else f"{size * self.problems[0].examples_per_size:,.0f}"


def _round_up(error: float) -> float:
    """Return the next number with three digits."""
    digit = 10.0 ** (math.floor(math.log10(error)) - 2) if error > 0 else 1.0
    return float(f"{math.ceil(error / digit - 1e-9) * digit:.3g}")


def compare_designs(
    problem: Problem,
    n: Sizes | None = None,
    designs: Iterable[str | Design] | None = None,
    *,
    nu: Sizes | None = None,
    methods: Iterable[str] | None = None,
    quantity: Any = MSE.name,
    **options: Any,
) -> DesignCurves:
    """Return the simulated learning curves of several designs, with bounds that hold for every choice of inputs.

    Parameters
    ----------
    problem
        The problem, on vectors or on a graph; its own design is ignored.
    n, nu
        Numbers of examples, or on a graph of examples per vertex, as for `learning_curve`.
    designs
        Names or designs to compare; by default "random", "sobol" and "greedy", as far as they apply.
    methods
        Theory to show next to them; by default Plaskota's bound, and on homogeneous inputs "ov".
    quantity : str
        What to compute; by default "mse", the mean squared error against the noise-free function.
    **options
        Those of the simulation, such as ``datasets``, and ``rng``, ``workers``, ``store``, ``progress``.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(dim=1), noise=0.05)
    >>> curves = gpc.compare_designs(problem, n=[5, 10, 20], designs=["random", "greedy"], datasets=50, rng=0)
    >>> curves.saving().design
    'greedy'
    """
    at = sizes_of(problem, n, nu)
    problems = _with_designs(problem, designs)
    given = {name: value for name, value in options.items() if value is not None or name == "workers"}
    run, what = read_run(given), QUANTITIES[quantity].name
    if any(METHODS["simulation"].draws(each) for each in problems.values()):
        run = replace(run, rng=run.seed())
    simulated: dict[str, Request] = {}
    for label, each in problems.items():
        exact = METHODS["grid"].objection(each, at) is None and each.design != Random() and what == MSE.name
        found, _ = request_curves(
            each, at, ["grid" if exact else "simulation"], {} if exact else given, run, quantity=what
        )
        simulated[label] = found[0]
    theory = _theory(list(problems.values()), at, methods, given, run, what)
    curves, _ = compute_curves(theory, at, {}) if theory else (None, [])
    shown = {label: request.curve(at) for label, request in simulated.items()}
    joined = DesignCurves({**shown, **(curves or {})})
    return replace(joined, further=_continue(joined, simulated))


def _with_designs(problem: Problem, designs: Iterable[str | Design] | None) -> dict[str, Problem]:
    """Return a problem with each of several designs, by the names of these."""
    if designs is None:
        return {name: each for name in _USUAL if (each := _try_design(problem, name)) is not None}
    listed = [as_design(each) for each in names_of("designs", designs, Design)]
    names = [each.name or type(each).__name__ for each in listed]
    labels = [name if names.count(name) == 1 else repr(each) for name, each in zip(names, listed, strict=True)]
    if len(set(labels)) < len(labels):
        raise InputError("two designs are equal: give each design once")
    return {label: replace(problem, design=each) for label, each in zip(labels, listed, strict=True)}


def _try_design(problem: Problem, name: str) -> Problem | None:
    try:
        return replace(problem, design=name)  # type: ignore[arg-type]  # a name is accepted for a design
    except InputError:
        return None


def _theory(
    problems: Sequence[Problem],
    at: FloatArray,
    methods: Iterable[str] | None,
    options: Mapping[str, Any],
    run: Run,
    quantity: str,
) -> list[Request]:
    """Return each method for the first design to which it applies; chosen inputs come first, of which bounds hold for all."""
    ordered = sorted(problems, key=lambda each: each.design == Random())
    requests = []
    named: list[Method[Any]] = [
        METHODS[name] for name in (_BOUNDS if methods is None else names_of("methods", methods))
    ]
    for method in named:
        if method.name in ("simulation", "grid"):
            continue  # these are computed for each design
        why = [method.objection(each, at) or method.quantity_objection(each, quantity) for each in ordered]
        fits = ordered[why.index(None)] if None in why else None
        if fits is not None and (methods is not None or fits.design == ordered[0].design):
            taken, _ = method.take_options(fits, options)
            requests.append(Request(method, fits, taken, run, quantity=quantity))
        elif fits is None and methods is not None:
            raise NotApplicableError(f"method {method.name!r} does not apply: {why[0]}")
    return requests


def _continue(curves: DesignCurves, requests: Mapping[str, Request]) -> LearningCurve | None:
    """Return random inputs up to where they are as good as the best choice, if that is beyond the sizes asked for."""
    usual = [label for label, request in requests.items() if request.problem.design == Random()]
    if not curves.comparable:
        return None
    curve = curves[usual[0]]
    last, per = float(curve.sizes.max()), curve.problem.examples_per_size
    best = curves._best
    if last == 0 or curve.reaches(best) is not None:
        return None
    ensemble, found = curve.problem.ensemble is not None, None
    for times in _FURTHER:
        if not ensemble and times * last > max(_MOST / per, _FURTHER[0] * last):
            break
        more = np.geomspace(last, times * last, _POINTS)
        more = more if ensemble else np.unique(np.rint(more * per)) / per
        found = requests[usual[0]].curve(np.unique(np.concatenate((curve.sizes, more))))
        if (reached := found.error <= best).any():
            return _up_to(found, float(found.sizes[reached].min()))
    return found


def _up_to(curve: LearningCurve, last: float) -> LearningCurve:
    """Return the points of a curve up to a size."""
    kept = curve.sizes <= last
    parts: dict[str, Any] = {name: getattr(curve, name)[kept] for name in ("sizes", "error", "stderr")}
    return replace(curve, **parts, details={name: values[kept] for name, values in curve.details.items()})


def chosen_inputs(problem: Problem, n: int, *, known: object = None, rng: Rng = None) -> pd.DataFrame:
    """Return the inputs, or the vertices by name, that the design of a problem chooses, the first choice first.

    Parameters
    ----------
    problem
        With a design, such as ``Problem(..., design="greedy")``; on a given graph, not on an ensemble.
    n
        How many to choose.
    known
        Inputs (or names of vertices) whose labels are known already, for greedy designs.
    rng
        Seed, for designs that are random.

    Returns
    -------
    DataFrame
        A row per choice. The columns are "vertex" or "x1", "x2", …, and "error", the average posterior variance after this label,
        which is missing if a design chooses all inputs at once, and for labels without Gaussian noise.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=2), noise=0.05, design="greedy")
    >>> list(gpc.chosen_inputs(problem, 3, rng=0).columns)
    ['x1', 'x2', 'error']
    """
    count = integer("n", n, 1)
    design = problem.design
    if problem.ensemble is not None:
        raise InputError("an ensemble of graphs has no vertices to choose: give one graph")
    if problem.kernel is None:
        raise InputError("a bare spectrum has no inputs to choose")
    before = _read_known(problem, known)
    if isinstance(design, CandidateDesign):
        chosen = design.draw_after(problem, before, count)
    elif len(before):
        raise InputError(f"known inputs have no effect on {design!r}: use the design greedy or greedy-variance")
    else:
        design.check_count(problem, count)
        chosen = design.draw(problem, count, np.random.default_rng(seed_of(rng)))
    import pandas as pd

    if isinstance(problem.inputs, Vertices):
        graph = problem.inputs.graph
        columns: dict[str, Any] = {"vertex": [graph.label(int(vertex)) for vertex in chosen[:, 0]]}
    else:
        columns = {f"x{axis + 1}": values for axis, values in enumerate(chosen.T)}
    return pd.DataFrame({**columns, "error": _errors_after(problem, before, chosen)})


def _read_known(problem: Problem, known: object) -> FloatArray:
    if known is None:
        return np.empty((0, problem.inputs.dim))
    if isinstance(problem.inputs, Vertices):
        graph = problem.inputs.graph
        if isinstance(known, str) or not isinstance(known, Iterable):
            raise InputError(f"known must be a sequence of names of vertices, got {known!r}")
        return np.array([[float(graph.number(each))] for each in known]).reshape(-1, 1)
    X = points("known", known)
    if X.shape[1] != problem.inputs.dim:
        raise InputError(f"known must have {problem.inputs.dim} columns, one per dimension, got {X.shape[1]}")
    return X


def _errors_after(problem: Problem, known: FloatArray, chosen: FloatArray) -> FloatArray:
    """Return the average posterior variance after each choice."""
    result = np.full(len(chosen), np.nan)
    if problem.observation.gaussian_noise is None:
        return result
    own, inputs = problem.believed, problem.inputs
    test = None if problem.axis == "nu" else exact_test(own)
    average = test or TestPoints(*inputs.nodes(_TEST_NODES))
    X = np.concatenate((known, chosen))
    prior = Prior(problem.kernel, inputs, problem.noise)
    factor = Factor.from_matrix(prior.observe(X))
    curve = errors(prior, None, factor, X, average, inputs.prior_variance(problem.kernel))[len(known) + 1 :]
    if problem.design.nested:
        return curve
    result[-1] = curve[-1]
    return result
