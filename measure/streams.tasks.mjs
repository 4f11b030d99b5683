// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";

const row = (id) => ({ id, x: id / 2, name: "row" });

function* times(count, make) {
  for (let at = 0; at < count; at++) yield make(at);
}

export default expose({
  *numbers(count) {
    yield* times(count, (at) => at);
  },
  *objects(count) {
    yield* times(count, row);
  },
  async *awaitedObjects(count) {
    for (let at = 0; at < count; at++) yield row(at);
  },
  *batches(count, size) {
    yield* times(count, () => Array.from({ length: size }, (_, at) => row(at)));
  },
  *numberLists(count, size) {
    yield* times(count, () => Array.from({ length: size }, (_, at) => at));
  },
  *bytes(count, size) {
    yield* times(count, () => new Uint8Array(size));
  },
  *texts(count, size) {
    yield* times(count, (at) => String(at).padEnd(size, "x"));
  },
});
