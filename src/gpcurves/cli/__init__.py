"""The command line: parse, call the library, serialise.

Data goes to stdout and text for people to stderr. Exit code 0; 1 when a computation fails; 2 for bad input; 130 after
Ctrl-C. The module of a command is imported when the command is called, so that the list of commands is quick.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from importlib import import_module

import click

from gpcurves._version import __version__
from gpcurves.cli.streams import abandon_stdout, open_streams, tell
from gpcurves.errors import GPCurvesError, InputError

_LONGEST_REASON = 200  # characters of what an unexpected exception says
_COMMANDS = {
    "certify": "Bound the error of a model with a given confidence, or plan how many rows to hold out.",
    "curve": "Compute the average error after n examples.",
    "diagnose": "Report how uneven prior variances are over a graph.",
    "draw": "Draw a graph, coloured by the error of one data set.",
    "explore": "Write a page with sliders that move learning curves.",
    "figures": "Draw figures of the papers and check their claims.",
    "graph": "Compute the average error on the vertices of a graph.",
    "methods": "List the methods with their guarantees and requirements.",
    "mix": "Find the cheapest mix of cheap and expensive labels for a goal.",
    "plan": "Forecast how many rows, or labels on a network, a goal needs.",
    "predict": "Predict values at all vertices of a network from some.",
}


class CommandGroup(click.Group):
    """Commands that are known by name and summary; the module of a command is imported when the command is called."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known, rest = super().resolve_command(ctx, args)
        import logging

        # Matplotlib logs a warning where it cannot write its own cache, and then does without.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        return name, known and getattr(import_module(f"gpcurves.cli.{name}"), str(name)), rest


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="gpcurves", message="%(prog)s %(version)s")
def cli() -> None:
    """Compute how fast a Gaussian process learns, and how many examples it needs for a goal.

    \b
    Examples:
      gpcurves plan --demo
      gpcurves curve --kernel rbf --lengthscale 0.1 --noise 0.05 --n 0,10,100
      gpcurves curve --kernel ou --lengthscale 0.1 --dim 2 --noise 0.1 --goal 0.05 --out curves.png
      gpcurves graph --ensemble er:3 --normalise local --noise 0.1 --nu 0.1,1,5 --methods cavity
      gpcurves diagnose network.csv
      gpcurves predict network.csv --labels known.csv --out all.csv
      gpcurves plan data.csv --target y --goal-rmse 0.1
      gpcurves plan --edges network.csv --labels known.csv --goal-rmse 2.5 --report plan.html
      gpcurves mix --kernel matern52 --lengthscale 0.3 --dim 2 --correlation 0.95 --noise 0.01 --costs 1,20 --goal 0.02
      gpcurves certify --mistakes 3 --rows 100
      gpcurves explore
      gpcurves methods
      gpcurves figures
    """


for _name, _summary in _COMMANDS.items():
    cli.add_command(click.Command(_name, short_help=_summary))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; every failure is one sentence on stderr.

    With ``GPCURVES_TRACEBACK=1`` in the environment the traceback comes before the sentence.
    """
    open_streams()
    if not sys.warnoptions:  # what went wrong is said in a sentence, not by the way
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        code = cli.main(arguments, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        message = error.format_message()
        if isinstance(error, click.UsageError) and error.ctx is not None:
            sentence = message[:1].lower() + message[1:].rstrip(".").replace("\n", " ")
            message = f"{sentence} (see '{error.ctx.command_path} --help')"
        return _fail(message, error.exit_code)
    except GPCurvesError as error:
        return _fail(str(error), 2 if isinstance(error, InputError) else 1)
    except MemoryError:
        return _fail("out of memory: compute less at once, or use a machine with more memory", 1)
    except OSError as error:
        abandon_stdout()
        if isinstance(error, BrokenPipeError):  # the reader of our output left; nothing more to say
            return 1
        if error.filename is None and error.errno in (errno.EBADF, errno.ENOSPC, errno.EIO):
            return _fail(f"cannot write to stdout: {error.strerror}", 1)
        where = f" ({error.filename})" if error.filename else ""
        return _fail(f"cannot continue: {error.strerror or error}{where}", 1)
    except Exception as error:  # nothing is expected here: whatever it is, people get a sentence
        words = " ".join(str(error).split())[:_LONGEST_REASON]
        return _fail(
            f"this is a defect of gpcurves ({type(error).__name__}: {words}). Please report it on the issue tracker of "
            "gpcurves, with this command and what it prints if GPCURVES_TRACEBACK=1 is set",
            1,
        )


def _fail(message: str, code: int) -> int:
    if os.environ.get("GPCURVES_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exc()
    tell(f"gpcurves: {message}")
    return code
