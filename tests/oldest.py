"""Print what ``make oldest`` installs: the lowest versions that pyproject.toml allows, and what the tests need."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
TOOLS = ("pytest", "hypothesis", "mpmath")


def pins() -> list[str]:
    """Return requirements with lower bounds turned into exact versions."""
    lowest = [each.replace(">=", "==") for each in PROJECT["dependencies"] + EXTRAS["files"] + EXTRAS["cluster"]]
    return lowest + [each for each in EXTRAS["dev"] if each.startswith(TOOLS)]


if __name__ == "__main__":
    sys.stdout.write("\n".join([*pins(), ""]))
