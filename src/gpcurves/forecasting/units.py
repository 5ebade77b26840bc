"""What a forecast counts: rows of a table, groups of them such as patients, or labels at vertices, of which there are only so many."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_SIGHT = 0.8
_ROWS = re.compile(r"\b([Rr])ow(s?)\b")
_PLURALS = {
    "animal": "animals", "batch": "batches", "building": "buildings", "child": "children", "city": "cities",
    "client": "clients", "company": "companies", "country": "countries", "customer": "customers", "device": "devices",
    "donor": "donors", "experiment": "experiments", "farm": "farms", "field": "fields", "hospital": "hospitals",
    "household": "households", "individual": "individuals", "machine": "machines", "participant": "participants",
    "patient": "patients", "person": "people", "plant": "plants", "plot": "plots", "pupil": "pupils",
    "sample": "samples", "school": "schools", "sensor": "sensors", "session": "sessions", "site": "sites",
    "speaker": "speakers", "station": "stations", "student": "students", "subject": "subjects", "trial": "trials",
    "user": "users", "well": "wells",
}  # fmt: skip
"""Names of columns that are words for a group, with their plurals; any other column has "groups"."""


UNNAMED = "group"


def name_groups(column: str) -> str:
    """Return what the groups in a column are called, in the singular: "patient" for Patient, patients or patient_id."""
    word = re.sub(r"(?<=[a-z])I[Dd]$", "", column.strip()).lower()
    word = re.sub(r"[\W_]+(id|no|nr|number|code|name)$", "", word)
    singular = next((one for one, many in _PLURALS.items() if word == many), word)
    return singular if singular in _PLURALS else UNNAMED


def is_plural(word: str) -> bool:
    """Tell whether a word means several groups, as in a column that counts them: "children"."""
    return word in _PLURALS.values()


@dataclass(frozen=True)
class Unit:
    """Rows, unless ``most`` says how many vertices there are to be labelled, or ``group`` what related rows share, as "patient"."""

    most: int | None = None
    group: str | None = None

    @property
    def are_labels(self) -> bool:
        return self.most is not None

    @property
    def limit(self) -> float:
        """The largest number there can be."""
        return math.inf if self.most is None else float(self.most)

    @property
    def sight(self) -> float:
        """The largest number at which there is still something left to be predicted, and to measure the error at."""
        return math.inf if self.most is None else float(max(1, math.floor(_SIGHT * self.most)))

    @property
    def plural(self) -> str:
        """What is counted: rows, labels, or groups by their own name."""
        if self.are_labels:
            return "labels"
        return "rows" if self.group is None else _PLURALS.get(self.group, "groups")

    @property
    def axis(self) -> str:
        """The name of the axis of n."""
        if self.are_labels or self.group is not None:
            return f"number of {self.plural}"
        return "number of labelled rows"

    @property
    def where(self) -> str:
        """Where the error is measured."""
        if self.are_labels:
            return "at unlabelled vertices"
        return "on new rows" if self.group is None else f"on new {self.plural}"

    def say(self, text: str) -> str:
        """Return a sentence about rows as one about what is counted."""
        if not self.are_labels and self.group is None:
            return text
        singular = "label" if self.are_labels else (self.group or "row")

        def name(found: re.Match[str]) -> str:
            word = self.plural if found[2] else singular
            return word.capitalize() if found[1] == "R" else word

        return _ROWS.sub(name, text)

    def say_number(self, number: str) -> str:
        """Return a number with what it is of: "520", or "520 of 1,888 possible"."""
        return number if self.most is None else f"{number} of {self.most:,} possible"

    def describe_groups(self, count: int, rate: float) -> str:
        """Say what n counts if it is not rows, which there are ``rate`` of in each group."""
        each = f"{count:,} {self.plural} with {rate:.3g} rows each on average"
        return (
            f"n counts {self.plural}, not rows: you have {each}. Errors are for the rows of new {self.plural}, "
            f"and include by how much {self.plural} differ beyond their inputs."
        )


ROWS = Unit()
