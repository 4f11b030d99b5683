// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md for tasks that run many times.
import { fileURLToPath } from "node:url";
import { type BroadcastError, type ClearwayError, pool } from "clearway";

const source = new URL("./work.tasks.js", import.meta.url);
await using work = pool<typeof import("./work.tasks.js")>(source);

// #region map
const letters = ["a", "b", "c"];
console.log(await work.map.search(letters)); // [ [ 'apple', 'apricot' ], [ 'banana', 'blackberry' ], [ 'cherry' ] ]
// #endregion map

// #region map-stream
async function* texts() {
  for (let number = 1; ; number++) yield `{ "number": ${number} }`; // waits while the results are not read
}
for await (const value of work.map.parse(texts(), { concurrency: 4 })) {
  console.log(value); // { number: 1 }
  break; // cancels the open calls, and calls return() of the texts
}
// #endregion map-stream

// #region map-result
let done = 0;
await work.map.search(letters, { onResult: () => console.log(`${++done} of ${letters.length}`) }); // 1 of 3, 2 of 3, 3 of 3
// #endregion map-result

// #region setup
await using dictionary = pool<typeof import("./words.tasks.js")>(new URL("./words.tasks.js", import.meta.url), {
  setup: { file: fileURLToPath(new URL("../words.txt", import.meta.url)) }, // every worker receives a copy
});
console.log(await dictionary.call.has("banana")); // true
// #endregion setup

// #region broadcast
await using prices = pool<typeof import("./work.tasks.js")>(source, { size: 2 });
console.log(await prices.broadcast.setRate(1.5)); // [ 'rate 1.5', 'rate 1.5' ]: one result per worker
// #endregion broadcast

// #region broadcast-failed
try {
  await prices.broadcast.setRate(-1);
} catch (error) {
  const { code, failures } = error as BroadcastError;
  console.log(
    code,
    failures.map(({ worker }) => worker),
  ); // broadcast-failed [ 0, 1 ]
}
// #endregion broadcast-failed

// #region events
const logged = pool<typeof import("./work.tasks.js")>(source, {
  size: 1,
  onError: (error) => console.error("no call has this error:", error),
  onWorker: ({ type, worker }) => console.log(`worker ${worker} has ${type}`), // worker 0 has started
  onDrain: () => console.log("no call waits"),
});
await logged.ready();
await Promise.all([logged.call.parse("{}"), logged.call.parse("{}")]); // no call waits
await logged.close(); // worker 0 has exited
// #endregion events

// #region no-queue
await using direct = pool<typeof import("./work.tasks.js")>(source, { size: 1, queue: { items: 0 } });
await direct.ready();
const accepted = direct.call.search("a");
await direct.call.search("b").catch((error: ClearwayError) => console.log(error.code)); // queue-full
console.log(await accepted); // [ 'apple', 'apricot' ]
// #endregion no-queue
