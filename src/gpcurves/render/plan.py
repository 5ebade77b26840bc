"""A forecast as a picture, a table, data or a page."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.forecasting import Forecast, RequiredN
from gpcurves.forecasting.verdict import rounded
from gpcurves.numerics.files import write_complete
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.picture import Display, new_axes
from gpcurves.render.save import check_output

ESTIMATE, BAND, CHOSEN, POWER, SEEN, GOAL, NOISE = (
    "#0072B2",
    "#cfe3f1",
    "#009E73",
    "#8c8c8c",
    "#000000",
    "#D55E00",
    "#7a4f9a",
)
_STEPS = ((0.5, (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)), (1.2, (1, 2, 3, 5, 7)), (2.2, (1, 2, 5)), (np.inf, (1,)))
"""Marks on an axis that spans so many decades."""
_LONGEST_NAME = 40
_FURTHEST = 200
"""A picture reaches to this multiple of the rows, if a goal is as far away."""


@dataclass(frozen=True)
class Outlook:
    """What pictures of a forecast show, from the smallest cross-validated size to well beyond the rows there are.

    Attributes
    ----------
    n
        Numbers of rows along the curves.
    rmse, low, high
        The estimate and its 90 % interval.
    chosen_n, chosen
        The estimate where further inputs are chosen, from the rows there are on.
    power
        The power law through the cross-validated errors.
    needed
        The rows that the goal needs; None without a goal.
    """

    forecast: Forecast
    goal: float | None
    n: FloatArray
    rmse: FloatArray
    low: FloatArray
    high: FloatArray
    chosen_n: FloatArray
    chosen: FloatArray
    power: FloatArray
    needed: RequiredN | None

    @classmethod
    def of(cls, forecast: Forecast, goal: float | None) -> Outlook:
        needed = None if goal is None else forecast.required_n(goal)
        furthest = 16 * forecast.rows
        if needed is not None:
            marks = [mark for mark in (needed.estimate, needed.high, needed.assured) if mark is not None]
            furthest = int(min(max([furthest, *(1.5 * mark for mark in marks)]), _FURTHEST * forecast.rows))
        n = np.unique(np.geomspace(forecast.cross_validation.n[0], furthest, 120).round())
        table = forecast.at(n)
        later = n[n >= forecast.rows]
        return cls(
            forecast,
            goal,
            n,
            table["rmse"].to_numpy(),
            table["low"].to_numpy(),
            table["high"].to_numpy(),
            later,
            forecast.designed(later)["rmse"].to_numpy(),
            np.sqrt(forecast.power_law(n)),
            needed,
        )

    @property
    def limits(self) -> tuple[float, float]:
        """The range of errors to show."""
        seen = np.sqrt(self.forecast.cross_validation.mse)
        low = max(min(float(self.low.min()), float(seen.min())), float(self.high.max()) / 1e4)
        high = max(float(self.high.max()), float(seen.max()))
        if self.goal is not None:  # a goal far away is not worth a picture of nothing else
            low, high = min(low, max(self.goal, low / 10)), max(high, min(self.goal, high * 10))
        return low / 1.15, high * 1.15

    @property
    def out_of_sight(self) -> str:
        """Where a goal is that the picture does not show."""
        low, high = self.limits
        if self.goal is None or low < self.goal < high:
            return ""
        return f"the goal of {self.goal:.4g} is far {'below' if self.goal <= low else 'above'} this picture"

    @property
    def seen_bars(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cross-validated errors and how far their standard errors reach below and above."""
        seen = self.forecast.cross_validation
        rmse = np.sqrt(seen.mse)
        return rmse, rmse * (1 - np.exp(-seen.stderr / 2)), rmse * (np.exp(seen.stderr / 2) - 1)


def plot(forecast: Forecast, goal: float | None = None, ax: Any = None) -> Display:
    """Draw a forecast with its band, what cross-validation shows, the power law for comparison, and a goal."""
    ax = new_axes(ax, (9, 5.4))
    shown = Outlook.of(forecast, goal)
    ax.fill_between(shown.n, shown.low, shown.high, color=BAND, linewidth=0, label="90 % interval")
    lines: dict[str, Any] = {}
    (lines["forecast"],) = ax.plot(shown.n, shown.rmse, color=ESTIMATE, linewidth=2.4, label="forecast", zorder=4)
    (lines["chosen"],) = ax.plot(
        shown.chosen_n, shown.chosen, color=CHOSEN, linestyle=(0, (5, 2)), label="with chosen inputs", zorder=3
    )
    (lines["power law"],) = ax.plot(
        shown.n, shown.power, color=POWER, linestyle=":", label="power law, for comparison", zorder=2
    )
    rmse, below, above = shown.seen_bars
    lines["cross-validation"] = ax.errorbar(
        forecast.cross_validation.n,
        rmse,
        (below, above),
        fmt="o",
        color=SEEN,
        markersize=4,
        linewidth=1,
        label="cross-validation, ± standard error",
        zorder=5,
    )
    ax.set(xscale="log", yscale="log", xlim=(shown.n[0] / 1.05, shown.n[-1] * 1.05), ylim=shown.limits)
    ax.axvline(forecast.rows, color="#bbbbbb", linewidth=1, zorder=1)
    ax.annotate(
        f"{forecast.rows:,} rows now",
        (forecast.rows, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=8,
        color="#555555",
    )
    if shown.limits[0] < forecast.noise_rmse < shown.limits[1] and not forecast.deterministic:
        lines["noise"] = ax.axhline(
            forecast.noise_rmse, color=NOISE, linewidth=1, linestyle="-.", label="what noise leaves", zorder=1
        )
    if goal is not None and shown.out_of_sight:
        y, along = (0.02, "bottom") if goal < shown.limits[0] else (0.98, "top")
        ax.text(0.01, y, shown.out_of_sight, color=GOAL, fontsize=9, va=along, transform=ax.transAxes)
    elif goal is not None:
        lines["goal"] = ax.axhline(goal, color=GOAL, linewidth=1.4, label=f"goal {goal:.4g}", zorder=3)
        _mark_needed(ax, goal, shown)
    _plain_ticks(ax, shown)
    ax.set_xlabel("rows with a target")
    target = shortened(forecast.target).replace("$", r"\$")  # a pair of them would be a formula
    ax.set_ylabel(f"RMSE of {target}, on new rows")
    ax.set_title(forecast.verdict(goal).label, fontsize=12, fontweight="bold", loc="left")
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(fontsize=8, frameon=False, loc="upper right")
    return Display(ax, ax.figure, lines)


@dataclass(frozen=True)
class ForecastDisplay(Display):
    """A forecast that was drawn."""

    forecast_: Forecast

    def plot(self, ax: Any = None, goal: float | None = None) -> ForecastDisplay:
        """Draw it once more."""
        return display(self.forecast_, goal, ax)


def display(forecast: Forecast, goal: float | None = None, ax: Any = None) -> ForecastDisplay:
    """Draw a forecast and keep it with the picture."""
    shown = plot(forecast, goal, ax)
    return ForecastDisplay(shown.ax_, shown.figure_, shown.lines_, forecast)


def _mark_needed(ax: Any, goal: float, shown: Outlook) -> None:
    needed = shown.needed
    if needed is None or needed.low is None:
        return
    high = needed.high or shown.n[-1] * 1.05
    ax.plot([needed.low, min(high, shown.n[-1] * 1.05)], [goal, goal], color=GOAL, linewidth=5, alpha=0.35, zorder=3)
    if needed.estimate is not None:
        ax.plot([needed.estimate], [goal], "D", color=GOAL, markersize=7, zorder=6)
        ax.annotate(
            f"about {rounded(needed.estimate)} rows",
            (needed.estimate, goal),
            xytext=(0, 10),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=GOAL,
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1},
            zorder=6,
        )


def _plain_ticks(ax: Any, shown: Outlook) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    for axis, (low, high) in ((ax.xaxis, (shown.n[0], shown.n[-1])), (ax.yaxis, shown.limits)):
        axis.set_major_locator(FixedLocator(round_numbers(low, high)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())


def shortened(name: str) -> str:
    """Return a name on one line that fits beside a picture."""
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"


def round_numbers(low: float, high: float) -> list[float]:
    """Return values 1, 2, 5, 10, … within limits, with fewer per decade where there are many decades."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    span = np.log10(high / low)
    steps = next(steps for most, steps in _STEPS if span < most)
    return [
        float(f"{step}e{decade}") for decade in decades for step in steps if low <= float(f"{step}e{decade}") <= high
    ]


def save(forecast: Forecast, path: str | Path, n: object = None, goal: float | None = None) -> None:
    """Write a forecast in the format that the suffix names, completely or not at all."""
    target = Path(path)
    check_output(target)
    write_complete(target, render(target.suffix.lower(), forecast, n, goal))


def check_report(path: Path) -> None:
    """Refuse a report that cannot be written before anything is computed."""
    if path.suffix.lower() != ".html":
        raise InputError(f"--report writes a page: its name must end with .html, got {path}")
    for each in report_files(path):
        check_output(each)


def report_files(path: Path) -> tuple[Path, Path, Path]:
    """Return the page, the picture and the data that a report consists of."""
    return path, path.with_suffix(".png"), path.with_suffix(".json")


def render(suffix: str, forecast: Forecast, n: object, goal: float | None) -> bytes:
    """Return a forecast in one of the formats."""
    if suffix == ".csv":
        return forecast.to_frame(n).to_csv(index=False).encode()
    if suffix == ".json":
        return forecast.to_json(n=n, goal=goal).encode()
    if suffix == ".html":
        from gpcurves.render.plan_page import page

        return page(forecast, n, goal).encode()
    return plot(forecast, goal).to_bytes(suffix[1:])


def notebook(forecast: Forecast) -> str:
    """Return what a notebook shows: the verdict and the table."""
    verdict = forecast.verdict()
    words = html.escape(" ".join(verdict.sentences))
    return f"<p><b>{verdict.label}</b>: {words}</p>{forecast.to_frame().to_html(index=False)}"
