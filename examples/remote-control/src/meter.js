// SPDX-License-Identifier: MIT OR Apache-2.0

/** @typedef {"round trip" | "network" | "queue" | "making" | "paint" | "bare ping"} Part */
/** @type {readonly Part[]} */
export const parts = ["round trip", "network", "queue", "making", "paint", "bare ping"];

// Ten seconds of commands, one a frame: as many as a p99 needs to be more than the worst one.
const kept = 600;

/** The last figures of each part of a round trip. */
export class Meter {
  /** @type {Record<string, number[]>} */
  #values = Object.fromEntries(parts.map((part) => [part, []]));

  /**
   * @param {Part} part
   * @param {number} ms
   */
  add(part, ms) {
    const values = this.#values[part] ?? [];
    values.push(ms);
    if (values.length > kept) values.shift();
  }

  /**
   * @param {Part} part
   * @param {number} share 0.5 is the median
   */
  quantile(part, share) {
    const sorted = [...(this.#values[part] ?? [])].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  }
}
