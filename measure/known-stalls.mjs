// SPDX-License-Identifier: MIT OR Apache-2.0
// Blocks this thread for known times while the meter runs, in Node or in a page. Returns the errors of the meter.

/** The lengths of the stalls in milliseconds, each with the number of stalls to compare. */
export const lengths = [
  [5, 15],
  [20, 15],
  [50, 15],
  [100, 15],
  [500, 7],
];

/** The meter's promised tolerance: 1 ms or 5 %, whichever is more. */
export const toleranceMs = (lengthMs) => Math.max(1, lengthMs * 0.05);

// Maximum delay of a timer on an idle thread, in milliseconds. Node's timers have whole milliseconds.
const lateMs = 2;

/** Keeps the thread busy for about `ms` milliseconds. Returns the start and the real length, by the clock that the meter also uses. */
function busy(ms) {
  const startMs = performance.now();
  while (performance.now() - startMs < ms);
  return { startMs, lengthMs: performance.now() - startMs };
}

// The pauses vary, so that they do not have the period of any heartbeat.
const pauseMs = (index) => 13 + ((index * 7) % 11);
const pause = (index) => new Promise((resolve) => setTimeout(resolve, pauseMs(index)));

/** Settles after a turn of the event loop. */
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
 * Blocks the thread for about `ms` at a time, until the machine has left `count` stalls undisturbed. Returns only these stalls. The machine
 * may take the thread off its core just before or after a stall, and the meter then rightly finds a longer stall. In that case the timer
 * before the stall is late, or the turn after it takes more than `besideMs`. Makes at most ten times `count` attempts.
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
 * Returns, for each length, by how many milliseconds the meter's errors exceed its tolerance. There is one sample per stall, which is null
 * if the meter did not find the stall. `besideMs(lengthMs)` limits the time that the machine may add to a stall.
 */
export async function errorsByLength({ measure, mark }, besideMs) {
  const found = [];
  for (const [ms, count] of lengths) {
    // `floorMs` is below the shortest length, so that the meter still records a stall if it estimates a little too low.
    const { value: known, report } = await measure(() => knownStalls(mark, count, ms, besideMs(ms)), { floorMs: 3 });
    const errors = known.map(({ label, lengthMs }) => {
      const stall = report.stalls.find(({ marks }) => marks.some((share) => share.label === label));
      return stall ? Math.abs(stall.lengthMs - lengthMs) - toleranceMs(lengthMs) : null;
    });
    found.push({ ms, errors });
  }
  return found;
}

/** Yields the figures of one host from the result of `errorsByLength`. */
export function* figuresOf(host, found) {
  for (const { ms, errors } of found) {
    const name = `error of the meter beyond 1 ms or 5 %: stalls of ${ms} ms, ${host}`;
    if (errors.length === 0) yield { name, missing: "the machine is too busy: it disturbed every wait" };
    else {
      const samples = errors.map((error) => error ?? Number.POSITIVE_INFINITY);
      yield { name, unit: "ms", sense: "at most", limit: 0, samples };
    }
  }
}
