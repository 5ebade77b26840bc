"""What every figure of the papers shares: the list of figures, the sheet to draw on, and the claims to check."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gpcurves.api import with_parameter
from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import InputError, check_name
from gpcurves.problem import Problem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
WIDTH, SMALL = 9.0, 8.5  # inches of every figure, so that letters have one size on a page; the size of small ones
DASH, DOT = (0, (5, 2)), (0, (1, 1.5))
Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Claim:
    """One statement of a paper about a figure, checked against our numbers."""

    text: str
    expected: str  # what the paper says, formatted
    found: str  # what we find, formatted
    holds: bool  # whether it agrees with the paper, or if that is wrong with the correction
    note: str = ""  # if the paper is wrong: what it says, and the correction


def check(
    text: str,
    value: float,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    expected: str = "",
    note: str = "",
) -> Claim:
    """Return the claim that a number is at least or at most another, or between two.

    ``expected`` is what the paper says in its words; the limits if empty.
    """
    low, high = (None if limit is None else f"{limit:.3g}" for limit in (at_least, at_most))
    limits = f"at most {high}" if low is None else f"at least {low}" if high is None else f"{low} to {high}"
    if low == high:
        limits = f"{low}"
    holds = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    return Claim(text, f"{expected} ({limits})" if expected else limits, f"{value:.3g}", bool(holds), note)


@dataclass(frozen=True)
class Drawn:
    """A figure that was drawn: the picture, the numbers behind it and the claims about it."""

    figure: Figure
    table: pd.DataFrame
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Quality:
    """The computational effort for a figure, with the options of a simulation."""

    quick: bool = False  # fewer data sets will do
    workers: int | str = 1
    store: Path | None = None
    progress: bool = False
    changes: tuple[tuple[str, Any], ...] = ()  # parameters of problems, and their values instead of the paper's

    def change(self, problem: Problem, but: str = "") -> Problem:
        """Return a problem with the parameters that are changed, all but one."""
        for name, value in self.changes:
            if name == but:
                continue
            changed = with_parameter(problem, name, value)
            if changed is None:
                raise InputError(f"{name} is no parameter of {problem!r}")
            problem = changed
        return problem

    def claims(self, check_them: Callable[[], list[Claim]]) -> list[Claim]:
        """Return what the text says, checked; nothing if parameters are not the paper's, about which it says nothing."""
        return [] if self.changes else check_them()

    def choose(self, full: Choice, quick: Choice) -> Choice:
        """Return the first for publication, the second when it has to be quick."""
        return quick if self.quick else full

    @property
    def running(self) -> dict[str, Any]:
        """The options of a simulation that say how it is run: pass them as ``**quality.running``."""
        return {"workers": self.workers, "store": self.store, "progress": self.progress}


Figuring = Callable[[Quality], Drawn]


@dataclass(frozen=True)
class Entry:
    """One figure of a paper: what it shows, and the function that draws it."""

    name: str
    paper: str
    number: str
    title: str
    caption: str
    function: Figuring
    takes_changes: bool = False  # whether parameters of its problems may have other values

    @property
    def code(self) -> str:
        """The function that draws the figure, without its decorator and its docstring."""
        source = textwrap.dedent(inspect.getsource(self.function))
        (function,) = ast.parse(source).body
        assert isinstance(function, ast.FunctionDef)
        docstring, lines = function.body[0], source.splitlines(keepends=True)
        return "".join(lines[function.lineno - 1 : docstring.lineno - 1] + lines[docstring.end_lineno :])


FIGURES: dict[str, Entry] = {}  # all figures by name, in the order of the papers


def figure_of(
    paper: str, prefix: str, number: str, title: str, caption: str = "", *, takes_changes: bool = False
) -> Callable[[Figuring], Figuring]:
    """Enter a function into the list as a figure of a paper; its docstring is the caption, unless that is given too."""

    def enter(function: Figuring) -> Figuring:
        text, name = caption or " ".join(str(function.__doc__).split()), f"{prefix}-{number}"
        FIGURES[name] = Entry(name, paper, number, title, text, function, takes_changes)
        return function

    return enter


def draw(name: str, **quality: Any) -> Drawn:
    """Draw one figure of the papers, a key of ``FIGURES``, and check what the text says; keywords are those of `Quality`."""
    return FIGURES[check_name("figure", name, FIGURES)].function(Quality(**quality))


def figure(name: str, *, quick: bool = True, **changes: Any) -> Drawn:
    """Draw one figure of the papers, optionally with other parameters.

    Claims of the paper are checked only with the paper's parameters. These figures accept changes: all of Sollich (1999),
    Figures 3 to 7 and 9 of Sollich and Halees (2002), Figures 3 and 5 of Urry and Sollich (2013).

    Parameters
    ----------
    name
        A key of ``FIGURES``, such as "sollich2002-4"; ``gpcurves figures`` lists them.
    quick
        Use fewer data sets: a noisier picture in a fraction of the time.
    **changes
        Parameters of every problem in the figure, such as ``noise``, ``lengthscale``, ``dim``, or ``kernel`` as a whole; on
        graphs ``noise`` (one level, or a tuple of them), ``p`` and ``a``.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> drawn = gpc.papers.figure("sollich1999-1b", noise=0.01, lengthscale=0.2)
    >>> sorted(set(drawn.table["curve"]))
    ['d', 'lc', 'lo', 'mw', 'simulation', 'uc', 'uo', 'wv']
    """
    entry = FIGURES[check_name("figure", name, FIGURES)]
    if changes and not entry.takes_changes:
        possible = ", ".join(each for each, one in FIGURES.items() if one.takes_changes)
        raise InputError(f"{name} has fixed parameters; figures that take changes are {possible}")
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in changes.items()}
    return entry.function(Quality(quick=quick, changes=tuple(given.items())))


class Sheet:
    """Rows and columns of panels on a page of fixed width, which remember the numbers behind every line."""

    def __init__(self, rows: int = 1, columns: int = 1, height: float | None = None) -> None:
        from matplotlib.figure import Figure

        each = (4.6 if columns == 1 else 3.7) if height is None else height
        self.figure = Figure(figsize=(WIDTH, each * rows), layout="constrained")
        self.panels = [Panel(self.figure.add_subplot(rows, columns, number + 1)) for number in range(rows * columns)]

    def legend(self, panels: Sequence[Panel] = (), columns: int = 4, **options: Any) -> None:
        """Say below all panels what the lines in them mean, those of a label once; all panels unless some are given."""
        found: dict[str, Any] = {}
        for panel in panels or self.panels:
            handles, labels = panel.axes.get_legend_handles_labels()
            if panel.axes.get_legend() is not None:  # of curves, which have one of their own
                panel.axes.get_legend().remove()
            found |= {label: handle for label, handle in zip(labels, handles, strict=True) if label not in found}
        look = {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": SMALL}
        self.figure.legend(**({"handles": list(found.values()), "labels": list(found)} | look | options))

    def finish(self, claims: Sequence[Claim]) -> Drawn:
        """Return the figure with the table of what was drawn."""
        import pandas as pd

        panels = [each for panel in self.panels for each in (panel, *panel.insets)]
        parts = [part.assign(panel=str(panel.axes.get_title())) for panel in panels for part in panel.parts]
        table = pd.concat(parts, ignore_index=True)[["panel", "curve", "x", "y", "stderr"]]
        return Drawn(self.figure, table, tuple(claims))


class Panel:
    """Matplotlib's axes, which remember what was drawn on them."""

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        self.parts: list[pd.DataFrame] = []
        self.insets: list[Panel] = []
        axes.grid(True, which="major", color="#e4e4e4", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=9)

    def setup(self, title: str = "", x: str = "$n$", y: str = r"$\epsilon$", **settings: Any) -> None:
        """Set title, labels and whatever matplotlib's ``axes.set`` takes, such as ``yscale="log"``."""
        self.axes.set(xlabel=x, ylabel=y, **settings)
        self.axes.set_title(title, fontsize=10)

    def line(self, label: str, x: Any, y: Any, stderr: Any = None, **style: Any) -> None:
        """Draw a line, with a band of one standard error if there is one, and remember it."""
        at, value = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        (line,) = self.axes.plot(at, value, label=label, **style)
        if stderr is not None:
            edges = (value - stderr, value + stderr)
            self.axes.fill_between(at, *edges, color=line.get_color(), alpha=0.25, linewidth=0)
        self.remember(label, at, value, stderr)

    def curve(self, label: str, curve: LearningCurve, **style: Any) -> None:
        """Draw a learning curve and remember it."""
        self.line(label, curve.sizes, curve.error, curve.stderr, **style)

    def curves(self, curves: CurveSet, title: str) -> None:
        """Draw learning curves of one problem as `CurveSet.plot` does, and remember them."""
        curves.plot(self.axes, title=title)
        for name, curve in curves.items():
            self.remember(name, curve.sizes, curve.error, curve.stderr)

    def name(self, text: str, x: float, y: float, colour: str = "#444444", **look: Any) -> None:
        """Write beside a line what it is."""
        place = {"xytext": (4, 3), "textcoords": "offset points", "color": colour, "fontsize": SMALL}
        self.axes.annotate(text, (x, y), **(place | look))

    def picture(self, label: str, points: Any, values: Any) -> None:
        """Draw values on a square grid of points as colours, and remember them by the number of the point."""
        x, y = np.moveaxis(np.reshape(points, (*values.shape, 2)), -1, 0)
        shown = self.axes.pcolormesh(x, y, values, cmap="viridis", rasterized=True)
        self.axes.figure.colorbar(shown, ax=self.axes, shrink=0.8)
        self.axes.set_aspect("equal")
        self.axes.grid(False)
        self.remember(label, np.arange(values.size), values.ravel())

    def remember(self, label: str, x: Any, y: Any, stderr: Any = None) -> None:
        """Put numbers into the table that were drawn by other means."""
        import pandas as pd

        columns = {"curve": label, "x": x, "y": y, "stderr": np.nan if stderr is None else stderr}
        self.parts.append(pd.DataFrame(columns))

    def inset(self, bounds: tuple[float, float, float, float], title: str = "inset") -> Panel:
        """Return smaller axes inside these: left, bottom, width and height as fractions."""
        inner = Panel(self.axes.inset_axes(bounds))
        inner.axes.set_title(title, fontsize=SMALL)
        inner.axes.tick_params(labelsize=8)
        self.insets.append(inner)
        return inner

    def legend(self, **options: Any) -> None:
        """Show what the lines mean."""
        self.axes.legend(**{"frameon": False, "fontsize": SMALL, "loc": "upper right"} | options)
