"""Functions without noise as somebody's simulator would be: formulas of engineering, physics and finance.

Their inputs are uniform in ranges that are usual, set before anything was computed. Most come from the PyPI packages fluids,
ht, chemicals and gsw; some have kinks or jumps where a flow becomes turbulent or choked, or a phase appears.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import erf

Range = tuple[float, float]
Simulators = dict[str, tuple[Callable[[np.ndarray], np.ndarray], dict[str, Range]]]


def evaluate(
    known: Simulators, name: str, rows: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return random inputs within the ranges, the values of a function there, and the names of the inputs."""
    function, ranges = known[name]
    low, high = np.array(list(ranges.values()), dtype=float).T
    X = rng.uniform(low, high, (rows, len(ranges)))
    y = function(X)
    if y.shape != (rows,) or not np.isfinite(y).all():
        raise ValueError(f"{name} is undefined at some inputs")
    return X, y, list(ranges)


def by_row(function: Callable[..., Any]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of many rows from one of one row's numbers."""
    return lambda X: np.array([float(function(*row)) for row in X.tolist()])


def by_column(function: Callable[..., Any]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of many rows from one of columns."""
    return lambda X: np.asarray(function(*X.T), dtype=float)


def _package(name: str) -> Any:
    return import_module(name)


def _pipe(speed: float, diameter: float, density: float, viscosity: float, roughness: float, length: float) -> float:
    factor = _package("fluids").friction_factor(speed * diameter * density / viscosity, roughness / diameter)
    return float(factor * length / diameter * density * speed**2 / 2)


def _orifice(diameter: float, ratio: float, inlet: float, drop: float, density: float, viscosity: float) -> Any:
    return _package("fluids").differential_pressure_meter_solver(
        D=diameter,
        D2=ratio * diameter,
        P1=inlet,
        P2=inlet - drop,
        rho=density,
        mu=viscosity,
        k=1.3,
        meter_type="ISO 5167 orifice",
        taps="D",
    )


def _valve(temperature: float, mass: float, gamma: float, inlet: float, share: float, flow: float) -> Any:
    return _package("fluids").size_control_valve_g(
        T=temperature, MW=mass, mu=1.5e-5, gamma=gamma, Z=0.95, P1=inlet, P2=share * inlet, Q=flow
    )


def _relief(flow: float, temperature: float, mass: float, k: float, inlet: float, share: float) -> Any:
    return _package("fluids").API520_A_g(m=flow, T=temperature, Z=0.95, MW=mass, k=k, P1=inlet, P2=share * inlet)


def _two_phase(flow: float, quality: float, diameter: float, angle: float, liquid: float, gas: float) -> Any:
    return _package("fluids").two_phase.Beggs_Brill(
        m=flow,
        x=quality,
        rhol=liquid,
        rhog=gas,
        mul=1e-3,
        mug=1.5e-5,
        sigma=0.05,
        P=1e6,
        D=diameter,
        angle=angle,
        roughness=4.6e-5,
        L=100.0,
        acceleration=False,  # its term has a pole
    )


def _tank(height: float, diameter: float, length: float, dish: float) -> Any:
    return _package("fluids").V_from_h(
        h=height * diameter,
        D=diameter,
        L=length,
        sideA="ellipsoidal",
        sideB="conical",
        sideA_a=dish * diameter,
        sideB_a=dish * diameter,
    )


def _air_density(height: float, warmer: float) -> Any:
    return _package("fluids").ATMOSPHERE_1976(height, warmer).rho


def _tube_cooling(speed: float, diameter: float, viscosity: float, conductivity: float, heat_capacity: float) -> float:
    nusselt = _package("ht").Nu_conv_internal(
        Re=1000 * speed * diameter / viscosity, Pr=heat_capacity * viscosity / conductivity, Di=diameter, x=1.0
    )
    return float(nusselt * conductivity / diameter)


def _exchanger(hot: float, cold: float, hot_in: float, cold_in: float, area: float, transfer: float) -> float:
    low, high = sorted((2300 * hot, 4180 * cold))
    share = _package("ht").effectiveness_from_NTU(area * transfer / low, low / high, subtype="crossflow approximate")
    return float(share * low * (hot_in - cold_in))


def _boiling(pressure: float, critical: float, mass: float, excess: float, roughness: float) -> float:
    return float(
        _package("ht").Cooper(P=pressure * critical, Pc=critical, MW=mass, Te=excess, Rp=roughness) * excess / 1000
    )


def _condensing(drop: float, liquid: float, conductivity: float, viscosity: float, latent: float, height: float) -> Any:
    return _package("ht").Nusselt_laminar(
        Tsat=370.0,
        Tw=370.0 - drop,
        rhog=1.0,
        rhol=liquid,
        kl=conductivity,
        mul=viscosity,
        Hvap=latent,
        L=height,
    )


def _fin(tube: float, ratio: float, thickness: float, conductivity: float, transfer: float) -> Any:
    return _package("ht").fin_efficiency_Kern_Kraus(tube, ratio * tube, thickness, conductivity, transfer)


def _insulated_pipe(inside: float, outside: float, thickness: float, conductivity: float, wind: float) -> float:
    """Return the loss of heat in W for each metre of a pipe of 10 cm: conduction, and wind across the insulation."""
    outer = 0.1 + 2 * thickness
    across = _package("ht").Nu_external_cylinder(wind * outer / 1.5e-5, 0.71) * 0.025 / outer
    resistance = math.log(outer / 0.1) / (2 * math.pi * conductivity) + 1 / (math.pi * outer * across)
    return float((inside - outside) / resistance)


def _flash(temperature: float, pressure: float, light: float, middle: float) -> float:
    """Return the share of vapour in propane, pentane and heptane: 0 below the bubble point, 1 above the dew point."""
    heavy = 1 - light - middle
    critical = [(369.8, 4.25e6, 0.152), (469.7, 3.37e6, 0.251), (540.2, 2.74e6, 0.349)]
    ratios = [Pc / pressure * math.exp(5.37 * (1 + w) * (1 - Tc / temperature)) for Tc, Pc, w in critical]
    shares = [light, middle, heavy]
    if sum(z * K for z, K in zip(shares, ratios, strict=True)) <= 1:
        return 0.0
    if sum(z / K for z, K in zip(shares, ratios, strict=True)) <= 1:
        return 1.0
    return float(_package("chemicals").flash_inner_loop(shares, ratios)[0])


def _gas_viscosity(temperature: float, critical: float, pressure: float, factor: float, mass: float) -> float:
    return float(1e6 * _package("chemicals").Lucas_gas(temperature, critical, pressure, factor, mass))


def _virial(temperature: float, critical: float, pressure: float, acentric: float) -> float:
    return float(1e6 * _package("chemicals").BVirial_Tsonopoulos(temperature, critical, pressure, acentric))


def _tension(share: float, boiling: float, ratio: float, pressure: float) -> Any:
    critical = ratio * boiling
    return _package("chemicals").Brock_Bird(share * critical, boiling, critical, pressure)


def _melting(salinity: float, temperature: float, pressure: float, ice: float, ice_temperature: float) -> np.ndarray:
    """Return the temperature of seawater in which ice melts; warm enough for all of it to melt."""
    return np.asarray(
        _package("gsw").melting_ice_into_seawater(salinity, temperature, pressure, ice, ice_temperature)[1]
    )


def _oxygen(salinity: np.ndarray, temperature: np.ndarray, pressure: np.ndarray, latitude: np.ndarray) -> Any:
    return _package("gsw").O2sol(salinity, temperature, pressure, 0.0, latitude)


def _throw(speed: float, angle: float, mass: float, radius: float, wind: float) -> float:
    """Return how far a ball with drag flies before it is back on the ground."""
    drag = 0.5 * 1.2 * 0.47 * math.pi * radius**2 / mass

    def motion(_: float, state: np.ndarray) -> list[float]:
        across, up = state[2] - wind, state[3]
        slowed = drag * math.hypot(across, up)
        return [state[2], state[3], -slowed * across, -9.81 - slowed * up]

    def ground(_: float, state: np.ndarray) -> float:
        return float(state[1])

    setattr(ground, "terminal", True)  # noqa: B010
    setattr(ground, "direction", -1)  # noqa: B010
    start = [0.0, 0.0, speed * math.cos(math.radians(angle)), speed * math.sin(math.radians(angle))]
    found = solve_ivp(motion, (0, 60), start, events=ground, rtol=1e-8, atol=1e-8)
    return float(found.y[0, -1])


def _epidemic(X: np.ndarray) -> np.ndarray:
    """Return the largest share of a population that is ill at once, by steps of a tenth of a day over half a year."""
    contact, recovery, incubation, vaccinated, first = X.T
    healthy, exposed, ill = 1 - vaccinated - first, np.zeros(len(X)), first.copy()
    most = ill.copy()
    for _ in range(1800):
        caught, broken_out, recovered = contact * healthy * ill, exposed / incubation, ill / recovery
        healthy, exposed = healthy - 0.1 * caught, exposed + 0.1 * (caught - broken_out)
        ill = ill + 0.1 * (broken_out - recovered)
        most = np.maximum(most, ill)
    return np.asarray(most)


def _option(price: np.ndarray, strike: np.ndarray, years: np.ndarray, rate: np.ndarray, spread: np.ndarray) -> Any:
    scale = spread * np.sqrt(years)
    upper = (np.log(price / strike) + (rate + spread**2 / 2) * years) / scale
    below, above = (0.5 * (1 + erf(z / math.sqrt(2))) for z in (upper - scale, upper))
    return price * above - strike * np.exp(-rate * years) * below


def _reactor(X: np.ndarray) -> np.ndarray:
    """Return the concentration of the middle product of two reactions in a row, in a tank with a temperature."""
    temperature, hours, feed, first, second = X.T
    one = first * np.exp(-6000 * (1 / temperature - 1 / 350))
    two = second * np.exp(-9000 * (1 / temperature - 1 / 350))
    return np.asarray(feed * one * hours / ((1 + one * hours) * (1 + two * hours)))


def _lens(first: np.ndarray, second: np.ndarray, thickness: np.ndarray, index: np.ndarray) -> Any:
    return 1 / ((index - 1) * (1 / first + 1 / second - (index - 1) * thickness / (index * first * second)))


def _orbit(perihelion: float, eccentricity: float, days: float) -> float:
    """Return the distance of a comet from the sun in astronomical units so many days after its perihelion."""
    axis = perihelion / (1 - eccentricity)
    anomaly = math.fmod(0.01720209895 * days / axis**1.5, 2 * math.pi)
    angle = math.pi
    for _ in range(100):
        angle -= (angle - eccentricity * math.sin(angle) - anomaly) / (1 - eccentricity * math.cos(angle))
    return axis * (1 - eccentricity * math.cos(angle))


SIMULATORS: Simulators = {
    # A pipe in a laboratory, whose flow is laminar or turbulent, and one of a waterworks
    "pipe_small": (
        by_row(_pipe),
        {
            "speed": (0.02, 0.5),
            "diameter": (0.005, 0.03),
            "density": (800, 1100),
            "viscosity": (5e-4, 5e-3),
            "roughness": (1e-6, 1e-4),
            "length": (1, 10),
        },
    ),
    "pipe_large": (
        by_row(_pipe),
        {
            "speed": (0.5, 4),
            "diameter": (0.1, 0.8),
            "density": (990, 1030),
            "viscosity": (7e-4, 1.6e-3),
            "roughness": (1e-5, 2e-3),
            "length": (100, 2000),
        },
    ),
    "orifice": (
        by_row(_orifice),
        {
            "diameter": (0.1, 0.3),
            "ratio": (0.3, 0.7),
            "inlet": (5e5, 2e6),
            "drop": (5e3, 6e4),
            "density": (3, 15),
            "viscosity": (1e-5, 2e-5),
        },
    ),
    "valve": (
        by_row(_valve),
        {
            "temperature": (280, 500),
            "mass": (16, 44),
            "gamma": (1.1, 1.67),
            "inlet": (3e5, 2e6),
            "share": (0.15, 0.9),
            "flow": (0.1, 2),
        },
    ),
    "relief": (
        by_row(_relief),
        {
            "flow": (0.5, 20),
            "temperature": (300, 500),
            "mass": (16, 60),
            "k": (1.1, 1.6),
            "inlet": (3e5, 3e6),
            "share": (0.1, 0.9),
        },
    ),
    "two_phase": (
        by_row(_two_phase),
        {
            "flow": (0.5, 10),
            "quality": (0.01, 0.5),
            "diameter": (0.05, 0.2),
            "angle": (0, 90),
            "liquid": (700, 1000),
            "gas": (5, 30),
        },
    ),
    "settling": (
        by_row(lambda *row: _package("fluids").v_terminal(*row)),
        {"diameter": (2e-5, 3e-3), "particle": (1200, 8000), "density": (700, 1100), "viscosity": (3e-4, 1e-2)},
    ),
    "packed_bed": (
        by_row(lambda *row: _package("fluids").Ergun(*row)),
        {
            "particle": (5e-4, 1e-2),
            "voidage": (0.3, 0.6),
            "speed": (0.01, 1),
            "density": (1, 10),
            "viscosity": (1e-5, 4e-5),
            "length": (0.5, 5),
        },
    ),
    "gas_line": (
        by_row(lambda *row: _package("fluids").Panhandle_A(*row)),
        {
            "gravity": (0.55, 0.8),
            "temperature": (275, 320),
            "length": (2e4, 2e5),
            "diameter": (0.2, 1.0),
            "inlet": (5e6, 9e6),
            "outlet": (1e6, 4e6),
        },
    ),
    "tank": (
        by_row(_tank),
        {"height": (0.02, 0.98), "diameter": (1, 4), "length": (2, 15), "dish": (0.05, 0.5)},
    ),
    "air_density": (by_row(_air_density), {"height": (0, 60_000), "warmer": (-20, 20)}),
    "bend": (
        by_row(lambda d, angle, f, radius: _package("fluids").bend_rounded(Di=d, angle=angle, fd=f, rc=radius * d)),
        {"diameter": (0.02, 0.5), "angle": (10, 180), "friction": (0.01, 0.04), "radius": (1, 8)},
    ),
    "compressor": (
        by_row(
            lambda t, k, p1, ratio, eta: _package("fluids").isentropic_work_compression(
                t, k, 1.0, p1, ratio * p1, None, eta
            )
        ),
        {"temperature": (270, 350), "k": (1.1, 1.67), "inlet": (1e5, 1e6), "ratio": (1.2, 8), "efficiency": (0.6, 0.9)},
    ),
    "tube_cooling": (
        by_row(_tube_cooling),
        {
            "speed": (0.02, 2),
            "diameter": (0.005, 0.04),
            "viscosity": (3e-4, 5e-3),
            "conductivity": (0.1, 0.7),
            "heat_capacity": (1800, 4200),
        },
    ),
    "exchanger": (
        by_row(_exchanger),
        {
            "hot": (0.5, 5),
            "cold": (0.5, 5),
            "hot_in": (350, 450),
            "cold_in": (280, 310),
            "area": (1, 50),
            "transfer": (100, 1000),
        },
    ),
    "boiling": (
        by_row(_boiling),
        {
            "pressure": (0.01, 0.8),
            "critical": (2e6, 2.2e7),
            "mass": (18, 120),
            "excess": (2, 20),
            "roughness": (1e-7, 5e-6),
        },
    ),
    "condensing": (
        by_row(_condensing),
        {
            "drop": (2, 40),
            "liquid": (600, 1000),
            "conductivity": (0.08, 0.68),
            "viscosity": (2e-4, 1e-3),
            "latent": (2e5, 2.4e6),
            "height": (0.1, 3),
        },
    ),
    "fin": (
        by_row(_fin),
        {
            "tube": (0.01, 0.05),
            "ratio": (1.3, 3),
            "thickness": (2e-4, 1e-3),
            "conductivity": (15, 390),
            "transfer": (10, 200),
        },
    ),
    "insulated_pipe": (
        by_row(_insulated_pipe),
        {
            "inside": (50, 250),
            "outside": (-10, 35),
            "thickness": (0.005, 0.15),
            "conductivity": (0.02, 0.12),
            "wind": (0.2, 12),
        },
    ),
    "flash": (
        by_row(_flash),
        {"temperature": (290, 420), "pressure": (1e5, 1e6), "light": (0.1, 0.5), "middle": (0.1, 0.45)},
    ),
    "gas_viscosity": (
        by_row(_gas_viscosity),
        {
            "temperature": (250, 900),
            "critical": (150, 650),
            "pressure": (2e6, 8e6),
            "factor": (0.22, 0.3),
            "mass": (16, 150),
        },
    ),
    "virial": (
        by_row(_virial),
        {"temperature": (250, 800), "critical": (150, 600), "pressure": (2e6, 8e6), "acentric": (0, 0.5)},
    ),
    "tension": (
        by_row(_tension),
        {"share": (0.45, 0.95), "boiling": (200, 450), "ratio": (1.4, 1.7), "pressure": (2e6, 6e6)},
    ),
    "sound_in_sea": (
        by_column(lambda *columns: _package("gsw").sound_speed(*columns)),
        {"salinity": (0, 40), "temperature": (-1, 30), "pressure": (0, 6000)},
    ),
    "sea_expansion": (
        by_column(lambda *columns: 1e4 * _package("gsw").alpha(*columns)),
        {"salinity": (0, 40), "temperature": (-1, 30), "pressure": (0, 6000)},
    ),
    "salinity": (
        by_column(lambda *columns: _package("gsw").SP_from_C(*columns)),
        {"conductivity": (25, 60), "temperature": (5, 30), "pressure": (0, 3000)},
    ),
    "oxygen": (
        by_column(_oxygen),
        {"salinity": (0, 40), "temperature": (0, 35), "pressure": (0, 3000), "latitude": (-80, 80)},
    ),
    "melting": (
        by_column(_melting),
        {
            "salinity": (20, 38),
            "temperature": (12, 28),
            "pressure": (0, 200),
            "ice": (0, 0.1),
            "ice_temperature": (-20, -3),
        },
    ),
    "throw": (
        by_row(_throw),
        {"speed": (5, 45), "angle": (15, 75), "mass": (0.05, 0.5), "radius": (0.02, 0.06), "wind": (-8, 8)},
    ),
    "epidemic": (
        _epidemic,
        {
            "contact": (0.1, 0.8),
            "recovery": (3, 12),
            "incubation": (1, 6),
            "vaccinated": (0, 0.7),
            "first": (1e-4, 1e-2),
        },
    ),
    "option": (
        by_column(_option),
        {"price": (60, 140), "strike": (70, 130), "years": (0.05, 2), "rate": (0, 0.08), "spread": (0.1, 0.6)},
    ),
    "reactor": (
        _reactor,
        {
            "temperature": (310, 400),
            "hours": (0.1, 5),
            "feed": (0.5, 3),
            "first": (0.2, 3),
            "second": (0.05, 1),
        },
    ),
    "lens": (
        by_column(_lens),
        {"first": (0.05, 0.5), "second": (0.05, 0.5), "thickness": (0.001, 0.02), "index": (1.4, 1.9)},
    ),
    "orbit": (by_row(_orbit), {"perihelion": (0.3, 3), "eccentricity": (0.05, 0.9), "days": (0, 1500)}),
}
