"""Options that are made from pieces and methods: each has one, new ones too, and none gets in the way of another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import numpy.typing as npt
import pytest

import gpcurves as gpc
from commands import failed, rows
from gpcurves.cli import cli, run
from gpcurves.cli.options import Option
from gpcurves.cli.parse import fields, metavar, value
from gpcurves.designs import Design
from gpcurves.errors import InputError
from gpcurves.graphs import Ensemble, ErdosRenyi, GraphKernel
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.methods import METHODS, Kind, Method, MethodOptions, Result, register
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameter, parameters_of
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations import Observation
from gpcurves.problem import Problem

CURVE = ["curve", "--kernel", "rbf", "--noise", "0.1", "--n", "5", "-q"]


def options_of(command: str) -> dict[str, Option]:
    """Return the options of a command by their names."""
    made: Any = cli.resolve_command(click.Context(cli), [command])[1]
    made.make_context(command, [], resilient_parsing=True)
    return {name: each for each in made.params if isinstance(each, Option) for name in each.opts}


@pytest.mark.parametrize(("command", "axis", "kernels"), [("curve", "n", Kernel), ("graph", "nu", GraphKernel)])
def test_every_parameter_has_an_option(command: str, axis: str, kernels: Any) -> None:
    options = options_of(command)
    for name, kind in kernels.offered().items():
        assert name in str(options["--kernel"].help)
        for each in parameters_of(kind):
            assert options[f"--{each.flag}"].owners[name] == each
            assert options[f"--teacher-{each.flag}"].owners[name] == each
    for name, method in METHODS.items():
        for each in parameters_of(method.Options) if axis in method.axes else ():
            assert (each.axis in (None, axis)) == (name in getattr(options.get(f"--{each.flag}"), "owners", {}))
    for name, kind in {**Observation.offered(), **(Inputs.offered() if axis == "n" else {})}.items():
        assert all(name in options[f"--{each.flag}"].owners for each in parameters_of(kind) if each.flag)
    if axis == "nu":
        assert all(name in str(options["--ensemble"].help) for name in Ensemble.offered())


def test_help_says_who_takes_an_option_and_the_default() -> None:
    options = options_of("curve")
    assert options["--smoothness"].help == "Smoothness (the nu of Matérn) (matern).  [1.5]"
    assert str(options["--lengthscale"].help).endswith("(all but linear, poly, arc-cosine, power-series).  [1]")
    assert str(options["--bias"].help).endswith("(linear, poly, arc-cosine).  [0 for linear, arc-cosine; 1 for poly]")
    assert options["--simulate"] is options["--datasets"]
    assert "--vertices" not in options


@pytest.mark.parametrize(
    ("kind", "text", "expected", "shown"),
    [
        (float, "1e-3", 0.001, "NUMBER"),
        (int, "1e3", 1000, "INTEGER"),
        (int | None, "7", 7, "INTEGER"),
        (str, "a,b", "a,b", "TEXT"),
        (bool, "yes", True, "BOOLEAN"),
        (Path | None, "a.txt", Path("a.txt"), "FILE"),
        (int | str, "3", 3, "TEXT"),
        (int | str, "tcp://x", "tcp://x", "TEXT"),
        (tuple[float, ...], "1,2", (1.0, 2.0), "NUMBER,..."),
        (tuple[float, ...], "1", (1.0,), "NUMBER,..."),
        (tuple[int, ...], "1,2", (1, 2), "INTEGER,..."),
        (tuple[str, ...], "a, b,a", ("a", "b"), "TEXT,..."),
        (float | tuple[float, ...], "1", 1.0, "NUMBER,..."),
        (float | tuple[float, ...], "1,2", (1.0, 2.0), "NUMBER,..."),
        (Literal["one", "two"], "two", "two", "one|two"),
        (Literal["one", "two"] | None, "one", "one", "one|two"),
    ],
)
def test_texts_are_read_by_type(kind: Any, text: str, expected: object, shown: str) -> None:
    assert value("--x", text, kind) == expected
    assert metavar(kind) == shown


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (int, "1.5", "--x must be an integer, got '1.5'"),
        (float | None, "one", "--x must be a number, got 'one'"),
        (tuple[float, ...], "1,,2", "--x must be a number, got ''"),
        (tuple[str, ...], ",", "--x must not be empty"),
        (Literal["one", "two"], "tow", "did you mean 'two'?"),
        (bool, "perhaps", "--x must be yes or no"),
        (npt.NDArray[np.float64], "missing.csv", "cannot read missing.csv"),
    ],
)
def test_texts_that_are_not_of_the_type(kind: Any, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("?", r"\?")):
        value("--x", text, kind)


def test_what_a_text_cannot_say_has_no_option() -> None:
    assert metavar(tuple[tuple[float, ...], ...] | None) is None
    assert metavar(dict[str, float]) is None


@pytest.mark.usefixtures("registries")
def test_switches_and_names_that_are_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    @dataclass(frozen=True)
    class LevelOptions(MethodOptions):
        double: bool = parameter(False, help="Twice as much")
        once: bool = parameter(True, help="Not three times")
        variance: float = parameter(1.0, help="A name that is in use", check=positive)
        kind: Literal["high", "low"] = parameter("high", help="How much")

    @register
    class Level(Method[LevelOptions]):
        """A constant."""

        name, title, kind, promise, source = "level", "a constant", Kind.APPROXIMATION, "none", "this test"
        Options = LevelOptions

        def prepare(self, problem: Problem, options: LevelOptions, run: Run) -> LevelOptions:
            return options

        def evaluate(self, state: LevelOptions, sizes: FloatArray) -> Result:
            level = (1.0 + state.double) * (1 if state.once else 3) * (1 if state.kind == "high" else 0.5)
            return Result(np.full(len(sizes), level * state.variance))

    words = [*CURVE, "--methods", "level"]
    for given, level in [
        ([], 1.0),
        (["--double"], 2.0),
        (["--no-once"], 3.0),
        (["--method-variance", "0.5", "--kind", "low"], 0.25),
    ]:
        assert run([*words, *given]) == 0
        assert [float(row["error"]) for row in rows(capsys.readouterr().out)] == [level]
    assert "did you mean 'low'?" in failed([*words, "--kind", "lo"], capsys)
    assert "takes no --double: it belongs to level" in failed([*CURVE, "--methods", "lc", "--double"], capsys)
    assert run([*words, "--double", "--goal", "1.5", "--json"]) == 0  # goals are answered with the options given
    assert '"n": null' in capsys.readouterr().out


@pytest.mark.usefixtures("registries")
def test_a_new_likelihood_is_offered_beside_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    @dataclass(frozen=True, repr=False)
    class Coarse(Observation):
        """Gaussian noise that is known by its standard deviation."""

        deviation: float = parameter(help="Standard deviation of noise", check=positive)

        @property
        def gaussian_noise(self) -> float:
            return self.deviation**2

        def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
            return 1 / (self.gaussian_noise + error)

        def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
            return values + self.deviation * rng.standard_normal(values.shape)

    words = ["curve", "--kernel", "rbf", "--likelihood", "coarse", "--n", "5", "--methods", "lc"]
    assert run([*words, "--deviation", "0.5"]) == 0
    same = gpc.learning_curve(gpc.Problem(gpc.RBF(), gpc.Torus(), 0.25), "lc", [5])
    assert float(rows(capsys.readouterr().out)[0]["error"]) == same.error[0]
    assert "--deviation is needed" in failed(words, capsys)
    assert "takes no --noise: it takes --deviation" in failed([*words, "--noise", "1"], capsys)
    assert "takes no --deviation: it takes --noise" in failed([*CURVE, "--deviation", "1"], capsys)


@pytest.mark.usefixtures("registries")
def test_a_new_design_is_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    @dataclass(frozen=True, repr=False)
    class Stripes(Design):
        """One input after another, a step apart."""

        step: float = parameter(0.1, help="Step", check=positive)

        def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
            return np.asarray((self.step * np.arange(count)[:, None]) % 1.0)

    words = ["curve", "--kernel", "ou", "--noise", "0.1", "--n", "5", "--design", "stripes", "--step", "0.2"]
    assert run([*words, "--simulate", "2"]) == 0
    captured = capsys.readouterr()
    assert "lc" not in {row["method"] for row in rows(captured.out)}
    assert "chosen by Stripes(step=0.2)" in captured.err
    (simulated,) = [row for row in rows(captured.out) if row["method"] == "simulation"]
    assert float(simulated["stderr"]) < 1e-12
    assert "takes no --step" in failed([*CURVE, "--step", "1"], capsys)


@pytest.mark.usefixtures("registries")
def test_ensembles_are_written_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    @dataclass(frozen=True, repr=False)
    class Doubled(ErdosRenyi):
        """Twice the mean degree, from two numbers."""

        name = "doubled"
        factor: int = parameter(2, help="Factor", check=positive)

    words = [
        "graph",
        "--noise",
        "0.1",
        "--nu",
        "1",
        "--methods",
        "eigenvalue",
        "--vertices",
        "20",
        "--graphs",
        "2",
        "-q",
    ]
    for text in ("doubled:3,2", "doubled", "DOUBLED:3,2"):
        assert run([*words, "--ensemble", text]) == 0
        assert len(rows(capsys.readouterr().out)) == 1
    for text in ("doubled:3", "doubled:3,2,1"):
        assert "must be doubled:MEAN,FACTOR" in failed([*words, "--ensemble", text], capsys)
    assert "must be an integer, got '2.5'" in failed([*words, "--ensemble", "doubled:3,2.5"], capsys)


@pytest.mark.parametrize(
    ("text", "names"), [("a,b", ["a", "b"]), ('"a,1", b', ["a,1", "b"]), ("x\ny\rz", ["x", "y", "z"])]
)
def test_names_are_read_over_line_breaks(text: str, names: list[str]) -> None:
    assert fields(text) == names
