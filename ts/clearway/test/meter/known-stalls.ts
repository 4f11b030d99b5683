// SPDX-License-Identifier: MIT OR Apache-2.0
import { mark } from "../../src/meter/mark.js";
import type { Stall } from "../../src/meter/stall.js";

/** Works for about `ms` and returns how long it really was, by the clock that the meter reads too. */
export function busy(ms: number): { startMs: number; lengthMs: number } {
  const startMs = performance.now();
  while (performance.now() - startMs < ms);
  return { startMs, lengthMs: performance.now() - startMs };
}

/** The meter's promise: 1 ms or 5 %, whichever is more. */
export const toleranceMs = (lengthMs: number): number => Math.max(1, lengthMs * 0.05);

/** What the meter must show at least of a stall of this length. */
export const atLeastMs = (lengthMs: number): number => lengthMs - toleranceMs(lengthMs);

const pauseMs = (index: number): number => 13 + ((index * 7) % 11);

/** A pause for the loop, of a length that does not fall into step with any heartbeat. */
export const pause = (index: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs(index)));

/** A wait of a known length; the meter finds it by its mark. */
export interface Known {
  label: string;
  startMs: number;
  lengthMs: number;
}

// A timer comes up to so much late where nothing is in its way: Node's are told in whole milliseconds.
const lateMs = 2;

/**
 * Waits `count` times for about `ms`, with pauses between, and gives those that the machine left in peace. It may take a
 * thread off its core just beside a wait, and then the stall really is longer than the wait: that shows in a timer before
 * that was late, and in a turn of the event loop after that took more than `besideMs` (in a page a turn may draw). Goes on,
 * for ten times as many at most, until there are enough; what is given is what the clock says, whatever the meter says.
 */
export async function knownStalls(count: number, ms: number, besideMs: number): Promise<Known[]> {
  const known: Known[] = [];
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
  if (known.length === 0)
    throw new Error(`the machine is too busy: it left none of ${count * 10} waits of ${ms} ms in peace`);
  return known;
}

/** By how much the meter is off beyond its tolerance for each of them, in order; infinity for one that it did not see. */
export function errorsOf(known: readonly Known[], stalls: readonly Stall[]): number[] {
  const errors = known.map(({ label, lengthMs }) => {
    const stall = stalls.find(({ marks }) => marks.some((share) => share.label === label));
    return stall ? Math.abs(stall.lengthMs - lengthMs) - toleranceMs(lengthMs) : Number.POSITIVE_INFINITY;
  });
  return errors.sort((a, b) => a - b);
}

/** Settles when the event loop has turned. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => {
      port2.close();
      resolve();
    };
    port1.postMessage(0);
  });
}
