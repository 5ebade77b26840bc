"""Graphs with communities: block models by populations against simulation, and communities of a given graph as groups of a curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gpcurves as gpc
from commands import command, failed, rows
from gpcurves.graphs.communities import partition
from gpcurves.methods.cavity.dynamics import Wiring, check_degrees

WALK = gpc.RandomWalkKernel(p=6, a=2, normalise="local")
NU = [0.1, 0.5, 1.0, 3.0]
STRONG = ((2.5, 0.5), (0.5, 2.5))
HALVES = (0.5, 0.5)
CLUB = gpc.GraphProblem(nx.karate_club_graph(), WALK, 0.1)


def errors(curve: gpc.LearningCurve, *groups: str) -> np.ndarray:
    return np.array([curve.details[f"error {group}"] for group in groups])


@pytest.fixture(scope="module")
def one_sided() -> dict[str, gpc.LearningCurve]:
    """The error of both blocks by both methods, if labels are in the first one only."""
    blocks = gpc.GraphProblem(gpc.StochasticBlockModel(HALVES, STRONG, labelling=(1, 0)), WALK, 0.1)
    return {
        "cavity": gpc.learning_curve(blocks, "cavity", nu=NU, precision=0.03, rng=0, among="blocks"),
        "simulation": gpc.learning_curve(
            blocks, "simulation", nu=NU, vertices=300, graphs=10, datasets=3, rng=0, among="blocks"
        ),
    }


@pytest.mark.slow
def test_labels_in_one_block_leave_the_other_unknown(one_sided: dict[str, gpc.LearningCurve]) -> None:
    # values of another calculation, to two digits
    other = errors(one_sided["cavity"], "block=2")[0]
    np.testing.assert_allclose(other[:3], [0.93, 0.75, 0.67], rtol=0.03)
    assert other[3] > 0.5  # many labels next door do not help much


@pytest.mark.slow
def test_blocks_by_populations_agree_with_simulated_graphs(one_sided: dict[str, gpc.LearningCurve]) -> None:
    found, truth = one_sided["cavity"], one_sided["simulation"]
    for group in ("block=1", "block=2"):
        allowed = 4 * truth.details[f"stderr {group}"] + 0.03 * found.details[f"error {group}"]
        assert (abs(found.details[f"error {group}"] - truth.details[f"error {group}"]) < allowed).all()
    shares = [0.5, 0.5]
    np.testing.assert_allclose(shares @ errors(found, "block=1", "block=2"), found.error, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.5, 1.4])
def test_symmetric_blocks_have_the_curve_of_random_graphs(strength: float) -> None:
    """However strong communities are: at equal degrees and even labelling every neighbourhood looks the same."""
    blocks = gpc.StochasticBlockModel(HALVES, ((3 - strength, strength), (strength, 3 - strength)))
    how = {"nu": [0.5, 3.0], "precision": 0.02, "rng": 0}
    found, plain = (
        gpc.learning_curve(gpc.GraphProblem(ensemble, gpc.RandomWalkKernel(4), 0.1), "cavity", **how)  # type: ignore[arg-type]
        for ensemble in (blocks, gpc.ErdosRenyi(3))
    )
    assert found.stderr is not None
    assert (abs(found.error - plain.error) < 4 * np.sqrt(2) * found.stderr).all()


def test_even_labelling_is_none() -> None:
    """Labels in proportion to the shares are labels everywhere; uneven degrees make blocks differ all the same."""
    sizes, table = (0.2, 0.8), ((4.0, 2.0), (0.5, 1.0))
    how = {"nu": [0.5], "precision": 0.02, "rng": 1, "among": "blocks"}
    even, said = (
        gpc.learning_curve(
            gpc.GraphProblem(gpc.StochasticBlockModel(sizes, table, labelling), gpc.RandomWalkKernel(4), 0.1),
            "cavity",
            **how,  # type: ignore[arg-type]
        )
        for labelling in (None, sizes)
    )
    np.testing.assert_array_equal(even.error, said.error)
    dense, sparse = errors(even, "block=1", "block=2")[:, 0]
    assert dense < sparse - 0.05


def test_messages_go_back_to_the_type_that_they_came_from() -> None:
    blocks = gpc.StochasticBlockModel((0.2, 0.8), ((4.0, 2.0), (0.5, 1.0)))
    rngs = [np.random.default_rng(seed) for seed in range(2)]
    wiring = Wiring.draw(check_degrees(blocks.vertex_types()), 1000, rngs)
    kind = np.empty(wiring.slots, dtype=object)
    for classes in wiring.classes:
        for pair, slots in classes.items():
            kind[slots] = [pair] * len(slots)
    vertex = np.repeat(np.arange(wiring.vertices), np.diff(wiring.indptr))
    types = np.tile(np.repeat([0, 1], wiring.sizes), 2)
    assert all(pair[0] == types[v] for pair, v in zip(kind, vertex, strict=True))
    for other in (wiring.reverse, wiring.redirect(rngs)):
        assert sorted(other) == list(range(wiring.slots))
        alone = other == np.arange(wiring.slots)
        assert alone.sum() < 10
        assert all(kind[a] == kind[b][::-1] for a, b in enumerate(other) if a != b and kind[a][0] != kind[a][1])
    same = wiring.shuffle(rngs)
    assert (kind[same] == kind).all()


def test_sampled_graphs_have_the_neighbours_that_were_asked_for() -> None:
    blocks = gpc.StochasticBlockModel((0.2, 0.8), ((4.0, 2.0), (0.5, 1.0)))
    graph = blocks.sample(20_000, rng=0)
    assert graph.attributes is not None
    block = graph.attributes["block"]
    counts = np.array(
        [[graph.adjacency[block == i][:, block == j].sum() / (block == i).sum() for j in (1, 2)] for i in (1, 2)]
    )
    np.testing.assert_allclose(counts, blocks.neighbours, rtol=0.05)
    assert blocks.mean_degree == pytest.approx(2.4)
    weights = gpc.StochasticBlockModel(HALVES, STRONG, (1, 0)).label_weights(
        gpc.StochasticBlockModel(HALVES, STRONG).sample(10, 0)
    )
    assert weights is not None
    np.testing.assert_allclose(weights, [0.2] * 5 + [0] * 5)


def test_preferential_attachment_is_simulated_and_its_cavity_method_is_refused() -> None:
    problem = gpc.GraphProblem(gpc.PreferentialAttachment(2), WALK, 0.1)
    curve = gpc.learning_curve(problem, "simulation", nu=[0.0, 1.0], vertices=60, graphs=3, datasets=1, rng=0)
    assert 0 < curve.error[1] < 0.3
    with pytest.raises(gpc.NotApplicableError, match="degrees of neighbours depend on each other"):
        gpc.learning_curve(problem, "cavity", nu=[1.0])


@pytest.mark.parametrize("grouping", ["louvain", "spectral:3"])
def test_communities_that_are_plain_are_found(grouping: str) -> None:
    rings = nx.disjoint_union_all([nx.complete_graph(size) for size in (12, 9, 6)])
    rings.add_edges_from([(0, 12), (13, 21)])
    found = partition(gpc.as_graph(rings), grouping)
    assert found.tolist() == ["1"] * 12 + ["2"] * 9 + ["3"] * 6


def test_errors_of_communities_average_to_that_of_the_graph() -> None:
    for method, options in (("simulation", {"datasets": 4}), ("cavity", {"precision": 0.2})):
        curve = gpc.learning_curve(CLUB, method, nu=[0.5], among="louvain", rng=0, **options)  # type: ignore[arg-type]
        groups = [name.removeprefix("share ") for name in curve.details if name.startswith("share ")]
        assert len(groups) > 2
        shares = [curve.details[f"share {group}"][0] for group in groups]
        assert shares @ errors(curve, *groups)[:, 0] == pytest.approx(curve.error[0], rel=1e-9)


def test_groups_in_a_file_are_rows_and_lines(tmp_path: Path) -> None:
    edges, groups = tmp_path / "edges.csv", tmp_path / "groups.csv"
    club = nx.karate_club_graph()
    edges.write_text("\n".join(f"{a},{b}" for a, b in club.edges))
    groups.write_text("vertex,club\n" + "\n".join(f"{v},{club.nodes[v]['club']}" for v in club))
    words = [
        "graph",
        "--edges",
        str(edges),
        "--noise",
        "0.1",
        "--nu",
        "0.5,1",
        "--methods",
        "simulation",
        "--datasets",
        "3",
    ]
    code, out, _ = command(*words, "--groups", str(groups))
    assert code == 0
    names = [row["method"] for row in rows(out)]
    assert names[::2] == ["simulation", "simulation, attribute:club=Mr. Hi", "simulation, attribute:club=Officer"]
    groups.write_text("vertex,club\n0,a\n")
    code, _, err = command(*words, "--groups", str(groups))
    assert code == 2
    assert "33 of 34 vertices have no group" in err


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "shares": (lambda: gpc.StochasticBlockModel((0.3, 0.6), STRONG), "shares must sum to 1, got 0.9"),
    "a share of 0": (lambda: gpc.StochasticBlockModel((0.0, 1.0), STRONG), "block 1 is 0"),
    "sides": (lambda: gpc.StochasticBlockModel((0.3, 0.7), STRONG), "edges between blocks 1 and 2 differ by side"),
    "negative": (lambda: gpc.StochasticBlockModel(HALVES, ((1, -1), (-1, 1))), "at least 0"),
    "a row": (lambda: gpc.StochasticBlockModel(HALVES, ((1.0,),)), "for each of 2 blocks, got 1"),
    "labelling": (lambda: gpc.StochasticBlockModel(HALVES, STRONG, (1, 1)), "labelling must sum to 1, got 2"),
    "too few vertices": (lambda: gpc.StochasticBlockModel(HALVES, STRONG).sample(4, 0), "take more vertices"),
    "links": (lambda: gpc.PreferentialAttachment(3).sample(3, 0), "needs more vertices"),
    "grouping": (lambda: gpc.learning_curve(CLUB, "simulation", nu=[1], among="luvain"), "did you mean 'louvain'"),
    "one cluster": (lambda: gpc.learning_curve(CLUB, "simulation", nu=[1], among="spectral:1"), "at least 2"),
    "attribute": (lambda: gpc.learning_curve(CLUB, "simulation", nu=[1], among="attribute:x"), "it has 'club'"),
    "no such": (
        lambda: gpc.learning_curve(CLUB, "simulation", nu=[1], among="louvain=9"),
        "has no community 'louvain=9'",
    ),
    "blocks": (lambda: gpc.learning_curve(CLUB, "simulation", nu=[1], among="blocks"), "of a block model"),
    "drawn": (
        lambda: gpc.learning_curve(
            gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1), "simulation", nu=[1], among="louvain"
        ),
        "is for a given graph",
    ),
    "no blocks": (
        lambda: gpc.learning_curve(gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1), "cavity", nu=[1], among="blocks"),
        "has no blocks",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(gpc.InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("block", "numbers between commas and slashes"),
        ("block:.5,.5/1,1", "a row for each of 2 shares"),
        ("block:.5,.5/1,1/1", "2 numbers in each row"),
        ("block:.5,.6/1,1/1,1", "shares must sum to 1"),
        ("block:.5,.5/1,x/1,1", "got 'x'"),
    ],
)
def test_a_block_model_that_is_written_wrongly_is_refused(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in failed(["graph", "--ensemble", text, "--noise", "0.1"], capsys)


def test_a_block_model_on_the_command_line_has_a_row_per_block() -> None:
    words = "graph --noise 0.1 --p 2 --nu 1 --methods simulation --graphs 2 --vertices 30 --datasets 1 --groups blocks"
    code, out, _ = command(*words.split(), "--ensemble", "block:.5,.5/2.5,.5/.5,2.5/1,0")
    assert code == 0
    assert [row["method"] for row in rows(out)] == ["simulation", "simulation, block=1", "simulation, block=2"]
