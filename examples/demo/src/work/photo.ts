// SPDX-License-Identifier: MIT OR Apache-2.0
// The work of job 2, the same in every implementation ("way"). It fetches a hazy photo as raw RGBA (30 MB), stretches its contrast and
// sharpens it.

import { Stopwatch, type Timed } from "./steps.js";

export interface Picture {
  width: number;
  height: number;
  pixels: Uint8ClampedArray<ArrayBuffer>;
}

export interface Restored extends Picture {
  /** A small copy that the page paints. Painting 30 MB would block the thread in every implementation. */
  preview: Picture;
}

const previewShrink = 10;

export async function fetchAndRestore(url: string): Promise<Timed<Restored>> {
  const watch = new Stopwatch();
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the photo did not arrive: status=${response.status}`);
  const width = Number(response.headers.get("x-width"));
  const height = Number(response.headers.get("x-height"));
  const hazy: Picture = { width, height, pixels: new Uint8ClampedArray(await response.arrayBuffer()) };
  watch.lap("fetching the photo");
  const restored = sharpen(stretchContrast(hazy));
  const value = { ...restored, preview: shrink(restored, previewShrink) };
  watch.lap("restoring the photo");
  return { value, steps: watch.steps };
}

/** Stretches each colour channel over the full range, except for the 0.5 % of pixels at each end. Works in place. */
function stretchContrast(picture: Picture): Picture {
  const { pixels } = picture;
  for (let channel = 0; channel < 3; channel++) {
    const histogram = new Uint32Array(256);
    for (let at = channel; at < pixels.length; at += 4) histogram[pixels[at]!]!++;

    const cut = pixels.length / 4 / 200;
    const low = quantile(histogram, cut);
    const high = quantile(histogram, pixels.length / 4 - cut);
    const stretched = Uint8ClampedArray.from({ length: 256 }, (_, level) => ((level - low) * 255) / (high - low || 1));

    for (let at = channel; at < pixels.length; at += 4) pixels[at] = stretched[pixels[at]!]!;
  }
  return picture;
}

function quantile(histogram: Uint32Array, rank: number): number {
  let seen = 0;
  return histogram.findIndex((count) => {
    seen += count;
    return seen >= rank;
  });
}

/** Applies a 3 x 3 sharpening kernel to the inner pixels. The border stays unchanged. */
function sharpen({ width, height, pixels }: Picture): Picture {
  const sharp = new Uint8ClampedArray(pixels);
  const row = width * 4;
  for (let y = 1; y < height - 1; y++) {
    for (let at = y * row + 4; at < (y + 1) * row - 4; at++) {
      if ((at & 3) === 3) continue;
      const around = pixels[at - 4]! + pixels[at + 4]! + pixels[at - row]! + pixels[at + row]!;
      sharp[at] = pixels[at]! * 2 - around / 4;
    }
  }
  return { width, height, pixels: sharp };
}

function shrink(picture: Picture, factor: number): Picture {
  const width = Math.floor(picture.width / factor);
  const height = Math.floor(picture.height / factor);
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let dy = 0; dy < factor; dy++) {
          for (let dx = 0; dx < factor; dx++) {
            sum += picture.pixels[((y * factor + dy) * picture.width + x * factor + dx) * 4 + channel]!;
          }
        }
        pixels[(y * width + x) * 4 + channel] = sum / (factor * factor);
      }
    }
  }
  return { width, height, pixels };
}
