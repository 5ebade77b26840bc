"""Saved results that were changed: a sentence that names the file, or a result that can be shown and saved again."""

from __future__ import annotations

import copy
import html
import json
import math
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.stats

import gpcurves as gpc
from gpcurves.forecasting.effort import ForecastEffort
from gpcurves.inputs import Box, Discrete, Sample, Univariate

QUICK = ForecastEffort(draws=1, simulated_rows=30, test_inputs=20, candidates=20, chosen=5)
HOSTILE: list[Any] = [
    None, True, False, 0, -1, 3, 10**9, 10**18, 10**400, 1e300, -1e300, 1e-300, 0.5, math.nan, math.inf, "", "x", "1", "\ud800",
    "<script>alert(1)</script>", "$a_$", "a\nb", [], {}, [[]], [1], ["x"], [None], {"type": "RBF"}, {"type": []},
]  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container in plain data with each of its keys."""
    inside = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [(value, key) for key, _ in inside] + [place for _, each in inside for place in places(each)]


def delete(box: Any, key: Any, rng: random.Random) -> None:
    del box[key]


def replace(box: Any, key: Any, rng: random.Random) -> None:
    box[key] = copy.deepcopy(rng.choice(HOSTILE))


def nest(box: Any, key: Any, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 3, 60))):
        box[key] = [box[key]] if rng.random() < 0.5 else {"type": box[key]}


def add(box: Any, key: Any, rng: random.Random) -> None:
    if isinstance(box, list):
        box.insert(rng.randrange(len(box) + 1), copy.deepcopy(rng.choice([box[key], *HOSTILE])))
    else:
        box[rng.choice(["n", "nu", "kernel", "<b>", "", "\ud800", "type", key])] = copy.deepcopy(rng.choice(HOSTILE))


def scale(box: Any, key: Any, rng: random.Random) -> None:
    if isinstance(box[key], int | float):
        box[key] *= rng.choice([-1, 0, 10, 1e-9, 10**9, 1e200, 10**30])


MUTATIONS: list[Callable[[Any, Any, random.Random], None]] = [delete, replace, replace, nest, add, scale]


def mutate(data: Any, rng: random.Random) -> Any:
    """Return a copy of plain data with one to three changes; numbers, which are most of it, are not most of what changes."""
    changed = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = places(changed)
        few = [place for place in found if not isinstance(place[0], list)]
        if not found:
            break
        box, key = rng.choice(few if few and rng.random() < 0.75 else found)
        rng.choice(MUTATIONS)(box, key, rng)
    return changed


@pytest.fixture(scope="module")
def saved() -> list[Any]:
    """Return one of each kind of file, as plain data without its checksum."""
    graph = networkx.karate_club_graph()
    kernel = gpc.RBF((0.1, 0.3)) + gpc.OU(0.2) * gpc.Matern32(0.5)
    teacher = gpc.Teacher(gpc.OU(0.1), noise=0.05)
    walk, points = gpc.RandomWalkKernel(p=4), np.random.default_rng(1).random((6, 1))
    on_graph = gpc.GraphProblem(networkx.relabel_nodes(graph, "v{}".format), walk, 0.1)
    line = gpc.Torus(1)
    drawn: dict[str, Any] = {"datasets": 4, "rng": 1}
    results: list[Any] = [
        gpc.learning_curves(gpc.Problem(gpc.RBF(0.1), line, 0.05), n=[0, 1, 10], methods=["lc", "uo", "mw"]),
        gpc.learning_curve(gpc.Problem(kernel, Box(2), 0.05), "simulation", n=[0, 5], also=["training"], **drawn),
        gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), line, 0.05, teacher), "simulation", n=[2], **drawn),
        gpc.learning_curve(gpc.Problem(gpc.OU(0.3), Univariate(scipy.stats.beta(2, b=5)), 0.1), "lc", n=[1, 9]),
        gpc.learning_curve(gpc.Problem(gpc.OU(0.3), Discrete(points), 0.1), "plaskota", n=[1, 9]),
        gpc.learning_curve(gpc.Problem(gpc.OU(0.3), Sample(points), 0.1), "lc", n=[1, 9]),
        gpc.learning_curve(gpc.Spectrum([0.5, 0.3], [1, 2]), "lc", n=[3, 4], noise=0.1),
        gpc.learning_curves(on_graph, nu=[0.5, 1], methods=["eigenvalue", "simulation"], **drawn),
        gpc.learning_curve(
            gpc.GraphProblem(gpc.ErdosRenyi(3), walk, 0.1), "simulation", nu=[1], graphs=2, vertices=20, rng=1
        ),
    ]
    rng = np.random.default_rng(0)
    X = rng.random((24, 2))
    results.append(gpc.forecast(X, X[:, 0] + 0.1 * rng.normal(size=24), rng=0, effort=QUICK))
    return [json.loads(result.to_json()) for result in results]


def show(result: Any) -> None:
    """Show a result in every quick way; the numbers of some mean nothing, which is a warning at most."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(result)
        assert result._repr_html_().startswith("<")
        assert len(result.to_frame()) > 0
        assert json.loads(result.to_json())["checksum"]
        if hasattr(result, "verdict"):
            result.required_n(0.5)
            result.verdict(0.5)


def load_changed(data: Any, path: Path) -> Any:
    """Return what was built from changed data, or the sentence that refuses them."""
    path.write_text(json.dumps(data))
    try:
        return gpc.load(path)
    except gpc.InputError as error:
        sentence = str(error)
        assert str(path) in sentence
        assert "\n" not in sentence
        assert len(sentence) < 400 + len(str(path))
        return sentence


@pytest.mark.slow
def test_changed_files_are_refused_in_a_sentence_or_can_be_shown(saved: list[Any], tmp_path: Path) -> None:
    refused = shown = 0
    for k, whole in enumerate(saved):
        data = {key: value for key, value in whole.items() if key != "checksum"}
        rng = random.Random(k)
        for _ in range(40):
            result = load_changed(mutate(data, rng), tmp_path / "x.json")
            if isinstance(result, str):
                refused += 1
            else:
                show(result)
                shown += 1
    assert refused > 150
    assert shown > 30


def test_a_file_that_was_changed_after_it_was_saved_is_refused(saved: list[Any], tmp_path: Path) -> None:
    for whole in saved:
        assert not isinstance(load_changed(whole, tmp_path / "x.json"), str)
        changed = {**whole, "version": "0.0.7"}
        assert "it was changed after it was saved; take its checksum out" in load_changed(changed, tmp_path / "x.json")
        del changed["checksum"]
        assert not isinstance(load_changed(changed, tmp_path / "x.json"), str)


TAGS = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>x</a>"
NAMES = ["".join(TAGS), "$a_$ %{x} </script> $", "a\nb\0\x1b", "x" * 5000]


def rename(value: Any, name: str) -> Any:
    """Return plain data with another name in the place of every text that nothing but people reads."""
    if isinstance(value, list):
        return [rename(each, name) for each in value]
    if not isinstance(value, dict):
        return value
    texts = ("label", "method", "quantity", "target", "name")
    kept = {
        key: name if key in texts and value.get("type") is None else rename(each, name) for key, each in value.items()
    }
    kept |= {key: {name: name} for key in ("skipped",) if key in value}
    kept |= {key: [name] for key in ("notes", "steps") if key in value}
    if "labels" in value:
        kept["labels"] = [f"{name}{k}" for k in range(len(value["labels"]))]
    return kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])], ids=range(len(NAMES))
)
def test_names_from_files_are_shown_to_the_letter(name: str, saved: list[Any], tmp_path: Path) -> None:
    for whole in (saved[2], saved[7], saved[-1]):
        data = rename({key: value for key, value in whole.items() if key != "checksum"}, name)
        for k, curve in enumerate(data.get("curves", [])):
            curve["label"] = f"{name} {k}"
        result = load_changed(data, tmp_path / "x.json")
        assert not isinstance(result, str), result
        for suffix in ("html", "svg", "csv", "json"):
            result.save(tmp_path / f"x.{suffix}")
        pages = [result._repr_html_(), (tmp_path / "x.html").read_text()]
        assert name in html.unescape(pages[1])
        if data.get("curves"):
            diagnosis = gpc.diagnose(result.problem.graph)
            diagnosis.save(tmp_path / "x.html")
            gpc.draw_graph(result.problem.graph).to_bytes("svg")
            pages += [diagnosis._repr_html_(), (tmp_path / "x.html").read_text()]
        for page in pages:
            for tag in TAGS:
                assert tag[:10] not in page
                if "Plotly" in page:  # it would take this for a tag, too; the report shows text as text
                    assert tag.replace("<", "\\u003c")[:14] not in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "it is nested too deeply"),
        ("[" * 200 + "]" * 200, "it is nested too deeply"),
        (f'{{"schema": {"9" * 5000}}}', "it is not JSON"),
        ('{"schema": 1e999}', "schema must be finite, got inf"),
        ('{"schema": NaN}', "schema must be finite, got nan"),
        ('{"schema": 3, "schema": 3}', "a key is given twice"),
        (b"\xff\xfe\x00", "it is not JSON"),
        ('{"schema": 3}', "it has none of curve, curves, record"),
        ('{"schema": 3, "version": "0", "curves": [], "skipped": {}, "problems": []}', "needs at least one curve"),
    ],
)
def test_what_json_can_spell_and_nothing_can_use(content: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(gpc.InputError, match=rf"x\.json.*{message}"):
        gpc.load(path)


def test_absurd_sizes_take_no_memory(saved: list[Any], tmp_path: Path) -> None:
    data = next(copy.deepcopy(each) for each in saved if "Vertices" in json.dumps(each))
    graph = data["problems"][0]["inputs"]["graph"]
    graph["vertices"] = 999_999_999
    del data["checksum"], graph["labels"]
    assert "a graph of 999,999,999 vertices needs about 64 GB" in load_changed(data, tmp_path / "x.json")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(gpc.InputError, match=r"reading .*large\.json \(.* bytes\) needs about 30000 GB of memory"):
        gpc.load(tmp_path / "large.json")
