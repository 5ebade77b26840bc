"""Further functions without noise: physics, engineering, biology and finance, written out here.

Their inputs are uniform in ranges that are usual, set before anything was computed. Differential equations are solved
with steps that are the same for all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import ellipe, ellipk, exp1

from benchmarks.forecast.simulators import Simulators, by_column, by_row

State = list[np.ndarray]


def integrate(rate: Callable[[State], Any], state: State, duration: Any, steps: int) -> State:
    """Return the state after a duration, by so many steps of Runge and Kutta's fourth order."""
    step = duration / steps

    def moved(by: Any, slope: State) -> State:
        return [each + by * change for each, change in zip(state, slope, strict=True)]

    for _ in range(steps):
        one = rate(state)
        two = rate(moved(step / 2, one))
        three = rate(moved(step / 2, two))
        four = rate(moved(step, three))
        change = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(one, two, three, four, strict=True)]
        state = moved(step, change)
    return state


def _geodesic(first: float, second: float, apart: float) -> float:
    """Return the distance in km of two places on the Earth's ellipsoid by Vincenty's formulae."""
    long, flattening = 6378.137, 1 / 298.257223563
    short = long * (1 - flattening)
    u, v = (math.atan((1 - flattening) * math.tan(math.radians(each))) for each in (first, second))
    length = angle = math.radians(apart)
    for _ in range(60):
        across = math.hypot(
            math.cos(v) * math.sin(angle), math.cos(u) * math.sin(v) - math.sin(u) * math.cos(v) * math.cos(angle)
        )
        along = math.sin(u) * math.sin(v) + math.cos(u) * math.cos(v) * math.cos(angle)
        arc = math.atan2(across, along)
        slant = math.cos(u) * math.cos(v) * math.sin(angle) / across
        square = 1 - slant**2
        middle = along - 2 * math.sin(u) * math.sin(v) / square
        c = flattening / 16 * square * (4 + flattening * (4 - 3 * square))
        angle = length + (1 - c) * flattening * slant * (arc + c * across * (middle + c * along * (2 * middle**2 - 1)))
    k = square * (long**2 / short**2 - 1)
    a = 1 + k / 16384 * (4096 + k * (-768 + k * (320 - 175 * k)))
    b = k / 1024 * (256 + k * (-128 + k * (74 - 47 * k)))
    inner = b / 6 * middle * (4 * across**2 - 3) * (4 * middle**2 - 3)
    shift = b * across * (middle + b / 4 * (along * (2 * middle**2 - 1) - inner))
    return short * a * (arc - shift)


def _thin_film(wavelength: Any, thickness: Any, film: Any, glass: Any, angle: Any) -> Any:
    """Return the share of light, polarised across the plane, that a coated glass reflects."""
    outside = np.cos(np.radians(angle))
    bent, deep = (np.sqrt(1 - (np.sin(np.radians(angle)) / index) ** 2) for index in (film, glass))
    front = (outside - film * bent) / (outside + film * bent)
    back = (film * bent - glass * deep) / (film * bent + glass * deep)
    turn = np.exp(4j * np.pi * film * thickness * bent / wavelength)
    return np.abs((front + back * turn) / (1 + front * back * turn)) ** 2


def _current_loop(radius: Any, current: Any, aside: Any, above: Any) -> Any:
    """Return the field along the axis of a loop in microtesla, beside its axis and above its plane."""
    near, far = (radius - aside) ** 2 + above**2, (radius + aside) ** 2 + above**2
    m = 4 * radius * aside / far
    inner = ellipk(m) + (radius**2 - aside**2 - above**2) / near * ellipe(m)
    return 0.2 * current / np.sqrt(far) * inner


def _prey(growth: Any, eaten: Any, gain: Any, death: Any, prey: Any, predators: Any, years: Any) -> Any:
    def rate(state: State) -> State:
        hares, lynxes = state
        return [growth * hares - eaten * hares * lynxes, gain * eaten * hares * lynxes - death * lynxes]

    return integrate(rate, [prey, predators], years, 2000)[0]


def _pendulum(length: Any, start: Any, damping: Any, seconds: Any) -> Any:
    def rate(state: State) -> State:
        return [state[1], -9.81 / length * np.sin(state[0]) - damping * state[1]]

    return np.degrees(integrate(rate, [np.radians(start), np.zeros_like(start)], seconds, 1000)[0])


def _van_der_pol(nonlinearity: Any, place: Any, speed: Any, time: Any) -> Any:
    def rate(state: State) -> State:
        return [state[1], nonlinearity * (1 - state[0] ** 2) * state[1] - state[0]]

    return integrate(rate, [place, speed], time, 2000)[0]


def _double_pendulum(first: Any, second: Any, length: Any, mass: Any) -> Any:
    """Return the angle in degrees of the lower of two rods after one second; the upper has length and mass one."""

    def rate(state: State) -> State:
        one, two, fast, slow = state
        between = one - two
        below = 2 + mass - mass * np.cos(2 * between)
        upper = (
            -9.81 * (2 + mass) * np.sin(one)
            - mass * 9.81 * np.sin(one - 2 * two)
            - 2 * np.sin(between) * mass * (slow**2 * length + fast**2 * np.cos(between))
        ) / below
        lower = (
            2
            * np.sin(between)
            * (fast**2 * (1 + mass) + 9.81 * (1 + mass) * np.cos(one) + slow**2 * length * mass * np.cos(between))
        ) / (length * below)
        return [fast, slow, upper, lower]

    still = np.zeros_like(first)
    return np.degrees(integrate(rate, [np.radians(first), np.radians(second), still, still], 1.0, 500)[1])


def _orbital_decay(height: Any, area: Any, activity: Any, days: Any) -> Any:
    """Return the height of a satellite in km that drag lowers, 120 km if it has burnt up."""

    def rate(state: State) -> State:
        above = np.maximum(state[0], 120.0)
        density = activity * 2.8e-12 * np.exp(-(above - 400) / 58.5)
        axis = 1000 * (6371 + above)
        fall = density * 2.2 * area * np.sqrt(3.986e14 * axis) * 86.4  # km a day
        return [np.where(state[0] > 120, -np.minimum(fall, 200.0), 0.0)]

    return np.maximum(integrate(rate, [height], days, 4000)[0], 120.0)


def _waiting(load: float, servers: float, minutes: float) -> float:
    """Return the mean time that calls wait, by Erlang's formula, for a whole number of servers that are busy so often."""
    count = int(servers)
    offered = load * count
    blocked = 1.0
    for each in range(1, count + 1):
        blocked = offered * blocked / (each + offered * blocked)
    waits = blocked / (1 - load * (1 - blocked))
    return waits * minutes / (count * (1 - load))


def _buckling(length: Any, radius: Any, thickness: Any, modulus: Any, strength: Any) -> Any:
    """Return the load in kN that a tube carries: by Euler if it is slender, else by Johnson."""
    inside = radius - thickness
    area = np.pi * (radius**2 - inside**2)
    slenderness = length / (np.sqrt(radius**2 + inside**2) / 2)
    limit = np.sqrt(2 * np.pi**2 * modulus / strength)
    euler = np.pi**2 * modulus / slenderness**2
    johnson = strength * (1 - strength * slenderness**2 / (4 * np.pi**2 * modulus))
    return area * np.where(slenderness > limit, euler, johnson) / 1000


def _slab(thickness: Any, conductivity: Any, capacity: Any, transfer: Any, outside: Any, minutes: Any) -> Any:
    """Return the temperature in the middle of a plate of 20 degrees in air of another, by 30 terms of its series."""
    half = thickness / 2
    biot, fourier = transfer * half / conductivity, conductivity / capacity * 60 * minutes / half**2
    start = np.arange(30)[:, None] * np.pi
    roots = bisect(lambda x: x * np.sin(x - start) - biot * np.cos(x - start), start + 0 * biot, start + np.pi / 2)
    terms = 4 * np.sin(roots) / (2 * roots + np.sin(2 * roots)) * np.exp(-(roots**2) * fourier)
    return outside + (20 - outside) * terms.sum(axis=0)


def _well(pumped: Any, transmissivity: Any, storage: Any, distance: Any, days: Any) -> Any:
    """Return by how many metres a well lowers the water, after Theis."""
    return pumped / (4 * np.pi * transmissivity) * exp1(distance**2 * storage / (4 * transmissivity * days))


def _plume(emission: Any, wind: Any, chimney: Any, downwind: Any, aside: Any) -> Any:
    """Return the concentration at the ground in micrograms for each cubic metre, in neutral air above open country."""
    wide, high = 0.08 * downwind / np.sqrt(1 + 1e-4 * downwind), 0.06 * downwind / np.sqrt(1 + 1.5e-3 * downwind)
    shape = np.exp(-((aside / wide) ** 2) / 2 - (chimney / high) ** 2 / 2)
    return 1e6 * emission / (np.pi * wind * wide * high) * shape


def _view_factor(width: Any, depth: Any, distance: Any) -> Any:
    """Return the share of the radiation of a plate that meets an equal one opposite."""
    x, y = width / distance, depth / distance
    a, b = np.sqrt(1 + x**2), np.sqrt(1 + y**2)
    inner = np.log(np.sqrt(a**2 * b**2 / (1 + x**2 + y**2))) - x * np.arctan(x) - y * np.arctan(y)
    return 2 / (np.pi * x * y) * (inner + x * b * np.arctan(x / b) + y * a * np.arctan(y / a))


def _american_put(price: Any, strike: Any, years: Any, rate: Any, spread: Any) -> Any:
    """Return the value of the right to sell at any time, by a tree of 200 steps."""
    step = years / 200
    up = np.exp(spread * np.sqrt(step))
    chance = (np.exp(rate * step) - 1 / up) / (up - 1 / up)
    worth = np.maximum(strike - price * up ** np.arange(-200, 201, 2)[:, None], 0)
    for level in range(199, -1, -1):
        held = np.exp(-rate * step) * (chance * worth[1:] + (1 - chance) * worth[:-1])
        worth = np.maximum(held, strike - price * up ** np.arange(-level, level + 1, 2)[:, None])
    return worth[0]


def _colour_difference(*colours: np.ndarray) -> np.ndarray:
    """Return the distance of two colours of a screen in the space of CIE's L*a*b*."""

    def to_lab(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
        share = np.array([red, green, blue]) / 255
        linear = np.where(share > 0.04045, ((share + 0.055) / 1.055) ** 2.4, share / 12.92)
        mixing = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        light = mixing @ linear / np.array([[0.9505], [1.0], [1.089]])
        f = np.where(light > 0.008856, np.cbrt(light), 7.787 * light + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    return np.asarray(np.linalg.norm(to_lab(*colours[:3]) - to_lab(*colours[3:]), axis=0))


def _evaporation(coldest: Any, wider: Any, humidity: Any, wind: Any, radiation: Any, height: Any) -> Any:
    """Return the water that grass evaporates in mm a day, after Penman, Monteith and the FAO."""
    warmest = coldest + wider
    mean = (coldest + warmest) / 2

    def saturated(temperature: Any) -> Any:
        return 0.6108 * np.exp(17.27 * temperature / (temperature + 237.3))

    full = (saturated(coldest) + saturated(warmest)) / 2
    vapour = humidity / 100 * full
    slope = 4098 * saturated(mean) / (mean + 237.3) ** 2
    psychrometric = 0.000665 * 101.3 * ((293 - 0.0065 * height) / 293) ** 5.26
    emitted = 4.903e-9 * ((coldest + 273.16) ** 4 + (warmest + 273.16) ** 4) / 2
    net = 0.77 * radiation - emitted * (0.34 - 0.14 * np.sqrt(vapour)) * 0.6
    dry = 900 / (mean + 273) * wind * (full - vapour)
    return (0.408 * slope * net + psychrometric * dry) / (slope + psychrometric * (1 + 0.34 * wind))


def _model_rocket(mass: Any, fuel: Any, thrust: Any, burning: Any, diameter: Any, drag: Any) -> Any:
    """Return how high a small rocket flies, in steps of 10 ms for half a minute."""
    height, speed, highest = np.zeros_like(mass), np.zeros_like(mass), np.zeros_like(mass)
    for step in range(3000):
        burnt = np.minimum(step * 0.01 / burning, 1)
        now = mass + fuel * (1 - burnt)
        push = np.where(burnt < 1, thrust, 0.0)
        air = 0.5 * 1.225 * np.exp(-height / 8500) * drag * np.pi * diameter**2 / 4 * speed * np.abs(speed)
        speed = np.where((height <= 0) & (push < now * 9.81), 0.0, speed + 0.01 * ((push - air) / now - 9.81))
        height = np.maximum(height + 0.01 * speed, 0.0)
        highest = np.maximum(highest, height)
    return highest


def _quarter_mile(power: Any, mass: Any, drag: Any, grip: Any) -> Any:
    """Return the seconds that a car takes for 402 m from rest; its tyres limit it all the way, so that power does not matter."""

    def rate(state: State) -> State:
        speed = np.maximum(state[0], 0.1)  # by distance
        force = np.minimum(grip * 9.81 * mass, 800 * power / speed) - 0.6 * drag * speed**2 - 0.012 * mass * 9.81
        return [force / mass / speed, 1 / speed]

    return integrate(rate, [np.full_like(mass, 0.5), np.zeros_like(mass)], 402.0, 4000)[1]


def _compressibility(temperature: float, pressure: float, critical: float, highest: float, acentric: float) -> float:
    """Return the compressibility of a gas by Peng and Robinson's equation, the largest of its roots."""
    kappa = 0.37464 + 1.54226 * acentric - 0.26992 * acentric**2
    alpha = (1 + kappa * (1 - math.sqrt(temperature / critical))) ** 2
    a = 0.45724 * alpha * pressure / highest * (critical / temperature) ** 2
    b = 0.0778 * pressure / highest * critical / temperature
    roots = np.roots([1, b - 1, a - 3 * b**2 - 2 * b, b**3 + b**2 - a * b])
    return float(roots.real[np.abs(roots.imag) < 1e-8].max())


def _debye(temperature: float, debye: float) -> float:
    """Return the heat capacity of a crystal in J/mol/K."""
    end = debye / temperature
    area = quad(lambda x: x**4 * math.exp(-x) / math.expm1(-x) ** 2 if x > 0 else 0.0, 0, end)[0]
    return float(9 * 8.314 * area / end**3)


def _neuron(current: Any, sodium: Any, potassium: Any, leak: Any) -> Any:
    """Return the mean voltage of Hodgkin and Huxley's axon over 25 ms of a steady current."""
    v, m, h, n = (np.full_like(current, each) for each in (-65.0, 0.053, 0.596, 0.318))
    total = np.zeros_like(current)
    for _ in range(2500):
        opened = (0.1 * (v + 40) / -np.expm1(-(v + 40) / 10), 4 * np.exp(-(v + 65) / 18))
        blocked = (0.07 * np.exp(-(v + 65) / 20), 1 / (1 + np.exp(-(v + 35) / 10)))
        delayed = (0.01 * (v + 55) / -np.expm1(-(v + 55) / 10), 0.125 * np.exp(-(v + 65) / 80))
        flow = sodium * m**3 * h * (v - 50) + potassium * n**4 * (v + 77) + leak * (v + 54.4)
        v = v + 0.01 * (current - flow)
        m, h, n = (
            each + 0.01 * (up * (1 - each) - down * each)
            for each, (up, down) in zip((m, h, n), (opened, blocked, delayed), strict=True)
        )
        total += v
    return total / 2500


def bisect(function: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Return where an increasing function becomes positive."""
    for _ in range(60):
        middle = (low + high) / 2
        below = function(middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _channel(flow: Any, slope: Any, width: Any, side: Any, roughness: Any) -> Any:
    """Return the depth of the water in a canal with sloping banks, after Manning."""

    def excess(depth: Any) -> Any:
        area, wetted = depth * (width + side * depth), width + 2 * depth * np.sqrt(1 + side**2)
        return area ** (5 / 3) / wetted ** (2 / 3) * np.sqrt(slope) / roughness - flow

    return bisect(excess, np.full_like(flow, 1e-6), np.full_like(flow, 60.0))


def _filter(resistance: Any, inductance: Any, capacity: Any, logarithm: Any) -> Any:
    """Return in decibels how much of a voltage is left over the capacitor of a circuit with a coil."""
    w = 2 * np.pi * 10**logarithm
    return -20 * np.log10(np.hypot(1 - w**2 * inductance * capacity, w * resistance * capacity))


def _cyclist(power: Any, slope: Any, wind: Any, mass: Any, area: Any) -> Any:
    """Return the speed in km/h at which a cyclist's power is used up."""

    def excess(speed: Any) -> Any:
        against = speed + wind
        resistance = 0.6 * area * against * np.abs(against) + 9.81 * mass * (0.005 + slope / 100)
        return resistance * speed - 0.97 * power

    return 3.6 * bisect(excess, np.zeros_like(power), np.full_like(power, 60.0))


def _drug(dose: Any, absorbed: Any, removed: Any, volume: Any, out: Any, back: Any, hours: Any) -> Any:
    """Return the concentration in the blood after a tablet, which also goes into the tissue and back."""

    def rate(state: State) -> State:
        gut, blood, tissue = state
        taken = absorbed * gut
        return [-taken, taken - (removed + out) * blood + back * tissue, out * blood - back * tissue]

    nothing = np.zeros_like(dose)
    return integrate(rate, [dose, nothing, nothing], hours, 1000)[1] / volume


def _warming(doubled: Any, sensitivity: Any, deep: Any, exchange: Any, aerosol: Any, years: Any) -> Any:
    """Return the warming of the surface above a deep ocean if carbon dioxide grows steadily for 70 years, then no more."""
    surface, below, step = np.zeros_like(doubled), np.zeros_like(doubled), years / 1000
    for each in range(1000):
        forcing = doubled * np.minimum(each * step / 70, 1) + aerosol
        given = exchange * (surface - below)
        surface = surface + step * (forcing - doubled / sensitivity * surface - given) / 8
        below = below + step * given / deep
    return surface


FRESH_SIMULATORS: Simulators = {
    "geodesic": (by_row(_geodesic), {"first": (5, 70), "second": (-60, 60), "apart": (1, 140)}),
    "thin_film": (
        by_column(_thin_film),
        {"wavelength": (400, 700), "thickness": (50, 400), "film": (1.3, 2.4), "glass": (1.45, 1.9), "angle": (0, 70)},
    ),
    "current_loop": (
        by_column(_current_loop),
        {"radius": (0.05, 0.5), "current": (1, 20), "aside": (0.01, 0.6), "above": (0.05, 0.6)},
    ),
    "prey": (
        by_column(_prey),
        {
            "growth": (0.4, 1.2),
            "eaten": (0.02, 0.08),
            "gain": (0.3, 0.8),
            "death": (0.4, 1.2),
            "prey": (10, 60),
            "predators": (5, 30),
            "years": (0.5, 10),
        },
    ),
    "pendulum": (
        by_column(_pendulum),
        {"length": (0.2, 2), "start": (5, 170), "damping": (0, 0.6), "seconds": (0.5, 6)},
    ),
    "van_der_pol": (
        by_column(_van_der_pol),
        {"nonlinearity": (0.1, 4), "place": (-3, 3), "speed": (-3, 3), "time": (0, 10)},
    ),
    "double_pendulum": (
        by_column(_double_pendulum),
        {"first": (-90, 90), "second": (-90, 90), "length": (0.5, 2), "mass": (0.3, 3)},
    ),
    "orbital_decay": (
        by_column(_orbital_decay),
        {"height": (250, 550), "area": (0.002, 0.03), "activity": (0.3, 3), "days": (5, 120)},
    ),
    "waiting": (by_row(_waiting), {"load": (0.3, 0.97), "servers": (1, 21), "minutes": (1, 15)}),
    "buckling": (
        by_column(_buckling),
        {
            "length": (500, 5000),
            "radius": (20, 80),
            "thickness": (2, 10),
            "modulus": (7e4, 2.1e5),
            "strength": (150, 500),
        },
    ),
    "slab": (
        by_column(_slab),
        {
            "thickness": (0.02, 0.2),
            "conductivity": (0.2, 3),
            "capacity": (1e6, 3e6),
            "transfer": (5, 100),
            "outside": (-20, 200),
            "minutes": (5, 120),
        },
    ),
    "well": (
        by_column(_well),
        {
            "pumped": (100, 3000),
            "transmissivity": (20, 1000),
            "storage": (1e-4, 0.2),
            "distance": (5, 300),
            "days": (0.1, 60),
        },
    ),
    "plume": (
        by_column(_plume),
        {"emission": (1, 50), "wind": (1, 12), "chimney": (10, 100), "downwind": (300, 8000), "aside": (0, 300)},
    ),
    "view_factor": (by_column(_view_factor), {"width": (0.1, 3), "depth": (0.1, 3), "distance": (0.1, 3)}),
    "american_put": (
        by_column(_american_put),
        {"price": (60, 140), "strike": (70, 130), "years": (0.1, 2), "rate": (0.005, 0.08), "spread": (0.1, 0.6)},
    ),
    "colour_difference": (
        by_column(_colour_difference),
        {f"{colour} {number}": (0, 255) for number in (1, 2) for colour in ("red", "green", "blue")},
    ),
    "evaporation": (
        by_column(_evaporation),
        {
            "coldest": (0, 25),
            "wider": (3, 18),
            "humidity": (20, 95),
            "wind": (0.5, 8),
            "radiation": (5, 30),
            "height": (0, 2500),
        },
    ),
    "model_rocket": (
        by_column(_model_rocket),
        {
            "mass": (0.05, 0.4),
            "fuel": (0.005, 0.06),
            "thrust": (3, 20),
            "burning": (0.5, 3),
            "diameter": (0.02, 0.06),
            "drag": (0.3, 0.9),
        },
    ),
    "quarter_mile": (
        by_column(_quarter_mile),
        {"power": (5e4, 4e5), "mass": (800, 2400), "drag": (0.5, 1.1), "grip": (0.3, 1.1)},
    ),
    "compressibility": (
        by_row(_compressibility),
        {
            "temperature": (250, 600),
            "pressure": (1e5, 1.5e7),
            "critical": (150, 450),
            "highest": (3e6, 8e6),
            "acentric": (0, 0.4),
        },
    ),
    "debye": (by_row(_debye), {"temperature": (5, 400), "debye": (80, 1000)}),
    "neuron": (
        by_column(_neuron),
        {"current": (0, 30), "sodium": (80, 160), "potassium": (20, 50), "leak": (0.1, 0.6)},
    ),
    "channel": (
        by_column(_channel),
        {
            "flow": (1, 100),
            "slope": (1e-4, 5e-3),
            "width": (1, 15),
            "side": (0, 3),
            "roughness": (0.012, 0.05),
        },
    ),
    "filter": (
        by_column(_filter),
        {"resistance": (5, 500), "inductance": (1e-3, 1e-1), "capacity": (1e-7, 1e-5), "logarithm": (1.5, 4)},
    ),
    "cyclist": (
        by_column(_cyclist),
        {"power": (80, 400), "slope": (-3, 10), "wind": (-6, 8), "mass": (60, 110), "area": (0.2, 0.5)},
    ),
    "drug": (
        by_column(_drug),
        {
            "dose": (50, 500),
            "absorbed": (0.3, 3),
            "removed": (0.05, 0.5),
            "volume": (10, 60),
            "out": (0.05, 1),
            "back": (0.05, 1),
            "hours": (0.5, 24),
        },
    ),
    "warming": (
        by_column(_warming),
        {
            "doubled": (3, 4.5),
            "sensitivity": (1.5, 6),
            "deep": (50, 200),
            "exchange": (0.3, 1.2),
            "aerosol": (-1.5, 0),
            "years": (10, 300),
        },
    ),
}
