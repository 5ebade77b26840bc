"""Graphs from files: every way in which people write them down, and files that say what is wrong with them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from gpcurves import Graph, InputError, read_graph
from gpcurves.graphs.formats import parse_matrix

TRIANGLE = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], labels=("1", "2", "3", "10"))
WEIGHTED = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], weights=[0.5, 2, 1, 3], labels=("1", "2", "3", "10"))


def written(folder: Path, content: str | bytes, name: str = "graph.txt") -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


# ---- edge lists ----

PLAIN = {
    "spaces": "1 2\n2 3\n1 3\n3 10\n",
    "several spaces": "  1   2\n2 3  \n1  3\n3 10\n",
    "tabs": "1\t2\n2\t3\n1\t3\n3\t10\n",
    "commas": "1,2\n2,3\n1,3\n3,10\n",
    "commas and spaces": "1, 2\n2 , 3\n1,3\n3, 10\n",
    "semicolons": "1;2\n2;3\n1;3\n3;10\n",
    "no last line end": "1 2\n2 3\n1 3\n3 10",
    "Windows": "1 2\r\n2 3\r\n1 3\r\n3 10\r\n",
    "byte order mark": "\ufeff1 2\n2 3\n1 3\n3 10\n",
    "byte order mark and header": "\ufeffsource,target\r\n1,2\r\n2,3\r\n1,3\r\n3,10\r\n",
    "header": "source target\n1 2\n2 3\n1 3\n3 10\n",
    "header, upper case": "Source,Target\n1,2\n2,3\n1,3\n3,10\n",
    "header, letters": "i j\n1 2\n2 3\n1 3\n3 10\n",
    "header, quoted": '"from";"to"\n"1";"2"\n"2";"3"\n"1";"3"\n"3";"10"\n',
    "comments": "# a graph\n% of mine\n// really\n\n1 2  # the first\n2 3\t# another\n1 3\n\n3 10\n",
    "comment, then header": "# a graph\nFromNodeId\tToNodeId\n1\t2\n2\t3\n1\t3\n3\t10\n",
    "both directions": "1 2\n2 1\n2 3\n1 3\n3 2\n3 1\n3 10\n10 3\n",
    "another order": "3 10\n3 1\n2 3\n2 1\n",
}


@pytest.mark.parametrize("form", PLAIN)
def test_an_edge_list_is_read_however_it_is_written(form: str, tmp_path: Path) -> None:
    assert read_graph(written(tmp_path, PLAIN[form])) == TRIANGLE
    assert read_graph(str(written(tmp_path, gzip.compress(PLAIN[form].encode()), "graph.txt.gz"))) == TRIANGLE
    assert read_graph(written(tmp_path, gzip.compress(PLAIN[form].encode()))) == TRIANGLE  # whatever its name says


@pytest.mark.parametrize(
    "content",
    [
        "1 2 0.5\n2 3 2\n1 3 1e0\n3 10 3.0\n",
        "source,target,weight\n1,2,0.5\n2,3,2\n1,3,1\n3,10,3\n",
        "person one\tperson two\tcloseness\n1\t2\t0.5\n2\t3\t2\n1\t3\t1\n3\t10\t3\n",
        "1;2;.5\n2;1;.5\n2;3;2\n1;3;1\n3;10;3\n",
    ],
)
def test_a_third_field_is_the_weight(content: str, tmp_path: Path) -> None:
    assert read_graph(written(tmp_path, content, "graph.csv")) == WEIGHTED


def test_whole_numbers_are_sorted_by_size_and_names_by_appearance(tmp_path: Path) -> None:
    assert read_graph(written(tmp_path, "10 9\n9 -1\n100 10\n")).labels == ("-1", "9", "10", "100")
    assert read_graph(written(tmp_path, "zoe ann\nann bob\n")).labels == ("zoe", "ann", "bob")
    assert read_graph(written(tmp_path, "Zoë\tAnn Lee\nAnn Lee\tBob\n")).labels == ("Zoë", "Ann Lee", "Bob")
    assert read_graph(written(tmp_path, "0 2\n2 1\n")).labels is None  # names that are the numbers of vertices


@pytest.mark.parametrize(
    ("content", "edges"),
    [
        ("a b\nb c\nc a\n", 3),  # the first line is an edge, though its names could head columns
        ("u v\nv w\n", 2),
        ("start a\na b\nb end\n", 3),
        ("source sink\nsink target\n", 2),
        ("from to\nto from2\n", 2),
    ],
)
def test_names_that_could_head_a_column_are_names_where_they_are_used(content: str, edges: int, tmp_path: Path) -> None:
    assert read_graph(written(tmp_path, content)).edges == edges


def test_vertices_without_edges_are_added_by_number(tmp_path: Path) -> None:
    graph = read_graph(written(tmp_path, "1 2\n2 4\n"), vertices=6)
    assert graph.labels == ("1", "2", "3", "4", "5", "6")
    assert graph.isolated.tolist() == [False, False, True, False, True, True]
    graph = read_graph(written(tmp_path, "0 2\n"), vertices=4)
    assert graph.labels is None
    assert graph.neighbours.tolist() == [1, 0, 1, 0]
    graph = read_graph(written(tmp_path, "ann bob\n"), vertices=3)
    assert graph.labels == ("ann", "bob", "1")
    with pytest.raises(InputError, match="vertices must be an integer, at least 2, got 1"):
        read_graph(written(tmp_path, "1 2\n"), vertices=1)


MALFORMED: dict[str, tuple[str, int, str]] = {
    "one field, of a vertex with edges": ("1 2\n2\n", 2, "got one field in '2', which has edges elsewhere"),
    "one field with blanks": ("1,2\nNew York\n", 2, "got one field in 'New York'"),
    "four fields": ("1 2\n3 4 5 6\n", 2, "got 4 fields in '3 4 5 6'"),
    "four fields at once": ("1 2 3 4\n", 1, "got 4 fields"),
    "empty field": ("1,2\n,3\n", 2, "got an empty field in ',3'"),
    "empty last field": ("1;2;\n", 1, "got an empty field"),
    "bad weight": ("1 2 0.5\n\n# x\n2 3 heavy\n", 4, "a weight must be a number, got 'heavy'"),
    "bad weight at once": ("1 2 heavy\n2 3 1\n", 1, "a weight must be a number, got 'heavy'"),
    "negative weight": ("1 2 0.5\n2 3 -1\n", 2, "a weight must be finite and greater than 0, got -1"),
    "negative weight at once": ("1 2 -0.5\n", 1, "greater than 0, got -0.5"),
    "no weight": ("1 2 0\n", 1, "greater than 0, got 0"),
    "NaN": ("1 2 nan\n", 1, "a weight must be finite"),
    "infinite": ("1 2 1\n2 3 inf\n", 2, "a weight must be finite"),
    "huge": ("1 2 1e999\n", 1, "a weight must be finite"),
    "weight missing": ("1 2 0.5\n2 3\n", 2, "3 fields expected as before, got '2 3'"),
    "weight too much": ("1 2\n2 3 0.5\n", 2, "2 fields expected as before, got '2 3 0.5'"),
    "another separator": ("1,2\n2 3\n", 2, "got one field in '2 3'"),
    "self-loop": ("1 2\n2 2\n", 2, "the vertex '2' is joined to itself: ask for repair"),
    "repeated": ("# x\n1 2\n2 3\n1 2\n", 4, "the edge from '1' to '2' was given in line 2 already: ask for repair"),
    "repeated backwards": ("1 2\n2 1\n2 1\n", 3, "was given in line 2 already"),
    "directed": (
        "1 2 0.5\n2 1 0.7\n",
        2,
        "has another weight in line 1, so that the graph is directed: ask for repair",
    ),
    "Windows": ("1 2\r\n2\r\n", 2, "got one field in '2'"),
    "long line": ("1 2\n" + "3 " * 100 + "\n", 2, "got 100 fields in '3 3 3"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_line_is_named(what: str, tmp_path: Path) -> None:
    content, line, sentence = MALFORMED[what]
    file = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_graph(file)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 200 + len(str(file))


def test_an_edge_list_is_repaired_on_request(tmp_path: Path) -> None:
    graph = read_graph(written(tmp_path, "1 2 1\n1 2 2\n2 2 9\n2 3 1\n3 2 1\n"), repair=True)
    assert graph.adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 1], [0, 1, 0]]
    lonely = read_graph(written(tmp_path, "1 1\n2 3\n"), repair=True)
    assert lonely.isolated.tolist() == [True, False, False]


def test_a_directed_edge_list_and_matrix_are_repaired_alike(tmp_path: Path) -> None:
    edges = read_graph(written(tmp_path, "0 1 1\n1 0 2\n1 2 5\n"), repair=True)
    header = "%%MatrixMarket matrix coordinate real general\n3 3 3\n"
    matrix = read_graph(written(tmp_path, header + "1 2 1\n2 1 2\n2 3 5\n", "graph.mtx"), repair=True)
    assert edges == matrix


BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n\t\n", "is empty"),
    "only comments": (b"# nothing\n% here\n", "holds no edges"),
    "only a header": (b"source target\n", "holds no edges"),
    "binary": (bytes(range(256)), "cannot read .*: it is not a text file"),
    "zeros": (b"1 2\n\0\0\n", "cannot read .*: it is not a text file"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(50), "cannot read .*: it is not a text file"),
    "empty, compressed": (gzip.compress(b""), "is empty"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_file_without_edges_is_refused(what: str, tmp_path: Path) -> None:
    content, sentence = BROKEN[what]
    file = written(tmp_path, content)
    with pytest.raises(InputError, match=sentence) as caught:
        read_graph(file)
    assert str(file) in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*none.txt: No such file"):
        read_graph(tmp_path / "none.txt")
    with pytest.raises(InputError, match=r"cannot read .*: it is a folder"):
        read_graph(tmp_path)
    (tmp_path / "folder.graphml").mkdir()
    with pytest.raises(InputError, match=r"cannot read .*: it is a folder"):
        read_graph(tmp_path / "folder.graphml")


def damaged(place: int) -> bytes:
    content = bytearray(gzip.compress("\n".join(f"{i} {i + 1}" for i in range(500)).encode()))
    content[place : place + 20] = b"\xff" * 20 if place > 0 else bytes(20)
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [damaged(10), damaged(200), damaged(-20)[:-3], gzip.compress(b"1 2\n")[:-6], gzip.compress(b"1 2\n")[:5]],
    ids=["at the start", "in the middle", "at the end", "cut at the end", "cut at the start"],
)
def test_a_damaged_compressed_file_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*graph.gz"):
        read_graph(written(tmp_path, content, "graph.gz"))


# ---- other formats ----


def small(kind: type[Any] = nx.Graph) -> Any:
    graph = kind()
    graph.add_weighted_edges_from([("ann", "bob", 0.5), ("bob", "cleo", 2.0)])
    graph.add_node("alone")
    return graph


SMALL = Graph.from_edges([(0, 1), (1, 2)], 4, [0.5, 2], ("ann", "bob", "cleo", "alone"))


def saved(graph: Any, suffix: str) -> bytes:
    buffer = io.BytesIO()
    (nx.write_graphml if suffix == "graphml" else nx.write_gml)(graph, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_networkx_formats_keep_names_weights_and_lonely_vertices(suffix: str, tmp_path: Path) -> None:
    content = saved(small(), suffix)
    assert read_graph(written(tmp_path, content, f"graph.{suffix}")) == SMALL
    assert read_graph(written(tmp_path, content, f"graph.{suffix.upper()}"), vertices=4) == SMALL
    assert read_graph(written(tmp_path, gzip.compress(content), f"graph.{suffix}.gz")) == SMALL
    with pytest.raises(InputError, match="says that it has 4 vertices, not 5"):
        read_graph(written(tmp_path, content, f"graph.{suffix}"), vertices=5)
    assert read_graph(written(tmp_path, saved(nx.path_graph(3), suffix), f"graph.{suffix}")).edges == 2


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_directed_files_are_refused_and_repaired(suffix: str, tmp_path: Path) -> None:
    file = written(tmp_path, saved(small(nx.DiGraph), suffix), f"graph.{suffix}")
    with pytest.raises(InputError, match=f"{suffix}: the graph is directed.*ask for repair"):
        read_graph(file)
    assert read_graph(file, repair=True) == SMALL
    twice = small(nx.MultiGraph)
    twice.add_edge("ann", "bob", weight=1.0)
    file = written(tmp_path, saved(twice, suffix), f"twice.{suffix}")
    with pytest.raises(InputError, match="several edges between the same vertices"):
        read_graph(file)
    assert read_graph(file, repair=True).edge_list()[1].tolist() == [1.5, 2.0]


def test_gml_vertices_may_have_numbers_only(tmp_path: Path) -> None:
    # as in the files of M. Newman's collection
    nodes = "".join(f"  node [\n    id {i}\n  ]\n" for i in (1, 2, 5))
    edges = "".join(f"  edge [\n    source {i}\n    target {j}\n  ]\n" for i, j in ((2, 1), (5, 2)))
    graph = read_graph(written(tmp_path, f'Creator "me"\ngraph [\n  directed 0\n{nodes}{edges}]\n', "graph.gml"))
    assert graph.labels == ("1", "2", "5")
    assert graph.edges == 2


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_weights_in_files_must_be_numbers(suffix: str, tmp_path: Path) -> None:
    for weight, sentence in (("heavy", "weights must be numbers"), (-1.0, "weights must be positive")):
        graph = small()
        graph.add_edge("ann", "bob", weight=weight)
        file = written(tmp_path, saved(graph, suffix), f"graph.{suffix}")
        with pytest.raises(InputError, match=f"{suffix}: {sentence}"):
            read_graph(file)


MATRIX = np.array([[0, 1, 0, 0], [1, 0, 2.5, 0], [0, 2.5, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("symmetry", ["symmetric", "general"])
@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_matrix, np.asarray])
def test_matrix_market_files_are_read(form: Any, symmetry: str, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    scipy_io.mmwrite(buffer, form(MATRIX), symmetry=symmetry)
    assert symmetry.encode() in buffer.getvalue()
    for content, name in ((buffer.getvalue(), "a.mtx"), (gzip.compress(buffer.getvalue()), "a.mtx.gz")):
        assert read_graph(written(tmp_path, content, name)) == Graph(MATRIX)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("field", ["real", "integer", "complex"])
@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array])
def test_matrix_market_files_are_read_as_by_scipy(form: Any, field: str, symmetry: str) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(-4, 5, (5, 5)) + 1j * rng.integers(-4, 5, (5, 5)) * (field == "complex")
    matrix = {"general": matrix, "hermitian": matrix + matrix.conj().T}.get(symmetry, matrix + matrix.T)
    matrix = matrix - matrix.T if symmetry == "skew-symmetric" else matrix
    buffer = io.BytesIO()
    scipy_io.mmwrite(buffer, form(matrix if field == "complex" else matrix.real), field=field, symmetry=symmetry)
    expected = scipy_io.mmread(io.BytesIO(buffer.getvalue()))
    expected = expected.toarray() if sparse.issparse(expected) else expected
    np.testing.assert_array_equal(parse_matrix(buffer.getvalue()).toarray(), expected)


def test_matrix_market_patterns_have_no_weights(tmp_path: Path) -> None:
    for symmetry, entries in (("symmetric", "2 1\n3 2\n"), ("general", "2 1\n1 2\n3 2\n2 3\n")):
        content = f"%%MatrixMarket matrix coordinate pattern {symmetry}\n% mine\n4 4 {len(entries) // 4}\n{entries}"
        assert read_graph(written(tmp_path, content, "a.mtx")) == Graph(MATRIX > 0)
    content = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 1\n3 1 7\n"
    assert read_graph(written(tmp_path, content, "a.mtx")) == Graph.from_edges([(0, 1), (0, 2)], weights=[1, 7])


HEAD = "%%MatrixMarket matrix coordinate real general\n"
BAD_FORMATS: dict[str, tuple[str, str | bytes, str]] = {
    "graphml, garbage": ("a.graphml", "not a graph", "cannot read .*a.graphml: "),
    "graphml, cut": ("a.graphml", saved(small(), "graphml")[:300], "cannot read .*a.graphml: "),
    "graphml, binary": ("a.graphml", b"\0\xff\0", "cannot read .*a.graphml: "),
    "graphml, other xml": ("a.graphml", "<html><body/></html>", "a.graphml"),
    "graphml, no vertices": ("a.graphml", saved(nx.Graph(), "graphml"), "a.graphml: the graph is empty"),
    "graphml, loop": ("a.graphml", saved(nx.Graph([("x", "x")]), "graphml"), "a.graphml: vertex 0 has a self-loop"),
    "gml, garbage": ("a.gml", "not a graph", "cannot read .*a.gml: "),
    "gml, no vertices": ("a.gml", "graph [\n]\n", "a.gml: the graph is empty"),
    "gml, edge to nowhere": (
        "a.gml",
        'graph [ node [ id 1 label "x" ] edge [ source 1 target 2 ] ]',
        "cannot read .*a.gml",
    ),
    "mtx, garbage": ("a.mtx", "not a matrix", "cannot read .*a.mtx: "),
    "mtx, an edge list": ("a.mtx", "1 2\n", "cannot read .*a.mtx: "),
    "mtx, not square": ("a.mtx", HEAD + "2 3 1\n1 2 1.0\n", r"a.mtx: .* must be square, got the shape \(2, 3\)"),
    "mtx, out of range": ("a.mtx", HEAD + "2 2 1\n3 1 1.0\n", "cannot read .*a.mtx: "),
    "mtx, cut": ("a.mtx", HEAD + "2 2 2\n2 1 1.0\n", "cannot read .*a.mtx: "),
    "mtx, cut in a line": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n12 12 17\n1 2\n1 4\n2 3",  # SciPy crashes on it
        "cannot read .*a.mtx: its header announces 17 entries, but it has 3",
    ),
    "mtx, too long": ("a.mtx", HEAD + "2 2 1\n2 1 1.0\n1 2 1.0\n", "its header announces 1 entries, but it has 2"),
    "mtx, ragged": ("a.mtx", HEAD + "2 2 2\n2 1 1.0\n1 2\n", "each of its entries must be a line of 3 numbers"),
    "mtx, half an index": ("a.mtx", HEAD + "2 2 1\n1.5 1 1.0\n", "its entries must be between 1 1 and 2 2"),
    "mtx, directed": (
        "a.mtx",
        HEAD + "2 2 1\n2 1 1.0\n",
        "a.mtx: the adjacency matrix is not symmetric.*ask for repair",
    ),
    "mtx, negative": ("a.mtx", HEAD + "2 2 2\n2 1 -1.0\n1 2 -1.0\n", "a.mtx: weights must be positive"),
    "mtx, NaN": ("a.mtx", HEAD + "2 2 2\n2 1 nan\n1 2 nan\n", "a.mtx: weights must be finite"),
    "mtx, loop": ("a.mtx", HEAD + "2 2 1\n2 2 1.0\n", "a.mtx: vertex 1 has a self-loop"),
    "mtx, complex": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1.0 1.0\n",
        "a.mtx: .* must be a square array of (real )?numbers",
    ),
    "mtx, no vertices": ("a.mtx", HEAD + "0 0 0\n", "a.mtx"),
}


@pytest.mark.parametrize("what", BAD_FORMATS)
def test_a_file_that_is_not_what_its_name_says_is_refused(what: str, tmp_path: Path) -> None:
    name, content, sentence = BAD_FORMATS[what]
    with pytest.raises(InputError, match=sentence):
        read_graph(written(tmp_path, content, name))


def test_the_order_of_lines_does_not_matter_for_numbered_vertices(tmp_path: Path) -> None:
    lines = [f"{i} {(i * 7 + 3) % 60}" for i in range(60) if i != (i * 7 + 3) % 60]
    once = {tuple(sorted(map(int, line.split()))): line for line in lines}
    forward = read_graph(written(tmp_path, "\n".join(once.values())))
    shuffled = np.random.default_rng(1).permutation(list(once.values())).tolist()
    assert read_graph(written(tmp_path, "\n".join(shuffled))) == forward
