"""Maps of predictions: rings around the vertices to label next, and their names where they fit."""

from __future__ import annotations

import networkx as nx
import numpy as np
from pandas import DataFrame

import gpcurves as gpc
from gpcurves.forecasting.networks.assembly import VertexPredictor
from gpcurves.forecasting.questions import Answers
from gpcurves.numerics.display import Display
from gpcurves.render.views.maps import draw_predictions, place_names


def draw(side: int, chosen: list[str]) -> tuple[Display, Display]:
    graph = nx.relabel_nodes(nx.grid_2d_graph(side, side), lambda at: f"n{at[0]}-{at[1]}")
    for name in graph:
        graph.nodes[name].update(x=float(name[1:].split("-")[0]), y=float(name[1:].split("-")[1]))
    model = gpc.GraphRegressor(graph).fit(["n0-0", "n1-2", "n4-4"], [1.0, 2.0, 4.0])
    return draw_predictions(VertexPredictor(model), "load", chosen)


def test_the_vertices_to_label_next_have_rings_and_names() -> None:
    drawings = draw(10, ["n5-5", "n0-9"])
    for drawing, label in zip(
        drawings, ("predicted load", "half the 90 % interval: dark = uncertain (square-root scale)"), strict=True
    ):
        np.testing.assert_array_equal(drawing.lines_["next"].get_offsets(), [[5, 5], [0, 9]])
        assert [text.get_text() for text in drawing.ax_.texts] == ["n5-5", "n0-9"]
        assert [text.get_text() for text in drawing.ax_.get_legend().get_texts()] == ["has a label", "label next"]
        assert drawing.figure_.axes[1].get_ylabel() == label
    colours = drawings[1].lines_["vertices"]
    shades = colours.cmap(colours.norm([colours.get_array().min(), colours.get_array().max()]))[:, :3].sum(axis=1)
    assert shades[1] < shades[0]  # dark is uncertain


def test_names_are_written_once_on_small_graphs_and_not_without_choice() -> None:
    drawings = draw(5, ["n4-0"])
    assert len(drawings[0].ax_.texts) == 25
    drawings = draw(5, [])
    assert "next" not in drawings[0].lines_


def test_names_do_not_cover_each_other() -> None:
    at = np.array([[0.0, 0.0], [3.0, 0.0], [200.0, 0.0], [208.0, 0.0]])
    found = place_names(at, np.array([0, 1, 2]), ["a long name", "another name", "b"], 5.0)
    assert all(shift is not None for shift in found)
    assert found[0] != found[1]
    assert found[2] is not None
    assert found[2][0] < 0 or found[2][1] != 0  # not over the vertex to its right
    crowd = np.zeros((12, 2))
    shifts = place_names(crowd, np.arange(12), ["x" * 9] * 12, 5.0)
    assert None in shifts  # there is room for some of them only
    assert len({shift for shift in shifts if shift is not None}) == sum(shift is not None for shift in shifts)


def test_digits_of_the_next_vertices_follow_the_narrowest_interval() -> None:
    table = DataFrame(
        {"vertex": ["a", "b"], "prediction": [1234.5678, 3.0], "low": [1230.0, 2.5], "high": [1240.0, 3.5]}
    )
    written = Answers((), {}, table).written
    assert written is not None
    assert written.to_numpy().tolist() == [["a", "1234.57", "1230.00", "1240.00"], ["b", "3.00", "2.50", "3.50"]]
    rows = Answers((), {}, DataFrame({"x": [1.23456789], "kind": ["u"]})).written
    assert rows is not None
    assert rows.to_numpy().tolist() == [["1.23457", "u"]]
