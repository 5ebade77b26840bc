"""The reference: every public name is on a page, says what it takes, and has an example that runs."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import gpcurves as gpc
from gpcurves.numerics.parameters import parameters_of

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [name for name in dir(gpc) if name != "__version__"]
LIBRARIES = {"ModelProblem": "gpytorch"}  # names whose example needs a package that is not ours
SLOW = {
    "papers",
    "Forecast",
    "GraphRegressor",
    "GraphClassifier",
    "LearningCurveForecast",
    "forecast",
    "DesignCurves",
    "Mix",
    "required_inducing",
}


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build", DOCS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else []) for each in NAMES]
)
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    thing = getattr(gpc, name)
    texts, known = [inspect.getdoc(thing) or ""], {}
    if isinstance(thing, ModuleType):  # its own functions have the examples
        texts += [inspect.getdoc(one) or "" for one in map(vars(thing).get, thing.__all__) if inspect.isfunction(one)]
        known = vars(thing)
    example = doctest.DocTestParser().get_doctest("\n\n".join(texts), dict(known), name, None, None)
    assert len(example.examples) > 1, "an example imports gpcurves, and does something"
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    told: list[str] = []
    assert doctest.DocTestRunner().run(example, out=told.append).failed == 0, "".join(told)


def test_an_example_that_is_wrong_fails() -> None:
    example = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner().run(example, out=lambda text: None).failed == 1


def test_every_public_name_is_on_one_page(build: ModuleType) -> None:
    pages = [build.reference_page(page) for page in build.REFERENCE]
    for name in NAMES:
        headings = [re.findall(rf"^{name}\n-+$", page, re.MULTILINE) for page in pages]
        assert sum(map(len, headings)) == 1, name
        if isinstance(getattr(gpc, name), ModuleType):
            continue
        assert (
            sum(bool(re.search(rf"^\.\. auto(class|function|data):: {name}$", page, re.MULTILINE)) for page in pages)
            == 1
        )


def test_every_method_and_option_is_on_the_page_of_methods(build: ModuleType) -> None:
    page = build.methods_page()
    for method in gpc.METHODS.values():
        assert f"| `{method.name}` | {method.title}: {method.relation} | {method.promise} |" in page
        assert all(f"| `{one.name}` | `" in page for one in parameters_of(method.Options))
    assert "| `datasets` | `int \\| None` |" in page


def test_every_function_describes_all_its_parameters() -> None:
    missing = []
    for name in NAMES:
        thing = getattr(gpc, name)
        if not inspect.isfunction(thing):
            continue
        text = inspect.getdoc(thing) or ""
        for given in inspect.signature(thing).parameters.values():
            listed = re.search(rf"^(\w+, )*{given.name}(, (\*\*)?\w+)*( : \w+)?$", text, re.MULTILINE)
            if not listed and given.kind is not given.VAR_KEYWORD:
                missing.append(f"{name}({given.name})")
    assert missing == []
