// SPDX-License-Identifier: MIT OR Apache-2.0
/** Returns the smallest step between clock readings, in microseconds: the resolution of the samples. */
export function clockStepUs(nowMs: () => number, readings = 200): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < readings; round++) {
    const begin = nowMs();
    let next = begin;
    while (next === begin) next = nowMs();
    smallest = Math.min(smallest, (next - begin) * 1000);
  }
  return Number(smallest.toPrecision(3));
}
