"""``gpcurves explore``: the page that is written, and the server of a plan, which answers this machine and its token alone."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer import ROOT, SOURCE, needs_node
from gpcurves.cli import run
from gpcurves.cli.explore import LIMITS
from gpcurves.cli.serving import LOOPBACK, PageServer

SERVED = {"": ("text/html; charset=utf-8", b"<p>page</p>"), "forecast.json": ("application/json", b"{}")}


def state_of(page: Path) -> dict[str, Any]:
    """Return what a page begins with."""
    found = re.search(r'id="about">(.*)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    state: dict[str, Any] = json.loads(found[1])["state"]
    return state


def test_a_page_begins_with_the_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["explore"]) == 0
    assert state_of(tmp_path / "explorer.html")["lengthscale"] == 0.1
    assert "wrote explorer.html" in capsys.readouterr().err
    problem = "--kernel ou --lengthscale 0.05 --variance 2 --inputs torus --dim 3 --noise 0.2 --teacher-kernel rbf"
    assert run(["explore", *problem.split(), "--teacher-noise", "0.1", "--out", "other.html", "--quiet"]) == 0
    state = state_of(tmp_path / "other.html")
    assert state["kernel"] == "ou"
    assert (state["lengthscale"], state["variance"], state["dim"], state["noise"]) == (0.05, 2, 3, 0.2)
    assert (state["wrong"], state["trueKernel"], state["trueNoise"]) == (True, "rbf", 0.1)
    assert run(["explore", "--inputs", "gaussian", "--likelihood", "probit", "--noise", "1"]) == 0
    assert state_of(tmp_path / "explorer.html")["labels"] == "classes"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--kernel rq", "the explorer has no kernel 'rq', only rbf, ou, matern32, matern52"),
        ("--teacher-kernel rq", "the explorer has no kernel 'rq'"),
        ("--inputs box", "the explorer has no input distribution 'box'"),
        ("--likelihood student", "the explorer has no observation 'student'"),
        ("--lengthscale 0.001", "the sliders of --lengthscale go from 0.01 to 2, got 0.001"),
        ("--lengthscale 0.1,0.2", "the sliders of --lengthscale go from 0.01 to 2"),
        ("--dim 11", "the sliders of --dim go from 1 to 10"),
        ("--noise 0", "the sliders of --noise go from 1e-06 to 10"),
        ("--out page.png", "its name must end with .html"),
        ("--target y", "give the file DATA as well"),
        ("data.csv", "--target is needed"),
        ("data.csv --target y --out page.html", "--out is not used with DATA"),
        ("data.csv --target y --port 70000", "--port must be between 0 and 65535"),
        ("nothing.csv --target y", "nothing.csv"),
    ],
)
def test_what_the_page_cannot_do_is_said(
    arguments: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["explore", *arguments.split()]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("gpcurves: ")
    assert list(tmp_path.iterdir()) == []


@needs_node
def test_limits_of_the_command_are_those_of_the_sliders() -> None:
    code = f"import {{ FIELDS }} from '{SOURCE / 'state.js'}'; process.stdout.write(JSON.stringify(FIELDS))"
    command = ["node", "--input-type=module", "-e", code]
    fields = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert {name: (fields[name]["low"], fields[name]["high"]) for name in LIMITS} == LIMITS


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(SERVED) as started:
        thread = threading.Thread(target=started.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield started
        started.shutdown()
        thread.join()


def fetch(server: PageServer, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=10)
    connection.request(method, path, headers={"Host": f"{LOOPBACK}:{server.server_port}", **headers})
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def test_the_page_and_the_plan_are_served(server: PageServer) -> None:
    assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    status, content, headers = fetch(server, f"/{server.token}/")
    assert (status, content) == (200, b"<p>page</p>")
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert fetch(server, f"/{server.token}/forecast.json")[:2] == (200, b"{}")
    assert fetch(server, f"/{server.token}/?x=1")[0] == 200
    assert fetch(server, f"/{server.token}/", "HEAD")[:2] == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/forecast.json",
        "//forecast.json",
        "/wrong/forecast.json",
        "/{token}",
        "/{token}x/",
        "/{token}/other",
        "/{token}/../forecast.json",
        "/{token}/%2e%2e/%2e%2e/etc/passwd",
        "/{token}//etc/passwd",
        "/{token}/forecast.json/",
        "/x?/{token}/",
        "http://127.0.0.1/{token}/",
    ],
)
def test_nothing_else_is(server: PageServer, path: str) -> None:
    status, content, _ = fetch(server, path.format(token=server.token) or "/")
    assert (status, content) == (404, b"There is nothing here.\n")


def test_other_names_methods_and_long_requests_are_refused(server: PageServer) -> None:
    assert fetch(server, f"/{server.token}/", Host="evil.example:80")[0] == 404  # DNS rebinding
    assert fetch(server, f"/{server.token}/", Host=f"localhost:{server.server_port}")[0] == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        assert fetch(server, f"/{server.token}/", method)[0] == 501
    assert fetch(server, "/" + "x" * 70_000)[0] == 414
    assert fetch(server, f"/{server.token}/", **{f"X-{i}": "y" for i in range(200)})[0] == 431
    assert fetch(server, f"/{server.token}/", Cookie="x" * 70_000)[0] == 431


def test_it_listens_on_loopback_with_a_token_that_cannot_be_guessed(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with PageServer(SERVED) as other:
        assert other.token != server.token
    assert len(server.token) >= 32
    own = socket.gethostbyname(socket.gethostname())
    if own != "127.0.0.1" and not own.startswith("127."):
        with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
            socket.create_connection((own, server.server_port), timeout=2).close()


def test_a_client_that_says_nothing_does_not_keep_others_waiting(server: PageServer) -> None:
    with socket.create_connection((LOOPBACK, server.server_port)):
        assert fetch(server, f"/{server.token}/")[0] == 200


@pytest.mark.slow
def test_a_table_is_planned_and_served_until_it_is_interrupted(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    table.write_text("x,y\n" + "\n".join(f"{i / 30},{(7 * i) % 11 / 10 + i / 30}" for i in range(30)))
    command = [sys.executable, "-m", "gpcurves", "explore", str(table), "--target", "y", "--draws", "1"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[\w-]{32}/)", address)
            assert found is not None, address
            connection = http.client.HTTPConnection(LOOPBACK, int(found[1]), timeout=20)
            connection.request("GET", found[2] + "forecast.json")
            plan = json.loads(connection.getresponse().read())
            assert plan["target"] == "y"
            assert plan["rows"] == 30
            assert len(plan["record"]["band"]["n"]) > 100
            connection.request("GET", found[2])
            page = connection.getresponse().read().decode()
            assert '"plan":"forecast.json"' in page
            connection.close()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
            assert process.returncode == 0, said
            assert "closed" in said
        finally:
            process.kill()  # a check that fails must not wait for a server that goes on
