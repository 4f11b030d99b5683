// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import fc, { seed } from "../fixtures/fast-check.js";
import { failedOnce, type Plan, plans } from "./chaos/plan.js";
import { play, type Surroundings } from "./chaos/play.js";

// The same plans as in `no-hang.node.test.ts`, fewer. What only Node can say of itself is checked there.
const runs = 60;

const listeners = new WeakMap<AbortSignal, number>();
const add = AbortSignal.prototype.addEventListener;
const remove = AbortSignal.prototype.removeEventListener;

// A browser does not tell how many listeners a signal has: they are counted as they come and go. One that was called
// once is gone too.
function counting(): () => void {
  const count = (signal: AbortSignal, by: number): void => {
    listeners.set(signal, (listeners.get(signal) ?? 0) + by);
  };
  AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...args: Parameters<typeof add>) {
    count(this, 1);
    return add.apply(this, args);
  } as typeof add;
  AbortSignal.prototype.removeEventListener = function (this: AbortSignal, ...args: Parameters<typeof remove>) {
    count(this, -1);
    return remove.apply(this, args);
  } as typeof remove;
  return () => {
    AbortSignal.prototype.addEventListener = add;
    AbortSignal.prototype.removeEventListener = remove;
  };
}

const surroundings: Surroundings = {
  url: new URL("../fixtures/built/chaos.tasks.js", import.meta.url),
  listeners: (signal) => (signal.aborted ? 0 : (listeners.get(signal) ?? 0)),
  noWorkerLeft: async () => {},
  stray: async () => [],
};

// In a browser a worker holds a lock for as long as it lives. Chromium takes two seconds to end one that is in an endless
// loop, and terminate() cannot wait for that, so this is asked once, at the end. Node counts its threads in another test.
async function workersLeft(): Promise<unknown[]> {
  const { held } = await navigator.locks.query();
  return (held ?? []).filter(({ name }) => name?.startsWith("clearway:"));
}

test(`no call ever hangs (seed ${seed})`, { timeout: 240_000 }, async () => {
  const restore = counting();
  try {
    const playing = (plan: Plan): Promise<void> => play(plan, surroundings);
    await fc.assert(fc.asyncProperty(plans(16), playing), {
      numRuns: runs,
      seed,
      endOnFailure: true,
      examples: failedOnce.map((plan) => [plan]),
    });
  } finally {
    restore();
  }
  await expect.poll(workersLeft, { timeout: 60_000 }).toEqual([]);
});
