"""What every method returns: curves that keep, show and reproduce themselves."""

from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.designs import Random

PROBLEMS: dict[str, gpc.Problem] = {
    "torus": gpc.Problem(gpc.RBF((0.1, 0.2), variance=2.0), gpc.Torus(dim=2), 0.05),
    "box": gpc.Problem(gpc.OU(0.3) + 0.5 * gpc.RBF(0.1), gpc.Box(dim=1), 0.01),
    "discrete": gpc.Problem(gpc.Matern(0.5, smoothness=0.7), gpc.Discrete([[0.0], [1.0], [2.0]], [0.5, 0.3, 0.2]), 0.1),
    "sample": gpc.Problem(gpc.Matern32(0.5) * gpc.RBF(2.0), gpc.Sample(np.linspace(0, 1, 60)), 0.1),
    "spectrum": gpc.SpectrumProblem(gpc.Spectrum([3.0, 1.0], [1, 4]), 0.2),
}


@pytest.mark.parametrize("name", ["torus", "discrete", "sample", "spectrum"])
def test_a_saved_curve_reproduces_itself(name: str, tmp_path: Path) -> None:
    problem = PROBLEMS[name]
    curve = gpc.learning_curve(problem, "lc", n=[0, 1, 10])
    curve.to_json(tmp_path / "curve.json")
    back = gpc.load(tmp_path / "curve.json")
    assert isinstance(back, gpc.LearningCurve)
    assert back.problem == problem
    again = gpc.learning_curve(back.problem, back.method, back.n)
    for other in (back, again):
        np.testing.assert_array_equal(other.n, curve.n)
        np.testing.assert_array_equal(other.error, curve.error)
        assert other.notes == curve.notes
    assert back.version == gpc.__version__
    assert back.to_json() == curve.to_json()


def test_a_saved_set_reproduces_itself(tmp_path: Path) -> None:
    curves = gpc.learning_curves(PROBLEMS["torus"], n=3)
    curves.to_json(tmp_path / "set.json")
    back = gpc.load(tmp_path / "set.json")
    assert isinstance(back, gpc.CurveSet)
    assert list(back) == list(curves)
    assert back.skipped == curves.skipped
    assert back.skipped["wv"] == "inputs must be one-dimensional, got dimension 2"
    assert back.to_json() == curves.to_json()


@pytest.mark.slow
def test_scikit_learn_kernels_survive_saving(tmp_path: Path) -> None:
    from sklearn.gaussian_process import kernels

    periodic = kernels.ExpSineSquared(length_scale=0.5, periodicity=0.4)
    problem = gpc.Problem(2.0 * periodic + kernels.RBF(0.3), gpc.Box(dim=1), 0.1)
    curve = gpc.learning_curve(problem, "lc", n=[5])
    curve.to_json(tmp_path / "curve.json")
    back = gpc.load(tmp_path / "curve.json")
    assert isinstance(back, gpc.LearningCurve)
    np.testing.assert_array_equal(gpc.learning_curve(back.problem, "lc", n=[5]).error, curve.error)


def test_arrays_are_read_only_and_copies() -> None:
    n = np.array([0.0, 1.0])
    curve = gpc.learning_curve(PROBLEMS["torus"], "lc", n)
    with pytest.raises(ValueError, match="read-only"):
        curve.error[0] = 0.0
    n[0] = 7.0
    assert curve.n[0] == 0


def test_an_integer_means_everything_up_to_it() -> None:
    np.testing.assert_array_equal(gpc.learning_curve(PROBLEMS["torus"], "lc", n=3).n, [0, 1, 2, 3])


def test_frames() -> None:
    curves = gpc.learning_curves(PROBLEMS["torus"], n=[0, 2.0], methods=["lc", "ov"])
    assert list(curves.to_frame().columns) == ["method", "n", "error", "stderr"]
    assert curves.to_frame()["method"].tolist() == ["lc", "lc", "ov", "ov"]
    assert list(curves["lc"].to_frame().columns) == ["n", "error", "stderr"]
    assert curves["lc"].to_frame()["stderr"].isna().all()


def test_representations_say_what_they_are() -> None:
    curves = gpc.learning_curves(PROBLEMS["torus"], n=300, methods="all")
    assert "RBF(lengthscale=(0.1, 0.2), variance=2), Torus(dim=2), noise 0.05" in repr(curves)
    assert "wv          does not apply: inputs must be one-dimensional" in repr(curves)
    assert "LearningCurve('lc', n = 0…300 (301 values)" in repr(curves["lc"])
    assert curves["lc"]._repr_html_().count("<tr") == 13  # a heading and a dozen rows
    assert "<th>plaskota</th>" in curves._repr_html_()


def test_numerical_spectra_carry_their_uncertainty() -> None:
    curve = gpc.learning_curve(PROBLEMS["box"], "lc", n=[0, 10, 1000])
    assert curve.spectrum_error is not None
    assert (curve.spectrum_error < 0.1 * curve.error).all()
    assert curve.spectrum_error[-1] > 0
    assert any("uncertain by up to" in note for note in curve.notes)
    assert gpc.learning_curve(PROBLEMS["torus"], "lc", n=[10]).spectrum_error is None


def test_an_expansion_that_breaks_down_says_so() -> None:
    curve = gpc.learning_curve(gpc.Spectrum([1.0, 0.5, 0.1]), "lc1", n=[3], noise=1e-12)
    assert curve.error[0] < 0
    assert "the expansion breaks down at n = 3" in curve.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "holds no result that was saved"),
        ("[]", "holds no result that was saved"),
        (
            '{"schema": 3, "version": "0", "problem": {"inputs": {"type": "Eigenvalues", "values": [1], "multiplicities": [1]}, "noise": 1}, '
            '"curve": {"method": "lc", "n": [1], "error": ["x"], "notes": []}}',
            r"x\.json holds no result that was saved by gpcurves: curve\.error\[0\] must be a number between .*, got 'x'",
        ),
        (
            '{"schema": 3, "version": "0", "problem": {"inputs": {"type": "Eigenvalues", "values": [1], "multiplicities": [1]}, "noise": 1}, '
            '"curve": {"method": "lc", "n": [1], "error": [1, 2], "notes": []}}',
            "error must have as many values as n",
        ),
        ('{"schema": 99, "curve": {}}', "its schema is 99, but this version reads 3"),
        (
            '{"schema": 3, "version": "0", "curve": {"method": "lc", "n": [1], "error": [1]}, "problem": {"kernel": {"type": "Nope"}, "inputs": {"type": "Torus"}, "noise": 1}}',
            "unknown kernel 'Nope' in saved data",
        ),
    ],
)
def test_files_that_are_no_curves_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(gpc.InputError, match=message):
        gpc.load(path)


def test_missing_file() -> None:
    with pytest.raises(gpc.InputError, match=r"cannot read nowhere\.json: No such file"):
        gpc.load("nowhere.json")


@pytest.mark.parametrize(
    ("problem", "options", "message"),
    [
        ("torus", {"n": []}, "n must not be empty"),
        ("torus", {"n": [-1]}, "n must be finite and at least 0, got -1"),
        ("torus", {"n": [np.nan]}, "n must be finite and at least 0, got nan"),
        ("torus", {"n": "ten"}, "n must be an integer or a sequence of numbers, got 'ten'"),
        ("torus", {"n": 2.5}, "n must be an integer"),
        ("torus", {"n": [1], "methods": []}, "methods must not be empty"),
        ("torus", {"n": [1], "methods": ["lcx"]}, "did you mean 'lc'"),
        ("torus", {"n": [1.5], "methods": ["d"]}, "method 'd' does not apply: n must be integers, got 1.5"),
        ("torus", {"n": [1], "methods": ["wv"]}, "method 'wv' does not apply: inputs must be one-dimensional"),
        ("torus", {"n": [1], "noise": 1.0}, "noise is part of the problem"),
    ],
)
def test_bad_requests(problem: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        gpc.learning_curves(PROBLEMS[problem], **options)  # type: ignore[arg-type]


def test_sets_hold_several_problems_and_settings_under_labels_that_tell_them_apart() -> None:
    base = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
    swept = gpc.sweep(base, n=[0, 10], methods=["lc", "ov"], noise=[0.01, 0.1], lengthscale=[0.1, 0.2])
    assert len(swept) == 8
    assert "lc, lengthscale 0.1, noise 0.01" in swept
    assert len(swept.problems) == 4
    other = gpc.learning_curve(gpc.Problem(gpc.RBF(0.2), gpc.Torus(dim=1), 0.1), "ov", n=[0, 10])
    np.testing.assert_array_equal(swept["ov, lengthscale 0.2, noise 0.1"].error, other.error)
    precise = [gpc.learning_curve(base, "simulation", [3], datasets=count, rng=1) for count in (2, 3)]
    assert list(gpc.CurveSet.of(*precise)) == ["simulation, datasets 2", "simulation, datasets 3"]
    kernels = gpc.sweep(base, n=[0, 10], kernel=[gpc.RBF(0.1), gpc.OU(0.1)])
    assert list(kernels) == ["lc, kernel RBF(lengthscale=0.1)", "lc, kernel OU(lengthscale=0.1)"]
    assert list(gpc.sweep(base, n=[0, 10], variance=[1.0, 2.0])) == ["lc, variance 1", "lc, variance 2"]
    inputs = [gpc.Problem(gpc.RBF(0.1, variance=2.0), gpc.Gaussian(variance=v), 0.05) for v in (0.1, 0.2)]
    assert list(gpc.CurveSet.of(*(gpc.learning_curve(each, "lc", [5]) for each in inputs))) == [
        "lc, input variance 0.1", "lc, input variance 0.2",
    ]  # fmt: skip
    with pytest.raises(gpc.InputError, match="same problem, method and options"):
        gpc.CurveSet.of(other, other)
    with pytest.raises(gpc.InputError, match="several problems"):
        _ = swept.problem
    with pytest.raises(gpc.InputError, match="needs a list of values"):
        gpc.sweep(base, n=[1], noise=0.1)


def test_sets_of_several_problems_are_saved_and_drawn(tmp_path: Path) -> None:
    swept = gpc.sweep(gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05), n=[0, 10, 30], noise=[0.01, 0.1, 1.0])
    swept.to_json(tmp_path / "swept.json")
    back = gpc.load(tmp_path / "swept.json")
    assert list(back) == list(swept)
    assert back.problems == swept.problems
    lines = swept.plot().lines_
    assert len({(line.get_color(), line.get_linestyle()) for line in lines.values()}) == 3


def test_sweeps_vary_designs_ensembles_and_unambiguous_names_only() -> None:
    class _Chosen(Random):
        """Inputs that are chosen."""

    problem = PROBLEMS["torus"]
    designs = gpc.sweep(problem, [2], "simulation", design=[Random(), _Chosen()], datasets=3, rng=0)
    assert list(designs) == ["simulation, design Random()", "simulation, design _Chosen()"]
    network = gpc.GraphProblem(gpc.RandomRegular(3), gpc.RandomWalkKernel(4), 0.1)
    assert list(gpc.sweep(network, nu=[1], methods="mckay", degree=[3, 4])) == ["mckay, degree 3", "mckay, degree 4"]
    both = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(dim=1), 0.1)
    with pytest.raises(gpc.InputError, match=r"variance is ambiguous .*input_variance of the inputs"):
        gpc.sweep(both, [2], variance=[1.0, 2.0])
    assert list(gpc.sweep(both, [2], input_variance=[1.0, 2.0])) == ["lc, input variance 1", "lc, input variance 2"]
    # settings of other methods say nothing about a curve that is the only one of its method
    others = gpc.learning_curve(problem, "simulation", [2], datasets=3, rng=0)
    assert list(gpc.CurveSet.of(*designs.values(), gpc.learning_curve(problem, "ov", [2])))[-1] == "ov"
    again = gpc.learning_curve(problem, "simulation", [2], datasets=4, rng=0)
    assert list(gpc.CurveSet.of(others, again)) == ["simulation, datasets 3", "simulation, datasets 4"]


def test_curves_on_different_sizes_draw_together() -> None:
    problem = PROBLEMS["torus"]
    truth = gpc.learning_curve(problem, "simulation", n=[5, 10], datasets=3, rng=0)
    theory = gpc.learning_curves(problem, n=20, methods=["lc", "ov", "two"])
    assert set(gpc.CurveSet.of(truth, *theory.values()).plot().lines_) == {"simulation", "lc", "ov", "two"}


def test_bad_problems() -> None:
    with pytest.raises(gpc.InputError, match="a teacher must be a Teacher"):
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1, gpc.RBF(0.2))  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="methods must be a name"):
        gpc.learning_curve(PROBLEMS["torus"], None, n=[1])  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="methods must be a name"):
        gpc.learning_curve(PROBLEMS["torus"], ["lc"], n=[1])  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="covariance must be a square matrix"):
        gpc.Gaussian(2, covariance="x")  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="probabilities must be numbers"):
        gpc.Discrete([1.0, 2.0], ["a", "b"])
    assert gpc.RBF(np.array(0.3)) == gpc.RBF(0.3)  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match=r"noise must be at least 0, got -0\.1"):
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), -0.1)
    with pytest.raises(gpc.InputError, match="the kernel has 2 lengthscales but inputs have 3 dimensions"):
        gpc.Problem(gpc.RBF((1.0, 2.0)), gpc.Torus(3), 0.1)
    with pytest.raises(gpc.InputError, match="the torus needs a stationary kernel"):
        gpc.Problem(gpc.Linear(), gpc.Torus(1), 0.1)
    with pytest.raises(gpc.InputError, match="inputs must be an input distribution"):
        gpc.Problem(gpc.RBF(0.1), "torus", 0.1)  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="a kernel must be one of gpcurves or of scikit-learn"):
        gpc.Problem("rbf", gpc.Torus(1), 0.1)  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="a bare spectrum needs the noise"):
        gpc.learning_curve(gpc.Spectrum([1.0]), "lc", n=[1])
    with pytest.raises(gpc.InputError, match="eigenvalues must be at least 0, got -1"):
        gpc.Spectrum([1.0, -1.0])
    with pytest.raises(gpc.InputError, match="eigenvalues must be finite, got NaN"):
        gpc.Spectrum([1.0, np.nan])
    with pytest.raises(gpc.InputError, match="at least one eigenvalue greater than 0"):
        gpc.Spectrum([0.0])
