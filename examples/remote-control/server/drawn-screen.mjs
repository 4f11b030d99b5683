// SPDX-License-Identifier: MIT OR Apache-2.0
// A screen that JavaScript draws on the server's own thread. The server uses it if the native screen has not been built.
import { monotonicMs, writeStamp } from "./stamp.mjs";

/**
 * @typedef {object} Size
 * @property {number} width pixels
 * @property {number} height pixels
 * @property {number} rate frames per second
 *
 * @typedef {object} Screen
 * @property {"native" | "drawn"} kind
 * @property {(command: number, x: number, y: number, buttons: number) => void} point moves the pointer
 * @property {(size: Size, signal: AbortSignal) => AsyncIterable<Uint8Array>} frames yields the newest frame on each request; the receiver
 *   may use a frame until it requests the next
 * @property {() => void | Promise<void>} close
 */

const barWidth = 48;
const pointerRadius = 11;

/** @returns {Screen} */
export function drawnScreen() {
  const pointer = { command: 0, x: -100, y: -100, buttons: 0 };
  return {
    kind: "drawn",
    point: (command, x, y, buttons) => void Object.assign(pointer, { command, x, y, buttons }),
    frames: async function* ({ width, height, rate }, signal) {
      const ground = background(width, height);
      const pixels = new Uint32Array(width * height);
      const frame = new Uint8Array(pixels.buffer);
      const startMs = monotonicMs();
      let sent = 0;
      while (!signal.aborted) {
        // Waits for the next beat of the frame rate. Does not draw the beats that passed without a request.
        const beats = Math.max(sent + 1, Math.ceil(((monotonicMs() - startMs) * rate) / 1000));
        await delay(startMs + (beats * 1000) / rate - monotonicMs(), signal);
        if (signal.aborted) return;
        sent = beats;
        const beganMs = monotonicMs();
        draw(pixels, ground, width, height, beats, pointer);
        writeStamp(frame, { ...pointer, number: beats, beganMs, drawnMs: monotonicMs() - beganMs });
        yield frame;
      }
    },
    close: () => {},
  };
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function delay(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** Returns a dusk gradient, from top to bottom. @param {number} width @param {number} height */
function background(width, height) {
  const pixels = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    const down = y / height;
    pixels.fill(rgb(24 + 90 * down, 38 + 60 * down, 78 + 50 * down), y * width, (y + 1) * width);
  }
  return pixels;
}

/** @param {Uint32Array} pixels @param {Uint32Array} ground @param {number} width @param {number} height @param {number} beat @param {{ x: number, y: number, buttons: number }} pointer */
function draw(pixels, ground, width, height, beat, { x, y, buttons }) {
  pixels.set(ground);
  const from = (beat * 4) % width;
  for (let row = 0; row < height; row++) {
    pixels.fill(rgb(240, 180, 90), row * width + from, row * width + Math.min(width, from + barWidth));
  }
  const color = buttons > 0 ? rgb(255, 90, 90) : rgb(255, 255, 255);
  for (let dy = -pointerRadius; dy <= pointerRadius; dy++) {
    const row = y + dy;
    if (row < 0 || row >= height) continue;
    const half = Math.floor(Math.sqrt(pointerRadius ** 2 - dy ** 2));
    const [left, right] = [Math.max(0, x - half), Math.min(width, x + half + 1)];
    if (left < right) pixels.fill(color, row * width + left, row * width + right);
  }
}

/** @param {number} red @param {number} green @param {number} blue */
function rgb(red, green, blue) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
