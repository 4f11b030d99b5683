// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose, task } from "clearway/worker";

/** @typedef {{ width: number, height: number, pixels: Uint8Array }} Picture */

export default expose({
  /** Fetches inside the worker. The main thread receives the 30 MB when they are ready. They are moved, not copied. */
  brighten: task(async ({ signal }, /** @type {string} */ url) => {
    const response = await fetch(url, { signal });
    const pixels = new Uint8Array(await response.arrayBuffer());
    stretchContrast(pixels);
    return {
      width: Number(response.headers.get("x-width")),
      height: Number(response.headers.get("x-height")),
      pixels,
    };
  }),
});

/** Stretches the used grey levels over the full range of 256 levels. @param {Uint8Array} rgba */
export function stretchContrast(rgba) {
  let [low, high] = [255, 0];
  for (let at = 0; at < rgba.length; at++) {
    if (at % 4 === 3) continue;
    const level = rgba[at] ?? 0;
    if (level < low) low = level;
    if (level > high) high = level;
  }
  const stretched = Uint8Array.from({ length: 256 }, (_, level) => ((level - low) * 255) / (high - low || 1));
  for (let at = 0; at < rgba.length; at++) {
    if (at % 4 !== 3) rgba[at] = stretched[rgba[at] ?? 0] ?? 0;
  }
}
