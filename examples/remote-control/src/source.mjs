// SPDX-License-Identifier: MIT OR Apache-2.0
// A screen of JavaScript's own: what a plugin would do with the frame source of native/plugins, behind the same two functions.

/** @typedef {{ number: number, x: number, y: number }} Command */

const width = 320;
const height = 180;

/** The screen that one client controls. */
export function screenSource() {
  let number = 0;
  /** @type {Command & { at: number }} */
  let pointer = { number: 0, x: 0.5, y: 0.5, at: performance.now() };
  const picture = new Uint8Array(width * height * 4);
  for (let at = 0; at < width * height; at++) {
    const [x, y] = [at % width, Math.floor(at / width)];
    picture.set([40 + (x * 160) / width, 60, 80 + (y * 120) / height, 255], at * 4);
  }

  return {
    /** @param {Command} command */
    point(command) {
      pointer = { ...command, at: performance.now() };
    },
    frame() {
      const begun = performance.now();
      const pixels = picture.slice();
      const x = Math.round(pointer.x * (width - 9));
      const y = Math.round(pointer.y * (height - 9));
      for (let row = y; row < y + 9; row++) pixels.fill(255, (row * width + x) * 4, (row * width + x + 9) * 4);
      const makeMs = performance.now() - begun;
      return { number: ++number, width, height, pixels, command: pointer.number, queueMs: begun - pointer.at, makeMs };
    },
  };
}
