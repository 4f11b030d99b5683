// SPDX-License-Identifier: MIT OR Apache-2.0
// #region tasks
import { expose, task } from "clearway/worker";

function brightness(pixels: Uint8Array) {
  return pixels.reduce((sum, each) => sum + each, 0) / pixels.length;
}

async function* render(tiles: number) {
  for (let tile = 0; tile < tiles; tile++) yield new Uint8Array(256).fill(tile);
}

async function brightest(frames: AsyncIterable<Uint8Array>) {
  let best = 0;
  for await (const frame of frames) best = Math.max(best, brightness(frame));
  return best;
}

const resize = task(({ signal, progress }, pixels: Uint8Array, factor: number) => {
  progress("begun");
  signal.throwIfAborted();
  return pixels.filter((_, at) => at % factor === 0);
});

export default expose({ brightness, render, brightest, resize });
// #endregion tasks
