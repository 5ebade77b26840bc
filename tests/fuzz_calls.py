"""The calls of the fuzzer: sound ones for every command, with options that are added and values that are spoilt.

The options of a command, their types and the names that they take are read from the command itself, so that new ones take part.
"""

from __future__ import annotations

import os
import random
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import fuzz_files as files

OLD = b"what was here before\n"
_AMOUNTS = ("X", "C", "V", "K")  # how options of `plan` name numbers
_STREAMS = ("usual", "latin-1", "no stderr", "no stdout", "full disk")
_ROLES = {
    "edges": "graph",
    "data": "table",
    "pool": "table",
    "labels": "labels",
    "points": "points",
    "predict": "table",
}
_ROLES |= {"spectrum": "spectrum", "store": "store"}
_COSTLY = {
    "--simulate",
    "--datasets",
    "--replicas",
    "--max-sweeps",
    "--max-rounds",
    "--graphs",
    "--precision",
    "--draws",
}
"""Options by which people may ask for a run without an end; such a run is interrupted instead of being waited for."""
LOAD = "load"
RESUMED = [
    "curve",
    "--kernel",
    "ou",
    "--lengthscale",
    "0.3",
    "--noise",
    "0.1",
    "--n",
    "0,2,6",
    "--simulate",
    "4",
    "--methods",
    "lc",
    "-q",
    "--store",
]
Rng = random.Random
_QUANTITIES = (
    "mse",
    "noisy-mse",
    "noisy-rmse",
    "training",
    "nlpd",
    "evidence",
    "error-rate",
    "sign-error-rate",
    "log-loss",
    "mae",
)


@dataclass
class Call:
    """One call: words, the files that it may write, and how it is made."""

    words: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    stream: str = "usual"
    interrupt: bool = False
    expected: str | None = None
    """What must be written to stdout by a call that succeeds, if that is known."""

    def __str__(self) -> str:
        if self.words[0] == LOAD:
            _, source, target = self.words
            code = f"import gpcurves as g; r = g.load({source!r}); repr(r), r._repr_html_(); r.save({target!r})"
            return f"python -c {shlex.quote(code)}"
        how = "" if self.stream == "usual" else f"  # {self.stream}"
        return f"gpcurves {' '.join(map(shlex.quote, self.words))}{how}{'  # then Ctrl-C' if self.interrupt else ''}"


def parameters(name: str) -> list[click.Parameter]:
    """Return the options and arguments of a command, as they are made when it is called."""
    command: click.Command = getattr(import_module(f"gpcurves.cli.{name}"), name)
    command.make_context(name, [], resilient_parsing=True)
    return command.params


class Maker:
    """Makes the call with a number: its files in the present folder, and its words."""

    def __init__(self, rng: Rng, templates: dict[str, list[bytes]]) -> None:
        self.rng, self.templates = rng, templates
        self.vertices: list[str] = []
        self.inputs: list[str] = []

    def some(self, chance: float) -> bool:
        return self.rng.random() < chance

    def call(self) -> Call:
        """Return the call; half of them are sound but for their files."""
        kind = self.rng.choices(
            (
                "curve",
                "graph",
                "diagnose",
                "draw",
                "predict",
                "plan",
                "mix",
                "certify",
                "explore",
                "methods",
                "figures",
                LOAD,
                "resume",
            ),
            (24, 20, 8, 8, 11, 15, 3, 2, 3, 1, 2, 8, 3),
        )[0]
        if kind == LOAD:
            target = self.output((".html", ".csv", ".json", ".png", ".svg"), plain=True)
            return Call([LOAD, self.file("saved"), target], [target])
        if kind == "resume":
            return self.resume()
        self.parameters = {each.opts[0]: each for each in parameters(kind)}
        self.made: list[str] = []
        given: dict[str, str | None] = getattr(self, f"_{kind}")()
        self.decorate(given)
        call = Call([kind], self.made, self.rng.choices(_STREAMS, (94, 2, 2, 1, 1))[0])
        pairs = list(given.items())
        if self.some(0.3):
            self.rng.shuffle(pairs)
        for flag, value in pairs:
            if not flag.startswith("-"):
                call.words.append(str(value))
            elif value is not None and self.some(0.1):
                call.words.append(f"{flag}={value}")
            else:
                call.words += [flag] if value is None else [flag, value]
        if self.some(0.03):
            call.words.insert(
                self.rng.randint(1, len(call.words)), self.rng.choice(("--help", "-q", "--", files.odd(self.rng)))
            )
        call.interrupt = any(flag in _COSTLY and _is_endless(flag, value) for flag, value in given.items())
        return call

    def resume(self) -> Call:
        """Return a call whose numbers are known, and that goes on from a store that may be damaged."""
        content = self.templates["store"][0]
        if self.some(0.9):
            content = files.spoil_store(self.rng, content, Path("spoilt.sqlite"))
        Path("run.sqlite").write_bytes(content)
        Path("spoilt.sqlite").unlink(missing_ok=True)
        expected = self.templates["resumed"][0].decode()
        return Call([*RESUMED, "run.sqlite"], ["run.sqlite"], expected=expected)

    # sound calls

    def _curve(self) -> dict[str, str | None]:
        noise, sizes = self.number(0.01, 1), self.sizes("0,3,9", "1:20:log:4", "5", "0:6:2", "1,1e3,1e9")
        if self.some(0.15):
            return {"--spectrum": self.file("spectrum"), "--noise": noise, "--n": sizes}
        given: dict[str, str | None] = {"--kernel": self.word("--kernel"), "--noise": noise, "--n": sizes}
        if given["--kernel"] not in ("linear", "poly"):
            given["--lengthscale"] = self.rng.choice((self.number(0.1, 2), self.number(0.1, 2), "0.5,0.7"))
        if self.some(0.5) or given["--kernel"] in ("linear", "poly"):
            given["--inputs"] = self.rng.choice(("box", "gaussian", "sample", "torus"))
            if given["--inputs"] == "sample":
                given["--points"] = self.file("points")
        if self.some(0.15):
            given["--teacher-kernel"] = self.word("--kernel")
        if self.some(0.3) or "--teacher-kernel" in given:  # a teacher is simulated by default, with many data sets
            given |= {"--simulate": self.rng.choice("2235"), "--test-points": "20"}
            given["--n"] = self.sizes("0,3,9", "5", "0:6:2")
        if self.some(0.2):
            self._add_labels(given)
        if self.some(0.15):
            self._add_inducing(given)
        if self.some(0.15):
            given["--quantity"] = self.rng.choice(_QUANTITIES)
        return self.with_output(given)

    def _add_labels(self, given: dict[str, str | None]) -> None:
        """Labels of another kind than numbers with Gaussian noise, with the flags that some kinds have."""
        given["--likelihood"] = self.rng.choice(("laplace", "logit", "probit", "student", "gaussian", "norma"))
        given["--methods"] = self.rng.choice(("lc", "lc,uc,d", "all", "simulation"))
        given |= {"--n": self.sizes("0,3,9", "5"), "--simulate": "2", "--test-points": "10"}
        if given["--likelihood"] not in ("probit", "gaussian") or self.some(0.1):
            del given["--noise"]
        if given["--likelihood"] in ("laplace", "student") or self.some(0.1):
            given["--noise-scale"] = self.number(0.1, 2)
        if given["--likelihood"] == "student" or self.some(0.1):
            given["--df"] = self.number(1, 9)
        if self.some(0.2):
            given["--inference"] = self.rng.choice(("ep", "laplace", "gibbs", "exact"))

    def _add_inducing(self, given: dict[str, str | None]) -> None:
        """A second axis."""
        given["--inducing"] = self.sizes("2", "2,4", "1:5:2", "9")
        given["--methods"] = self.rng.choice(("sor", "fitc,vfe", "sor,lc", "pitc", "bcm", "sor-simulation", "all"))
        given |= {"--n": self.sizes("5", "5,9"), "--draws": "2"}
        if self.some(0.4):
            given["--placement"] = self.rng.choice(("random", "greedy", "grid", "k-means", "corner"))
        if self.some(0.2):
            given["--goal-excess"] = self.number(0.1, 2)
        if self.some(0.1):
            given["--inducing-points"] = self.file("points")
            del given["--inducing"]

    def _graph(self) -> dict[str, str | None]:
        given: dict[str, str | None] = {
            "--noise": self.number(0.01, 1),
            "--nu": self.sizes("0.5", "0,1", "0.1:2:log:3"),
        }
        if self.some(0.5):
            given["--edges"] = self.graph()
            given["--methods"] = self.rng.choice(("all", "eigenvalue", "simulation", "simulation", "eigenvalue,cavity"))
        else:
            given |= {
                "--ensemble": self.ensemble(),
                "--methods": self.rng.choice(("all", "eigenvalue", "simulation", "cavity")),
            }
        taken = {"eigenvalue": (), "simulation": ("--datasets",), "cavity": ("--replicas", "--max-rounds")}
        of_ensemble = {"eigenvalue": ("--vertices", "--graphs"), "simulation": ("--vertices", "--graphs", "--datasets")}
        of_ensemble |= {"cavity": ("--population", "--max-sweeps", "--precision")}
        usual = {"--vertices": "20", "--graphs": "2", "--datasets": "2", "--replicas": "4", "--max-rounds": "50"}
        usual |= {"--population": "50", "--max-sweeps": "5", "--precision": "0.5"}
        named = str(given["--methods"]).replace("all", "simulation").split(",")
        if given["--methods"] == "all" and "--ensemble" in given:
            named.append("cavity")
        for name in named:
            given |= {flag: usual[flag] for flag in (of_ensemble if "--ensemble" in given else taken)[name]}
        if self.some(0.15):
            given |= {
                "--teacher-normalise": self.rng.choice(("local", "global")),
                "--teacher-noise": self.number(0.01, 1),
            }
        if self.some(0.1):
            given["--quantity"] = self.rng.choice(_QUANTITIES)
        if self.some(0.1):
            given["--deviation"] = self.number(0.1, 9)
        return self.with_output(given)

    def _single(self) -> dict[str, str | None]:
        if self.some(0.7):
            return {"edges": self.graph()}
        return {"--ensemble": self.ensemble(), "--vertices": self.rng.choice(("10", "30"))}

    def _diagnose(self) -> dict[str, str | None]:
        return self.with_output(self._single())

    def _draw(self) -> dict[str, str | None]:
        given = {**self._single(), "--noise": self.number(0.01, 1)}
        return self.with_output(given, 1)

    def _predict(self) -> dict[str, str | None]:
        return self.with_output({"edges": self.graph(), "--labels": self.file("labels", self.vertices)})

    def _plan(self) -> dict[str, str | None]:
        if self.some(0.2):
            graph: dict[str, str | None] = {"--edges": self.graph()}
            return self.with_output(graph | {"--labels": self.file("labels", self.vertices)})
        given: dict[str, str | None] = {"data": self.file("table"), "--target": "y", "--draws": self.rng.choice("2224")}
        if self.some(0.15):
            given["--pool"] = self.file("table", ("x", "z"))
        if self.some(0.3):
            goal = self.rng.choice(("--goal-rmse", "--goal-rmse", "--goal-mae", "--goal-r2", "--goal-percent"))
            given[goal] = self.number(5, 90) if goal == "--goal-percent" else self.number(0.1, 2)
        if self.some(0.3):
            given |= self._question()
        if self.some(0.1):
            given["--report"] = self.output((".html",), plain=True)
            page = Path(str(given["--report"]))
            self.made += [str(page), *(str(page.with_suffix(suffix)) for suffix in (".png", ".json"))]
        return self.with_output(given)

    def _question(self) -> dict[str, str | None]:
        """Return one thing that planners ask for besides a forecast."""
        question = self.rng.choice(("next", "gain", "cost", "certify", "noise", "predict", "groups"))
        if question == "next":
            self.made.append(self.output((".csv",)))
            return {"--next": self.rng.choice(("1", "3", "10")), "--next-file": self.made[-1]}
        if question == "predict":
            self.made.append(self.output((".csv",)))
            return {"--predict": self.file("table", ("x", "z")), "--predictions": self.made[-1]}
        answers: dict[str, dict[str, str | None]] = {
            "gain": {"--gain": self.rng.choice(("1", "20")), "--stop-below": self.number(0, 0.3)},
            "cost": {"--cost-per-row": self.number(0, 9), "--value-of-error": self.number(1, 9000)},
            "certify": {"--certify": self.number(0.01, 1)},
            "noise": {"--known-noise": self.number(0.01, 1), "--relative": None},
            "groups": {"--groups": self.rng.choice(("x", "kind"))},
        }
        return answers[question]

    def _mix(self) -> dict[str, str | None]:
        given: dict[str, str | None] = {
            "--kernel": "rbf",
            "--lengthscale": self.number(0.1, 1),
            "--noise": self.number(0.01, 1),
        }
        given |= {
            "--correlation": self.number(0, 1),
            "--costs": f"1,{self.number(1, 30)}",
            "--goal": self.number(0.02, 0.9),
        }
        return self.with_output(given)

    def _certify(self) -> dict[str, str | None]:
        if self.some(0.5):
            return {"--mistakes": self.rng.choice("0379"), "--rows": self.rng.choice(("10", "100", "5"))}
        return {"--expected": self.number(0, 0.5), "--goal": self.number(0.01, 0.9)}

    def _explore(self) -> dict[str, str | None]:
        del self.parameters["data"]  # it would be served until somebody ends it
        self.made.append(self.output((".html",), plain=True))
        return {"--kernel": self.word("--kernel"), "--noise": self.number(0.01, 1), "--out": self.made[-1]}

    def _methods(self) -> dict[str, str | None]:
        return {}

    def _figures(self) -> dict[str, str | None]:
        name = self.rng.choice(("sollich2002-1", "sollich2002-9", "nothing", "--again", files.odd(self.rng)))
        self.made.append(self.rng.choice(("pictures", "pictures/more", "old.csv", files.odd(self.rng)[:100])))
        Path("old.csv").write_bytes(OLD)
        return {"names": name, "--out": self.made[-1], "--quick": None}

    # what may be added, and what may go wrong

    def decorate(self, given: dict[str, str | None]) -> None:
        """Add options, and spoil some."""
        for _ in range(self.rng.choice((0, 0, 1, 1, 2, 4))):
            flag = self.rng.choice(list(self.parameters))
            option = self.parameters[flag]
            group, owners = getattr(option, "group", ""), getattr(option, "owners", {})
            chosen = str(
                given.get(f"--{group}")
                or given.get(f"--{group.removeprefix('teacher-')}")
                or given.get("--methods")
                or ""
            )
            if {flag, *given} >= {"--json", "--out"} or (
                {flag, *given} >= {"--ensemble"} and {flag, *given} & {"edges", "--edges"}
            ):
                continue
            if owners and chosen and not set(chosen.split(",")) & set(owners) and self.some(0.85):
                continue  # it would be refused at once
            if flag not in given and (flag not in ("--out", "--report", "names") or self.some(0.2)):
                given[flag] = self.value(option, odd=self.some(0.35))
            sampled = flag.startswith("--teacher-") or set(owners) == {"simulation"}
            if sampled and "--simulate" in self.parameters:  # rather than with 200 data sets
                given |= {"--simulate": "2", "--test-points": "20"}
        if given and self.some(0.35):
            flag = self.rng.choice(list(given))
            if flag in self.parameters and given[flag] is not None and not self._is_file(self.parameters[flag]):
                given[flag] = self.value(self.parameters[flag], odd=True)
        if given and self.some(0.04):
            given.pop(self.rng.choice([flag for flag in given if flag not in ("--out", "--report")] or ["--out"]))

    def _is_file(self, option: click.Parameter) -> bool:
        return isinstance(option.type, click.Path) or getattr(option, "metavar", None) == "FILE"

    def value(self, option: click.Parameter, *, odd: bool) -> str | None:
        """Return a value of an option: a usual one for its type, or one that nobody expects."""
        metavar, text = str(getattr(option, "metavar", None) or ""), str(getattr(option, "help", None) or "")
        if getattr(option, "is_flag", False):
            return None
        if self._is_file(option):
            name = str(option.name).rpartition("__")[2]
            if name in ("out", "report", "next_file", "predictions", "chosen"):
                self.made.append(self.output())
                return self.made[-1]
            made = self.file(_ROLES.get(name) or self.rng.choice(sorted(set(_ROLES.values()))), self.vertices or None)
            self.made += [made] if name == "store" else []
            return made
        numeric = (
            metavar.startswith(("NUMBER", "INTEGER", "SEED", "LIST")) or metavar in _AMOUNTS or option.type is click.INT
        )
        if odd:
            return self.rng.choice(files.EXTREMES) if numeric and self.some(0.6) else files.odd(self.rng)
        if metavar == "N|ADDRESS":
            return self.rng.choice(("1", "1", "0", "tcp://", "tcp://nowhere", "1e9", "999999999"))
        if metavar == "LIST" or option.name == "sizes":
            return self.sizes(
                "0", "1,2", "0:4:2", "1:9:log:3", "1:1e9:1e-9", "1:9:log:999999999", "3:1", "1:2:0", "1:2:3:4:5"
            )
        if metavar == "NAME:NUMBERS":
            return self.ensemble()
        if metavar == "COLUMN":
            return self.rng.choice(("x", "z", "y", "g", "value", "vertex", "nothing"))
        if metavar.startswith("SOURCE,"):
            return self.rng.choice(
                ("source,target", "1,2", "1,2,3", "2,1", "source,target,length", '"a,b",c', "9,1", ",")
            )
        if metavar in ("INTEGER", "SEED", "K") or option.type is click.INT:
            return self.rng.choice(("1", "2", "3", "5", "10", "10", "1000000000"))
        if metavar.startswith("NUMBER") or metavar in _AMOUNTS:
            several = ("0.5,0.25", "1,0.5,0.1") if metavar.endswith("...") else ()
            return str(self.rng.choice((self.number(0, 1), self.number(0, 3), *several)))
        if "|" in metavar:
            return self.rng.choice(metavar.split("|"))
        listed = text.partition(": ")[2] or text if metavar.startswith("NAME") else text
        return str(self.rng.choice(re.findall(r"[\w=-]+", listed) or ["y"]))

    def word(self, flag: str) -> str:
        """Return one of the names that the help of an option lists."""
        listed = str(getattr(self.parameters[flag], "help", "")).partition(": ")[2].partition(".")[0]
        return self.rng.choice(listed.split(", "))

    def number(self, low: float, high: float) -> str:
        return f"{self.rng.uniform(low, high):.3g}"

    def sizes(self, *usual: str) -> str:
        return self.rng.choice(usual)

    def ensemble(self) -> str:
        listed = str(getattr(self.parameters["--ensemble"], "help", "")).partition(": ")[2]
        form = self.rng.choice(re.findall(r"\w+:[\w,]+", listed)).rstrip(",")
        usual = ("0.5",) if "0" in form else ("2", "3", "3", "2.5")  # probabilities are numbered
        return re.sub(r"[A-Z]+\d?", lambda _: self.rng.choice(usual), form)

    # files

    def graph(self) -> str:
        """Make a file with a graph, whose vertices labels will name."""
        found = files.graph(self.rng)
        self.vertices = list(map(str, found))
        return self.file("graph", found)

    def file(self, kind: str, related: Any = None) -> str:
        """Make a file to be read and return its name."""
        if self.some(0.02):
            return self.rng.choice(("missing.csv", "folder.csv", ".", "", "/dev/null", files.odd(self.rng)))
        if kind == "store" and self.some(0.4):
            return f"new{len(self.inputs)}.sqlite"
        if kind == "graph" and not hasattr(related, "edges"):
            related = None
        suffix, content = files.make(kind, self.rng, self.templates, related)
        stem = self.rng.choices((kind, "ä ö", "two\nlines", "<b>", "-x"), (30, 1, 1, 1, 1))[0]
        path = Path(f"{stem}{len(self.inputs)}{suffix if self.some(0.95) else suffix.upper()}")
        path.write_bytes(content)
        self.inputs.append(f"./{path}" if str(path).startswith("-") or self.some(0.1) else str(path))
        return self.inputs[-1]

    def with_output(self, given: dict[str, str | None], chance: float = 0.35) -> dict[str, str | None]:
        if self.some(chance):
            listed = re.findall(r"\.\w+", str(getattr(self.parameters["--out"], "help", "")))
            self.made.append(self.output(listed))
            return {**given, "--out": self.made[-1]}
        return given

    def output(
        self, suffixes: Sequence[str] = (".csv", ".json", ".png", ".svg", ".html"), *, plain: bool = False
    ) -> str:
        """Return a name to write to, and make what is there already."""
        suffix = (
            self.rng.choice(suffixes)
            if self.some(0.93)
            else self.rng.choice(("", ".pdf", ".CSV", ".tar.gz", ".Html", "."))
        )
        path = Path(f"out{suffix}")
        kind = self.rng.choices(
            ("new", "old", "link", "dangling", "loop", "fifo", "folder", "missing", "input", "link to input", "odd"),
            (20, 3, 2, 2, 1, 0 if plain else 2, 1, 1, 4 if self.inputs else 0, 4 if self.inputs else 0, 2),
        )[0]
        if path.exists() or path.is_symlink():
            return str(path)
        if kind == "input":
            return self.rng.choice(self.inputs)
        if kind == "odd":
            return files.odd(self.rng)[:5000] + suffix
        if kind == "missing":
            return f"missing/{path}"
        Path("target").write_bytes(OLD)
        if kind == "old":
            path.write_bytes(OLD)
        elif kind == "link":
            path.symlink_to("target")
        elif kind == "dangling":
            path.symlink_to("fresh")
        elif kind == "loop":
            path.symlink_to(path)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "link to input":
            source = self.rng.choice(self.inputs)
            (path.symlink_to if self.some(0.5) else path.hardlink_to)(source)
        return str(path)


def _is_endless(flag: str, text: str | None) -> bool:
    """Tell whether a run may take for ever because somebody asked for it."""
    try:
        number = float(text or "")
    except ValueError:
        return False
    return 0 < number < 0.05 if flag == "--precision" else number > 50
