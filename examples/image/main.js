// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { measure } from "clearway/meter";
import { serveDimPhoto } from "./camera.js";

const camera = await serveDimPhoto(3200, 2400);

/** @type {import("clearway").Pool<typeof import("./photo.tasks.js")>} */
const workers = pool(new URL("./photo.tasks.js", import.meta.url));

const { value: photo, report } = await measure(() => workers.with({ timeoutMs: 30_000 }).call.brighten(camera.url));

console.log(`photo: ${photo.width} x ${photo.height}, ${photo.pixels.length} bytes`);
console.log("darkest and brightest:", photo.pixels[0], photo.pixels.at(-2));
console.log("copied bytes:", workers.stats().ledger.fromWorkers.copiedBytes);
console.log(
  `longest stall of the main thread: ${report.ownLongestMs.toFixed(1)} ms in ${report.durationMs.toFixed(0)} ms`,
);

await workers.close();
camera.close();
