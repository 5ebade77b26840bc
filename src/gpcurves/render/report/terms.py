"""The terms of a report: what each means, in a panel that opens at the word and in a list at the end of the page."""

from __future__ import annotations

import re

from gpcurves.forecasting.units import Unit
from gpcurves.render.page import Html, as_html

TERMS: dict[str, tuple[str, str]] = {
    "rmse": (
        "RMSE",
        "Root mean squared error: the typical size of the difference between prediction and measured value on new rows, in the "
        "units of the target. It includes the noise of the measured value.",
    ),
    "error_rate": ("error rate", "The share of wrong predictions of the class on new rows."),
    "log_loss": (
        "log loss",
        "Minus the mean logarithm of the probability that the model gave to the right class: small if it is right and knows it.",
    ),
    "interval": (
        "90 % interval",
        "The range that should hold the true value in nine of ten plans like this one. Half of the misses are on either side.",
    ),
    "sure": (
        "80 % sure",
        "With this many rows, four of five plans like this one reach the goal, of those that can reach it at all. With the best "
        "estimate, about one of two does.",
    ),
    "floor": (
        "noise floor",
        "The lowest RMSE that unlimited data would reach, because the target varies even if all inputs are equal (irreducible "
        "error). It is an estimate with an interval of its own.",
    ),
    "reducible": (
        "reducible",
        "The share of the mean squared error that more rows can remove. The rest is the noise floor.",
    ),
    "validation": (
        "cross-validation",
        "The model is trained on a part of your rows and tested on the others: a measured error, at fewer rows than you have.",
    ),
    "power": (
        "power law",
        "The curve a + b n⁻ᶜ through the cross-validated squared errors. It is what is usually done, and shown for comparison.",
    ),
    "chosen": (
        "chosen inputs",
        "Each new row is measured where it tells most about the others, instead of at random.",
    ),
    "share": (
        "share",
        "The part of the explainable variance that goes with an input, according to the fitted model. It is not a cause.",
    ),
    "lengthscale": (
        "lengthscale",
        "Over a distance much shorter than this, in the units of the input, the target changes little.",
    ),
    "left-out": (
        "leave-one-out",
        "Each measured value is predicted by a model trained on all the others.",
    ),
    "seed": ("seed", "The number that random draws start from. The same data and seed give the same forecast."),
}


def term(key: str, text: str = "") -> Html:
    """Return a word with its meaning: a button that opens a panel, by mouse, finger or keyboard."""
    name, meaning = TERMS[key]
    return Html(
        f"<button type='button' class='term' popovertarget='term-{key}' title='{as_html(meaning)}'>{as_html(text or name)}</button>"
    )


_FOUND = re.compile("|".join(re.escape(name) for name, _ in TERMS.values() if name not in ("share", "seed")))
_KEYS = {name: key for key, (name, _) in TERMS.items()}


def explain(text: str) -> Html:
    """Return a sentence whose terms, each where it occurs first, have their meanings."""
    left = set(_KEYS)

    def mark(found: re.Match[str]) -> str:
        if found[0] not in left:
            return found[0]
        left.remove(found[0])
        return term(_KEYS[found[0]])

    return Html(_FOUND.sub(mark, as_html(text)).replace(" %", "\N{NO-BREAK SPACE}%"))


def count_in(page: str, unit: Unit) -> str:
    """Return a page whose short meanings, too, are about what is counted instead of rows."""
    for _, meaning in TERMS.values():
        page = page.replace(f"title='{as_html(meaning)}'", f"title='{as_html(unit.say(meaning))}'")
    return page


def panels(used: str, unit: Unit) -> str:
    """Return the panels of the terms that a page uses, as the list at its end, too."""
    known = [(key, *TERMS[key]) for key in TERMS if f"popovertarget='term-{key}'" in used]
    listed = "".join(f"<dt>{as_html(name)}</dt><dd>{as_html(unit.say(meaning))}</dd>" for _, name, meaning in known)
    opened = "".join(
        f"<div popover class='panel' id='term-{key}'><b>{as_html(name)}</b><p>{as_html(unit.say(meaning))}</p></div>"
        for key, name, meaning in known
    )
    return f"<h2>Terms</h2><dl class='terms'>{listed}</dl>{opened}"
