// SPDX-License-Identifier: MIT OR Apache-2.0
// A screen that JavaScript draws on the server's own thread. The server uses it if the native screen has not been built. The picture is the
// same as that of native/plugins/c/frames.c.
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

// The cross is 24 pixels wide, and its lines are 4 pixels thick. The width of the bar is a sixteenth of the picture's width. The bar moves
// across the picture in 240 frames.
const cross = 24;
const crossThick = 4;
const barPart = 16;
const barSteps = 240;

/** @returns {Screen} */
export function drawnScreen() {
  const pointer = { command: 0, x: 0, y: 0, buttons: 0 };
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

/** Returns a gradient. @param {number} width @param {number} height */
function background(width, height) {
  const pixels = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels[y * width + x] = rgb(Math.floor((x * 255) / width), Math.floor((y * 255) / height), 96);
    }
  }
  return pixels;
}

/** @param {Uint32Array} pixels @param {Uint32Array} ground @param {number} width @param {number} height @param {number} beat @param {{ command: number, x: number, y: number, buttons: number }} pointer */
function draw(pixels, ground, width, height, beat, { command, x, y, buttons }) {
  pixels.set(ground);
  /** Fills a rectangle, clipped to the picture. @type {(left: number, top: number, right: number, bottom: number, color: number) => void} */
  const fill = (left, top, right, bottom, color) => {
    const [from, to] = [Math.max(0, left), Math.min(width, right)];
    if (from >= to) return;
    for (let row = Math.max(0, top); row < Math.min(height, bottom); row++) {
      pixels.fill(color, row * width + from, row * width + to);
    }
  };
  const bar = Math.floor(((beat % barSteps) * width) / barSteps);
  fill(bar, 0, bar + Math.max(1, Math.floor(width / barPart)), height, rgb(240, 240, 240));
  // Draws no cross before the first command.
  if (command === 0) return;
  const color = rgb(255, buttons === 0 ? 210 : 0, 0);
  const [long, short] = [cross / 2, crossThick / 2];
  fill(x - long, y - short, x + long, y + short, color);
  fill(x - short, y - long, x + short, y + long, color);
}

/** @param {number} red @param {number} green @param {number} blue */
function rgb(red, green, blue) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
