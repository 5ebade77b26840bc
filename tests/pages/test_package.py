"""The package as others get it: a wheel in an environment of its own, away from the checkout, and what the archives hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import gpcurves as gpc

ROOT = Path(__file__).parents[2]
DATA = {f"gpcurves/datasets/{name}.csv" for name in ("wine", "grid", "angles", "club", "opinions")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "-w", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of an environment that has the wheel, with the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    bin_ = folder / ("Scripts" if os.name == "nt" else "bin")
    command = [str(bin_ / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, str(wheel)], check=True)
    (site,) = folder.rglob("site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")  # the editable package is not followed
    return bin_


def run_in(bin_: Path, folder: Path, *words: str) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(bin_ / words[0]), *words[1:]]
    return subprocess.run(command, cwd=folder, env=clean, check=True, text=True, capture_output=True).stdout


def test_every_reference_of_the_paper_is_cited_and_listed() -> None:
    text = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    listed = re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper/paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed)) > 10
    assert set(re.findall(r"(?<!\w)@(\w+)", text)) == set(listed)
    for heading in ("Summary", "Statement of need", "State of the field", "Theory beyond the papers"):
        assert f"\n# {heading}\n" in text
    assert len(text.split()) < 1750  # what the journal allows


def test_the_build_is_described_by_what_there_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in sources if not (ROOT / name).exists()] == []
    assert {"tests", "docs", "examples", "paper"} <= set(sources)
    assert (ROOT / "SECURITY.md").read_text(encoding="utf-8").count("\n## ") == 4


@pytest.mark.slow
def test_the_source_archive_can_be_tested(tmp_path: Path) -> None:
    builder = tmp_path / "builder"
    venv.create(builder, with_pip=True)
    python = builder / ("Scripts" if os.name == "nt" else "bin") / "python"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *needed], check=True)
    subprocess.run([python, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path], cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    for name in (
        "tests/golden.json",
        "docs/index.md",
        "examples/wine.csv",
        "paper/paper.md",
        "Makefile",
        "SECURITY.md",
    ):
        assert (source / name).read_bytes() == (ROOT / name).read_bytes()


@pytest.mark.slow
def test_the_wheel_has_data_types_and_pages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= DATA | {"gpcurves/py.typed", "gpcurves/__init__.pyi"}
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


@pytest.mark.slow
def test_the_description_needs_no_files_of_the_repository(wheel: Path) -> None:
    files = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
    head, _, text = files.read(metadata).decode().partition("\n\n")
    assert "Description-Content-Type: text/markdown" in head
    assert "Picture: Forecast for 178 wines" in text
    assert "tutorial (`docs/tutorials/planning.md`)" in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []


@pytest.mark.slow
def test_an_installed_package_works_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    where = run_in(installed, tmp_path, "python", "-c", "import gpcurves; print(gpcurves.__file__)")
    assert str(installed.parent) in where
    plan = run_in(installed, tmp_path, "gpcurves", "plan", "--demo", "--draws", "1", "--report", "plan.html")
    assert plan.startswith("n,rmse,low,high\n178,")
    assert {each.name for each in tmp_path.iterdir()} == {"plan.html", "plan.png", "plan.json"}
    code = "import gpcurves as gpc; print(len(gpc.datasets.load_wine()), *map(len, gpc.datasets.load_grid()))"
    assert run_in(installed, tmp_path, "python", "-c", code) == "178 240 40\n"
    assert run_in(installed, tmp_path, "gpcurves", "--version") == f"gpcurves {gpc.__version__}\n"
