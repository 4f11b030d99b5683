// SPDX-License-Identifier: MIT OR Apache-2.0
// Posts small objects, each in a message of its own: as fast as it can, or one every `everyMs`.
import { parentPort } from "node:worker_threads";
import { nowMs, objectOf, rest } from "../values-make.mjs";

parentPort.on("message", async ({ count, everyMs }) => {
  for (let at = 0; at < count; at++) {
    if (everyMs > 0) await rest(everyMs);
    parentPort.postMessage(objectOf(at, everyMs > 0 ? nowMs() : 0));
  }
});
