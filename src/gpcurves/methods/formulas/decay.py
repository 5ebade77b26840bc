r"""Laws of decay: how the error falls with many examples, from how the eigenvalues fall with their index.

With :math:`\lambda_i \simeq A\,i^{-r}` and :math:`B = (\pi/r)/\sin(\pi/r)` the approximation LC becomes

.. math:: \epsilon \simeq BA^{1/r}(\sigma^2/n)^{1-1/r}\ (\epsilon\ll\sigma^2),\qquad \epsilon \simeq AB^rn^{1-r}\ (\epsilon\gg\sigma^2),

with the crossover at :math:`n_c = 2\sigma^2h_c`, :math:`g(h_c) = \sigma^2`, where both are equal. The Fourier transform gives
:math:`r = 1 + 2\nu/d` and `A` for Matérn kernels with uniform inputs; the boundary of a box does not matter far out. If eigenvalues
fall faster than any power, :math:`N(h)` of them are above `1/h`: then :math:`\epsilon \simeq (\sigma^2/n)N(n/\sigma^2)` with noise, where
`N` is a power of a logarithm, and :math:`\epsilon \simeq n\lambda_n` without.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from gpcurves.errors import NotApplicableError
from gpcurves.inputs import Box, Sphere, Torus
from gpcurves.kernels import as_rbf
from gpcurves.methods.base import METHODS
from gpcurves.numerics.display import Shown
from gpcurves.numerics.validation import FloatArray, Sizes, positive, sizes
from gpcurves.problem import Problem, as_problem
from gpcurves.spectra import Spectrum
from gpcurves.spectra.lattice import fourier

Family = Literal["power law", "smooth", "finite"]
_FAR = 1e30  # index at which the transform of a kernel has become a power law
_FULL_DIGITS = 1e-10  # a list whose last eigenvalue is above this share of the first ends because there are no more
_FEW = 30  # eigenvalues of a bare spectrum up to which nothing is fitted
_FITTED = (1e4, 1e9)  # between these h, over the largest eigenvalue, logarithms are fitted


@dataclass(frozen=True, eq=False)
class Asymptotics(Shown):
    """How the error falls with many examples, according to LC; `asymptotics` returns it.

    Attributes
    ----------
    problem
        What was asked.
    family
        How the eigenvalues fall: "power law", "smooth" (faster than any power), or "finite" if they are few.
    decay, amplitude
        Eigenvalue number i is about ``amplitude / i**decay``; the decay is infinite if it is faster than any power.
    exponent, prefactor, log_power, log_scale
        With many examples the error is ``prefactor * log(log_scale * n)**log_power / n**exponent``; without the logarithm for power
        laws.
    early_exponent, early_prefactor
        The same as long as the error is above the noise; the exponent is infinite if the error falls faster than any power.
    crossover
        The number of examples from which on noise dominates; 0 if it does from the start, infinite without noise.
    origin
        How exponents and prefactors were obtained, in words.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> law = gpc.asymptotics(gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.1))
    >>> law.exponent, round(law.gain(100), 1)
    (0.5, 10.0)
    """

    problem: Problem
    family: Family
    decay: float
    amplitude: float
    exponent: float
    prefactor: float
    early_exponent: float
    early_prefactor: float
    crossover: float
    origin: str
    log_power: float = 0.0
    log_scale: float = math.nan
    eigenvalue: Callable[[FloatArray], FloatArray] | None = field(default=None, repr=False)

    def late(self, n: Sizes) -> FloatArray:
        """Return the law for errors far below the noise at these numbers of examples."""
        at = sizes("n", n)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = 1.0 if self.log_power == 0 else np.log(np.maximum(self.log_scale * at, 1.0)) ** self.log_power
            return np.asarray(self.prefactor * logs * at**-self.exponent)

    def early(self, n: Sizes) -> FloatArray:
        """Return the law for errors far above the noise at these numbers of examples."""
        at = sizes("n", n)
        if self.eigenvalue is not None:
            return np.asarray(at * self.eigenvalue(np.maximum(at, 0.5)))
        if self.family == "finite":
            return np.where(at < self.problem.spectrum.count, np.nan, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(self.early_prefactor * at**-self.early_exponent)

    def gain(self, times: float = 10.0, n: float | None = None) -> float:
        """Return by which factor the error falls if there are ``times`` as many examples.

        From n examples on by LC; without n by the law for many examples.
        """
        more = positive("times", times)
        if n is not None:
            before, after = METHODS["lc"](self.problem, [positive("n", n), more * n])
            return float(before / after) if after > 0 else math.inf
        if self.crossover == math.inf:
            return float(more**self.early_exponent)
        if self.log_power == 0:
            return float(more**self.exponent)
        start = max(10 * self.crossover, 10.0, math.e / self.log_scale)
        before, after = self.late([start, more * start])
        return float(before / after)

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def __repr__(self) -> str:
        return f"<Asymptotics of {self.problem.describe()}: {self}>"

    def sentences(self) -> list[str]:
        """Return what a user should know, the exponent first."""
        if self.family == "finite":
            count = f"{self.problem.spectrum.count:,.0f}"
            if self.crossover == math.inf:
                return [
                    f"The kernel has only {count} eigenfunctions: without noise {count} examples determine the function."
                ]
            return [
                f"The kernel has only {count} eigenfunctions: with many more examples than that the error is "
                f"{self.prefactor:.3g}/n, and ten times more data divide it by 10."
            ]
        said = []
        if self.crossover < math.inf:
            power = f"n to the power -{self.exponent:.3g}"
            if self.log_power != 0:
                power = f"1/n times ln n to the power {self.log_power:.2g}"
            start = "The noise dominates from the start, and" if self.crossover < 1 else (
                f"Beyond about {_round(self.crossover)} examples the error is below the noise, and"
            )  # fmt: skip
            said.append(f"{start} it falls as {power}: ten times more data divide it by {_round(self.gain())}.")
        if self.crossover >= 1:
            before = "Without noise the error" if self.crossover == math.inf else "Before, it"
            how = "faster than any power of n"
            if self.early_exponent < math.inf:
                divided = f"ten times more data divide it by {_round(10**self.early_exponent)}"
                how = f"as n to the power -{self.early_exponent:.3g}: {divided}"
            said.append(f"{before} falls {how}.")
        return [*said, f"This is LC for eigenvalues that fall {self._falling()} ({self.origin})."]

    def _falling(self) -> str:
        return "faster than any power" if self.decay == math.inf else f"as i to the power -{self.decay:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data; what is infinite or not known is None."""
        late = ("exponent", "prefactor", "log_power", "log_scale")
        names = ("decay", "amplitude", *late, "early_exponent", "early_prefactor", "crossover")
        numbers = {name: float(getattr(self, name)) for name in names}
        plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        return {"family": self.family, **plain, "origin": self.origin}


def asymptotics(problem: Problem | Spectrum, noise: float | None = None) -> Asymptotics:
    """Return how the error falls with many examples: exponents, prefactors, and the crossover between them.

    For Matérn and RBF kernels on the torus and the box these are the exact limits of LC. Otherwise the exponent follows
    from the smoothness of the kernel, if that is known, and the rest is fitted to the spectrum; ``origin`` says which.

    Parameters
    ----------
    problem
        A problem on vectors with Gaussian noise; or a bare spectrum, which also needs ``noise``.
    noise
        Noise variance, for a bare spectrum only.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> law = gpc.asymptotics(gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.1))
    >>> law.exponent, round(law.gain(10), 2)
    (0.5, 3.16)
    """
    asked = as_problem(problem, noise)
    if (reason := objection(asked)) is not None:
        raise NotApplicableError(f"laws of decay do not apply: {reason}")
    spectrum = asked.spectrum
    if _is_finite(asked):
        return _finite(asked)
    smoothness = None if asked.kernel is None else asked.kernel.smoothness
    if smoothness == math.inf or (smoothness is None and not _falls_as_power(spectrum)):
        return _smooth(asked)
    return _power_law(asked, smoothness)


def objection(problem: Problem) -> str | None:
    """Say why there are no laws of decay for a problem, or return None if there are."""
    if problem.axis != "n":
        return "they are for vector inputs only, and this is a graph"
    if problem.observation.gaussian_noise is None:
        return f"they need Gaussian noise, but labels are {problem.observation!r}"
    return METHODS["lc"].objection(problem.believed) if problem.teacher is None else "the model must be well specified"


def _is_finite(problem: Problem) -> bool:
    spectrum = problem.spectrum
    if spectrum.tail is not None:
        return False
    if problem.inputs.enumerable:
        return True
    few = spectrum.count <= _FEW if problem.kernel is None else True
    return few and bool(spectrum.values[-1] > _FULL_DIGITS * spectrum.values[0])


def _finite(problem: Problem) -> Asymptotics:
    count = problem.spectrum.count
    return Asymptotics(
        problem, "finite", math.inf, math.nan, 1.0, problem.noise * count, math.inf, math.nan, _crossover(problem),
        "all eigenvalues are known",
    )  # fmt: skip


def _power_law(problem: Problem, smoothness: float | None) -> Asymptotics:
    spectrum, noise = problem.spectrum, problem.noise
    transform = None
    if isinstance(problem.inputs, Torus | Box):
        transform = fourier(problem.kernel, problem.inputs.dim)
    if smoothness is None:
        r, amplitude, origin = _fit_power(spectrum)
    else:
        r = 1 + 2 * smoothness / _surface(problem)
        if transform is not None:
            amplitude = math.exp(float(transform.log_eigenvalue(np.array([_FAR]))[0]) + r * math.log(_FAR))
            origin = (
                "closed form"
                if isinstance(problem.inputs, Torus)
                else "closed form of the torus, as far out on the box"
            )
        else:
            index = 0.7 * spectrum.listed
            value = float(eigenvalues(spectrum)(np.array([index]))[0])
            if spectrum.tail is not None:
                index = 10 * float(spectrum.tail.edges[0])
                value = float(np.exp(spectrum.tail.log_eigenvalue(np.array([index]))[0]))
            amplitude = value * index**r
            origin = f"the power follows from the smoothness of the kernel, the prefactor is fitted: {spectrum.origin}"
    if r <= 1:
        raise NotApplicableError("laws of decay do not apply: the sum of the eigenvalues does not converge")
    B = (math.pi / r) / math.sin(math.pi / r)
    late = B * amplitude ** (1 / r) * noise ** (1 - 1 / r)
    return Asymptotics(
        problem, "power law", r, amplitude, 1 - 1 / r, late, r - 1, amplitude * B**r, _crossover(problem), origin
    )


def _smooth(problem: Problem) -> Asymptotics:
    r"""Return the laws for eigenvalues that fall faster than any power.

    For an RBF on the torus :math:`N(h) = V_d\,[\ln(h\lambda_0)/2\pi^2]^{d/2}/\prod_i l_i` integer vectors are inside the ellipsoid on which
    the transform is `1/h`.
    """
    spectrum, noise = problem.spectrum, problem.noise
    inputs, largest = problem.inputs, float(problem.spectrum.values[0])
    # unlike a power law, this one feels the boundary of a box
    transform = fourier(problem.kernel, inputs.dim) if isinstance(inputs, Torus) else None
    rbf = None if transform is None else as_rbf(problem.kernel)
    if transform is not None and rbf is not None:
        dim = inputs.dim
        largest = float(np.exp(transform.profile.log_value(np.zeros(1))[0]))
        volume = math.exp(0.5 * dim * math.log(math.pi) - math.lgamma(dim / 2 + 1))
        count = volume / float(np.prod(rbf.lengthscales(dim))) / (2 * math.pi**2) ** (dim / 2)
        power, origin = dim / 2, "closed form"
    else:
        h = np.geomspace(*_FITTED, 20) / largest
        above = np.array([_count_above(spectrum, 1 / each) for each in h])
        power, shift = np.polyfit(np.log(np.log(h * largest)), np.log(above), 1).tolist()
        count = math.exp(shift)
        origin = f"the power of the logarithm is fitted: {spectrum.origin}"
    law = eigenvalues(spectrum) if transform is None else partial(_exponential, transform.log_eigenvalue)
    return Asymptotics(
        problem, "smooth", math.inf, math.nan, 1.0, noise * count, math.inf, math.nan, _crossover(problem), origin,
        power, largest / noise if noise > 0 else math.inf, law,
    )  # fmt: skip


def _exponential(log_value: Callable[[FloatArray], FloatArray], index: FloatArray) -> FloatArray:
    return np.exp(log_value(index))


def _surface(problem: Problem) -> int:
    """Return the dimension of the set of inputs."""
    return problem.inputs.dim - isinstance(problem.inputs, Sphere)


def eigenvalues(spectrum: Spectrum) -> Callable[[FloatArray], FloatArray]:
    """Return the eigenvalue as a smooth function of a real index, from the middle of each block of equal ones."""
    ends = np.cumsum(spectrum.multiplicities)
    middle, logs = np.log(ends - spectrum.multiplicities / 2), np.log(spectrum.values)

    def at(index: FloatArray) -> FloatArray:
        value = np.exp(np.interp(np.log(index), middle, logs))
        if spectrum.tail is not None and (beyond := index > ends[-1]).any():
            value[beyond] = np.exp(spectrum.tail.log_eigenvalue(index[beyond]))
        return np.asarray(np.where((index > ends[-1]) & (spectrum.tail is None), 0.0, value))

    return at


def _count_above(spectrum: Spectrum, level: float) -> float:
    """Return how many eigenvalues exceed a level, counting each by how far: the sum of 1/(1 + level/eigenvalue)."""
    measure = spectrum.measure
    return float(measure.multiplicities @ (1 / (1 + level * np.exp(-measure.log_values))))


def _middle(spectrum: Spectrum) -> FloatArray:
    """Return indices in the last decade of the list without its end, where a law is fitted."""
    return np.geomspace(max(spectrum.listed / 20, 1.0), spectrum.listed / 2, 40)


def _falls_as_power(spectrum: Spectrum) -> bool:
    """Tell whether the logarithm of eigenvalues is straighter in the logarithm of the index than in the index."""
    index = _middle(spectrum)
    logs = np.log(eigenvalues(spectrum)(index))
    left = [np.polyfit(x, logs, 1, full=True)[1] for x in (np.log(index), index)]
    return bool(left[0].sum() <= left[1].sum())


def _fit_power(spectrum: Spectrum) -> tuple[float, float, str]:
    index = _middle(spectrum)
    slope, shift = np.polyfit(np.log(index), np.log(eigenvalues(spectrum)(index)), 1).tolist()
    ends = "" if spectrum.tail is not None else ", as if the list went on"
    origin = f"fitted to eigenvalues {index[0]:.0f} to {index[-1]:.0f}{ends}: {spectrum.origin}"
    return -slope, math.exp(shift), origin


def _crossover(problem: Problem) -> float:
    r"""Return :math:`n_c = 2\sigma^2h_c` with :math:`g(h_c) = \sigma^2`, at which LC gives the noise as the error."""
    noise = problem.noise
    if noise == 0:
        return math.inf
    if noise >= problem.spectrum.trace:
        return 0.0
    explicit = METHODS["lc"].explicit
    assert explicit is not None
    return float(explicit(problem, noise))


def _round(number: float) -> str:
    if number < 100:
        return f"{number:.2g}"
    digits = math.floor(math.log10(number)) - 1
    return f"{round(number, -digits):,.0f}"
