// Reproducible random numbers: xoshiro128**, seeded by splitmix32.

/** @typedef {{uniform: () => number, normal: () => number, poisson: (mean: number) => number, below: (n: number) => number}} Random */

/** @param {number} seed @returns {Random} */
export function makeRandom(seed) {
  let mixed = seed >>> 0;
  const next = () => {
    mixed = (mixed + 0x9e3779b9) | 0;
    let t = mixed ^ (mixed >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return (t ^ (t >>> 15)) | 0;
  };
  let [a, b, c, d] = [next(), next(), next(), next()];
  const bits = () => {
    const x = Math.imul(b, 5), result = Math.imul((x << 7) | (x >>> 25), 9);
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  };
  const uniform = () => ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
  let spare = NaN;
  const normal = () => {
    if (!Number.isNaN(spare)) {
      const kept = spare;
      spare = NaN;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - uniform())), angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  const poisson = (/** @type {number} */ mean) => {
    let count = 0;
    for (let left = mean; left > 0; left -= 500) {
      const limit = Math.exp(-Math.min(left, 500));
      for (let product = uniform(); product > limit; product *= uniform()) count++;
    }
    return count;
  };
  return { uniform, normal, poisson, below: (n) => Math.floor(n * uniform()) };
}
