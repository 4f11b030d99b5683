// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md. examples/README.md says how to run it.
import { ClearwayError, move, pool } from "clearway";
import { formatReport, watch } from "clearway/meter";

const source = new URL("./work.tasks.js", import.meta.url);
await using work = pool<typeof import("./work.tasks.js")>(source);

// #region move
const photo = new Uint8Array(8_000_000);
const bright = await work.call.brighten(move(photo));
console.log(photo.length, bright.length); // 0 8000000: the memory was moved to the worker and back, without a copy
// #endregion move

// #region strict
try {
  await work.with({ strict: true }).call.brighten(bright); // without move()
} catch (error) {
  console.log((error as ClearwayError).code); // would-copy
}
const { toWorkers } = work.stats().ledger;
console.log(toWorkers.movedBytes, toWorkers.copiedBytes); // 8000000 0
// #endregion strict

// #region cancel
const leaving = new AbortController();
const search = work.with({ signal: leaving.signal }).call.search("b");
leaving.abort(new Error("the user left"));
await search.catch((error) => console.log(error.message)); // the user left
// #endregion cancel

// #region latest
let previous = new AbortController();

async function suggest(text: string) {
  previous.abort(); // the answer for the older text is no longer needed
  previous = new AbortController();
  const { signal } = previous;
  return work
    .with({ signal })
    .call.search(text)
    .catch((error) => {
      if (signal.aborted) return undefined;
      throw error;
    });
}

console.log(await Promise.all([suggest("a"), suggest("b")])); // [ undefined, [ 'banana', 'blackberry' ] ]
// #endregion latest

// #region timeout
try {
  await work.with({ timeoutMs: 50 }).call.spin();
} catch (error) {
  console.log(error instanceof ClearwayError && error.code); // timeout
}
// #endregion timeout

// #region progress
await work.with({ onProgress: (done) => console.log(`${done * 100} %`) }).call.importRows(1_000);
// #endregion progress

// #region stream
for await (const line of work.call.lines(1_000_000)) {
  console.log(line); // line 1
  break; // the generator's `finally` runs, and it produces nothing more
}
// #endregion stream

// #region batches
let read = 0;
for await (const lines of work.call.lines(100_000).batches()) {
  read += lines.length; // an array of 1 to 1,024 lines: those that have arrived
}
console.log(read); // 100000
// #endregion batches

// #region feed
async function* numbers() {
  for (let number = 1; number <= 4; number++) yield number;
}
console.log(await work.call.total(numbers())); // 10
// #endregion feed

// #region room
await using narrow = pool<typeof import("./work.tasks.js")>(source, { size: 1, queue: { items: 100 } });
const pending: Promise<unknown>[] = [];
for (let call = 0; call < 1_000; call++) {
  await narrow.room(); // waits while 100 calls are queued
  pending.push(narrow.call.parse("{}"));
}
console.log((await Promise.all(pending)).length); // 1000
// #endregion room

// #region newest
await using preview = pool<typeof import("./work.tasks.js")>(source, {
  size: 1,
  queue: { items: 1, whenFull: "dropOldest" },
});
await preview.ready();
// An app would call the task that draws the preview. This example calls deposit() instead, because it takes some time.
const frames = [1, 2, 3, 4].map((frame) => preview.call.deposit("frames", frame));
const kept = await Promise.allSettled(frames);
console.log(kept.at(-1)?.status, kept.filter(({ status }) => status === "rejected").length > 0); // fulfilled true
// #endregion newest

// #region key
const account = work.with({ key: "account 7" });
console.log(await Promise.all([account.call.deposit("7", 10), account.call.deposit("7", 5)])); // [ 10, 15 ]
// #endregion key

// #region priority
await using one = pool<typeof import("./work.tasks.js")>(source, { size: 1 });
await one.ready();
const order: string[] = [];
const note = (name: string) => () => order.push(name);
await Promise.all([
  one.call.search("a").then(note("running")),
  one.call.parse("{}").then(note("later")),
  one.with({ priority: 1 }).call.parse("{}").then(note("urgent")),
]);
console.log(order); // [ 'running', 'urgent', 'later' ]
// #endregion priority

// #region error
try {
  await work.call.parse("[]");
} catch (error) {
  const { name, message, code } = error as Error & { code: string };
  console.log(name, message, code); // SyntaxError expected an object bad-input
}
// #endregion error

// #region died
await work.call.die().catch((error: ClearwayError) => console.log(error.code)); // worker-exited
console.log(await work.call.total(numbers())); // 10: another worker has replaced the dead one
// #endregion died

// #region retries
// If the worker of this call dies, the call runs again, at most twice.
console.log(await work.with({ retries: 2 }).call.search("c")); // [ 'cherry' ]
// #endregion retries

// #region watch
using watching = watch({ onStall: ({ lengthMs, cause }) => console.warn(`held for ${lengthMs} ms: ${cause}`) });
const report = watching.report();
// #endregion watch
console.log(formatReport(report).length > 0);
