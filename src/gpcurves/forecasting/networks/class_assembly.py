"""From a graph and classes at some of its vertices to a forecast of the error rate at the others with more labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.forecasting.calibration import Calibration
from gpcurves.forecasting.class_errors import ClassErrors
from gpcurves.forecasting.classes.prediction import name_probability
from gpcurves.forecasting.crossvalidation import ClassValidation, CrossValidation, PowerLawFit
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.intervals import Band, PosteriorCurves
from gpcurves.forecasting.networks.class_choosing import ClassChooser, measure_savings
from gpcurves.forecasting.networks.class_curves import RateCurve, simulate_classes
from gpcurves.forecasting.networks.class_labels import ClassLabels
from gpcurves.forecasting.networks.class_validation import HeldOutLabels, cross_validate
from gpcurves.forecasting.networks.classifier import GraphClassifier
from gpcurves.forecasting.networks.curves import Route
from gpcurves.forecasting.networks.observed import Observed, vertex_numbers
from gpcurves.forecasting.networks.regressor import LARGEST
from gpcurves.forecasting.result import Forecast
from gpcurves.graphs import Graph
from gpcurves.numerics.validation import FloatArray

FEWEST = 20
_ROUTES, _MEMBERS = 2, 8  # orders of labelling, and explanations, that curves are averaged over
_MOST = 1_200  # labels that are simulated for one function; of several, so many that the work is the same
_WIDE_GAP, _SURE = 0.7, 2.0
"""Logarithm of the cross-validated over the expected error rate from which there is a word about it, and standard errors between them."""
RATES = Calibration(
    level=(0.751,) * 3,
    model=(0.515,) * 3,
    laws=(0.5,) * 3,
    down=(0.128, 1.27, 3.12, 0.407, 0.548, 1.27, 0.0, 0.0),
    up=(0.13, 1.18, 2.01, 0.405, 0.548, 0.559, 0.0, 0.0),
    endless=True,  # with more labels the range of the kernel is found, so that errors fall further than the model expects
)
LOSSES = Calibration(
    level=(0.726,) * 3,
    model=(0.505,) * 3,
    laws=(0.5,) * 3,
    down=(0.128, 1.16, 4.2, 0.357, 0.517, 0.921, 0.0, 0.0),
    up=(0.121, 1.21, 2.07, 0.361, 0.517, 0.622, 0.0, 0.0),
    endless=True,
)


@dataclass(frozen=True, eq=False)
class VertexClassPredictor:
    """What was learnt from classes, to predict other vertices with."""

    model: GraphClassifier

    def predict(self, X: Any = None) -> pd.DataFrame:
        """Return a table with the columns vertex, prediction and one for each class, its probability, for vertices or for all."""
        graph = self.model.graph_
        at = self.model.everywhere_ if X is None else vertex_numbers(graph, X)
        found = self.model.probabilities_[at]
        table = pd.DataFrame({"vertex": [graph.label(i) for i in at.tolist()]})
        table["prediction"] = [str(one) for one in self.model.classes_[found.argmax(axis=1)]]
        for k, name in enumerate(self.model.classes_.tolist()):
            table[name_probability(str(name))] = found[:, k]
        return table


@dataclass(frozen=True, eq=False)
class LabelledClasses:
    """What a forecast of classes on a graph starts from: a fitted classifier, cross-validated errors and learning curves."""

    model: GraphClassifier
    observed: ClassValidation
    held: HeldOutLabels
    rates: PosteriorCurves
    losses: PosteriorCurves
    route: Route


def fit_classes(graph: Graph, labels: ClassLabels, computation: Computation, attributes: Any = None) -> LabelledClasses:
    """Fit classes, and find out how the error rate falls with more of them."""
    count = len(labels.vertices)
    if count < FEWEST:
        raise InputError(
            f"too few labels to say: a forecast needs labels at {FEWEST} vertices or more, got {count}; predictions need 3"
        )
    if graph.vertices * count > LARGEST:
        raise InputError(
            f"a forecast for {count:,} labels on {graph.vertices:,} vertices is too large: give a part of the graph, or of the labels"
        )
    model = GraphClassifier(graph, attributes=attributes).fit_labels(graph, labels)
    labels, posterior = model.labels_, model.posterior_
    computation.progress.advance(30)
    seen, held = cross_validate(model, computation.rng)
    computation.progress.advance(30)
    totals = Observed(labels.vertices, labels.counts.sum(axis=1), np.zeros(count), 0.0)
    most = max(2 * count, round(_MOST / labels.functions ** (1 / 3))) - count
    routes = [Route.draw(totals, graph.vertices, rng) for rng in computation.rng.spawn(_ROUTES)]
    routes = [route.with_further(route.further[:most]) for route in routes]
    members = posterior.members[:_MEMBERS]
    pairs = [
        simulate_classes(member, posterior.sharpness, route, np.searchsorted(labels.vertices, route.labelled))
        for route in routes
        for member in members
    ]
    weights = np.tile([member.weight for member in members], _ROUTES)
    weights /= weights.sum()
    computation.progress.advance(30)

    def gather(curves: list[RateCurve], error: FloatArray, stderr: FloatArray, how: Calibration) -> PosteriorCurves:
        """Return curves of an error beside what was observed of it; both are squared, as mean squared errors are."""
        squared = CrossValidation(seen.n, error**2, 2 * error * stderr)
        return PosteriorCurves(
            tuple(curves),  # type: ignore[arg-type]
            weights,
            ((len(members),) * _ROUTES,),
            squared,
            count,
            count,
            1.0,
            most=float(graph.vertices),
            calibration=how,
        )

    rates = gather([pair[0] for pair in pairs], seen.rate, seen.rate_stderr, RATES)
    losses = gather([pair[1] for pair in pairs], seen.loss, seen.loss_stderr, LOSSES)
    return LabelledClasses(model, seen, held, rates, losses, routes[0])


def forecast_classes(
    graph: Graph,
    labels: ClassLabels,
    computation: Computation,
    target: str,
    attributes: Any = None,
    notes: tuple[str, ...] = (),
) -> Forecast:
    """Forecast the error rate at unlabelled vertices with more labels."""
    fit = fit_classes(graph, labels, computation, attributes)
    model, seen, labels = fit.model, fit.observed, fit.model.labels_
    count = len(labels.vertices)
    band, loss = limit(fit.rates.make_band()), fit.losses.make_band()
    now = float(band.at(np.array([float(count)]))[0][0])
    told = [*notes, *(f"{note[0].upper()}{note[1:]}".rstrip("?.") + "." for note in (*model.notes_, *model.findings))]
    told.append(
        "Leave-one-out error rates compare methods on the same labels; they are not the forecast. At unlabelled vertices expect an "
        f"error rate of about {100 * now:.3g} %, from tenfold cross-validation and the fitted curves."
    )
    expected = seen.rate[-1] * np.exp(-fit.rates.gap / 2)
    if fit.rates.gap / 2 > _WIDE_GAP and seen.rate[-1] > expected + _SURE * seen.rate_stderr[-1]:
        told.append(
            f"Caution: the cross-validated error rate is {np.exp(fit.rates.gap / 2):.2g} times what the model itself expects. Check for "
            "wrong labels and for missing or wrong edges."
        )
    remaining = measure_savings(model, fit.route)
    computation.progress.advance(10)
    names = ", ".join(
        f"{one} {int(total)}" for one, total in zip(model.classes_, labels.counts.sum(axis=0), strict=True)
    )
    return Forecast(
        target=target,
        rows=count,
        fitted_rows=count,
        columns=1,
        band=band,
        floor=min(fit.rates.noise_rmse, 1.0),
        remaining=remaining,
        outlying=0.0,
        cross_validation=seen,
        power_law=PowerLawFit.fit(seen),
        relevance=None,
        deterministic=False,
        steps=(
            f"{graph.describe()}; {labels.labels:,} labels at {count:,} vertices",
            f"{len(model.classes_)} classes: {names}",
        ),
        notes=tuple(told),
        seed=computation.seed,
        deviation=1.0,  # of numbers only, as is the next
        mean_absolute=1.0,
        predictor=VertexClassPredictor(model),
        chooser=ClassChooser(model, computation.seed),
        vertices=graph.vertices,
        classes=_list_errors(fit, loss),
    )


def limit(band: Band) -> Band:
    """Return a band of shares, none of which is above 1."""
    ends = {name: np.minimum(getattr(band, name), 1.0) for name in ("estimate", "low", "high", "assured")}
    return replace(band, **ends)


def _list_errors(fit: LabelledClasses, loss: Band) -> ClassErrors:
    names = tuple(str(one) for one in fit.model.classes_)
    rows = fit.model.labels_.counts.sum(axis=0)
    return ClassErrors(names, rows, *fit.held.by_class(), loss=loss, floor_loss=fit.losses.noise_rmse)
