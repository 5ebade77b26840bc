"""Small data sets that come with the package, so that examples run anywhere.

* `load_wine`: 13 measurements of 178 Italian wines, and the cultivar (a class) of each. CC BY 4.0: Aeberhard & Forina (1991), Wine,
  UCI Machine Learning Repository.
* `load_grid`: a made-up power grid of 240 buses, with voltage angles at 40 of them. Made for this package, MIT.
* `load_club`: friendships among the 34 members of a karate club, published by Zachary (1977), with made-up opinions of six.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from gpcurves.graphs import Graph

__all__ = ["load_club", "load_grid", "load_wine", "path_of"]

_FOLDER = Path(__file__).parent


def path_of(name: str) -> Path:
    """Return the file of a bundled table: "wine", "grid", "angles", "club" or "opinions".

    Examples
    --------
    >>> path_of("wine").name
    'wine.csv'
    """
    from gpcurves.errors import InputError

    path = _FOLDER / f"{name}.csv"
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in _FOLDER.glob("*.csv")))
        raise InputError(f"there is no bundled table {name!r}, only {known}")
    return path


def load_wine() -> pd.DataFrame:
    """Return measurements of 178 wines: 13 columns of numbers, and the class ``cultivar`` (A, B or C).

    The usual numeric target is ``flavanoids``, which is expensive to measure.

    Examples
    --------
    >>> wines = load_wine()
    >>> wines.shape, sorted(wines["cultivar"].unique())
    ((178, 14), ['A', 'B', 'C'])
    """
    import pandas as pd

    return pd.read_csv(path_of("wine"))


def load_grid() -> tuple[Graph, pd.Series[float]]:
    """Return a made-up power grid of 240 buses, and the voltage angles in degrees that were measured at 40 of them.

    Edges are weighted by susceptance: a large one means a short line.

    Examples
    --------
    >>> grid, angles = load_grid()
    >>> len(grid), len(angles)
    (240, 40)
    """
    return _network("grid", "angles", "angle")


def load_club() -> tuple[Graph, pd.Series[float]]:
    """Return the friendships in a karate club (Zachary 1977), and made-up opinions of six members from -1 to 1.

    Examples
    --------
    >>> club, opinions = load_club()
    >>> len(club), len(opinions)
    (34, 6)
    """
    return _network("club", "opinions", "opinion")


def _network(edges: str, labels: str, column: str) -> tuple[Graph, pd.Series[float]]:
    """Return a graph, and the labels at some of its vertices by vertex name."""
    import pandas as pd

    from gpcurves.graphs import read_graph

    table = pd.read_csv(path_of(labels), comment="#", dtype={0: str}, index_col=0)
    return read_graph(path_of(edges)), table[column]
