// SPDX-License-Identifier: MIT OR Apache-2.0
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pool } from "clearway";
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import fc, { cases, seed } from "../fixtures/fast-check.js";
import { builtUrl, upTo, warmCallbackPool } from "../fixtures/pools.js";
import { HeapWatch, watchLeft } from "./chaos/left-behind.js";

type Callbacks = typeof import("../fixtures/callback.tasks.js");

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const runs = cases(60);
// Ends the test if a run hangs.
const timeout = 120_000 + runs * 2000;

const deeds = [
  "answers",
  "answers later",
  "throws",
  "rejects",
  "lies",
  "calls again",
  "hangs",
  "aborts",
  "closes",
] as const;
const tasks = ["each", "atOnce", "flood", "keep", "leaves"] as const;

const plan = fc.record({
  carrier: fc.constantFrom("auto" as const, "port" as const),
  calls: fc.array(
    fc.record({
      task: fc.constantFrom(...tasks),
      /** What the callback does at each of its calls. After the last one, it answers. */
      deeds: fc.array(fc.constantFrom(...deeds), { maxLength: 4 }),
      concurrency: fc.constantFrom(1, 2, 64),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  terminates: fc.boolean(),
});

/** Plays a plan on a pool of its own. Returns how the calls ended. */
async function play({ carrier, calls, terminates }: typeof plan extends fc.Arbitrary<infer T> ? T : never) {
  const made = pool<Callbacks>(builtUrl("callback"), {
    size: { min: 1, max: 2 },
    carrier,
    graceMs: 50,
    onError: () => {},
  });
  const outcomes = calls.map(({ task, deeds, concurrency }) => {
    const controller = new AbortController();
    let settled = false;
    let after = 0;
    const left = [...deeds];
    const tell = callback(
      (value: unknown): unknown => {
        if (settled) after++;
        switch (left.shift()) {
          case "answers later":
            return new Promise((resolve) => setImmediate(resolve, value));
          case "throws":
            throw new RangeError("thrown");
          case "rejects":
            return Promise.reject("rejected");
          case "lies":
            return () => value;
          case "calls again":
            void made.call.add(1, 2).catch(() => {});
            return value;
          case "hangs":
            // Ends the call later, because the task waits for ever.
            setImmediate(() => controller.abort(new RangeError("hung")));
            return new Promise(() => {});
          case "aborts":
            controller.abort(new RangeError("aborted"));
            return value;
          case "closes":
            void made.close({ timeoutMs: 50 });
            return value;
          default:
            return value;
        }
      },
      { concurrency },
    );
    const { call } = made.with({ signal: controller.signal });
    const answer: Promise<unknown> =
      task === "each" || task === "atOnce"
        ? call[task]([1, 2, 3, 4], tell)
        : task === "flood"
          ? call.flood(100, tell)
          : call[task](tell);
    return answer
      .then(
        () => "fulfilled",
        () => "rejected",
      )
      .then((how) => {
        settled = true;
        return { how, after: () => after };
      });
  });
  const ended = await Promise.all(outcomes);
  // A late message of a task would run its callback now.
  if (!terminates) await made.ping().catch(() => {});
  const late = ended.map(({ after }) => after()).filter((count) => count > 0);
  await (terminates ? made.terminate() : made.close());
  return { late, stats: made.stats() };
}

test(`no order of callbacks leaves a call, a handle or a listener, or runs a callback after its call (seed ${seed})`, {
  timeout,
}, async () => {
  const heap = new HeapWatch(runs);
  const left = watchLeft();
  await fc.assert(
    fc.asyncProperty(plan, async (each) => {
      const { late, stats } = await play(each);
      expect(late).toEqual([]);
      expect(stats).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
      heap.played();
    }),
    { numRuns: runs, seed },
  );
  expect(await left()).toEqual([]);
  expect(heap.grown()).toBeUndefined();
});

describe("the memory of a callback", () => {
  test("is free once its call has settled, although the task keeps its function", async () => {
    const made = await warmCallbackPool();
    const gone = await (async () => {
      const held = { text: "held by the function" };
      await made.call.keep(callback(() => held.text));
      return new WeakRef(held);
    })();
    // The last call may stay in memory until the next one.
    expect(await made.call.add(1, 2)).toBe(3);
    await expect
      .poll(() => {
        collect();
        // `poll` keeps what it was given last, so it must not be given the object.
        return gone.deref() === undefined;
      })
      .toBe(true);
    expect(await made.call.late()).toMatchObject({ code: "callback-ended" });
  });

  test("is free once its call has failed or was cancelled, although its promise never settles", async () => {
    const made = await warmCallbackPool();
    const refs: WeakRef<object>[] = [];
    for (const _ of upTo(2)) {
      await (async () => {
        const held = { text: "held by the function" };
        const controller = new AbortController();
        const call = made.with({ signal: controller.signal }).call.waits(
          callback(() => {
            controller.abort(new RangeError(held.text));
            return new Promise(() => {});
          }),
        );
        await expect(call).rejects.toThrow("held by");
        refs.push(new WeakRef(held));
      })();
    }
    expect(await made.call.add(1, 2)).toBe(3);
    await expect
      .poll(() => {
        collect();
        return refs.map((ref) => ref.deref() === undefined);
      })
      .toEqual([true, true]);
  });
});
