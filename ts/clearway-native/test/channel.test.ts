// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { binaryCodec, connect, type Endpoint, jsonMessageCodec, memoryPair, outcome } from "clearway/channel";
import { expect, test } from "vitest";
import { plugins } from "../../../scripts/native.mjs";
import { pluginEndpoint, servePlugin } from "../src/channel.js";
import { loadPlugin, nativeFeatures, type Plugin } from "../src/index.js";
import { codeOf, numberIn, open, suite, told } from "./fixtures/probe.js";

const pair = async (): Promise<[Endpoint, Endpoint]> => {
  const [a, b] = memoryPair();
  return Promise.all([connect(a), connect(b)]);
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function served(plugin: Plugin): Promise<Endpoint> {
  const [here, there] = await pair();
  servePlugin(plugin, there, {
    messages: ["echo", "pool/echo", "pool/make", "fail", "unknown", "ask"],
    asks: ["probe/asked"],
  });
  return here;
}

suite("a plugin at an endpoint of clearway/channel", () => {
  test("answers messages and methods, small and large", async () => {
    await using plugin = await open();
    await using here = await served(plugin);
    expect(await here.messages("echo").send({ a: [1, 2] })).toEqual({ a: [1, 2] });
    expect(await here.messages("pool/echo").send("text")).toBe("text");
    const made = await here.messages("pool/make", binaryCodec).send(told(100_000));
    expect(made).toEqual(new Uint8Array(100_000).fill(7));
    expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
  });

  test("copies no large message in either direction when memory is shared", async () => {
    await using plugin = await open({ views: "shared" });
    await using here = await served(plugin);
    const bytes = new Uint8Array(new SharedArrayBuffer(100_000)).fill(3);
    const back = await here.messages("pool/echo", binaryCodec).send(bytes);
    expect(back?.buffer).toBe(bytes.buffer);
    const made = await here.messages("pool/make", binaryCodec).send(told(100_000));
    expect(made).toEqual(new Uint8Array(100_000).fill(7));
    expect(made?.buffer.constructor.name).toBe(
      nativeFeatures().mapping === "none" ? "ArrayBuffer" : "SharedArrayBuffer",
    );
    if (nativeFeatures().mapping === "none") return;
    expect(plugin.stats().ledger.fromNative).toMatchObject({ movedBytes: 0, sharedBytes: 200_000 });
    // Only the 4 bytes of the request were copied, into the core's queue.
    expect(plugin.stats().ledger).toMatchObject({ toNative: { copiedBytes: 4 }, fromNative: { copiedBytes: 0 } });
    expect(here.stats().ledger.received).toMatchObject({ movedBytes: 0, sharedBytes: 200_000 });
  });

  test("has a cancelled call count against `callsMax`, with its lent message, until its handler has ended", async () => {
    await using plugin = await open({ views: "shared" });
    const [a, b] = memoryPair();
    const [here, there] = await Promise.all([connect(a), connect(b, { callsMax: 1 })]);
    await using _here = here;
    servePlugin(plugin, there, { messages: ["pool/hold", "pool/echo"] });
    const bytes = new Uint8Array(new SharedArrayBuffer(100_000));
    const leaving = new AbortController();
    const held = here.messages("pool/hold", binaryCodec).send(bytes, { signal: leaving.signal });
    while (Atomics.load(bytes, 1) === 0) await turn();
    leaving.abort("left");
    await expect(held).rejects.toBe("left");
    await expect(here.messages("pool/echo").send(1)).rejects.toMatchObject({ code: "queue-full" });
    Atomics.store(bytes, 0, 1);
    while (there.stats().handling > 0) await turn();
    expect(await here.messages("pool/echo").send(1)).toBe(1);
  });

  test("learns that a call was cancelled", async () => {
    await using plugin = await open();
    const [here, there] = await pair();
    await using _here = here;
    servePlugin(plugin, there, { messages: ["pool/unwanted"] });
    const leaving = new AbortController();
    const sent = here.messages("pool/unwanted").send(1, { signal: leaving.signal });
    while (there.stats().handling === 0) await turn();
    leaving.abort("left");
    await expect(sent).rejects.toBe("left");
    // Its handler ends only then.
    while (there.stats().handling > 0) await turn();
  });

  test("fails with remote errors, and answers an unknown method as not implemented", async () => {
    await using plugin = await open();
    await using here = await served(plugin);
    await expect(here.messages("fail").send("x")).rejects.toThrow("the probe was asked to fail");
    expect((await outcome(here.methods("unknown").call("anything"))).kind).toBe("not-implemented");
  });

  test("is the other end of an endpoint on this thread, with any codec", async () => {
    await using plugin = await open();
    const messages = ["echo", "pool/echo", "fail", "unknown", "ask"];
    await using here = await pluginEndpoint(plugin, { messages, asks: ["probe/asked"] });
    expect(await here.messages("pool/echo").send({ a: [1, 2] })).toEqual({ a: [1, 2] });
    expect(await here.messages("pool/echo", jsonMessageCodec).send({ a: 1 })).toEqual({ a: 1 });
    expect((await outcome(here.messages("fail").send("x"))).kind).toBe("remote-error");
    expect((await outcome(here.methods("unknown").call("anything"))).kind).toBe("not-implemented");
    expect((await outcome(here.messages("not served").send("x", { deadlineMs: 1 }))).kind).not.toBe("result");
    using _ = here.messages("probe/asked", binaryCodec).handle((bytes) => bytes);
    expect(await here.messages("ask", binaryCodec).send(new Uint8Array([1]))).toEqual(new Uint8Array([1]));
  });

  test("receives lists inside their message, and its answers of any size are decoded", async () => {
    await using plugin = await open();
    await using here = await pluginEndpoint(plugin, { messages: ["pool/echo"] });
    const value = { list: new Uint8Array(100_000).fill(7), floats: new Float64Array(5000).fill(1.5), text: "x" };
    expect(await here.messages("pool/echo").send(value)).toEqual(value);
    expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
  });

  test("stays usable when one of its endpoints closes", async () => {
    await using plugin = await open();
    const one = await pluginEndpoint(plugin, { messages: ["pool/echo"], asks: ["probe/asked"] });
    await one.close();
    expect((await outcome(one.messages("pool/echo").send(1))).kind).toBe("closed");
    await using two = await pluginEndpoint(plugin, { messages: ["pool/echo"], asks: ["probe/asked"] });
    expect(await two.messages("pool/echo").send(1)).toBe(1);
  });

  test("refuses an endpoint with an invalid name, and leaves nothing open", async () => {
    await using plugin = await open();
    const messages = ["echo", "x".repeat(70_000)];
    await expect(pluginEndpoint(plugin, { messages })).rejects.toMatchObject({ code: "invalid-argument" });
  });

  test("refuses a wrong option, and leaves no timer", async () => {
    await using plugin = await open();
    // The library uses the timers of its start.
    const own = (globalThis as unknown as Record<symbol, Pick<typeof globalThis, "setTimeout" | "clearTimeout">>)[
      Symbol.for("clearway.globals")
    ]!;
    const { setTimeout, clearTimeout } = own;
    const timers = new Set<unknown>();
    own.setTimeout = ((act: () => void, ms?: number) => {
      const timer = setTimeout(act, ms);
      timers.add(timer);
      return timer;
    }) as typeof setTimeout;
    own.clearTimeout = (timer) => {
      timers.delete(timer);
      clearTimeout(timer);
    };
    try {
      const wrong = pluginEndpoint(plugin, { messages: ["echo"] }, { callsMax: -1 });
      await expect(wrong).rejects.toMatchObject({ code: "invalid-argument" });
      await new Promise((resolve) => setImmediate(resolve));
      expect(timers.size).toBe(0);
    } finally {
      Object.assign(own, { setTimeout, clearTimeout });
    }
  });

  test("sends its own messages to the other end", async () => {
    await using plugin = await open();
    await using here = await served(plugin);
    using _ = here.messages("probe/asked", binaryCodec).handle((bytes) => new Uint8Array([...(bytes ?? []), 9]));
    expect(await here.messages("ask", binaryCodec).send(new Uint8Array([1]))).toEqual(new Uint8Array([1, 9]));
  });

  test.skipIf(!existsSync(plugins.c.example))(
    "sends its events to the other end, and ends the source when the listener leaves",
    async () => {
      await using plugin = await loadPlugin(plugins.c.example);
      const [here, there] = await pair();
      await using _here = here;
      servePlugin(plugin, there, { events: { sensor: binaryCodec } });
      const sizes: unknown[] = [];
      for await (const event of here.events("sensor").listen({ rate: 0, count: 500 }))
        sizes.push((event as Uint8Array).length);
      expect(sizes).toEqual(Array.from({ length: 500 }, () => 24));
      for await (const event of here.events("sensor").listen({ rate: 0 })) if ((event as Uint8Array)[0] === 9) break;
      expect(plugin.stats()).toMatchObject({ leaked: 0, native: { held: 0 } });
    },
  );

  test("releases an event whose codec throws", async () => {
    await using plugin = await open();
    const [here, there] = await pair();
    await using _here = here;
    const codec = {
      ...binaryCodec,
      decode: (): never => {
        throw new Error("hostile");
      },
    };
    servePlugin(plugin, there, { events: { ticks: codec } });
    // Encoded, these 16 bytes begin with their tag and size. The source reads 4104 events of 4096 bytes, without a pause.
    const args = new Uint8Array(16);
    args[3] = 4096 >> 8;
    await expect(here.events("ticks").listen(args).next()).rejects.toThrow();
    while (plugin.channel("cancels").call().bytes?.[0] === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(plugin.stats().native["held"]).toBe(0);
  });

  test("refuses to serve a channel twice, and serves it again after disposal", async () => {
    await using plugin = await open();
    const [here, there] = await pair();
    await using _here = here;
    const serving = servePlugin(plugin, there, { messages: ["echo"] });
    expect(await codeOf(() => servePlugin(plugin, there, { messages: ["null", "echo"] }))).toBe("invalid-argument");
    serving[Symbol.dispose]();
    using _ = servePlugin(plugin, there, { messages: ["null", "echo"] });
    expect(numberIn((await here.messages("echo", binaryCodec).send(told(5))) ?? null)).toBe(5);
  });
});
