// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import type { Plugin } from "../src/index.js";
import { Collected, codeOf, collect, numberIn, open, suite, told } from "./fixtures/probe.js";

// Makes buffers of ES2024, which TypeScript's library types do not have yet.
const resizable = (size: number, maxByteLength: number): ArrayBuffer & { resize(size: number): void } =>
  Reflect.construct(ArrayBuffer, [size, { maxByteLength }]);
const growing = (size: number, maxByteLength: number): SharedArrayBuffer & { grow(size: number): void } =>
  Reflect.construct(SharedArrayBuffer, [size, { maxByteLength }]);
/** Lends memory and forgets the loan. A function of its own: the registers of an awaiting function keep what they held. */
function lendAndForget(plugin: Plugin): Promise<void> {
  return plugin.lend(new Uint8Array(8)).returned;
}

suite("lent JavaScript memory", () => {
  test.each([ArrayBuffer, SharedArrayBuffer])(
    "comes back from an echo as the same view, without a copy: %s",
    async (Kind) => {
      await using plugin = await open();
      const bytes = new Uint8Array(new Kind(1 << 20)).fill(1);
      const lent = plugin.lend(bytes);
      expect(plugin.channel("echo").call(lent).bytes).toBe(bytes);
      expect((await plugin.channel("pool/echo").send(lent)).bytes).toBe(bytes);
      const { toNative, fromNative } = plugin.stats().ledger;
      expect([toNative.copiedBytes, fromNative.copiedBytes]).toEqual([0, 0]);
      lent.release();
      await lent.returned;
    },
  );

  test("send lends 4096 bytes and more for the call, and copies fewer bytes", async () => {
    await using plugin = await open();
    const [large, small] = [new Uint8Array(4096).fill(1), new Uint8Array(4095).fill(2)];
    expect((await plugin.channel("pool/echo").send(large)).bytes).toBe(large);
    expect((await plugin.channel("pool/echo").send(small)).bytes).toEqual(small);
    expect(plugin.stats().ledger.toNative.copies).toEqual({ small: { count: 1, bytes: 4095 } });
  });

  test("stays with native code, which may write to it, until native code returns it", async () => {
    await using plugin = await open();
    const bytes = new Uint8Array(64);
    const lent = plugin.lend(bytes);
    plugin.channel("keep").call(lent);
    lent.release();
    let returned = false;
    void lent.returned.then(() => {
      returned = true;
    });
    await plugin.channel("pool/null").send();
    expect(returned).toBe(false);
    plugin.channel("drop").call();
    await lent.returned;
    expect(bytes[0]).toBe(99);
  });

  test("stays valid for native code after JavaScript has transferred the buffer", async () => {
    await using plugin = await open();
    const lent = plugin.lend(new Uint8Array(1 << 20));
    plugin.channel("keep").call(lent);
    const moved = structuredClone(lent.bytes, { transfer: [lent.bytes.buffer as ArrayBuffer] });
    expect(lent.bytes.length).toBe(0);
    lent.release();
    plugin.channel("drop").call();
    await lent.returned;
    expect(moved[0]).toBe(99);
  });

  test("fails every call with released after its release, and may be released twice", async () => {
    await using plugin = await open();
    const lent = plugin.lend(new Uint8Array(8));
    lent.release();
    lent.release();
    expect(await codeOf(() => plugin.channel("echo").call(lent))).toBe("released");
    expect(await codeOf(() => plugin.channel("echo").send(lent))).toBe("released");
    await lent.returned;
  });

  test("await using releases it and waits for its return", async () => {
    await using plugin = await open();
    const bytes = new Uint8Array(5000);
    {
      await using lent = plugin.lend(bytes);
      await plugin.channel("pool/fill").send(lent);
    }
    expect(bytes[4999]).toBe(1);
  });

  test("a closing plugin returns the memory that it kept", async () => {
    const plugin = await open();
    const lent = plugin.lend(new Uint8Array(8));
    plugin.channel("keep").call(lent);
    lent.release();
    await plugin.close();
    await lent.returned;
  });

  test("that is never released is garbage-collected, returned and counted as leaked, also after the close", async () => {
    const plugin = await open();
    let returned = lendAndForget(plugin);
    await collect(() => plugin.stats().leaked === 1);
    await returned;
    returned = lendAndForget(plugin);
    await plugin.close();
    await collect(() => plugin.stats().leaked === 2);
    await returned;
    expect(plugin.stats()).toMatchObject({ lent: 0, native: { held: 0 } });
  });

  test("that was released is not counted as leaked when it is garbage-collected", async () => {
    await using plugin = await open();
    const collected = new Collected();
    const lendAndRelease = (): void => {
      const lent = plugin.lend(new Uint8Array(8));
      lent.release();
      collected.watch(lent);
    };
    lendAndRelease();
    void lendAndForget(plugin);
    await collect(() => plugin.stats().leaked === 1);
    await collected.all();
    expect(plugin.stats().leaked).toBe(1);
  });

  test("without bytes comes back as the same view, and is returned", async () => {
    await using plugin = await open();
    const [lent, other] = [plugin.lend(new Uint8Array(0)), plugin.lend(new Uint8Array(0))];
    const { attachments } = plugin.channel("echo").call(null, [other, lent]);
    expect(attachments[0]?.bytes).toBe(other.bytes);
    expect(attachments[1]?.bytes).toBe(lent.bytes);
    other.release();
    expect((await plugin.channel("pool/echo").send(lent)).bytes).toBe(lent.bytes);
    lent.release();
    await lent.returned;
  });

  test("a part of a buffer comes back as that part", async () => {
    await using plugin = await open();
    const all = new Uint8Array(10_000);
    const part = all.subarray(100, 9_000);
    expect((await plugin.channel("pool/echo").send(part)).bytes).toBe(part);
    expect(part.byteOffset).toBe(100);
  });

  test("an answer in transferred memory throws released when it is read, and other answers arrive", async () => {
    await using plugin = await open();
    const moved = new Uint8Array(8192).fill(1);
    const echo = plugin.channel("serial/echo");
    const answers = [echo.send(moved), echo.send(told(7)), echo.send(moved.slice(0, 8000))] as const;
    structuredClone(moved, { transfer: [moved.buffer] });
    // Waits here until all answers were given. They then arrive in one drain, because this thread has not returned to its event loop.
    while (numberIn(plugin.channel("served").call().bytes) < 3);
    const [first, second, third] = await Promise.all(answers);
    expect(await codeOf(() => first.bytes)).toBe("released");
    expect(numberIn(second.bytes)).toBe(7);
    expect(third.bytes?.length).toBe(8000);
    expect(plugin.stats().native["held"]).toBe(0);
  });

  test("a direct answer and an attachment in transferred memory throw released when they are read", async () => {
    await using plugin = await open();
    const lent = plugin.lend(new Uint8Array(64));
    structuredClone(lent.bytes, { transfer: [lent.bytes.buffer as ArrayBuffer] });
    const direct = plugin.channel("echo").call(told(5), [lent]);
    expect(numberIn(direct.bytes)).toBe(5);
    expect(await codeOf(() => direct.attachments[0]?.bytes)).toBe("released");
    const later = await plugin.channel("pool/echo").send(lent);
    expect(await codeOf(() => later.bytes)).toBe("released");
    lent.release();
    await lent.returned;
  });

  test("an answer that throws while it is decoded fails its own call, and the drain's other answers arrive", async () => {
    class Hostile extends Uint8Array {
      override subarray(): never {
        throw new Error("hostile");
      }
    }
    await using plugin = await open();
    const part = plugin.channel("serial/part");
    const answers = [part.send(new Hostile(8192)), part.send(told(7)), part.send(new Uint8Array(8192))] as const;
    while (numberIn(plugin.channel("served").call().bytes) < 3);
    await expect(answers[0]).rejects.toThrow("hostile");
    expect(numberIn((await answers[1]).bytes)).toBe(7);
    expect((await answers[2]).bytes?.length).toBe(8191);
  });

  test("a handler that reads a message in transferred memory throws, and the plugin receives its failure", async () => {
    await using plugin = await open();
    using _ = plugin.handle("probe/asked", (message) => message.bytes);
    const moved = new Uint8Array(8192);
    const asked = plugin.channel("serial/ask").send(moved);
    structuredClone(moved, { transfer: [moved.buffer] });
    expect(await codeOf(() => asked)).toBe("failed");
    expect(numberIn((await plugin.channel("serial/ask").send(told(3))).bytes)).toBe(3);
  });

  test("lend refuses a resizable buffer, and its error names the remedy", async () => {
    await using plugin = await open();
    const buffer = resizable(64, 128);
    expect(await codeOf(() => plugin.lend(new Uint8Array(buffer)))).toBe("invalid-argument");
    expect(() => plugin.lend(new Uint8Array(buffer))).toThrow(/resizable.*allocate\(\)/);
    // The buffer must also be refused if an own property hides that it is resizable.
    Object.defineProperty(buffer, "resizable", { value: false });
    expect(await codeOf(() => plugin.lend(new Uint8Array(buffer)))).toBe("invalid-argument");
    const growable = growing(64, 1 << 20);
    const lent = plugin.lend(new Uint8Array(growable, 0, 64)); // is accepted, because a shared buffer only grows, without moving
    plugin.channel("keep").call(lent);
    growable.grow(1 << 20);
    lent.release();
    plugin.channel("drop").call();
    await lent.returned;
    expect(new Uint8Array(growable)[0]).toBe(99);
  });

  test("send copies a resizable buffer, which may then shrink during the call", async () => {
    await using plugin = await open();
    const buffer = resizable(1 << 20, 1 << 20);
    const bytes = new Uint8Array(buffer).fill(4);
    const blocked = plugin.channel("serial/block").send(told(20));
    const filled = plugin.channel("serial/fill").send(bytes);
    const echoed = plugin.channel("serial/echo").send(bytes);
    buffer.resize(0);
    await blocked;
    await filled;
    using answer = await echoed;
    expect(answer.bytes?.length).toBe(1 << 20);
    expect(answer.bytes?.every((byte) => byte === 4)).toBe(true);
    expect(plugin.stats().ledger.toNative.copies["resizable"]).toEqual({ count: 2, bytes: 2 << 20 });
  });

  test("a plugin cannot keep bytes that are lent only for a direct call", async () => {
    await using plugin = await open();
    expect(await codeOf(() => plugin.channel("keep").call(told(1)))).toBe("failed");
  });
});
