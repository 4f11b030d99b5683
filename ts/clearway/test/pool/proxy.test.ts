// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: an object's methods are called through pipes.
import type { Pool, PoolOptions } from "clearway";
import { callback, proxy } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { builtUrl, gate, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Proxied = typeof import("../fixtures/proxied.tasks.js");

const proxyPool = (options: PoolOptions = {}): Pool<Proxied> => testPool<Proxied>(builtUrl("proxied"), options);

async function warmPool(): Promise<Pool<Proxied>> {
  const pool = await warmed(proxyPool());
  for (let at = 0; at < 3; at++) await pool.call.add(1, 2);
  await pool.ping();
  return pool;
}

/** An object with state, and with members that must not cross. */
class Store {
  static made = 0;
  readonly #values = new Map<string, number>();
  label = "not a method";

  get(key: string): number | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: number): void {
    this.#values.set(key, value);
  }

  get size(): number {
    throw new Error("a getter was read");
  }
}

class Named extends Store {
  name(): string {
    return "named";
  }
  override get(key: string): number | undefined {
    return (super.get(key) ?? 0) + 1;
  }
  [Symbol.iterator](): Iterator<number> {
    return [][Symbol.iterator]();
  }
  // biome-ignore lint/suspicious/noThenProperty: no task may see it
  then(): void {
    throw new Error("then() was called");
  }
  toJSON(): string {
    return "json";
  }
  override toString(): string {
    throw new Error("toString() was called");
  }
  override valueOf(): object {
    throw new Error("valueOf() was called");
  }
}

const loose = (object: object) => proxy(object as Record<string, (...args: unknown[]) => unknown>);

describe("a proxy of an object", () => {
  for (const [which, make] of [
    ["a cold", async () => proxyPool()],
    ["a warm", warmPool],
  ] as const) {
    test(`gives the task of ${which} pool the object's methods, which keep their \`this\` and its private fields`, async () => {
      const { call } = await make();
      const store = new Store();
      store.set("a", 4);
      expect(await call.doubles("a", proxy(store))).toBe(8);
      expect(store.get("a")).toBe(8);
    });
  }

  test("has the methods of the object and of its classes, and nothing else", async () => {
    const { call } = proxyPool();
    expect(await call.inspects(loose(new Named()))).toEqual({
      keys: ["name", "get", "set"],
      prototype: null,
      frozen: true,
      awaited: true,
      hostile: [],
      json: "{}",
      text: "TypeError",
      symbols: false,
    });
  });

  test("has own functions, also of an object without a prototype, and no getter and no hostile name", async () => {
    const { call } = proxyPool();
    const object = Object.create(null, {
      run: { value: () => 1, enumerable: true },
      hidden: { value: () => 2 },
      getter: { get: () => () => 3, enumerable: true },
      // biome-ignore lint/suspicious/noThenProperty: no task may see it
      then: { value: () => 4, enumerable: true },
      __proto__: { value: () => 5, enumerable: true },
      constructor: { value: () => 6, enumerable: true },
    });
    expect((await call.inspects(loose(object))).keys).toEqual(["run", "hidden"]);
  });

  test("hides a method of a class behind a property of the object", async () => {
    const { call } = proxyPool();
    const store = Object.assign(new Store(), { set: 5 }) as unknown as Record<string, () => unknown>;
    expect((await call.inspects(proxy(store))).keys).toEqual(["get"]);
  });

  test("has only the methods that the caller names, each once", async () => {
    const { call } = proxyPool();
    const named = proxy(new Named(), { methods: ["get", "name", "get"] }) as unknown as ReturnType<typeof loose>;
    expect((await call.inspects(named)).keys).toEqual(["get", "name"]);
  });

  test("is called in the order of the task's calls, over all its methods", async () => {
    const { call } = await warmPool();
    const seen: unknown[] = [];
    const see = (value: unknown) => void seen.push(value);
    expect(await call.alternates(1_000, loose({ even: see, odd: see }))).toBe(1_000);
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
  });

  test("has as many calls without an answer as its concurrency allows, over all its methods", async () => {
    const pool = await warmPool();
    const open = gate();
    const full = gate();
    let running = 0;
    let most = 0;
    const slow = async (): Promise<void> => {
      most = Math.max(most, ++running);
      if (running === 3) full.tell();
      await open.promise;
      running--;
    };
    const target = proxy({ even: slow, odd: slow } as Record<string, () => Promise<void>>, { concurrency: 3 });
    const call = pool.call.alternates(20, target);
    await full.promise;
    for (let turn = 0; turn < 5; turn++) await pool.ping();
    expect(most).toBe(3);
    open.tell();
    expect(await call).toBe(20);
    expect(most).toBe(3);
  });

  test("passes the values and errors of its methods, and fails a method that has become something else", async () => {
    const { call } = proxyPool();
    const target: Record<string, unknown> = {
      sum: (...args: number[]) => args.reduce((all, each) => all + each, 0),
      later: async () => "later",
      throws: () => {
        throw new RangeError("too far");
      },
      uncloneable: () => () => {},
      replaced: () => 1,
    };
    const marked = loose(target);
    target["replaced"] = "a text";
    expect(await call.calls("sum", [1, 2, 3], marked)).toEqual({ value: 6 });
    expect(await call.calls("later", [], marked)).toEqual({ value: "later" });
    expect(await call.calls("throws", [], marked)).toMatchObject({ name: "RangeError", message: "too far" });
    expect(await call.calls("uncloneable", [], marked)).toMatchObject({ code: "not-cloneable" });
    expect(await call.calls("replaced", [], marked)).toMatchObject({ name: "TypeError" });
    expect(await call.calls("missing", [], marked)).toEqual({ value: undefined });
  });

  test("keeps two objects of one call apart", async () => {
    const { call } = proxyPool();
    const [first, second] = [new Store(), new Store()];
    first.set("a", 7);
    await call.both(proxy(first), proxy(second));
    expect([first.get("a"), second.get("a")]).toEqual([7, 7]);
  });

  test("ends with its call", async () => {
    const { call } = proxyPool();
    let reads = 0;
    await call.keep(proxy({ get: () => ++reads, set: () => {} }));
    expect(await call.late()).toMatchObject({ code: "callback-ended" });
    expect(reads).toBe(0);
  });

  test("copies arguments and moves those under move()", async () => {
    const { call } = proxyPool();
    const lengths: number[] = [];
    expect(await call.sends(5_000, proxy({ take: (data: Uint8Array) => lengths.push(data.length) }))).toEqual([
      5_000, 0,
    ]);
    expect(lengths).toEqual([5_000, 5_000]);
  });

  test("is refused inside another value, and as a result", async () => {
    const { call } = proxyPool();
    expect(await reasonOf(call.inside({ target: proxy(new Store()) }))).toMatchObject({ code: "not-cloneable" });
    expect(await reasonOf(call.returns(loose({ run: () => 1 })))).toMatchObject({ code: "not-cloneable" });
  });

  test("is one argument of every call of a mapping and of a broadcast", async () => {
    const pool = proxyPool({ size: 2 });
    const store = new Store();
    for (const key of ["a", "b", "c"]) store.set(key, 1);
    expect(await pool.map.doubles(["a", "b", "c"], { args: [proxy(store)] })).toEqual([2, 2, 2]);
    await pool.broadcast.doubles("a", proxy(store));
    expect(store.get("a")).toBeGreaterThan(2);
  });
});

describe("proxy()", () => {
  const refusal = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return error;
    }
  };

  test("refuses what is no object or has no methods, and names of no methods", () => {
    const untyped = proxy as unknown as (object: unknown, options?: unknown) => unknown;
    // biome-ignore lint/suspicious/noThenProperty: no task may see it
    const thenable = { then: () => {} };
    for (const object of [undefined, null, 5, () => {}, {}, { a: 1 }, thenable])
      expect(refusal(() => untyped(object))).toMatchObject({ code: "invalid-argument" });
    const store = new Named();
    for (const methods of [
      [],
      "get",
      [5],
      ["label"],
      ["nothing"],
      ["then"],
      ["toJSON"],
      ["toString"],
      ["constructor"],
      ["__proto__"],
    ])
      expect(refusal(() => untyped(store, { methods }))).toMatchObject({
        code: "invalid-argument",
        message: expect.stringContaining("methods must be"),
      });
    expect(refusal(() => untyped(store, { method: ["get"] }))).toMatchObject({
      message: expect.stringContaining("the nearest is methods"),
    });
    expect(refusal(() => untyped(store, { concurrency: 0 }))).toMatchObject({ code: "invalid-argument" });
  });

  test("passes on the error of a foreign object, and ends when its prototypes never end", () => {
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new RangeError("hostile");
        },
      },
    );
    expect(refusal(() => proxy(throwing))).toMatchObject({ message: "hostile" });
    const endless = (): object => new Proxy({ run: () => 1 }, { getPrototypeOf: endless });
    expect(refusal(() => proxy(endless()))).toMatchObject({ code: "invalid-argument" });
  });

  test("calls only methods of the object, whatever the worker asks for", async () => {
    const called: string[] = [];
    const target = { run: () => called.push("run") };
    const marked = proxy(target) as unknown as AsyncIterable<never>;
    const session = marked[Symbol.asyncIterator]() as unknown as {
      connect(wire: object): void;
      called(message: unknown): void;
    };
    const answers: [number, unknown, { props?: unknown }?][] = [];
    session.connect({ strict: false, ledger: {}, answer: (message: never) => answers.push(message), fail: () => {} });
    const asked = [0, 1, -1, 0.5, "length", "constructor", "0", null, undefined];
    for (const [at, index] of asked.entries()) session.called([at + 1, [index]]);
    expect(called).toEqual(["run"]);
    expect(answers.filter(([, , error]) => error === undefined)).toEqual([[1, 1]]);
    expect(answers).toHaveLength(asked.length);
  });

  test("differs from callback(), which takes functions only", () => {
    expect(refusal(() => (callback as unknown as (object: object) => unknown)(new Store()))).toMatchObject({
      code: "invalid-argument",
    });
  });
});
