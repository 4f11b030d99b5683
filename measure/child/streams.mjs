// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads streams of many shapes, and measures how late a timer of 1 ms becomes beside each. Prints one JSON line: by shape, a list of the
// longest waits in milliseconds. Arguments: the carrier, and the number of rounds.
import { pool } from "clearway";

const [carrier, rounds] = [process.argv[2], Number(process.argv[3])];
const tasks = pool(new URL("./streams.tasks.mjs", import.meta.url), { size: 1, carrier });

/** The shapes: values of a stream, bytes (or elements) of a value, and the window. */
const shapes = {
  "numbers, adaptive window": ["numbers", 200_000],
  "numbers, window 1": ["numbers", 2000, 0, 1],
  "numbers, window 65,536": ["numbers", 200_000, 0, 65_536],
  "small objects, adaptive window": ["objects", 200_000],
  "small objects, awaited one by one": ["awaitedObjects", 100_000],
  "small objects, window 65,536": ["objects", 200_000, 0, 65_536],
  "arrays of 100 objects": ["batches", 4000, 100],
  "arrays of 1,000 objects": ["batches", 400, 1000],
  "1 KB of bytes": ["bytes", 50_000, 1024],
  "64 KB of bytes": ["bytes", 5000, 65_536],
  "1 MB of bytes": ["bytes", 500, 1 << 20],
  "1 KB of text": ["texts", 50_000, 1024],
  "1 MB of text": ["texts", 200, 1 << 20],
};

async function longestWaitMs([name, values, size = 0, window]) {
  const { call } = window ? tasks.with({ window: { items: window, bytes: 1 << 26 } }) : tasks;
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  let count = 0;
  for await (const _value of call[name](values, size)) count++;
  clearInterval(timer);
  if (count !== values) throw new Error(`${name}: ${count} of ${values} values`);
  return longest;
}

const waits = Object.fromEntries(Object.keys(shapes).map((shape) => [shape, []]));
await tasks.ready();
for (let round = 0; round <= rounds; round++) {
  for (const [shape, settings] of Object.entries(shapes)) {
    const waitMs = await longestWaitMs(settings);
    if (round > 0) waits[shape].push(waitMs); // the first round compiles the code
  }
}
console.log(JSON.stringify(waits));
await tasks.close();
