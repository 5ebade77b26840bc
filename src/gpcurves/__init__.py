"""How fast does a Gaussian process learn: the average error after n examples.

The package is laid out as the theory is:

* `problem`     what is learnt: `kernels`, `inputs` or `graphs`, `observations`, `designs`
* `spectra`     eigenvalues of the kernel with respect to the inputs
* `methods`     ways to a learning curve, in one list, ``METHODS``: formulas, simulation, the cavity method
* `montecarlo`  many independent tasks, and the one average over them
* `curve`       `LearningCurve` and `CurveSet`, what every method returns; `load`
* `api`, `goals`  the verbs: `learning_curve`, `learning_curves`, `sweep`, `required_n`
* `guarantees`  what is certain about an error, beside what is expected
* `tables`, `forecasting`  `forecast`: from your own rows to the error that more of them would leave
* `render`      pictures and pages; `papers` the figures of the papers; `cli` the command line

>>> import gpcurves as gpc
>>> problem = gpc.Problem(kernel=gpc.RBF(0.1), inputs=gpc.Torus(dim=2), noise=0.05)
>>> gpc.required_n(problem, error=0.01, method="lc")
619
"""

import ast
from functools import partial
from importlib import import_module
from pathlib import Path

from gpcurves.numerics.display import Shown as _Shown

_Shown.renderer = partial(import_module, "gpcurves.render")  # loaded when a result is first shown
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_IMPORTS = [node for node in _STUB.body if isinstance(node, ast.ImportFrom)]
_MODULE_OF = {alias.name: str(node.module) for node in _IMPORTS for alias in node.names}
"""The module of every public name, as the stub beside this file lists them for type checkers."""
__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if _MODULE_OF.get(name) == "gpcurves":  # a module of the package itself
        return import_module(f"gpcurves.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    import difflib

    near = difflib.get_close_matches(name, _MODULE_OF, n=1)
    hint = f": did you mean {near[0]!r}?" if near else ""
    raise AttributeError(f"module 'gpcurves' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
