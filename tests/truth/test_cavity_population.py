"""Population dynamics: published numbers, exact local normalisation, honest errors, reproducibility."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import poisson

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs import Normalisation
from gpcurves.methods.cavity.dynamics import Wiring, check_degrees
from gpcurves.methods.cavity.population import mean_prior_variance, population_curve, population_error
from graphs_oracle import polynomial, random_walk, regularised_laplacian

ER3 = poisson.pmf(np.arange(30), 3)
REGULAR3 = np.array([0.0, 0.0, 0.0, 1.0])
WALK = random_walk(10, 2)


@pytest.mark.parametrize(("degrees", "kappa"), [(ER3, 0.0730), (REGULAR3, 0.0818)], ids=["er", "regular"])
def test_average_prior_variance(degrees: np.ndarray, kappa: float) -> None:
    got = mean_prior_variance(degrees, WALK, precision=1e-3, rng=0)
    assert abs(got.value - kappa) < 1e-4 + 3 * got.stderr
    assert got.stderr <= 1e-3 * got.value


@pytest.mark.slow
def test_normaliser_from_messages_is_that_from_walks() -> None:
    """The same run without data and without normalisation, UM13 after (26)."""
    run = population_error(ER3, WALK, 1.0, 0.0, normalise="none", rng=0)
    kappa = mean_prior_variance(ER3, WALK, precision=1e-3, rng=1)
    assert abs(run.error - kappa.value) < 4 * np.hypot(run.stderr, kappa.stderr)
    pairs = run.cavity_variance[run.degree == 1].max()
    assert pairs == pytest.approx(0.5, abs=1e-9)  # two vertices and nothing else


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "noise", "nu", "truth", "paper"),
    [(4, 1.0, 3.0, 0.1870, 0.1839), (10, 1.0, 3.0, 0.1249, 0.1199)],
)
def test_local_normalisation(p: int, noise: float, nu: float, truth: float, paper: float) -> None:
    """Truths are simulations of sampled graphs; the paper's equation is off by 2 and 4 per cent."""
    model = random_walk(p, 2)
    exact = population_error(ER3, model, noise, nu, normalise="local", rng=0)
    printed = population_error(ER3, model, noise, nu, normalise="local", local="paper", rng=0)
    assert abs(exact.error - truth) < 3e-4 + 3 * exact.stderr
    assert abs(printed.error - paper) < 3e-4 + 3 * printed.stderr
    assert exact.error - printed.error > 10 * np.hypot(exact.stderr, printed.stderr)


@pytest.mark.slow
def test_learning_curve_of_the_paper() -> None:
    """ER(3), noise 0.1: the truth is an average over 96 simulated graphs of 2,000 vertices, with its standard error."""
    curve = population_curve(ER3, WALK, 0.1, [5.0, 0.1, 1.0], normalise="local", rng=0)
    truth, doubt = np.array([0.01181, 0.6702, 0.0866]), np.array([0.00005, 0.0008, 0.0004])
    errors, stderrs = np.array([(r.error, r.stderr) for r in curve]).T
    assert (abs(errors - truth) < 4 * np.hypot(stderrs, doubt)).all()
    assert all(r.converged and r.stderr < 0.005 * r.error for r in curve)
    assert [r.nu for r in curve] == [5.0, 0.1, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("normalise", ["global", "local"])
def test_standard_errors_are_honest(normalise: Normalisation) -> None:
    normaliser = mean_prior_variance(ER3, random_walk(4, 2), precision=5e-4, rng=9)
    runs = [
        population_error(
            ER3,
            random_walk(4, 2),
            0.1,
            1.0,
            normalise=normalise,
            normaliser=normaliser,
            precision=0.02,
            vertices=200,
            rng=k,
        )
        for k in range(20)
    ]
    spread = np.std([r.error for r in runs], ddof=1)
    claimed = np.sqrt(np.mean([r.stderr**2 for r in runs]))
    assert 0.5 < spread / claimed < 1.6


@pytest.mark.slow
def test_same_seed_same_numbers_whatever_the_threads() -> None:
    options: dict[str, Any] = {"normalise": "local", "precision": 0.05, "vertices": 1000, "rng": 5}
    one = population_error(ER3, random_walk(4, 2), 0.1, 1.0, threads=1, **options)
    two = population_error(ER3, random_walk(4, 2), 0.1, 1.0, threads=2, **options)
    assert one.error == two.error
    assert np.array_equal(one.variance, two.variance)


@pytest.mark.slow
def test_samples_describe_the_distribution() -> None:
    run = population_error(ER3, random_walk(4, 2), 0.1, 1.0, normalise="global", rng=0)
    assert run.weight.sum() == pytest.approx(1)
    assert np.average(run.variance, weights=run.weight) == pytest.approx(run.error, rel=0.1)
    assert run.weight[run.degree == 0].sum() == pytest.approx(ER3[0], rel=1e-6)
    ends, hubs = (np.average(run.variance, weights=run.weight * (run.degree == degree)) for degree in (1, 5))
    assert ends > hubs
    assert run.normaliser is not None
    assert run.variance.max() <= 0.5 / run.normaliser.value * (1 + 1e-9)  # UM13 section 3.2, corrected


@pytest.mark.slow
def test_more_precision_takes_more_work_and_agrees() -> None:
    rough = population_error(ER3, random_walk(4, 2), 0.1, 1.0, normalise="global", precision=0.02, rng=0)
    fine = population_error(ER3, random_walk(4, 2), 0.1, 1.0, normalise="global", precision=0.002, rng=1)
    assert fine.stderr < 0.003 * fine.error
    assert rough.vertices < fine.vertices
    assert abs(rough.error - fine.error) < 4 * np.hypot(rough.stderr, fine.stderr)


def test_gives_up_and_says_so() -> None:
    run = population_error(
        ER3, random_walk(2, 2), 0.1, 1.0, precision=1e-5, vertices=100, max_sweeps=30, normalise="local", rng=0
    )
    assert not run.converged
    assert run.stderr > 1e-5 * run.error


def test_heavy_tails() -> None:
    """Degrees up to 30,000 in a power law with an infinite variance."""
    d = np.arange(1, 30_001)
    pmf = np.append(0.0, d**-2.5)
    pmf /= pmf.sum()
    run = population_error(pmf, random_walk(4, 2), 0.1, 1.0, normalise="local", precision=0.01, rng=0)
    assert run.converged
    assert 0 < run.error < 1
    assert run.degree.max() > 100


@pytest.mark.parametrize("normalise", ["global", "local"])
def test_identity_kernel(normalise: Normalisation) -> None:
    run = population_error(ER3, random_walk(0, 2), 0.1, 2.0, normalise=normalise, rng=0)
    k = np.arange(60)
    assert run.error == pytest.approx((poisson.pmf(k, 2.0) / (1 + 10 * k)).sum(), rel=1e-10)


def test_kernels_that_are_not_polynomials() -> None:
    run = population_error(ER3, regularised_laplacian(1.5), 0.1, 1.0, normalise="local", precision=0.02, rng=0)
    assert run.converged
    assert run.cavity_variance.max() <= 1 + 1e-9
    with pytest.raises(NotApplicableError, match="polynomial in T"):
        population_error(ER3, regularised_laplacian(1.5), 0.1, 1.0, normalise="local", local="paper")


def test_warm_start_must_fit() -> None:
    first = population_error(ER3, random_walk(2, 2), 0.1, 1.0, normalise="global", precision=0.05, rng=0)
    again = population_error(ER3, random_walk(2, 2), 0.1, 1.2, normalise="global", precision=0.05, rng=0, start=first)
    assert again.error < first.error
    with pytest.raises(InputError, match="same kernel"):
        population_error(ER3, random_walk(3, 2), 0.1, 1.0, normalise="global", rng=0, start=first)


def test_wiring_keeps_degrees_and_pairs_slots() -> None:
    rngs = [np.random.default_rng(k) for k in range(3)]
    wiring = Wiring.draw(check_degrees(ER3), 400, rngs)
    assert np.array_equal(wiring.reverse[wiring.reverse], np.arange(wiring.slots))
    owner = np.repeat(np.arange(1200), np.diff(wiring.indptr))
    assert np.array_equal(owner // 400, owner[wiring.reverse] // 400)  # graphs stay apart
    share = np.bincount(wiring.degrees[:400].astype(int), minlength=10)[:10] / 400
    np.testing.assert_allclose(share[1:], ER3[1:10] / (1 - ER3[0]), atol=1.01 / 400)


@pytest.mark.parametrize(
    ("degrees", "words"),
    [
        ([1.0], "no edges"),
        ([0.5, -0.5, 1.0], "none of them negative"),
        ([0.5, 0.2], "add up to 1"),
    ],
)
def test_bad_degrees(degrees: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        population_error(degrees, polynomial(0.5, 0.5), 0.1, 1.0, normalise="global")
