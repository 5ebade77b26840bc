"""The evidence and its gradient against other libraries, on one thread, in one run: ``python -m benchmarks.evidence``.

scikit-learn is always there. GPy, tinygp and GPyTorch are compared if they can be imported. Each has the same Matérn covariance
function with one lengthscale per input, double precision, exact factors, and everything prepared that does not depend on the
hyperparameters. Turns alternate, the fastest of each counts, and processor time is measured, so that other work on the machine
disturbs little.
"""

import importlib.util
import math
import os
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import blas
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

import gpcurves as gpc
from benchmarks.goals import Report, judge
from gpcurves.forecasting.evidence import Evidence

Compute = Callable[[np.ndarray], tuple[float, np.ndarray]]
DIM = 8


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, DIM))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(count)
    return X, (y - y.mean()) / y.std()


def ours(X: np.ndarray, y: np.ndarray) -> Compute:
    evidence = Evidence(gpc.Matern52, X, tuple(range(DIM)))
    return lambda theta: evidence(theta, y)[:2]


def scikit_learn(X: np.ndarray, y: np.ndarray) -> Compute:
    kernel = ConstantKernel(1.5) * Matern(np.ones(DIM), nu=2.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    return lambda theta: model.log_marginal_likelihood(theta, eval_gradient=True, clone_kernel=False)


def gpy(X: np.ndarray, y: np.ndarray) -> Compute:
    import GPy

    model = GPy.models.GPRegression(X, y[:, None], GPy.kern.Matern52(DIM, ARD=True))

    def compute(theta: np.ndarray) -> tuple[float, np.ndarray]:
        model.param_array[:] = np.exp(theta)
        model.trigger_update()
        return float(model.log_likelihood()), model.gradient * np.exp(theta)

    return compute


def tinygp(X: np.ndarray, y: np.ndarray) -> Compute:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import tinygp

    jax.config.update("jax_enable_x64", True)
    points, targets = jax.numpy.asarray(X), jax.numpy.asarray(y)

    def value(theta):  # type: ignore[no-untyped-def]
        kernel = tinygp.transforms.Linear(
            jax.numpy.exp(-theta[1:-1]), tinygp.kernels.Matern52(distance=tinygp.kernels.distance.L2Distance())
        )
        process = tinygp.GaussianProcess(jax.numpy.exp(theta[0]) * kernel, points, diag=jax.numpy.exp(theta[-1]))
        return process.log_probability(targets)

    compiled = jax.jit(jax.value_and_grad(value))

    def compute(theta: np.ndarray) -> tuple[float, np.ndarray]:
        result, gradient = compiled(theta)
        return float(result), np.asarray(gradient)

    return compute


def gpytorch(X: np.ndarray, y: np.ndarray) -> Compute:
    import gpytorch
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    points, targets = torch.as_tensor(X), torch.as_tensor(y)

    class Model(gpytorch.models.ExactGP):  # type: ignore[misc]
        def __init__(self, likelihood):  # type: ignore[no-untyped-def]
            super().__init__(points, targets, likelihood)
            self.mean = gpytorch.means.ZeroMean()
            self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=DIM))

        def forward(self, x):  # type: ignore[no-untyped-def]
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(likelihood)  # type: ignore[no-untyped-call]
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    model.train()
    raw = (
        model.covariance.raw_outputscale,
        model.covariance.base_kernel.raw_lengthscale,
        likelihood.noise_covar.raw_noise,
    )

    def compute(theta: np.ndarray) -> tuple[float, np.ndarray]:
        model.covariance.outputscale = math.exp(theta[0])
        model.covariance.base_kernel.lengthscale = torch.as_tensor(np.exp(theta[1:-1]))
        likelihood.noise = math.exp(theta[-1])
        model.zero_grad()
        with gpytorch.settings.max_cholesky_size(100_000):
            value = objective(model(points), targets) * len(y)
            value.backward()
        # Raw parameters are softplus inverses, with a smallest noise of 1e-4: the chain rule to logarithms.
        least = (0.0, 0.0, 1e-4)
        chain = [
            (p.grad * (torch.nn.functional.softplus(p) + low) / torch.sigmoid(p)).detach().numpy().ravel()
            for p, low in zip(raw, least, strict=True)
        ]
        return float(value.detach()), np.concatenate(chain)

    return compute


RIVALS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], Compute]]] = {
    "scikit-learn": ("sklearn", scikit_learn),
    "GPy": ("GPy", gpy),
    "tinygp": ("tinygp", tinygp),
    "GPyTorch": ("gpytorch", gpytorch),
}


def multiply(count: int) -> Callable[[np.ndarray], object]:
    """Return a product of two matrices, of which the rate is known."""
    A = np.asfortranarray(np.random.default_rng(1).standard_normal((count, count)))
    C = np.zeros_like(A)
    return lambda theta: blas.dgemm(1.0, A, A, c=C, overwrite_c=1)


def seconds(count: int) -> dict[str, float]:
    """Return the least processor time of the evidence with its gradient by each library, and of a matrix product."""
    X, y = rows(count)
    theta = np.log([1.5, *np.linspace(1, 4, DIM), 0.1])
    computes = {"gpcurves": ours(X, y)}
    computes |= {name: make(X, y) for name, (module, make) in RIVALS.items() if importlib.util.find_spec(module)}
    with threadpool_limits(1):
        value, gradient = computes["gpcurves"](theta)
        for name, compute in computes.items():
            theirs = compute(theta)
            assert np.allclose(theirs[0], value, rtol=1e-6), name
            assert np.allclose(theirs[1], gradient, rtol=1e-4, atol=1e-4), name
        turns: dict[str, Callable[[np.ndarray], object]] = {**computes, "dgemm": multiply(count)}
        least = dict.fromkeys(turns, math.inf)
        for _ in range(max(2, min(200, 10**10 // count**3))):
            for name, turn in turns.items():
                began = time.process_time()
                turn(theta)
                least[name] = min(least[name], time.process_time() - began)
    return least


def run(report: Report) -> None:
    """Report how much faster the evidence is than the fastest of the others, and its rate as a share of dgemm's."""
    for count, ratio, share in ((200, 3.0, 0.0), (500, 0.0, 0.5), (1000, 2.5, 0.5), (5000, 2.5, 0.5)):
        least = seconds(count)
        print(f"{count} rows, milliseconds:", *(f"{name} {1e3 * time:.2f}" for name, time in least.items()))
        own, product = least.pop("gpcurves"), least.pop("dgemm")
        fastest = min(least, key=lambda name: least[name])
        report.add(
            f"evidence and gradient, {count} rows, 8 inputs: {fastest} / gpcurves", least[fastest] / own, above=ratio
        )
        # The factor and the inverse take n^3 operations, distances and their gradient n^2 (d + 2) each; a product 2 n^3.
        operations = count**3 + 2 * count**2 * (DIM + 2)
        report.add(
            f"evidence and gradient, {count} rows: rate / dgemm",
            operations / own * product / (2 * count**3),
            above=share,
        )


if __name__ == "__main__":
    sys.exit(judge(run))
