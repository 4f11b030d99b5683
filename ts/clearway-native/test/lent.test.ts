// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { codeOf, open, suite, told } from "./fixtures/probe.js";

suite("memory of JavaScript's, lent", () => {
  test.each([ArrayBuffer, SharedArrayBuffer])(
    "an echo of it is the very view, with nothing copied: %s",
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

  test("4096 bytes and more are lent for a call by themselves, fewer are copied", async () => {
    await using plugin = await open();
    const [large, small] = [new Uint8Array(4096).fill(1), new Uint8Array(4095).fill(2)];
    expect((await plugin.channel("pool/echo").send(large)).bytes).toBe(large);
    expect((await plugin.channel("pool/echo").send(small)).bytes).toEqual(small);
    expect(plugin.stats().ledger.toNative.copies).toEqual({ small: { count: 1, bytes: 4095 } });
  });

  test("native code keeps and writes to it until it gives it back; then it has returned", async () => {
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

  test("native code may write to it after JavaScript has given the buffer away, and nothing breaks", async () => {
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

  test("a loan that was ended is an error in every call, and ending it again is none", async () => {
    await using plugin = await open();
    const lent = plugin.lend(new Uint8Array(8));
    lent.release();
    lent.release();
    expect(await codeOf(() => plugin.channel("echo").call(lent))).toBe("released");
    expect(await codeOf(() => plugin.channel("echo").send(lent))).toBe("released");
    await lent.returned;
  });

  test("await using ends the loan and waits for the return", async () => {
    await using plugin = await open();
    const bytes = new Uint8Array(5000);
    {
      await using lent = plugin.lend(bytes);
      await plugin.channel("pool/fill").send(lent);
    }
    expect(bytes[4999]).toBe(1);
  });

  test("a plugin that closes gives back what it kept", async () => {
    const plugin = await open();
    const lent = plugin.lend(new Uint8Array(8));
    plugin.channel("keep").call(lent);
    lent.release();
    await plugin.close();
    await lent.returned;
  });

  test("a part of a buffer comes back as that part", async () => {
    await using plugin = await open();
    const all = new Uint8Array(10_000);
    const part = all.subarray(100, 9_000);
    expect((await plugin.channel("pool/echo").send(part)).bytes).toBe(part);
    expect(part.byteOffset).toBe(100);
  });

  test("bytes that were only lent for a direct call cannot be kept", async () => {
    await using plugin = await open();
    expect(await codeOf(() => plugin.channel("keep").call(told(1)))).toBe("failed");
  });
});
