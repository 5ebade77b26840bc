"""What a method is: a way from a problem to its learning curve, with what it promises, when it applies and its options.

A formula is a function of a problem and sizes; the decorator `formula` makes a method of it. A method with options is a
class, entered by the decorator `register`. The command line, ``methods="all"``, the tables of methods and the laws of the
test suite read the one registry, `METHODS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from inspect import cleandoc
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from gpcurves.curve import LearningCurve
from gpcurves.curve import MethodName as MethodName
from gpcurves.designs import Random
from gpcurves.errors import GPCurvesError, InputError, NotApplicableError, NumericalError, TooLargeError, check_name
from gpcurves.methods.conditions import needs_kernel as needs_kernel
from gpcurves.methods.conditions import needs_noise as needs_noise
from gpcurves.methods.converting import measure
from gpcurves.methods.parts import CurveInterrupted as CurveInterrupted
from gpcurves.methods.parts import Kind as Kind
from gpcurves.methods.parts import MethodOptions as MethodOptions
from gpcurves.methods.parts import Result as Result
from gpcurves.methods.parts import Scope as Scope
from gpcurves.montecarlo import Run
from gpcurves.numerics import validation
from gpcurves.numerics.display import Listed, html_table
from gpcurves.numerics.parameters import parameters_of
from gpcurves.numerics.validation import FloatArray, Sizes
from gpcurves.problem import Problem, as_problem
from gpcurves.quantities import MSE, QUANTITIES

State = TypeVar("State")
Condition = Callable[[Problem], str | None]
"""Returns why a problem does not meet a condition of a method, or None if it does."""
Function = Callable[[Problem, FloatArray], FloatArray]
Measured = Callable[[Problem, FloatArray, FloatArray], FloatArray]
"""Takes a problem, sizes and the mean squared errors there by some formula; returns another quantity at these sizes."""


class Method(Listed, ABC, Generic[State]):
    """A way to compute a learning curve: what it promises, when it applies, and how it is computed."""

    name: str  # short name for code and command line
    title: str  # name in words
    kind: Kind
    scope: Scope = Scope.AVERAGE
    promise: str  # what may be relied on, in one sentence
    source: str  # paper and equation
    needs: str = ""  # the conditions in words
    conditions: tuple[Condition, ...] = ()  # what a problem must meet
    axes: tuple[str, ...] = ("n",)  # what sizes it takes: "n" for vectors, "nu" for vertices of graphs
    second: str | None = None  # option that is a second axis, without which "all" leaves the method out
    integers: bool = False  # whether n must be integers
    quantities: Collection[str] = (MSE.name,)  # what it can give, by name; see `gpcurves.quantities`
    misspecified: bool = False  # whether the data may come from another process than the model assumes (a teacher)
    any_labels: bool = False  # whether labels may be of any kind (an `Observation` without Gaussian noise)
    uneven: bool = False  # whether noise, labelling and test inputs may differ from place to place
    compound: type[Any] | None = None  # the kind of compound labels that it is made for; None for single values
    random: bool = False  # whether numbers depend on a seed, so that it takes rng, workers, store and progress
    special: bool = False  # whether it is for one kind of problem, so that "all" leaves it out of others without a word
    default: bool = False  # whether it answers goals for all problems along its axes
    costly: bool = False  # whether every size takes long, so that a search tries few
    optimistic: bool = False  # whether it expects too few examples if noise is low, as eigenvalues of graphs do
    aside: Callable[[Problem], bool] = staticmethod(lambda problem: False)  # whether "all" leaves it out without a word
    every_design: Callable[[Problem, str | None], bool] = staticmethod(lambda problem, quantity: False)
    """Whether a quantity (or any, for None) of a method that is about averages holds for chosen inputs of a problem as well."""
    explicit: Callable[[Problem, float], float] | None = None  # returns the examples at an error, if that is simple
    Options: ClassVar[type[MethodOptions]] = MethodOptions

    def __repr__(self) -> str:
        return f"<Method {self.name!r}, {self.title}: {self.relation}>"

    @property
    def relation(self) -> str:
        """What the method is in relation to the truth, such as "lower bound of the average error"."""
        return f"{'exact value' if self.kind is Kind.EXACT else self.kind.value} of {self.scope.value}"

    def _properties(self) -> list[tuple[str, object]]:
        rows = [
            ("name", self.name),
            ("what it is", f"{self.title}: {self.relation}"),
            ("guarantee", self.promise),
            ("needs", self.needs),
        ]
        options = ", ".join(each.name for each in parameters_of(self.Options))
        return [row for row in (*rows, ("options", options), ("source", self.source)) if row[1]]

    def objection(self, problem: Problem, sizes: FloatArray | None = None) -> str | None:
        """Say why this method does not apply, or return None if it does."""
        if (reason := problem.observation.mismatch(self.compound)) is not None:
            return reason
        if problem.axis not in self.axes:
            graphs = "nu" in self.axes
            return "it is for graphs only" if graphs else "it is not for graphs"
        if not self.uneven and (reason := problem.uneven) is not None:
            return reason
        if problem.observation.gaussian_noise is None and not (self.any_labels or problem.observation.uneven):
            return f"it needs Gaussian noise, but labels are {problem.observation!r}"
        if problem.teacher is not None and not self.misspecified:
            return "the model must be well specified, but here the teacher differs from it"
        labelled = problem.observation.gaussian_noise is None and not problem.observation.uneven
        if problem.teacher is not None and labelled and self.kind is not Kind.ESTIMATE:
            return f"for a misspecified model it needs Gaussian noise, but labels are {problem.observation!r}"
        if (reason := self._design_objection(problem, None)) is not None:
            return reason
        for condition in self.conditions:
            if (reason := condition(problem)) is not None:
                return reason
        if sizes is not None and self.integers and problem.axis == "n":
            broken = sizes[sizes != np.floor(sizes)]
            if len(broken):
                return f"n must be integers, got {broken[0]:g}"
        return None

    def _design_objection(self, problem: Problem, quantity: str | None) -> str | None:
        usual = problem.design == Random() or self.scope is Scope.EVERY_DATASET or self.kind is Kind.ESTIMATE
        if usual or self.every_design(problem, quantity):
            return None
        return f"inputs must be drawn at random, but here they are chosen by {problem.design!r}"

    def quantity_objection(self, problem: Problem, quantity: str) -> str | None:
        """Say why this method does not give a quantity of a problem, or return None if it does."""
        if (reason := self._design_objection(problem, quantity)) is not None:
            return reason
        if quantity not in self.quantities and QUANTITIES[quantity].of_error is None:
            return f"it computes {', '.join(self.quantities)} only, not {quantity}"
        reason = QUANTITIES[quantity].condition(problem)
        return None if reason is None else f"of the quantity {quantity}: {reason}"

    def draws(self, problem: Problem) -> bool:
        """Tell whether the numbers for this problem are random, so that they depend on a seed."""
        return self.random

    def answers(self, problem: Problem) -> bool:
        """Tell whether this method answers best how many examples an error needs; of each problem one does."""
        return self.default

    def spare(self, problem: Problem) -> str | None:
        """Say why a method that applies is not among "all", or return None if it is; an empty text needs no words.

        A simulation takes long, so that it is asked for, unless little theory applies.
        """
        usual = problem.teacher is None and problem.design == Random() and problem.uneven is None
        return "" if self.kind is Kind.ESTIMATE and usual and not self.answers(problem) else None

    def option_names(self) -> set[str]:
        return {each.name for each in fields(self.Options)}

    def take_options(
        self, problem: Problem, given: Mapping[str, Any], kind: type[MethodOptions] | None = None
    ) -> tuple[MethodOptions, dict[str, str]]:
        """Return those options that the method has and that belong to the problem, and why others of its own do not.

        They are a ``kind`` of options, that of learning curves unless given.
        """
        kind = kind or self.Options
        own = {each.name: given[each.name] for each in fields(kind) if each.name in given}
        options = kind(**own)
        if (reason := options.objection(problem, own)) is None:
            return options, {}
        refused = {name: why for name in own if (why := options.objection(problem, (name,))) is not None}
        if not refused:  # it is about several options together
            raise InputError(reason)
        return kind(**{name: value for name, value in own.items() if name not in refused}), refused

    def check(
        self,
        problem: Problem,
        sizes: FloatArray,
        options: Mapping[str, Any],
        kind: type[MethodOptions] | None = None,
        quantity: str = MSE.name,
    ) -> MethodOptions:
        """Return the options as their dataclass (``kind`` if given), or raise if the method or an option does not apply."""
        self.refuse(self.objection(problem, sizes) or self.quantity_objection(problem, quantity))
        known = {each.name for each in fields(kind or self.Options)}
        for name in options:
            if name not in known:
                why = "" if known else ": it is deterministic"
                raise InputError(f"method {self.name!r} takes no option {name!r}{why}")
        checked, refused = self.take_options(problem, options, kind)
        for reason in refused.values():
            raise InputError(reason)
        return checked

    def check_request(self, options: Any, sizes: FloatArray) -> None:
        """Raise if options and sizes that were asked for do not go together."""

    def refuse(self, reason: str | None) -> None:
        """Raise if there is an objection to a problem."""
        if reason is not None:
            raise NotApplicableError(f"method {self.name!r} does not apply: {reason}")

    @abstractmethod
    def prepare(self, problem: Problem, options: Any, run: Run) -> State:
        """Do once what all sizes share: a spectrum, a factor, a description of the experiment."""

    @abstractmethod
    def evaluate(self, state: State, sizes: FloatArray) -> Result:
        """Return the errors at these sizes."""

    def measure(self, state: State, sizes: FloatArray, quantity: str) -> Result:
        """Return one of ``quantities`` at these sizes; a method that has more than errors overrides this."""
        return self.evaluate(state, sizes)

    def curve(
        self, problem: Problem, sizes: Sizes, run: Run | None = None, quantity: str = MSE.name, **options: Any
    ) -> LearningCurve:
        """Return the learning curve, or raise if the method or an option does not apply."""
        at = validation.sizes(as_problem(problem).axis, sizes)
        checked = self.check(problem, at, options, quantity=quantity)
        return Request(self, problem, checked, run or Run(0), quantity=quantity).curve(at)

    def __call__(self, problem: Problem, sizes: Sizes, **options: Any) -> FloatArray:
        """Return the error at each size, or raise if the method does not apply. Random methods use the seed 0."""
        return self.curve(problem, sizes, **options).error


@dataclass(frozen=True, eq=False)
class Request:
    """A method, a problem to which it applies and options that were checked: all that a curve needs but the sizes.

    The method is prepared once, when the first curve is asked for; all curves share its state and its seed.
    """

    method: Method[Any]
    problem: Problem
    options: MethodOptions
    run: Run
    optional: bool = False  # whether it is one of "all" methods, so that others are computed without it if it fails
    quantity: str = MSE.name

    def spares(self, error: GPCurvesError) -> bool:
        """Tell whether other methods are computed after this error: what was drawn at random is not thrown away in silence."""
        if not self.optional:
            return False
        return isinstance(error, TooLargeError) or not self.method.draws(self.problem)

    def __post_init__(self) -> None:
        if self.method.random:  # a new seed is drawn once, and recorded
            object.__setattr__(self, "run", replace(self.run, rng=self.run.seed()))

    @property
    def draws(self) -> bool:
        """Whether numbers are random."""
        return self.method.draws(self.problem)

    @cached_property
    def state(self) -> Any:
        """What all sizes share."""
        return self.method.prepare(self.problem, self.options, self.run)

    def curve(self, sizes: FloatArray) -> LearningCurve:
        """Return the learning curve at these sizes."""
        method, problem = self.method, self.problem
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what is not finite is found below
                result = measure(method, self.state, problem, sizes, self.quantity)
        except (OverflowError, ZeroDivisionError) as error:  # of Python's numbers; those of NumPy become infinite
            raise NumericalError(f"method {method.name!r} leaves the range of double precision") from error
        names = [each.name for each in fields(Result) if each.name not in ("interrupted", "sizes")]
        about: dict[str, Any] = {each: getattr(result, each) for each in names}
        seed = self.run.seed() if method.random and result.stderr is not None else None
        name = cast(MethodName, str(method.name))
        sizes = sizes if result.sizes is None else result.sizes
        options = self.options.to_dict()
        if self.quantity != MSE.name:  # so that the options reproduce the curve
            options["quantity"] = self.quantity
        about |= {"options": options, "rng": seed, "quantity": self.quantity}
        curve = LearningCurve(name, sizes, problem=problem, **about)
        if result.interrupted:
            raise CurveInterrupted(curve)
        bad = np.isinf(result.error) if method.random else ~np.isfinite(result.error)
        for values in (result.stderr, result.spectrum_error, *result.details.values()):
            bad = bad if values is None else bad | np.isinf(values)
        if bad.any():
            raise NumericalError(
                f"method {method.name!r} gave a value that is not finite at {problem.axis} = {sizes[bad][0]:g}"
            )
        return curve


class Formula(Method[tuple[Problem, Problem | None]]):
    """A method given by one function; ``function`` is that function, the rest is as for every `Method`.

    ``measures`` are functions that make other quantities of the errors, by name; `gives` adds one.
    """

    # returns a note, if there is one
    caution: Callable[[Problem, FloatArray], str | None] = staticmethod(lambda problem, sizes: None)
    negative = "the formula gives a negative error at n = {:g}: it is meaningless there"  # a note on such values

    def __init__(self, function: Function, spectral: bool, **about: Any) -> None:
        self.function = function
        self.measures: dict[str, Measured] = {}
        self.spectral = spectral
        if unknown := [name for name in about if not hasattr(Formula, name) and name not in Method.__annotations__]:
            raise TypeError(f"a method has no attribute {unknown[0]}")
        for name, value in about.items():
            setattr(self, name, value)

    def prepare(self, problem: Problem, options: MethodOptions, run: Run) -> tuple[Problem, Problem | None]:
        """Return the problem, and the same with a coarser spectrum if the spectrum is used and numerical."""
        return problem, problem.coarser() if self.spectral else None

    @property
    def quantities(self) -> Collection[str]:  # type: ignore[override]  # grows as files add quantities
        return (MSE.name, *self.measures)

    def compute(self, problem: Problem, sizes: FloatArray, quantity: str = MSE.name) -> FloatArray:
        """Return a quantity at these sizes."""
        error = self.function(problem, sizes)
        return error if quantity == MSE.name else self.measures[quantity](problem, sizes, error)

    def evaluate(self, state: tuple[Problem, Problem | None], sizes: FloatArray) -> Result:
        return self.measure(state, sizes, MSE.name)

    def measure(self, state: tuple[Problem, Problem | None], sizes: FloatArray, quantity: str) -> Result:
        """Evaluate the function, and once more on the coarser spectrum."""
        problem, coarser = state
        error = self.compute(problem, sizes, quantity)
        if not self.spectral:
            return Result(error)
        notes, uncertainty = [], None
        if coarser is not None and not QUANTITIES[quantity].falls:
            uncertainty = abs(self.compute(coarser, sizes, quantity) - error)
        elif coarser is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                relative = np.where(error > 0, abs(self.compute(coarser, sizes, quantity) / error - 1), 0.0)
            order = np.argsort(sizes)  # the difference may cross zero by chance: it never gets smaller with n
            relative[order] = np.maximum.accumulate(relative[order])
            uncertainty = relative * error
            if (worst := float(relative.max())) > 1e-4:
                origin = problem.spectrum.origin
                notes.append(f"the spectrum is {origin}: the curve is uncertain by up to {100 * worst:.2g} %")
        if (doubt := self.caution(problem, sizes)) is not None:
            notes.append(doubt)
        if not QUANTITIES[quantity].falls:
            return Result(error, spectrum_error=uncertainty, notes=tuple(notes))
        resolution = problem.spectrum.resolution
        noisy = problem.observation.gaussian_noise is not None and problem.noise >= resolution
        if (lost := (error < resolution) & (sizes > 0)).any() and not noisy:
            notes.append(f"errors from n = {sizes[lost].min():g} on are below the resolution of the numerical spectrum")
        if (error < 0).any():
            notes.append(self.negative.format(sizes[error < 0][0]))
        return Result(error, spectrum_error=uncertainty, notes=tuple(notes))


class Registry(dict[MethodName, Method[Any]]):
    """Methods by name, in the order in which they were defined; an unknown name is an error with a suggestion.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> gpc.METHODS["lc"].title
    'Lower Continuous'
    """

    def add(self, method: Method[Any]) -> None:
        """Enter a method."""
        assert method.name not in self, f"two methods are called {method.name!r}"
        self[cast(MethodName, str(method.name))] = method

    def __getitem__(self, name: str | Method[Any]) -> Method[Any]:
        if isinstance(name, Method):
            if name not in self.values():
                raise InputError(f"method {name.name!r} is not registered: decorate its class with register")
            return name
        return super().__getitem__(check_name("method", name, self))

    def __repr__(self) -> str:
        lines = [f"  {name:<22} {method.title}: {method.kind.value}" for name, method in self.items()]
        return "\n".join([f"{len(self)} methods:", *lines])

    def _repr_html_(self) -> str:
        rows = [(name, each.title, each.kind.value, each.scope.value, each.promise) for name, each in self.items()]
        return html_table(rows, ("method", "title", "kind", "of", "guarantee"))


METHODS = Registry()
Kept = TypeVar("Kept", bound=type[Method[Any]])


def register(kind: Kept) -> Kept:
    """Enter a method with options of its own: decorates its class. The docstrings of its options list them."""
    for each in vars(kind).values():
        if isinstance(each, type) and issubclass(each, MethodOptions) and "Parameters\n" not in str(each.__doc__):
            listed = "".join(f"{one.name}\n    {one.help}.\n" for one in parameters_of(each))
            each.__doc__ = f"{cleandoc(str(each.__doc__))}\n\nParameters\n----------\n{listed}"
    METHODS.add(kind())
    return kind


def formula(
    name: str, title: str, kind: Kind, *, axes: tuple[str, ...] = ("n",), spectral: bool = True, **about: Any
) -> Callable[[Function], Function]:
    """Enter a function of a problem and sizes into the registry of methods.

    ``about`` are further attributes of `Formula`: promise, source, scope, needs, conditions, integers. ``spectral`` says whether
    the function uses the spectrum of the problem, so that the error of a numerical spectrum can be estimated from a coarser one.
    """

    def enter(function: Function) -> Function:
        METHODS.add(Formula(function, spectral and "n" in axes, name=name, title=title, kind=kind, axes=axes, **about))
        return function

    return enter


def gives(quantity: str, *names: str) -> Callable[[Measured], Measured]:
    """Let formulas that are registered give another quantity; decorates a function of a problem, sizes and their errors."""

    def enter(function: Measured) -> Measured:
        for name in names:
            method = METHODS[name]
            assert isinstance(method, Formula)
            method.measures[QUANTITIES[quantity].name] = function
        return function

    return enter
