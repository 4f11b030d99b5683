// SPDX-License-Identifier: MIT OR Apache-2.0
// #region connect
import { Worker } from "node:worker_threads";
import { connect, latest, move, outcome, portTransport } from "clearway/channel";

const worker = new Worker(new URL("./camera.worker.js", import.meta.url));
const camera = await connect(portTransport(worker));
camera.messages("log").handle((line) => console.log(line)); // prints every message that the worker sends to "log"

const { call } = camera.methods("camera");
console.log(await call("zoom", 2));

const photo = new Uint8Array(1_000_000);
/** @type {Uint8Array} */
const inverted = await call("invert", move(photo));
console.log(inverted.length, photo.length); // 1000000 0: the photo's memory was moved
// #endregion connect

// #region outcomes
for (const [method, level] of /** @type {const} */ ([
  ["zoom", 3],
  ["zoom", 9],
  ["focus", 1],
])) {
  const made = await outcome(call(method, level, { deadlineMs: 5_000 }));
  if (made.kind === "result") console.log(made.value);
  else if (made.kind === "remote-error") console.log(made.error.code, made.error.message, made.error.details);
  else console.log(made.kind); // "not-implemented", "no-handler", "dropped", "deadline", "closed", …
}
// #endregion outcomes

// #region frames
/** @type {import("clearway/channel").EventStream<{ number: number, pixels: Uint8Array }>} */
const frames = camera.events("camera/frames").listen(null, latest());
let newest = -1;
let inOrder = true;
for await (const { number, pixels } of frames) {
  inOrder = inOrder && number > newest && pixels.length === 1 << 20;
  newest = number;
  if (newest > 20) break; // also ends the source
  await new Promise((resolve) => setTimeout(resolve, 10)); // slower than the camera, so frames are dropped and counted
}
console.log(inOrder, frames.dropped > 0);
// #endregion frames

// #region ledger
const { sent } = camera.stats().ledger;
console.log(sent.movedBytes, Object.keys(sent.copies)); // 1000000 []: the photo was moved, and no other binary memory was sent
await camera.close();
// #endregion ledger
await worker.terminate();
