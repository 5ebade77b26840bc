"""Laws of decay: LC, the law above the noise, the law below it, and the crossover between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpcurves.curve import dump
from gpcurves.methods import METHODS
from gpcurves.methods.formulas.decay import Asymptotics
from gpcurves.numerics.validation import FloatArray
from gpcurves.quantities import MSE
from gpcurves.render.page import tagged
from gpcurves.render.scene import Axis, Line, Scene, Stroke
from gpcurves.render.views import View
from gpcurves.render.wording import in_words

if TYPE_CHECKING:
    import pandas as pd

_LC, _EARLY, _LATE, _NOISE = "#0072B2", "#D55E00", "#009E73", "#8795a1"
_DECADES = 3.0  # how far the picture reaches beyond the crossover
_DEEPEST = 1e-12  # errors below this share of the first are not drawn


class DecayView(View):
    """The laws of a problem as numbers, as words and as lines beside the approximation that they are limits of."""

    result: Asymptotics

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        law = self.result
        return pd.DataFrame(
            {
                "regime": ["error above the noise", "error below the noise"],
                "exponent": [law.early_exponent, law.exponent],
                "prefactor": [law.early_prefactor, law.prefactor],
                "power of the logarithm": [0.0, law.log_power],
                "up to n": [law.crossover, math.inf],
            }
        )

    def scene(self) -> Scene:
        law = self.result
        middle = law.crossover if 1 < law.crossover < math.inf else 30.0
        n = np.geomspace(1.0, middle * 10**_DECADES, 120)
        error = METHODS["lc"](law.problem, n)
        low = max(float(error[error > 0].min()), float(error[0]) * _DEEPEST)
        x = Axis("number of examples n", float(n[0]), float(n[-1]), True, "n")
        y = Axis(MSE.title, low / 1.5, float(error[0]) * 2, True, MSE.short)
        scene = Scene(x, y, in_words(law.problem), " ".join(law.sentences()))

        def add(values: FloatArray, stroke: Stroke, name: str, words: str) -> None:
            shown = np.where((values > y.low) & (values < y.high), values, np.nan)
            scene.marks.append(Line(n, shown, stroke, name=name, label=words))

        add(error, Stroke(_LC, "solid", 2.4), "lc", "lc")
        if law.crossover >= 1 and law.family != "finite":
            add(law.early(n), Stroke(_EARLY, "dash", 1.6), "early", "law for errors above the noise")
        if law.crossover < math.inf:
            add(law.late(n), Stroke(_LATE, "dashdot", 1.6), "late", "law for errors below the noise")
        if y.low < law.problem.noise < y.high:
            scene.add_level(law.problem.noise, Stroke(_NOISE, "dot", 1.2), "noise")
            scene.label_level(law.problem.noise, "noise", _NOISE)
        return scene

    def to_json(self) -> str:
        return dump({"law": self.result.to_dict(), "problem": self.result.problem.to_dict()}, None)

    def notebook(self) -> str:
        return f"{tagged('p', in_words(self.result.problem))}{tagged('p', str(self.result))}{super().notebook()}"
