// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: frames cross by ring, by port and by pipes.
// Child processes, too: frames cross by ring, by port and by pipes.
import { callback } from "clearway/callback";
import { expect, test } from "vitest";
import { isFromCaller, isFromWorker } from "../../src/transport/protocol.js";
import fc, { cases } from "../fixtures/fast-check.js";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Borders = typeof import("../fixtures/borders.tasks.js");
const borders = () => testPool<Borders>(builtUrl("borders"), { concurrency: 2 });

const wireError = { base: "Error", name: "Error", message: "m", stack: "s", props: [] };
const never = () => callback(() => new Promise<void>(() => {}));

test.each<[what: string, frames: unknown[]]>([
  ["a result with text for its run time", [9, 1, "a", "b"]],
  ["a coded result without a form", [73, 1, "a", 0]],
  ["a failure without an error", [10, 1, undefined, 0]],
  ["a failure whose properties are no list", [10, 1, { ...wireError, props: 5 }, 0]],
  ["a list of tasks that is no list", [7, 0, 5, 0]],
  ["a ledger that is none", [14, 0, null, 0]],
  ["a ledger whose copies are none", [14, 0, { movedBytes: 0, sharedBytes: 0, copiedBytes: 0, copies: null }, 0]],
  ["ids that are no list", [16, 0, 7, 0]],
  ["a roll that is no list", [24, 0, null, 0]],
  ["an error of progress without a message", [11, 1, null, -1]],
  ["credit that is no number", [4, 1, {}, []]],
  ["a frame that only a pool sends", [1, 1, 0, []]],
  ["a frame whose id is no number", [9, {}, 1, 1]],
])("a worker that posts %s ends with protocol, and the next call gets a new worker", async (_what, frames) => {
  const pool = borders();
  expect(await pool.call.echo(1)).toBe(1);
  const held = reasonOf(pool.call.ask(1, never()));
  pool.call.post(frames).catch(() => {});
  expect(await held).toMatchObject({ code: "protocol" });
  expect(await pool.call.echo(2)).toBe(2);
  expect(pool.stats().workers.restarts).toBe(1);
});

test("a worker that says that no call has begun, and then sends something else, runs its call once", async () => {
  const pool = borders();
  expect(await reasonOf(pool.call.post([16, 0, [], 0, 9, {}, 1, 1]))).toMatchObject({ code: "protocol" });
  expect(await pool.call.echo(2)).toBe(2);
  expect(pool.stats().workers.restarts).toBe(1);
});

test.each<[what: string, message: unknown]>([
  ["text", "text"],
  ["an object", { a: 1 }],
  ["an array of texts", ["a", "b", "c", "d"]],
  ["an array of another length", [9, 1, 2]],
  ["an array of large numbers", [1000, 2, 3, 4]],
])("a message of the task module itself is ignored: %s", async (_what, message) => {
  const pool = borders();
  expect(await pool.call.echo(1)).toBe(1);
  await pool.call.post(message);
  expect(await pool.call.echo(2)).toBe(2);
  expect(pool.stats().workers.restarts).toBe(0);
});

// The ops of the protocol and others, with slots of every type.
const slot = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    0,
    1,
    -1,
    2.5,
    Number.NaN,
    "a",
    "",
    true,
    [],
    {},
    [1],
    [[1]],
    [1, [2], [3]],
  ),
  fc.constantFrom<unknown>(wireError, { ...wireError, cause: 1 }, { ...wireError, errors: {} }, { value: 1 }),
  fc.constantFrom<unknown>([1, {}], [2, { root: 1, parts: 5 }], [["echo", "function"]], [1, undefined, { base: 1 }]),
  fc.anything(),
);
const op = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(65, 73, 83, 127, -1, 2 ** 31));
const frame = fc.tuple(op, fc.oneof(fc.integer({ min: 0, max: 12 }), slot), slot, slot);
const cloneable = (frames: unknown[]): boolean => {
  try {
    structuredClone(frames);
    return true;
  } catch {
    return false;
  }
};

test("any frames that a worker posts are read, or end it with protocol or with the error of a lost message", async () => {
  const pool = borders();
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 3 }), async (frames) => {
      const message = frames.flat();
      fc.pre(cloneable(message));
      // The frames may also settle this call: they may be its answer.
      const outcome = await pool
        .with({ timeoutMs: 20_000 })
        .call.post(message)
        .then(
          () => "ok",
          (reason) => reason,
        );
      expect(["ok", "protocol", "message-error", "worker-exited", "cancelled"]).toContain(
        outcome === "ok" || outcome?.code === undefined ? "ok" : outcome.code,
      );
    }),
    { numRuns: cases(60) },
  );
  await pool.terminate();
});

test("the check of a frame throws for nothing, from either side", () => {
  fc.assert(
    fc.property(frame, (parts) => {
      expect(typeof isFromWorker(...parts)).toBe("boolean");
      expect(typeof isFromCaller(...parts)).toBe("boolean");
    }),
    { numRuns: cases(2000) },
  );
});

test("a list with very many holes is refused at its first hole", () => {
  const holes: unknown[] = [];
  holes.length = 4_000_000_000;
  expect(isFromWorker(24, 0, holes, 0)).toBe(false);
  expect(isFromWorker(10, 0, { ...wireError, errors: holes }, 0)).toBe(false);
});
