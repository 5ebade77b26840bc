"""A benchmark that misses its goal is a failure: the missed goals are named, and the exit code is 1."""

from __future__ import annotations

import math

import pytest

from benchmarks.goals import Report, judge


def met(report: Report) -> None:
    report.add("ratio of times", 21.0, above=20)
    report.add("seconds", 59.0, below=60)


@pytest.mark.parametrize(
    ("value", "goal", "words"),
    [
        (19.0, {"above": 20.0}, "speed: 19, goal > 20"),
        (20.0, {"above": 20.0}, "speed: 20, goal > 20"),
        (2.6, {"below": 2.5}, "speed: 2.6, goal < 2.5"),
        (math.nan, {"above": 20.0}, "speed: nan, goal > 20"),
        (math.nan, {"below": 2.5}, "speed: nan, goal < 2.5"),
    ],
)
def test_a_missed_goal_gives_exit_code_1(
    value: float, goal: dict[str, float], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(met, lambda report: report.add("speed", value, **goal), met) == 1
    assert capsys.readouterr().out.partition("Missed goals:\n")[2] == f"  {words}\n"


def test_goals_that_are_met_give_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(met, met) == 0
    assert capsys.readouterr().out.endswith("All goals are met.\n")
