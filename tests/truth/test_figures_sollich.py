"""The figures of Sollich's papers: drawn quickly, every claim about them checked, and the tools that they use."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.papers import FIGURES, Quality, draw
from gpcurves.papers.folder import SUFFIXES, read_finished, save
from gpcurves.papers.gallery import Claim, Sheet, check
from gpcurves.papers.sollich1999 import Comparison, compare
from pictures import assert_drawn, some_are_slow

NAMES = [name for name in FIGURES if name.startswith("sollich")]


def listed(claims: tuple[Claim, ...]) -> str:
    return "\n".join(
        f"{'ok  ' if c.holds else 'FAIL'} {c.text}: expected {c.expected}, found {c.found}" for c in claims
    )


def test_all_figures_are_there() -> None:
    assert [f"sollich1999-1{letter}" for letter in "abcdef"] == NAMES[:6]
    assert [f"sollich2001-{number}" for number in range(1, 4)] == NAMES[6:9]
    assert [f"sollich2002-{number}" for number in range(1, 11)] == NAMES[9:]


@pytest.mark.parametrize("name", some_are_slow(NAMES, "sollich2002-10"))
def test_the_claims_hold_and_the_files_are_written(name: str, tmp_path: Path) -> None:
    drawn = draw(name, quick=True)
    assert drawn.claims
    assert all(claim.holds for claim in drawn.claims), listed(drawn.claims)
    assert len({claim.text for claim in drawn.claims}) == len(drawn.claims)
    assert list(drawn.table.columns) == ["panel", "curve", "x", "y", "stderr"]
    assert np.isfinite(drawn.table[["x", "y"]].to_numpy()).all()
    save(name, drawn, tmp_path, quick=True)
    assert {path.name for path in tmp_path.iterdir()} == {name + suffix for suffix in SUFFIXES}
    assert_drawn((tmp_path / f"{name}.png").read_bytes())
    assert read_finished(name, tmp_path, quick=True) == drawn.claims
    assert read_finished(name, tmp_path, quick=False) is None


@pytest.mark.parametrize("name", NAMES)
def test_entries_say_what_they_show(name: str) -> None:
    entry = FIGURES[name]
    assert len(entry.title) > 10
    assert entry.caption.endswith(".")
    assert entry.code.startswith("def figure_")
    assert len(entry.code.splitlines()) <= 25


def test_claims_can_fail() -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    found = compare(problem, 20, ["lc", "uc", "ov"], (100, 10), Quality(quick=True))
    assert all(claim.holds for claim in found.brackets())
    wrong = Comparison(found.theory, replace(found.truth, error=0.9 * found.theory["lc"].error, details={}))
    above, below = wrong.brackets()
    assert (above.holds, below.holds) == (False, True)
    assert found.closer("lc", ["ov"]).holds
    assert not found.closer("ov", ["lc", "uc"]).holds
    assert "the truth above LC; corrected: it is 10 % below LC at n = " in above.note


def test_check_formats_its_limits() -> None:
    assert check("a", 2.0, at_least=1.0) == Claim("a", "at least 1", "2", True)
    assert check("a", 2.0, at_most=1.0, note="b") == Claim("a", "at most 1", "2", False, "b")
    assert check("a", 2.0, at_least=1.0, at_most=3.0, expected="two").expected == "two (1 to 3)"
    assert check("a", 0.5, at_least=0.49999, at_most=0.50001).expected == "0.5"
    assert not check("a", math.nan, at_least=0.0).holds


def test_a_sheet_remembers_what_was_drawn() -> None:
    sheet = Sheet(1, 2)
    left, right = sheet.panels
    left.setup("left")
    left.line("line", [0, 1], [2, 3], color="black")
    right.setup("right")
    right.line("points", [1], [4], [0.5], marker="o")
    right.inset((0.5, 0.5, 0.4, 0.4), "inner").line("band", [0, 1], [1, 2], np.array([0.1, 0.2]))
    table = sheet.finish([]).table
    assert table["panel"].tolist() == ["left", "left", "right", "inner", "inner"]
    assert table["y"].tolist() == [2, 3, 4, 1, 2]
    assert table["stderr"].tolist()[2:] == [0.5, 0.1, 0.2]


def test_quick_means_less_work() -> None:
    assert (Quality().choose(400, 40), Quality(quick=True).choose(400, 40)) == (400, 40)
    with pytest.raises(gpc.InputError, match="did you mean 'sollich2002-4'"):
        draw("solich2002-4")


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.7])
def test_the_best_data_set_is_the_best_of_all(noise: float) -> None:
    values = [0.5, 0.2, 0.2, 0.1]
    problem = gpc.SpectrumProblem(gpc.Spectrum(values), noise)
    for n in range(7):
        errors = [
            sum(v * (noise / (noise + k) if k else 1.0) for v, k in zip(values, counts, strict=True))
            for counts in itertools.product(range(n + 1), repeat=4)
            if sum(counts) == n
        ]
        np.testing.assert_allclose(gpc.degenerate_best(problem, [n]), [min(errors)], atol=1e-14)
    with pytest.raises(gpc.InputError, match=r"integers, got 0\.5"):
        gpc.degenerate_best(problem, [0.5])


def test_the_best_data_set_is_between_the_bound_and_the_average() -> None:
    problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=2), noise=0.05)
    best = gpc.degenerate_best(problem, 200)
    assert (best >= gpc.learning_curve(problem, "plaskota", 200).error - 1e-12).all()
    assert (best <= gpc.learning_curve(problem, "degenerate", 200).error + 1e-12).all()


@pytest.mark.parametrize("inputs", [gpc.Box(dim=2), gpc.Torus(dim=2)])
def test_the_posterior_variance_averages_to_the_simulated_error(inputs: gpc.Box | gpc.Torus) -> None:
    problem = gpc.Problem(gpc.RBF(0.3), inputs, noise=0.1)
    rng = np.random.default_rng(0)
    X, at = inputs.draw(5, rng), inputs.draw(7, rng)
    images = list(itertools.product((-2, -1, 0, 1, 2), repeat=2)) if isinstance(inputs, gpc.Torus) else [(0, 0)]

    def covariance(x: np.ndarray, y: np.ndarray) -> float:
        return sum(math.exp(-(((x - y - shift) / 0.3) ** 2).sum() / 2) for shift in images)

    K = np.array([[covariance(x, y) for y in X] for x in X]) + 0.1 * np.eye(5)
    expected = []
    for x in at:
        k = np.array([covariance(x, y) for y in X])
        expected.append(covariance(x, x) - k @ np.linalg.solve(K, k))
    np.testing.assert_allclose(gpc.posterior_variance(problem, X, at), expected, rtol=1e-9)
    with pytest.raises(gpc.InputError, match="at must have 2 dimensions as the inputs, got 1"):
        gpc.posterior_variance(problem, X, [0.1])


def test_the_posterior_variance_needs_agreement_and_digits() -> None:
    mismatched = gpc.Problem(gpc.RBF(0.3), gpc.Box(dim=1), 0.1, teacher=gpc.Teacher(gpc.OU(0.3), 0.1))
    with pytest.raises(gpc.InputError, match="only for a well-specified model"):
        gpc.posterior_variance(mismatched, [0.1], [0.2])
    with pytest.raises(gpc.NumericalError, match="resolves only 1 of 2 examples"):
        gpc.posterior_variance(gpc.Problem(gpc.RBF(0.3), gpc.Box(dim=1), 0.0), [0.1, 0.1], [0.2])


@pytest.mark.parametrize("kernel", [gpc.OU(0.3), gpc.RBF(0.3)])
def test_draws_from_the_prior_have_its_covariances(kernel: gpc.OU | gpc.RBF) -> None:
    at = np.linspace(0, 1, 12)
    problem = gpc.Problem(kernel, gpc.Box(dim=1), noise=0.5)
    draws = np.array([gpc.sample_prior(problem, at, rng=seed) for seed in range(2000)])
    np.testing.assert_allclose(draws.T @ draws / len(draws), kernel(at[:, None]), atol=5 * math.sqrt(2 / 2000))
    np.testing.assert_array_equal(gpc.sample_prior(problem, at, rng=0), draws[0])
