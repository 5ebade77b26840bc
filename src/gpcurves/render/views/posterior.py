"""One function that is being learnt: its mean, where it probably lies, and the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.errors import InputError
from gpcurves.methods.simulation.posterior import Posterior
from gpcurves.render.page import tagged
from gpcurves.render.scene import Area, Axis, Line, Points, Scene, Stroke
from gpcurves.render.views import View
from gpcurves.render.wording import in_words

_COLOUR, _DRAWN, _LABEL = "#1f5a94", "#7f9db9", "#222222"
_POINTS, _NORMAL = 400, 1.6449  # points of a curve; half the width of a 90 % interval in standard deviations


@dataclass(frozen=True, eq=False)
class PosteriorView(View):
    """Mean and 90 % interval of a function of one variable, with ``draws`` functions that the labels allow."""

    offers = ("picture", "page")
    result: Posterior
    draws: int = 0
    rng: int = 0

    def scene(self) -> Scene:
        known = self.result
        if known.problem.axis != "n" or known.problem.inputs.dim != 1:
            raise InputError("a posterior is drawn for inputs with one dimension only")
        seen = known.problem.inputs.draw(1_000, np.random.default_rng(0))[:, 0]
        seen = np.concatenate([seen, known.examples[:, 0]])
        low, high = float(seen.min()), float(seen.max())
        x = np.linspace(low, high, _POINTS)
        mean, half = known.mean(x), _NORMAL * np.sqrt(known.variance(x))
        functions = known.draw(x, self.draws, rng=self.rng) if self.draws else np.empty((0, _POINTS))
        shown = np.concatenate([mean - half, mean + half, known.labels, functions.ravel()])
        edge = 0.05 * float(np.ptp(shown)) or 0.5
        y = Axis("function", float(shown.min()) - edge, float(shown.max()) + edge, short="value")
        scene = Scene(Axis("input", low, high, short="x"), y, in_words(known.problem))
        scene.marks.append(Area(x, mean - half, mean + half, _COLOUR, 0.18, label="90 % interval", layer=1))
        for values in functions:
            scene.marks.append(Line(x, values, Stroke(_DRAWN, width=0.9), layer=2))
        scene.marks.append(Line(x, mean, Stroke(_COLOUR, width=2.0), name="mean", label="mean", layer=3))
        if len(known.labels):
            scene.marks.append(
                Points(known.examples[:, 0], known.labels, _LABEL, name="labels", label="labels", layer=4)
            )
        return scene

    def notebook(self) -> str:
        return tagged("p", repr(self.result))
