// SPDX-License-Identifier: MIT OR Apache-2.0
// Student's t distribution, for intervals and p-values from few rounds. The tail probability is an incomplete beta function
// (Abramowitz & Stegun, Handbook of Mathematical Functions, 1964, 26.5.27 and 26.7.1), calculated as a continued fraction
// (DLMF 8.17.22) by Lentz's method.

/** Above this number of degrees of freedom, the distribution equals the normal one in all digits that are printed. */
const DEGREES_MAX = 1e6;

/** Returns the probability that a Student-distributed number exceeds `t`. `degrees` are the degrees of freedom, above 0. */
export function studentTail(t: number, degrees: number): number {
  if (!(degrees > 0)) throw new RangeError(`degrees of freedom must be above 0: degrees=${degrees}`);
  if (Number.isNaN(t)) throw new RangeError(`t must be a number: t=${t}`);
  const nu = Math.min(degrees, DEGREES_MAX);
  const half = t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY ? 0 : 0.5 * betaOf(nu, t);
  return t >= 0 ? half : 1 - half;
}

/** Returns the number that a Student-distributed number exceeds with `probability`, which is between 0 and 1. */
export function studentQuantile(probability: number, degrees: number): number {
  if (!(probability > 0 && probability < 1))
    throw new RangeError(`a probability must be between 0 and 1: probability=${probability}`);
  if (probability > 0.5) return -studentQuantile(1 - probability, degrees);
  let high = 1;
  while (studentTail(high, degrees) > probability && high < Number.MAX_VALUE / 2) high *= 2;
  let low = 0;
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2;
    if (studentTail(middle, degrees) > probability) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the regularised incomplete beta function at nu / (nu + t²) for a = nu / 2 and b = 1 / 2: both tails of Student's t. */
function betaOf(nu: number, t: number): number {
  const square = t * t;
  const x = nu / (nu + square);
  const rest = square / (nu + square);
  if (rest === 0) return 1;
  const [a, b] = [nu / 2, 0.5];
  const front = Math.exp(a * Math.log(x) + b * Math.log(rest) + logGamma(a + b) - logGamma(a) - logGamma(b));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(rest, b, a)) / b;
}

/** Calculates the continued fraction of the incomplete beta function. */
function fraction(x: number, a: number, b: number): number {
  const least = 1e-300;
  const held = (value: number) => (Math.abs(value) < least ? least : value);
  let c = 1;
  let d = 1 / held(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / held(1 + even * d);
    c = held(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / held(1 + odd * d);
    c = held(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return result;
}

/** Stirling's series with Lanczos' coefficients for g = 7 and nine terms. Exact to 15 digits for positive numbers. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

function logGamma(value: number): number {
  const x = value - 1;
  const base = x + 7.5;
  const sum = LANCZOS.slice(1).reduce((total, term, at) => total + term / (x + at + 1), LANCZOS[0]!);
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(base) - base + Math.log(sum);
}
