// SPDX-License-Identifier: MIT OR Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";

function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
async function serve() {
  await sleep(50);
  block(300);
  await sleep(50);
}
await serve();
