// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node main.js [PORT]. Blocks its thread now and then, and serves the stalls until it is interrupted.
import { mark } from "clearway/meter";
import { serve, stop } from "./server.js";

const { port } = await serve(Number(process.argv[2] ?? 9464));
console.log(`http://127.0.0.1:${port}/metrics`);

const work = setInterval(() => mark("busy", () => busyFor(20 + Math.random() * 200)), 1000);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    clearInterval(work);
    await stop();
  });
}

/** Blocks this thread. @param {number} ms */
function busyFor(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
