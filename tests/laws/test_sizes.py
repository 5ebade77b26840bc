"""Sizes that stay readable: modules of about 120 lines, none above 450; names that mean one thing."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from statistics import median

import gpcurves as gpc

PACKAGE = Path(gpc.__file__).parent
MODULES = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}


def test_modules_are_short() -> None:
    lines = {path: text.count("\n") for path, text in MODULES.items()}
    assert {str(path): count for path, count in lines.items() if count > 450} == {}
    assert 60 < median(lines.values()) < 135


def test_no_class_name_occurs_twice() -> None:
    names = Counter(
        name for text in MODULES.values() for name in re.findall(r"^\s*class (\w+)[(:\[]", text, re.MULTILINE)
    )
    assert {"Problem", "Spectrum", "LearningCurve"} <= names.keys()
    assert {name for name, count in names.items() if count > 1} == set()
