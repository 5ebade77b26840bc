"""The command line: parse, call the library, serialise.

Data goes to stdout and text for people to stderr. Exit code 0; 1 when a computation fails; 2 for bad input; 130 after
Ctrl-C. Nothing heavy is imported before it is needed, so that help is quick.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import click

from gpcurves._version import __version__
from gpcurves.cli.curve import curve
from gpcurves.cli.diagnose import diagnose
from gpcurves.cli.draw import draw
from gpcurves.cli.figures import figures
from gpcurves.cli.graph import graph
from gpcurves.cli.methods import methods
from gpcurves.cli.plan import plan
from gpcurves.cli.predict import predict
from gpcurves.errors import GPCurvesError, InputError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="gpcurves", message="%(prog)s %(version)s")
def cli() -> None:
    """Tell how fast a Gaussian process learns.

    \b
    Examples:
      gpcurves curve --kernel rbf --lengthscale 0.1 --noise 0.05 --n 0,10,100
      gpcurves curve --kernel ou --lengthscale 0.1 --dim 2 --noise 0.1 --goal 0.05 --out curves.png
      gpcurves graph --ensemble er:3 --normalise local --noise 0.1 --nu 0.1,1,5 --methods cavity
      gpcurves diagnose network.csv
      gpcurves predict network.csv --labels known.csv --out all.csv
      gpcurves plan data.csv --target y --goal-rmse 0.1
      gpcurves methods
      gpcurves figures
    """


for _command in (curve, graph, diagnose, predict, draw, plan, methods, figures):
    cli.add_command(_command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; every expected failure is one sentence on stderr."""
    if sys.stdout is None:  # closed by whoever called us
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  (open for as long as the process lives)
    if not sys.warnoptions:  # what went wrong is said in a sentence, not by the way
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        code = cli.main(arguments, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.Abort:
        click.echo("gpcurves: interrupted", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(
                f"gpcurves: {_sentence(error.format_message())} (see '{error.ctx.command_path} --help')", err=True
            )
        else:
            click.echo(f"gpcurves: {error.format_message()}", err=True)
        return error.exit_code
    except InputError as error:
        click.echo(f"gpcurves: {error}", err=True)
        return 2
    except GPCurvesError as error:
        click.echo(f"gpcurves: {error}", err=True)
        return 1
    except MemoryError:
        click.echo("gpcurves: not enough memory for this", err=True)
        return 1
    except KeyboardInterrupt:
        click.echo("gpcurves: interrupted", err=True)
        return 130
    except BrokenPipeError:  # the reader of our output left; nothing more to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing more is tried at exit
        click.echo(f"gpcurves: cannot write the output: {error.strerror}", err=True)
        return 1


def _sentence(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".").replace("\n", " ")
