"""From a graph and labels at some of its vertices to a forecast of the error at the others with more labels."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError, check_name
from gpcurves.forecasting.calibration import Calibration
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.forecasting.intervals import PosteriorCurves
from gpcurves.forecasting.networks.candidates import MOST_DENSE
from gpcurves.forecasting.networks.choosing import VertexChooser, measure_savings
from gpcurves.forecasting.networks.class_assembly import forecast_classes
from gpcurves.forecasting.networks.class_labels import ClassLabels
from gpcurves.forecasting.networks.curves import Route, simulate
from gpcurves.forecasting.networks.observed import FEWEST_LABELS, Observed, vertex_numbers
from gpcurves.forecasting.networks.regressor import LARGEST, GraphRegressor
from gpcurves.forecasting.networks.validation import cross_validate
from gpcurves.forecasting.result import Forecast
from gpcurves.graphs import Graph, Labels, as_graph
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.classes import recognise_codes
from gpcurves.tables.preparing import Task

FEWEST = 20
_ROUTES = 4  # orders in which further vertices are labelled, over which curves are averaged
NETWORKS = Calibration(
    level=(0.6009,) * 3,
    model=(0.36985,) * 3,
    laws=(0.35,) * 3,
    down=(0.109, 0.728, 1.95, 0.295, 0.315, 0.267, 0.0, 0.0),
    up=(0.0999, 0.766, 1.17, 1.62, 0.315, 0.321, 0.0, 0.0),
)


@dataclass(frozen=True, eq=False)
class VertexPredictor:
    """What was learnt from labels, to predict other vertices with."""

    model: GraphRegressor

    def predict(self, X: Any = None) -> pd.DataFrame:
        """Return a table with the columns vertex, prediction, std, low, high for vertices, or for all.

        The standard deviation is that of the function, and the 90 % interval that of a new label.
        """
        graph = self.model.graph_
        at = self.model.everywhere_ if X is None else vertex_numbers(graph, X)
        names = [graph.label(i) for i in at.tolist()]
        mean, std, low, high = self.model.predict_at(at)
        return pd.DataFrame({"vertex": names, "prediction": mean, "std": std, "low": low, "high": high})


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """What a forecast on a graph starts from: a fitted regressor, cross-validated errors and learning curves."""

    model: GraphRegressor
    observed: CrossValidation
    curves: PosteriorCurves
    route: Route


def read_labels(graph: Graph, labels: Any, errors: Any = None) -> Observed:
    """Return labels given as a mapping or a Series from vertex to value; NaN and None are not known."""
    labels = _as_series(labels)
    given = None
    if errors is not None:
        given = pd.Series(errors).reindex(labels.index).to_numpy(dtype=np.float64)
    return Observed.collect(graph, labels.index.to_numpy(), labels.to_numpy(), given)


def _as_series(labels: Any) -> pd.Series[Any]:
    """Return known labels."""
    if isinstance(labels, Mapping):
        labels = pd.Series(dict(labels), dtype=object)
    if not isinstance(labels, pd.Series):
        raise InputError("labels must be a mapping or a Series from vertex to value")
    return labels[labels.notna().to_numpy()]


def _have_classes(labels: Any, task: Task | None, measured: bool) -> tuple[bool, tuple[str, ...]]:
    """Tell whether labels are classes, and say so if somebody might mean the other; ``measured`` numbers have standard errors."""
    if task is not None:
        check_name("task", task, get_args(Task))
        return task == "classes", ()
    cells = _as_series(labels)
    values = cells.tolist()
    if any(isinstance(each, str | bool | np.bool_) for each in values) or isinstance(cells.dtype, pd.CategoricalDtype):
        return not any(isinstance(each, numbers.Real) and not isinstance(each, bool | np.bool_) for each in values), ()
    if measured:
        return False, ()
    try:
        codes, said = recognise_codes(str(cells.name or "label"), np.array(values, dtype=np.float64))
    except (TypeError, ValueError):
        return False, ()  # it is said elsewhere what is wrong with them
    return codes, (said,) if said else ()


def fit_labels(graph: Graph, observed: Observed, computation: Computation, attributes: Any = None) -> LabelledGraph:
    """Fit labels, and find out how the error falls with more of them."""
    labels = len(observed.vertices)
    if labels < FEWEST:
        raise InputError(
            f"too few labels to say: a forecast needs labels at {FEWEST} vertices or more, got {labels}; predictions need {FEWEST_LABELS}"
        )
    if graph.vertices * labels > LARGEST:
        raise InputError(
            f"a forecast for {labels:,} labels on {graph.vertices:,} vertices is too large: give a part of the graph, or of the labels"
        )
    model = GraphRegressor(graph, attributes=attributes).fit_observed(graph, observed)
    observed = model.observed_  # by name
    computation.progress.advance(30)
    seen = cross_validate(model.candidates_, model.fitted_, model.settings_, model.propagation_, computation.rng)
    computation.progress.advance(30)
    scale = observed.deviation
    count = _ROUTES if graph.vertices <= MOST_DENSE else 1
    routes = [Route.draw(observed, graph.vertices, rng) for rng in computation.rng.spawn(count)]
    members = [model.posterior_.members[place] for place in model.posterior_.by_kernel]
    curves = tuple(simulate(member, route, scale) for route in routes for member in members)
    weights = np.tile([member.weight for member in members], count) / count
    computation.progress.advance(30)
    whole = PosteriorCurves(
        curves,
        weights,
        ((len(members),) * count,),
        seen.in_units(1 / scale),
        labels,
        labels,
        scale,
        most=float(graph.vertices),
        calibration=NETWORKS,
    )
    return LabelledGraph(model, seen, whole, routes[0])


def forecast_labels(
    graph: Graph, labels: Labels, *, attributes: Any = None, rng: Rng = 0, progress: bool | None = None
) -> Forecast:
    """Forecast the error at unlabelled vertices with more labels than those of a file, numbers or classes."""
    seed = seed_of(rng)
    with threadpool_limits(1), Progress(progress, "%") as shown:
        shown.expect(100, 0)
        computation = Computation(seed, np.random.default_rng(seed), ForecastEffort(), shown)
        if not labels.are_numbers:
            gathered = ClassLabels.gather(labels.vertices, labels.cells)
            return forecast_classes(graph, gathered, computation, labels.target or "label", attributes)
        observed = Observed.gather(labels.vertices, labels.values, labels.errors)
        return forecast_observed(graph, observed, computation, labels.target or "label", attributes)


def forecast_graph(
    source: object,
    labels: Any,
    computation: Computation,
    errors: Any = None,
    attributes: Any = None,
    task: Task | None = None,
) -> Forecast:
    """Forecast the error at unlabelled vertices with more labels, numbers or classes."""
    graph = as_graph(source)
    name = getattr(labels, "name", None)
    target = "label" if name is None else str(name)
    classes, said = _have_classes(labels, task, errors is not None)
    if classes:
        if errors is not None:
            raise InputError("noise: for numbers only, and the labels are classes")
        known = _as_series(labels)
        gathered = ClassLabels.collect(graph, known.index.to_numpy(), known.to_numpy())
        return forecast_classes(graph, gathered, computation, target, attributes, said)
    found = forecast_observed(graph, read_labels(graph, labels, errors), computation, target, attributes)
    return replace(found, notes=(*said, *found.notes))


def forecast_observed(
    graph: Graph, observed: Observed, computation: Computation, target: str, attributes: Any = None
) -> Forecast:
    """Forecast the error at unlabelled vertices with more labels, which are gathered by vertex."""
    fit = fit_labels(graph, observed, computation, attributes)
    model, curves, observed = fit.model, fit.curves, fit.model.observed_
    notes = [note[0].upper() + note[1:] + "." for note in model.notes_]
    notes += [f"{found[0].upper()}{found[1:]}." for found in model.findings]
    band = curves.make_band()
    now = float(band.at(np.array([float(len(observed.vertices))]))[0][0])
    notes.append(
        "Leave-one-out errors compare methods on the same labels; they are not the forecast. At unlabelled "
        f"vertices expect an RMSE of about {now:.3g}, from tenfold cross-validation and the fitted curves."
    )
    remaining = measure_savings(model.posterior_, fit.route)
    computation.progress.advance(10)
    known = None if observed.known is None else math.sqrt(float(np.mean(observed.known)))
    return Forecast(
        target=target,
        rows=len(observed.vertices),
        fitted_rows=len(observed.vertices),
        columns=1,
        band=band,
        floor=curves.noise_rmse,
        remaining=remaining,
        outlying=0.0,
        cross_validation=fit.observed,
        power_law=PowerLawFit.fit(fit.observed),
        relevance=None,
        deterministic=False,
        steps=(f"{graph.describe()}; {observed.labels:,} labels at {len(observed.vertices):,} vertices",),
        notes=tuple(notes),
        seed=computation.seed,
        deviation=observed.deviation,
        mean_absolute=float(np.abs(observed.means).mean()),
        known_noise=known,
        gap=curves.gap,
        predictor=VertexPredictor(model),
        chooser=VertexChooser(model, computation.seed),
        vertices=graph.vertices,
    )
