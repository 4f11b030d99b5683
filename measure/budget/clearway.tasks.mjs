// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";

export default expose({
  double: (value) => value * 2,
  chunks: async function* (count, bytes) {
    for (let at = 0; at < count; at++) yield new Uint8Array(bytes);
  },
});
