"""The explorer in a browser whose cable is pulled: what it asks for, how quick it is, who can use it, and what it shows."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import gpcurves as gpc
from browser import Browser, browsing
from explorer import ROOT, SOURCE, needs_chromium, needs_node
from gpcurves.cli import cli
from gpcurves.cli.serving import PageServer
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.intervals import Band, goal_grid
from gpcurves.render.bundling import bundle
from gpcurves.render.explorer import explorer_page
from pictures import assert_drawn

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
TSC = ROOT / "node_modules" / ".bin" / "tsc"
TABS = ("theory", "learn", "network", "plan")
DRAWN = "[...document.querySelectorAll('[data-series]')].map((each) => each.outerHTML).join()"
LAPTOP = 23.0  # milliseconds for the sums of `pace` at 3.5 GHz, where an addition waits four cycles for the one before


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(explorer_page(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def forecast(tmp_path_factory: pytest.TempPathFactory) -> tuple[gpc.Forecast, Path]:
    """A forecast from 60 rows whose squared error falls as 0.04 + 5/n."""
    n = np.unique(np.concatenate((np.arange(61.0), goal_grid(60), [960.0, 1e15])))
    estimate = np.sqrt(0.04 + 5 / (n + 1))
    band = Band(n, estimate, 0.8 * estimate, 1.3 * estimate, 1.13 * estimate, np.full(len(n), 0.01))
    seen = CrossValidation(np.array([15.0, 30.0, 48.0]), np.array([0.37, 0.22, 0.15]), np.array([0.05, 0.03, 0.02]))
    facts: dict[str, Any] = {"target": "price", "rows": 60, "fitted_rows": 60, "columns": 2, "floor": 0.19}
    facts |= {"outlying": 0.0, "relevance": None, "deterministic": False, "steps": (), "notes": (), "seed": 0}
    law = PowerLawFit(0.04, 5.0, 1.0)
    made = gpc.Forecast(
        band=band, remaining=np.ones(2), cross_validation=seen, power_law=law, deviation=1.0, mean_absolute=1.0, **facts
    )
    path = tmp_path_factory.mktemp("plan") / "forecast.json"
    made.to_json(path)
    return made, path


def test_one_small_page_with_nothing_from_outside() -> None:
    page = explorer_page()
    assert len(page.encode()) <= 200_000
    code = page.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in code
    assert "https://" not in code
    assert "src=" not in code
    assert all(name in page for name in ("Content-Security-Policy", "default-src 'none'", 'lang="en"', "viewport"))


def test_what_a_page_begins_with_cannot_break_out() -> None:
    assert explorer_page({"hide": "</script><script>alert(1)</script>"}).count("</script>") == 2


def test_every_module_is_in_the_bundle_once_and_readable_in_the_package() -> None:
    code = bundle("explorer/main")
    for path in SOURCE.glob("*.js"):
        source = path.read_text(encoding="utf-8")
        assert source.count("\n") <= 450, path.name
        assert source.startswith("// "), path.name  # a sentence about what it is
        assert code.count(f"const module_{path.stem} = ") == 1, path.name


@needs_node
@pytest.mark.slow
@pytest.mark.skipif(not TSC.exists(), reason="TypeScript is not installed (npm install)")
def test_types_in_comments_are_right() -> None:
    options = "--noEmit --allowJs --checkJs --strict --target es2022 --module es2022 --moduleResolution bundler"
    command = [str(TSC), *options.split(), "--lib", "es2023,dom,dom.iterable", *map(str, SOURCE.glob("*.js"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@needs_chromium
@pytest.mark.parametrize("tab", TABS)
def test_no_request_and_no_complaint(browser: Browser, page: str, tab: str) -> None:
    browser.events.clear()
    browser.open(f"{page}#tab={tab}")
    browser.frame()
    browser.run("new Promise((done) => setTimeout(done, 400))")
    assert [each.partition("#")[0] for each in browser.requests()] == [page]
    assert browser.complaints() == []
    assert browser.run("document.querySelector('[role=tab][aria-selected=true]').id") == f"tab-{tab}"


def moves(browser: Browser, name: str) -> float:
    """Move a slider by hand; return how many milliseconds of its processor the page took, the fewest of three moves."""
    took = []
    for _ in range(3):
        before, began = browser.run(DRAWN), busy(browser)
        browser.run(
            f"""{{ const range = document.querySelector('[data-name={name}]');
            const place = Number(range.value), step = Math.ceil(Number(range.max) / 30);
            range.value = place > Number(range.max) / 2 ? place - step : place + step;
            range.dispatchEvent(new Event("input", {{ bubbles: true }})); }}"""
        )
        browser.frame()
        took.append(busy(browser) - began)
        assert browser.run(DRAWN) != before, f"{name} does not move its curve"
    return min(took)


def pace(browser: Browser) -> float:
    """Return how many times longer this processor takes at this moment than that of an ordinary laptop; at least 1."""
    took = []
    for _ in range(3):
        began = busy(browser)
        browser.run(
            """{ const x = new Float64Array(1e5).map((_, i) => i % 7);
            let sum = 0;
            for (let round = 0; round < 200; round++) for (let i = 0; i < 1e5; i++) sum += x[i] * x[i];
            sum; }"""
        )
        took.append(busy(browser) - began)
    return max(1.0, min(took) / LAPTOP)


def busy(browser: Browser) -> float:
    """Return for how many milliseconds the page has computed and drawn, without the time that other programs took."""
    metrics = {each["name"]: each["value"] for each in browser.call("Performance.getMetrics")["metrics"]}
    return 1e3 * float(metrics["TaskDuration"])


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("kernel=matern32&dim=3", "lengthscale noise variance dim most"),
        ("inputs=gaussian&dim=10", "lengthscale inputVariance dim"),
        (
            "inputs=gaussian&dim=2&kernel=ou&wrong=1&trueKernel=matern32",
            "lengthscale trueLengthscale inputVariance dim",
        ),
        ("inputs=gaussian&kernel=matern52&dim=3&solve=lengthscale&kept=kernel%3Dou", "noise lengthscale"),
        ("wrong=1&trueKernel=matern52", "lengthscale trueLengthscale trueVariance trueNoise"),
        ("labels=classes&kernel=ou", "lengthscale noise variance"),
        ("tab=learn&examples=0.1,0.5", "lengthscale noise variance seed"),
        ("tab=network&labelled=1,2", "degree p a graphNoise graphSeed vertices"),
        ("tab=network&graph=powerlaw&normalise=global", "alpha cutoff"),
    ],
)
def test_every_slider_moves_its_curve_at_once(browser: Browser, page: str, state: str, names: str) -> None:
    browser.resize(1280, 900)
    browser.open(f"{page}#{state}")
    browser.call("Performance.enable", timeDomain="threadTicks")
    slow = {name: took for name in names.split() if (took := moves(browser, name)) > 100 * pace(browser)}
    assert slow == {}


@pytest.mark.slow
@needs_chromium
def test_keyboard_only(browser: Browser, page: str) -> None:
    browser.resize(1280, 900)
    browser.open(page)
    browser.run("document.querySelector('[data-name=lengthscale]').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert "lengthscale=0.10" in browser.run("location.hash")
    browser.run("document.querySelector('.legend [data-key=uc]').focus()")
    browser.press(" ")
    assert browser.run("document.activeElement.ariaPressed") == "false"
    assert browser.run("document.querySelectorAll('path[data-series=uc]').length") == 0
    browser.run("document.querySelector('svg.chart').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert "LC" in browser.run("document.querySelector('.reading').textContent")
    browser.press("Enter")
    assert "solve=error" in browser.run("location.hash")
    browser.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    browser.press("ArrowRight")
    assert "tab=learn" in browser.run("location.hash")
    browser.run("document.querySelector('svg.chart').focus()")
    browser.press("ArrowRight", "Enter")
    assert "examples=0." in browser.run("location.hash")
    browser.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    browser.press("ArrowRight")
    browser.run("document.querySelector('svg[role=application]').focus()")
    browser.press("ArrowRight", "Enter")
    assert "labelled=" in browser.run("location.hash")
    # everything that can be clicked can be reached: no element takes the focus by the mouse alone
    reached = "[...document.querySelectorAll('button, input, summary, [tabindex]')].filter((e) => e.checkVisibility())"
    assert browser.run(f"{reached}.filter((e) => e.tabIndex < 0 && e.role !== 'tab').length") == 0


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("tab", ["theory", "learn", "network"])
def test_both_widths(browser: Browser, page: str, tab: str, width: int) -> None:
    browser.resize(width, 844)
    browser.open(f"{page}#tab={tab}&wrong=1&examples=0.2,0.4,0.9&labelled=5,9")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert_drawn(browser.screenshot(), width, 800)
    cut = "[...document.querySelectorAll('button, label, h2')].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)"
    assert browser.run(f"{cut}.map((e) => e.textContent)") == []


@pytest.mark.slow
@needs_chromium
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (npm install)")
@pytest.mark.parametrize("tab", TABS)
def test_accessibility(browser: Browser, page: str, tab: str, forecast: tuple[gpc.Forecast, Path]) -> None:
    browser.resize(1280, 900)
    browser.open(f"{page}#tab={tab}&wrong=1&examples=0.2,0.4")
    if tab == "plan":
        browser.choose_file("input[type=file]", forecast[1])
        browser.wait("document.querySelector('.answer')?.textContent !== ''")
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    browser.run(AXE.read_text(encoding="utf-8") + ";0")
    for theme in ("light", "dark"):
        browser.run(f"document.documentElement.dataset.theme = '{theme}'")
        browser.frame()
        found = json.loads(browser.run("axe.run(document).then((found) => JSON.stringify(found.violations))"))
        told = [(each["id"], [node["target"] + [node["failureSummary"]] for node in each["nodes"]]) for each in found]
        assert told == [], theme


@pytest.mark.slow
@needs_chromium
def test_every_state_is_a_link(browser: Browser, page: str) -> None:
    browser.open(f"{page}#kernel=ou&lengthscale=0.25&dim=3&noise=0.2&labels=classes&quantity=mse&unknown=1&p=nonsense")
    shown = browser.run(DRAWN)
    link = browser.run("location.href")
    assert "kernel=ou" in link
    assert "unknown" not in link
    browser.open(page)
    assert browser.run(DRAWN) != shown
    browser.open(link)
    assert browser.run(DRAWN) == shown
    browser.open(f"{page}#lengthscale=1e99&noise=-5&dim=1.4&most=NaN")  # is brought back to what sliders can show
    assert browser.run("[...document.querySelectorAll('.number')].every((each) => Number(each.value) > 0)")


@needs_chromium
def test_a_truth_begins_with_another_lengthscale_alone(browser: Browser, page: str) -> None:
    browser.open(f"{page}#kernel=matern32&noise=0.2")
    browser.run(
        "[...document.querySelectorAll('.switch')].find((each) => each.innerText.includes('Misspecified')).click()"
    )
    browser.frame()
    link = browser.run("location.hash")
    assert all(part in link for part in ("wrong=1", "trueKernel=matern32", "trueLengthscale=0.3", "trueNoise=0.2"))
    assert "wrong model has" in browser.run("document.querySelector('.main').innerText")


@needs_chromium
def test_a_kept_curve_stays_while_others_move(browser: Browser, page: str) -> None:
    click = "[...document.querySelectorAll('button')].find((each) => each.textContent === '{}').click()"
    path = "document.querySelector('path[data-series={}]')?.getAttribute('d')"
    browser.open(f"{page}#noise=0.01")
    before = browser.run(path.format("lc"))
    browser.run(click.format("Keep this curve"))
    browser.frame()
    assert browser.run(path.format("kept")) == before
    browser.run("location.hash = location.hash.replace('noise=0.01&', 'noise=0.5&')")
    browser.wait(f"{path.format('lc')} !== {path.format('kept')}")
    assert "kept: noise 0.01" in browser.run("document.querySelector('.legend').textContent")
    shown, link = browser.run(path.format("kept")), browser.run("location.href")
    browser.open(link)
    assert browser.run(path.format("kept")) == shown
    browser.run(click.format("Forget the kept curve"))
    browser.frame()
    assert browser.run(path.format("kept")) is None


@pytest.mark.slow
@needs_chromium
def test_copied_code_and_csv_give_the_same_numbers(browser: Browser, page: str) -> None:
    states = [
        "kernel=ou&dim=2",
        "wrong=1&noise=0.2",
        "labels=classes&kernel=matern32",
        "inputs=gaussian&dim=4&variance=2&kernel=matern52",
        "inputs=gaussian&dim=10&wrong=1&trueKernel=ou",
    ]
    for state in states:
        browser.open(f"{page}#{state}&most=200")
        code = browser.run("document.querySelector('pre[aria-label=Python]').textContent")
        namespace: dict[str, Any] = {}
        exec(code.replace("print(", "shown = ("), namespace)
        curves = dict(namespace["curves"])
        if "wrong" not in state and "gaussian" not in state and "classes" not in state:
            curves["grid"] = namespace["grid"]
            browser.wait("document.querySelector('circle[data-series=grid]') !== null")  # follows when sliders rest
        browser.run(
            """window.saved = new Promise((done) => { const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { URL.createObjectURL = make; blob.text().then(done); return make(blob); }; });
            [...document.querySelectorAll("button")].find((each) => each.textContent === "CSV").click()"""
        )
        rows = [line.split(",") for line in browser.run("window.saved").splitlines()[1:]]
        for name in curves:
            key = "misspecified" if "wrong" in state else name
            own = {float(n): float(error) for method, n, error, _ in rows if method == key}
            np.testing.assert_allclose([own[n] for n in curves[name].n.tolist()], curves[name].error, rtol=1e-9)


@needs_chromium
@pytest.mark.parametrize(
    "state",
    [
        "wrong=1&inputs=gaussian&kernel=ou&trueKernel=rbf",
        "labels=classes",
        "dim=2",
        "tab=learn&kernel=ou",
        "tab=network&graph=powerlaw",
        "tab=network&graph=regular",
        "tab=network&graph=own",
    ],
)
def test_copied_code_is_code(browser: Browser, page: str, state: str) -> None:
    browser.open(f"{page}#{state}")
    command = browser.run("document.querySelector('pre[aria-label=\"Command line\"]').textContent")
    for line in command.splitlines():
        program, name, *arguments = shlex.split(line)
        assert program == "gpcurves"
        known = cli.resolve_command(click.Context(cli), [name])[1]
        assert known is not None
        known.make_context(name, arguments)  # parses without running
    code = browser.run("document.querySelector('pre[aria-label=Python]').textContent")
    parts = {node.attr for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
    assert {each for each in parts if each[0].isupper()} <= set(dir(gpc))


@needs_chromium
@pytest.mark.parametrize("state", ["most=40&noise=0.3", "most=12&labels=classes&noise=1&variance=4", "wrong=1&most=30"])
def test_simulations_run_beside_the_page(browser: Browser, page: str, state: str) -> None:
    browser.open(f"{page}#{state}")
    browser.events.clear()
    browser.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Simulate').click()")
    browser.wait("document.querySelector('circle[data-series=simulation]') !== null")
    assert "data sets" in browser.run("document.querySelector('.progress').textContent")
    browser.run("document.querySelector('.tools .primary').click()")
    assert browser.complaints() == []


@needs_chromium
def test_a_saved_forecast_is_shown(browser: Browser, page: str, forecast: tuple[gpc.Forecast, Path]) -> None:
    made, path = forecast
    browser.open(f"{page}#tab=plan")
    browser.choose_file("input[type=file]", path)
    browser.wait("document.querySelector('.answer')?.textContent !== ''")
    rows = made.at([made.rows, 8 * made.rows])["rmse"]
    for goal in (float(np.round(rows.mean(), 4)), float(np.round(rows.iloc[0] * 1.02, 4)), 1e-6):
        browser.run(
            f"""{{ const field = document.getElementById("goal"); field.value = "{goal}";
            field.dispatchEvent(new Event("change")); }}"""
        )
        browser.frame()
        cells = browser.run("[...document.querySelectorAll('table')][0].innerText")
        needed = made.required_n(rmse=goal)
        for number in (needed.low, needed.estimate, needed.assured, needed.high):
            assert ("not within" if number is None else f"{number:,}") in cells


@needs_chromium
def test_a_served_plan_is_loaded_by_the_page(browser: Browser, forecast: tuple[gpc.Forecast, Path]) -> None:
    made, path = forecast
    page = explorer_page({"tab": "plan"}, plan="forecast.json").encode()
    served = {"": ("text/html; charset=utf-8", page), "forecast.json": ("application/json", path.read_bytes())}
    with PageServer(served) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            browser.events.clear()
            browser.open(server.address)
            browser.wait("document.querySelector('.answer')?.textContent !== ''")
            assert browser.run("document.querySelector('form h2 ~ div h2').textContent") == made.verdict().label
            assert {each.partition("#")[0] for each in browser.requests()} == {
                server.address,
                f"{server.address}forecast.json",
            }
            assert browser.complaints() == []
        finally:
            browser.call("Page.navigate", url="about:blank")
            server.shutdown()
            thread.join()


@pytest.mark.slow
@needs_chromium
def test_files_that_are_none_are_refused_in_a_sentence(browser: Browser, page: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    for text, words in (("{", "not a JSON file"), ('{"a": 1}', "not a forecast of gpcurves"), ("[]", "not a forecast")):
        bad.write_text(text)
        browser.open(f"{page}#tab=plan")
        browser.choose_file("input[type=file]", bad)
        browser.wait(f"document.querySelector('.complaint').textContent.includes('{words}')")
    browser.open(f"{page}#tab=network&graph=own")
    bad.write_text("a,b\nc\n")
    browser.choose_file("input[type=file]", bad)
    browser.wait("document.querySelector('.drop .complaint').textContent.includes('must name two vertices')")
    bad.write_text("a,b\nb,c\nc,a\nc,d\n")
    browser.choose_file("input[type=file]", bad)
    browser.wait("document.querySelector('.answer').textContent.includes('on 4 vertices')")
    link = browser.run("location.href")
    assert "edges=a%2Cb" in link
    browser.open(link)  # a small graph travels in the link
    assert "on 4 vertices" in browser.run("document.querySelector('.answer').textContent")
    browser.events.clear()
    browser.open(f"{page}#tab=network&graph=own&edges=a%0A")
    assert "not here yet" in browser.run("document.querySelector('.answer').textContent")
    assert browser.complaints() == []
