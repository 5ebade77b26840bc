"""Labels of any kind: the information of one label by brute-force integrals, and LC, UC and D retyped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

import gpcurves as gpc
from commands import command
from gpcurves.methods import METHODS
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import Observation
from gpcurves.observations.student import fisher_information
from gpcurves.problem import Problem
from laws import obeys_observation_laws

SPECTRUM = gpc.Spectrum(np.array([0.5, 0.2, 0.1, 0.05, 0.02]), np.array([1.0, 2.0, 2.0, 4.0, 10.0]))
CASES = [gpc.StudentT(3.0, 0.3), gpc.LaplaceNoise(0.4), gpc.Probit(0.5), gpc.Probit(0.0), gpc.Logit()]


def t_density(y: Any, f: Any) -> Any:
    return stats.t.logpdf(y - f, 3.0, scale=0.3)


def logistic(y: Any, f: Any) -> Any:
    return -np.logaddexp(0.0, -y * f)


def information_of_sum(density: Callable[[float], float], error: float) -> float:
    """Integrate the Fisher information of noise plus a Gaussian, with the convolution as an integral too."""
    s = np.sqrt(error)

    def inner(y: float, power: int) -> float:
        kinks = [y / s] if abs(y / s) < 11 else None
        settings: dict[str, Any] = {"points": kinks, "epsabs": 1e-14, "epsrel": 1e-12, "limit": 500}
        found = integrate.quad(lambda z: density(y - s * z) * z**power * np.exp(-z * z / 2), -12, 12, **settings)[0]
        return float(found / np.sqrt(2 * np.pi))

    def outer(t: float) -> float:
        y = np.sinh(t)
        density = inner(y, 0)
        return float((inner(y, 1) / s) ** 2 / density * np.cosh(t)) if density > 0 else 0.0

    return 2 * float(integrate.quad(outer, 0, 8, epsabs=1e-11, epsrel=1e-10, limit=200)[0])


def information_of_class(
    likelihood: Callable[[Any], Any], derivative: Callable[[Any], Any], error: float, variance: float
) -> float:
    """Integrate p'^2/(p(1-p)) over predictions by a fine rectangle rule in both variables."""
    z, w = np.linspace(-9, 9, 1801), np.linspace(-9, 9, 601)
    gauss = np.exp(-z * z / 2) * 0.01 / np.sqrt(2 * np.pi)
    omega = np.sqrt(variance - error) * w
    f = omega[:, None] + np.sqrt(error) * z
    p, other = likelihood(f) @ gauss, likelihood(-f) @ gauss
    slope, product = derivative(f) @ gauss, np.maximum(p * other, 1e-300)
    return float((np.exp(-w * w / 2) * 0.03 / np.sqrt(2 * np.pi)) @ (slope**2 / product))


@pytest.mark.parametrize("error", [0.02, 3.0])
def test_information_of_additive_noise(error: float) -> None:
    at = np.array([error * 0.09])
    brute = information_of_sum(lambda x: float(np.exp(-abs(x)) / 2), error) / 0.09
    np.testing.assert_allclose(gpc.LaplaceNoise(0.3).information(at, 1.0), brute, rtol=1e-8)
    c = special.gamma(2) / (special.gamma(1.5) * np.sqrt(3 * np.pi))
    brute = information_of_sum(lambda x: float(c * (1 + x * x / 3) ** -2), error) / 0.09
    np.testing.assert_allclose(gpc.StudentT(3, 0.3).information(at, 1.0), brute, rtol=2e-8)


@pytest.mark.parametrize("df", [0.05, 0.5, 1.0, 4.0, 50.0, 1e4])
def test_information_of_student_noise_has_its_limits(df: float) -> None:
    np.testing.assert_allclose(fisher_information(df, 0.0), (df + 1) / (df + 3), rtol=1e-10)
    noise = gpc.StudentT(df, 2.0)
    errors = np.array([1e-30, 1e-4, 0.3, 7.0])
    direct = [fisher_information(df, each / 4) / 4 for each in errors]
    np.testing.assert_allclose(noise.information(errors, 1.0), direct, rtol=1e-10)
    if df > 2:
        np.testing.assert_allclose(1e6 * noise.information(np.array([1e6]), 1.0), 1 - noise.variance / 1e6, rtol=1e-6)


def test_information_of_laplace_noise_has_its_limits() -> None:
    values = gpc.LaplaceNoise(2.0).information(np.array([0.0, 1e8, 1e14]), 1.0)
    np.testing.assert_allclose(values, [0.25, 1 / (1e8 + 8), 1e-14], rtol=1e-9)


@pytest.mark.parametrize(("error", "variance"), [(0.1, 1.0), (0.9, 1.0), (2.0, 20.0)])
def test_information_of_classes(error: float, variance: float) -> None:
    at = np.array([error])
    logit = information_of_class(special.expit, lambda f: special.expit(f) * special.expit(-f), error, variance)
    np.testing.assert_allclose(gpc.Logit().information(at, variance), logit, rtol=1e-8)
    probit = information_of_class(
        lambda f: special.ndtr(f / 0.5), lambda f: stats.norm.pdf(f, scale=0.5), error, variance
    )
    np.testing.assert_allclose(gpc.Probit(0.25).information(at, variance), probit, rtol=1e-8)


def test_a_likelihood_of_ones_own_agrees_with_ours() -> None:
    errors = np.array([1e-3, 0.05, 0.4, 0.9])
    own = gpc.Likelihood(t_density, scale=0.3)
    assert own.additive
    np.testing.assert_allclose(own.information(errors, 1.0), gpc.StudentT(3, 0.3).information(errors, 1.0), rtol=1e-8)
    classes = gpc.Likelihood(logistic, labels=(-1, 1))
    assert classes.classes
    np.testing.assert_allclose(classes.information(errors, 1.0), gpc.Logit().information(errors, 1.0), rtol=1e-8)
    y, m, v = np.array([1.0, -1.0]), np.array([0.3, 2.0]), np.array([0.5, 1.5])
    for ours, theirs in zip(gpc.Logit().tilt(y, m, v), classes.tilt(y, m, v), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("observation", CASES, ids=repr)
def test_observations_obey_the_laws(observation: Observation) -> None:
    obeys_observation_laws(observation)


@pytest.mark.parametrize("observation", [gpc.Probit(0.3), gpc.Logit(), gpc.LaplaceNoise(0.5)], ids=repr)
def test_averages_over_beliefs_and_their_derivatives(observation: Observation) -> None:
    y, m, v = np.array([1.0, -1.0, 1.0]), np.array([0.3, 2.0, -4.0]), np.array([0.5, 2.0, 0.01])
    log_z, slope, curvature = observation.tilt(y, m, v)
    up, down = (observation.tilt(y, m + h, v) for h in (1e-5, -1e-5))
    np.testing.assert_allclose(slope, (up[0] - down[0]) / 2e-5, rtol=1e-6)
    np.testing.assert_allclose(curvature, (down[1] - up[1]) / 2e-5, rtol=1e-5, atol=1e-9)
    if observation.classes:
        np.testing.assert_allclose(np.exp(observation.tilt(-y, m, v)[0]) + np.exp(log_z), 1.0, rtol=1e-12)


@pytest.mark.parametrize("observation", CASES, ids=repr)
def test_lc_uc_and_d_solve_their_equations(observation: Observation) -> None:
    values = np.repeat(SPECTRUM.values, SPECTRUM.multiplicities.astype(int))
    trace = values.sum()
    n = np.array([0.0, 1.0, 7.0, 60.0])

    def r(error: float) -> float:
        return float(observation.information(np.array([error]), trace)[0])

    lc = gpc.learning_curve(SPECTRUM, "lc", n, noise=observation).error
    again = [float((values / (1 + size * r(error) * values)).sum()) for size, error in zip(n, lc, strict=True)]
    np.testing.assert_allclose(lc, again, rtol=1e-9)
    uc = gpc.learning_curve(SPECTRUM, "uc", n, noise=observation).error

    def learn(_: float, h: FloatArray) -> list[float]:
        return [r(float((values / (1 + h[0] * values)).sum()))]

    path = integrate.solve_ivp(learn, (0, 60), [0.0], t_eval=n, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(uc, [(values / (1 + h * values)).sum() for h in path.y[0]], rtol=1e-7)
    G, discrete = values.copy(), [trace]
    for _ in range(60):
        G = G - G**2 * r(float(G.sum()))
        discrete.append(G.sum())
    np.testing.assert_allclose(
        gpc.learning_curve(SPECTRUM, "d", n, noise=observation).error, np.array(discrete)[n.astype(int)], rtol=1e-9
    )


@pytest.mark.slow
def test_many_steps_of_d_are_extrapolated_for_labels_of_any_kind() -> None:
    few = gpc.Spectrum(np.array([1.0, 0.1]))
    G = few.values.copy()
    for _ in range(24_000):
        G = G - G**2 * float(gpc.Probit().information(np.array(G.sum()), 1.1))
    np.testing.assert_allclose(gpc.learning_curve(few, "d", [24_000], noise=gpc.Probit()).error, G.sum(), rtol=1e-8)


def test_gaussian_labels_through_the_general_code() -> None:
    def gauss(y: Any, f: Any) -> Any:
        return -((y - f) ** 2) / 0.1 - 0.5 * np.log(0.1 * np.pi)

    own = gpc.Likelihood(gauss, scale=0.2)
    for method in ("lc", "uc", "d"):
        ours = gpc.learning_curve(SPECTRUM, method, [1, 10, 100], noise=own)
        exact = gpc.learning_curve(SPECTRUM, method, [1, 10, 100], noise=0.05)
        np.testing.assert_allclose(ours.error, exact.error, rtol=1e-8)


@pytest.mark.parametrize("observation", [gpc.Probit(0.7), gpc.Logit()], ids=repr)
def test_quantities_of_classes_by_drawing_beliefs(observation: Any) -> None:
    z, w = np.linspace(-9, 9, 721), np.linspace(-9, 9, 721)
    gauss = np.exp(-z * z / 2) * 0.025 / np.sqrt(2 * np.pi)
    problem = gpc.SpectrumProblem(SPECTRUM, observation)
    error = gpc.learning_curve(problem, "lc", [20]).error[0]
    omega = np.sqrt(SPECTRUM.trace - error) * w
    f = omega[:, None] + np.sqrt(error) * z
    p = (special.ndtr(f / np.sqrt(0.7)) if isinstance(observation, gpc.Probit) else special.expit(f)) @ gauss
    expected = {
        "error-rate": gauss @ np.minimum(p, 1 - p),
        "sign-error-rate": gauss @ ((f > 0) != (omega > 0)[:, None]) @ gauss,
        "log-loss": -gauss @ (p * np.log(p) + (1 - p) * np.log(1 - p)),
    }
    for name, value in expected.items():
        curve = gpc.learning_curve(problem, "lc", [20], quantity=name)
        # kinks limit the rectangle rule
        np.testing.assert_allclose(curve.error, value, rtol=1e-8 if name == "log-loss" else 3e-2, err_msg=name)
    n = gpc.required_n(problem, 0.3, quantity="sign-error-rate")
    at = gpc.learning_curve(problem, "lc", [n - 1, n], quantity="sign-error-rate").error
    assert at[1] <= 0.3 < at[0]


def test_error_rates_of_probit_are_arccosines() -> None:
    problem = gpc.SpectrumProblem(SPECTRUM, gpc.Probit(0.7))
    rho, error = SPECTRUM.trace, gpc.learning_curve(problem, "uc", [20]).error
    labels = gpc.learning_curve(problem, "uc", [20], quantity="error-rate").error
    np.testing.assert_allclose(labels, np.arccos(np.sqrt((rho - error) / (rho + 0.7))) / np.pi, rtol=1e-10)
    signs = gpc.learning_curve(problem, "uc", [20], quantity="sign-error-rate").error
    np.testing.assert_allclose(signs, np.arccos(np.sqrt((rho - error) / rho)) / np.pi, rtol=1e-10)


def test_student_noise_as_published() -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.StudentT(3, 0.3))
    np.testing.assert_allclose(
        gpc.learning_curve(problem, "lc", [20, 60, 120]).error, [0.096, 0.0270, 0.0131], rtol=6e-3
    )
    assert gpc.required_n(problem, 0.0270) == pytest.approx(60, abs=1)


def test_a_likelihood_is_saved_by_name() -> None:
    problem = gpc.SpectrumProblem(SPECTRUM, gpc.Likelihood(t_density, scale=0.3, title="outliers"))
    plain = json.loads(json.dumps(problem.to_dict()))
    assert Problem.from_dict(plain) == problem
    gpc.Likelihood(lambda y, f: stats.norm.logpdf(y, f), title="outliers")
    with pytest.raises(gpc.InputError, match="no longer the function that was saved"):
        Problem.from_dict(plain)
    plain["observation"]["title"] = "unknown"
    with pytest.raises(gpc.InputError, match="code of your own, which is not saved"):
        Problem.from_dict(plain)


def test_a_likelihood_of_ones_own_is_drawn() -> None:
    labels = gpc.Likelihood(t_density, scale=0.3).draw(
        np.full(4000, 2.0), np.zeros((4000, 1)), np.random.default_rng(0)
    )
    assert stats.kstest(labels, lambda y: stats.t.cdf(y - 2.0, 3.0, scale=0.3)).pvalue > 0.01
    counts = gpc.Likelihood(lambda y, f: stats.poisson.logpmf(y, np.exp(f)), labels=tuple(range(200)), title="counts")
    drawn = counts.draw(np.full(4000, 0.5), np.zeros((4000, 1)), np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(np.exp(0.5), abs=5 * np.sqrt(np.exp(0.5) / 4000))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gpc.StudentT(0), "df must be greater than 0, got 0"),
        (lambda: gpc.StudentT(3, -1), "scale must be greater than 0"),
        (lambda: gpc.LaplaceNoise(0), "scale must be greater than 0"),
        (lambda: gpc.Probit(-1), "noise must be at least 0"),
        (lambda: gpc.Likelihood(lambda y, f: -((y - f) ** 2)), "is not a likelihood: .* sums to 1.77245"),
        (lambda: gpc.Likelihood(lambda y, f: np.nan * (y + f)), "returns NaN or infinity"),
        (lambda: gpc.Likelihood(lambda y, f: 0.0), "must return a real number for each label"),
        (lambda: gpc.Likelihood(3), "log_density must be a function"),  # type: ignore[arg-type]
        (lambda: gpc.Likelihood(logistic, labels=(1, 1)), "two or more different finite numbers"),
        (lambda: gpc.Likelihood(logistic, labels="ab"), "possible values of a label"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_a_likelihood_is_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        make()


def test_likelihoods_on_the_command_line() -> None:
    words = ("curve", "--kernel", "rbf", "--lengthscale", "0.1", "--n", "10", "--methods", "lc", "-q", "--likelihood")
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.StudentT(4, 0.2))
    code, out, err = command(*words, "student", "--df", "4", "--noise-scale", "0.2")
    assert (code, err) == (0, "")
    assert float(out.split(",")[-2]) == gpc.learning_curve(problem, "lc", [10]).error[0]
    for name in ("probit", "logit", "laplace"):
        assert command(*words, name)[0] == 0
    code, out, _ = command(*words, "probit", "--noise", "0.5", "--quantity", "error-rate")
    assert code == 0
    assert float(out.split(",")[-2]) < 0.5
    code, _, err = command(*words, "student")
    assert code == 2
    assert "--df" in err
    code, _, err = command(*words, "gaussian", "--noise", "0.5", "--quantity", "error-rate")
    assert code == 2
    assert "labels must be classes" in err


def test_bounds_refuse_other_labels() -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Probit())
    curves = gpc.learning_curves(problem, [1, 10])
    assert {"lc", "uc", "d"} <= set(curves)
    assert "Gaussian noise" in curves.skipped["plaskota"]
    assert METHODS["ov"].objection(problem) is not None


def counts(y: Any, f: Any) -> Any:
    return y * f - np.exp(f) - special.gammaln(y + 1)


def wider(y: Any, f: Any) -> Any:
    return stats.norm.logpdf(y, f, 0.3 * np.exp(0.3 * f))


def test_the_information_of_a_likelihood_of_ones_own_by_brute_force() -> None:
    error, variance, f = 0.2, 1.0, np.linspace(-7, 7, 701)
    for own, labels, measure in (
        (gpc.Likelihood(counts, labels=tuple(range(60))), np.arange(60.0), 1.0),
        (gpc.Likelihood(wider, scale=0.3), np.linspace(-20, 20, 2001), 0.02),
    ):
        density = np.exp(own.log_density(labels[:, None], f))
        omega = np.sqrt(variance - error) * np.linspace(-6, 6, 61)
        gauss = stats.norm.pdf(f[:, None], omega, np.sqrt(error)) * 0.02
        Z, slope = density @ gauss, density @ (gauss * (f[:, None] - omega) / error)
        carried = (np.divide(slope**2, Z, out=np.zeros_like(Z), where=Z > 1e-200) * measure).sum(axis=0)
        brute = carried @ stats.norm.pdf(np.linspace(-6, 6, 61)) * 0.2
        np.testing.assert_allclose(own.information(np.array([error]), variance), brute, rtol=1e-5)


def test_laplace_for_a_likelihood_of_ones_own() -> None:
    own = gpc.Likelihood(counts, labels=tuple(range(60)))
    assert own.inferences == ("ep", "laplace")
    y, f = np.array([0.0, 3.0, 7.0]), np.array([-1.0, 0.5, 2.5])
    log_p, slope, curvature = own.slopes(y, f)
    np.testing.assert_allclose(log_p, stats.poisson.logpmf(y, np.exp(f)))
    np.testing.assert_allclose(slope, y - np.exp(f), rtol=1e-7)
    np.testing.assert_allclose(curvature, np.exp(f), rtol=1e-6)
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Torus(dim=1), own)
    ep, laplace = (
        gpc.learning_curve(problem, "simulation", [0, 20], datasets=4, rng=0, inference=how).error
        for how in own.inferences
    )
    assert ep[0] == laplace[0]
    np.testing.assert_allclose(ep[1], laplace[1], rtol=0.1)
    assert gpc.Likelihood(t_density, scale=0.3).inferences == ("ep",)  # not log-concave
    cauchy = gpc.Likelihood(lambda y, f: -np.log(np.pi * (1 + (y - f) ** 2)), title="cauchy")
    np.testing.assert_allclose(
        cauchy.information(np.array([0.1]), 1.0), gpc.StudentT(1).information(np.array([0.1]), 1.0), rtol=1e-6
    )
