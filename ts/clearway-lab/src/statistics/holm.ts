// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Corrects p-values for their number by Holm's step-down method (Holm, A simple sequentially rejective multiple test procedure,
 * Scandinavian Journal of Statistics 6, 1979). Whatever the dependence between the tests, the probability of any corrected p-value
 * below a limit is at most the limit if no effect exists. Keeps the order. Throws a RangeError for a number outside of 0 to 1.
 */
export function holm(probabilities: readonly number[]): number[] {
  const wrong = probabilities.find((p) => !(p >= 0 && p <= 1));
  if (wrong !== undefined) throw new RangeError(`a p-value must be between 0 and 1: p=${wrong}`);
  const order = probabilities.map((p, at) => ({ p, at })).sort((a, b) => a.p - b.p);
  const corrected = new Array<number>(probabilities.length);
  let largest = 0;
  for (const [rank, { p, at }] of order.entries()) {
    largest = Math.max(largest, Math.min(1, p * (probabilities.length - rank)));
    corrected[at] = largest;
  }
  return corrected;
}
