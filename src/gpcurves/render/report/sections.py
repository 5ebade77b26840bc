"""The parts of a report, each a piece of HTML that reads without a script."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gpcurves._version import __version__
from gpcurves.forecasting.measures import significant
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.verdict import rounded
from gpcurves.render.page import Html, aligned, as_html, tagged
from gpcurves.render.report.content import Report
from gpcurves.render.report.terms import explain, term

_TONES = {
    "noise-limited": "noise",
    "model-limited": "noise",
    "goal cannot be reached": "stop",
    "too few rows to say": "unsure",
    "too few labels to say": "unsure",
    "too few groups to say": "unsure",
}
_THEORY = {
    False: "P. Sollich and A. Halees, <i>Learning curves for Gaussian process regression: Approximations and bounds</i>, Neural "
    "Computation 14 (2002) 1393–1428",
    True: "M. J. Urry and P. Sollich, <i>Random walk kernels and learning curves for Gaussian process regression on random "
    "graphs</i>, Journal of Machine Learning Research 14 (2013) 1801–1835",
}
_MANY = 8  # columns of a table that are printed small
_LARGE = 0.5  # an input with a larger share is named as one to check


def section(inside: str, kind: str = "") -> str:
    """Return a part of the page; nothing if it is empty."""
    look = f" class='{kind}'" if kind else ""
    return f"<section{look}>{inside}</section>" if inside else ""


def listed(title: str, items: Iterable[str]) -> str:
    """Return a list of sentences under a heading, or nothing without any."""
    entries = "".join(f"<li>{explain(item)}</li>" for item in items)
    return section(f"{tagged('h2', title)}<ul>{entries}</ul>" if entries else "", "long")


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], roomy: Sequence[int] = (), names: Sequence[int] = ()
) -> str:
    """Return a table; columns at these places are left out on a telephone, or hold names, which may be long."""

    def cell(kind: str, place: int, text: str) -> str:
        looks = ["roomy"] if place in roomy else []
        looks += ["name"] if place in names and kind == "td" else []
        look = f" class='{' '.join(looks)}'" if looks else ""
        scope = " scope='col'" if kind == "th" else ""
        return f"<{kind}{scope}{look}>{as_html(text)}</{kind}>"

    top = "".join(cell("th", place, text) for place, text in enumerate(head))
    lines = ["<tr>" + "".join(cell("td", place, text) for place, text in enumerate(row)) + "</tr>" for row in rows]
    return (
        f"<div class='wide-table' tabindex='0' role='region' aria-label='{as_html(head[0])}'><table{' class=many' if len(head) > _MANY else ''}><thead><tr>{top}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def answer(report: Report) -> str:
    """Return the question, the answer, the goal that can be moved, and how many rows it needs."""
    say, target = report.unit.say, tagged("b", report.forecast.target)
    measure = report.measure
    low, high = sorted(float(measure.from_error(each)) * measure.shown for each in report.goals)
    form = (
        f"<form class='goal-form' id='goal-form' aria-label='Goal' hidden>"
        f"<label for='goal'>Goal: {as_html(measure.short)} {'at least' if measure.rises else 'at most'}</label>"
        f"<input class='number' id='goal' inputmode='decimal' autocomplete='off'>"
        f"<span>{as_html((measure.unit + measure.after).strip())}</span>"
        f"<button type='button' id='back' hidden>Back to the plan</button>"
        f"<input type='range' id='goal-range' min='0' max='400' aria-label='Goal: {as_html(measure.short)}'>"
        f"<div class='ends' aria-hidden='true'><span>{significant(low, 2)}</span><span>{significant(high, 2)}</span></div></form>"
    )
    return (
        f"<header><p class='question'>{say('How many rows')} do you need to predict {target}"
        f"<span id='to'>{as_html(_goal_in_words(report))}</span>?</p>"
        f"<h1 id='headline' aria-live='polite'>{as_html(report.headline)}</h1></header>"
        f"{section(form, 'form')}{_goal_tiles(report)}"
    )


def verdict(report: Report) -> str:
    """Return what the plan says about the goal that it was made for."""
    label = report.verdict.label
    sentences = "".join(f"<p>{explain(text)}</p>" for text in report.verdict.sentences)
    return f"<section class='verdict {_TONES.get(label, '')}' id='verdict'>{tagged('h2', label.capitalize())}{sentences}</section>"


def _goal_in_words(report: Report) -> str:
    return "" if report.aim is None else f" with {report.measure.phrase(report.aim.error)}"


def tiles(report: Report) -> str:
    """Return the errors to expect with your rows, with four times as many, and without end."""
    forecast, prospects, say = report.forecast, report.prospects, report.unit.say
    write = prospects.measure.quantity
    moments = (prospects.now, prospects.later)
    counts = (f"your {forecast.rows:,}", f"{int(max(forecast.rows, min(4 * forecast.rows, report.unit.sight))):,}")
    floor = [] if forecast.deterministic else [prospects.floor, *prospects.floor_interval]
    numbers = [getattr(each, name) for each in moments for name in ("estimate", "low", "high")] + floor
    texts = [f"{text}{write.unit}" for text in aligned([write.shown * number for number in numbers])]
    cells = []
    for count, k in zip(counts, (0, 3), strict=True):
        span = f"{term('interval')} {texts[k + 1]} to {texts[k + 2]}"
        cells.append((texts[k], f"{_named(report)} with {count} {say('rows')}<br>{span}", ""))
    if floor:
        span = f"{term('interval')} {texts[7]} to {texts[8]}"
        called = term("floor", write.floor.partition(" (")[0].capitalize())
        cells.append((texts[6], f"{called}, with unlimited {say('rows')}<br>{span}", ""))
    return f"<dl class='tiles'>{''.join(map(_tile, cells))}</dl>"


def _tile(cell: tuple[str, str, str]) -> str:
    value, text, attributes = cell
    return f"<div{attributes}><dt>{text}</dt><dd>{as_html(value)}</dd></div>"


def _named(report: Report) -> str:
    """Return the name of the error, with its meaning."""
    quantity = report.measure.quantity
    return term("rmse") if quantity.key == "rmse" else term(quantity.key, quantity.word[:1].upper() + quantity.word[1:])


def _goal_tiles(report: Report) -> str:
    """Return how many rows the goal needs: the numbers that move with it."""
    needed, say = report.needed, report.unit.say
    numbers = (None,) * 4 if needed is None else (needed.estimate, needed.low, needed.high, needed.assured)
    estimate, low, high, assured = numbers
    span = "none" if low is None else f"{rounded(low)} to {'no limit' if high is None else rounded(high)}"
    cells = [
        ("estimate", "none" if estimate is None else rounded(estimate), say("Rows for the goal, best estimate")),
        ("span", span, f"{term('interval')} of that number"),
        ("assured", "none" if assured is None else rounded(assured), say(f"Rows to be {term('sure')}")),
    ]
    exact = {"estimate": estimate, "assured": assured}
    found = []
    for name, value, text in cells:
        numbers_of = (
            f" data-n='{exact[name] or ''}'" if name in exact else f" data-low='{low or ''}' data-high='{high or ''}'"
        )
        found.append(_tile((value, text, f" class='asked' id='tile-{name}'{numbers_of}")))
    hidden = " hidden" if needed is None else ""
    return f"<dl class='tiles' id='asked'{hidden}>{''.join(found)}</dl>"


def chart(report: Report, drawings: Iterable[str]) -> str:
    """Return the learning curve in both shapes, with a legend for the small one, and downloads."""
    legend = "".join(
        f"<li><i class='{kind}' style='background: {colour}'></i>{as_html(name)}</li>"
        for name, colour, kind in report.curve.names
    )
    said = (
        f"The forecast and its {term('interval')}, with {term('validation', 'cross-validated')} errors (points, ± standard error), and a "
        f"{term('power')} for comparison."
        if report.curve.is_main
        else f"The forecast and its {term('interval')}."
    )
    if report.curve.has_chosen:
        said += f" The dashed curve is for {term('chosen', 'chosen vertices' if report.unit.are_labels else '')}."
    return (
        f"<figure><h2>Learning curve</h2>{''.join(drawings)}<p class='reading' id='reading' aria-live='off'></p><ul class='legend'>{legend}</ul>"
        f"<figcaption>{said}</figcaption><div class='tools' id='downloads' hidden><span>Download:</span></div></figure>"
    )


def planning(report: Report) -> str:
    """Return answers to further questions, and the rows to measure next."""
    further, labels = report.further, report.unit.are_labels
    sentences = list(further.sentences)
    chosen = further.written
    if chosen is None:
        return listed("What you asked", sentences)
    about = sentences.pop()
    names = [str(name) for name in chosen.columns]
    texts = [[str(cell) for cell in row] for row in chosen.itertuples(index=False)]
    title = "Vertices to label next" if labels else "Rows to measure next"
    shown = f"{tagged('h2', title)}{tagged('p', about)}{table(names, texts)}"
    return listed("What you asked", sentences) + section(shown)


def maps(report: Report) -> str:
    """Return pictures of the graph; nothing for a table."""
    if not report.unit.are_labels:
        return ""
    from gpcurves.render.views.maps import draw_maps  # tables do not need it

    chosen = report.further.next_rows
    return section(draw_maps(report.forecast, None if chosen is None else [str(name) for name in chosen["vertex"]]))


def errors(report: Report) -> str:
    """Return the error to expect at some numbers of rows, and which part of it more rows can remove."""
    forecast, measure, say = report.forecast, report.measure, report.unit.say
    quantity = forecast.quantity
    frame = forecast.to_frame(report.n, measure.name)
    split = forecast.split(frame["n"].to_numpy())
    reducible = (100 * (1 - split["noise"] / (split["noise"] + split["reducible"]))).tolist()
    numbers = quantity.shown * frame[[quantity.key, "low", "high"]].to_numpy()
    texts = [f"{text}{quantity.unit}" for text in aligned(numbers.ravel().tolist())]
    rows: list[list[str]] = []
    for k, (n, share) in enumerate(zip(frame["n"], reducible, strict=True)):
        error, low, high = texts[3 * k : 3 * k + 3]
        widths = (("learn", share), ("floor", 100 - share))
        bar = "".join(f"<i class='{name}' style='width:{width:.0f}%'></i>" for name, width in widths)
        parts = [f"{share:.0f} %", Html(f"<div class='bar'>{bar}</div>")]
        rows.append([f"{n:,}", error, f"{low} to {high}", *([] if forecast.deterministic else parts)])
    head: list[str] = [say("rows"), quantity.word, "90 % interval"]
    head += [] if forecast.deterministic else [term("reducible"), f"parts of the {quantity.parts}"]
    if measure.name != quantity.key:
        columns = (measure.name, f"{measure.name}_low", f"{measure.name}_high")
        for row, (value, low, high) in zip(rows, frame[list(columns)].to_numpy().tolist(), strict=True):
            written = [measure.write(measure.to_error(each)) for each in (value, low, high)]
            row[3:3] = [written[0], f"{written[1]} to {written[2]}"]
        unit = f" in{measure.unit}{measure.after}" if measure.unit else ""
        head[3:3] = [f"{measure.short}{unit}", "90 % interval"]
    key = (
        f"<p class='key roomy'>Parts of the {quantity.parts}: <i class='learn'></i>reducible by more {say('rows')}, "
        f"<i class='floor'></i>{quantity.floor}.</p>"
    )
    if forecast.deterministic:
        key = "<p>Without noise, more rows can remove all of the mean squared error.</p>"
    roomy = () if forecast.deterministic else (len(head) - 1,)
    return section(f"<h2>What to expect</h2>{table(head, rows, roomy)}{key}")


def class_errors(report: Report) -> str:
    """Return how often each class is predicted wrongly with the rows at hand; nothing for numbers."""
    classes, quantity = report.forecast.classes, report.forecast.quantity
    if classes is None:
        return ""
    frame = classes.to_frame()
    numbers = (quantity.shown * frame[["error_rate", "low", "high"]].to_numpy()).ravel().tolist()
    texts = [f"{text}{quantity.unit}" for text in aligned(numbers)]
    rows = [
        [str(name), f"{count:,}", texts[3 * k], f"{texts[3 * k + 1]} to {texts[3 * k + 2]}"]
        for k, (name, count) in enumerate(zip(frame["class"], frame["rows"], strict=True))
    ]
    counted = "labels" if report.unit.are_labels else "rows"  # of groups, a class has rows, too
    head = ["class", counted, term("error_rate"), "90 % interval"]
    title = report.unit.say("Each class, with your current rows")
    return section(f"{tagged('h2', title)}{table(head, rows, names=(0,))}")


def inputs(forecast: Forecast) -> str:
    """Return what each input contributes; nothing if the user's own model was taken as it is."""
    relevance = forecast.relevance
    if relevance is None:
        return ""
    rows = []
    order = np.argsort(-relevance.share)
    for i in order:
        share = float(relevance.share[i])
        bar = Html(f"<div class='bar'><i class='learn' style='width:{100 * share:.0f}%'></i></div>")
        said = describe_dependence(share, float(relevance.lengthscales[i]), float(relevance.units[i]))
        rows.append([relevance.names[i], f"{100 * share:.0f} %", bar, said])
    largest = int(order[0])
    which = "an input with a large share"
    if float(relevance.share[largest]) >= _LARGE:
        which = f"'{relevance.names[largest]}'"
    about = (
        f"<p>The {term('share')} is each input's part of the explainable variance, according to the fitted model. Check that you "
        f"will know {as_html(which)} for new rows before you need the prediction.</p>"
    )
    head = ["input", term("share"), "", Html(f"how the target depends on it ({term('lengthscale')})")]
    return section(f"<h2>What each input contributes</h2>{table(head, rows, roomy=(2,), names=(0,))}{about}")


def describe_dependence(share: float, lengthscale: float, units: float) -> str:
    """Say what a lengthscale, in standard deviations of the input, means; ``units`` is the same in its own units."""
    if share < 0.02:
        return "little effect"
    if math.isnan(units):
        return "differs between categories"
    over = f", lengthscale about {units:.2g}" if units > 0 else ""
    if lengthscale < 0.5:
        return f"strongly nonlinear{over}"
    if lengthscale < 1.5:
        return f"nonlinear{over}"
    return f"slightly nonlinear{over}" if lengthscale < 4 else "nearly linear"


def choosing(report: Report) -> str:
    """Return what choosing inputs, or vertices, would save."""
    forecast, unit = report.forecast, report.unit
    if len(forecast.remaining) < 2:  # what choosing would save is not known
        return ""
    quantity, n = forecast.quantity, int(max(forecast.rows, min(2 * forecast.rows, unit.sight)))
    random, chosen = (float(frame[quantity.key].iloc[0]) for frame in (forecast.at([n]), forecast.designed([n])))
    saved, things = 1 - chosen / random, "vertices" if unit.are_labels else "inputs"
    said = f"Choosing {things} instead of drawing them at random would barely help: at {n:,} rows, by less than 1 %."
    if saved >= 0.01:
        first = "If you control where you measure, choose the inputs of new rows one by one, each where the model is least certain."
        caution = "This assumes known lengthscales; in practice expect a smaller gain."
        if unit.are_labels:
            first = "If you can choose which vertices to label, choose them one by one, each the one that tells most about the others."
            caution = "This assumes that the fitted kernel is right; in practice expect a smaller gain."
        said = (
            f"{first} At {n:,} rows {quantity.subject} would be about {quantity.write(chosen)} instead of "
            f"{quantity.write(random)}, {100 * saved:.0f} % lower (the dashed curve). {caution}"
        )
    title = "If you can choose the vertices" if unit.are_labels else "If you can choose your inputs"
    return section(f"{tagged('h2', title)}<p>{explain(unit.say(said))}</p>")


def assumptions(forecast: Forecast) -> Iterable[str]:
    """Yield what the forecast rests on, and its notes."""
    quantity, unit = forecast.quantity, forecast.unit
    yield from map(unit.say, _ASSUMED[unit.are_labels])
    noisy = "" if forecast.deterministic else ", noisy"
    if unit.are_labels:
        where = "labels, noise included, at vertices that have none yet"
    else:
        where = f"new{noisy} values of the target, as you would measure it on held-out {unit.plural}"
        model = "The model is the regressor given"
        if forecast.relevance is not None:
            model = f"The model is a Gaussian process with one lengthscale per input (RBF or Matérn-5/2), refitted as {unit.plural} arrive"
        yield f"{model}; another kind of model may do better or worse."
    units = ", in the target's own units" if quantity.key == "rmse" else ""
    named = (
        "The root mean squared error (RMSE) is"
        if quantity.key == "rmse"
        else f"{quantity.subject[:1].upper()}{quantity.subject[1:]} is"
    )
    yield f"{named} against {where}{units}."
    yield from forecast.notes


_ASSUMED = {
    False: (
        "New rows come from the same sources, ranges and measurement as yours.",
        "The 90 % interval is calibrated on tasks with known learning curves, most of them real tables. It does "
        "not cover effects absent from your data, such as rare outliers, seasonality or conditions you have not sampled.",
    ),
    True: (
        "Further labels are at vertices drawn at random, and are measured like yours.",
        "The model is an average over Gaussian processes on the graph (Matérn and diffusion kernels of all ranges, with both "
        "normalisations) and label propagation, refitted as labels arrive; another kind of model may do better or worse.",
        "The 90 % interval is calibrated on real networks with known values. It does not cover what your labels cannot show, such "
        "as a part of the network without labels.",
    ),
}


def provenance(report: Report) -> str:
    """Return where the report comes from, how to make it again, and how to cite it."""
    forecast, made = report.forecast, report.provenance
    rows = "labelled rows" if forecast.group is None else forecast.unit.plural
    counted = f"{forecast.rows:,} {rows}, {forecast.columns:,} inputs"
    if forecast.vertices is not None:
        counted = f"{forecast.rows:,} labels at {forecast.vertices:,} vertices"
    entries: list[tuple[str, str]] = [("Data", ", ".join(made.files))] if made.files else []
    entries += [("Size", counted), ("Target", forecast.target)]
    if made.command:
        entries.append(("Command", Html(f"<code>{as_html(made.command)}</code>")))
    entries += [
        ("Made", f"{made.made:%-d %B %Y, %H:%M %Z}"),
        ("Version", f"gpcurves {__version__}"),
        ("Seed", Html(f"{forecast.seed}; the same data and {term('seed')} give the same numbers")),
        (
            "Cite",
            Html(
                f"The gpcurves developers, <i>gpcurves: learning curves of Gaussian processes</i>, version {__version__}. "
                f"The theory of these curves: {_THEORY[report.unit.are_labels]}."
            ),
        ),
    ]
    listing = "".join(f"<dt>{as_html(name)}</dt><dd>{as_html(text)}</dd>" for name, text in entries)
    return section(f"<h2>Where this comes from</h2><dl class='terms' id='provenance'>{listing}</dl>")
