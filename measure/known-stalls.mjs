// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds this thread for known times under the meter, in Node and in a page alike, and says by how much the meter was off.

/** The lengths in milliseconds, each with how many waits of it are compared. */
export const lengths = [
  [5, 15],
  [20, 15],
  [50, 15],
  [100, 15],
  [500, 7],
];

/** The meter's promise: 1 ms or 5 %, whichever is more. */
export const toleranceMs = (lengthMs) => Math.max(1, lengthMs * 0.05);

// A timer is up to so much late where nothing is in its way: Node's are in whole milliseconds.
const lateMs = 2;

/** Works for about `ms`. Returns how long it really was, by the clock that the meter reads too. */
function busy(ms) {
  const startMs = performance.now();
  while (performance.now() - startMs < ms);
  return { startMs, lengthMs: performance.now() - startMs };
}

// Lengths that do not fall into step with any heartbeat.
const pauseMs = (index) => 13 + ((index * 7) % 11);
const pause = (index) => new Promise((resolve) => setTimeout(resolve, pauseMs(index)));

/** Settles when the event loop has turned. */
function turn() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => {
      port2.close();
      resolve();
    };
    port1.postMessage(0);
  });
}

/**
 * Waits `count` times for about `ms`, and returns the waits that the machine left in peace. The machine may take the thread
 * off its core beside a wait, and then the stall really is longer than the wait: a timer before it is late, or the turn after
 * it takes more than `besideMs`. Tries ten times as often at most.
 */
async function knownStalls(mark, count, ms, besideMs) {
  const known = [];
  for (let index = 0; known.length < count && index < count * 10; index++) {
    const dueMs = performance.now() + pauseMs(index);
    await pause(index);
    const label = `known ${index}`;
    const wait = mark(label, () => busy(ms));
    await turn();
    const afterMs = performance.now() - wait.startMs - wait.lengthMs;
    if (wait.startMs - dueMs < lateMs && afterMs < besideMs) known.push({ label, ...wait });
    await pause(index + 5);
  }
  return known;
}

/**
 * For each length: by how many milliseconds the meter was off beyond its tolerance, a sample a wait, null for a wait that it
 * did not see. `besideMs(lengthMs)` bounds what the machine may add to a wait.
 */
export async function errorsByLength({ measure, mark }, besideMs) {
  const found = [];
  for (const [ms, count] of lengths) {
    // A floor under the shortest, so that an estimate that is a little short still counts as seen.
    const { value: known, report } = await measure(() => knownStalls(mark, count, ms, besideMs(ms)), { floorMs: 3 });
    const errors = known.map(({ label, lengthMs }) => {
      const stall = report.stalls.find(({ marks }) => marks.some((share) => share.label === label));
      return stall ? Math.abs(stall.lengthMs - lengthMs) - toleranceMs(lengthMs) : null;
    });
    found.push({ ms, errors });
  }
  return found;
}

/** The figures of one host from what `errorsByLength` gave. */
export function* figuresOf(host, found) {
  for (const { ms, errors } of found) {
    const name = `error of the meter beyond 1 ms or 5 %: stalls of ${ms} ms, ${host}`;
    if (errors.length === 0) yield { name, missing: "the machine is too busy: it left no wait in peace" };
    else {
      const samples = errors.map((error) => error ?? Number.POSITIVE_INFINITY);
      yield { name, unit: "ms", sense: "at most", limit: 0, samples };
    }
  }
}
