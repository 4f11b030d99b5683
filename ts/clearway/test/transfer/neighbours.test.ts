// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: memory and frames cross by ring, by port and by pipes.
// Child processes, too: memory and frames cross by ring, by port and by pipes.
import { move } from "clearway";
import { callback } from "clearway/callback";
import { registerTransfer } from "clearway/transfer";
import { expect, onTestFinished, test } from "vitest";
import { ValueCopy } from "../../src/transfer/copy-value.js";
import { emptySide } from "../../src/transfer/ledger.js";
import { movedKey, scope } from "../../src/transfer/revive.js";
import { callbackEnd } from "../../src/transport/callback.js";
import { isFromCaller, isFromWorker } from "../../src/transport/protocol.js";
import fc, { cases } from "../fixtures/fast-check.js";
import { holders, memoryUnder, shown, view, withHole } from "../fixtures/memory-holders.js";
import { builtUrl, groupPool, inProcesses, reasonOf, testPool } from "../fixtures/pools.js";

type Borders = typeof import("../fixtures/borders.tasks.js");

const shared = groupPool<Borders>(builtUrl("borders"));

async function warm() {
  const pool = shared();
  for (let at = 0; at < 3; at++) await pool.call.echo(at);
  return pool;
}

/** The memory that crosses to a task, as the task sees it. */
const inward: Record<string, (call: Awaited<ReturnType<typeof warm>>["call"], value: unknown) => Promise<number>> = {
  "an argument": (call, value) => call.size(value),
  "a value of a stream argument": async (call, value) =>
    (
      await call.sizes(
        (async function* () {
          yield value;
        })(),
      )
    )[0]!,
  "the value of a callback": (call, value) => call.sizeOfAnswer(callback(() => value)),
  "an argument under move() with a list": (call, value) => call.size(move(value, [])),
};

test.each(Object.keys(inward))("a view in %s crosses to a task without the memory next to it", async (place) => {
  const { call } = await warm();
  for (const [name, make] of Object.entries(holders))
    expect([name, await inward[place]!(call, make())]).toEqual([name, shown]);
});

test("a view in a task's value crosses to the caller without the memory next to it, wherever it is", async () => {
  const pool = testPool<typeof import("../fixtures/values.tasks.js")>(builtUrl("values"));
  for (const name of await pool.call.names()) {
    expect([name, memoryUnder(await pool.call.result(name))]).toEqual([name, shown]);
    for await (const value of pool.call.values(name)) expect([name, memoryUnder(value)]).toEqual([name, shown]);
    const told: unknown[] = [];
    await pool.with({ onProgress: (value: unknown) => told.push(value) }).call.tells(name);
    expect([name, told.map((each) => memoryUnder(each))]).toEqual([name, [shown]]);
    const thrown = (await pool.call.throwsWith(name).catch((reason: unknown) => reason)) as { body: unknown };
    expect([name, memoryUnder(thrown.body)]).toEqual([name, shown]);
    const asked: unknown[] = [];
    await pool.call.ask(
      name,
      callback((value) => void asked.push(value)),
    );
    expect([name, asked.map((each) => memoryUnder(each))]).toEqual([name, [shown]]);
  }
});

/** Describes a value with everything that structured clone keeps. */
function described(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return ["view", ...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
  if (value instanceof Date) return ["date", value.getTime()];
  if (value instanceof Map) return ["map", [...value].map((entry) => entry.map(described))];
  if (value instanceof Set) return ["set", [...value].map(described)];
  if (value instanceof Error) return ["error", value.name, value.message, described(value.cause)];
  if (typeof value !== "object" || value === null) return [typeof value, value];
  const properties = Object.entries(value).map(([key, each]) => [key, described(each)]);
  return [Array.isArray(value) ? `array of ${value.length}` : "object", properties];
}

class Point {
  readonly x = 1;
  #hidden = 2;
  get sum() {
    return this.x + this.#hidden;
  }
}

const values: Record<string, () => unknown> = {
  "a match of a regular expression": () => "xabc".match(/a(?<g>b)/),
  "an array with named properties": () => Object.assign([1, { a: 2 }], { name: "n", inner: { b: 3 } }),
  "an array with holes": withHole,
  "an array whose holes are as many as its named properties": () => Object.assign(withHole(), { x: undefined }),
  "an instance of a class": () => new Point(),
  "a map with properties": () => Object.assign(new Map([[{ k: 1 }, new Set([1])]]), { lost: 1 }),
  "an error with a cause": () => new RangeError("m", { cause: { a: [1] } }),
  "an error with another name": () => Object.assign(new Error("m", { cause: {} }), { name: "Other", lost: 1 }),
  "an object with a property __proto__": () => JSON.parse('{"__proto__":{"a":1},"b":2}'),
  "an object with a symbol as key": () => ({ [Symbol("s")]: 1, a: 1 }),
  "boxed values": () => [Object(1), Object("s"), Object(true), Object(1n), new Date(5), /x/g],
};

test.each(Object.keys(values))(
  "%s arrives as structured clone gives it, with and without memory beside it",
  async (name) => {
    const { call } = await warm();
    const make = values[name]!;
    const expected = described(structuredClone(make()));
    expect(described(await call.echo(make()))).toEqual(expected);
    for (const bytes of [view(), new Uint8Array(4096)]) {
      const { value } = (await call.echo({ value: make(), bytes })) as { value: unknown };
      expect(described(value)).toEqual(expected);
    }
  },
);

test.each<[string, () => object]>([
  ["a generator", () => (function* () {})()],
  ["an iterator of an array", () => [].values()],
  ["an iterator of a map", () => new Map().keys()],
])("%s is refused, with and without memory beside it", async (_name, make) => {
  const { call } = await warm();
  for (const bytes of [undefined, view(), new Uint8Array(4096)])
    expect(await reasonOf(call.echo({ value: make(), bytes }))).toMatchObject({ code: "not-cloneable" });
});

// Node 20 copies its properties, and later versions and browsers do not.
test("an error of the DOM with a view crosses as structured clone gives it, without the memory next to the view", async () => {
  const { call } = await warm();
  const make = () => Object.assign(new DOMException("x"), { bytes: view() });
  const given = await call.echo(make()).catch((reason: unknown) => reason);
  if (!inProcesses) expect(memoryUnder(given)).toBe("bytes" in structuredClone(make()) ? shown : 0);
  else expect([0, shown]).toContain(memoryUnder(given));
});

test("a getter beside memory runs once, and what it returns the first time crosses", async () => {
  const { call } = await warm();
  for (const bytes of [undefined, view(), new Uint8Array(4096)]) {
    let runs = 0;
    const value = {
      get inner() {
        return { runs: ++runs };
      },
      bytes,
    };
    expect(await call.echo(value)).toMatchObject({ inner: { runs: 1 } });
    expect(runs).toBe(1);
  }
});

test("an object in two arguments stays one object, beside memory too", async () => {
  const { call } = await warm();
  const bytes = view();
  for (const value of [{ a: 1 }, { deep: [{ bytes }] }, bytes, Object.assign(withHole(), { named: bytes })])
    expect(await call.same(value, value)).toBe(true);
  expect(await call.same({}, {})).toBe(false);
});

test("an array with one element at a high index is read in one step", () => {
  const array = Object.assign([], { 100000000: { bytes: view() } }) as unknown[];
  const copy = new ValueCopy();
  const copied = copy.copy({ array, bytes: view() }) as { array: unknown[] };
  expect(copied.array).toHaveLength(100_000_001);
  expect(copy.nodes).toBeLessThan(10);
});

const viewClasses = { Uint8Array, Float64Array, DataView } as unknown as Record<
  string,
  new (
    buffer: ArrayBuffer,
    offset: number,
    length: number,
  ) => ArrayBufferView
>;

test.each(Object.keys(viewClasses))(
  "a %s outside of its buffer, which became smaller, is refused as by structured clone, and does not cross as empty",
  async (name) => {
    const { call } = await warm();
    const outside = (): unknown => {
      const Resizable = ArrayBuffer as unknown as new (
        bytes: number,
        options: object,
      ) => ArrayBuffer & { resize(to: number): void };
      const buffer = new Resizable(64, { maxByteLength: 64 });
      const made = new viewClasses[name]!(buffer, 16, 2);
      buffer.resize(8);
      return made;
    };
    for (const place of Object.keys(inward))
      for (const value of [outside(), { deep: [outside()] }, [outside(), new Uint8Array(1)]])
        await expect(inward[place]!(call, value), place).rejects.toThrow(/could not be cloned/);
  },
);

const borders = groupPool<Borders>(builtUrl("borders"), { concurrency: 2 });
const restarts = (): number => borders().stats().workers.restarts;

const wireError = { base: "Error", name: "Error", message: "m", stack: "s", props: [] };
const ledgerOf = (reason: string): object => ({
  movedBytes: 0,
  sharedBytes: 0,
  copiedBytes: 0,
  copies: JSON.parse(`{"${reason}":{"bytes":1,"count":1}}`),
});
const never = () => callback(() => new Promise<void>(() => {}));

// WebKit looks at each index of a list that it clones, which takes minutes for these.
const clonesHoles = !/AppleWebKit(?!.*Chrome)/.test(globalThis.navigator?.userAgent ?? "");
const holes: [string, unknown[]] = [
  "a frame and 2^30 frames of holes",
  Object.assign([15, 0, 0, 0], { length: 2 ** 32 - 4 }),
];

test.each<[what: string, frames: unknown[]]>([
  ["a result with text for its run time", [9, 1, "a", "b"]],
  ["a coded result without a form", [73, 1, "a", 0]],
  ["a failure without an error", [10, 1, undefined, 0]],
  ["a failure whose properties are no list", [10, 1, { ...wireError, props: 5 }, 0]],
  ["a list of tasks that is no list", [7, 0, 5, 0]],
  ["a ledger that is none", [14, 0, null, 0]],
  ["a ledger whose copies are none", [14, 0, { movedBytes: 0, sharedBytes: 0, copiedBytes: 0, copies: null }, 0]],
  ["a ledger with a reason that every object inherits", [14, 0, ledgerOf("__proto__"), 0]],
  ["a ledger with a class as its reason", [14, 0, ledgerOf("constructor"), 0]],
  ["a failure that names an error twice", [10, 1, { ...wireError, errors: [wireError, wireError] }, 0]],
  ["ids that are no list", [16, 0, 7, 0]],
  ["a roll that is no list", [24, 0, null, 0]],
  ["an error of progress without a message", [11, 1, null, -1]],
  ["credit that is no number", [4, 1, {}, []]],
  ["a frame that only a pool sends", [1, 1, 0, []]],
  ["a frame whose id is no number", [9, {}, 1, 1]],
  ...(clonesHoles ? [holes] : []),
])("a worker that posts %s ends with protocol, and the next call gets a new worker", async (_what, frames) => {
  const pool = borders();
  const before = restarts();
  expect(await pool.call.echo(1)).toBe(1);
  const held = reasonOf(pool.call.ask(1, never()));
  pool.call.post(frames).catch(() => {});
  expect(await held).toMatchObject({ code: "protocol" });
  expect(await pool.call.echo(2)).toBe(2);
  expect(restarts()).toBe(before + 1);
  expect([...Object.keys(Object.prototype), ...Object.keys(Object)]).toEqual([]);
});

test("a worker that says that no call has begun, and then sends something else, runs its call once", async () => {
  const pool = borders();
  const before = restarts();
  expect(await reasonOf(pool.call.post([16, 0, [], 0, 9, {}, 1, 1]))).toMatchObject({ code: "protocol" });
  expect(await pool.call.echo(2)).toBe(2);
  expect(restarts()).toBe(before + 1);
});

test.each<[what: string, message: unknown]>([
  ["text", "text"],
  ["an object", { a: 1 }],
  ["an array of texts", ["a", "b", "c", "d"]],
  ["an array of another length", [9, 1, 2]],
  ["an array of large numbers", [1000, 2, 3, 4]],
])("a message of the task module itself is ignored: %s", async (_what, message) => {
  const pool = borders();
  const before = restarts();
  expect(await pool.call.echo(1)).toBe(1);
  await pool.call.post(message);
  expect(await pool.call.echo(2)).toBe(2);
  expect(restarts()).toBe(before);
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
  const pool = testPool<Borders>(builtUrl("borders"), { concurrency: 2 });
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

// Structured clone keeps holes and properties. Where a property is named like a method, the array does not have the method.
const irregular: Record<string, () => unknown[]> = {
  "a hole": () => new Array(1),
  "2^32 holes": () => new Array(2 ** 32 - 1),
  "properties named like methods": () => Object.assign([], { every: 1, flatMap: 1, forEach: 1, map: 1 }),
  "as many properties as holes": () => Object.assign(new Array(1), { map: 1 }),
};

test.each(Object.keys(irregular))("a list with %s is refused with protocol, wherever a worker sends one", (what) => {
  const list = irregular[what]!;
  expect(isFromWorker(7, 0, list(), 0)).toBe(false);
  expect(isFromWorker(10, 0, { ...wireError, errors: list() }, 0)).toBe(false);
  expect(isFromWorker(16, 0, list(), 0)).toBe(false);
  const failures: unknown[] = [];
  const marked = callback(() => {}) as unknown as AsyncIterable<unknown>;
  const end = callbackEnd(marked[Symbol.asyncIterator]())!;
  end.connect({ strict: false, ledger: emptySide(), answer() {}, fail: (reason) => failures.push(reason) });
  end.called([1, list()]);
  expect(failures).toMatchObject([{ code: "protocol" }]);
  onTestFinished(
    registerTransfer("unused", { class: Point, serialize: () => [0, []], deserialize: () => new Point() }),
  );
  expect(() => scope[movedKey]?.decoded({ root: 0, parts: list() })).toThrow(
    expect.objectContaining({ code: "protocol" }),
  );
});
