"""``gpcurves explore``: a page on which learning curves move with sliders, and your own plan if you give a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gpcurves.cli import pieces
from gpcurves.cli.options import INTEGER, READ, WRITTEN, Command, Family, Given, Option, Part
from gpcurves.cli.plan import ask_for_target
from gpcurves.cli.streams import tell
from gpcurves.errors import InputError
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.numerics.files import check_writable, write_complete
from gpcurves.numerics.parameters import Parameter
from gpcurves.observations import Observation
from gpcurves.render.explorer import explorer_page


@dataclass(frozen=True)
class _Some(Family):
    """Those pieces of a family that the page computes with."""

    only: tuple[str, ...] = ()

    @property
    def members(self) -> dict[str, tuple[Parameter, ...]]:
        return {name: parameters for name, parameters in super().members.items() if name in self.only}

    def _build(self, given: Given, name: str, group: str, usual: Mapping[str, Any]) -> Any:
        """Refuse a piece that the page does not have."""
        if name not in self.only:
            listed = ", ".join(self.only)
            raise InputError(
                f"the explorer has no {self.root.family} {name!r}, only {listed}: use gpcurves curve for others"
            )
        return super()._build(given, name, group, usual)


KERNELS = _Some(Kernel, "kernel", "rbf", "Kernel", only=("rbf", "ou", "matern32", "matern52"))
INPUTS = _Some(Inputs, "inputs", "torus", "Inputs", only=("torus", "gaussian"))
LIKELIHOODS = _Some(Observation, "likelihood", "gaussian", "Labels", only=("gaussian", "probit"))
LIMITS = {
    "lengthscale": (0.01, 2.0),
    "variance": (0.01, 100.0),
    "noise": (1e-6, 10.0),
    "dim": (1, 10),
    "inputVariance": (0.01, 10.0),
    "trueLengthscale": (0.01, 2.0),
    "trueVariance": (0.01, 100.0),
    "trueNoise": (1e-6, 10.0),
}
"""How far the sliders go, in the names of the page's state."""
_FLAGS = {
    "inputVariance": "--input-variance",
    "trueLengthscale": "--teacher-lengthscale",
    "trueVariance": "--teacher-variance",
    "trueNoise": "--teacher-noise",
}
_PLAN = ("target", "draws", "rng", "port")


def _parts() -> list[Part]:
    plan = "Your own table"
    port = "Port of the page on this machine.  [a free one]"
    return [
        Option("--target", section=plan, metavar="COLUMN", help="Column to predict; the page then shows its plan."),
        Option(
            "--draws",
            type=INTEGER,
            section=plan,
            metavar="INTEGER",
            help="Posterior draws of the hyperparameters.  [16]",
        ),
        Option("--rng", type=INTEGER, default=0, section=plan, metavar="SEED", help="Seed of random numbers.  [0]"),
        Option("--port", type=INTEGER, section=plan, metavar="INTEGER", help=port),
        KERNELS.options,
        INPUTS.options,
        LIKELIHOODS.options,
        KERNELS.teacher_options,
        Option("--out", type=WRITTEN, metavar="FILE", help="Page to write.  [explorer.html]"),
        Option("--quiet", "-q", is_flag=True, help="Suppress progress and messages."),
    ]


@click.command(cls=Command, parts=_parts)
@click.argument("data", type=READ, required=False)
def explore(given: Given) -> None:
    """Write a page on which learning curves, functions and networks can be explored, without a network connection.

    The problem options set what the page shows first. With DATA, a CSV, TSV, Excel or Parquet file with a header, the page
    also shows your plan, and is served on this machine only; Ctrl-C ends it.

    \b
    Examples:
      gpcurves explore
      gpcurves explore --kernel ou --lengthscale 0.05 --dim 2 --noise 0.1 --out lecture.html
      gpcurves explore data.csv --target price
    """
    if given["data"] is None:
        for name in _PLAN:
            if given.has(name):
                raise InputError(f"--{name} applies to your own table only: give the file DATA as well")
        _write(given, Path("explorer.html") if given["out"] is None else given["out"])
        return
    if given["target"] is None:
        raise InputError(ask_for_target(given["data"]))
    if given["out"] is not None:
        raise InputError(
            "--out is not used with DATA, because the page is served: save a plan with gpcurves plan --report"
        )
    _serve(given)


def _write(given: Given, path: Path) -> None:
    if path.suffix.lower() != ".html":
        raise InputError(f"--out writes a page: its name must end with .html, got {path}")
    check_writable(path)
    write_complete(path, explorer_page(_state(given)).encode())
    if not given["quiet"]:
        tell(f"wrote {path}: open it in a browser")


def _serve(given: Given) -> None:
    from gpcurves.cli.serving import PageServer
    from gpcurves.forecasting import forecast

    port = given["port"] or 0
    if not 0 <= port <= 65_535:
        raise InputError(f"--port must be between 0 and 65535, got {port}")
    shown = False if given["quiet"] else None
    found = forecast(given["data"], given["target"], draws=given["draws"], rng=given["rng"], progress=shown)
    plan = json.dumps(found.to_dict(), allow_nan=False).encode()
    page = explorer_page({**_state(given), "tab": "plan"}, plan="forecast.json").encode()
    contents = {"": ("text/html; charset=utf-8", page), "forecast.json": ("application/json", plan)}
    try:
        server = PageServer(contents, port)
    except OSError as error:
        raise InputError(f"cannot serve on port {port}: {error.strerror}") from error
    with server:
        click.echo(server.address)
        if not given["quiet"]:
            tell("Open this address in a browser on this machine; Ctrl-C ends.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            if not given["quiet"]:
                tell("closed")


def _state(given: Given) -> dict[str, Any]:
    """Return the problem that was given as the page writes it; what is left out is as the page begins."""
    kernel, inputs = KERNELS.build(given, lengthscale=0.1), INPUTS.build(given)
    observation = LIKELIHOODS.build(given, variance=0.05, noise=0.05)
    state = {"kernel": kernel.name, "lengthscale": kernel.lengthscale, "variance": kernel.variance}
    state |= {"noise": observation.noise if observation.gaussian_noise is None else observation.gaussian_noise}
    state |= {
        "inputs": inputs.name,
        "dim": inputs.dim,
        "labels": "numbers" if observation.name == "gaussian" else "classes",
    }
    if inputs.name == "gaussian":
        state["inputVariance"] = inputs.variance
    teacher = pieces.build_teacher(given, KERNELS, observation)
    if teacher is not None:
        state |= {"wrong": True, "trueKernel": teacher.kernel.name, "trueNoise": teacher.noise}
        state |= {"trueLengthscale": teacher.kernel.lengthscale, "trueVariance": teacher.kernel.variance}
    for name, (low, high) in LIMITS.items():
        value = state.get(name)
        if value is not None and not (isinstance(value, int | float) and low <= value <= high):
            flag = _FLAGS.get(name, f"--{name}")
            raise InputError(
                f"the sliders of {flag} go from {low:g} to {high:g}, got {value}: use gpcurves curve beyond"
            )
    return state
