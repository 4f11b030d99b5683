// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { Plugin, PluginOptions } from "../src/index.js";
import { codeOf, collect, open, suite, told } from "./fixtures/probe.js";

// The method of ES2024, which TypeScript's library types do not have yet. Node 20 does not have it either, and refuses to clone the buffer.
type Transferable = ArrayBufferLike & { transfer(): ArrayBuffer };
const views = ["shared", "detachable", "copied"] as const;
const live = (plugin: Plugin): number => plugin.stats().native["slabsLive"] ?? -1;
const held = (plugin: Plugin): number => plugin.stats().native["held"] ?? -1;
/** Reads a view after its memory was released. A function of its own: the registers of an awaiting function keep what they held. */
function readAfterRelease(plugin: Plugin): void {
  const answer = plugin.channel("make").call(told(100_000));
  const view = answer.bytes;
  answer.release();
  const other = plugin.allocate(100_000);
  other.bytes.fill(1);
  expect(view?.every((byte) => byte === 7)).toBe(true);
  other.release();
}
/** Reads the bytes of an answer and forgets the answer, as readAfterRelease does. */
function readAndForget(plugin: Plugin): Uint8Array | null {
  return plugin.channel("make").call(told(8192)).bytes;
}
const with_ = (options: PluginOptions): Promise<Plugin> => open(options);

suite("native memory", () => {
  test.each(views)(
    "with a %s view has its bytes, is in the ledger, and throws released after its release",
    async (kind) => {
      await using plugin = await with_({ views: kind });
      const answer = plugin.channel("make").call(told(10_000));
      expect(answer.memory?.kind).toBe(kind);
      expect(answer.bytes).toEqual(new Uint8Array(10_000).fill(7));
      const { sharedBytes, movedBytes, copiedBytes } = plugin.stats().ledger.fromNative;
      expect([sharedBytes, movedBytes, copiedBytes]).toEqual(views.map((each) => (each === kind ? 10_000 : 0)));
      answer.release();
      answer.release();
      expect(answer.memory?.released).toBe(true);
      expect(await codeOf(() => answer.bytes)).toBe("released");
      expect(held(plugin)).toBe(0);
    },
  );

  test.each(["detachable", "copied"] as const)("leaves an earlier %s view empty after its release", async (kind) => {
    await using plugin = await with_({ views: kind });
    const answer = plugin.channel("make").call(told(10_000));
    const view = answer.bytes;
    const part = view?.subarray(5, 10);
    expect(part?.length).toBe(5);
    answer.release();
    expect([view?.length, part?.length]).toEqual([0, 0]);
  });

  test("says whether it is sealed, until its release", async () => {
    await using plugin = await open();
    const made = plugin.channel("make").call(told(8192)).memory;
    expect(made?.sealed).toBe(false);
    const sealed = plugin.channel("make/sealed").call(told(8192)).memory;
    expect(sealed?.sealed).toBe(true);
    expect(sealed?.bytes).toHaveLength(8192);
    made?.release();
    sealed?.release();
    expect(await codeOf(() => sealed?.sealed)).toBe("released");
  });

  test.runIf("transfer" in ArrayBuffer.prototype)(
    "stays valid in a buffer that JavaScript has moved it to",
    async () => {
      await using plugin = await open();
      for (const memory of [plugin.allocate(100_000), plugin.channel("make").call(told(100_000)).memory]) {
        const buffer = memory?.bytes.fill(5).buffer as Transferable;
        const moved = new Uint8Array(buffer.transfer());
        expect(memory?.bytes.length).toBe(0);
        memory?.release();
        using other = plugin.allocate(100_000);
        other.bytes.fill(1);
        expect(moved.every((byte) => byte === 5)).toBe(true);
      }
    },
  );

  test("is detached from its own view also if code has redefined the view's buffer", async () => {
    await using plugin = await open();
    const memory = plugin.allocate(10_000);
    const view = memory.bytes;
    const other = new ArrayBuffer(8);
    Object.defineProperty(view, "buffer", { value: other });
    memory.release();
    expect([view.length, other.byteLength]).toEqual([0, 8]);
  });

  test("is free at once when it is released", async () => {
    await using plugin = await open();
    const before = live(plugin);
    const memory = plugin.allocate(1 << 20);
    memory.bytes[0] = 1;
    expect(live(plugin)).toBe(before + 1);
    memory.release();
    expect(live(plugin)).toBe(before);
  });

  test("is released by using", async () => {
    await using plugin = await open();
    let view: Uint8Array | null;
    {
      using answer = plugin.channel("make").call(told(4096));
      view = answer.bytes;
      expect(view?.length).toBe(4096);
    }
    expect(view?.length).toBe(0);
  });

  test("keeps an earlier shared view readable, and reuses the slab only after the view is collected", async () => {
    await using plugin = await with_({ views: "shared" });
    const before = live(plugin);
    readAfterRelease(plugin);
    // The number before may count views of earlier tests, which are collected now.
    await collect(() => live(plugin) <= before);
  });

  test("can be shared with another thread, whose writes native code sees", async () => {
    await using plugin = await with_({ views: "shared" });
    const memory = plugin.allocate(64);
    const worker = new Worker(
      "require('worker_threads').parentPort.once('message', (bytes) => { bytes.fill(9); process.exit(); })",
      { eval: true },
    );
    worker.postMessage(memory.bytes);
    await new Promise((resolve) => worker.once("exit", resolve));
    expect(plugin.channel("echo").call(memory).bytes).toEqual(new Uint8Array(64).fill(9));
    memory.release();
  });

  test("can be filled by JavaScript and sent without a copy", async () => {
    await using plugin = await open();
    using memory = plugin.allocate(8192);
    memory.bytes.fill(3);
    await plugin.channel("pool/fill").send(memory);
    expect(memory.bytes[100]).toBe(4);
    expect(plugin.stats().ledger.toNative).toMatchObject({ copiedBytes: 0, sharedBytes: 8192 });
  });

  test("may have zero bytes", async () => {
    await using plugin = await open();
    using memory = plugin.allocate(0);
    expect(memory.bytes.length).toBe(0);
    using answer = plugin.channel("make").call(told(0));
    expect(answer.bytes?.length).toBe(0);
  });

  test("crosses as a message's attachment in both directions", async () => {
    await using plugin = await open();
    using answer = plugin.channel("attach").call();
    expect(answer.bytes).toEqual(new Uint8Array([3]));
    expect(answer.attachments.map(({ bytes }) => [bytes?.length, bytes?.[0]])).toEqual([
      [16, 1],
      [8192, 2],
    ]);
    using one = plugin.allocate(5000);
    one.bytes.fill(6);
    const lent = plugin.lend(new Uint8Array(3).fill(8));
    using back = plugin.channel("echo").call(new Uint8Array([1]), [one, lent]);
    expect(back.attachments.map(({ bytes }) => bytes?.[0])).toEqual([6, 8]);
    expect(back.attachments[1]?.bytes).toBe(lent.bytes);
    using later = await plugin.channel("pool/echo").send(null, { attachments: [one] });
    expect(later.attachments[0]?.bytes?.[0]).toBe(6);
    lent.release();
  });

  test("that is never released is garbage-collected and counted as leaked", async () => {
    await using plugin = await open();
    for (let at = 0; at < 20; at++) readAndForget(plugin);
    await collect(() => plugin.stats().leaked === 20);
    expect(held(plugin)).toBe(0);
  });

  test("keeps a view readable after the unreleased memory object was collected", async () => {
    await using plugin = await open();
    const view = readAndForget(plugin);
    await collect(() => plugin.stats().leaked === 1);
    expect(view?.every((byte) => byte === 7)).toBe(true);
  });

  test("stays valid after its plugin closes, until its release", async () => {
    const plugin = await open();
    const memory = plugin.channel("make").call(told(8192));
    void memory.bytes;
    await plugin.close();
    expect(memory.bytes?.[1]).toBe(7);
    memory.release();
    expect(held(plugin)).toBe(0);
  });

  test("is refused for an invalid size", async () => {
    await using plugin = await open();
    for (const size of [-1, 1.5, Number.NaN, "8" as unknown as number]) {
      expect(await codeOf(() => plugin.allocate(size))).toBe("invalid-argument");
    }
    expect(await codeOf(() => plugin.allocate(2 ** 50))).toBe("too-large");
  });
});
