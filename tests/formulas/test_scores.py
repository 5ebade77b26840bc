"""Training error, predictive density and evidence: the mechanism of quantities, and each formula retyped naively."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import command
from gpcurves.methods.simulation.scores import Scores
from gpcurves.montecarlo import stream
from gpcurves.render.views.curves import CurvesView
from scores_oracle import naive_scores

VALUES, MULTIPLICITIES = np.array([0.5, 0.2, 0.05, 0.004]), np.array([1, 2, 4, 9])
LISTED = gpc.SpectrumProblem(gpc.Spectrum(VALUES, MULTIPLICITIES), 0.03)
SMOOTH = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
WORDS = ("curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05", "--n", "0,5,50")


def test_each_formula_retyped() -> None:
    n = np.array([1.0, 3.0, 10.0, 40.0])
    eigenvalues = np.repeat(VALUES, MULTIPLICITIES)
    error = gpc.learning_curve(LISTED, "lc", n).error
    for k, size in enumerate(n.tolist()):
        kappa = (0.03 + error[k]) / size
        share = eigenvalues / (eigenvalues + kappa)
        np.testing.assert_allclose(share.sum() + 0.03 / kappa, size, rtol=1e-10)
        expected = naive_scores(size, kappa, eigenvalues, eigenvalues, 0.03, 0.03)
        for quantity, value in expected.items():
            curve = gpc.learning_curve(LISTED, "lc", [size], quantity=quantity)
            np.testing.assert_allclose(curve.error, value, rtol=1e-10, err_msg=quantity)


def test_predictive_density_is_the_slope_of_the_evidence() -> None:
    n = np.array([2.0, 20.0, 200.0])
    step = 1e-4 * n
    higher, lower = (gpc.learning_curve(SMOOTH, "lc", n + d, quantity="evidence").error for d in (step, -step))
    nlpd = gpc.learning_curve(SMOOTH, "lc", n, quantity="nlpd").error
    np.testing.assert_allclose((higher - lower) / (2 * step), nlpd, rtol=1e-6)


@pytest.mark.parametrize("quantity", ["training", "nlpd", "evidence"])
def test_a_quantity_is_recorded_saved_and_reproduced(quantity: str, tmp_path: Path) -> None:
    curve = gpc.learning_curve(SMOOTH, "lc", [1, 10], quantity=quantity)
    assert curve.quantity == quantity
    curve.to_json(tmp_path / "curve.json")
    back = gpc.load(tmp_path / "curve.json")
    assert back.quantity == quantity
    again = gpc.learning_curve(back.problem, back.method, back.n, rng=back.rng, **back.options)
    np.testing.assert_array_equal(again.error, curve.error)
    assert again.quantity == quantity
    curve.plot()


def test_what_cannot_give_a_quantity_says_so() -> None:
    with pytest.raises(gpc.NotApplicableError, match="method 'ov' does not apply: it computes mse only, not"):
        gpc.learning_curve(SMOOTH, "ov", [1], quantity="nlpd")
    curves = gpc.learning_curves(SMOOTH, [1], quantity="evidence")
    assert list(curves) == ["lc"]
    assert curves.skipped["plaskota"] == "it computes mse only, not evidence"
    with pytest.raises(gpc.InputError, match="unknown quantity 'nlpdd': did you mean 'nlpd'"):
        gpc.learning_curve(SMOOTH, "lc", [1], quantity="nlpdd")
    noise_free = gpc.Problem(SMOOTH.kernel, SMOOTH.inputs, 0.0)
    with pytest.raises(gpc.NotApplicableError, match="of the quantity nlpd: it needs noise greater than 0"):
        gpc.learning_curve(noise_free, "lc", [1], quantity="nlpd")
    with pytest.raises(gpc.InputError, match="a goal needs a quantity that always falls"):
        gpc.required_n(SMOOTH, 0.1, quantity="nlpd")


def test_the_command_line_knows_quantities(tmp_path: Path) -> None:
    code, out, err = command(*WORDS, "--quantity", "nlpd", "--methods", "lc,d")
    assert (code, err) == (0, "")
    expected = gpc.learning_curve(SMOOTH, "lc", [0, 5, 50], quantity="nlpd").error
    assert [float(line.split(",")[2]) for line in out.splitlines()[1:4]] == expected.tolist()
    assert command(*WORDS, "--quantity", "training", "--methods", "ov")[0] == 2
    assert "it computes mse" in command(*WORDS, "--quantity", "evidence")[2]
    code, _, err = command(*WORDS, "--quantity", "nlpd", "--goal", "1")
    assert (code, "--goal needs a quantity that always falls" in err) == (2, True)
    listed = {row["name"]: row for row in json.loads(command("methods", "--json")[1])}
    assert listed["lc"]["quantities"][:1] == ["mse"]
    assert "evidence" in listed["lc"]["quantities"]
    path = tmp_path / "curves.html"
    assert command(*WORDS, "--quantity", "nlpd", "--methods", "lc", "--out", str(path))[0] == 0
    assert "negative log predictive density" in path.read_text()


def test_curves_of_several_quantities_share_a_picture() -> None:
    curves = gpc.sweep(SMOOTH, n=[1, 10], quantity=["mse", "nlpd"])
    assert list(curves) == ["lc", "lc, quantity nlpd"]
    assert CurvesView(curves).scene().y.label == "average squared error or negative log predictive density"


TAUGHT = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05, gpc.Teacher(gpc.OU(0.2), 0.1))


@pytest.mark.parametrize("problem", [SMOOTH, TAUGHT], ids=["matched", "misspecified"])
def test_simulated_scores_retyped(problem: gpc.Problem) -> None:
    """One data set: the average over labels of each score, by dense algebra."""
    for quantity in ("training", "nlpd", "evidence"):
        experiment = Scores(problem, (1, 4, 9), 0, quantity)
        found = experiment.draw(3)["error"]
        X = problem.design.draw(problem, 10, stream(0, 3))
        for k, n in enumerate(experiment.sizes):
            K = problem.inputs.kernel_matrix(problem.kernel, X) + 0.05 * np.eye(10)
            true = problem.inputs.kernel_matrix(problem.true_kernel, X) + problem.true_noise * np.eye(10)
            inverse = np.linalg.inv(K[:n, :n])
            weights = np.append(-inverse @ K[:n, n], 1.0)  # of the error of the prediction at the next input
            variance = K[n, n] - K[n, :n] @ inverse @ K[:n, n]
            expected = {
                "training": 0.05**2 * np.trace(inverse @ true[:n, :n] @ inverse) / n,
                "nlpd": np.log(2 * np.pi * variance) / 2 + weights @ true[: n + 1, : n + 1] @ weights / (2 * variance),
                "evidence": (np.trace(inverse @ true[:n, :n]) + np.linalg.slogdet(K[:n, :n])[1] + n * np.log(2 * np.pi))
                / 2,
            }
            np.testing.assert_allclose(np.atleast_1d(found)[k], expected[quantity], rtol=1e-9)


@pytest.mark.parametrize("quantity", ["training", "nlpd", "evidence"])
def test_theory_is_near_the_simulated_truth(quantity: str) -> None:
    for problem in (SMOOTH, TAUGHT):
        truth = gpc.learning_curve(problem, "simulation", [30, 31], quantity=quantity, datasets=150, rng=0)
        theory = gpc.learning_curve(problem, "lc", [30, 31], quantity=quantity)
        assert truth.stderr is not None
        assert truth.quantity == quantity
        assert (abs(theory.error - truth.error) < 0.2 * abs(truth.error) + 4 * truth.stderr).all()
    again = gpc.learning_curve(truth.problem, truth.method, truth.n, rng=truth.rng, **truth.options)
    np.testing.assert_array_equal(again.error, truth.error)


def test_the_next_label_costs_its_predictive_density() -> None:
    """NLPD(n) = F(n+1) - F(n), for every data set, because the same ones are drawn."""
    options: dict[str, int] = {"datasets": 5, "rng": 1}
    evidence = gpc.learning_curve(TAUGHT, "simulation", [6, 7], quantity="evidence", **options).error
    for task in range(5):
        nlpd = np.atleast_1d(Scores(TAUGHT, (6,), 1, "nlpd").draw(task)["error"])
        total = np.atleast_1d(Scores(TAUGHT, (6, 7), 1, "evidence").draw(task)["error"])
        np.testing.assert_allclose(np.diff(total), nlpd, rtol=1e-12)
    assert evidence[1] != evidence[0]
