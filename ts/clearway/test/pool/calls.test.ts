// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: calls cross by pipes, and keys keep their process.
import { ClearwayError, move, run } from "clearway";
import { describe, expect, test } from "vitest";
import { gate, held, inProcesses, type Plain, plainPool, plainUrl, reasonOf, warmed } from "../fixtures/pools.js";

describe("a call", () => {
  test("returns the task's result", async () => {
    const { call } = plainPool();
    expect(await call.add(1, 2)).toBe(3);
    expect(await call.add(1)).toBe(2);
    expect(await call.later(1)).toBe(2);
    expect(await call.echo({ a: [1, null, "x", new Date(5)] })).toEqual({ a: [1, null, "x", new Date(5)] });
  });

  test("is not made by an await of the functions, nor by a logger that writes them as JSON or text", async () => {
    const pool = plainPool();
    for (const functions of [pool.call, pool.map, pool.broadcast, pool.with({ priority: 1 }).call]) {
      await functions;
      expect(JSON.stringify({ functions })).toBe('{"functions":{}}');
      for (const asText of [String, Number, (value: unknown) => `${value}`])
        expect(() => asText(functions)).toThrow(TypeError);
    }
    expect(pool.stats().tasks).toEqual({});
  });

  test("gets its own result among many others", async () => {
    const { call } = plainPool({ size: 2 });
    const results = await Promise.all(Array.from({ length: 5000 }, (_, at) => call.add(at, at)));
    expect(results).toEqual(Array.from({ length: 5000 }, (_, at) => 2 * at));
  });

  test("whose argument cannot be sent fails alone among hundreds of one tick", async () => {
    const pool = plainPool({ size: 1 });
    const bad = [127, 128, 129, 256];
    for (const warm of [false, true]) {
      const settled = await Promise.allSettled(
        Array.from({ length: 300 }, (_, at) => pool.call.echo(bad.includes(at) ? () => at : { at })),
      );
      settled.forEach((each, at) => {
        if (bad.includes(at)) expect(each, `${warm} ${at}`).toMatchObject({ reason: { code: "not-cloneable" } });
        else expect(each, `${warm} ${at}`).toMatchObject({ value: { at } });
      });
    }
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("whose result has a tag that throws does not end its worker", async () => {
    const pool = plainPool({ size: 1 });
    await pool.call.add(1, 1);
    const [odd, sum] = await Promise.allSettled([pool.call.tagThrows(), pool.call.add(2, 2)]);
    expect(sum).toEqual({ status: "fulfilled", value: 4 });
    // Structured clone does not copy a property with a symbol, and never reads it.
    expect(odd).toEqual({ status: "fulfilled", value: {} });
    expect(await pool.call.add(3, 3)).toBe(6);
  });

  test("does not wait behind a call of unknown length while another worker is free", async () => {
    const pool = plainPool({ size: 2 });
    const open = reasonOf(pool.call.hold());
    // After eight runs, the pool knows that the task is short.
    for (let at = 0; at < 20; at++) expect(await pool.call.add(at, 1)).toBe(at + 1);
    await pool.terminate();
    expect((await open).code).toBe("pool-terminated");
  });

  test("of an unknown name fails with a list of the known names, on a cold and a warm pool", async () => {
    const cold = plainPool();
    const calls = cold.call as unknown as { nope(): Promise<void> };
    for (const each of [await reasonOf(calls.nope()), await reasonOf(calls.nope())]) {
      expect(each.code).toBe("unknown-task");
      expect(each.message).toContain("add, echo");
    }
  });

  test("whose argument cannot be cloned fails without failing others", async () => {
    const { call } = plainPool();
    const [bad, good] = await Promise.allSettled([call.echo(() => 1), call.add(1, 1)]);
    expect(good).toEqual({ status: "fulfilled", value: 2 });
    expect((bad as PromiseRejectedResult).reason.code).toBe("not-cloneable");
  });

  test("whose result cannot be cloned fails without failing others", async () => {
    const { call } = plainPool();
    await call.add(1, 1);
    const [bad, good] = await Promise.allSettled([call.returnsFunction(), call.add(1, 1)]);
    expect(good).toEqual({ status: "fulfilled", value: 2 });
    expect((bad as PromiseRejectedResult).reason.code).toBe("not-cloneable");
  });

  test("that returns a generator fails with advice on how to write it", async () => {
    const { call } = plainPool();
    const reason = await reasonOf(call.returnsGenerator() as unknown as Promise<unknown>);
    expect(reason.message).toContain("async function*");
  });

  test("with a stream inside a value, or as its result, is refused", async () => {
    const pool = await warmed(plainPool());
    for (const value of [{ inside: pool.call.numbers(1) }, [pool.map.add([1])], (async function* () {})()])
      expect(await reasonOf(pool.call.echo(value))).toMatchObject({
        code: "not-cloneable",
        message: expect.stringContaining("a stream crosses only as an argument, or by yield*"),
      });
  });

  test("under run() has its own worker, which ends afterwards", async () => {
    expect(await run<Plain>(plainUrl).call.count()).toBe(1);
    expect(await run<Plain>(plainUrl).call.count()).toBe(1);
    const seen: number[] = [];
    for await (const each of run<Plain>(plainUrl).call.numbers(3)) seen.push(each);
    expect(seen).toEqual([0, 1, 2]);
    expect(await reasonOf(run<Plain>(plainUrl).call.fail("x"))).toMatchObject({ name: "RangeError", message: "x" });
  });
});

describe("move()", () => {
  test("takes an argument from the caller at once, on a warm and a cold pool", async () => {
    const { call } = plainPool();
    for (let turn = 0; turn < 2; turn++) {
      const bytes = new Uint8Array(16).fill(9);
      const answer = call.echo(move(bytes));
      expect(bytes.byteLength).toBe(0);
      expect(await answer).toEqual(new Uint8Array(16).fill(9));
    }
  });

  test.each([4, 70_000])("copies exactly a part of a larger buffer, whatever its size: %i bytes", async (bytes) => {
    const pool = plainPool();
    const part = new Uint8Array(new ArrayBuffer(100_000), 16, bytes).fill(7);
    for (const value of [part, { deep: [part] }]) {
      const { call, stats } = pool;
      const before = stats().ledger.toWorkers.copiedBytes;
      expect(await call.echo(move(value))).toEqual(value);
      expect(stats().ledger.toWorkers.copiedBytes - before).toBe(bytes);
    }
    if (!inProcesses)
      expect(pool.stats().ledger.toWorkers.copies["partial-view"]).toEqual({ count: 2, bytes: 2 * bytes });
    // The sender keeps it.
    expect(part.byteLength).toBe(bytes);
  });

  test("moves a whole buffer that is listed, although the value shows a part of it", async () => {
    const { call } = plainPool();
    const part = new Uint8Array(new ArrayBuffer(64), 0, 8);
    expect(await call.echo(move(part, [part.buffer]))).toHaveLength(8);
    expect(part.byteLength).toBe(0);
  });

  test.skipIf(inProcesses)("refuses a part of a larger buffer under strict, with a remedy that works", async () => {
    const { call } = plainPool({ strict: true });
    const part = new Uint8Array(new ArrayBuffer(64), 0, 8);
    expect(await reasonOf(call.echo(move(part)))).toMatchObject({
      code: "would-copy",
      message: expect.stringContaining(
        "partial-view (8 bytes). It is a part of a larger buffer. Copy the part: move(new Uint8Array(part))",
      ),
    });
    expect(await call.echo(move(new Uint8Array(part)))).toEqual(part);
  });

  test("inside another argument is refused, not copied silently", async () => {
    const { call } = plainPool();
    const bytes = new Uint8Array(8);
    expect(await reasonOf(call.echo({ bytes: move(bytes) }))).toMatchObject({ code: "not-cloneable" });
    expect(bytes.byteLength).toBe(8);
  });

  test.skipIf(inProcesses)("is not necessary for results, which move at any depth", async () => {
    const pool = plainPool({ strict: true });
    const nested = (await pool.call.nested(1000)) as {
      map: Map<string, Set<Uint8Array>>;
      again: Uint8Array;
      self: unknown;
    };
    expect(nested.self).toBe(nested);
    expect([...nested.map.get("a")!][0]).toBe(nested.again);
    expect(pool.stats().ledger.fromWorkers).toEqual({ movedBytes: 1000, sharedBytes: 0, copiedBytes: 0, copies: {} });
  });
});

describe("strict", () => {
  test.skipIf(inProcesses)("throws instead of copying an argument or part of a result", async () => {
    const { call } = plainPool({ strict: true });
    const argument = await reasonOf(call.echo(new Uint8Array(8)));
    expect(argument).toBeInstanceOf(ClearwayError);
    expect(argument.code).toBe("would-copy");
    expect((await reasonOf(call.part(64, 8))).code).toBe("would-copy");
    expect(await call.bytes(8)).toEqual(new Uint8Array(8).fill(7));
  });

  test.skipIf(inProcesses)(
    "is off by default: only the visible part of a larger buffer is copied, and the ledger counts it",
    async () => {
      const pool = plainPool();
      const part = await pool.call.part(4096, 8);
      expect(part).toEqual(new Uint8Array(8).fill(3));
      expect(part.buffer.byteLength).toBe(8);
      expect(pool.stats().ledger.fromWorkers.copies).toEqual({ "partial-view": { count: 1, bytes: 8 } });
    },
  );
});

/** Runs `make` while the pool's only worker is busy. Returns the order in which its calls were answered. */
async function orderOf(make: (call: (name: string, options?: { key?: string; priority?: number }) => void) => void) {
  const pool = await warmed(plainPool());
  const { release } = await held(pool);
  const order: string[] = [];
  const calls: Promise<unknown>[] = [];
  make((name, options = {}) =>
    calls.push(
      pool
        .with(options)
        .call.echo(name)
        .then(() => order.push(name)),
    ),
  );
  await release();
  await Promise.all(calls);
  return order;
}

describe("calls with a key", () => {
  test("neither overtake older calls without a key, nor are overtaken by them", async () => {
    const order = await orderOf((call) => {
      call("plain 1");
      call("key 2", { key: "k" });
      call("plain 3");
      call("key 4", { key: "k" });
      call("key 5", { key: "other" });
      call("plain 6");
    });
    expect(order).toEqual(["plain 1", "key 2", "plain 3", "key 4", "key 5", "plain 6"]);
  });

  test("do not starve a call without a key when they repeat", async () => {
    const pool = await warmed(plainPool());
    const { call } = pool.with({ key: "k" });
    let going = true;
    const again = async (): Promise<void> => {
      while (going) await Promise.all([call.spin(1), call.spin(1), call.spin(1)]);
    };
    const both = [again(), again()];
    await call.echo(0);
    expect(await pool.call.add(1, 2)).toBe(3);
    going = false;
    await Promise.all(both);
  });

  test("run first when their priority is higher", async () => {
    const order = await orderOf((call) => {
      call("plain");
      call("key", { key: "k", priority: 1 });
    });
    expect(order).toEqual(["key", "plain"]);
  });

  test.each(["k", Number.NaN])(
    "run one after the other when they share the key %s, even in a concurrent worker",
    async (key) => {
      const pool = plainPool({ concurrency: 4 });
      const events: string[] = [];
      const calls = [1, 2, 3, 4].map((each) => {
        const holder = new AbortController();
        const begun = gate();
        const ended = pool
          .with({
            key,
            signal: holder.signal,
            onProgress: () => {
              events.push(`begins ${each}`);
              begun.tell();
            },
          })
          .call.hold()
          .catch(() => {});
        return { each, holder, begun, ended };
      });
      for (const { each, holder, begun, ended } of calls) {
        await begun.promise;
        await pool.ping();
        events.push(`ends ${each}`);
        holder.abort();
        await ended;
      }
      expect(events).toEqual([1, 2, 3, 4].flatMap((each) => [`begins ${each}`, `ends ${each}`]));
    },
  );

  test("run one after the other also while another worker replaces theirs, because a stranger did not stop", async () => {
    const pool = await warmed(plainPool({ concurrency: 2, graceMs: 1 }));
    const { release } = await held(pool, { key: "k" });
    await reasonOf(pool.with({ timeoutMs: 1 }).call.deaf());
    const begun: unknown[] = [];
    const second = pool.with({ key: "k", onProgress: (value) => begun.push(value) }).call.report(1);
    // The new worker runs this one.
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.ping();
    expect(begun).toEqual([]);
    await release();
    expect(await second).toBe(1);
  });

  test("wait for a call that does not stop only until its grace period is over", async () => {
    const pool = await warmed(plainPool({ concurrency: 2, graceMs: 1 }));
    const { release } = await held(pool);
    const { call } = pool.with({ key: "k", timeoutMs: 1 });
    const stuck = reasonOf(call.deaf());
    const second = pool.with({ key: "k" }).call.add(1, 2);
    expect(await stuck).toMatchObject({ code: "timeout" });
    expect(await second).toBe(3);
    await release();
  });

  test("run concurrently in a concurrent worker when their keys differ", async () => {
    const pool = plainPool({ concurrency: 4 });
    const calls = await Promise.all(["a", "b", "c"].map((key) => held(pool, { key })));
    for (const { release } of calls) await release();
  });
});
