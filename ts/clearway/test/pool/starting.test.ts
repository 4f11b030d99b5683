// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Pool } from "clearway";
import { describe, expect, test } from "vitest";
import {
  builtUrl,
  type Plain,
  plainPool,
  plainUrl,
  reasonOf,
  testPool,
  warmed,
  workerMaker,
} from "../fixtures/pools.js";

const failures: [name: string, make: () => Pool<Plain>][] = [
  ["a module that does not exist", () => testPool<Plain>(builtUrl("missing"))],
  ["a module that throws", () => testPool<Plain>(builtUrl("throws"))],
  ["a module that exposes nothing", () => testPool<Plain>(builtUrl("silent"), { startTimeoutMs: 1_000 })],
  [
    "a factory that throws",
    () =>
      testPool<Plain>(() => {
        throw new RangeError("no worker today");
      }),
  ],
  ["a factory that gives no worker", () => testPool<Plain>((() => ({})) as never)],
];

describe.each(failures)("%s", (_name, make) => {
  test("fails ready() and every call, with a key, with a stream or without, every time", async () => {
    const made = make();
    expect(await reasonOf(made.ready())).toMatchObject({ code: "worker-start-failed" });
    for (let turn = 0; turn < 2; turn++) {
      const answers = await Promise.all([
        reasonOf(made.call.add(1, 2)),
        reasonOf(made.with({ key: "k" }).call.add(1, 2)),
        reasonOf(made.call.numbers(3).next()),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ code: "worker-start-failed" });
    }
    expect(made.stats()).toMatchObject({ open: 0, queue: { items: 0 } });
    await made.close();
  });
});

test("a call that cannot be sent to a worker that starts does not end it, although it may run only one", async () => {
  const made = testPool<Plain>(plainUrl, { size: 1, recycle: { tasks: 1 } });
  const refused = reasonOf(made.call.add((() => 1) as never, 2));
  const sum = made.call.add(1, 2);
  await made.ready();
  expect(await refused).toMatchObject({ code: "not-cloneable" });
  expect(await sum).toBe(3);
});

test("a factory that recovers is called again for the next call", async () => {
  const newWorker = await workerMaker();
  let broken = true;
  const made = testPool<Plain>(() => {
    if (broken) throw new RangeError("not yet");
    return newWorker(plainUrl);
  });
  expect(await reasonOf(made.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
  broken = false;
  expect(await made.call.add(1, 2)).toBe(3);
});

test("an error that prevents a worker's start is in the call's message and its cause", async () => {
  const cause = new RangeError("no worker today");
  const made = testPool<Plain>(() => {
    throw cause;
  });
  const message = expect.stringContaining("could not be started: no worker today");
  expect(await reasonOf(made.call.add(1, 2))).toMatchObject({ message, cause });
});

test("a refusal of expose() is in the call's message, which asks about no URL", async () => {
  const { message } = (await reasonOf(testPool<Plain>(builtUrl("exposes-class")).call.add(1, 2))) as Error;
  expect(message).toContain("tasks must be an object of functions, and not of a class");
  expect(message).not.toContain("URL");
});

test("an address without a module is asked about in the call's message", async () => {
  const { message } = (await reasonOf(testPool<Plain>(builtUrl("missing")).call.add(1, 2))) as Error;
  expect(message).toMatch(/\(is the URL right, and does the module call expose\(\)\?\)$/);
});

test.each(["missing", "throws", "exposes-class"])(
  "the error of a worker that cannot start names its module once: %s",
  async (name) => {
    const url = builtUrl(name);
    const { message } = (await reasonOf(testPool<Plain>(url).call.add(1, 2))) as Error;
    expect(message.split(url.pathname)).toHaveLength(2);
  },
);

test("ready() settles when a worker is ready, and ping() returns the worker's clock", async () => {
  const made = await warmed(testPool<Plain>(plainUrl));
  expect(made.stats().workers).toMatchObject({ ready: 1, size: 1 });
  const before = performance.timeOrigin + performance.now();
  const { remoteTimeMs } = await made.ping();
  expect(Math.abs(remoteTimeMs - before)).toBeLessThan(60_000);
});

// Uses a module that ends its worker once it is ready, so that calls which have not started return to the queue repeatedly.
type Exits = typeof import("../fixtures/exits.tasks.js");

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

describe.each([1, 3])("a module that ends each of %i workers as soon as it is ready", (size) => {
  test("fails the waiting calls, with and without a key, after some restarts", async () => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    const calls = [pool.call.add(1, 2), pool.with({ key: "k" }).call.add(1, 2), pool.call.add(2, 2)];
    for (const reason of await Promise.all(calls.map(reasonOf))) {
      expect(reason).toMatchObject({ code: "worker-start-failed" });
    }
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 } });
    expect(pool.stats().workers.restarts).toBeLessThan(30);
    await pool.close();
  });

  test("fails the next call, too, after one or two further starts", async () => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    await reasonOf(pool.call.add(1, 2));
    const { restarts } = pool.stats().workers;
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
    expect(pool.stats().workers.restarts).toBeLessThan(restarts + 4 * size);
  });

  // In a page, the worker ends before it is ready.
  test.runIf(inNode)(
    "is reported in stats() as exits in a row, with no next start once the calls have failed",
    async () => {
      const pool = testPool<Exits>(builtUrl("exits"), { size });
      expect(pool.stats().workers.pause).toBeUndefined();
      await reasonOf(pool.call.add(1, 2));
      // Of several workers, one may be ready for a moment, or may have exited while the pool waited to replace another.
      await expect.poll(() => pool.stats().workers.pause?.exits).toBeGreaterThan(8);
      await expect.poll(() => pool.stats().workers).toMatchObject({ size: 0, pause: { nextStartInMs: 0 } });
    },
  );

  // In a page, the worker ends before it is ready.
  test.runIf(inNode).each([
    ["terminate", "pool-terminated"],
    ["close", "pool-closed"],
  ] as const)("does not prevent %s() during the wait for the next start", async (end, code) => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    const lost = reasonOf(pool.call.add(1, 2));
    await expect.poll(() => pool.stats().workers.restarts).toBeGreaterThan(1);
    const ended = end === "close" ? pool.close({ timeoutMs: 0 }) : pool.terminate();
    // The pool may have given the call up before.
    expect([code, "worker-start-failed"]).toContain((await lost).code);
    await ended;
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code });
  });

  test.runIf(inNode)("fails its calls before close() settles, when close() has time to wait for them", async () => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    const lost = reasonOf(pool.call.add(1, 2));
    await expect.poll(() => pool.stats().workers.restarts).toBeGreaterThan(1);
    await pool.close();
    expect(await lost).toMatchObject({ code: "worker-start-failed" });
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });
});

const nowhere = new URL("./no-such.tasks.js", import.meta.url);

test("a stream of a pool whose worker cannot start fails when it is read, and not before", async () => {
  const pool = testPool<Plain>(nowhere);
  const stream = pool.call.yieldsNested(1);
  // The test's runner reports an unhandled rejection.
  expect((await reasonOf(pool.ready())).code).toBe("worker-start-failed");
  await new Promise((resolve) => setTimeout(resolve));
  expect((await reasonOf(stream.next())).code).toBe("worker-start-failed");
});

// Factories whose workers break the pool's assumptions.
const refusal = {
  code: "worker-start-failed",
  message: expect.stringContaining("the factory must return a new"),
  cause: { code: "invalid-argument" },
};

describe("a factory that returns the same worker twice", () => {
  test("fails the calls that need the second worker, and the first worker answers the others", async () => {
    const newWorker = await workerMaker();
    let made = 0;
    let worker: Worker | undefined;
    const pool = testPool<Plain>(
      () => {
        made++;
        worker ??= newWorker(plainUrl);
        return worker;
      },
      { size: 2 },
    );
    expect(await Promise.all([pool.call.count(), pool.call.count(), pool.call.add(1, 2)])).toEqual([1, 2, 3]);
    expect(made).toBeGreaterThan(1);
    expect(pool.stats().workers).toMatchObject({ size: 1, ready: 1 });
    const keyed = await Promise.allSettled(Array.from({ length: 8 }, (_, key) => pool.with({ key }).call.add(1, 2)));
    const failed = keyed.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(8);
    for (const reason of failed) expect(reason).toMatchObject(refusal);
    await pool.close();
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });

  test("fails every call of a second pool, and leaves the first pool's worker alone", async () => {
    const newWorker = await workerMaker();
    const worker = newWorker(plainUrl);
    const first = testPool<Plain>(() => worker);
    expect(await first.call.count()).toBe(1);
    const second = testPool<Plain>(() => worker);
    const reasons = [second.ready(), second.call.count(), second.with({ key: 1 }).call.count()].map(reasonOf);
    for (const reason of await Promise.all(reasons)) expect(reason).toMatchObject(refusal);
    await second.close();
    expect(await first.call.count()).toBe(2);
  });

  test("fails the next call after the worker was ended", async () => {
    const newWorker = await workerMaker();
    const worker = newWorker(plainUrl);
    const first = testPool<Plain>(() => worker);
    expect(await first.call.count()).toBe(1);
    await first.terminate();
    const second = testPool<Plain>(() => worker);
    expect(await reasonOf(second.call.count())).toMatchObject(refusal);
  });
});

describe("a worker whose postMessage throws", () => {
  const broken = new RangeError("not today");
  const lost = { code: "worker-crashed", message: expect.stringContaining("not today"), cause: broken };

  /** Makes a pool of such workers: they post messages until `stop` is called. */
  async function stopped(postsMax: number) {
    const newWorker = await workerMaker();
    let posts = 0;
    const stop = (): void => {
      posts = postsMax;
    };
    const pool = testPool<Plain>(
      () => {
        const worker = newWorker(plainUrl);
        const { postMessage } = worker;
        const post = (...given: [never, never]): void => {
          if (posts++ >= postsMax) throw broken;
          postMessage.apply(worker, given);
        };
        return Object.assign(worker, { postMessage: post }) as never;
      },
      { carrier: "port", graceMs: 10 },
    );
    return { pool, stop };
  }

  test("from the start fails ready() and every call at once, with its error as their cause", async () => {
    const { pool } = await stopped(0);
    const calls = [
      pool.ready(),
      pool.call.add(1, 2),
      pool.with({ key: "k" }).call.add(1, 2),
      pool.call.numbers(3).next(),
    ];
    for (const reason of await Promise.all(calls.map((call) => reasonOf(call))))
      expect(reason).toMatchObject({ code: "worker-start-failed", cause: broken });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed", cause: broken });
    await pool.close();
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });

  test("later fails the call that it refuses, with its error as the cause", async () => {
    const { pool, stop } = await stopped(Number.POSITIVE_INFINITY);
    expect(await pool.call.add(1, 2)).toBe(3);
    stop();
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "not-cloneable", cause: broken });
    expect(pool.stats().open).toBe(0);
  });

  test("later fails ping()", async () => {
    const { pool, stop } = await stopped(Number.POSITIVE_INFINITY);
    await pool.ready();
    stop();
    expect(await reasonOf(pool.ping())).toMatchObject(lost);
  });

  test("later fails a stream whose reader requests more values, and a concurrent call", async () => {
    const { pool, stop } = await stopped(Number.POSITIVE_INFINITY);
    const stream = pool.with({ window: { items: 1 } }).call.numbers(3);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    const never = reasonOf(pool.call.never());
    await pool.ping();
    stop();
    expect(await reasonOf(stream.next().then(() => stream.next()))).toMatchObject(lost);
    expect(await never).toMatchObject(lost);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 1 } });
  });
});

// Each of these tests calls its own pool in the tick that created it: the call is sent before its worker is ready.

test.each([
  ["number", 1],
  ["text", "one"],
  ["null", null],
  ["undefined", undefined],
  ["object", { at: [1, { two: 2 }] }],
])("a first call returns its result: %s", async (_name, value) => {
  expect(await plainPool().call.echo(value)).toEqual(value);
});

test("a first call moves its result, and the ledger counts it", async () => {
  const pool = plainPool();
  expect(await pool.call.bytes(1000)).toHaveLength(1000);
  expect(pool.stats().ledger.fromWorkers).toMatchObject({ movedBytes: 1000, copiedBytes: 0 });
});

test("a first call may be asynchronous, and may fail with its complete error", async () => {
  expect(await plainPool().call.later(1)).toBe(2);
  const pool = plainPool();
  expect(await reasonOf(pool.call.fail("no"))).toMatchObject({ name: "RangeError", message: "no" });
  expect(pool.stats().tasks["fail"]).toMatchObject({ calls: 1, ok: 0, failed: 1 });
});

test("a first call fails when its argument or result cannot be cloned", async () => {
  expect(await reasonOf(plainPool().call.returnsFunction())).toMatchObject({ code: "not-cloneable" });
  expect(await reasonOf(plainPool().call.returnsGenerator() as unknown as Promise<unknown>)).toMatchObject({
    code: "not-cloneable",
  });
  expect(await reasonOf(plainPool().call.echo(() => 1))).toMatchObject({ code: "not-cloneable" });
});

test("a first call of a generator is a stream, and its task runs once", async () => {
  const pool = plainPool();
  const seen: number[] = [];
  for await (const each of pool.call.numbers(3)) seen.push(each);
  expect(seen).toEqual([0, 1, 2]);
  expect(pool.stats().tasks["numbers"]).toMatchObject({ calls: 1, ok: 1 });
});

test("a first call is cancelled when its reader ends it as a stream, and the pool keeps working", async () => {
  const pool = plainPool();
  const call = pool.call.never() as unknown as AsyncIterator<unknown>;
  await call.return?.();
  expect(await reasonOf(call as unknown as Promise<unknown>)).toMatchObject({ code: "cancelled" });
  await pool.ready();
  await pool.terminate();
  expect(pool.stats().open).toBe(0);
});

test("a first call with an argument that cannot be cloned is cancelled when its reader ends it, and the pool keeps working", async () => {
  const pool = plainPool();
  const call = pool.call.echo(() => 1) as unknown as AsyncIterator<unknown>;
  const ended = call.return?.("left");
  expect(await reasonOf(call as unknown as Promise<unknown>)).toMatchObject({ code: "cancelled" });
  expect(await ended).toEqual({ done: true, value: "left" });
  expect(await pool.call.echo(2)).toBe(2);
  expect(pool.stats()).toMatchObject({ open: 0, tasks: { echo: { calls: 2, ok: 1, failed: 0, cancelled: 1 } } });
});

test("many first calls are distributed over the starting workers, and each runs once", async () => {
  const pool = plainPool({ size: 2 });
  const counts = await Promise.all(Array.from({ length: 20 }, () => pool.call.count()));
  expect(counts.reduce((sum, each) => Math.max(sum, each), 0)).toBeGreaterThanOrEqual(10);
  expect(pool.stats().tasks["count"]).toMatchObject({ calls: 20, ok: 20 });
});

test("a pool below its maximum size starts a worker for a second call, even while another is starting", async () => {
  const pool = plainPool({ size: { min: 1, max: 2 } });
  await Promise.all([pool.call.spin(1), pool.call.spin(1)]);
  expect(pool.stats().workers.size).toBe(2);
});

test("a first call has a measured duration when metrics are on", async () => {
  await warmed(plainPool({ metrics: true }));
  const cold = plainPool({ metrics: true });
  await cold.call.add(1, 2);
  expect(cold.stats().tasks["add"]?.runUs).toMatchObject({ count: 1 });
});

test("a first call of an unknown task fails with the names that the module exposes", async () => {
  const pool = testPool<{ none(): void }>(builtUrl("plain"));
  expect(await reasonOf(pool.call.none())).toMatchObject({
    code: "unknown-task",
    message: expect.stringMatching(/^the module exposes no task "none"; it exposes add, echo, later, .*, print$/),
  });
});
