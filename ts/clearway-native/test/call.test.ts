// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { nativeFeatures } from "../src/index.js";
import { codeOf, numberIn, open, suite, told } from "./fixtures/probe.js";

suite("calls", () => {
  test("null, zero bytes and bytes stay three different messages in both directions", async () => {
    await using plugin = await open();
    for (const name of ["echo", "pool/echo"]) {
      const channel = plugin.channel(name);
      expect((await channel.send()).bytes).toBe(null);
      expect((await channel.send(new Uint8Array(0))).bytes).toEqual(new Uint8Array(0));
      expect((await channel.send(new Uint8Array([1, 2, 3]))).bytes).toEqual(new Uint8Array([1, 2, 3]));
    }
    const echo = plugin.channel("echo");
    expect(echo.call().bytes).toBe(null);
    expect(echo.call(new Uint8Array(0)).bytes).toEqual(new Uint8Array(0));
    expect(echo.call(new Uint8Array([1, 2, 3])).bytes).toEqual(new Uint8Array([1, 2, 3]));
  });

  test("a direct handler writes to the caller's bytes, in part of an ArrayBuffer or a SharedArrayBuffer", async () => {
    await using plugin = await open();
    const fill = plugin.channel("fill");
    for (const buffer of [new ArrayBuffer(64), new SharedArrayBuffer(64)]) {
      const all = new Uint8Array(buffer);
      all[8] = 41;
      fill.call(all.subarray(8, 16));
      expect(Array.from(all.subarray(7, 17))).toEqual([0, 42, 42, 42, 42, 42, 42, 42, 42, 0]);
    }
  });

  test("call passes bytes that other threads may write to as a memory, so that a handler does not rely on them", async () => {
    await using plugin = await open();
    const where = plugin.channel("in-memory");
    for (const attachments of [undefined, [plugin.allocate(8)]]) {
      expect(where.call(new Uint8Array(8), attachments).bytes).toEqual(new Uint8Array([0]));
      const shared = new Uint8Array(new SharedArrayBuffer(8));
      expect(where.call(shared, attachments).bytes).toEqual(new Uint8Array([nativeFeatures().keeps ? 1 : 0]));
      expect(where.call(shared.subarray(8), attachments).bytes).toEqual(new Uint8Array([0]));
      for (const memory of attachments ?? []) memory.release();
    }
    expect(plugin.stats()).toMatchObject({ lent: 0, native: { held: 0 } });
    const bytes = new Uint8Array(new SharedArrayBuffer(3)).fill(5);
    expect(plugin.channel("echo").call(bytes).bytes).toEqual(new Uint8Array(3).fill(5));
    expect((await plugin.channel("echo").send(bytes)).bytes).toEqual(new Uint8Array(3).fill(5));
  });

  test("call runs no handler that runs on another thread, and drops the answer of one that answers later", async () => {
    await using plugin = await open();
    using memory = plugin.allocate(8);
    memory.bytes.fill(1);
    const lent = plugin.lend(new Uint8Array(8).fill(1));
    for (const message of [null, memory, lent]) {
      expect(await codeOf(() => plugin.channel("serial/fill").call(message))).toBe("not-direct");
    }
    // Only the loan's bytes are shared.
    expect(plugin.stats()).toMatchObject({ native: { messages: 0 }, ledger: { toNative: { sharedBytes: 8 } } });
    await plugin.channel("serial/echo").send(); // the same queue: a handler that was called would have run before
    expect([memory.bytes[0], lent.bytes[0]]).toEqual([1, 1]);
    lent.release();
    await lent.returned;
    expect(await codeOf(() => plugin.channel("never").call())).toBe("not-direct");
    expect((await plugin.channel("pool/echo").send(new Uint8Array([1]))).bytes).toEqual(new Uint8Array([1]));
  });

  test("a handler's failure is a typed error, in call and in send", async () => {
    await using plugin = await open();
    for (const [name, code] of [
      ["fail", "failed"],
      ["unknown", "not-implemented"],
      ["nobody", "no-handler"],
      ["negative", "bad-answer"],
    ] as const) {
      expect(await codeOf(() => plugin.channel(name).call())).toBe(code);
      expect(await codeOf(() => plugin.channel(name).send())).toBe(code);
    }
    expect(await codeOf(() => plugin.channel("pool/fail").send())).toBe("failed");
    await expect(plugin.channel("pool/fail").send()).rejects.toThrow("the probe was asked to fail");
  });

  test("send settles in a later turn even when the handler is direct", async () => {
    await using plugin = await open();
    let told = false;
    const sent = plugin.channel("null").send();
    void sent.then(() => {
      told = true;
    });
    await Promise.resolve();
    expect(told).toBe(false);
    await sent;
  });

  test("a serial queue keeps the order of sending", async () => {
    await using plugin = await open();
    const order: number[] = [];
    const block = plugin.channel("serial/block");
    await Promise.all([5, 0, 3, 0, 1].map(async (ms) => order.push(numberIn((await block.send(told(ms))).bytes))));
    expect(order).toEqual([5, 0, 3, 0, 1]);
  });

  test("a queue with a zero byte in its name answers like any other", async () => {
    await using plugin = await open();
    expect(numberIn((await plugin.channel("zero/echo").send(told(5))).bytes)).toBe(5);
  });

  test("a handler that blocks the pool does not block this thread", async () => {
    await using plugin = await open();
    const blocked = plugin.channel("pool/block").send(told(200));
    let turns = 0;
    while (turns < 5) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    expect(numberIn((await blocked).bytes)).toBe(200);
  });

  test("an aborted call rejects at once with the signal's reason, and the answer is dropped", async () => {
    await using plugin = await open();
    const leaving = new AbortController();
    const reason = new Error("left");
    const sent = plugin.channel("pool/block").send(told(50), { signal: leaving.signal });
    leaving.abort(reason);
    await expect(sent).rejects.toBe(reason);
    await expect(plugin.channel("null").send(null, { signal: leaving.signal })).rejects.toBe(reason);
    expect((await plugin.channel("pool/echo").send(told(1))).bytes).toEqual(told(1));
  });

  test("calls and streams with one signal share one listener, which is removed when all have ended", async () => {
    await using plugin = await open();
    const leaving = new AbortController();
    const { signal } = leaving;
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const echo = plugin.channel("pool/echo");
    const sent = Array.from({ length: 20 }, (_, at) => echo.send(told(at), { signal }));
    const streams = Array.from({ length: 20 }, () =>
      plugin.channel("ticks").listen({ arguments: told(0, 16, 1000), signal }),
    );
    expect(listeners()).toBe(1);
    await Promise.all(sent);
    await Promise.all(streams.slice(1).map((each) => each.return()));
    expect(listeners()).toBe(1);
    await streams[0]?.return();
    expect(listeners()).toBe(0);
    const never = Array.from({ length: 20 }, () => plugin.channel("never").send(null, { signal }));
    leaving.abort("left");
    expect(await Promise.allSettled(never)).toEqual(never.map(() => ({ status: "rejected", reason: "left" })));
    expect(listeners()).toBe(0);
  });

  test("thousands of concurrent calls each get their own answer", async () => {
    await using plugin = await open();
    const echo = plugin.channel("pool/echo");
    const answers = await Promise.all(Array.from({ length: 5000 }, (_, at) => echo.send(told(at))));
    expect(answers.every(({ bytes }, at) => numberIn(bytes) === at)).toBe(true);
  });

  test("calls beyond the limit of calls in flight are refused as full, and the others are answered", async () => {
    await using plugin = await open();
    const block = plugin.channel("serial/block");
    const sent = Array.from({ length: 20_000 }, (_, at) => block.send(told(at === 0 ? 50 : 0, at)));
    const settled = await Promise.allSettled(sent);
    const answered = settled.flatMap((each, at) => (each.status === "fulfilled" ? [[at, each.value.bytes]] : []));
    expect(answered.length).toBeGreaterThanOrEqual(16_384);
    for (const [at, bytes] of answered) expect(bytes).toEqual(told(at === 0 ? 50 : 0, at as number));
    const refused = settled.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ reason }) => reason.code === "full")).toBe(true);
  });

  test("closing fails calls and streams in flight and every later use", async () => {
    const plugin = await open();
    const never = plugin.channel("never").send();
    const events = plugin.channel("ticks").listen({ arguments: told(0, 16, 1000) });
    const direct = plugin.channel("null");
    direct.call();
    const closing = plugin.close();
    expect(await codeOf(() => never)).toBe("closed");
    expect(
      await codeOf(async () => {
        for await (const _ of events);
      }),
    ).toBe("closed");
    await closing;
    await plugin.close();
    expect(await codeOf(() => direct.call())).toBe("closed");
    expect(await codeOf(() => direct.send())).toBe("closed");
    expect(await codeOf(() => plugin.allocate(1))).toBe("closed");
    expect(await codeOf(() => plugin.lend(new Uint8Array(1)))).toBe("closed");
    expect(await codeOf(() => plugin.channel("ticks").listen())).toBe("closed");
  });
});
