"""Certificates from held-out rows and PAC-Bayes bounds: equations retyped, coverage counted, bad input refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, stats

import gpcurves as gpc
from commands import command, failed
from gpcurves.guarantees import WAYS, coin_divergence, invert_kl, posterior_divergence
from gpcurves.methods.simulation.inference import laplace
from gpcurves.numerics.validation import FloatArray

CIRCLE = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Probit(0.1))


def test_the_binomial_tail_is_inverted() -> None:
    for mistakes, rows, models in ((0, 10, 1), (3, 100, 1), (17, 40, 20), (999, 1000, 3)):
        bound = gpc.certificate(mistakes, rows, models=models, confidence=0.9).bound
        assert stats.binom.cdf(mistakes, rows, bound) == pytest.approx(0.1 / models, rel=1e-9)
    assert gpc.certificate(5, 5).bound == 1.0
    assert gpc.certificate(0, 58).bound == pytest.approx(1 - 0.05 ** (1 / 58))


def test_hoeffding_and_chernoff_are_the_formulas() -> None:
    found = gpc.certificate(2.5, 80, models=7, by="hoeffding").bound
    assert found == pytest.approx(2.5 / 80 + math.sqrt((math.log(7) + math.log(1 / 0.05)) / 160))
    bound = gpc.certificate(2.5, 80, models=7, by="chernoff").bound
    p = 2.5 / 80
    kl = p * math.log(p / bound) + (1 - p) * math.log((1 - p) / (1 - bound))
    assert kl == pytest.approx(math.log(7 / 0.05) / 80, rel=1e-9)


def test_bounds_are_in_order_and_above_what_was_seen() -> None:
    for mistakes, rows in ((0, 5), (1, 20), (30, 100), (400, 1000)):
        binomial, chernoff, hoeffding = (gpc.certificate(mistakes, rows, by=by).bound for by in WAYS)
        assert mistakes / rows < binomial <= chernoff * (1 + 1e-9) <= hoeffding * (1 + 1e-8)


def test_a_certificate_fails_as_rarely_as_it_says() -> None:
    rng = np.random.default_rng(0)
    for by in WAYS:
        wrong = rng.binomial(60, 0.2, size=4000)
        bounds = {k: gpc.certificate(int(k), 60, confidence=0.8, by=by).bound for k in np.unique(wrong)}
        failures = np.mean([bounds[k] < 0.2 for k in wrong])
        assert failures <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / 4000)
        if by == "binomial":
            assert failures > 0.1  # up to one mistake it is as small as it can be


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize(("error", "goal", "models"), [(0.05, 0.1, 1), (0.0, 0.05, 1), (0.2, 0.25, 30)])
def test_rows_to_hold_out_are_the_fewest_that_are_enough(by: str, error: float, goal: float, models: int) -> None:
    rows = gpc.required_holdout(error, goal, models=models, by=by)  # type: ignore[arg-type]

    def chance(n: int) -> float:
        most = math.floor(n * goal)  # no bound is below what was seen
        while most >= 0 and gpc.certificate(most, n, models=models, by=by).bound > goal:  # type: ignore[arg-type]
            most -= 1
        return float(stats.binom.cdf(most, n, error))

    assert chance(rows) >= 0.8
    assert all(chance(n) < 0.8 for n in range(max(1, rows - 3), rows))


def test_rows_that_hoeffding_asks_for_are_those_of_its_formula() -> None:
    rows = gpc.required_holdout(0.1, 0.11, by="hoeffding", power=0.5)
    assert rows == pytest.approx(math.log(20) / (2 * 0.01**2), rel=0.01)


def test_the_divergence_is_that_of_two_gaussians() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((12, 1)), np.where(rng.random(12) < 0.5, 1.0, -1.0)
    K = CIRCLE.inputs.kernel_matrix(CIRCLE.kernel, X) + 1e-9 * np.eye(12)
    belief = laplace(K, y, CIRCLE.observation)
    A = np.linalg.inv(np.linalg.inv(K) + np.diag(belief.precision))
    f = K @ belief.weights
    ratio = np.linalg.slogdet(K)[1] - np.linalg.slogdet(A)[1]
    expected = 0.5 * (ratio + np.trace(np.linalg.solve(K, A)) - 12 + f @ np.linalg.solve(K, f))
    assert posterior_divergence(belief) == pytest.approx(expected, rel=1e-5)


def _class(x: FloatArray) -> FloatArray:
    return np.where(np.sin(2 * np.pi * x[:, 0]) > 0, 1.0, -1.0)


def test_a_pac_bayes_bound_is_the_formula_and_holds() -> None:
    rng = np.random.default_rng(2)
    X, new = rng.random((300, 1)), rng.random((2000, 1))
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Torus(dim=1), gpc.Probit(0.1))
    found = gpc.pac_bayes(problem, X, _class(X))
    allowed = (found.divergence + math.log(301 / 0.05)) / 300
    assert float(coin_divergence(found.training, found.bound)) == pytest.approx(allowed, rel=1e-6)
    belief = laplace(problem.inputs.kernel_matrix(problem.kernel, X), _class(X), problem.observation)
    cross = problem.inputs.kernel_matrix(problem.kernel, X, new)
    prior = np.full(len(new), problem.inputs.kernel_matrix(problem.kernel, new[:1])[0, 0])
    mean, variance = belief.predict(cross, prior)
    test = stats.norm.cdf(-_class(new) * mean / np.sqrt(variance)).mean()
    assert found.training < test + 0.02 < found.bound < 0.3
    assert found.expected is not None
    assert 0 < found.expected < 0.5


def test_a_bound_on_a_graph_is_by_vertex_numbers() -> None:
    chain = gpc.Graph.from_edges([(i, i + 1) for i in range(59)])
    problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=10), gpc.Probit(0.1))
    found = gpc.pac_bayes(problem, np.arange(60), np.where(np.arange(60) < 30, 1, -1))
    assert 0 < found.training < found.bound < 0.6


def test_labels_that_mean_nothing_get_no_guarantee() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.random((100, 1)), np.where(rng.random(100) < 0.5, 1.0, -1.0)
    assert gpc.pac_bayes(CIRCLE, X, y).bound > 0.5


def test_kl_is_inverted() -> None:
    for p in (0.0, 0.1, 0.5):
        for amount in (0.01, 0.3):
            expected = optimize.brentq(
                lambda q, p=p, amount=amount: float(coin_divergence(p, q)) - amount, p, 1 - 1e-12
            )
            assert float(invert_kl(p, amount)) == pytest.approx(expected, rel=1e-9)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "confidence 1": (
        lambda: gpc.certificate(1, 10, confidence=1.0),
        "confidence must be greater than 0 and less than 1, got 1",
    ),
    "confidence in percent": (lambda: gpc.certificate(1, 10, confidence=95), "less than 1, got 95"),
    "more mistakes than rows": (lambda: gpc.certificate(11, 10), "mistakes must be at most the number of rows, 10"),
    "half a mistake": (lambda: gpc.certificate(1.5, 10), "mistakes must be an integer"),
    "no rows": (lambda: gpc.certificate(0, 0), "rows must be an integer, at least 1"),
    "a bound by another name": (lambda: gpc.certificate(1, 10, by="hoefding"), "did you mean 'hoeffding'"),  # type: ignore[arg-type]
    "a goal below": (lambda: gpc.required_holdout(0.1, 0.05), "goal must be greater than the expected error"),
    "a goal of 1": (lambda: gpc.required_holdout(0.1, 1.0), "goal must be greater than 0 and less than 1"),
    "too near": (lambda: gpc.required_holdout(0.1, 0.1 + 1e-7), "more than 1,000,000,000 rows"),
    "no models": (lambda: gpc.required_holdout(0.1, 0.2, models=0), "models must be an integer, at least 1"),
    "numbers": (
        lambda: gpc.pac_bayes(gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.1), [[0.1]], [1]),
        "a PAC-Bayes bound is for classes",
    ),
    "classes 0 and 1": (lambda: gpc.pac_bayes(CIRCLE, [[0.1], [0.2]], [0, 1]), "labels must be -1 or 1"),
    "an ensemble": (
        lambda: gpc.pac_bayes(gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(4), gpc.Probit()), [0], [1]),
        "on a given graph",
    ),
    "two columns": (lambda: gpc.pac_bayes(CIRCLE, [[0.1, 0.2]], [1]), r"finite numbers with 1 column\(s\)"),
    "missing inputs": (lambda: gpc.pac_bayes(CIRCLE, [[math.nan]], [1]), "finite numbers"),
    "too few labels": (lambda: gpc.pac_bayes(CIRCLE, [[0.1], [0.2]], [1]), "one per row of inputs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(gpc.InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_command_line_says_both() -> None:
    code, out, err = command("certify", "--mistakes", "3", "--rows", "100", "--models", "5")
    assert (code, err) == (0, "")
    assert f"is at most {stats.beta.ppf(0.99, 4, 97):.4g}" in out
    assert "VC dimension" in out
    code, out, _ = command("certify", "--expected", "0.05", "--goal", "0.1", "--json")
    assert json.loads(out)["rows"]["binomial"] == gpc.required_holdout(0.05, 0.1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "give either --mistakes and --rows, or --expected and --goal"),
        ("--mistakes 3", "give either"),
        ("--mistakes 3 --rows 10 --goal 0.1", "give either"),
        ("--mistakes 3 --rows 10 --power 0.5", "--power belongs to"),
        ("--mistakes 3 --rows 10 --confidence 1", "less than 1, got 1"),
        ("--expected 0.2 --goal 0.1", "goal must be greater than the expected error"),
    ],
)
def test_the_command_line_refuses_in_a_sentence(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in failed(["certify", *words.split()], capsys)
