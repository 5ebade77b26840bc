"""``gpcurves curve``: learning curves for a kernel, inputs and noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpcurves.cli import output, parse
from gpcurves.errors import GoalUnreachableError, InputError, unknown_name

if TYPE_CHECKING:
    from gpcurves.curve import CurveSet
    from gpcurves.goals import Goal
    from gpcurves.problem import AnyProblem

_DEFAULT_N = "0,1:1000:log:40"
Options = dict[str, float | tuple[float, ...] | None]


def _scales(ctx: click.Context, param: click.Parameter, value: str | None) -> float | tuple[float, ...] | None:
    return None if value is None else parse.scales(param.opts[0], value)


@click.command()
@click.option("--kernel", help=f"Covariance function: {', '.join(parse.KERNELS)}.")
@click.option("--lengthscale", callback=_scales, help="Lengthscale, or one per dimension separated by commas.  [1]")
@click.option("--variance", type=float, help="Prior variance of the kernel.  [1]")
@click.option("--smoothness", type=float, help="nu of the kernel matern.  [1.5]")
@click.option("--alpha", type=float, help="alpha of the kernel rq.  [1]")
@click.option("--gamma", type=float, help="gamma of the kernel gammaexp.  [1]")
@click.option("--bias", type=float, help="Constant in the kernels linear and poly.  [0 and 1]")
@click.option("--degree", type=int, help="Degree of the kernel poly.  [2]")
@click.option("--inputs", help=f"Where inputs come from: {', '.join(parse.INPUTS)}.  [torus]")
@click.option("--dim", type=int, help="Dimension of the inputs.  [1]")
@click.option("--input-variance", type=float, help="Variance of each component of gaussian inputs.  [1/12]")
@click.option("--points", type=click.Path(path_type=Path), help="File with one input per row, for --inputs sample.")
@click.option(
    "--spectrum",
    type=click.Path(path_type=Path),
    help="File with eigenvalues (and multiplicities) instead of a kernel and inputs.",
)
@click.option("--noise", required=True, help="Noise variance.")
@click.option(
    "--n",
    "sizes",
    default=_DEFAULT_N,
    show_default=True,
    help="Numbers of examples: a list, start:stop:step, start:stop:log:count, or a mix.",
)
@click.option(
    "--methods", default="all", show_default=True, help="Methods separated by commas; see 'gpcurves methods'."
)
@click.option("--simulate", "datasets", type=int, help="Also simulate the truth with this many data sets.")
@click.option("--precision", type=float, help="Simulate until the standard error is this fraction of the error.")
@click.option("--rng", type=int, default=0, show_default=True, help="Seed of the simulation.")
@click.option("--workers", help="Local processes, or tcp://HOST:PORT of a Dask scheduler.  [1]")
@click.option(
    "--store", type=click.Path(path_type=Path), help="SQLite file that keeps finished data sets, to go on later."
)
@click.option("--teacher-kernel", help="True kernel, where --kernel is what the student believes.")
@click.option("--teacher-lengthscale", callback=_scales, help="True lengthscale.")
@click.option("--teacher-variance", type=float, help="True prior variance.")
@click.option("--teacher-noise", help="True noise variance.")
@click.option("--goal", "goals", multiple=True, help="Also print the n that each method needs for this error.")
@click.option("--out", type=click.Path(path_type=Path), help="Write .csv, .json, .png, .svg or .html.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of CSV to stdout.")
@click.option("--quiet", "-q", is_flag=True, help="No text for people on stderr.")
def curve(
    kernel: str | None,
    inputs: str | None,
    dim: int | None,
    input_variance: float | None,
    points: Path | None,
    spectrum: Path | None,
    noise: str,
    sizes: str,
    methods: str,
    datasets: int | None,
    precision: float | None,
    rng: int,
    workers: str | None,
    store: Path | None,
    teacher_kernel: str | None,
    teacher_lengthscale: float | tuple[float, ...] | None,
    teacher_variance: float | None,
    teacher_noise: str | None,
    goals: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **options: float | tuple[float, ...] | None,
) -> int | None:
    """Compute the average error after n examples: by theory, by rigorous bounds and by simulation.

    Errors are mean squared errors against the noise-free function. CSV with the columns method,n,error,stderr goes to
    stdout unless --out or --json says otherwise.

    \b
    Examples:
      gpcurves curve --kernel rbf --lengthscale 0.01 --noise 0.05 --n 0,1,50,300 --methods lc,uc,plaskota
      gpcurves curve --kernel ou --lengthscale 0.1 --dim 2 --noise 0.1 --n 1:10000:log:60 --out ou.html
      gpcurves curve --kernel rbf --lengthscale 0.2,1 --inputs gaussian --dim 2 --noise 0.01 --goal 0.001
      gpcurves curve --kernel matern52 --lengthscale 0.3 --inputs box --dim 3 --noise 0.01 --methods lc
      gpcurves curve --kernel rbf --lengthscale 0.05 --noise 0.01 --n 0:100:10 --methods lc,ov --simulate 50
      gpcurves curve --kernel rbf --lengthscale 0.1 --noise 0.001 --n 0:60:5 --teacher-kernel ou --simulate 50
    """
    output.check_out(out, as_json)
    n = parse.size_list("--n", sizes, whole=True)
    targets = [parse.number("--goal", goal) for goal in goals]
    wanted = "all" if methods.strip() == "all" else parse.names("--methods", methods)
    level = parse.number("--noise", noise)
    problem = _problem(kernel, inputs, dim, input_variance, points, spectrum, level, options)
    told: Options = {"lengthscale": teacher_lengthscale, "variance": teacher_variance}
    problem = _with_teacher(problem, kernel, teacher_kernel, options, told, teacher_noise)
    running: dict[str, Any] = {"datasets": datasets, "precision": precision, "rng": rng}
    running |= {"workers": workers or "1", "store": store, "progress": False if quiet else None}
    if not _simulated(problem, wanted, running) and (workers is not None or store is not None):
        raise InputError("--workers and --store belong to a simulation: add --simulate N")
    try:
        curves = _curves(problem, n, wanted, running)
    except KeyboardInterrupt as stop:
        return output.say_interrupted(stop, store)
    output.emit(curves, _goals(curves, targets), out, as_json=as_json, quiet=quiet)
    return None


def _problem(
    kernel: str | None,
    inputs: str | None,
    dim: int | None,
    input_variance: float | None,
    points: Path | None,
    spectrum: Path | None,
    noise: float,
    options: Options,
) -> AnyProblem:
    if spectrum is not None:
        described = (kernel, inputs, dim, input_variance, points, *options.values())
        if any(value is not None for value in described):
            raise InputError("--spectrum replaces the kernel and the inputs: give it with --noise alone")
        from gpcurves.problem import SpectrumProblem

        return SpectrumProblem(parse.spectrum(spectrum), noise)
    if kernel is None:
        raise InputError(f"--kernel is needed: one of {', '.join(parse.KERNELS)}")
    lengthscale = options.get("lengthscale")
    if dim is None and points is None and isinstance(lengthscale, tuple):
        dim = len(lengthscale)
    from gpcurves.problem import Problem

    return Problem(parse.kernel(kernel, options), parse.inputs(inputs or "torus", dim, input_variance, points), noise)


def _with_teacher(
    problem: AnyProblem,
    kernel: str | None,
    teacher_kernel: str | None,
    options: Options,
    told: Options,
    noise: str | None,
) -> AnyProblem:
    """Add the teacher that the options describe; what they leave out is as for the student."""
    given = {key: value for key, value in told.items() if value is not None}
    if teacher_kernel is None and not given and noise is None:
        return problem
    from dataclasses import replace

    from gpcurves.problem import Problem, Teacher

    if not isinstance(problem, Problem) or kernel is None:
        raise InputError("a teacher needs a student with a kernel: --spectrum has none")
    name = teacher_kernel or kernel
    if name.lower() not in parse.KERNELS:
        raise unknown_name("kernel", name, parse.KERNELS)
    takes = parse.KERNELS[name.lower()][1]
    merged = {key: value for key, value in (options | given).items() if key in takes or key in given}
    level = problem.noise if noise is None else parse.number("--teacher-noise", noise)
    return replace(problem, teacher=Teacher(parse.kernel(name, merged), level))


def _curves(problem: AnyProblem, n: list[float], wanted: str | list[str], running: dict[str, Any]) -> CurveSet:
    """Compute the theory that was asked for and the simulation, if it was or if nothing else can answer."""
    from gpcurves.api import learning_curves
    from gpcurves.methods.simulation.simulate import SIMULATION

    if not _simulated(problem, wanted, running):
        return learning_curves(problem, n, wanted)
    if isinstance(wanted, list) and SIMULATION not in wanted:
        wanted = [*wanted, SIMULATION]
    return learning_curves(problem, n, wanted, **running)


def _simulated(problem: AnyProblem, wanted: str | list[str], running: dict[str, Any]) -> bool:
    """Tell whether a simulation was asked for, by name, by an option of it, or by a teacher."""
    asked = running["datasets"] is not None or running["precision"] is not None
    return asked or problem.teacher is not None or "simulation" in wanted


def _goals(curves: CurveSet, targets: list[float]) -> list[Goal]:
    from gpcurves.api import required_n
    from gpcurves.goals import Goal

    goals = []
    for target in targets:
        needed, missing = {}, {}
        for name in curves:
            if name == "simulation":
                continue
            try:
                needed[name] = required_n(curves.problem, target, name)
            except GoalUnreachableError as error:
                missing[name] = str(error)
        goals.append(Goal(target, "n", needed, missing))
    return goals
