// SPDX-License-Identifier: MIT OR Apache-2.0
import { startGallery } from "./gallery.js";

// The complete quick start. The package's README and docs/recipes.md show regions of it. examples/README.md says how to run it.

// #region first-call
import { ClearwayError, move, pool, run } from "clearway";
import { measure } from "clearway/meter";

await using images = pool<typeof import("./images.tasks.js")>(new URL("./images.tasks.js", import.meta.url));

const negative = await images.call.negative(new Uint8Array([0, 100, 255]));
console.log(negative); // Uint8Array(3) [ 255, 155, 0 ]
// #endregion first-call

// #region stream
let tiles = 0;
for await (const { x, y, pixels } of images.call.tiles(1024, 512, 256)) {
  tiles++;
  if (tiles === 3) break; // also ends the task
  console.log(`tile at ${x}, ${y}: ${pixels.length} bytes`);
}
// #endregion stream

const leaving = new AbortController();
const careful = images.with({
  signal: leaving.signal,
  timeoutMs: 5_000,
  onProgress: (done: number) => console.log(`${done * 100} %`),
});
console.log(await careful.call.film(2));

const photo = new Uint8Array(8_000_000);
await images.with({ strict: true }).call.negative(move(photo)); // 8 MB in each direction, without a copy
console.log(photo.length); // 0: the photo was moved

try {
  await images.with({ timeoutMs: 20 }).call.film(1_000);
} catch (error) {
  if (error instanceof ClearwayError) console.log(error.code); // timeout
}

const gallery = await startGallery();

await using photos = pool<typeof import("./gallery.tasks.js")>(new URL("./gallery.tasks.js", import.meta.url), {
  size: 1,
});

for (const name of ["dawn", "noon", "dusk"]) {
  const pixels = await photos.call.photo(`${gallery.url}/${name}`);
  console.log(`${name}: ${pixels.length} bytes`);
}
console.log(`connections: ${gallery.connections()}`); // 1
gallery.close();

// #region two-way
await using captions = pool<typeof import("./captions.tasks.js")>(new URL("./captions.tasks.js", import.meta.url));

async function* camera() {
  yield move(new Uint8Array(1000).fill(30));
  yield move(new Uint8Array(1000).fill(220));
}

for await (const caption of captions.call.caption(camera())) console.log(caption); // night, then day
// #endregion two-way

// Runs one task in a separate worker, which ends afterwards.
const once = run<typeof import("./images.tasks.js")>(new URL("./images.tasks.js", import.meta.url));
console.log((await once.call.negative(new Uint8Array([1]))).at(0)); // 254

const here = await measure(() => new Uint8Array(64_000_000).map((_, at) => at % 7));
const away = await measure(() => images.call.negative(move(new Uint8Array(64_000_000))));
console.log(
  `longest stall: ${here.report.ownLongestMs.toFixed()} ms here, ${away.report.ownLongestMs.toFixed()} ms away`,
);
