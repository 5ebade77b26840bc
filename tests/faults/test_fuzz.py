"""A short run of the fuzzer, always with the same calls; `make fuzz` makes more of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).parents[1] / "fuzzing.py"


@pytest.mark.slow
def test_no_call_is_a_defect() -> None:
    command = [sys.executable, str(FUZZER), "--seed", "0", "--calls", "35", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
