"""The report of a forecast in a browser, on a phone and on a desk."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from gpcurves.forecasting import Forecast
from gpcurves.render.views import view_of
from pictures import assert_drawn

TARGET = "<script>alert('x')</script> of_a_name_so_long_that_no_telephone_shows_it_on_one_line_without_breaking_it"


@pytest.fixture(scope="module")
def forecast() -> Forecast:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 2))
    names = ["<b>bold</b> & a_name_that_is_longer_than_the_column_of_a_table_on_a_telephone_can_be", "größe"]
    table = pd.DataFrame(X, columns=names)
    table[TARGET] = 1e-7 * (np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(40))
    return gpc.forecast(table, TARGET, draws=2)


def goals(forecast: Forecast) -> list[float | None]:
    now, later = forecast.at([40, 400])["rmse"]
    return [None, float(np.sqrt(now * later)), 1e-300, 1e300]


@pytest.mark.slow
def test_names_are_escaped_and_goals_out_of_sight_leave_the_picture_alone(forecast: Forecast) -> None:
    for goal in goals(forecast):
        text = view_of(forecast, goal=goal).page()
        assert "<script>alert" not in text
        assert "<b>bold" not in text
        figure = forecast.plot(goal=goal)
        low, high = figure.ax_.get_ylim()
        hint = f"the goal of {goal or 0:.4g} is far"
        assert (hint in text) == any(hint in words.get_text() for words in figure.ax_.texts)
        assert (hint in text) == (goal is not None and not low < goal < high)
        assert low < forecast.at([40])["rmse"][0] < high < 1e5 * low
        assert_drawn(figure.to_bytes("png"))


@pytest.mark.parametrize("name", ["$\\frac{x}$", "价格", "two\nlines", "x" * 300])
def test_any_target_can_be_drawn(forecast: Forecast, name: str) -> None:
    assert_drawn(replace(forecast, target=name).plot().to_bytes("png"))


PROBE = """<!doctype html><body><pre id='probe'></pre>{frames}<script>
window.addEventListener('load', () => setTimeout(() => {{
  const found = [...document.querySelectorAll('iframe')].map(frame => {{
    const inside = frame.contentDocument, root = inside.documentElement;
    return {{
      width: root.clientWidth,
      overflow: root.scrollWidth - root.clientWidth,
      verdict: inside.querySelector('h1').textContent,
      curves: inside.querySelectorAll('.trace.scatter').length,
    }};
  }});
  document.getElementById('probe').textContent = JSON.stringify(found);
}}, 3000));
</script>"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
def test_the_report_in_a_browser(forecast: Forecast, tmp_path: Path) -> None:
    goal = goals(forecast)[1]
    forecast.save(tmp_path / "report.html", goal=goal)
    frames = "".join(
        f"<iframe src='report.html' style='border:0;width:{width}px;height:3000px'></iframe>" for width in (390, 1200)
    )
    (tmp_path / "probe.html").write_text(PROBE.format(frames=frames))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    flags += ["--allow-file-access-from-files", "--enable-logging=stderr", "--hide-scrollbars"]
    flags += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        ["chromium", *flags, "--virtual-time-budget=10000", "--dump-dom", (tmp_path / "probe.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    seen = re.search(r"<pre id=.probe.>(.*?)</pre>", done.stdout, flags=re.S)
    assert seen is not None
    found = json.loads(html.unescape(seen[1]))
    assert [frame["width"] for frame in found] == [390, 1200]
    for frame in found:
        assert frame["overflow"] == 0
        assert frame["verdict"] == view_of(forecast, goal=goal).headline  # type: ignore[attr-defined]
        assert frame["curves"] >= 6
