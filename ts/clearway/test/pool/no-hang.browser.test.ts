// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import fc, { cases, seed } from "../fixtures/fast-check.js";
import { foreignSignals, throwing } from "../fixtures/misdeeds.js";
import { plainPool } from "../fixtures/pools.js";
import { failedOnce, type Plan, plans } from "./chaos/plan.js";
import { play, type Surroundings } from "./chaos/play.js";

// Plays fewer of the same plans as `no-hang.node.test.ts`, which also has the checks that only Node allows.
const runs = cases(60);

const listeners = new WeakMap<AbortSignal, number>();
const add = AbortSignal.prototype.addEventListener;
const remove = AbortSignal.prototype.removeEventListener;

// A browser does not report the number of a signal's listeners, so this counts additions and removals. A `once` listener that was
// called also counts as removed.
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

// A browser's worker holds a lock while it lives. Chromium takes two seconds to end a worker in an endless loop, and terminate() cannot
// wait for that, so this checks once, at the end. Another test counts Node's threads. The origin's locks include that of
// the service worker of another test file, which lives on.
async function workers(): Promise<string[]> {
  const { held } = await navigator.locks.query();
  return (held ?? []).flatMap(({ name }) => (name?.startsWith("clearway:") ? [name] : []));
}

test(`no call ever hangs (seed ${seed})`, async () => {
  const restore = counting();
  const foreign = new Set(await workers());
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
  await expect.poll(async () => (await workers()).filter((name) => !foreign.has(name))).toEqual([]);
});

test.each(Object.keys(foreignSignals))("%s that throws settles its calls, and the pool goes on", async (name) => {
  const pool = plainPool();
  for (const act of Object.values(throwing)) {
    const { signal, abort } = foreignSignals[name]!(act);
    const { call } = pool.with({ signal });
    const calls = [call.add(1, 2), call.add(3, 4)];
    abort();
    await Promise.allSettled([...calls, call.add(5, 6)]);
  }
  expect(await pool.call.add(1, 2)).toBe(3);
});
