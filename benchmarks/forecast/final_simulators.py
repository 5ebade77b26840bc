"""Still other functions without noise, for the final tasks: physics, engineering, biology, astronomy and finance.

Their inputs are uniform in ranges that are usual, set before anything was computed. Some count whole things, switch
something on and off, or reach a limit, and therefore have jumps, kinks or plateaus.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from benchmarks.forecast.fresh_simulators import State, bisect, integrate
from benchmarks.forecast.simulators import Simulators, by_column


def _daylight(latitude: Any, day: Any, height: Any) -> Any:
    """Return the hours from sunrise to sunset on a day of the year, seen from so many metres above the sea."""
    tilt = np.radians(23.44) * np.sin(2 * np.pi * (day - 81) / 365.25)
    below = np.radians(-0.83 - 0.0347 * np.sqrt(height))
    place = np.radians(latitude)
    cosine = (np.sin(below) - np.sin(place) * np.sin(tilt)) / (np.cos(place) * np.cos(tilt))
    return 24 / np.pi * np.arccos(np.clip(cosine, -1, 1))


def _luminosity(redshift: Any, matter: Any, dark: Any, hubble: Any) -> Any:
    """Return the distance in megaparsecs by which a galaxy looks faint, in a universe that need not be flat."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    z = redshift * (nodes[:, None] + 1) / 2
    curved = 1 - matter - dark
    path = (weights[:, None] / np.sqrt(matter * (1 + z) ** 3 + curved * (1 + z) ** 2 + dark)).sum(axis=0) * redshift / 2
    root = np.sqrt(np.maximum(np.abs(curved), 1e-12))
    across = np.where(curved > 0, np.sinh(root * path), np.sin(root * path)) / root
    return (1 + redshift) * 299_792.458 / hubble * across


def _transit(planet: Any, axis: Any, impact: Any, hours: Any, period: Any) -> Any:
    """Return the light in parts per million that a planet takes from its star, so long after the middle of a transit."""
    along = axis * np.sin(2 * np.pi * hours / (24 * period))
    apart = np.hypot(along, impact)
    near = np.clip((apart**2 + planet**2 - 1) / (2 * apart * planet), -1, 1)
    far = np.clip((apart**2 + 1 - planet**2) / (2 * apart), -1, 1)
    kite = np.maximum((1 + planet - apart) * (apart + planet - 1) * (apart - planet + 1) * (apart + planet + 1), 0)
    partly = planet**2 * np.arccos(near) + np.arccos(far) - np.sqrt(kite) / 2
    covered = np.where(apart >= 1 + planet, 0, np.where(apart <= 1 - planet, np.pi * planet**2, partly))
    return 1e6 * covered / np.pi


def _bond(price: Any, coupon: Any, years: Any) -> Any:
    """Return the yield in percent of a bond that pays its coupon in halves, by the number of payments that remain."""
    count = np.ceil(2 * years)
    first = years - (count - 1) / 2

    def missing(rate: Any) -> Any:
        worth = 0.0
        for each in range(60):
            paid = np.where(each < count, coupon / 2, 0) + np.where(each == count - 1, 100, 0)
            worth = worth + paid * (1 + rate / 200) ** (-2 * (first + each / 2))
        return price + coupon / 2 * (1 - 2 * first) - worth

    return bisect(missing, np.full_like(price, -20.0), np.full_like(price, 80.0))


def _barrier(price: Any, strike: Any, barrier: Any, years: Any, rate: Any, spread: Any) -> Any:
    """Return the value of the right to buy that is lost as soon as the price falls to a barrier."""
    wide = spread * np.sqrt(years)
    power = rate / spread**2 + 0.5

    def call(at: Any, above: Any) -> Any:
        place = np.log(at / above) / wide + power * wide
        return at * ndtr(place) - strike * np.exp(-rate * years) * ndtr(place - wide)

    least = np.maximum(strike, barrier)
    mirrored = (barrier / price) ** (2 * power - 2) * call(barrier**2 / price, least)
    return np.where(price > barrier, np.maximum(call(price, least) - mirrored, 0), 0)


def _mortgage(loan: Any, rate: Any, share: Any, extra: Any, raised: Any) -> Any:
    """Return the interest on a loan over at most 40 years; after ten years its rate changes, but not the instalment."""
    monthly = loan * (rate + share) / 1200
    owed, interest = loan.copy(), np.zeros_like(loan)
    for month in range(480):
        due = owed * np.maximum(rate + np.where(month < 120, 0, raised), 0) / 1200
        interest += due
        owed = np.maximum(owed + due - monthly - np.where(month % 12 == 11, extra, 0), 0)
    return interest


def _tax(wage: Any, rent: Any, children: Any, expenses: Any) -> Any:
    """Return the tax and contributions of a household: brackets, an allowance that fades, and a ceiling."""
    kids = np.floor(children)
    allowance = np.maximum(12_000 + 4_000 * kids - 0.5 * np.maximum(wage + rent - 90_000, 0), 0)
    income = np.maximum(wage + rent - np.maximum(expenses, 1_200) - allowance, 0)
    limits, rates = (0, 15_000, 40_000, 80_000, 150_000), (0.14, 0.1, 0.08, 0.08, 0.05)
    owed = sum(step * np.maximum(income - limit, 0) for limit, step in zip(limits, rates, strict=True))
    credit = np.where(wage + rent < 45_000, 900 * kids, 0)
    return np.maximum(owed - credit, 0) + 0.19 * np.minimum(wage, 85_000)


def _grating(slits: Any, spacing: Any, width: Any, wavelength: Any, angle: Any) -> Any:
    """Return the brightness behind a whole number of slits, relative to that straight ahead, in lengths of micrometres."""
    sine = np.sin(np.radians(angle))
    half = np.pi * spacing * sine / wavelength
    count = np.floor(slits)
    between = np.where(np.abs(np.sin(half)) < 1e-9, 1.0, np.sin(count * half) / (count * np.sin(half)))
    return (np.sinc(width * spacing * sine / wavelength) * between) ** 2


def _tunnelling(energy: Any, barrier: Any, width: Any, mass: Any) -> Any:
    """Return the chance that a particle passes a barrier, in electronvolts, nanometres and masses of the electron."""
    inside = np.sqrt((2 * mass * 13.1234 * (energy - barrier)).astype(complex))
    outside = 4 * energy * (energy - barrier)
    outside = np.where(np.abs(outside) < 1e-9, 1e-9, outside)
    return 1 / (1 + barrier**2 * (np.sin(inside * width) ** 2).real / outside)


def _planck_band(temperature: Any, start: Any, width: Any) -> Any:
    """Return the share of a black body's radiation in a band of wavelengths in micrometres."""

    def above(wavelength: Any) -> Any:
        x = 14_387.77 / (wavelength * temperature)
        terms = (np.exp(-n * x) / n * (x**3 + 3 * x**2 / n + 6 * x / n**2 + 6 / n**3) for n in range(1, 80))
        return 15 / np.pi**4 * sum(terms)

    return above(start + width) - above(start)


def _titration(acid: Any, strength: Any, second: Any, base: Any, volume: Any) -> Any:
    """Return the pH of 100 ml of an acid with two protons after so many ml of a strong base."""
    total = 100 + volume
    one, two = 10**-strength, 10 ** -(strength + second)

    def charge(ph: Any) -> Any:
        h = 10**-ph
        below = h**2 + one * h + one * two
        bound = acid * 100 / total * (one * h + 2 * one * two) / below
        return bound + 1e-14 / h - h - base * volume / total

    return bisect(charge, np.full_like(acid, -1.0), np.full_like(acid, 15.0))


def _saturated(temperature: Any) -> Any:
    """Return the pressure of vapour in hPa above water."""
    return 6.112 * np.exp(17.62 * temperature / (243.12 + temperature))


def _wet_bulb(temperature: Any, humidity: Any, pressure: Any) -> Any:
    """Return the temperature of a wet thermometer in the wind, which has ice on it below zero."""
    vapour = humidity / 100 * _saturated(temperature)

    def excess(wet: Any) -> Any:
        constant = np.where(wet < 0, 5.82e-4, 6.6e-4 * (1 + 0.00115 * wet))
        return _saturated(wet) - constant * pressure * (temperature - wet) - vapour

    return bisect(excess, np.full_like(temperature, -60.0), temperature)


def _felt(temperature: Any, humidity: Any, wind: Any) -> Any:
    """Return the temperature that weather services say one feels: by wind if it is cold, by humidity if it is hot."""
    t, r = 1.8 * temperature + 32, humidity
    simple = 0.5 * (t + 61 + 1.2 * (t - 68) + 0.094 * r)
    full = -42.379 + 2.04901523 * t + 10.14333127 * r - 0.22475541 * t * r - 6.83783e-3 * t**2 - 5.481717e-2 * r**2
    full = full + 1.22874e-3 * t**2 * r + 8.5282e-4 * t * r**2 - 1.99e-6 * t**2 * r**2
    dry = (13 - r) / 4 * np.sqrt(np.maximum(17 - np.abs(t - 95), 0) / 17)
    damp = (r - 85) / 10 * (87 - t) / 5
    full = full - np.where((r < 13) & (t > 80) & (t < 112), dry, 0) + np.where((r > 85) & (t > 80) & (t < 87), damp, 0)
    hot = ((simple + t) / 2 >= 80) * (full - simple) + simple
    chill = 13.12 + 0.6215 * temperature + (0.3965 * temperature - 11.37) * wind**0.16
    mild = np.where(temperature >= 20, (hot - 32) / 1.8, temperature)
    return np.where((temperature <= 10) & (wind > 4.8), chill, mild)


def _beam(length: Any, load: Any, place: Any, point: Any, weight: Any, stiffness: Any) -> Any:
    """Return how many mm a beam on two supports bends at one point under its weight and a load at another."""
    x, a = point * length, place * length
    left, right = np.minimum(x, a), np.maximum(x, a)
    one = load * left * (length - right) * (2 * length * right - left**2 - right**2) / (6 * length)
    all_along = weight * x * (length**3 - 2 * length * x**2 + x**3) / 24
    return (one + all_along) / stiffness


def _footing(cohesion: Any, friction: Any, weight: Any, width: Any, depth: Any, water: Any) -> Any:
    """Return the pressure in kPa that the ground bears under a strip, after Meyerhof; water may stand in it."""
    angle = np.radians(friction)
    surcharge = np.exp(np.pi * np.tan(angle)) * np.tan(np.pi / 4 + angle / 2) ** 2
    sticking, sliding = (surcharge - 1) / np.tan(angle), (surcharge - 1) * np.tan(1.4 * angle)
    above = weight * depth - 9.81 * np.maximum(depth - water, 0)
    beside = weight - 9.81 * (1 - np.clip((water - depth) / width, 0, 1))
    return cohesion * sticking + above * surcharge + 0.5 * beside * width * sliding


def _bouncing(height: Any, kept: Any, seconds: Any, gravity: Any) -> Any:
    """Return how high a ball is that keeps a share of its speed whenever it meets the ground, for up to 60 times."""
    speed = np.sqrt(2 * gravity * height)
    since = seconds - speed / gravity
    now = height - 0.5 * gravity * seconds**2
    for _ in range(60):
        speed = speed * kept
        aloft = 2 * speed / gravity
        now = np.where(since > 0, np.where(since < aloft, speed * since - 0.5 * gravity * since**2, 0), now)
        since = since - aloft
    return np.maximum(now, 0)


def _lake(entry: Any, loss: Any, recycled: Any, steepness: Any, start: Any, years: Any) -> Any:
    """Return the phosphorus in a lake whose mud gives some back once there is enough, after Carpenter."""

    def rate(state: State) -> State:
        power = np.maximum(state[0], 0) ** steepness
        return [entry - loss * state[0] + recycled * power / (1 + power)]

    return integrate(rate, [start], years, 800)[0]


def _fishery(growth: Any, capacity: Any, catch: Any, threshold: Any, start: Any, years: Any) -> Any:
    """Return all fish caught in whole years if a share is caught whenever there are more than a threshold."""
    stock, caught = start * capacity, np.zeros_like(start)
    for year in range(60):
        taken = np.where((stock > threshold * capacity) & (year < np.floor(years)), catch * stock, 0)
        caught += taken
        stock = stock - taken
        stock = np.maximum(stock * np.exp(growth * (1 - stock / capacity)), 0)
    return caught


def _photosynthesis(light: Any, carbon: Any, temperature: Any, enzyme: Any, electrons: Any) -> Any:
    """Return what a leaf binds, limited by its enzyme or by light, after Farquhar."""
    warmth = temperature - 25

    def warmed(value: Any, energy: float) -> Any:
        return value * np.exp(energy * warmth / (298.15 * 8.314e-3 * (temperature + 273.15)))

    point, half = warmed(42.75, 37.83), warmed(404.9, 79.43) * (1 + 210 / warmed(278.4, 36.38))
    most = warmed(electrons, 43.9) / (
        1 + np.exp((0.65 * (temperature + 273.15) - 200) / 8.314e-3 / (temperature + 273.15))
    )
    used = 0.3 * light + most
    flow = (used - np.sqrt(used**2 - 4 * 0.9 * 0.3 * light * most)) / 1.8
    by_enzyme = warmed(enzyme, 65.33) * (carbon - point) / (carbon + half)
    by_light = flow / 4 * (carbon - point) / (carbon + 2 * point)
    return np.minimum(by_enzyme, by_light) - warmed(0.015 * enzyme, 46.39)


def _glucose(dose: Any, effect: Any, sensitivity: Any, decay: Any, release: Any, minutes: Any) -> Any:
    """Return the sugar in the blood after an injection, by Bergman's minimal model with insulin above a threshold."""

    def rate(state: State) -> State:
        sugar, remote, insulin, time = state
        given = release * np.maximum(sugar - 90, 0) * time
        return [
            -(effect + remote) * sugar + effect * 92,
            -0.025 * remote + sensitivity * 1e-5 * (insulin - 10),
            given - decay * (insulin - 10),
            np.ones_like(time),
        ]

    still = np.zeros_like(dose)
    return integrate(rate, [92 + dose, still, still + 10, still], minutes, 1200)[0]


def _gene_switch(first: Any, second: Any, steepness: Any, start: Any, other: Any, time: Any) -> Any:
    """Return how much there is of one of two proteins that suppress each other."""

    def rate(state: State) -> State:
        u, v = state
        return [first / (1 + v**steepness) - u, second / (1 + u**steepness) - v]

    return integrate(rate, [start, other], time, 800)[0]


def _wildfire(load: Any, depth: Any, fineness: Any, moisture: Any, wind: Any, slope: Any) -> Any:
    """Return how fast a fire spreads in feet a minute, after Rothermel; too moist fuel does not burn."""
    bulk = load / depth
    packed = bulk / 32
    best = 3.348 * fineness**-0.8189
    ratio = packed / best
    damp = np.clip(moisture / 0.3, 0, 1)
    damping = np.maximum(1 - 2.59 * damp + 5.11 * damp**2 - 3.52 * damp**3, 0)
    fastest = fineness**1.5 / (495 + 0.0594 * fineness**1.5)
    bend = 133 * fineness**-0.7913
    intensity = fastest * (ratio * np.exp(1 - ratio)) ** bend * load * 0.9445 * 8000 * damping * 0.4174
    flux = np.exp((0.792 + 0.681 * np.sqrt(fineness)) * (packed + 0.1)) / (192 + 0.2595 * fineness)
    b, c, e = 0.02526 * fineness**0.54, 7.47 * np.exp(-0.133 * fineness**0.55), 0.715 * np.exp(-3.59e-4 * fineness)
    blown = c * np.minimum(88 * wind, 0.9 * intensity) ** b * ratio**-e
    uphill = 5.275 * packed**-0.3 * np.tan(np.radians(slope)) ** 2
    return intensity * flux * (1 + blown + uphill) / (bulk * np.exp(-138 / fineness) * (250 + 1116 * moisture))


def _noise_wall(source: Any, listener: Any, wall: Any, ear: Any, frequency: Any) -> Any:
    """Return by how many decibels a wall beside a road dampens its noise, after Maekawa and Kurze, at most 24."""
    direct = np.hypot(source + listener, ear - 0.5)
    over = np.hypot(source, wall - 0.5) + np.hypot(listener, wall - ear)
    crossing = 0.5 + (ear - 0.5) * source / (source + listener)
    number = np.where(wall > crossing, 1, -1) * 2 * (over - direct) * frequency / 343
    root = np.sqrt(2 * np.pi * np.abs(number)) + 1e-9
    shadow = 5 + 20 * np.log10(root / np.tanh(root))
    lit = 5 + 20 * np.log10(root / np.tan(np.minimum(root, 1.5)))
    return np.clip(np.where(number >= 0, shadow, np.where(number > -0.19, lit, 0)), 0, 24)


def _transmission_line(length: Any, frequency: Any, resistance: Any, reactance: Any, line: Any, loss: Any) -> Any:
    """Return the size of the impedance in ohms that a cable with something at its end has."""
    end = resistance + 1j * reactance
    turn = np.tanh((loss / 8.686 + 2j * np.pi * frequency / (0.66 * 299.792458)) * length)
    return np.abs(line * (end + line * turn) / (line + end * turn))


def _rectifier(capacity: Any, load: Any, inner: Any, frequency: Any, voltage: Any) -> Any:
    """Return the smallest voltage behind four diodes and a capacitor in the last of 20 periods."""
    step = 1 / (frequency * 400)
    held, least = np.zeros_like(load), np.full_like(load, np.inf)
    for each in range(8000):
        given = np.abs(voltage * np.sqrt(2) * np.sin(2 * np.pi * each / 400)) - 1.4
        flows = (given > held) / inner
        held = (held + step * flows * given / capacity) / (1 + step * (1 / load + flows) / capacity)
        least = np.where(each >= 7600, np.minimum(least, held), least)
    return least


def _thermostat(outside: Any, loss: Any, capacity: Any, power: Any, wanted: Any, swing: Any) -> Any:
    """Return the kWh that a heater uses in a day, which goes on and off as a room gets too cold or too warm."""
    room, on, used = np.full_like(outside, 17.0), np.zeros_like(outside), np.zeros_like(outside)
    for minute in range(1440):
        aim = wanted - np.where((minute < 360) | (minute >= 1320), 3, 0)
        on = np.where(room < aim - swing, 1.0, np.where(room > aim + swing, 0.0, on))
        air = outside - 4 * np.cos(2 * np.pi * (minute - 120) / 1440)
        room = room + 60 * (1000 * power * on - loss * (room - air)) / (1e6 * capacity)
        used += power * on / 60
    return used


def _inventory(order: Any, level: Any, delay: Any, demand: Any, season: Any, shortage: Any) -> Any:
    """Return what a shop's stock costs a day, over two years, if it orders a lot whenever there is too little."""
    stock, coming, cost = level + order / 2, np.zeros((40, len(order))), np.zeros_like(order)
    days, places = np.floor(delay).astype(int), np.arange(len(order))
    for day in range(730):
        stock = stock + coming[day % 40]
        coming[day % 40] = 0
        stock = stock - demand * (1 + season * np.sin(2 * np.pi * day / 365) + 0.3 * (day % 7 > 4))
        asked = stock + coming.sum(axis=0) < level
        coming[(day + days) % 40, places] += np.where(asked, order, 0)
        cost += 40 * asked + 0.05 * np.maximum(stock, 0) + shortage * np.maximum(-stock, 0)
        stock = np.maximum(stock, 0)
    return cost / 730


def _oblique_shock(mach: Any, wedge: Any, gamma: Any) -> Any:
    """Return the ratio of pressures across the shock at a wedge, that of a normal shock if it is detached."""
    angles = np.linspace(0, np.pi / 2, 2001)[1:-1, None]
    inner = (mach * np.sin(angles)) ** 2

    def turned(angle: Any) -> Any:
        across = (mach * np.sin(angle)) ** 2
        return np.arctan(2 / np.tan(angle) * (across - 1) / (mach**2 * (gamma + np.cos(2 * angle)) + 2))

    bends = np.where(inner > 1, turned(angles), 0)
    steepest = angles[bends.argmax(axis=0), 0]
    wanted = np.radians(wedge)
    weak = bisect(lambda angle: turned(angle) - wanted, np.arcsin(1 / mach), steepest)
    across = np.where(bends.max(axis=0) > wanted, (mach * np.sin(weak)) ** 2, mach**2)
    return 1 + 2 * gamma / (gamma + 1) * (across - 1)


def _transfer(inner: Any, outer: Any, tilt: Any) -> Any:
    """Return the km/s for going from one orbit of the Earth to another in a tilted plane, by two or by three burns."""
    low, high = 6378 + inner, 6378 + outer
    angle = np.radians(tilt)

    def speed(at: Any, axis: Any) -> Any:
        return np.sqrt(398_600.4 * (2 / at - 1 / axis))

    def turned(before: Any, after: Any) -> Any:
        return np.sqrt(before**2 + after**2 - 2 * before * after * np.cos(angle))

    middle, far = (low + high) / 2, 2 * np.maximum(low, high)
    two = np.abs(speed(low, middle) - speed(low, low)) + turned(speed(high, middle), speed(high, high))
    out, back = (low + far) / 2, (high + far) / 2
    three = speed(low, out) - speed(low, low) + turned(speed(far, out), speed(far, back))
    three = three + speed(high, back) - speed(high, high)
    return np.minimum(two, three)


def _distillation(volatility: Any, feed: Any, top: Any, bottom: Any, reflux: Any, liquid: Any) -> Any:
    """Return the number of stages of a column, a part of the last one counted as such, after McCabe and Thiele."""

    def pinch(x: Any) -> Any:
        return (liquid - 1) * volatility * x / (1 + (volatility - 1) * x) + feed - liquid * x

    meets = bisect(lambda x: -pinch(x), np.zeros_like(feed), np.ones_like(feed))
    rich = volatility * meets / (1 + (volatility - 1) * meets)
    least = (top - rich) / (rich - meets)
    ratio = reflux * np.maximum(least, 0.05)
    joint = (feed * (ratio + 1) + top * (liquid - 1)) / (ratio + liquid)
    height = (ratio * joint + top) / (ratio + 1)
    y, count = top.copy(), np.zeros_like(top)
    for _ in range(80):
        x = y / (volatility - (volatility - 1) * y)
        count += np.where(x > bottom, 1, 0)
        upper = (ratio * x + top) / (ratio + 1)
        lower = bottom + (height - bottom) / (joint - bottom) * (x - bottom)
        y = np.where(x > bottom, np.clip(np.where(x > joint, upper, lower), bottom, top), y)
    return count


FINAL_SIMULATORS: Simulators = {
    "daylight": (by_column(_daylight), {"latitude": (-80, 80), "day": (1, 366), "height": (0, 1000)}),
    "luminosity": (
        by_column(_luminosity),
        {"redshift": (0.01, 3), "matter": (0.1, 0.6), "dark": (0, 0.9), "hubble": (60, 80)},
    ),
    "transit": (
        by_column(_transit),
        {"planet": (0.02, 0.2), "axis": (3, 20), "impact": (0, 1.1), "hours": (-4, 4), "period": (1, 20)},
    ),
    "bond": (by_column(_bond), {"price": (70, 130), "coupon": (0, 10), "years": (0.5, 30)}),
    "barrier": (
        by_column(_barrier),
        {
            "price": (60, 140),
            "strike": (70, 130),
            "barrier": (50, 110),
            "years": (0.1, 2),
            "rate": (0, 0.08),
            "spread": (0.1, 0.6),
        },
    ),
    "mortgage": (
        by_column(_mortgage),
        {"loan": (5e4, 6e5), "rate": (0.5, 7), "share": (1, 5), "extra": (0, 6000), "raised": (-2, 4)},
    ),
    "tax": (
        by_column(_tax),
        {"wage": (0, 200_000), "rent": (-5_000, 40_000), "children": (0, 5), "expenses": (0, 15_000)},
    ),
    "grating": (
        by_column(_grating),
        {"slits": (1, 7), "spacing": (1, 6), "width": (0.1, 0.9), "wavelength": (0.4, 0.7), "angle": (0, 20)},
    ),
    "tunnelling": (
        by_column(_tunnelling),
        {"energy": (0.1, 4), "barrier": (0.2, 3), "width": (0.1, 1.5), "mass": (0.07, 1)},
    ),
    "planck_band": (by_column(_planck_band), {"temperature": (300, 6000), "start": (0.3, 8), "width": (0.1, 6)}),
    "titration": (
        by_column(_titration),
        {"acid": (0.02, 0.2), "strength": (1.5, 6), "second": (1, 6), "base": (0.05, 0.3), "volume": (0, 150)},
    ),
    "wet_bulb": (
        by_column(_wet_bulb),
        {"temperature": (-10, 45), "humidity": (5, 100), "pressure": (700, 1040)},
    ),
    "felt": (by_column(_felt), {"temperature": (-20, 42), "humidity": (5, 100), "wind": (0, 60)}),
    "beam": (
        by_column(_beam),
        {
            "length": (2, 12),
            "load": (0, 50),
            "place": (0.05, 0.95),
            "point": (0.05, 0.95),
            "weight": (0.2, 10),
            "stiffness": (2, 60),
        },
    ),
    "footing": (
        by_column(_footing),
        {
            "cohesion": (0, 60),
            "friction": (5, 38),
            "weight": (16, 21),
            "width": (0.6, 4),
            "depth": (0.3, 3),
            "water": (0, 6),
        },
    ),
    "bouncing": (
        by_column(_bouncing),
        {"height": (0.5, 5), "kept": (0.4, 0.95), "seconds": (0, 5), "gravity": (1.6, 12)},
    ),
    "lake": (
        by_column(_lake),
        {
            "entry": (0.02, 0.8),
            "loss": (0.3, 1),
            "recycled": (0.3, 1.5),
            "steepness": (2, 10),
            "start": (0, 3),
            "years": (1, 40),
        },
    ),
    "fishery": (
        by_column(_fishery),
        {
            "growth": (0.2, 2.6),
            "capacity": (100, 1000),
            "catch": (0.05, 0.8),
            "threshold": (0, 0.8),
            "start": (0.1, 1),
            "years": (5, 40),
        },
    ),
    "photosynthesis": (
        by_column(_photosynthesis),
        {
            "light": (0, 2000),
            "carbon": (60, 1000),
            "temperature": (5, 42),
            "enzyme": (20, 140),
            "electrons": (40, 250),
        },
    ),
    "glucose": (
        by_column(_glucose),
        {
            "dose": (50, 350),
            "effect": (0.005, 0.05),
            "sensitivity": (0.2, 4),
            "decay": (0.1, 0.4),
            "release": (0.001, 0.01),
            "minutes": (5, 240),
        },
    ),
    "gene_switch": (
        by_column(_gene_switch),
        {
            "first": (1, 12),
            "second": (1, 12),
            "steepness": (1, 4),
            "start": (0, 6),
            "other": (0, 6),
            "time": (1, 25),
        },
    ),
    "wildfire": (
        by_column(_wildfire),
        {
            "load": (0.03, 0.6),
            "depth": (0.2, 5),
            "fineness": (800, 3000),
            "moisture": (0.02, 0.4),
            "wind": (0, 20),
            "slope": (0, 40),
        },
    ),
    "noise_wall": (
        by_column(_noise_wall),
        {"source": (3, 30), "listener": (5, 100), "wall": (0.5, 8), "ear": (1, 12), "frequency": (63, 4000)},
    ),
    "transmission_line": (
        by_column(_transmission_line),
        {
            "length": (0.5, 20),
            "frequency": (1, 60),
            "resistance": (5, 500),
            "reactance": (-200, 200),
            "line": (50, 300),
            "loss": (0.001, 0.2),
        },
    ),
    "rectifier": (
        by_column(_rectifier),
        {
            "capacity": (5e-5, 5e-3),
            "load": (10, 500),
            "inner": (0.2, 5),
            "frequency": (40, 400),
            "voltage": (5, 48),
        },
    ),
    "thermostat": (
        by_column(_thermostat),
        {
            "outside": (-15, 18),
            "loss": (40, 300),
            "capacity": (0.5, 10),
            "power": (1, 8),
            "wanted": (17, 24),
            "swing": (0.2, 2),
        },
    ),
    "inventory": (
        by_column(_inventory),
        {
            "order": (20, 300),
            "level": (5, 150),
            "delay": (1, 21),
            "demand": (2, 15),
            "season": (0, 0.8),
            "shortage": (0.5, 10),
        },
    ),
    "oblique_shock": (by_column(_oblique_shock), {"mach": (1.2, 6), "wedge": (0, 40), "gamma": (1.1, 1.67)}),
    "transfer": (by_column(_transfer), {"inner": (200, 2000), "outer": (2000, 120_000), "tilt": (0, 90)}),
    "distillation": (
        by_column(_distillation),
        {
            "volatility": (1.3, 5),
            "feed": (0.25, 0.7),
            "top": (0.85, 0.99),
            "bottom": (0.01, 0.15),
            "reflux": (1.1, 3),
            "liquid": (1.0, 1.5),
        },
    ),
}
