"""Drawing a graph with its vertices coloured by a value, and the training vertices marked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.graph import Graph, IntArray, as_graph
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.mpl import halo, new_axes, words
from gpcurves.render.wording import count_graph

MOST_VERTICES, MOST_NAMES = 5_000, 80  # in the largest graph that is drawn, and in the largest with names of vertices
_PIVOTS, _ROUNDS = 50, 80
_EDGE, _RIM, _SEEN = "#a4aeb8", "#6b7680", "#000000"  # of edges, and around vertices without and with examples
_CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#882255", "#999999")
_MOST_CLASSES = 20  # named in a drawing


def draw_graph(  # noqa: PLR0913  (what a person may say about a drawing, by keyword)
    graph: object,
    values: FloatArray | None = None,
    *,
    marked: FloatArray | IntArray | None = None,
    label: str = "posterior variance",
    title: str | None = None,
    colours: Literal["root", "signed", "even"] = "root",
    seen: str = "has training examples",
    classes: Sequence[str] | None = None,
    ax: Any = None,
) -> Display:
    """Draw a graph of up to a few thousand vertices, at their own positions if the graph has them, with north up.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes.
    values
        One number per vertex, shown as its colour.
    marked
        Numbers of examples per vertex; those above 0 get a black edge.
    label
        What the colours mean.
    title
        The title; by default the size of the graph.
    colours
        The colour scale: of the square root, which is finer for small values; "signed", with white for 0; or "even".
    seen
        What the black edge means.
    classes
        Names of classes: values are then their numbers, and each class has a colour of its own.
    ax
        Matplotlib axes to draw into; a new figure if None.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import networkx
    >>> display = gpc.draw_graph(networkx.karate_club_graph())
    >>> display.ax_.get_title()  # display.figure_.savefig("club.png") writes the picture
    'Graph of 34 vertices and 78 edges'
    """
    from matplotlib.collections import LineCollection

    known = as_graph(graph)
    if known.vertices > MOST_VERTICES:
        raise InputError(f"a drawing shows at most {MOST_VERTICES} vertices, but this graph has {known.vertices}")
    positions = known.positions
    if positions is None or not np.ptp(positions, axis=0).any():
        positions = layout(known)
    axes = new_axes(ax, _page(positions))
    size = float(np.clip(12_000 / known.vertices, 9, 120))
    pairs, _ = known.edge_list()
    axes.add_collection(LineCollection(list(positions[pairs]), colors=_EDGE, linewidths=min(1.2, size / 22), zorder=1))
    has = np.zeros(known.vertices, dtype=bool) if marked is None else np.asarray(marked) > 0
    points = axes.scatter(
        *positions.T,
        s=size,
        c=values,
        linewidths=np.where(has, 1.3, 0.4),
        edgecolors=np.where(has, _SEEN, _RIM),
        zorder=2,
        **(_colours(values, colours) if classes is None else _class_colours(len(classes))),
    )
    if values is not None:
        scale = " (square-root scale)" if colours == "root" and label and classes is None else ""
        bar = axes.figure.colorbar(points, ax=axes, label=words(label) + scale, shrink=0.8)
        if classes is not None:
            every = math.ceil(len(classes) / _MOST_CLASSES)  # of many classes, some are named
            bar.set_ticks(np.arange(0, len(classes), every), labels=[words(str(name)) for name in classes[::every]])
    for vertex, at in enumerate(positions if known.vertices <= MOST_NAMES else ()):
        look = {"fontsize": 7.5, "color": "#333333", "ha": "center", "va": "bottom", "path_effects": [halo()]}
        axes.annotate(
            words(str(known.label(vertex))), at, (0, 0.5 * math.sqrt(size)), textcoords="offset points", **look
        )
    if has.any():
        axes.scatter([], [], s=40, facecolors="none", edgecolors=_SEEN, linewidths=1.1, label=seen)
        axes.legend(loc="upper left", frameon=False, fontsize=9)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    lines = (f"Graph of {count_graph(known)}" if title is None else title).splitlines()
    room = int(11 * axes.figure.get_figwidth() * axes.get_position().width)
    axes.set_title("\n".join(textwrap.fill(words(line, 600), room) for line in lines), fontsize=10)
    return Display(axes, axes.figure, {"vertices": points})


def _page(positions: FloatArray) -> tuple[float, float]:
    """Return the size of a figure, in inches, that is about as wide for its height as the graph."""
    across, up = np.ptp(positions, axis=0)
    return 8.4, float(np.clip(6.4 * up / max(across, 1e-9) + 0.9, 3.6, 8.0))


def _colours(values: FloatArray | None, colours: str) -> dict[str, Any]:
    """Return how values become colours."""
    from matplotlib.colors import Normalize, PowerNorm

    if values is None:
        return {"color": "#4a7ba6"}
    largest = float(abs(np.asarray(values)).max()) or 1.0
    if colours == "signed":
        return {"cmap": "RdBu_r", "norm": Normalize(-largest, largest)}
    if colours == "even":
        return {"cmap": "viridis", "norm": Normalize(float(np.min(values)), float(np.max(values)))}
    smallest = min(float(np.min(values)), 0.999 * largest)  # values that are all the same have a colour too
    return {"cmap": "viridis_r", "norm": PowerNorm(0.5, smallest, largest)}


def _class_colours(count: int) -> dict[str, Any]:
    """Return a colour for each class: of a few, those that colour-blind people tell apart."""
    from matplotlib import colormaps
    from matplotlib.colors import BoundaryNorm, ListedColormap

    few = count <= len(_CLASSES)
    listed = _CLASSES[:count] if few else [colormaps["turbo"](k / (count - 1)) for k in range(count)]
    return {"cmap": ListedColormap(listed), "norm": BoundaryNorm(np.arange(count + 1) - 0.5, count)}


def layout(graph: Graph) -> FloatArray:
    """Return a position in the plane for each vertex: components side by side, neighbours close to each other."""
    sizes = graph.component_sizes
    order = np.argsort(graph.components, kind="stable")
    groups = np.split(order, np.cumsum(sizes)[:-1])
    shapes = [_component(graph, group) for group in groups]
    positions = np.empty((graph.vertices, 2))
    first = shapes[0]
    width = max(float(np.ptp(first[:, 0])), math.sqrt(graph.vertices))
    left, top = float(first[:, 0].min()), float(first[:, 1].min()) - 2.0
    positions[groups[0]] = first
    x, row = left, 0.0
    for group, shape in zip(groups[1:], shapes[1:], strict=True):
        span = np.ptp(shape, axis=0) + 1.2
        if x > left and x + span[0] > left + width:
            x, top, row = left, top - row, 0.0
        positions[group] = shape - shape.min(axis=0) + (x, top - span[1])
        x, row = x + float(span[0]), max(row, float(span[1]))
    return positions


def _component(graph: Graph, vertices: IntArray) -> FloatArray:
    """Place one connected component: distances from a few pivots first, then springs and repulsion."""
    count = len(vertices)
    if count <= 2:
        return np.stack((np.arange(count, dtype=np.float64), np.zeros(count)), axis=1)
    inner = graph.adjacency[vertices][:, vertices].tocsr()
    positions = _from_pivots(inner)
    pairs = np.stack(inner.nonzero(), axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    length = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1).mean()
    positions = positions / max(float(length), 1e-9) + 0.3 * np.random.default_rng(0).standard_normal(positions.shape)
    heat = 0.1 * float(np.ptp(positions, axis=0).max()) + 0.5
    for turn in range(_ROUNDS):
        x, y = positions[:, 0].astype(np.float32), positions[:, 1].astype(np.float32)
        dx, dy = x[:, None] - x, y[:, None] - y
        inverse = 1 / (dx * dx + dy * dy + np.float32(1e-2))
        force = np.stack(((dx * inverse).sum(axis=1), (dy * inverse).sum(axis=1)), axis=1).astype(np.float64)
        pull = positions[pairs[:, 0]] - positions[pairs[:, 1]]
        pull *= np.linalg.norm(pull, axis=1, keepdims=True)
        for axis in (0, 1):
            force[:, axis] -= np.bincount(pairs[:, 0], weights=pull[:, axis], minlength=count)
            force[:, axis] += np.bincount(pairs[:, 1], weights=pull[:, axis], minlength=count)
        reach = np.linalg.norm(force, axis=1, keepdims=True)
        positions = positions + force / np.maximum(reach, 1e-9) * np.minimum(reach, heat * (1 - turn / _ROUNDS))
    return positions


def _from_pivots(adjacency: Any) -> FloatArray:
    """Return two coordinates from the distances to pivots that are far from each other."""
    from scipy.sparse.csgraph import dijkstra

    count = adjacency.shape[0]
    distances = np.empty((count, min(_PIVOTS, count)))
    pivot, nearest = 0, np.full(count, np.inf)
    for k in range(distances.shape[1]):
        distances[:, k] = dijkstra(adjacency, directed=False, indices=pivot, unweighted=True)
        nearest = np.minimum(nearest, distances[:, k])
        pivot = int(np.argmax(nearest))
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean())
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(left[:, :2] * np.sqrt(strength[:2] / math.sqrt(distances.shape[1])))
