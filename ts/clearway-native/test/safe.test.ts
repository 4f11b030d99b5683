// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the example plugin in Rust without unsafe code (native/plugins/rust-safe). A host in C in that folder uses the same channels.
import { existsSync } from "node:fs";
import { standardMessageCodec } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { plugins } from "../../../scripts/native.mjs";
import { loadPlugin, type NativeMessage, type Plugin } from "../src/index.js";
import { missing } from "./fixtures/probe.js";

const path = plugins.rust.example.replace("_example_", "_safe_");
const leftOut = (missing()?.includes("addon") ?? false) || !existsSync(path);
const { encode, decode } = standardMessageCodec;

/** Decodes a message's value and releases its memory. */
function decoded(message: NativeMessage): unknown {
  const value = message.bytes === null ? null : decode(message.bytes);
  message.release();
  return value;
}

const ask = async (plugin: Plugin, channel: string, value: unknown): Promise<unknown> =>
  decoded(await plugin.channel(channel).send(encode(value)));

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
