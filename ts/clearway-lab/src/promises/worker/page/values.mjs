// SPDX-License-Identifier: MIT OR Apache-2.0
// Posts small objects, each in a message of its own: as fast as it can, or one every `everyMs`.
import { nowMs, objectOf, rest } from "../values-make.mjs";

addEventListener("message", async ({ data: { count, everyMs } }) => {
  for (let at = 0; at < count; at++) {
    if (everyMs > 0) await rest(everyMs);
    postMessage(objectOf(at, everyMs > 0 ? nowMs() : 0));
  }
});
