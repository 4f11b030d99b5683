// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { standardMessageCodec, standardMethodCodec } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { plugins } from "../../../scripts/native.mjs";
import { latest, loadPlugin, type NativeMessage, type Plugin } from "../src/index.js";
import { codeOf, missing } from "./fixtures/probe.js";

const addon = missing()?.includes("addon") ?? false;
const { encode, decode } = standardMessageCodec;

/** Returns a copy of a message's bytes and releases its memory. */
function taken(message: NativeMessage): Uint8Array | null {
  const bytes = message.bytes?.slice() ?? null;
  message.release();
  return bytes;
}

// Runs the same tests with the example plugin in C and with the one in Rust.
describe.each(["c", "rust"] as const)("the example plugin in %s", (language) => {
  const path = plugins[language].example;
  const it = test.skipIf(addon || !existsSync(path));

  it("echoes on the calling thread, its pool and its queue, from its own memory and from lent memory", async () => {
    await using plugin = await loadPlugin(path);
    const bytes = new Uint8Array(100_000).fill(5);
    expect(taken(plugin.channel("echo").call(new Uint8Array([1, 2])))).toEqual(new Uint8Array([1, 2]));
    for (const name of ["echo/pool", "echo/serial"])
      expect(taken(await plugin.channel(name).send(bytes))).toEqual(bytes);
    expect(plugin.channel("echo").call().bytes).toBeNull();
    await using lent = plugin.lend(bytes);
    expect(plugin.channel("echo").call(lent).bytes).toBe(bytes);
    expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 1 } });
  });

  it("decodes and encodes values, and refuses invalid bytes", async () => {
    await using plugin = await loadPlugin(path);
    const value = encode({ a: [1, 2.5, null, "Zoë"], b: new Float64Array([1, 2]), c: 2n ** 70n });
    for (const name of ["echo/standard", "echo/standard/pool", "echo/standard/serial"])
      expect(taken(await plugin.channel(name).send(value))).toEqual(value);
    const call = standardMethodCodec.call.encode({ method: "any", args: [1, "two"] });
    const reply = taken(plugin.channel("echo/method").call(call));
    expect(standardMethodCodec.reply.decode(reply ?? new Uint8Array())).toEqual({ kind: "success", value: [1, "two"] });
    expect(await codeOf(() => plugin.channel("echo/standard").call(new Uint8Array([255])))).toBe("invalid-argument");
  });

  it("asks its host and answers with the host's reply", async () => {
    await using plugin = await loadPlugin(path);
    using _ = plugin.handle("echo/host", ({ bytes }) => new Uint8Array([...(bytes ?? []), 9]));
    expect(taken(await plugin.channel("echo/back").send(new Uint8Array([1])))).toEqual(new Uint8Array([1, 9]));
  });

  it("fills a message's attachment in place", async () => {
    await using plugin = await loadPlugin(path);
    using memory = plugin.allocate(50_000);
    plugin.channel("memset/shared").call(new Uint8Array([7]), [memory]);
    expect(memory.bytes.every((byte) => byte === 7)).toBe(true);
  });

  it("fills the attachment whose number a method's call passes", async () => {
    await using plugin = await loadPlugin(path);
    using first = plugin.allocate(5000);
    using second = plugin.allocate(5000);
    first.bytes.fill(1);
    second.bytes.fill(1);
    const channel = plugin.channel("memset/number");
    const call = (args: unknown) =>
      channel.call(standardMethodCodec.call.encode({ method: "memset", args }), [first, second]);
    const reply = standardMethodCodec.reply.decode(taken(call([1, 7])) ?? new Uint8Array());
    expect(reply).toEqual({ kind: "success", value: null });
    expect([first.bytes.every((byte) => byte === 1), second.bytes.every((byte) => byte === 7)]).toEqual([true, true]);
    for (const wrong of [[2, 7], [-1, 7], ["0", 7], [0], null])
      expect(await codeOf(async () => call(wrong))).toBe("invalid-argument");
    expect(first.bytes.every((byte) => byte === 1)).toBe(true);
  });

  it("filters an image in place, on its pool", async () => {
    await using plugin = await loadPlugin(path);
    using pixels = plugin.allocate(4 * 16);
    pixels.bytes.fill(200);
    const told = encode({ width: 4, height: 4, filter: "negative" });
    await plugin.channel("image/filter").send(told, { attachments: [pixels] });
    expect([...pixels.bytes.subarray(0, 4)]).toEqual([55, 55, 55, 200]);
    const wrong = encode({ width: 5, height: 4, filter: "negative" });
    const refused = () => plugin.channel("image/filter").send(wrong, { attachments: [pixels] });
    expect(await codeOf(refused)).toBe("invalid-argument");
  });

  it("emits every event in order, and stops when the listener leaves", async () => {
    await using plugin = await loadPlugin(path);
    const numbers: number[] = [];
    for await (const event of plugin.channel("sensor").listen({ arguments: encode({ rate: 0, count: 2000 }) })) {
      const bytes = event.bytes ?? new Uint8Array();
      numbers.push(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true));
      event.release();
    }
    expect(numbers).toEqual(Array.from({ length: 2000 }, (_, at) => at + (numbers[0] ?? 0)));
    for await (const event of plugin.channel("sensor").listen({ arguments: encode({ rate: 0 }) })) {
      event.release();
      break;
    }
    expect(
      await codeOf(() =>
        plugin
          .channel("sensor")
          .listen({ arguments: encode({ rate: -1 }) })
          .next(),
      ),
    ).toBe("invalid-argument");
  });

  it("sends a screen's frames without a copy, and only the newest to a slow listener", async () => {
    await using plugin = await loadPlugin(path);
    const told = encode({ width: 320, height: 200, rate: 0 });
    let last = -1;
    for await (const frame of plugin.channel("frames").listen({ arguments: told, ...latest() })) {
      const bytes = frame.bytes ?? new Uint8Array();
      expect(bytes.byteLength).toBe(320 * 200 * 4);
      const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
      expect(number).toBeGreaterThan(last);
      last = number;
      frame.release();
      if (number > 20) break;
    }
    expect(plugin.stats()).toMatchObject({ leaked: 0, ledger: { fromNative: { copiedBytes: 0 } } });
  });

  it("closes while its handlers block and its sources emit", async () => {
    const plugin = await loadPlugin(path);
    const blocked = plugin.channel("block").send(new Uint8Array(new Uint32Array([20]).buffer));
    const events = plugin.channel("sensor").listen({ arguments: encode({ rate: 0 }) });
    (await events.next()).value?.release();
    const ended = Promise.allSettled([blocked]);
    await plugin.close();
    await ended;
    expect(await codeOf(() => plugin.channel("echo").call())).toBe("closed");
  });
});

const path = plugins.rust.example.replace("_example_", "_safe_");
const leftOut = addon || !existsSync(path);

/** Decodes a message's value and releases its memory. */
function decoded(message: NativeMessage): unknown {
  const value = message.bytes === null ? null : decode(message.bytes);
  message.release();
  return value;
}

const ask = async (plugin: Plugin, channel: string, value: unknown): Promise<unknown> =>
  decoded(await plugin.channel(channel).send(encode(value)));

// A host in C uses the same channels, in the plugin's folder native/plugins/rust-safe.
describe.skipIf(leftOut)("the example plugin in Rust without unsafe code", () => {
  test("a typed handler reads a map and answers with a map", async () => {
    await using plugin = await loadPlugin(path);
    expect(await ask(plugin, "text/count", { text: "one zoo" })).toEqual({
      words: 2,
      letters: { e: 1, n: 1, o: 3, z: 1 },
    });
    await expect(ask(plugin, "text/count", { text: 1 })).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("expected a string"),
    });
  });

  test("a direct handler echoes bytes, memory and null on the calling thread", async () => {
    await using plugin = await loadPlugin(path);
    const echo = plugin.channel("echo");
    expect(echo.call(new Uint8Array([1, 2])).bytes).toEqual(new Uint8Array([1, 2]));
    expect(echo.call().bytes).toBeNull();
    await using lent = plugin.lend(new Uint8Array(5000).fill(5));
    expect(echo.call(lent).bytes).toBe(lent.bytes);
  });

  test("an image is filtered in shared memory, and another is returned in new memory", async () => {
    await using plugin = await loadPlugin(path);
    using pixels = plugin.allocate(8);
    pixels.bytes.fill(10);
    const size = encode({ width: 2, height: 1 });
    (await plugin.channel("image/negative").send(size, { attachments: [pixels] })).release();
    expect([...pixels.bytes]).toEqual([245, 245, 245, 10, 245, 245, 245, 10]);
    await expect(plugin.channel("image/negative").send(size)).rejects.toMatchObject({ code: "invalid-argument" });
    using white = await plugin.channel("image/white").send(size);
    expect([...(white.attachments[0]?.bytes ?? [])]).toEqual(new Array(8).fill(255));
  });

  test("a reply from another thread arrives, and one carries the host's answer", async () => {
    await using plugin = await loadPlugin(path);
    expect(await ask(plugin, "later", { text: "abc" })).toBe("ABC");
    using _ = plugin.handle("host", ({ bytes }) => encode(`${decode(bytes ?? new Uint8Array())}!`));
    expect(await ask(plugin, "ask", { text: "abc" })).toBe("abc!");
  });

  test("a source emits while there is room, and wrong arguments end the stream with an error", async () => {
    await using plugin = await loadPlugin(path);
    const ticks: unknown[] = [];
    for await (const event of plugin.channel("ticks").listen({ arguments: encode({ count: 300 }) }))
      ticks.push(decoded(event));
    expect(ticks).toEqual(Array.from({ length: 300 }, (_, number) => ({ number, last: number === 299 })));
    const wrong = plugin.channel("ticks").listen({ arguments: encode({}) });
    await expect(wrong[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      message: expect.stringContaining("missing field `count`"),
    });
  });

  test("a panic fails its message with its text, and the plugin goes on", async () => {
    await using plugin = await loadPlugin(path);
    await expect(ask(plugin, "panics", { text: "on purpose" })).rejects.toMatchObject({
      code: "panicked",
      message: expect.stringContaining("on purpose"),
    });
    expect(await ask(plugin, "later", { text: "still" })).toBe("STILL");
    expect(plugin.stats()).toMatchObject({ leaked: 0 });
  });
});
