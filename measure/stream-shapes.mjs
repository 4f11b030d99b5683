// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads streams of many shapes, and measures how late a timer of 1 ms becomes beside each. Runs in Node and in a page.

/** The task of a shape, the number of its values, the bytes or elements of each, the window's values, and whether it is read in arrays. */
const shapes = {
  "8 bytes": ["bytes", 100_000, 8],
  "1 KB of bytes": ["bytes", 50_000, 1024],
  "64 KB of bytes": ["bytes", 5000, 65_536],
  "1 MB of bytes": ["bytes", 500, 1 << 20],
  "1 MB of bytes, window 65,536": ["bytes", 500, 1 << 20, 65_536],
  "1 KB of text": ["texts", 50_000, 1024],
  "64 KB of text": ["texts", 2000, 65_536],
  "1 MB of text": ["texts", 200, 1 << 20],
  numbers: ["numbers", 200_000],
  "numbers, window 1": ["numbers", 2000, 0, 1],
  "numbers, window 1,024": ["numbers", 200_000, 0, 1024],
  "numbers, window 65,536": ["numbers", 200_000, 0, 65_536],
  "small objects": ["objects", 200_000],
  "small objects, awaited one by one": ["awaitedObjects", 100_000],
  "small objects, window 65,536": ["objects", 200_000, 0, 65_536],
  "arrays of 1 object": ["batches", 100_000, 1],
  "arrays of 100 objects": ["batches", 4000, 100],
  "arrays of 1,000 objects": ["batches", 400, 1000],
  "arrays of 1,000 objects, window 65,536": ["batches", 400, 1000, 65_536],
  "arrays of 100,000 numbers": ["numberLists", 40, 100_000],
  "numbers, batches()": ["numbers", 200_000, 0, undefined, true],
  "numbers, window 1, batches()": ["numbers", 2000, 0, 1, true],
  "small objects, batches()": ["objects", 200_000, 0, undefined, true],
  "small objects, window 65,536, batches()": ["objects", 200_000, 0, 65_536, true],
  "64 KB of bytes, batches()": ["bytes", 5000, 65_536, undefined, true],
};

/**
 * Reads every shape once to compile the code, and then `rounds` times. Returns the longest wait of each round in milliseconds, by shape.
 * `later(next)` calls a function after 1 ms.
 */
export async function longestWaits(tasks, rounds, later) {
  const waits = Object.fromEntries(Object.keys(shapes).map((shape) => [shape, []]));
  await tasks.ready();
  for (let round = 0; round <= rounds; round++) {
    for (const [shape, settings] of Object.entries(shapes)) {
      const waitMs = await longestWaitMs(tasks, settings, later);
      if (round > 0) waits[shape].push(waitMs);
    }
  }
  return waits;
}

async function longestWaitMs(tasks, [name, values, size = 0, window, isBatch], later) {
  const { call } = window ? tasks.with({ window: { items: window, bytes: 1 << 26 } }) : tasks;
  let longest = 0;
  let over = false;
  const beat = () => {
    const dueMs = performance.now() + 1;
    later(() => {
      longest = Math.max(longest, performance.now() - dueMs);
      if (!over) beat();
    });
  };
  beat();
  let count = 0;
  const stream = call[name](values, size);
  if (isBatch) for await (const array of stream.batches()) count += array.length;
  else for await (const _value of stream) count++;
  over = true;
  if (count !== values) throw new Error(`${name}: ${count} of ${values} values`);
  return longest;
}
