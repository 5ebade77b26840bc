"""Bundled data: they load from anywhere, and ``plan --demo`` asks about them as one would about one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gpcurves as gpc
from commands import command

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

ROOT = Path(__file__).parents[2]


def test_bundled_data_load_and_are_those_of_the_examples() -> None:
    wines = gpc.datasets.load_wine()
    assert wines.shape == (178, 14)
    assert wines["cultivar"].value_counts().to_dict() == {"A": 59, "B": 71, "C": 48}
    for network, sizes in ((gpc.datasets.load_grid(), (240, 40)), (gpc.datasets.load_club(), (34, 6))):
        graph, labels = network
        assert (len(graph), len(labels)) == sizes
        assert all(graph.has(vertex) for vertex in labels.index)
    for name, example in (("wine", "wine"), ("grid", "grid"), ("angles", "angles"), ("opinions", "known")):
        assert gpc.datasets.path_of(name).samefile(ROOT / "examples" / f"{example}.csv")
    with pytest.raises(gpc.InputError, match="no bundled table 'vine', only angles, club"):
        gpc.datasets.path_of("vine")


def test_the_demo_runs_in_any_folder_and_ends_with_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # as after an installation: no examples beside
    code, out, err = command("plan", "--demo", "--draws", "1", "--json")
    assert code == 0
    answers = json.loads(out)
    assert answers["forecast"][0]["n"] == 178
    assert answers["required_n"]["estimate"] > 178
    lines = err.splitlines()
    assert lines[0].startswith("demo: 178 wines")
    assert "to reach an RMSE of 0.21" in lines[-1]  # the answer is what stays on the screen
    assert next(k for k, line in enumerate(lines) if not line) > max(
        k for k, line in enumerate(lines) if line.startswith("data: ")
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--demo", "netwerk"], "--demo must be table or network, got 'netwerk'"),
        (["--demo", "network", "--labels", "known.csv"], "--demo brings its own data"),
        (["data.csv", "--demo"], "--demo brings its own data"),
        (["--demo", "--weights", "distance"], "--weights is for graphs, but this is a table"),
        ([], "or --demo for data that come with gpcurves"),
    ],
)
def test_what_the_demo_cannot_take(words: list[str], sentence: str) -> None:
    code, out, err = command("plan", *words)
    assert (code, out) == (2, "")
    assert sentence in err.splitlines()[-1]


@pytest.mark.slow
def test_another_target_has_no_goal_in_foreign_units() -> None:
    code, out, err = command("plan", "--demo", "--target", "proline", "--draws", "1", "--json")
    assert code == 0
    assert json.loads(out)["required_n"] is None
    assert "0.21" not in err
