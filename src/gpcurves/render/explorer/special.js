// Special functions and quadrature, to about 1e-14.

/** Logarithm of the gamma function at a multiple of one half. @param {number} x */
export function logGammaHalf(x) {
  let total = Number.isInteger(x) ? 0 : 0.5 * Math.log(Math.PI); // Γ(1) = 1, Γ(1/2) = √π
  for (let y = Number.isInteger(x) ? 1 : 0.5; y < x - 0.25; y += 1) total += Math.log(y);
  return total;
}

/** Complementary error function. @param {number} x @returns {number} */
export function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2) {
    // Kummer's series of erf has positive terms only; at 2 its complement still has 14 digits
    let term = x, sum = x;
    for (let k = 1; term > 1e-17 * sum; k++) {
      term *= (2 * x * x) / (2 * k + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  if (x > 27) return 0;
  // the continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + ...))), evaluated from its end
  let fraction = x;
  for (let k = Math.ceil(8 + 220 / (x * x)); k > 0; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
}

/** Probability that a standard normal is below x. @param {number} x */
export const normalCdf = (x) => erfc(-x / Math.SQRT2) / 2;

/** Density of a standard normal. @param {number} x */
export const normalDensity = (x) => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);

/** Nodes and weights of the Gauss-Legendre rule on [-1, 1]. @param {number} count */
function legendre(count) {
  const nodes = new Float64Array(count), weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5)), slope = 1;
    for (let step = 0; step < 8; step++) {
      let p = 1, q = 0;
      for (let k = 0; k < count; k++) [p, q] = [((2 * k + 1) * x * p - k * q) / (k + 1), p];
      slope = (count * (x * p - q)) / (x * x - 1);
      x -= p / slope;
    }
    nodes[i] = -x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}

/** The rules with 16, 8 and 48 points on [-1, 1]. */
export const GAUSS = legendre(16);
export const LONG_GAUSS = legendre(48);
export const SHORT_GAUSS = legendre(8);

/**
 * Root of an increasing function between two bounds, by Newton's method kept within a bracket.
 * @param {(x: number) => [number, number]} f value and slope
 * @param {number} low @param {number} high @param {number} start
 */
export function increasingRoot(f, low, high, start) {
  let x = Math.min(Math.max(start, low), high);
  for (let i = 0; i < 200; i++) {
    const [value, slope] = f(x);
    if (value > 0) high = x;
    else low = x;
    let next = x - value / slope;
    if (!(next >= low && next <= high)) next = (low + high) / 2;
    const moved = Math.abs(next - x);
    x = next;
    // close to the root a step of Newton's method squares the error, so that nothing is left to gain after a small one
    if (moved <= 1e-9 * Math.max(1, Math.abs(x)) && Math.abs(value) < 1e-8 * Math.abs(slope)) break;
    if (moved <= 1e-15 * Math.max(1, Math.abs(x)) || high - low <= 1e-15 * Math.abs(high)) break;
  }
  return x;
}

/**
 * Root of a function whose sign changes between two bounds, by the method of Anderson and Björck.
 * @param {(x: number) => number} f @param {number} low @param {number} high @param {number} [tolerance]
 */
export function bracketedRoot(f, low, high, tolerance = 1e-13) {
  let atLow = f(low), atHigh = f(high);
  if (atLow === 0) return low;
  if (!(atLow * atHigh < 0)) return atHigh === 0 ? high : NaN;
  for (let i = 0; i < 100 && Math.abs(high - low) > tolerance * Math.max(1, Math.abs(high)); i++) {
    let x = (low * atHigh - high * atLow) / (atHigh - atLow);
    if (!(x > Math.min(low, high) && x < Math.max(low, high)) || i % 4 === 3) x = (low + high) / 2;
    const value = f(x);
    if (value === 0) return x;
    if (value * atHigh < 0) {
      low = high;
      atLow = atHigh;
    } else {
      const factor = 1 - value / atHigh;
      atLow *= factor > 0 ? factor : 0.5;
    }
    high = x;
    atHigh = value;
  }
  return high;
}
