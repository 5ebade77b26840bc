"""Measured ratios and times beside their goals; a missed goal ends the benchmarks with exit code 1."""

from __future__ import annotations

import math
from collections.abc import Callable


class Report:
    """Prints each value beside its goal and remembers the goals that were missed."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def add(self, name: str, value: float, *, above: float = -math.inf, below: float = math.inf) -> None:
        """Print a value, and remember it unless it is strictly between its limits; NaN is a miss."""
        goal = " and ".join(
            f"{side} {limit:g}" for side, limit in ((">", above), ("<", below)) if not math.isinf(limit)
        )
        met = above < value < below
        print(f"{name:<84} {value:9.2f}   (goal {goal}{'' if met else ', missed'})", flush=True)
        if not met:
            self.missed.append(f"{name}: {value:.3g}, goal {goal}")


def judge(*benchmarks: Callable[[Report], None]) -> int:
    """Run benchmarks, print which goals they missed, and return the exit code: 1 if there are any."""
    report = Report()
    for benchmark in benchmarks:
        benchmark(report)
    print(*(["Missed goals:", *report.missed] if report.missed else ["All goals are met."]), sep="\n  ")
    return 1 if report.missed else 0
