"""The figures of Urry and Sollich (2013): drawn quickly, and every claim about them checked."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.graphs import diagnosis
from gpcurves.papers import FIGURES, Quality, draw
from gpcurves.papers import urry2013_claims as claims
from gpcurves.papers.folder import SUFFIXES, read_finished, save
from gpcurves.papers.gallery import Claim
from gpcurves.papers.urry2013 import curve_of
from gpcurves.papers.urry2013_claims import POISSON, REGULAR, part, walk_problem
from pictures import assert_drawn, some_are_slow

NAMES = [name for name in FIGURES if name.startswith("urry")]


def listed(claims: tuple[Claim, ...]) -> str:
    return "\n".join(
        f"{'ok  ' if c.holds else 'FAIL'} {c.text}: expected {c.expected}, found {c.found}" for c in claims
    )


def test_all_figures_are_there() -> None:
    assert [f"urry2013-{number}" for number in range(1, 13)] == NAMES


def test_figure_2_counts_all_vertices_of_a_graph_that_diagnose_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = POISSON.sample(200, rng=1)
    monkeypatch.setattr(diagnosis, "_WORK", 0)
    assert len(gpc.diagnose(graph).variances) == 100
    edges = graph.adjacency.toarray()
    root = np.sqrt(np.maximum(edges.sum(axis=0), 1))
    walk = np.linalg.matrix_power((np.eye(200) + edges / np.outer(root, root)) / 2, 10).diagonal()
    np.testing.assert_allclose(claims.diagnosed_in_full(graph).variances, walk / walk.mean(), rtol=1e-9)


@pytest.mark.parametrize("name", some_are_slow(NAMES, "urry2013-10"))
def test_the_claims_hold_and_the_files_are_written(name: str, tmp_path: Path) -> None:
    drawn = draw(name, quick=True)
    assert len(drawn.claims) >= 4
    assert all(claim.holds for claim in drawn.claims), listed(drawn.claims)
    assert len({claim.text for claim in drawn.claims}) == len(drawn.claims)
    assert list(drawn.table.columns) == ["panel", "curve", "x", "y", "stderr"]
    assert np.isfinite(drawn.table[["x", "y"]].to_numpy()).all()
    assert not drawn.table.duplicated(["panel", "curve", "x"]).any()
    assert all(axes.get_title() and (axes.get_xlabel() or not axes.axison) for axes in drawn.figure.axes[:2])
    save(name, drawn, tmp_path, quick=True)
    assert {path.name for path in tmp_path.iterdir()} == {name + suffix for suffix in SUFFIXES}
    assert_drawn((tmp_path / f"{name}.png").read_bytes())
    assert read_finished(name, tmp_path, quick=True) == drawn.claims


@pytest.mark.parametrize("name", NAMES)
def test_entries_say_what_they_show(name: str) -> None:
    entry = FIGURES[name]
    assert len(entry.title) > 10
    assert entry.caption.endswith(".")
    assert len(entry.code.splitlines()) <= 25


def test_agreement_and_failure_can_be_told_apart() -> None:
    nu = np.array([0.1, 1.0, 10.0])
    truth = gpc.learning_curve(
        walk_problem(REGULAR, "global", 0.01), "simulation", nu=nu, vertices=100, graphs=5, datasets=2, rng=0
    )
    assert truth.stderr is not None
    shifted = [replace(truth, error=factor * truth.error, details={}) for factor in (1.0, 1.02, 2.0)]
    same, near, far = (claims.agreement(REGULAR, {0.01: {"cavity": c, "simulation": truth}}) for c in shifted)
    assert same.holds
    assert near.holds
    assert not far.holds
    doubt = 4 * np.sqrt(2) * truth.stderr + 3 / 1000  # retyped
    np.testing.assert_allclose(
        claims.excess(shifted[2], truth), ((truth.error - doubt) / truth.error).max(), rtol=1e-12
    )


def test_a_flat_spread_has_no_peak() -> None:
    nu = np.array([0.0, 0.01, 0.1, 0.2, 1.0, 10.0])
    peaked, decaying = np.array([0, 0.1, 0.8, 1, 0.3, 0.001]), np.array([1, 0.95, 0.9, 0.6, 0.1, 0.02])
    assert all(claim.holds for claim in claims.spread_over_vertices(POISSON, nu, peaked, decaying))
    assert sum(claim.holds for claim in claims.spread_over_vertices(POISSON, nu, decaying, peaked + 0.01)) == 0


def test_a_curve_that_falls_has_no_maximum() -> None:
    falling = gpc.learning_curve(
        walk_problem(POISSON, "local", 1.0), "simulation", nu=[0.1, 0.3, 0.7, 1.0, 3.0], vertices=60, graphs=3, rng=0,
        among=["dangling"],
    )  # fmt: skip
    rises, place, noisy, *_ = claims.maximum(POISSON, falling, falling, "global")
    assert not rises.holds
    assert noisy.holds
    assert float(place.found) < 0.8


@pytest.mark.slow
def test_vertices_without_neighbours_are_known_exactly() -> None:
    curve = curve_of(walk_problem(POISSON, "local", 1e-4), "cavity", Quality(quick=True))
    np.testing.assert_allclose(part(curve, "isolated"), np.exp(-3 - curve.nu), atol=1e-5)


def test_distributions_are_compared_by_their_shares() -> None:
    problem, edges = walk_problem(POISSON, "local", 0.1), np.linspace(0, 1, 11)
    limit = gpc.VarianceDistribution(np.array([0.15, 0.75]), np.zeros(2), problem, 1.0, weights=np.array([0.25, 0.75]))
    assert claims.furthest(np.array([0.15, 0.75, 0.75, 0.75]), limit, edges) == pytest.approx(0)
    assert claims.furthest(np.array([0.15, 0.15, 0.75, 0.75]), limit, edges) == pytest.approx(0.25)
