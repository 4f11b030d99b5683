// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";
import { nowMs, objectOf, rest } from "./values-make.mjs";

export default expose({
  double: (value) => value * 2,
  chunks: async function* (count, bytes) {
    for (let at = 0; at < count; at++) yield new Uint8Array(bytes);
  },
  values: function* (count) {
    for (let at = 0; at < count; at++) yield objectOf(at, 0);
  },
  paced: async function* (count, everyMs) {
    for (let at = 0; at < count; at++) {
      await rest(everyMs);
      yield objectOf(at, nowMs());
    }
  },
});
