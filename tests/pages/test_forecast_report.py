"""The report of a forecast in a browser whose cable is pulled: on a desk and on a telephone, light and dark, with a goal that moves."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from browser import Browser, browsing
from commands import command
from explorer import ROOT, needs_chromium, needs_node
from gpcurves.forecasting.headline import WORDS, Outlook
from gpcurves.forecasting.intervals import goal_grid
from gpcurves.forecasting.measures import significant
from gpcurves.forecasting.questions import Questions
from gpcurves.render.bundling import bundle
from gpcurves.render.report.content import Provenance
from gpcurves.render.report.sections import describe_dependence
from gpcurves.render.views import view_of
from made_forecasts import made
from pictures import assert_drawn

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
TSC = ROOT / "node_modules" / ".bin" / "tsc"
SOURCE = ROOT / "src" / "gpcurves" / "render" / "report"
TARGET = "<script>alert('x')</script> of_a_name_so_long_that_no_telephone_shows_it_on_one_line_without_breaking_it"
PROVENANCE = Provenance(("wine.csv",), "gpcurves plan wine.csv --target price", datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
CASES: dict[str, gpc.Forecast] = {
    "usual": made(),
    "network": made(vertices=400),
    "groups": made(group="patient"),
    "few groups": made(20, width=(0.3, 3.0), group="group"),
    "open": made(20, width=(0.3, 3.0)),
    "thinned": made(3000, width=(0.3, 3.0), fitted_rows=1000),
    "outliers": made(outlying=40.0),
    "flat": made(fall=0.3, width=(0.9, 1.1)),
    "doubtful": made(fall=0.3, width=(0.9, 1.5)),
    "wide": made(fall=0.96, width=(0.8, 2.4)),
    "exact": made(floor=1e-9, deterministic=True),
    "large": made(floor=2e4, fall=5e10, deviation=1e5),
}


def goals_of(forecast: gpc.Forecast) -> list[float]:
    """Return goals of every kind: met for certain, met perhaps, reached later, perhaps and never."""
    now = float(forecast.at([forecast.rows])["rmse"].iloc[0])
    return [float(f"{share * now:.4g}") for share in (5, 1.2, 1.05, 0.97, 0.9, 0.8, 0.71, 0.6, 0.5, 0.3, 0.01)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


def write(folder: Path, forecast: gpc.Forecast, **options: Any) -> str:
    path = folder / "report.html"
    path.write_text(view_of(forecast, **options).page(), encoding="utf-8")
    return path.as_uri()


def type_goal(browser: Browser, value: float) -> None:
    browser.run(
        f"""{{ const field = document.getElementById("goal"); field.value = "{value!r}";
        field.dispatchEvent(new Event("input", {{ bubbles: true }})); }}"""
    )
    browser.frame()


def test_every_answer_occurs_and_agrees_with_the_verdict() -> None:
    allowed = {
        "outliers": {"too few rows to say"},
        "reached": {"goal reached already"},
        "reached, 80 % sure": {"goal reached already"},
        "never": {"goal cannot be reached"},
        "doubtful": {"too few rows to say"},
        "doubtful, perhaps reached": {"too few rows to say"},
        "open": {"too few rows to say"},
        "open, guess": {"too few rows to say"},
        "likely": {"more data helps"},
        "likely, never sure": {"more data helps", "too few rows to say"},
        "number": {"more data helps"},
        "number, if at all": {"more data helps"},
        "number, never sure": {"more data helps"},
        "perhaps": {"too few rows to say"},
    }
    seen = set()
    for forecast in CASES.values():
        for goal in goals_of(forecast):
            needed, prospects = forecast.required_n(rmse=goal), forecast.prospects(forecast.goal(goal))
            case = Outlook.of(prospects).choose(goal, needed)
            seen.add(case)
            verdict = forecast.verdict(goal)
            assert verdict.label.replace("labels", "rows").replace("groups", "rows") in allowed[case], (case, verdict)
            headline = forecast.headline(goal)
            assert "{" not in headline
            band = forecast.band.find(goal, goal_grid(forecast.rows))
            if case in ("likely", "number") and needed.high is None:
                assert band[3] == needed.assured  # no other number is called 80 % sure without a condition
            if case in ("number", "number, if at all"):
                count = int(re.findall(r"About ([\d,]+)", headline)[0].replace(",", ""))
                assert count * 0.9 <= (needed.estimate or 0) <= count
                assert f"{count - forecast.rows:,} more than you have" in headline
            for number in re.findall(r"collect about ([\d,]+) more \(([\d,]+) in total\)", headline):
                assert forecast.unit.say(f"Collect about {number[0]} more rows ({number[1]} in total)") in str(verdict)
    assert seen == set(WORDS)


def test_the_sentence_of_the_goal() -> None:
    forecast = made()
    needed = forecast.required_n(rmse=0.3)
    assert (needed.estimate, needed.assured) == (100, 173)
    assert forecast.headline(0.3) == "About 100 rows, 40 more than you have; plan for 180 to be 80 % sure"
    labels = "About 100 of 400 possible labels, 40 more than you have; plan for 180 to be 80 % sure"
    assert CASES["network"].headline(0.3) == labels
    assert forecast.headline().startswith("More rows help: the RMSE is about 0.349 now and about 0.246 with 240 rows")


def test_plans_for_an_80_percent_chance_are_at_most_six_times_the_estimate() -> None:
    wide = made(width=(0.5, 1.6))
    needed = wide.required_n(rmse=0.25)
    assert (needed.estimate, needed.high, needed.assured) == (222, None, 6 * 222)
    assert wide.headline(0.25).endswith("; plan for 1,400 to be 80 % sure, if the goal can be reached at all")
    assert "If the goal can be reached, 1,400 rows are enough with a probability of 80 %." in str(wide.verdict(0.25))
    assert made().required_n(rmse=0.3).assured == 173  # fewer, since the interval is narrow
    few = made(vertices=300, width=(0.5, 1.6))  # a graph on which there are not six times as many labels
    assert few.required_n(rmse=0.25).assured is None
    flat = made(fall=0.3, width=(0.9, 1.5))
    assert flat.required_n(rmse=0.205).estimate is not None
    assert flat.required_n(rmse=0.205).assured is None  # numbers mean little where the curve is flat


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.2, "0.200"),
        (0.23349, "0.233"),
        (12345.0, "12,300"),
        (9.996, "10.0"),
        (4.0712e-5, "4.07e-05"),
        (2e7, "2.00e+07"),
        (0.0, "0"),
    ],
)
def test_numbers_have_the_same_digits(value: float, text: str) -> None:
    assert significant(value) == text


def test_the_floor_has_an_interval_that_the_forecast_never_leaves_below() -> None:
    for forecast in CASES.values():
        low, high = forecast.prospects().floor_interval
        assert low <= forecast.floor <= high
        n = np.unique(np.geomspace(1, min(1000 * forecast.rows, forecast.unit.sight), 50).round())
        assert (forecast.at(n)["low"] >= low * (1 - 1e-12)).all()


def test_one_small_page_with_nothing_from_outside() -> None:
    page = view_of(made(), goal=0.3, provenance=PROVENANCE).page()
    assert len(page.encode()) < 120_000
    code = page.replace("http://www.w3.org/2000/svg", "")
    assert all(word not in code for word in ("http://", "https://", "src=", "plotly", "@import"))
    assert "default-src 'none'" in page
    for words in (
        "wine.csv",
        "60 labelled rows, 2 inputs",
        "gpcurves plan wine.csv --target price",
        "1 March 2026",
        gpc.__version__,
    ):
        assert words in page


def test_it_reads_without_a_script() -> None:
    forecast = made()
    page = view_of(forecast, goal=0.3).page()
    body = page[page.index("<main>") : page.index("</main>")]
    assert f"<h1 id='headline' aria-live='polite'>{forecast.headline(0.3)}</h1>" in body
    assert body.count("data-name='forecast'") == 2  # one drawing for a desk, one for a telephone
    assert "about 100 rows" in body
    assert all(
        sentence.split(" (")[0] in re.sub(r"<[^>]*>", "", body).replace("\N{NO-BREAK SPACE}", " ")
        for sentence in forecast.verdict(0.3).sentences
    )


def test_names_are_escaped() -> None:
    page = view_of(replace(made(), target=TARGET, steps=("<b>bold</b>",)), goal=0.3).page()
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    assert page.count("</script>") == 2


def test_every_module_is_in_the_bundle_once_and_readable() -> None:
    code = bundle("report/main")
    for path in SOURCE.glob("*.js"):
        source = path.read_text(encoding="utf-8")
        assert source.startswith("// "), path.name
        assert code.count(f"const module_{path.stem} = ") == 1, path.name


@needs_node
@pytest.mark.slow
@pytest.mark.skipif(not TSC.exists(), reason="TypeScript is not installed (npm install)")
def test_types_in_comments_are_right() -> None:
    options = "--noEmit --allowJs --checkJs --strict --target es2022 --module es2022 --moduleResolution bundler"
    command_line = [str(TSC), *options.split(), "--lib", "es2023,dom,dom.iterable", *map(str, SOURCE.glob("*.js"))]
    done = subprocess.run(command_line, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@needs_chromium
@pytest.mark.parametrize("name", CASES)
def test_the_goal_moves_the_answer_to_the_row(browser: Browser, tmp_path: Path, name: str) -> None:
    forecast = CASES[name]
    browser.events.clear()
    address = write(tmp_path, forecast, goal=goals_of(forecast)[4])
    browser.resize(1280, 900)
    browser.open(address)
    assert browser.run("document.querySelector('h1').textContent") == forecast.headline(goals_of(forecast)[4])
    for goal in goals_of(forecast):
        type_goal(browser, goal)
        assert browser.run("document.querySelector('h1').textContent") == forecast.headline(goal)
        tiles = "['estimate', 'assured'].map((name) => document.getElementById(`tile-${name}`).dataset.n)"
        span = "['low', 'high'].map((end) => document.getElementById('tile-span').dataset[end])"
        needed = forecast.required_n(rmse=goal)
        expected = [needed.estimate, needed.assured, needed.low, needed.high]
        assert browser.run(f"[...{tiles}, ...{span}]") == ["" if each is None else str(each) for each in expected]
    assert browser.run("document.getElementById('verdict').hidden")
    browser.run("document.getElementById('back').click()")
    assert browser.run("document.querySelector('h1').textContent") == forecast.headline(goals_of(forecast)[4])
    assert not browser.run("document.getElementById('verdict').hidden")
    assert browser.requests() == [address]
    assert browser.complaints() == []


@needs_chromium
@pytest.mark.slow
def test_goals_in_other_measures_move_as_well(browser: Browser, tmp_path: Path) -> None:
    forecast = made(deviation=0.9)
    for name, values in {"r2": (0.5, 0.9, 0.94, 0.9512), "mae": (0.2, 0.24, 0.3), "percent": (25, 30, 45.5)}.items():
        browser.open(write(tmp_path, forecast, goal=forecast.goal(**{name: values[0]})))
        for value in values:
            type_goal(browser, value)
            goal = forecast.goal(**{name: value})
            assert browser.run("document.querySelector('h1').textContent") == forecast.headline(goal)
            shown = browser.run("document.querySelector('svg.wide [data-part=goal-text]').textContent")
            assert shown in ("", f"goal {goal.measure.short} {goal.measure.write_goal(goal.error)}")
            needed = forecast.required_n(**{name: value}).estimate
            assert browser.run("document.getElementById('tile-estimate').dataset.n") == str(needed or "")


@needs_chromium
def test_the_slider_moves_the_marks_where_python_draws_them(browser: Browser, tmp_path: Path) -> None:
    forecast = made()
    browser.resize(1280, 900)
    marks = """[...page.querySelectorAll('svg [data-part]')]
        .filter((e) => e.getAttribute('display') !== 'none' && (e.tagName !== 'text' || e.textContent.trim()))
        .map((e) => [e.dataset.part, e.textContent.trim(),
            ...['x', 'y', 'x1', 'x2', 'y1', 'y2', 'transform', 'text-anchor'].map((a) => e.getAttribute(a))].join())"""
    live = f"{{ const page = document; {marks} }}"
    for goal in (0.3, 0.42, 0.25, 1e-9):
        browser.open(write(tmp_path, forecast, goal=goal))
        source = json.dumps((tmp_path / "report.html").read_text(encoding="utf-8"))
        drawn = browser.run(f"{{ const page = new DOMParser().parseFromString({source}, 'text/html'); {marks} }}")
        move = (
            "{ const r = document.getElementById('goal-range'); r.value = 120; r.dispatchEvent(new Event('input')); }"
        )
        browser.run(move)
        assert browser.run(live) != drawn
        value = float(browser.run("document.getElementById('goal').value"))
        assert browser.run("document.querySelector('h1').textContent") == forecast.headline(value)
        type_goal(browser, goal)
        assert browser.run(live) == drawn


@needs_chromium
def test_a_plan_without_a_goal_takes_one(browser: Browser, tmp_path: Path) -> None:
    forecast = made()
    browser.open(write(tmp_path, forecast))
    assert browser.run("document.querySelector('h1').textContent") == forecast.headline()
    assert browser.run("document.getElementById('asked').hidden")
    assert browser.run("document.getElementById('goal').value") == "0.25"
    type_goal(browser, 0.3)
    assert browser.run("document.querySelector('h1').textContent") == forecast.headline(0.3)
    browser.run("document.getElementById('back').click()")
    assert browser.run("document.querySelectorAll('svg.wide [data-part]:not([display=none])').length") == 0


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_both_widths(browser: Browser, tmp_path: Path, width: int) -> None:
    browser.resize(width, 844)
    for forecast in (replace(CASES["usual"], target=TARGET, left_out={TARGET: "a constant"}), CASES["large"]):
        browser.open(write(tmp_path, forecast, goal=goals_of(forecast)[4], provenance=PROVENANCE))
        assert browser.run("document.documentElement.scrollWidth") <= width
        shape = "narrow" if width < 600 else "wide"
        box = browser.run(f"document.querySelector('svg.{shape}').getBoundingClientRect().toJSON()")
        assert box["width"] > 0.7 * min(width, 900)
        outside = f"""[...document.querySelectorAll('svg.{shape} text')].filter((e) => e.textContent.trim())
            .filter((e) => e.getBoundingClientRect().right > {box["right"]} + 1 || e.getBoundingClientRect().left < {box["left"]} - 1)"""
        assert browser.run(f"{outside}.map((e) => e.textContent)") == []
        browser.run(f"document.querySelector('svg.{shape}').scrollIntoView()")
        assert_drawn(browser.screenshot(), width, 800)


@needs_chromium
@pytest.mark.slow
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (npm install)")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_accessibility(browser: Browser, tmp_path: Path, theme: str) -> None:
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    try:
        for width, forecast in ((1280, CASES["usual"]), (390, CASES["network"])):
            browser.resize(width, 900)
            browser.open(write(tmp_path, forecast, goal=0.3, provenance=PROVENANCE))
            paper = browser.run("getComputedStyle(document.querySelector('section')).backgroundColor")
            assert (paper == "rgb(255, 255, 255)") == (theme == "light")
            browser.run(AXE.read_text(encoding="utf-8") + ";0")
            found = json.loads(browser.run("axe.run(document).then((found) => JSON.stringify(found.violations))"))
            assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


@needs_chromium
@pytest.mark.slow
def test_terms_open_by_keyboard_and_close_again(browser: Browser, tmp_path: Path) -> None:
    browser.resize(390, 844)
    browser.open(write(tmp_path, made(), goal=0.3))
    terms = browser.run("[...document.querySelectorAll('.term')].map((each) => each.getAttribute('popovertarget'))")
    assert {
        "term-rmse",
        "term-interval",
        "term-sure",
        "term-floor",
        "term-power",
        "term-validation",
        "term-chosen",
    } <= set(terms)
    assert all(browser.run(f"document.getElementById('{each}') !== null") for each in terms)
    browser.run("document.querySelector('.term').focus()")
    browser.press("Enter")
    opened = browser.run("document.querySelector('.panel:popover-open')?.textContent")
    assert "units of the target" in opened or "nine of ten" in opened or "best estimate" in opened
    browser.run("document.querySelector('.panel:popover-open').hidePopover()")
    assert browser.run("document.querySelector('.panel:popover-open')") is None
    browser.run("document.querySelector('svg.narrow').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert re.match(
        r"\d+ rows: RMSE 0\.\d{3}, 90 % interval 0\.\d{3} to",
        browser.run("document.getElementById('reading').textContent"),
    )


@needs_chromium
@pytest.mark.slow
def test_downloads_hold_the_same_numbers(browser: Browser, tmp_path: Path) -> None:
    forecast = made()
    browser.resize(1280, 900)
    browser.open(write(tmp_path, forecast, goal=0.3))
    click = """window.saved = new Promise((done) => {{ const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => {{ URL.createObjectURL = make; blob.arrayBuffer().then((b) => done([...new Uint8Array(b)])); return make(blob); }}; }});
        [...document.querySelectorAll("#downloads button")].find((each) => each.textContent === "{}").click()"""

    def saved(kind: str) -> bytes:
        browser.run(click.format(kind))
        return bytes(browser.run("window.saved"))

    lines = saved("CSV").decode().splitlines()
    assert lines[0] == "n,rmse,low,high,assured_80"
    numbers = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    np.testing.assert_allclose(numbers[:, 1:4], forecast.at(numbers[:, 0])[["rmse", "low", "high"]], rtol=1e-9)
    answers = json.loads(saved("JSON"))
    assert answers["required_n"]["estimate"] == 100
    assert answers["headline"] == forecast.headline(0.3)
    assert_drawn(saved("PNG"), 1600, 800)


@pytest.mark.slow
def test_a_report_from_the_command_line_of_a_table_with_strange_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 2))
    table = pd.DataFrame(X, columns=["<b>bold</b> & a_name_that_is_longer_than_the_column_of_a_table", "größe"])
    table[TARGET] = 1e-7 * (np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(40))
    table.to_csv(tmp_path / "some rows.csv", index=False)
    words = ["plan", str(tmp_path / "some rows.csv"), "--target", TARGET, "--goal-rmse", "3e-8", "--draws", "2"]
    code, _, err = command(*words, "--report", str(tmp_path / "plan.html"))
    assert code == 0
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 300_000
    headline = json.loads((tmp_path / "plan.json").read_text())["headline"]
    last = err.splitlines()
    at = last.index(f"{headline}.")
    assert last[at - 1].startswith("How many rows do you need to predict")
    assert all(line.startswith("  ") for line in last[at + 1 :])
    assert "Rows to measure next" in page
    assert "Predicted against observed" in page
    assert "some rows.csv" in page
    shown = re.search(r"<dt>Command</dt><dd><code>(.*?)</code>", page)
    assert shown is not None
    assert shlex.join(words)[:20] in shown[1].replace("&#x27;", "'")
    assert "<script>alert" not in page
    assert "<b>bold" not in page


def test_goals_out_of_sight_leave_the_picture_alone() -> None:
    forecast = made()
    for goal in (1e-300, 1e300):
        hint = f"the goal is {'below' if goal < 1 else 'above'} this picture"
        assert hint in view_of(forecast, goal=goal).page()
        low, high = forecast.plot(goal=goal).ax_.get_ylim()
        assert low < forecast.at([60])["rmse"][0] < high < 1e5 * low


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["$\\frac{x}$", "价格", *(pytest.param(name, marks=pytest.mark.slow) for name in ("two\nlines", "x" * 300))],
)
def test_any_target_can_be_drawn(name: str) -> None:
    assert_drawn(replace(made(), target=name).plot().to_bytes("png"))


def test_how_the_target_depends_on_an_input() -> None:
    assert describe_dependence(0.01, 1.0, 1.0) == "little effect"
    assert describe_dependence(0.5, 1.0, float("nan")) == "differs between categories"
    assert describe_dependence(0.5, 0.2, 0.04) == "strongly nonlinear, lengthscale about 0.04"
    assert describe_dependence(0.5, 9.0, 0.04) == "nearly linear"


def test_further_answers_are_listed() -> None:
    page = view_of(made(), goal=0.3, asked=Questions(gain=10)).page()
    assert "What you asked" in page
    assert "The next 10 rows should lower the RMSE by about" in page


@pytest.mark.slow
def test_groups_are_counted_by_their_name_everywhere(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(12), 3)
    table = pd.DataFrame({"patient": [f"P{k}" for k in patient], "dose": rng.uniform(0, 3, 36)})
    table["response"] = np.sin(table["dose"]) + 0.3 * rng.normal(size=12)[patient]
    table.to_csv(tmp_path / "trial.csv", index=False)
    report = tmp_path / "plan.html"
    words = ["plan", str(tmp_path / "trial.csv"), "--target", "response", "--groups", "patient", "--goal-rmse", "0.35"]
    code, _, said = command(*words, "--certify", "0.05", "--gain", "5", "--draws", "1", "--report", str(report))
    assert code == 0, said
    assert "you have 12 patients with 3 rows each on average" in said
    assert "The next 5 patients" in said
    assert "rows, each of another patient that is not used for training" in said
    assert "How many patients do you need to predict response" in said
    headline = said.partition("How many patients")[2].splitlines()[1]
    assert "patients" in headline
    page = report.read_text()
    for text in ("number of patients", "on new patients", "you have 12 patients", "12 patients, 1 inputs"):
        assert text in page
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    wrong = re.findall(r"[\d,]+ more rows|more rows|your rows|your current rows|With [\d,]+ rows", shown)
    assert wrong == []
    again = gpc.load(report.with_suffix(".json"))
    assert again.headline(0.35) + "." == headline.strip()
    assert len(again.remaining) == 1  # inputs are chosen row by row
