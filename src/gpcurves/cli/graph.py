"""``gpcurves graph``: learning curves on random graphs and on one's own graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpcurves.cli import output, parse
from gpcurves.errors import InputError, unknown_name

if TYPE_CHECKING:
    from gpcurves.curve import CurveSet
    from gpcurves.goals import Goal
    from gpcurves.graphs import Ensemble, Graph, GraphKernel
    from gpcurves.problem import GraphProblem

_DEFAULT_NU = "0.1:10:log:20"
_KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "random-walk": ("RandomWalkKernel", ("p", "a")),
    "diffusion": ("DiffusionKernel", ("scale",)),
    "regularised-laplacian": ("RegularisedLaplacianKernel", ("scale",)),
    "polynomial": ("PolynomialWalkKernel", ("coefficients",)),
}
"""Name on the command line: class, and the options that it takes."""
_ENSEMBLES = {
    "regular": ("RandomRegular", ("D",)),
    "er": ("ErdosRenyi", ("MEAN",)),
    "powerlaw": ("PowerLaw", ("ALPHA", "CUTOFF")),
    "degrees": ("DegreeDistribution", ("P0", "P1", "...")),
}


@dataclass(frozen=True)
class _KernelOptions:
    """The options that describe a kernel; None where not given."""

    kernel: str | None
    p: str | None
    a: float | None
    scale: float | None
    coefficients: str | None
    normalise: str | None


@click.command()
@click.option("--ensemble", help="Random graphs: regular:D, er:MEAN, powerlaw:ALPHA,CUTOFF or degrees:P0,P1,...")
@click.option(
    "--edges",
    type=click.Path(path_type=Path),
    help="Your own graph: an edge list, or .graphml, .gml or .mtx, also with .gz.",
)
@click.option("--repair", is_flag=True, help="Make the edges of --edges undirected, drop self-loops, merge repeats.")
@click.option("--kernel", help=f"Covariance between vertices: {', '.join(_KERNELS)}.  [random-walk]")
@click.option("--p", help="Steps of the random walk.  [10]")
@click.option("--a", type=float, help="The walk moves with probability 1/a in each step, a at least 2.  [2]")
@click.option("--scale", type=float, help="Lengthscale of the kernels diffusion and regularised-laplacian.  [1]")
@click.option("--coefficients", help="Coefficients c0,c1,... of the kernel polynomial.")
@click.option("--normalise", help="How prior variances are scaled to 1: global, local or none.  [local]")
@click.option("--noise", help="Noise variance; needed unless --diagnose is given.")
@click.option(
    "--nu",
    default=_DEFAULT_NU,
    show_default=True,
    help="Examples per vertex: a list, start:stop:step, start:stop:log:count, or a mix.",
)
@click.option(
    "--methods", default="all", show_default=True, help="Methods separated by commas; see 'gpcurves methods'."
)
@click.option(
    "--vertices", type=int, help="Size of the graphs of an ensemble [500]; with --edges, to count isolated ones."
)
@click.option("--graphs", type=int, help="How many graphs of an ensemble to draw.  [20]")
@click.option("--datasets", type=int, help="Data sets per graph of an ensemble [10], or on your graph [100].")
@click.option("--precision", type=float, help="Simulate until the standard error is this fraction of the error.")
@click.option(
    "--counterflow",
    is_flag=True,
    help="Cavity method for an ensemble: local normalisation as in the paper, which is approximate.",
)
@click.option("--tolerance", type=float, help="Cavity method on your graph: when messages rest.  [1e-8]")
@click.option("--max-rounds", type=int, help="Cavity method on your graph: rounds of messages at most.  [1000]")
@click.option("--damping", type=float, help="Cavity method on your graph: share of the former message to keep.  [0]")
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="File with a vertex and a value per line, to predict the others from.",
)
@click.option(
    "--predict", type=click.Path(path_type=Path), help="Write vertex,mean,std of all vertices, given --labels."
)
@click.option(
    "--among",
    help="Also average over groups of vertices: isolated, ends, giant, small, degree=K, component=K; in JSON as details.",
)
@click.option("--rng", type=int, default=0, show_default=True, help="Seed of graphs and data sets.")
@click.option("--workers", help="Local processes, or tcp://HOST:PORT of a Dask scheduler.  [1]")
@click.option(
    "--store", type=click.Path(path_type=Path), help="SQLite file that keeps finished pieces, to go on later."
)
@click.option("--teacher-normalise", help="True normalisation, where --normalise is what the student believes.")
@click.option("--teacher-p", help="True number of steps.")
@click.option("--teacher-a", type=float, help="True a.")
@click.option("--teacher-noise", help="True noise variance.")
@click.option("--goal", "goals", multiple=True, help="Also print the nu at which each curve falls to this error.")
@click.option("--diagnose", is_flag=True, help="Report how uneven the prior variances are under global normalisation.")
@click.option(
    "--draw",
    type=click.Path(path_type=Path),
    help="Draw the graph, coloured by the error of one data set, into a .png or .svg.",
)
@click.option("--draw-nu", type=float, help="Examples per vertex in the drawing.  [the middle one of --nu]")
@click.option("--out", type=click.Path(path_type=Path), help="Write .csv, .json, .png, .svg or .html.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of CSV to stdout.")
@click.option("--quiet", "-q", is_flag=True, help="No text for people on stderr.")
def graph(
    ensemble: str | None,
    edges: Path | None,
    repair: bool,
    noise: str | None,
    nu: str,
    methods: str,
    vertices: int | None,
    graphs: int | None,
    datasets: int | None,
    precision: float | None,
    counterflow: bool,
    tolerance: float | None,
    max_rounds: int | None,
    damping: float | None,
    labels: Path | None,
    predict: Path | None,
    among: str | None,
    rng: int,
    workers: str | None,
    store: Path | None,
    teacher_normalise: str | None,
    teacher_p: str | None,
    teacher_a: float | None,
    teacher_noise: str | None,
    goals: tuple[str, ...],
    diagnose: bool,
    draw: Path | None,
    draw_nu: float | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int | None:
    """Compute the average error on the vertices of a graph after nu examples per vertex.

    On an ensemble of random graphs or on your own graph. Errors are mean squared errors against the noise-free
    function, averaged over vertices. CSV with the columns method,nu,error,stderr goes to stdout unless --out or --json
    says otherwise.

    \b
    Examples:
      gpcurves graph --ensemble er:3 --p 10 --a 2 --normalise local --noise 0.1 --nu 0.1,1,5 --methods cavity
      gpcurves graph --ensemble regular:3 --noise 0.1 --methods mckay,simulation --graphs 5 --out curves.png
      gpcurves graph --edges network.csv --normalise local --noise 0.1 --nu 0.1:5:log:10 --goal 0.05
      gpcurves graph --edges network.csv --p 10 --diagnose
      gpcurves graph --edges network.csv --noise 0.1 --labels known.csv --predict all.csv
      gpcurves graph --ensemble er:3 --noise 0.0001 --teacher-normalise local --methods simulation --nu 0.1:2:0.1
    """
    output.check_out(out, as_json)
    _check_picture(draw)
    known = _graph(ensemble, edges, repair, vertices)
    kernel = _kernel(_KernelOptions(**options))
    if diagnose:
        _report_diagnosis(known, kernel, vertices, rng, out, as_json=as_json)
        if noise is None:
            return None
    if noise is None:
        raise InputError("--noise is needed: the noise variance")
    problem = _problem(known, kernel, parse.number("--noise", noise))
    if (labels is None) != (predict is None):
        raise InputError("--labels FILE and --predict OUT.csv belong together")
    if labels is not None and predict is not None:
        found = {"tolerance": tolerance, "max_rounds": max_rounds, "damping": damping}
        return _predict(problem, labels, predict, {k: v for k, v in found.items() if v is not None}, quiet=quiet)
    problem = _with_teacher(problem, teacher_normalise, teacher_p, teacher_a, teacher_noise)
    from gpcurves.numerics.validation import positive

    code = None
    sizes = parse.size_list("--nu", nu, whole=False)
    targets = [positive("--goal", parse.number("--goal", goal)) for goal in goals]
    wanted = "all" if methods.strip() == "all" else parse.names("--methods", methods)
    if counterflow and wanted != "all" and "cavity" not in wanted:
        raise InputError("--counterflow belongs to the method cavity: add it to --methods")
    size = None if edges is not None else vertices
    running: dict[str, Any] = {"vertices": size, "graphs": graphs, "datasets": datasets, "precision": precision}
    running |= {"tolerance": tolerance, "max_rounds": max_rounds, "damping": damping}
    running |= {"local": "paper" if counterflow else None}
    running = {name: value for name, value in running.items() if value is not None}
    if among is not None:
        running["among"] = parse.names("--among", among)
    simulated = "simulation" in wanted or problem.teacher is not None
    if wanted == "all":
        simulated = simulated or "datasets" in running
    elif problem.teacher is not None and "simulation" not in wanted:
        wanted = [*wanted, "simulation"]
    running |= {"rng": rng, "workers": workers or "1", "store": store, "progress": False if quiet else None}
    if workers is None and store is None:
        running = _without_idle(running, wanted, simulated)
    if not diagnose or out is None:
        try:
            curves = _curves(problem, sizes, wanted, running, simulated)
        except KeyboardInterrupt as stop:
            return output.say_interrupted(stop, store)
        output.emit(curves, _goals(curves, targets), out, as_json=as_json, quiet=quiet)
        if any((curve.details["converged"] < 1).any() for curve in curves.values() if "converged" in curve.details):
            click.echo("gpcurves: the cavity method did not converge; what it found so far was written", err=True)
            code = 1
    if draw is not None:
        _draw(problem, sizes[len(sizes) // 2] if draw_nu is None else draw_nu, size, rng, draw)
        if not quiet:
            click.echo(f"wrote {draw}", err=True)
    return code


def _predict(problem: GraphProblem, labels: Path, predict: Path, options: dict[str, Any], *, quiet: bool) -> int | None:
    """Predict all vertices from the values at some, and write vertex,mean,std."""
    import csv
    import io

    from gpcurves.graphs import Graph
    from gpcurves.methods.cavity.regressor import GraphRegressor
    from gpcurves.numerics.files import check_writable, write_complete

    graph = problem.graph
    if not isinstance(graph, Graph):
        raise InputError("--labels belongs to your own graph: give it with --edges FILE")
    if predict.suffix.lower() != ".csv":
        raise InputError(f"--predict needs a file that ends in .csv, got {predict}")
    check_writable(predict)
    names, values = parse.labels(labels)
    model = GraphRegressor(graph, problem.kernel, problem.noise, **options)
    numbers = [graph.number(name) for name in names]
    model.fit([graph.label(number) for number in numbers] if graph.labels is not None else numbers, values)
    mean, std = model.predict(return_std=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["vertex", "mean", "std"])
    writer.writerows((graph.label(i), repr(float(mean[i])), repr(float(std[i]))) for i in range(graph.vertices))
    write_complete(predict, text.getvalue().encode())
    found = model.beliefs_
    if not quiet:
        rest = f"messages at rest after {found.rounds} rounds" if found.converged else "messages did not come to rest"
        click.echo(f"{len(values)} labels on {graph.vertices} vertices: {rest}", err=True)
        click.echo(f"wrote {predict}", err=True)
    if not found.converged:
        click.echo("gpcurves: no convergence: try --damping 0.5, more --max-rounds or a larger --tolerance", err=True)
        return 1
    return None


def _without_idle(running: dict[str, Any], wanted: str | list[str], simulated: bool) -> dict[str, Any]:
    """Leave out how to run where nothing has to be run."""
    from gpcurves.api import METHODS, option_names

    names = [name for name in METHODS if name != "simulation" or simulated] if wanted == "all" else wanted
    idle = {"rng", "workers", "store", "progress"} - option_names("nu", names)
    return {name: value for name, value in running.items() if name not in idle}


def _graph(ensemble: str | None, edges: Path | None, repair: bool, vertices: int | None) -> Graph | Ensemble:
    if (ensemble is None) == (edges is None):
        raise InputError("give either --ensemble (random graphs) or --edges FILE (your own graph)")
    if edges is not None:
        from gpcurves.graphs import read_graph

        return read_graph(edges, vertices=vertices, repair=repair)
    if repair:
        raise InputError("--repair belongs to --edges")
    assert ensemble is not None  # one of the two is given
    return _ensemble(ensemble)


def _ensemble(text: str) -> Ensemble:
    import gpcurves

    name, _, rest = text.partition(":")
    if name.lower() not in _ENSEMBLES:
        raise unknown_name("ensemble", name, _ENSEMBLES)
    class_name, takes = _ENSEMBLES[name.lower()]
    numbers = [parse.number(f"--ensemble {name}", part) for part in rest.split(",")] if rest else []
    built: Any = getattr(gpcurves, class_name)
    if "..." in takes:
        return built(tuple(numbers))  # type: ignore[no-any-return]
    if len(numbers) != len(takes):
        raise InputError(f"--ensemble {name} must be {name}:{','.join(takes)}, got {text!r}")
    return built(*numbers)  # type: ignore[no-any-return]


def _kernel(given: _KernelOptions) -> GraphKernel:
    import gpcurves

    name = (given.kernel or "random-walk").lower()
    if name not in _KERNELS:
        raise unknown_name("kernel", given.kernel or "", _KERNELS)
    class_name, takes = _KERNELS[name]
    options: dict[str, Any] = {} if given.normalise is None else {"normalise": given.normalise}
    for key in ("p", "a", "scale", "coefficients"):
        value = getattr(given, key)
        if value is None:
            continue
        if key not in takes:
            raise InputError(f"the kernel {name!r} takes no --{key}: it takes {', '.join('--' + t for t in takes)}")
        if key == "p":
            value = parse.number("--p", value)
        elif key == "coefficients":
            value = tuple(parse.number("--coefficients", part) for part in value.split(","))
        options[key] = value
    if name == "polynomial" and "coefficients" not in options:
        raise InputError("the kernel 'polynomial' needs --coefficients c0,c1,...")
    built: GraphKernel = getattr(gpcurves, class_name)(**options)
    return built


def _problem(known: Graph | Ensemble, kernel: GraphKernel, noise: float) -> GraphProblem:
    from gpcurves.problem import GraphProblem

    return GraphProblem(known, kernel, noise)


def _with_teacher(
    problem: GraphProblem, normalise: str | None, p: str | None, a: float | None, noise: str | None
) -> GraphProblem:
    """Add the teacher that the options describe; what they leave out is as for the student."""
    if normalise is None and p is None and a is None and noise is None:
        return problem
    from gpcurves.problem import Teacher

    changed: dict[str, Any] = {} if normalise is None else {"normalise": normalise}
    if p is not None:
        changed["p"] = parse.number("--teacher-p", p)
    if a is not None:
        changed["a"] = a
    if ("p" in changed or "a" in changed) and problem.kernel.name != "random-walk":
        raise InputError("--teacher-p and --teacher-a belong to the kernel random-walk")
    level = problem.noise if noise is None else parse.number("--teacher-noise", noise)
    kernel: Any = problem.kernel
    return replace(problem, teacher=Teacher(replace(kernel, **changed), level))


def _curves(
    problem: GraphProblem, nu: list[float], wanted: str | list[str], running: dict[str, Any], simulated: bool
) -> CurveSet:
    from gpcurves.api import METHODS, learning_curves

    if wanted == "all" and simulated:
        named = [name for name, method in METHODS.items() if "nu" in method.axes]
        skipped = {name: why for name in named if (why := METHODS[name].objection(problem))}
        curves = learning_curves(problem, nu=nu, methods=[name for name in named if name not in skipped], **running)
        return replace(curves, skipped=skipped)
    return learning_curves(problem, nu=nu, methods=wanted, **running)


def _goals(curves: CurveSet, targets: list[float]) -> list[Goal]:
    from gpcurves.goals import Goal

    goals = []
    for target in targets:
        found = {name: curve.reaches(target) for name, curve in curves.items()}
        missing = {
            name: f"not reached up to nu = {curve.sizes.max():g}, where the error is {curve.error[curve.sizes.argmax()]:.4g}"
            for name, curve in curves.items()
            if found[name] is None
        }
        goals.append(Goal(target, "nu", {name: at for name, at in found.items() if at is not None}, missing))
    return goals


def _report_diagnosis(
    known: Graph | Ensemble, kernel: GraphKernel, vertices: int | None, rng: int, out: Path | None, *, as_json: bool
) -> None:
    from gpcurves.graphs import Graph
    from gpcurves.graphs.diagnosis import diagnose
    from gpcurves.render.formats import render, save

    drawn = known if isinstance(known, Graph) else known.sample(500 if vertices is None else vertices, rng)
    found = diagnose(drawn, kernel)
    if as_json:
        click.echo(render(found, ".json"), nl=False)
    else:
        click.echo(found.report())
    if out is not None:
        save(found, out)
        click.echo(f"wrote {out}", err=True)


def _check_picture(draw: Path | None) -> None:
    from gpcurves.numerics.display import Display
    from gpcurves.render.formats import check_output, list_suffixes, suffixes

    if draw is None:
        return
    if draw.suffix.lower() not in suffixes(Display):
        raise InputError(f"--draw needs a file that ends in {list_suffixes(Display)}, got {draw}")
    check_output(draw, Display)


def _draw(problem: GraphProblem, nu: float, vertices: int | None, rng: int, path: Path) -> None:
    from gpcurves.methods.simulation.graphs import one_data_set
    from gpcurves.render.drawing import draw_graph
    from gpcurves.render.formats import save

    found = one_data_set(problem, nu, vertices=vertices, rng=rng)
    label = "posterior variance" if problem.teacher is None else "squared error, averaged over teachers"
    title = (
        f"{problem.describe()}\n{int(found.counts.sum())} examples (ν = {nu:g}), mean error {found.error.mean():.3g}"
    )
    display = draw_graph(found.graph, found.error, marked=found.counts, label=label, title=title)
    save(display, path)
