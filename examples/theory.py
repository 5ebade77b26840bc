"""Theory against truth for Sollich & Halees (2002), Figure 4: RBF on the circle, lengthscale 0.01, noise 0.05.

    python examples/theory.py [FOLDER]

Writes curves.csv, curves.png and curves.html to the folder and prints a short summary.
"""

import sys
from pathlib import Path

import gpcurves as gpc

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "theory")
folder.mkdir(parents=True, exist_ok=True)

problem = gpc.Problem(kernel=gpc.RBF(0.01), inputs=gpc.Torus(dim=1), noise=0.05)
shown = ["lc", "uc", "mw", "plaskota", "ov", "wv", "two"]
theory = gpc.learning_curves(problem, n=600, methods=shown)
truth = gpc.learning_curve(problem, "simulation", n=range(0, 601, 20), datasets=100, rng=0)
curves = gpc.CurveSet.of(*theory.values(), truth)
for name in ("curves.csv", "curves.png", "curves.html"):
    curves.save(folder / name)

now = 100
simulated, stderr = truth.error[truth.n == now][0], truth.stderr[truth.n == now][0]
lower = max(theory[name].error[now] for name in ("mw", "plaskota", "ov"))
upper = min(theory[name].error[now] for name in ("wv", "two"))
print(f"Problem: {problem.describe()}\n")
print(f"After {now} examples the error is {simulated:.4g} ± {stderr:.1g} as simulated;")
print(f"theory says about {theory['lc'].error[now]:.3g} (LC), and the bounds prove {lower:.3g} to {upper:.3g}.")
for goal in (0.05, 0.01):
    least = max(gpc.required_n(problem, goal, name) for name in ("plaskota", "ov"))
    about = gpc.required_n(problem, goal, "lc")
    print(f"An error of {goal:g} needs about {about} examples (LC), and certainly no fewer than {least}.")
print(f"\nThe numbers are in {folder}/curves.csv.")
print(f"Look at {folder}/curves.png, or open {folder}/curves.html in a browser and point at a curve.")
