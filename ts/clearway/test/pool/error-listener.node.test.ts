// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { sample } from "../fixtures/fast-check.js";
import { hanging, returning, throwing } from "../fixtures/misdeeds.js";
import { gate, reasonOf, testPool } from "../fixtures/pools.js";
import { strayTo } from "../fixtures/stray.js";
import { type Foreign, foreignUrl } from "./foreign/stage.js";

const stray: unknown[] = [];
let restore = (): void => {};
beforeEach(() => {
  stray.length = 0;
  restore = strayTo((reason) => stray.push(reason));
});
afterEach(() => restore());

const misdeeds = (from: number) =>
  Object.entries({ ...sample(throwing, from), ...sample(returning, from), ...sample(hanging, from) });

test.each(misdeeds(0))("an onError that %s is called once per crash, and the pool goes on", async (what, act) => {
  const told = gate<unknown>();
  let calls = 0;
  const pool = testPool<Foreign>(foreignUrl, {
    onError: (error) => {
      calls++;
      told.tell(error);
      // Re-enters the pool as well.
      void pool.call.add(3, 4);
      return act() as undefined;
    },
  });
  expect(await pool.call.add(1, 2)).toBe(3);
  expect(await reasonOf(pool.call.fails())).toMatchObject({ code: "worker-crashed" });
  expect(await told.promise).toMatchObject({ message: "uncaught" });
  expect(await pool.call.add(5, 6)).toBe(11);
  await pool.close();
  expect(calls).toBe(1);
  // What a listener throws is the app's own uncaught error.
  expect(stray).toHaveLength(what.startsWith("throws") ? 1 : 0);
});

test("errors that belong to no call are printed without an onError", async () => {
  const printed = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => printed.mockRestore());
  const typo = new Error("typo");
  const pool = testPool<Foreign>(foreignUrl, {
    name: "prints",
    metrics: () => {
      throw typo;
    },
  });
  expect(await pool.call.add(1, 2)).toBe(3);
  await pool.close();
  expect(printed.mock.calls).toEqual([['pool "prints":', typo]]);
});

test.each(misdeeds(1))(
  "an onWorker and an onDrain that %s are called for each event, and the pool goes on",
  async (what, act) => {
    const events: string[] = [];
    const pool = testPool<Foreign>(foreignUrl, {
      onWorker: ({ type }) => {
        events.push(type);
        void pool.call.add(3, 4).catch(() => {});
        return act() as undefined;
      },
      onDrain: () => {
        events.push("drained");
        return act() as undefined;
      },
    });
    await pool.ready();
    expect(await Promise.all([pool.call.add(1, 2), pool.call.add(3, 4), pool.call.add(5, 6)])).toEqual([3, 7, 11]);
    await pool.close();
    expect(events).toEqual(["started", "drained", "exited"]);
    expect(stray).toHaveLength(what.startsWith("throws") ? 3 : 0);
  },
);
