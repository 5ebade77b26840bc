"""The cheapest mix of labels in the plane of two tasks: lines of equal error, the line of equal cost, and where they touch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpcurves.methods.tasks.mix import Mix, MixSearch
from gpcurves.methods.tasks.theory import JointCurves
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.page import document, sentences, tagged
from gpcurves.render.plotly import embed
from gpcurves.render.scene import Axis, Line, Scene, Stroke
from gpcurves.render.views import View
from gpcurves.render.wording import in_words

_GOAL, _OTHERS, _COST, _ALONE = "#1f4e79", ("#8fb3d1", "#b9d0e3"), "#B3261E", "#555555"
_FACTORS = (1.0, 1.5, 0.75)  # of the goal, whose lines of equal error are shown
_POINTS = 61


@dataclass(frozen=True, eq=False)
class MixView(View):
    """A mix of labels: along x those of the task that is used most beside the target, along y those of the target."""

    result: Mix

    def to_json(self) -> str:
        return json.dumps(self.result.to_dict(), indent=1, allow_nan=False) + "\n"

    @cached_property
    def tasks(self) -> tuple[int, int]:
        """The task along x, and the target."""
        target = self.result.names.index(self.result.target)
        others = [task for task in range(len(self.result.names)) if task != target]
        return max(others, key=lambda task: self.result.counts[task], default=target), target

    def scene(self) -> Scene:
        mix, (other, target) = self.result, self.tasks
        used, own = mix.counts[other], mix.counts[target]
        # so far that the line of equal cost is seen as a whole, unless one price is far below the other
        tall = 1.15 * max(own, mix.alone if mix.alone <= 5 * max(own, 1) else 0.0, 1.0)
        wide = 2.2 * used if used else 2.0 * own * mix.costs[target] / max(mix.costs[other], 1e-9) / 5
        wide = max(wide, 5.0)
        said = "" if len(mix.names) < 3 else ", with the precision of other tasks as in the cheapest mix"
        caption = f"{mix} Each line has one error, by theory{said}."
        axes = [
            Axis(f"number of {mix.names[task]} labels", 0.0, high, False, "n")
            for task, high in ((other, wide), (target, tall))
        ]
        scene = Scene(axes[0], axes[1], f"The cheapest mix for an error of {mix.goal:g}", caption)
        lines = []
        for factor, colour in zip(_FACTORS, (_GOAL, *_OTHERS), strict=True):
            name = f"error {mix.goal * factor:.3g}"
            line = Line(
                *self._equal_error(wide, factor),
                Stroke(colour, "solid", 2.0 if factor == 1 else 1.4),
                name=name,
            )
            scene.marks.append(line)
            lines.append(line)
        if mix.costs[target] > 0:
            across = np.linspace(0.0, wide, _POINTS)
            paid = own + (used - across) * mix.costs[other] / mix.costs[target]
            lines.append(
                Line(
                    across, np.where(paid >= 0, paid, np.nan), Stroke(_COST, "dash", 1.4), name=f"cost {mix.cost:,.4g}"
                )
            )
            scene.marks.append(lines[-1])
        scene.add_diamond(used, own, _COST, 8.0, "cheapest mix")
        scene.name_ends(lines)
        scene.label_point(used, own, f"{used:,} {mix.names[other]}, {own:,} {mix.names[target]}", _COST)
        if mix.alone <= tall and used:
            scene.add_diamond(0.0, mix.alone, _ALONE, 6.0, f"{mix.target} alone")
            scene.label_point(
                0.0, mix.alone, f"{mix.alone:,.0f} {mix.target} alone: cost {mix.alone_cost:,.4g}", _ALONE
            )
        return scene

    def _equal_error(self, wide: float, factor: float) -> tuple[FloatArray, FloatArray]:
        """Return the line of one error: numbers of labels of the other task, up to a number, and of the target."""
        mix, (other, target) = self.result, self.tasks
        search = MixSearch(JointCurves(mix.problem), mix.goal * factor, np.array(mix.costs))
        shares = np.sin(np.linspace(0.0, np.pi / 2, _POINTS)) ** 2  # close together at both ends, where lines bend
        counts, cost = search.exchange(np.array(mix.counts, dtype=np.float64), other, target, shares)
        counts = counts[np.isfinite(cost)]
        counts = counts[np.argsort(counts[:, other])]
        across = np.linspace(0.0, wide, 4 * _POINTS)
        # where other labels alone are enough, and where they are not enough together, the line has ended
        return across, np.interp(across, counts[:, other], counts[:, target], left=np.nan, right=np.nan)

    def page(self) -> str:
        scene = self.scene()
        parts = [tagged("h1", scene.title), tagged("p", in_words(self.result.problem)), sentences([str(self.result)])]
        return document(scene.title, [*parts, embed(scene), self.notebook()])

    def notebook(self) -> str:
        return f"{tagged('p', str(self.result))}{super().notebook()}"
