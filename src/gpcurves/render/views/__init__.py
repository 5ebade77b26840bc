"""How each kind of result is shown: as a table, as data, as a picture and as a page. A view is looked up by the type of the result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from gpcurves.errors import InputError
from gpcurves.numerics.display import Display
from gpcurves.render import mpl
from gpcurves.render.page import document, tagged
from gpcurves.render.plotly import embed
from gpcurves.render.scene import Scene

if TYPE_CHECKING:
    import pandas as pd

VIEWS = {
    "LearningCurve": "gpcurves.render.views.curves:CurvesView",
    "CurveSet": "gpcurves.render.views.curves:CurvesView",
    "Asymptotics": "gpcurves.render.views.decay:DecayView",
    "Forecast": "gpcurves.render.views.forecast:ForecastView",
    "Diagnosis": "gpcurves.render.views.variances:DiagnosisView",
    "ErrorMap": "gpcurves.render.views.places:ErrorMapView",
    "VarianceDistribution": "gpcurves.render.views.variances:VariancesView",
    "Posterior": "gpcurves.render.views.posterior:PosteriorView",
    "Mix": "gpcurves.render.views.mixes:MixView",
    "DataFrame": "gpcurves.render.views:TableView",
    "Display": "gpcurves.render.views:PictureView",
}
"""The view of each class, by names: a result that nobody shows is not imported, and neither is its view."""


@dataclass(frozen=True, eq=False)
class View:
    """A result and the options with which it is shown; ``offers`` says what it can be shown as."""

    offers: ClassVar[tuple[str, ...]] = ("table", "data", "picture", "page")
    result: Any

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a DataFrame."""
        return self.result.to_frame()  # type: ignore[no-any-return]

    def to_csv(self) -> str:
        """Return the numbers as a CSV table."""
        return self.to_frame().to_csv(index=False, lineterminator="\n")

    def to_json(self) -> str:
        """Return the numbers as JSON; what is not known is null."""
        frame = self.to_frame().astype(object)
        return json.dumps(frame.where(frame.notna(), None).to_dict("records"), indent=1, allow_nan=False) + "\n"

    def scene(self) -> Scene:
        """Return the picture as plain data."""
        raise NotImplementedError

    def draw(self, ax: Any = None) -> Display:
        """Draw the picture with Matplotlib."""
        return mpl.draw(self.scene(), ax, self.result)

    def page(self) -> str:
        """Return a page that needs nothing from outside: the picture, what a notebook shows, and more in other views."""
        scene = self.scene()
        return document(scene.title, [tagged("h1", scene.title), embed(scene), self.notebook()])

    def notebook(self) -> str:
        """Return what a notebook shows, as HTML."""
        return str(self.to_frame().head(12).to_html(index=False, float_format="{:.4g}".format, border=0))


class TableView(View):
    """A DataFrame: a table and data."""

    offers = ("table", "data")

    def to_frame(self) -> pd.DataFrame:
        return self.result  # type: ignore[no-any-return]


class PictureView(View):
    """A picture that Matplotlib has drawn already."""

    offers = ("picture",)

    def draw(self, ax: Any = None) -> Display:
        return self.result  # type: ignore[no-any-return]


def view_class(kind: type) -> type[View]:
    """Return the view of a class of results, or a view as it is."""
    if issubclass(kind, View):
        return kind
    for each in kind.__mro__:
        if each.__name__ in VIEWS:
            module, _, name = VIEWS[each.__name__].partition(":")
            return getattr(import_module(module), name)  # type: ignore[no-any-return]
    raise InputError(f"a result must be one of {', '.join(VIEWS)}, got {kind.__name__}")


def view_of(result: Any, **options: Any) -> View:
    """Return a result with the options with which it is shown."""
    return view_class(type(result))(result, **options)
