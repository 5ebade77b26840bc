"""Graphs as people and other programs keep them: tables with columns by name, distances, positions and attributes."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import pickle
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpcurves import Graph, InputError, as_graph, read_graph
from gpcurves.graphs import formats

CHAIN = Graph.from_edges([(0, 1), (1, 2)], labels=("ann", "bob", "cleo"))
WEIGHTED = Graph.from_edges([(0, 1), (1, 2)], weights=[2, 4], labels=("ann", "bob", "cleo"))


def written(folder: Path, content: str | bytes, name: str = "graph.csv") -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def names_of(graph: Graph) -> list[str]:
    return [graph.label(i) for i in range(graph.vertices)]


# ---- quoted fields ----


def test_names_between_quotation_marks_may_hold_anything(tmp_path: Path) -> None:
    content = (
        'from,to\n"Smith, John","say ""hi"""\n"say ""hi""","two\nlines # and; more"\n# a comment\nplain,"Smith, John"\n'
    )
    graph = read_graph(written(tmp_path, content))
    assert graph.labels == ("Smith, John", 'say "hi"', "two\nlines # and; more", "plain")
    assert graph.edge_list()[0].tolist() == [[0, 1], [0, 3], [1, 2]]
    blanks = read_graph(written(tmp_path, '"New York" Boston\nBoston "Los ""Angeles"""  # far\n'))
    assert blanks.labels == ("New York", "Boston", 'Los "Angeles"')
    assert read_graph(written(tmp_path, '"a, b"; c\nc;d\n')).labels == ("a, b", "c", "d")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('a,b\nb,"c\nd,e\n', "line 2: .*: a quotation mark is never closed"),
        ('a,b\nb,"c"d\n', "line 2: .* expected after"),
        ('a,b\nb,"' + "c" * 200_000 + '"\n', "line 2: .* field larger than field limit"),
        ('a,b\nb,"c\nd",e,f\n', r"line 2: an edge is two names.*got 4 fields"),
        ("Main St #5,b\nb,c\n", "line 1: a blank and # may begin a comment or belong to a name"),
        ("a,b # first\nb,c\n", "line 1: a blank and # may begin a comment or belong to a name"),
        ('"a",b\nb,c # second\n', "line 2: a blank and # may begin a comment or belong to a name"),
    ],
)
def test_fields_that_cannot_be_told_apart_are_refused(content: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        read_graph(written(tmp_path, content))


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6), min_size=2, unique=True
    ),
    delimiter=st.sampled_from(",;\t"),
)
def test_whatever_csv_writes_is_read(
    names: list[str], delimiter: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A path through any names, written as quoted CSV with a header, is the same path again."""
    kept = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if len(kept) < 2:
        return
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("source", "target"), *pairwise(kept)])
    graph = read_graph(written(tmp_path_factory.getbasetemp(), text.getvalue(), "names.csv"), header=True)
    assert sorted(names_of(graph)) == sorted(kept)
    assert graph.edges == len(kept) - 1
    assert all(graph.adjacency[graph.number(a), graph.number(b)] for a, b in pairwise(kept))


def test_tabs_at_the_end_of_lines_are_empty_fields_unless_all_lines_have_them(tmp_path: Path) -> None:
    assert read_graph(written(tmp_path, "ann\tbob\t\nbob\tcleo\t\n")) == CHAIN
    lonely = read_graph(written(tmp_path, "source\ttarget\tkind\tweight\nann\tbob\tx\t2\ndora\t\t\t\nbob\tcleo\t\t4\n"))
    assert lonely.labels == ("ann", "bob", "dora", "cleo")


def test_numbers_may_have_decimal_commas_unless_commas_separate(tmp_path: Path) -> None:
    for content in ("ann;bob;0,5\nbob;cleo;4\n", "source\ttarget\tweight\nann\tbob\t0,5\nbob\tcleo\t4\n"):
        assert read_graph(written(tmp_path, content)).edge_list()[1].tolist() == [0.5, 4]
    with pytest.raises(InputError, match="in 'ann bob 0,5' the comma may be a separator or a decimal mark"):
        read_graph(written(tmp_path, "ann bob 0,5\nbob cleo 4,0\n"))
    with pytest.raises(InputError, match="line 2: a weight must be a number, got '1,234'"):  # perhaps thousands
        read_graph(written(tmp_path, "ann;bob;0.5\nbob;cleo;1,234\n"))


# ---- columns and headers ----

TABLE = "id,to_bus,x,from_bus,weight\n7,bob,0.1,ann,2\n8,cleo,0.2,bob,4\n"


def test_columns_are_found_by_their_names_and_others_are_ignored_with_a_note(tmp_path: Path) -> None:
    file = written(tmp_path, TABLE)
    graph = read_graph(file)
    assert graph.adjacency[graph.number("ann"), graph.number("bob")] == 2
    assert graph.notes == (f"{file}: ignored the columns 'id', 'x'",)
    for columns in (("from_bus", "to_bus", "weight"), ("FROM_BUS", " to_bus", "Weight"), (4, 2, 5), ("4", "2", "5")):
        assert read_graph(file, columns=columns) == WEIGHTED
    unweighted = read_graph(file, columns=["from_bus", "to_bus"])
    assert unweighted == CHAIN
    assert unweighted.notes == (f"{file}: ignored the columns 'id', 'x', 'weight'",)
    assert read_graph(file, columns=(4, 2, 3)).edge_list()[1].tolist() == [0.1, 0.2]
    assert read_graph(written(tmp_path, "ann bob 2 x\nbob cleo 4 y\n"), columns=(1, 2, 3)) == WEIGHTED


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (TABLE, {"columns": ("from", "to_bus")}, r"has no column 'from': its columns are 'id', 'to_bus', 'x'"),
        (TABLE, {"columns": (4, 9)}, "has no column 9: it has 5"),
        (TABLE, {"columns": ("from_bus",)}, "columns must be two or three names or positions"),
        (TABLE, {"columns": "ab"}, "columns must be two or three names or positions"),
        (TABLE, {"columns": (0, 1)}, "columns must be names, or positions from 1 on"),
        (TABLE, {"columns": ("id", 2)}, "columns must be all names or all positions"),
        (TABLE, {"columns": ("id", "id")}, "columns must differ from each other"),
        (TABLE, {"columns": ("from_bus", "to_bus"), "header": False}, "can be named only if it has a header"),
        ("p,q,r,s\na,b,c,d\n", {}, r"has 4 columns \('p', 'q', 'r', 's'\): say which hold the ends .*--columns"),
        ("from,to,from,x\na,b,c,d\n", {}, "say which hold the ends"),
        ("source,target,target\na,b,c\n", {}, "more than one column named 'target'"),
        ("source,target,from,to\na,b,c,d\n", {}, "say which hold the ends"),
        ("source,target,kind,length\na,b,c,d\nb,c\n", {}, "line 3: 4 fields expected as before, got 'b,c'"),
        ("1,2,3,4\n", {}, "line 1: an edge is two names.*got 4 fields.*--columns 1,2 chooses two"),
        ("source\n1,2\n", {"header": True}, r"has a header of 1 fields \('source'\)"),
    ],
)  # fmt: skip
def test_columns_that_are_not_clear_are_asked_about(
    content: str, options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        read_graph(written(tmp_path, content), **options)


HEADED = [
    "station,neighbour\n1,2\n2,3\n",  # words above numbers
    "station,neighbour,closeness\nann,bob,2\nbob,cleo,4\n",
    "source,target\nann,bob\n",
    "county,neighbor\nann,bob\nbob,cleo\n",
    "From Node,To Node\nann,bob\nbob,cleo\n",
    "source,target,kind,year\nann,bob,x,1999\nbob,cleo,y,2000\n",
    "i,j,colour,year\nann,bob,x,1999\n",
]
EDGES = [
    "ann,bob\n",
    "ann,bob\nbob,cleo\n",
    "ann,bob,2\ncleo,dora,3\n",
    "v1,v2\nv3,v4\n",  # numbered like those below
    "1,2\n3,4\n",
    "a,b\n",
    "source,b\nsource,c\n",
]
EITHER = [
    "ann,bob\ncleo,dora\n",
    "i j\nk l\n",
    "node1,node2\nnode3,node4\n",
    "source,target,2020\nann,bob,1\n",
    "u,v\nann,bob\nbob,cleo\n",
]


@pytest.mark.parametrize("content", [*HEADED, *EDGES, *EITHER])
def test_a_header_is_recognised_or_asked_about(content: str, tmp_path: Path) -> None:
    file, lines = written(tmp_path, content), content.count("\n")
    if content in EITHER:
        with pytest.raises(
            InputError, match=r"line 1: .* may be an edge, or the names of the columns: say --no-header"
        ):
            read_graph(file)
    else:
        assert read_graph(file).edges == lines - (content in HEADED)
    if content.count(",") < 2 * lines + 1:
        assert read_graph(file, header=False, weights="ignore").edges == lines
        if lines > 1:
            assert read_graph(file, header=True, weights="ignore").edges == lines - 1


# ---- vertices without edges ----


def test_a_line_with_one_name_is_a_vertex_without_edges(tmp_path: Path) -> None:
    for content in ("ann bob\ndora\nbob cleo\n", "dora\nann,bob\nbob,cleo\n", "ann,bob\ndora,\nbob,cleo\n"):
        file = written(tmp_path, content)
        graph = read_graph(file)
        assert sorted(names_of(graph)) == ["ann", "bob", "cleo", "dora"]
        assert [graph.label(i) for i in np.flatnonzero(graph.isolated).tolist()] == ["dora"]
        assert graph.notes == (f"{file}: 1 vertex has no edges ('dora')",)
    table = read_graph(written(tmp_path, "source,target,weight,kind\nann,bob,2,x\nNew York,,,\nbob,cleo,4,\nann,,,\n"))
    assert table.labels == ("ann", "bob", "New York", "cleo")
    assert table.notes[1].endswith("1 vertex has no edges ('New York')")
    assert read_graph(written(tmp_path, "ann,bob\nbob,cleo\ncleo,\n")).notes == ()  # with edges from elsewhere
    numbers = read_graph(written(tmp_path, "1 2\n7\n2 3\n"), vertices=6)
    assert numbers.labels == ("1", "2", "3", "4", "5", "7")
    assert numbers.neighbours.tolist() == [1, 2, 1, 0, 0, 0]


@pytest.mark.parametrize("content", ["ann\n", "ann\nbob\n", "ann,\nbob,\n", "source,target\nann,\n"])
def test_names_alone_are_no_graph(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no edges"):
        read_graph(written(tmp_path, content))


# ---- weights that may be distances ----


@pytest.mark.parametrize(
    "name", ["distance", "Dist", "length", "length_km", "travelTime", "cost (EUR)", "km", "metres", "resistance_ohm"]
)
def test_a_column_of_distances_is_asked_about(name: str, tmp_path: Path) -> None:
    file = written(tmp_path, f"source,target,{name}\nann,bob,2\nbob,cleo,4\n")
    with pytest.raises(InputError) as caught:
        read_graph(file)
    assert str(caught.value) == (
        f"{file}: does a large {name!r} mean near or far? --weights affinity takes the numbers as they are (large means "
        f"near), --weights distance takes 1/{name} (in Python: weights='affinity' or weights='distance')"
    )
    near = read_graph(file, weights="affinity")
    assert near == WEIGHTED
    assert near.notes == (f"{file}: the column {name!r} is the weight of edges as it is: large means near",)
    far = read_graph(file, weights="distance")
    assert far.edge_list()[1].tolist() == [0.5, 0.25]
    assert far.notes == (f"{file}: the weight of an edge is 1 divided by the column {name!r}",)
    assert read_graph(file, weights="ignore") == read_graph(file, columns=(1, 2)) == CHAIN


def test_other_weights_are_affinities(tmp_path: Path) -> None:
    for name in ("weight", "closeness", "lengthy", "timeless", "level"):
        assert read_graph(written(tmp_path, f"source,target,{name}\nann,bob,2\nbob,cleo,4\n")) == WEIGHTED
    file = written(tmp_path, "ann bob 2\nbob cleo 4\n")
    assert read_graph(file, weights="distance").edge_list()[1].tolist() == [0.5, 0.25]
    assert read_graph(written(tmp_path, "ann bob much\nbob cleo more\n"), header=False, weights="ignore") == CHAIN


def test_a_meaning_of_weights_that_is_not_used_is_refused(tmp_path: Path) -> None:
    for name, content in (("a.csv", "ann,bob\n"), ("a.adjlist", "ann bob\n"), ("a.gml", gml(nx.path_graph(2)))):
        with pytest.raises(InputError, match=r"weights='distance' \(--weights\) is not used: .* have no weights"):
            read_graph(written(tmp_path, content, name), weights="distance")
    with pytest.raises(InputError, match="unknown value of weights 'far': known are affinity, distance, ignore"):
        read_graph(written(tmp_path, "ann bob 2\n"), weights="far")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="columns and headers belong to edge lists"):
        read_graph(written(tmp_path, gml(nx.path_graph(2)), "a.gml"), columns=(1, 2))
    for weight in (0.0, -1.0, "x"):
        with pytest.raises(InputError, match="distances must be numbers greater than 0"):
            read_graph(written(tmp_path, gml(nx.Graph([(0, 1, {"weight": weight})])), "a.gml"), weights="distance")


# ---- formats of other programs ----


def saved(write: Callable[[Any, Any], None], graph: Any) -> bytes:
    content = io.BytesIO()
    write(graph, content)
    return content.getvalue()


def gml(graph: Any) -> bytes:
    return saved(nx.write_gml, graph)


def node_link(graph: Any, edges: str = "links") -> bytes:
    return json.dumps(nx.node_link_data(graph, edges=edges)).encode()


def small(kind: type[Any] = nx.Graph) -> Any:
    graph = kind()
    graph.add_weighted_edges_from([("ann", "bob", 2.0), ("bob", "cleo", 4.0)])
    graph.add_node("alone")
    return graph


SMALL = Graph.from_edges([(0, 1), (1, 2)], 4, [2, 4], ("ann", "bob", "cleo", "alone"))
PAJEK = (
    '*Network mine\n% remark\n*Vertices 4\n1 "ann" 0.1 0.2 0.5 ic Red\n2 bob 0.3 0.4\n3 "cleo" 0.5 1\n4 alone 0 0\n'
    "*Edges\n1 2 2\n2 3 4 c Blue\n"
)
FORMATS: dict[str, tuple[str, bytes]] = {
    "gexf": (".gexf", saved(nx.write_gexf, small())),
    "gexf 1.1": (".gexf", saved(lambda g, f: nx.write_gexf(g, f, version="1.1draft"), small())),
    "pajek": (".net", PAJEK.encode()),
    "pajek project": (".paj", (PAJEK + "*Partition x\n*Vertices 4\n1\n1\n2\n2\n").encode()),
    "pajek arcs": (".net", PAJEK.replace("*Edges", "*Arcs").replace("1 2 2\n", "1 2 2\n2 1 2\n3 2 4\n").encode()),
    "pajek matrix": (".NET", (PAJEK.split("*Edges")[0] + "*Matrix\n0 2 0 0\n2 0 4 0\n0 4 0 0\n0 0 0 0\n").encode()),
    "networkx pajek": (".net", saved(nx.write_pajek, nx.MultiGraph(small()))),
    "node-link": (".json", node_link(small())),
    "node-link, edges": (".json", node_link(small(), "edges")),
    "d3": (
        ".json",
        b'{"nodes": [{"name": "ann"}, {"name": "bob"}, {"name": "cleo"}, {"name": "alone"}],'
        b'"links": [{"source": 0, "target": 1, "weight": 2}, {"source": 1, "target": 2, "weight": 4}]}',
    ),
}


@pytest.mark.parametrize("what", FORMATS)
def test_other_formats_keep_names_weights_and_lonely_vertices(what: str, tmp_path: Path) -> None:
    suffix, content = FORMATS[what]
    assert read_graph(written(tmp_path, content, f"a{suffix}")) == SMALL
    assert read_graph(written(tmp_path, gzip.compress(content), f"a{suffix}.gz"), vertices=4) == SMALL
    far = read_graph(written(tmp_path, content, f"b{suffix}"), weights="distance")
    assert far.edge_list()[1].tolist() == [0.5, 0.25]
    assert far.notes[-1].endswith("the weight of an edge is 1 divided by what the file says")


def test_adjacency_lists_are_read(tmp_path: Path) -> None:
    expected = Graph.from_edges([(0, 1), (0, 2), (1, 2)], 4, labels=("ann", "bob", "cleo", "alone"))
    for content in ("ann bob cleo\nbob cleo\nalone\n", "# x\nann,bob,cleo\nbob,ann,cleo\ncleo,ann,bob\nalone\n"):
        assert read_graph(written(tmp_path, content, "a.adjlist")) == expected
    assert read_graph(written(tmp_path, "\n".join(nx.generate_adjlist(nx.path_graph(5))), "a.adjlist")).edges == 4
    with pytest.raises(InputError, match=r"a.adjlist, line 1: the edge from 'a' to 'b' was given in line 1 already"):
        read_graph(written(tmp_path, "a b b\n", "a.adjlist"))
    with pytest.raises(InputError, match=r"a.adjlist, line 2: the vertex 'b' is joined to itself"):
        read_graph(written(tmp_path, "a b\nb b\n", "a.adjlist"))


def test_edge_lists_of_networkx_are_read(tmp_path: Path) -> None:
    for name in ("a.edgelist", "a.edgelist.gz"):
        nx.write_edgelist(small(), tmp_path / name)
        assert read_graph(tmp_path / name) == WEIGHTED
        nx.write_weighted_edgelist(small(), tmp_path / name)
        assert read_graph(tmp_path / name) == WEIGHTED
    nx.write_edgelist(nx.path_graph(4), tmp_path / "a.txt")
    assert read_graph(tmp_path / "a.txt") == as_graph(nx.path_graph(4))


def test_directed_files_are_refused_and_repaired(tmp_path: Path) -> None:
    for suffix, content in (
        (".gexf", saved(nx.write_gexf, small(nx.DiGraph))),
        (".json", node_link(small(nx.DiGraph))),
        (".net", PAJEK.replace("*Edges", "*Arcs").encode()),
        (".net", PAJEK.replace("*Edges\n1 2 2", "*Arcs\n1 2 2\n*Edges").encode()),
    ):
        file = written(tmp_path, content, f"a{suffix}")
        with pytest.raises(InputError, match=r"the graph is directed.*ask for repair"):
            read_graph(file)
        assert read_graph(file, repair=True) == SMALL


def test_a_network_of_pajek_need_not_list_its_vertices(tmp_path: Path) -> None:
    graph = read_graph(written(tmp_path, "*vertices 4\n*edgeslist\n1 2 3\n*edges\n3 4\n", "a.net"))
    assert graph.labels == ("1", "2", "3", "4")
    assert graph.edges == 3
    assert graph.positions is None


BAD: dict[str, tuple[str, str | bytes, str]] = {
    "gexf, garbage": (".gexf", "not a graph", "cannot read .*a.gexf: "),
    "gexf, cut": (".gexf", FORMATS["gexf"][1][:300], "cannot read .*a.gexf: "),
    "gexf, other xml": (".gexf", "<html><body/></html>", "cannot read .*a.gexf: "),
    "gexf, declared": (".gexf", '<!DOCTYPE x [<!ENTITY a "b">]><gexf/>', r"a.gexf: it declares a document type \(DOCTYPE\)"),
    "graphml, declared": (".graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "it declares a document type"),
    "graphml, UTF-16": (".graphml", '<?xml version="1.0"?><!DOCTYPE x []><g/>'.encode("utf-16"), "it declares a document"),
    "pajek, garbage": (".net", "not a graph", r"a.net: it has no line \*Vertices"),
    "pajek, no number": (".net", "*Vertices many\n", r"line 1: \*Vertices must be followed by their number"),
    "pajek, too many": (".net", "*Vertices 999999999\n", "needs about .* GB of memory"),
    "pajek, out of range": (".net", "*Vertices 2\n*Edges\n1 3\n", "line 3: vertices are numbered from 1 to 2, got '3'"),
    "pajek, one end": (".net", "*Vertices 2\n*Edges\n1\n", "line 3: an edge needs two vertices"),
    "pajek, weight": (".net", "*Vertices 2\n*Edges\n1 2 x\n", "line 3: a weight must be a number, got 'x'"),
    "pajek, matrix": (".net", "*Vertices 2\n*Matrix\n0 1\n1\n", "line 4: the matrix must have 2 rows"),
    "json, garbage": (".json", "not a graph", "cannot read .*a.json: JSONDecodeError"),
    "json, other": (".json", "[1, 2]", "a.json: it must be node-link data"),
    "json, numbers": (".json", '{"nodes": [1], "links": []}', "each of its nodes and links must be an object"),
    "json, same id": (".json", '{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "'1' occurs twice"),
    "json, odd id": (".json", '{"nodes": [{"id": [1]}], "links": []}', "ids of nodes must be texts or numbers"),
    "json, nowhere": (
        ".json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "a link leads to '2', which is not",
    ),
    "json, deep": (".json", "[" * 100_000, "cannot read .*a.json: RecursionError"),
    "adjlist, empty name": (".adjlist", "a,,b\n", "line 1: a name is missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_is_not_what_its_name_says_is_refused(what: str, tmp_path: Path) -> None:
    suffix, content, sentence = BAD[what]
    with pytest.raises(InputError, match=sentence):
        read_graph(written(tmp_path, content, f"a{suffix}"))


# ---- positions and attributes ----


def adorned(**how: Any) -> Any:
    graph = small()
    for k, name in enumerate(graph):
        graph.nodes[name].update({key: value(k) for key, value in how.items()})
    return graph


PLACED = {
    "x and y": {"x": lambda k: 1.0 * k, "y": lambda k: 2.0 * k},
    "lon and lat": {"lat": lambda k: 2.0 * k, "lon": lambda k: 1.0 * k},
    "capitals": {"Longitude": lambda k: k, "Latitude": lambda k: 2 * k},
    "text": {"pos": lambda k: f"{k}.0,{2 * k}.0"},
    "texts": {"x": lambda k: f"{k}", "y": lambda k: f"{2 * k}e0"},
}


@pytest.mark.parametrize("write", [nx.write_graphml, nx.write_gml, nx.write_gexf])
@pytest.mark.parametrize("how", PLACED)
def test_positions_and_attributes_are_kept(how: str, write: Callable[[Any, Any], None], tmp_path: Path) -> None:
    graph = adorned(**PLACED[how], level=lambda k: 3 * k, kind="abcd".__getitem__)
    suffix = write.__name__.removeprefix("write_").replace("graphml_lxml", "graphml")
    for content, name in ((saved(write, graph), f"a.{suffix}"), (node_link(graph), "a.json")):
        found = read_graph(written(tmp_path, content, name))
        assert found == SMALL
        assert found.positions is not None
        assert found.positions.tolist() == [[k, 2 * k] for k in range(4)]
        assert found.attributes is not None
        assert {key: values.tolist() for key, values in found.attributes.items()} == {
            "level": [0, 3, 6, 9],
            "kind": ["a", "b", "c", "d"],
        }
        assert found.notes == ()
        plain = as_graph(found, weighted=False)
        assert plain.positions is not None
        assert plain.positions.tolist() == found.positions.tolist()
        assert plain.attributes is not None
        assert list(plain.attributes) == list(found.attributes)
    for same in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert same.positions is not None
        assert same.positions[1].tolist() == [1, 2]
        with pytest.raises(ValueError, match="read-only"):
            same.positions[0] = 0


def test_other_ways_to_say_where_vertices_are(tmp_path: Path) -> None:
    pajek = read_graph(written(tmp_path, PAJEK, "a.net"))
    assert pajek.positions is not None
    assert pajek.positions.tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 1], [0, 0]]
    viz = adorned(viz=lambda k: {"position": {"x": 1.0 * k, "y": 2.0 * k, "z": 0.0}})
    node = "graph [ node [ id 0 graphics [ x 1 y 2 ] ] node [ id 1 graphics [ x 3 y 4.5 w 1 ] ] edge [ source 0 target 1 ] ]"
    for found in (
        read_graph(written(tmp_path, saved(nx.write_gexf, viz), "a.gexf")),
        as_graph(adorned(pos=lambda k: (k, 2 * k))),
        as_graph(adorned(pos=lambda k: np.array([k, 2.0 * k]))),
    ):
        assert found.positions is not None
        assert found.positions.tolist() == [[k, 2 * k] for k in range(4)]
        assert found.attributes is None
    drawn = read_graph(written(tmp_path, node, "a.gml"))
    assert drawn.positions is not None
    assert drawn.positions.tolist() == [[1, 2], [3, 4.5]]


def test_what_is_missing_or_odd_is_said() -> None:
    graph = adorned(
        x=float, y=lambda k: float(k) if k else np.nan, level=lambda k: k, box=lambda k: [k], mixed=lambda k: k
    )
    del graph.nodes["ann"]["level"]
    graph.nodes["bob"].update(level=10**400, mixed="two")
    graph.nodes["cleo"]["level"] = np.inf
    found = as_graph(graph)
    assert found.positions is None
    assert found.attributes is not None
    assert np.isnan(found.attributes["level"]).tolist() == [True, True, True, False]
    assert found.attributes["mixed"].tolist() == ["0", "two", "2", "3"]
    assert found.notes == (
        "some vertices have no position, so that positions are not used",
        "ignored attributes of vertices that are neither numbers nor texts: 'box'",
    )
    many = nx.path_graph(2)
    many.nodes[0].update({f"a{k}": k for k in range(1100)})
    assert as_graph(many).notes == ("only the first 1,000 of 1,100 attributes of vertices are kept",)


def test_the_weight_is_an_attribute_of_edges_that_people_choose(tmp_path: Path) -> None:
    graph = small()
    for k, (a, b) in enumerate(graph.edges):
        graph.edges[a, b].update(load=k + 2, length=10 * (k + 1), colour="red")
    ways = ((gml(graph), "a.gml"), (node_link(graph), "a.json"), (saved(nx.write_gexf, graph), "a.gexf"))
    for content, name in (*ways, (saved(nx.write_graphml, graph), "a.graphml")):
        file = written(tmp_path, content, name)
        plain = read_graph(file)
        now = "the weight of an edge is 'weight'" if plain.weighted else "every edge counts 1"
        assert plain.notes == (
            f"{file}: ignored attributes of edges: 'colour', 'length', 'load'; {now}, and --weight (in Python: weight=…) takes another attribute",
        )
        chosen = read_graph(file, weight="load")
        assert sorted(chosen.edge_list()[1]) == [k + 2 for k in range(graph.number_of_edges())]
        assert chosen.notes == (
            f"{file}: the weight of an edge is its attribute 'load'",
            f"{file}: ignored attributes of edges: 'colour', 'length'",
        )
        far = read_graph(file, weight="length", weights="distance")
        np.testing.assert_allclose(
            sorted(1 / far.edge_list()[1]), [10 * (k + 1) for k in range(graph.number_of_edges())]
        )
        assert far.notes[0] == f"{file}: the weight of an edge is 1 divided by its attribute 'length'"
        for wanted, sentence in {
            "length": "does a large 'length' mean near or far",
            "width": f"{name}: edges have no attribute 'width': they have 'colour', 'length', 'load'",
            "colour": "weights must be numbers",
        }.items():
            with pytest.raises(InputError, match=re.escape(sentence)):
                read_graph(file, weight=wanted)
    a, b = next(iter(graph.edges))
    del graph.edges[a, b]["load"]
    with pytest.raises(InputError, match="has no attribute 'load', which is to be its weight"):
        read_graph(written(tmp_path, gml(graph), "b.gml"), weight="load")


def test_the_column_of_weights_is_chosen_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, "from,to,load,susceptance\na,b,1,5\nb,c,2,6\n")
    graph = read_graph(file, weight="susceptance")
    assert graph.edge_list()[1].tolist() == [5, 6]
    assert graph.notes == (f"{file}: ignored the column 'load'",)
    assert read_graph(file, columns=("to", "from"), weight="load").edge_list()[1].tolist() == [1, 2]
    cases = [
        ({"weight": "width"}, "has no column 'width'"),
        ({"weights": "distance"}, "name it by --weight: 'from', 'to', 'load', 'susceptance'"),
        ({"weight": "to"}, "the column 'to' holds ends of edges"),
        ({"weight": "load", "weights": "ignore"}, "weights are ignored"),
        ({"weight": "load", "columns": ("from", "to", "load")}, "columns name the weight already"),
    ]
    for options, sentence in cases:
        with pytest.raises(InputError, match=sentence):
            read_graph(file, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"can be named only if .* has a header"):
        read_graph(written(tmp_path, "a b 1\nb c 2\n"), weight="load")
    with pytest.raises(InputError, match="have no attributes with names"):
        read_graph(written(tmp_path, "a b\nb c\n", "a.adjlist"), weight="load")


def test_every_format_is_offered_to_users() -> None:
    from gpcurves.cli.pieces import FILES

    assert set(FILES) <= {*formats.FORMATS, ".adjlist"}
