"""Which columns of an edge list hold the ends of edges and their weights, and whether its first line names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpcurves.errors import InputError
from gpcurves.graphs.records import Records, check_header, find_column, list_names

_ENDS = [
    ("source", "target"), ("source", "destination"), ("source", "dest"), ("sourceid", "targetid"), ("src", "dst"),
    ("src", "dest"), ("origin", "destination"), ("from", "to"), ("fromid", "toid"), ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"), ("frombus", "tobus"), ("fbus", "tbus"), ("start", "end"), ("startnode", "endnode"),
    ("nodestart", "nodeend"), ("node1", "node2"), ("node0", "node1"), ("nodea", "nodeb"), ("bus0", "bus1"), ("bus1", "bus2"),
    ("vertex1", "vertex2"), ("vertexa", "vertexb"), ("id1", "id2"), ("name1", "name2"), ("person1", "person2"), ("head", "tail"),
    ("tail", "head"), ("upstream", "downstream"), ("user", "friend"), ("member", "friend"), ("u", "v"), ("i", "j"), ("a", "b"),
]  # fmt: skip
_WEIGHTS = {"weight", "weights", "w", "value", "affinity", "strength", "similarity", "closeness"}
_OTHER_WORDS = {
    "node", "vertex", "neighbour", "neighbor", "name", "person", "bus", "junction", "station", "city", "county", "region", "state",
    "country",
}  # fmt: skip
_WORDS = {word for pair in _ENDS for word in pair} | _WEIGHTS | _OTHER_WORDS
_DISTANCES = {
    "distance", "distances", "dist", "length", "len", "km", "kilometres", "kilometers", "mile", "miles", "metre", "metres",
    "meter", "meters", "cost", "costs", "time", "duration", "resistance", "impedance", "dissimilarity", "gap",
}  # fmt: skip
_HOW = "--columns source,target,weight names them (in Python: columns=('source', 'target', 'weight'))"
Columns = Sequence[str | int] | None
"""Two or three columns, by their names or by their positions from 1 on: the ends of an edge, and its weight."""


@dataclass(frozen=True)
class Layout:
    """Where an edge list has what: whether a header comes first, and the positions of the columns.

    ``named`` is the name of the column with weights if there is a header; ``notes`` say what was ignored.
    """

    headed: bool
    width: int
    ends: tuple[int, int]
    weight: int | None = None
    named: str | None = None
    notes: tuple[str, ...] = ()


def find_layout(records: Records, columns: Columns, header: bool | None) -> Layout:
    """Return where the columns of an edge list are; what could be an edge or a header is asked about."""
    path, first = records.path, records.rows[0]
    wanted = None if columns is None else _check_columns(columns)
    if wanted is not None and not all(isinstance(each, int) for each in wanted):
        if header is False:
            raise InputError(f"columns of {path} can be named only if it has a header; give their positions, as in 1,2")
        return _lay_out(path, first, [find_column(path, first, str(each)) for each in wanted], True)
    if wanted is not None:
        places = [int(each) - 1 for each in wanted]
        width = max(map(len, records.rows[:2]))
        if max(places) >= width:
            raise InputError(f"{path} has no column {max(places) + 1}: it has {width}")
        if max(places) >= len(first):  # the first line is a vertex without edges
            return Layout(False, width, (places[0], places[1]), places[2] if len(places) > 2 else None)
    else:
        places = _find_places(records, header)
    headed = _is_headed(records, places) if header is None else header
    return _lay_out(path, first, places, headed) if headed else _without_header(records, places)


def choose_weight(records: Records, layout: Layout, name: str) -> Layout:
    """Return a layout in which the column with this name holds the weights."""
    path, header = records.path, records.rows[0]
    if not layout.headed:
        raise InputError(f"the column {name!r} of weights can be named only if {path} has a header")
    place = find_column(path, header, name)
    if place in layout.ends:
        raise InputError(f"{path}: the column {name!r} holds ends of edges, and cannot be their weight")
    return _lay_out(path, header, [*layout.ends, place], True)


def ask_about_distances(path: Path, name: str) -> None:
    """Refuse a column of weights whose name does not say whether large means near or far."""
    if is_distance(name):
        raise InputError(
            f"{path}: does a large {name!r} mean near or far? --weights affinity takes the numbers as they are (large means "
            f"near), --weights distance takes 1/{name} (in Python: weights='affinity' or weights='distance')"
        )


def is_distance(name: str) -> bool:
    """Tell whether a name has a word for a distance, such as ``length_km`` or ``travelTime``."""
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return not _DISTANCES.isdisjoint(re.split(r"[\W_\d]+", words.lower()))


def _check_columns(columns: Sequence[str | int]) -> list[str | int]:
    if isinstance(columns, str) or not 2 <= len(columns) <= 3:
        raise InputError(f"columns must be two or three names or positions, got {columns!r}")
    given = [each.strip() if isinstance(each, str) else each for each in columns]
    if all(isinstance(each, int) or (each.isascii() and each.isdecimal() and len(each) < 7) for each in given):
        given = [int(each) for each in given]
        if min(map(int, given)) < 1:
            raise InputError(f"columns must be names, or positions from 1 on, got {columns!r}")
    elif not all(isinstance(each, str) and each for each in given):
        raise InputError(f"columns must be all names or all positions, got {columns!r}")
    if len(set(given)) < len(given):
        raise InputError(f"columns must differ from each other, got {columns!r}")
    return given


def _lay_out(path: Path, names: Sequence[str], places: Sequence[int], headed: bool) -> Layout:
    """Return the layout of a file with a header, and say which columns are ignored."""
    check_header(path, names)
    if max(places) >= len(names):
        raise InputError(f"{path} has a header of {len(names)} fields ({list_names(names)}), but its lines have more")
    notes = []
    others = [name or f"column {k + 1}" for k, name in enumerate(names) if k not in places]
    if others:
        notes.append(f"{path}: ignored the column{'s' * (len(others) > 1)} {list_names(others)}")
    weight = places[2] if len(places) > 2 else None
    return Layout(
        headed, len(names), (places[0], places[1]), weight, None if weight is None else names[weight], tuple(notes)
    )


def _without_header(records: Records, places: Sequence[int]) -> Layout:
    width = max(2, len(next((row for row in records.rows if len(row) > 1), records.rows[0])))
    weight = places[2] if len(places) > 2 else None
    others = width - len(places)
    notes = (f"{records.path}: ignored {others} further column{'s' * (others > 1)}",) if others > 0 else ()
    return Layout(False, width, (places[0], places[1]), weight, None, notes)


def _find_places(records: Records, header: bool | None) -> list[int]:
    """Return the columns of the ends and of the weights, by the words of a header, or the first two or three."""
    first = records.rows[0]
    if header is not False:
        words = [_plain_word(field) for field in first]
        pairs = [pair for pair in _ENDS if words.count(pair[0]) == 1 and words.count(pair[1]) == 1]
        if len(pairs) == 1 and len(first) > 2:
            ends = [words.index(word) for word in pairs[0]]
            if ends == [0, 1] and len(first) == 3:
                return [0, 1, 2]
            weights = [k for k, word in enumerate(words) if word in _WEIGHTS and k not in ends]
            return [*ends, *weights] if len(weights) == 1 else ends
        if len(first) > 3 and not any(map(records.is_number, first)):
            raise InputError(
                f"{records.path} has {len(first)} columns ({list_names(first)}): say which hold the ends of an edge, and "
                f"perhaps its weight; {_HOW}"
            )
    width = len(next((row for row in records.rows if len(row) > 1), first))
    if width > 3:
        row = next(k for k, row in enumerate(records.rows) if len(row) > 1)
        raise InputError(
            f"{records.where(row)}: an edge is two names, and a weight if edges have one; got {width} fields in "
            f"{records.quote(row)}; --columns 1,2 chooses two"
        )
    return [0, 1, 2] if width == 3 else [0, 1]


def _is_headed(records: Records, places: Sequence[int]) -> bool:
    """Tell whether the first line names columns; if it could be an edge as well, ask."""
    first, rest = records.rows[0], records.rows[1:]
    if (
        len(first) <= max(places)
        or not all(first[k] for k in places[:2])
        or any(records.is_number(first[k]) for k in places[:2])
    ):
        return False
    names, ends = [first[k] for k in places[:2]], set(places[:2])
    if any(k < len(row) and row[k] in names for row in rest for k in ends):
        return False  # a word that is the name of a vertex below
    if not rest:  # an edge, unless its words are those of headers; letters are names of vertices as well
        return all(_plain_word(name) in _WORDS and len(name) > 1 for name in names)
    known = all(_plain_word(name) in _WORDS for name in names) and names[0].lower() != names[1].lower()
    others = [k for k in range(len(first)) if k not in ends]
    weighed = any(records.is_number(first[k]) for k in others)
    if (len(places) > 2 and not records.is_number(first[places[2]])) or any(
        _is_above_numbers(records, k) for k in others
    ):
        return True
    below = [row[k] for row in rest for k in ends if k < len(row) and row[k]]
    if all(map(records.is_number, below)) and not weighed:
        return True  # words above numbers
    alike = not {_shape(name) for name in names if any(map(str.isdigit, name))}.isdisjoint(map(_shape, below))
    if not known and (weighed or alike):
        return False
    if known and not weighed and not alike and min(map(len, names)) > 1:
        return True
    raise InputError(
        f"{records.where(0)}: {records.quote(0)} may be an edge, or the names of the columns: say --no-header if it is an "
        "edge, --header if not (in Python: header=False or True)"
    )


def _is_above_numbers(records: Records, column: int) -> bool:
    """Tell whether a word of the first line stands above numbers."""
    below = [row[column] for row in records.rows[1:] if column < len(row) and row[column]]
    return bool(below) and not records.is_number(records.rows[0][column]) and all(map(records.is_number, below))


def _plain_word(field: str) -> str:
    return re.sub(r"[\s_-]", "", field).lower()


def _shape(name: str) -> str:
    """Return a name with 9 for all its digits, which vertices that are numbered have in common."""
    return re.sub(r"\d+", "9", name)
