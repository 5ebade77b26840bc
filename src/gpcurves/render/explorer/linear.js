// Dense linear algebra on matrices stored row by row.

/**
 * Cholesky factor of a symmetric matrix, in the lower triangle of a new one; its leading blocks are factors of leading blocks.
 * @param {Float64Array} matrix @param {number} n
 */
export function cholesky(matrix, n) {
  const L = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const row = i * n;
    for (let j = 0; j <= i; j++) {
      const other = j * n;
      let sum = matrix[row + j];
      for (let k = 0; k < j; k++) sum -= L[row + k] * L[other + k];
      if (i === j) {
        if (!(sum > 0)) throw new Error("the covariances are singular in double precision: more noise is needed");
        L[row + j] = Math.sqrt(sum);
      } else L[row + j] = sum / L[other + j];
    }
  }
  return L;
}

/**
 * The columns of a lower triangle, one after the other, rotated until they are orthogonal (one-sided Jacobi): their squared norms are
 * the eigenvalues of LLᵀ, small ones with as many digits as large ones, and they point along its eigenvectors.
 * @param {Float64Array} L @param {number} n
 */
export function rotateColumns(L, n) {
  const columns = new Float64Array(n * n), norms = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) columns[j * n + i] = L[i * n + j];
  for (let sweep = 0, turned = true; turned && sweep < 40; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) {
      norms[p] = 0;
      for (let k = p * n; k < (p + 1) * n; k++) norms[p] += columns[k] * columns[k];
    }
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        let product = 0;
        for (let k = 0; k < n; k++) product += columns[p * n + k] * columns[q * n + k];
        if (!(Math.abs(product) > 1e-13 * Math.sqrt(norms[p] * norms[q]))) continue;
        turned = true;
        const zeta = (norms[q] - norms[p]) / (2 * product), t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const c = 1 / Math.hypot(1, t), s = c * t;
        for (let k = 0; k < n; k++) {
          const one = columns[p * n + k], two = columns[q * n + k];
          columns[p * n + k] = c * one - s * two;
          columns[q * n + k] = s * one + c * two;
        }
        norms[p] -= t * product;
        norms[q] += t * product;
      }
    }
  }
  return columns;
}

/** Replace B, with n rows and m columns, by L⁻¹B. @param {Float64Array} L @param {number} n @param {Float64Array} B @param {number} m */
export function solveLower(L, n, B, m) {
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) {
      const factor = L[i * n + k];
      if (factor === 0) continue;
      for (let j = 0; j < m; j++) B[i * m + j] -= factor * B[k * m + j];
    }
    for (let j = 0; j < m; j++) B[i * m + j] /= L[i * n + i];
  }
  return B;
}

/** Replace a vector b by L⁻ᵀb. @param {Float64Array} L @param {number} n @param {Float64Array} b */
export function solveUpper(L, n, b) {
  for (let i = n - 1; i >= 0; i--) {
    b[i] /= L[i * n + i];
    for (let k = 0; k < i; k++) b[k] -= L[i * n + k] * b[i];
  }
  return b;
}

/** Eigenvalues of a symmetric matrix, by Householder reflections and the QL algorithm. @param {Float64Array} matrix @param {number} n */
export function eigenvalues(matrix, n) {
  const a = matrix.slice(), d = new Float64Array(n), e = new Float64Array(n);
  for (let i = n - 1; i > 0; i--) {
    const last = i - 1;
    let scale = 0;
    for (let k = 0; k <= last; k++) scale += Math.abs(a[i * n + k]);
    if (last === 0 || scale === 0) {
      e[i] = a[i * n + last];
      continue;
    }
    let h = 0;
    for (let k = 0; k <= last; k++) {
      a[i * n + k] /= scale;
      h += a[i * n + k] ** 2;
    }
    const f = a[i * n + last], root = f >= 0 ? -Math.sqrt(h) : Math.sqrt(h);
    e[i] = scale * root;
    h -= f * root;
    a[i * n + last] = f - root;
    // the product of the remaining block, of which only the lower triangle is kept, with this row
    e.fill(0, 0, i);
    for (let j = 0; j <= last; j++) {
      const row = j * n, by = a[i * n + j];
      let sum = a[row + j] * by;
      for (let k = 0; k < j; k++) {
        sum += a[row + k] * a[i * n + k];
        e[k] += a[row + k] * by;
      }
      e[j] += sum;
    }
    let shift = 0;
    for (let j = 0; j <= last; j++) shift += (e[j] /= h) * a[i * n + j];
    for (let j = 0; j <= last; j++) {
      const g = a[i * n + j], w = (e[j] -= (shift / (2 * h)) * g);
      for (let k = 0; k <= j; k++) a[j * n + k] -= g * e[k] + w * a[i * n + k];
    }
  }
  for (let i = 0; i < n; i++) d[i] = a[i * n + i];
  return diagonalise(d, e, n);
}

/** Eigenvalues of a tridiagonal matrix, by implicit shifts. @param {Float64Array} d @param {Float64Array} e @param {number} n */
function diagonalise(d, e, n) {
  e.copyWithin(0, 1);
  e[n - 1] = 0;
  for (let l = 0; l < n; l++) {
    for (let rounds = 0; ; rounds++) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]) > 1e-16 * (Math.abs(d[m]) + Math.abs(d[m + 1]))) m++;
      if (m === l || rounds > 60) break;
      let g = (d[l + 1] - d[l]) / (2 * e[l]), r = Math.hypot(g, 1);
      g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
      let [s, c, p] = [1, 1, 0], i = m - 1;
      for (; i >= l; i--) {
        const f = s * e[i], b = c * e[i];
        e[i + 1] = r = Math.hypot(f, g);
        if (r === 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
      }
      if (r === 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
  return d;
}
