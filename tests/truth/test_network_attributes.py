"""Attributes of vertices: their covariance retyped, what they gain and do not lose, and which are refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.errors import InputError
from gpcurves.forecasting.networks.attributes import LENGTHSCALES, MOST_CATEGORIES, SHARES, Attributes
from gpcurves.forecasting.networks.candidates import add_attributes, choose_kernels, make_candidates
from gpcurves.numerics.validation import FloatArray

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

GRID = gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12)))
NAMED = gpc.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], labels="ecabd")


def draw(seed: int, gain: float) -> tuple[FloatArray, FloatArray]:
    """Return attributes, of which the second tells nothing, and values of a process on the graph plus a multiple of the first."""
    rng = np.random.default_rng(seed)
    C = gpc.MaternGraphKernel(4.0, 2.0).on(GRID).matrix()
    f = np.linalg.cholesky(C + 1e-9 * np.eye(144)) @ rng.standard_normal(144)
    z = rng.normal(size=(144, 2))
    return z, f + gain * z[:, 0] + 0.1 * rng.normal(size=144)


def score(seed: int, gain: float) -> tuple[list[float], float, float]:
    """Return the RMSE at vertices without labels, without and with attributes; their probability; what intervals hold."""
    z, y = draw(seed, gain)
    pick = np.random.default_rng(seed).permutation(144)
    known, rest = pick[:40], pick[40:]
    models = [gpc.GraphRegressor(GRID, attributes=each).fit(known, y[known]) for each in (None, z)]
    errors = [float(np.sqrt(np.mean((model.predict(rest) - y[rest]) ** 2))) for model in models]
    low, high = models[1].predict_interval(rest)
    return errors, models[1].attributed_, float(np.mean((low < y[rest]) & (y[rest] < high)))


def test_attributes_that_explain_the_target_lower_the_error() -> None:
    found = [score(seed, 2.0) for seed in range(4)]
    assert all(errors[1] < 0.6 * errors[0] for errors, _, _ in found)
    assert all(attributed > 0.99 for _, attributed, _ in found)
    assert 0.8 < np.mean([held for _, _, held in found]) < 0.97


@pytest.mark.slow
def test_attributes_that_tell_nothing_change_little() -> None:
    found = [score(seed, 0.0) for seed in range(4)]
    assert all(abs(errors[1] / errors[0] - 1) < 0.05 for errors, _, _ in found)
    assert all(attributed < 0.5 for _, attributed, _ in found)


def test_covariances_are_those_of_the_graph_and_of_the_attributes() -> None:
    """Retyped with loops: a number and a category with three values, each of which has the variance 1 in all."""
    small = gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6)))
    rng = np.random.default_rng(1)
    height, kind = rng.normal(300, 40, 30), rng.choice(["pump", "tank", "pipe"], 30)
    table = pd.DataFrame({"height": height, "kind": kind})
    attributes = Attributes.read(small, table)
    z = [[(height[i] - height.mean()) / height.std()] for i in range(30)]
    share = {each: float(np.mean(kind == each)) for each in ("pump", "tank", "pipe")}
    size = math.sqrt(sum(p * (1 - p) for p in share.values()))
    for i in range(30):
        z[i] += [((kind[i] == each) - p) / size for each, p in share.items()]
    vertices, others = np.array([3, 12, 29]), np.array([0, 12])

    def similarity(i: int, j: int, lengthscale: float) -> float:
        pairs = list(zip(z[i], z[j], strict=True))
        apart, product = sum((a - b) ** 2 for a, b in pairs) / 2, sum(a * b for a, b in pairs) / 2
        return 0.5 * math.exp(-float(apart) / (2 * lengthscale**2)) + 0.5 * float(product)

    plain = list(make_candidates(small, vertices, choose_kernels(small)))
    found = add_attributes(plain, small, vertices, attributes)
    assert found[: len(plain)] == plain
    seen = set()
    for candidate in found[len(plain) :]:
        assert candidate.part is not None
        share_of, lengthscale = candidate.part.share, candidate.part.kernel.lengthscale
        raw = candidate.raw.kernel.normalised("none").on(small).matrix()
        root = np.sqrt(np.diag(raw)) if candidate.local else np.full(30, math.sqrt(candidate.average))
        C = raw / np.outer(root, root)

        def whole(i: int, j: int, C: FloatArray = C, s: float = share_of, ell: float = lengthscale) -> float:
            return (1 - s) * float(C[i, j]) + s * similarity(i, j, ell)

        expected = [[whole(i, j) for j in others.tolist()] for i in vertices.tolist()]
        np.testing.assert_allclose(candidate.between(vertices, others), expected, atol=1e-9)
        np.testing.assert_allclose(
            candidate.block, [[whole(i, j) for j in vertices.tolist()] for i in vertices.tolist()], atol=1e-9
        )
        np.testing.assert_allclose(candidate.variances(vertices), [whole(i, i) for i in vertices.tolist()], atol=1e-9)
        seen.add((share_of, lengthscale))
    assert seen == {(share, ell) for share in SHARES for ell in LENGTHSCALES}
    assert np.mean(attributes.kernel(0.5).variances(np.arange(30))) == pytest.approx(1.0)
    masses = [sum(math.exp(each.log_prior) for each in part) for part in (plain, found[len(plain) :])]
    assert masses[0] == pytest.approx(masses[1])


def test_attributes_go_by_name() -> None:
    """In any order of their rows, for a graph whose vertices are in another order than their names."""
    numbers = pd.DataFrame({"size": [1.0, 2.0, 4.0, 7.0, 3.0]}, index=list("abcde"))
    y = {"a": 1.0, "b": 2.2, "d": 6.8, "e": 3.0}
    first = gpc.GraphRegressor(NAMED, attributes=numbers).fit(list(y), list(y.values()))
    second = gpc.GraphRegressor(NAMED, attributes=numbers.iloc[::-1]).fit(list(y), list(y.values()))
    np.testing.assert_allclose(first.predict(), second.predict(), rtol=1e-12)
    rows = numbers.loc[list(NAMED.labels or ())].to_numpy()
    third = gpc.GraphRegressor(NAMED, attributes=rows).fit(list(y), list(y.values()))
    np.testing.assert_allclose(first.predict(), third.predict(), rtol=1e-12)
    own = NAMED.with_details(attributes={"size": rows[:, 0], "name": np.array(list("vwxyz"), dtype=object)})
    fourth = gpc.GraphRegressor(own, attributes="auto").fit(list(y), list(y.values()))
    assert fourth.attributes_ is not None
    assert fourth.attributes_.names == ("size", "name")
    assert first.attributes_ is not None
    np.testing.assert_allclose(first.attributes_.columns[:, 0].argsort(), [0, 1, 4, 2, 3])
    assert "the attribute 'size' matter" in first.summary
    assert "attributes=DataFrame" in repr(first)


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        (pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"]), "3 vertices have no attributes ('e', 'c', 'd')"),
        (pd.DataFrame({"x": range(5)}, index=list("abcdz")), "the graph has no vertex 'z'"),
        (pd.DataFrame({"x": range(6)}, index=list("abcdea")), "the vertex 'a' has attributes twice"),
        (pd.DataFrame({"x": [1, 2, None, 4, 5]}, index=list("abcde")), "1 vertex has no 'x' ('c'): correct it"),
        (pd.DataFrame({"x": [1, 2, math.inf, 4, 5]}, index=list("abcde")), "1 vertex has no 'x' ('c')"),
        (pd.DataFrame({"x": ["u", None, "u", "v", "v"]}, index=list("abcde")), "1 vertex has no 'x' ('b')"),
        (pd.DataFrame({"x": [3.0] * 5}, index=list("abcde")), "no attribute of vertices can be used: the attribute 'x' is the same"),
        (pd.DataFrame({"x": [(1,)] * 5}, index=list("abcde")), "the attribute 'x' must be numbers or texts"),
        (pd.DataFrame({"x": [1e200, 1, 2, 3, 4]}, index=list("abcde")), "the attribute 'x' must be between"),
        (pd.DataFrame(index=list("abcde")), "no attribute of vertices can be used: there is none"),
        (pd.DataFrame(np.ones((5, 2)), index=list("abcde"), columns=["x", "x"]), "attributes must have different names"),
        (np.ones((4, 2)), "or an array of 5 rows, got the shape (4, 2)"),
        (np.ones(5), "or an array of 5 rows, got the shape (5,)"),
        ("auto", "the graph has no attributes of vertices"),
        ("size", "or 'auto' for those of the graph, got 'size'"),
    ],
)  # fmt: skip
def test_bad_attributes_are_one_sentence(attributes: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        gpc.GraphRegressor(NAMED, attributes=attributes).fit(["a", "b", "d"], [1.0, 2.0, 3.0])
    assert sentence in str(caught.value)


def test_constant_columns_and_texts_that_are_no_categories() -> None:
    names = [f"v{k}" for k in range(MOST_CATEGORIES + 10)]
    path = gpc.Graph.from_edges([(k, k + 1) for k in range(len(names) - 1)], labels=names)
    table = pd.DataFrame({"x": np.arange(len(names)), "flat": 2, "road": names}, index=names)
    with pytest.raises(InputError, match="'road' has 40 different texts, too many for categories"):
        gpc.GraphRegressor(path, attributes=table).fit(names[:5], np.arange(5.0))
    model = gpc.GraphRegressor(path, attributes=table.drop(columns="road")).fit(names[:5], np.arange(5.0))
    assert "the attribute 'flat' is the same at all vertices: it is not used" in model.notes_
    own = path.with_details(attributes={str(name): table[name].to_numpy() for name in table})
    notes = gpc.GraphRegressor(own, attributes="auto").fit(names[:5], np.arange(5.0)).notes_
    assert any("'road' has 40 different texts" in note for note in notes)


def test_where_attributes_have_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    import gpcurves.forecasting.networks.regressor as regressor

    with pytest.raises(InputError, match="only if the kernel is fitted"):
        gpc.GraphRegressor(GRID, gpc.DiffusionKernel(2.0), attributes=np.ones((144, 1))).fit([0, 1, 2], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="attributes are for graphs"):
        gpc.forecast(np.ones((5, 2)), np.ones(5), attributes=np.ones((5, 1)))
    monkeypatch.setattr(regressor, "LARGEST", 1.0)
    with pytest.raises(InputError, match="attributes of vertices cannot be used on a graph of this size"):
        gpc.GraphRegressor(GRID, attributes=draw(0, 0.0)[0]).fit([0, 1, 2], [1.0, 2.0, 3.0])


@pytest.mark.slow
def test_files_of_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=60), rng.normal(size=60)
    y = 3 * z + 0.3 * y.cumsum()
    graph = nx.relabel_nodes(nx.path_graph(60), lambda k: f"v{k}")
    Path("edges.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in graph.edges))
    known = np.random.default_rng(0).permutation(60)[:22].tolist()
    Path("known.csv").write_text("vertex,y\n" + "".join(f"v{k},{y[k]}\n" for k in known))
    Path("about.csv").write_text("vertex,height,flat\n" + "".join(f"v{k},{z[k]},3\n" for k in range(60)))
    nx.set_node_attributes(graph, {f"v{k}": float(z[k]) for k in range(60)}, "height")
    nx.write_graphml(graph, "graph.graphml")
    words = ["--labels", "known.csv", "--attributes"]
    assert run(["predict", "edges.csv", *words, "about.csv", "--out", "first.csv"]) == 0
    said = capsys.readouterr().err
    assert "the attribute 'height' matters with near certainty" in said
    assert "note: the attribute 'flat' is the same at all vertices: it is not used" in said
    assert run(["predict", "graph.graphml", *words, "auto", "--out", "second.csv"]) == 0
    tables = [pd.read_csv(name).set_index("vertex").sort_index() for name in ("first.csv", "second.csv")]
    pd.testing.assert_frame_equal(tables[0], tables[1], rtol=1e-5)
    rest = [f"v{k}" for k in range(60) if k not in known]
    missed = tables[0].loc[rest, "prediction"] - [y[int(name[1:])] for name in rest]
    assert np.sqrt(np.mean(missed**2)) < 0.6 * np.std(y)
    capsys.readouterr()
    assert run(["predict", "edges.csv", *words, "auto"]) == 2
    assert "the graph has no attributes of vertices" in capsys.readouterr().err
    assert run(["predict", "edges.csv", *words, "about.csv", "--out", "about.csv"]) == 2
    assert "it is the file of --attributes as well" in capsys.readouterr().err
    assert run(["plan", "known.csv", "--target", "y", "--attributes", "about.csv"]) == 2
    assert "--attributes is for graphs, but this is a table" in capsys.readouterr().err
    assert run(["plan", "--edges", "edges.csv", *words, "about.csv"]) == 0
    captured = capsys.readouterr()
    assert "The attribute 'height' matters with near certainty" in captured.err
    assert float(captured.out.splitlines()[1].split(",")[1]) < 0.6 * np.std(y)
