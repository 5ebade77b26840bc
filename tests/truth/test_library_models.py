"""Fitted models of GPflow and GPyTorch: their kernels, noise and inputs become ours, value by value.

The packages themselves are used if they are installed. Otherwise classes with the same names, modules and attributes stand for them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.kernels import as_kernel


def fake(package: str, kind: str, **attributes: Any) -> Any:
    """Return an object whose class has a name and a module of a package."""
    made = type(kind, (), {"__module__": f"{package}.kernels.some"})()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


class Tensor:
    """Stands for a tensor of PyTorch that needs a gradient, which NumPy cannot read."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, dtype=np.float32)

    def detach(self) -> Any:
        return self

    def cpu(self) -> Any:
        return self

    def numpy(self) -> Any:
        return self.values

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise RuntimeError("call detach() first")


def test_kernels_of_gpflow_by_their_attributes() -> None:
    whole = slice(None)
    scales: dict[str, Any] = {"lengthscales": np.array([0.2, 0.5]), "variance": np.array(2.0), "active_dims": whole}
    assert as_kernel(fake("gpflow", "SquaredExponential", **scales)) == gpc.RBF((0.2, 0.5), 2.0)
    assert as_kernel(fake("gpflow", "Matern12", **scales)) == gpc.OU((0.2, 0.5), 2.0)
    assert as_kernel(fake("gpflow", "Exponential", **scales)) == gpc.OU((0.4, 1.0), 2.0)  # exp(-r/2) there
    rational = fake("gpflow", "RationalQuadratic", alpha=np.array(1.5), **scales)
    assert as_kernel(rational) == gpc.RationalQuadratic((0.2, 0.5), 2.0, alpha=1.5)
    line = fake("gpflow", "Linear", variance=np.array(3.0), active_dims=whole)
    assert as_kernel(fake("gpflow", "Sum", kernels=[rational, line])) == as_kernel(rational) + gpc.Linear(3.0)
    bent = fake("gpflow", "Polynomial", variance=2.0, offset=3.0, degree=2.0, active_dims=whole)
    X = np.array([[1.0, 2.0], [0.5, -1.0]])
    np.testing.assert_allclose(as_kernel(bent)(X), (2 * X @ X.T + 3) ** 2)
    with pytest.raises(gpc.InputError, match="a White kernel is noise"):
        as_kernel(fake("gpflow", "White", variance=1.0))
    with pytest.raises(gpc.InputError, match="Cosine of GPflow has no counterpart"):
        as_kernel(fake("gpflow", "Cosine", **scales))
    with pytest.raises(gpc.InputError, match="acts on some columns only"):
        as_kernel(fake("gpflow", "Matern52", **(scales | {"active_dims": np.array([0])})))


def test_kernels_of_gpytorch_by_their_attributes() -> None:
    matern = fake("gpytorch", "MaternKernel", lengthscale=Tensor([[0.25, 0.5]]), nu=1.5, active_dims=None)
    scaled = fake("gpytorch", "ScaleKernel", base_kernel=matern, outputscale=Tensor(2.0), active_dims=None)
    assert as_kernel(scaled) == gpc.Matern32((0.25, 0.5), 2.0)
    rbf = fake("gpytorch", "RBFKernel", lengthscale=Tensor([[0.5]]), active_dims=None)
    assert as_kernel(fake("gpytorch", "AdditiveKernel", kernels=[scaled, rbf])) == as_kernel(scaled) + gpc.RBF(0.5)
    assert as_kernel(fake("gpytorch", "InducingPointKernel", base_kernel=rbf, active_dims=None)) == gpc.RBF(0.5)
    with pytest.raises(gpc.InputError, match="PeriodicKernel of GPyTorch has no counterpart"):
        as_kernel(fake("gpytorch", "PeriodicKernel", active_dims=None))


def test_models_become_problems() -> None:
    X = np.random.default_rng(0).random((30, 1))
    kernel = fake("gpflow", "SquaredExponential", lengthscales=np.array(0.2), variance=1.0, active_dims=None)
    noisy = fake("gpflow", "Gaussian", variance=np.array(0.1))
    model = fake("gpflow", "GPR", kernel=kernel, likelihood=noisy, data=(X, X))
    problem = gpc.ModelProblem(model)
    assert problem == gpc.Problem(gpc.RBF(0.2), gpc.Sample(X), 0.1)
    batches = fake("gpflow", "SVGP", kernel=kernel, likelihood=noisy)
    assert gpc.ModelProblem(batches, gpc.Box(1)).inputs == gpc.Box(1)
    with pytest.raises(gpc.InputError, match=r"does not keep its training inputs: give inputs, such as Sample\(X\)"):
        gpc.ModelProblem(batches)
    silent = fake("gpytorch", "Model", covar_module=fake("gpytorch", "RBFKernel", lengthscale=Tensor([[0.5]])))
    with pytest.raises(gpc.InputError, match=r"give noise, such as likelihood\.noise"):
        gpc.ModelProblem(silent, gpc.Box(1))
    assert gpc.ModelProblem(silent, gpc.Box(1), noise=Tensor([0.25])).noise == 0.25
    uneven = fake("gpytorch", "Model", covar_module=silent.covar_module)
    uneven.likelihood = fake("gpytorch", "Likelihood", noise=Tensor([0.1, 0.2]))
    with pytest.raises(gpc.InputError, match="the noise must be one number, got 2 different ones"):
        gpc.ModelProblem(uneven, gpc.Box(1))
    with pytest.raises(gpc.InputError, match="a model must be one of GPflow"):
        gpc.ModelProblem(3)
    assert gpc.learning_curve(problem, "sor", n=[25], m=5, draws=2, rng=0).error[0] < 0.2


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gpflow") is None, reason="GPflow is not installed")
def test_gpflow_itself() -> None:
    gpflow: Any = import_module("gpflow")

    k = gpflow.kernels
    X = np.random.default_rng(1).random((12, 2))
    for kernel in (
        k.RBF(2.0, [0.2, 0.3]), k.Matern12(), k.Matern32(0.5, 0.4), k.Matern52(lengthscales=[0.3, 1.0]), k.Exponential(),
        k.RationalQuadratic(alpha=0.7), k.Linear(0.5), k.Polynomial(3, 0.5, 2.0), k.RBF() + k.Linear(), k.RBF() * k.Matern32(),
    ):  # fmt: skip
        np.testing.assert_allclose(as_kernel(kernel)(X), kernel(X).numpy(), rtol=1e-6, atol=1e-8)
    model = gpflow.models.SGPR((X, X[:, :1]), k.RBF(), inducing_variable=X[:4].copy(), noise_variance=0.3)
    problem = gpc.ModelProblem(model)
    assert problem.noise == pytest.approx(0.3)
    assert problem.inputs == gpc.Sample(X)
    points = model.inducing_variable.Z.numpy()
    curve = gpc.learning_curve(problem, "vfe", n=[12], points=points, rng=0)
    assert curve.details["m"].tolist() == [4]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gpytorch") is None, reason="GPyTorch is not installed")
@pytest.mark.filterwarnings("ignore")
def test_gpytorch_itself() -> None:
    gpytorch: Any = import_module("gpytorch")
    torch: Any = import_module("torch")

    k = gpytorch.kernels
    X = torch.rand(12, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ard = k.MaternKernel(nu=2.5, ard_num_dims=2)
    ard.lengthscale = torch.tensor([0.3, 0.6])
    kernels = [
        k.ScaleKernel(ard),
        k.RBFKernel(),
        k.MaternKernel(nu=0.5),
        k.MaternKernel(nu=1.5),
        k.RQKernel(),
        k.LinearKernel(),
    ]
    kernels += [k.PolynomialKernel(2), k.RBFKernel() + k.ScaleKernel(k.RQKernel()), k.RBFKernel() * k.LinearKernel()]
    for kernel in kernels:
        expected = kernel.double()(X).to_dense().detach().numpy()
        np.testing.assert_allclose(as_kernel(kernel)(X.numpy()), expected, rtol=1e-6, atol=1e-8)

    class Exact(gpytorch.models.ExactGP):  # type: ignore[misc]
        def __init__(self, likelihood: Any) -> None:
            super().__init__(X, X[:, 0], likelihood)
            self.mean_module, self.covar_module = gpytorch.means.ConstantMean(), k.ScaleKernel(k.RBFKernel())

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = 0.2
    problem = gpc.ModelProblem(Exact(likelihood))
    assert problem.noise == pytest.approx(0.2, rel=1e-5)
    assert problem.inputs == gpc.Sample(X.numpy())
