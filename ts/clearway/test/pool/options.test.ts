// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallOptions, ClearwayError, move, type PoolOptions, pool, run } from "clearway";
import { expose, resource, task, withResources } from "clearway/worker";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtUrl, plainPool, plainUrl } from "../fixtures/pools.js";

const bad: [shown: string, options: PoolOptions][] = [
  ["size=0", { size: 0 }],
  ["size=1.5", { size: 1.5 }],
  ['size="all"', { size: "all" as never }],
  ["size=10000000", { size: 1e7 }],
  ["size.max=1025", { size: { max: 1025 } }],
  ["size.min=1025", { size: { min: 1025 } }],
  ["size.min=-1", { size: { min: -1 } }],
  ["size.max=0", { size: { max: 0 } }],
  ["size.min=3", { size: { min: 3, max: 2 } }],
  ["size.idleMs=-1", { size: { idleMs: -1 } }],
  ["concurrency=0", { concurrency: 0 }],
  ["queue.items=0.5", { queue: { items: 0.5 } }],
  ["queue.bytes=NaN", { queue: { bytes: Number.NaN } }],
  ['queue.whenFull="block"', { queue: { whenFull: "block" as never } }],
  ["window.items=0", { window: { items: 0 } }],
  ["window.items=Infinity", { window: { items: Number.POSITIVE_INFINITY } }],
  ["window.bytes=0", { window: { bytes: 0 } }],
  ["graceMs=-1", { graceMs: -1 }],
  ["startTimeoutMs=0", { startTimeoutMs: 0 }],
  ["recycle.tasks=0", { recycle: { tasks: 0 } }],
  ["recycle.ageMs=0", { recycle: { ageMs: 0 } }],
  ["recycle.heapMb=0", { recycle: { heapMb: 0 } }],
  ["name must be of type string: name=12", { name: 12 as never }],
  ['resourceLimits="x"', { resourceLimits: "x" as never }],
  ['queue must be an object: queue="test"', { queue: "test" as never }],
  ["queue must be an object: queue=null", { queue: null as never }],
  ["window must be an object: window=16", { window: 16 as never }],
  ["onError must be of type function: onError=3", { onError: 3 as never }],
  ["module must be of type function: module=[object]", { module: {} as never }],
  ["strict must be of type boolean: strict=1", { strict: 1 as never }],
  ['metrics must be true, false or a function: metrics="yes"', { metrics: "yes" as never }],
  ["size=null", { size: null as never }],
  ["size=[function]", { size: (() => 1) as never }],
  ["concurrency=Symbol(two)", { concurrency: Symbol("two") as never }],
  ['graceMs="1000"', { graceMs: "1000" as never }],
  ["options must be an object: options=null", null as never],
  ["options must be an object: options=4", 4 as never],
  ["options must be an object: options=[object]", ["cpu"] as never],
  ["the nearest is startTimeoutMs): startTimeout=5", { startTimeout: 5 } as never],
  ["the nearest is concurrency): concurency=[object]", { concurency: {} } as never],
  ['the nearest is whenFull): queue.whenfull="fail"', { queue: { whenfull: "fail" } } as never],
  ["the nearest is idleMs): size.idle=1", { size: { idle: 1 } } as never],
  ["known option (the nearest is", { constructor: 1 } as never],
];

const badCalls: [shown: string, options: CallOptions][] = [
  ["timeoutMs=-1", { timeoutMs: -1 }],
  ["deadlineMs=NaN", { deadlineMs: Number.NaN }],
  ["retries=-1", { retries: -1 }],
  ["priority=Infinity", { priority: Number.POSITIVE_INFINITY }],
  ["signal=5", { signal: 5 as never }],
  ["signal must be an AbortSignal: signal=[object]", { signal: {} as never }],
  ["window.items=0", { window: { items: 0 } }],
  ["signal must be an AbortSignal: signal=null", { signal: null as never }],
  ["onProgress must be of type function: onProgress=true", { onProgress: true as never }],
  ["key must be of type string or number: key=[object]", { key: {} as never }],
  ['priority="high"', { priority: "high" as never }],
  ['strict="no"', { strict: "no" as never }],
  ["options must be an object: options=undefined", undefined as never],
  ["the nearest is timeoutMs): timeout=5", { timeout: 5 } as never],
  ["the nearest is retries): retry=2", { retry: 2 } as never],
  ["): size=2", { size: 2 } as never],
];

function thrownBy(act: () => unknown): ClearwayError {
  try {
    act();
  } catch (reason) {
    return reason as ClearwayError;
  }
  throw new Error("it did not throw");
}

describe("an invalid option", () => {
  test.each(bad)("of a pool is refused with its value: %s", (shown, options) => {
    const reason = thrownBy(() => pool(plainUrl, options));
    expect(reason).toBeInstanceOf(ClearwayError);
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });

  test.each(badCalls)("of a call is refused with its value: %s", (shown, options) => {
    const made = plainPool();
    const reason = thrownBy(() => made.with(options));
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });
});

describe("every other function with options", () => {
  const bytes = new Uint8Array(4);
  test.each<[shown: string, act: () => unknown]>([
    ["the nearest is graceMs): grace=1", () => run(plainUrl, { grace: 1 } as never)],
    ["the nearest is signal): signals=1", () => run(plainUrl, { signals: 1 } as never)],
    ["name must be of type string: name=1", () => run(plainUrl, { name: 1 as never })],
    ["options must be an object: options=null", () => run(plainUrl, null as never)],
    ["(to run a function, expose() it in a task module): source=12", () => pool(12 as never)],
    ["source=null", () => pool(null as never)],
    ["transfer must be an array of objects: transfer=42", () => move(bytes, 42 as never)],
    ["transfer=null", () => move(bytes, null as never)],
    ["transfer=[object]", () => move(bytes, [1] as never)],
    ['the nearest is placement): place="auto"', () => task({ place: "auto" } as never, () => 1)],
    ['moveSearchLimit="5"', () => task({ moveSearchLimit: "5" as never }, () => 1)],
    ["options must be an object: options=5", () => task(5 as never, () => 1)],
    ["the nearest is close): resource.closed=[function]", () => resource({ open: () => 1, closed() {} } as never)],
    [
      "resource.check must be of type function: resource.check=true",
      () => resource({ open: () => 1, check: true as never }),
    ],
    ["resource must be an object: resource=undefined", () => resource(undefined as never)],
    ["resources must be an object: resources=null", () => withResources(null as never)],
    ["tasks must be an object: tasks=undefined", () => expose(undefined as never)],
    [
      "tasks must be an object of functions, and not of a class: tasks=[object]",
      () =>
        expose(
          new (class Counter {
            increment() {}
          })() as never,
        ),
    ],
    ['the task "a" must be a function, or made by task(): the task "a"=[object]', () => expose({ a: {} as never })],
  ])("refuses an invalid field with its value: %s", (shown, act) => {
    const reason = thrownBy(act);
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });

  test("rejects instead of throwing when it returns a promise", async () => {
    const made = plainPool();
    await expect(made.close({ timeoutMs: -1 })).rejects.toThrow("timeoutMs must be a number, 0 or more: timeoutMs=-1");
    await expect(made.close({ timeout: 5 } as never)).rejects.toThrow("the nearest is timeoutMs): timeout=5");
    expect(await made.call.add(1, 2)).toBe(3);
  });
});

test("an invalid option starts no worker", () => {
  let made = 0;
  const factory = (): never => {
    made++;
    throw new Error("not wanted");
  };
  expect(() => pool(factory, { onError: 3 as never })).toThrow("onError");
  expect(made).toBe(0);
});

test("an option is read once, and an error of its getter is the cause of a typed error", async () => {
  let reads = 0;
  const made = plainPool({
    get concurrency() {
      return ++reads === 1 ? 2 : ("lies" as never);
    },
  });
  expect(reads).toBe(1);
  expect(await made.call.add(1, 2)).toBe(3);
  const thrown = { mine: true };
  const throwing = {
    get name(): string {
      throw thrown;
    },
  };
  for (const make of [() => pool(plainUrl, throwing), () => run(plainUrl, throwing)])
    expect(thrownBy(make)).toMatchObject({ code: "invalid-argument", message: "name cannot be read", cause: thrown });
  // A getter of run()'s options, too.
  const { call } = run<typeof import("../fixtures/plain.tasks.js")>(plainUrl, {
    get graceMs() {
      return ++reads === 2 ? 5 : ("lies" as never);
    },
  });
  expect(reads).toBe(2);
  expect(await call.add(1, 2)).toBe(3);
});

test("an enumerable property of Object.prototype is not an option", async () => {
  const prototype = Object.prototype as unknown as Record<string, unknown>;
  prototype["polluted"] = 1;
  try {
    const made = plainPool({ queue: { items: 5 } });
    expect(await made.with({ timeoutMs: 60_000 }).call.add(1, 2)).toBe(3);
  } finally {
    delete prototype["polluted"];
  }
});

test("options may be an instance of a class, whose methods are called on it", async () => {
  class Options {
    name = "classy";
    size = 1;
    // Not an option, so it must not be an enumerable property.
    readonly #seen: unknown[] = [];
    get seen(): unknown[] {
      return this.#seen;
    }
    onError(error: unknown): void {
      this.#seen.push(error);
    }
  }
  const options = new Options();
  // Not a helper of the tests, which would copy the options into a plain object.
  const made = pool<typeof import("../fixtures/foreign.tasks.js")>(builtUrl("foreign"), options);
  onTestFinished(() => made.terminate());
  await made.call.failsLater();
  await expect.poll(() => options.seen).toMatchObject([{ message: expect.stringContaining("uncaught") }]);
});

test("options with the value undefined are ignored", async () => {
  const none: Record<string, unknown> = { name: undefined, signal: undefined, nme: undefined };
  const made = plainPool(none as PoolOptions);
  expect(await made.with(none as CallOptions).call.add(1, 2)).toBe(3);
});

test("options at their limits are accepted", async () => {
  const made = plainPool({
    size: { min: 0, max: "cpu", idleMs: Number.POSITIVE_INFINITY },
    queue: { items: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
    window: { items: 1, bytes: 1 },
    graceMs: 0,
  });
  expect(made.stats().workers.size).toBe(0);
  expect(await made.with({ timeoutMs: Number.POSITIVE_INFINITY, priority: -5 }).call.add(1, 2)).toBe(3);
});
