"""Score predictions of classes on networks, with what people do instead beside them.

    python -m benchmarks.network.classes [--half] [--draws 2] [--file FILE] [TASK ...]    collect what is missing, and print tables
    python -m benchmarks.network.classes --score                                          only print tables

For every task and number of labels, labels are drawn with fixed seeds and all other vertices are predicted. ``--half`` takes
only the tasks on which choices are made; tables are for the others, and for all. A class without a label counts as predicted
wrongly, with the least probability.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from threadpoolctl import threadpool_limits

import gpcurves as gpc
from benchmarks.network import labelled
from benchmarks.network.baselines import eigenpairs, harmonic
from benchmarks.network.sources import hashed
from gpcurves.errors import GPCurvesError

FILE = Path(__file__).with_name("classes.json")
SIZES = (10, 20, 40, 80, 160)
NEAREST, FEATURES = 5, 12  # labels that vote, and eigenvectors that are inputs
SMOOTHED = 0.05  # share of the class frequencies in probabilities of methods that may be certain
LEAST = 1e-3  # probability: one vertex must not decide
Predictor = Callable[[csr_array, np.ndarray, np.ndarray, int], np.ndarray]
_GRAPHS: dict[int, tuple[csr_array, gpc.Graph]] = {}  # the last graph, whose eigenvectors are kept


def shares(y: np.ndarray, count: int) -> np.ndarray:
    """Return frequencies of classes with half a label added to each."""
    return (np.bincount(y, minlength=count) + 0.5) / (len(y) + 0.5 * count)


def majority(graph: csr_array, vertices: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Predict the frequencies of the classes everywhere."""
    return np.tile(shares(y, count), (graph.shape[0], 1))


def propagation(graph: csr_array, vertices: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Predict harmonic functions through the indicators of the classes (Zhu, Ghahramani and Lafferty 2003)."""
    parts = [harmonic(graph, vertices, (y == k).astype(float)).mean for k in range(count)]
    return np.asarray((1 - SMOOTHED) * np.clip(np.column_stack(parts), 0, 1) + SMOOTHED * shares(y, count))


def nearest(graph: csr_array, vertices: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Let the five labels vote that are nearest in hops; a vote counts one over the hops, and ties in hops count in full."""
    hops = dijkstra(graph, unweighted=True, indices=vertices)
    limit = np.sort(hops, axis=0)[min(NEAREST, len(y)) - 1]
    votes = np.where(np.isfinite(hops) & (hops <= limit), 1 / np.maximum(hops, 0.5), 0.0)
    told = np.column_stack([votes[y == k].sum(axis=0) for k in range(count)])
    return np.asarray((told + shares(y, count)) / (told.sum(axis=1, keepdims=True) + 1))


def spectral_logistic(graph: csr_array, vertices: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Predict by logistic regression on the first eigenvectors of the Laplacian."""
    from sklearn.linear_model import LogisticRegression

    inputs = eigenpairs(graph)[1][:, 1 : FEATURES + 1] * np.sqrt(graph.shape[0])
    model = LogisticRegression(max_iter=1000).fit(inputs[vertices], y)
    found = np.zeros((graph.shape[0], count))
    found[:, model.classes_] = model.predict_proba(inputs)
    return np.asarray((1 - SMOOTHED) * found + SMOOTHED * shares(y, count))


def ours(graph: csr_array, vertices: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Predict by the package as it is used without settings."""
    return np.asarray(gpc.GraphClassifier(as_graph(graph)).fit(vertices, y).predict_proba())


def as_graph(adjacency: csr_array) -> gpc.Graph:
    """Return the graph, the same one for the same matrix."""
    if id(adjacency) not in _GRAPHS:
        _GRAPHS.clear()
        _GRAPHS[id(adjacency)] = adjacency, gpc.as_graph(adjacency)
    return _GRAPHS[id(adjacency)][1]


METHODS: dict[str, Predictor] = {
    "gpcurves": ours,
    "majority": majority,
    "propagation": propagation,
    "nearest labels": nearest,
    "spectral logistic": spectral_logistic,
}


def draw(task: labelled.Task, name: str, n: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labelled vertices and the others whose class is known, drawn with a fixed seed."""
    picked = np.random.default_rng([hashed(name), n, number]).permutation(task.known)
    return np.sort(picked[:n]), picked[n:]


def predict(
    task: labelled.Task, predictor: Predictor, labels: np.ndarray, rest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities of the classes among the labels at other vertices, and which of these is right, -1 if none."""
    classes, y = np.unique(task.classes[labels], return_inverse=True)
    found = predictor(task.graph, labels, y, len(classes))[rest]
    place = np.full(task.classes.max() + 2, -1)
    place[classes] = np.arange(len(classes))
    return found, place[task.classes[rest]]


def judge(found: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Return the error rate, the log loss and the expected calibration error (ten bins of the largest probability)."""
    clipped = np.clip(found, LEAST, 1.0)
    clipped /= clipped.sum(axis=1, keepdims=True)
    given = np.where(truth >= 0, clipped[np.arange(len(truth)), np.maximum(truth, 0)], LEAST)
    right, sure = found.argmax(axis=1) == truth, clipped.max(axis=1)
    bins = np.minimum((10 * sure).astype(int), 9)
    off = sum(abs(np.sum(right[bins == b] - sure[bins == b])) for b in range(10)) / len(truth)
    return float(1 - right.mean()), float(-np.log(given).mean()), float(off)


def collect(name: str, draws: int, known: dict[str, Any]) -> dict[str, Any]:
    """Return scores of all methods by number of labels and draw; what is known is kept."""
    task = labelled.load(name)
    result = dict(known)
    for n in SIZES:
        for number in range(draws):
            key = f"{n} {number}"
            if 2 * n > len(task.known) or key in result:
                continue
            labels, rest = draw(task, name, n, number)
            counts = np.bincount(task.classes[labels])
            if (counts > 0).sum() < 2:
                continue
            scores = {}
            for method, predictor in METHODS.items():
                try:
                    scores[method] = [round(one, 5) for one in judge(*predict(task, predictor, labels, rest))]
                except GPCurvesError as failure:
                    print(f"{name}, {n} labels: {failure}", flush=True)
                    scores[method] = [1.0, float(-np.log(LEAST)), 1.0]
            result[key] = scores
    return result


def table(found: dict[str, Any], title: str) -> None:
    """Print means over tasks: error rate, log loss, and how often each method is within 2 % of the best."""
    rows = [(name, int(key.split()[0]), scores) for name, each in found.items() for key, scores in each.items()]
    if not rows:
        return
    values = np.array([[scores[method] for method in METHODS] for _, _, scores in rows])
    tasks, sizes = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])

    def average(numbers: np.ndarray, mask: np.ndarray) -> np.ndarray:
        each = [numbers[mask & (tasks == one)].mean(axis=0) for one in dict.fromkeys(tasks[mask])]
        return np.asarray(np.mean(each, axis=0))

    print(f"\n{title}: {len(found)} tasks, {len(rows)} drawn sets of labels; means over tasks")
    print(
        f"{'':18s} error rate  log loss  calibration  is best   error rates at "
        + "  ".join(f"n={n:<3d}" for n in SIZES)
    )
    every, best = np.full(len(rows), True), values[:, :, 0] <= values[:, :, 0].min(axis=1, keepdims=True)
    mean, won = average(values, every), average(best, every)
    by_size = [
        average(values[:, :, 0], sizes == n) if (sizes == n).any() else np.full(len(METHODS), np.nan) for n in SIZES
    ]
    for j, method in enumerate(METHODS):
        parts = "  ".join(f"{each[j]:.3f}" for each in by_size)
        print(f"{method:18s} {mean[j, 0]:10.4f} {mean[j, 1]:9.4f} {mean[j, 2]:12.3f} {won[j]:8.0%}   {'':14s} {parts}")


def tell_by_task(found: dict[str, Any]) -> None:
    """Print error rates by task."""
    print(f"\n{'error rates by task':30s} " + " ".join(f"{method:>17s}" for method in METHODS))
    for name, each in found.items():
        mean = np.mean([[scores[method][0] for method in METHODS] for scores in each.values()], axis=0)
        print(f"{name:30s} " + " ".join(f"{one:17.3f}" for one in mean))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--half", action="store_true", help="only the tasks on which choices are made")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--score", action="store_true", help="only score what is there")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    known: dict[str, Any] = json.loads(asked.file.read_text()) if asked.file.exists() else {}
    wanted = asked.task or [name for name in labelled.names() if labelled.for_choices(name) or not asked.half]
    for name in [] if asked.score else wanted:
        began = time.perf_counter()
        with threadpool_limits(1):
            known[name] = collect(name, asked.draws, known.get(name, {}))
        ordered = {key: known[key] for key in labelled.names() if key in known}
        asked.file.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in ordered.items()) + "\n}\n")
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    shown = {name: each for name, each in known.items() if name in wanted and each}
    tell_by_task(shown)
    table({name: each for name, each in shown.items() if not labelled.for_choices(name)}, "Left out of choices")
    table(shown, "All")


if __name__ == "__main__":
    main()
