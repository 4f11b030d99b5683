// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { jsonMessageCodec, jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import type { PortOptions } from "../../../src/channel/transport/port-like.js";
import { Post } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { move } from "../../../src/transfer/move.js";
import { endWithTest, rejection } from "./pairs.js";

interface Ends {
  a: Endpoint;
  b: Endpoint;
  /** The kinds of the messages that a has posted. */
  posted: number[];
}

const ends = async (
  options: EndpointOptions = {},
  there: EndpointOptions = options,
  ports: PortOptions = {},
): Promise<Ends> => {
  const { port1, port2 } = new MessageChannel();
  const posted: number[] = [];
  const post = port1.postMessage.bind(port1);
  port1.postMessage = (message: unknown[], transfer: never) => {
    posted.push(message[1] as number);
    post(message, transfer);
  };
  const ring = (each: "offer" | "accept"): PortOptions => (ports.ring ? { ...ports, ring: each } : ports);
  const [a, b] = await Promise.all([
    connect(portTransport(port1, ring("offer")), options),
    connect(portTransport(port2, ring("accept")), there),
  ]);
  endWithTest(a, b);
  b.methods("echo").handle((_, value) => value);
  b.messages("back").handle((value) => value as never);
  return { a, b, posted };
};

const pattern = (bytes: number): Uint8Array<ArrayBuffer> => new Uint8Array(bytes).map((_, at) => at & 255);

/** A value that is cloned by the port, because it is not small and plain. */
const large = (): { list: number[] } => ({ list: Array.from({ length: 200 }, (_, at) => at) });

describe("the codec clone", () => {
  test("is the default between two ports, and carries what structured clone carries", async () => {
    const { a, b } = await ends();
    expect([a.codec, b.codec, a.stats().codec]).toEqual(["clone", "clone", "clone"]);
    const key = { key: 1 };
    const cyclic: { self?: unknown; date: Date } = { date: new Date(5) };
    cyclic.self = cyclic;
    const values = [
      null,
      7,
      10n,
      "text \ud83d",
      [1, [2, { three: [undefined, "x"] }]],
      // biome-ignore lint/suspicious/noSparseArray: structured clone keeps holes
      [1, , 3],
      // As many other properties as holes.
      // biome-ignore lint/suspicious/noSparseArray: structured clone keeps holes
      Object.assign([1, , 3], { named: 2 }),
      new Map<unknown, unknown>([[key, new Set([key, "x"])]]),
      { date: new Date(1), expression: /x/gi, nested: { none: undefined, not: Number.NaN } },
      JSON.parse('{"__proto__": {"polluted": 1}}'),
      [
        new Uint8ClampedArray([300]),
        new Uint16Array([1, 2]),
        new DataView(pattern(4).buffer),
        new BigUint64Array([1n]),
      ],
      cyclic,
      large(),
    ];
    for (const value of values) {
      expect(await a.methods("echo").call("x", value)).toEqual(value);
      expect(await a.messages("back").send(value)).toEqual(value);
    }
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const error = new RangeError("out", { cause: new Error("inner") });
    expect(await a.methods("echo").call("x", [error])).toMatchObject([{ name: "RangeError", message: "out" }]);
    const twice = { x: 1 };
    const [first, second] = await a.methods("echo").call<object[]>("x", [twice, twice]);
    expect(first).toBe(second);
    expect(await a.methods("echo").call("x", undefined)).toBeNull();
  });

  test("carries events, and their arguments", async () => {
    const { a, b } = await ends();
    b.events("count").serve(async function* (args) {
      for (let at = 0; at < 40; at++) yield { at, args, day: new Date(at) };
    });
    const seen: unknown[] = [];
    for await (const event of a.events("count").listen(new Map([[1, 2]]))) seen.push(event);
    expect(seen).toEqual(Array.from({ length: 40 }, (_, at) => ({ at, args: new Map([[1, 2]]), day: new Date(at) })));
  });

  test("sends a value as it is when it is sent, whatever the app does with it afterwards", async () => {
    const { a, b } = await ends({}, {}, { windowBytes: 2000 });
    for (const make of [() => ({ at: 0 }), () => ({ at: 0, ...large() })]) {
      const value = make();
      const calls = Array.from({ length: 20 }, (_, at) => {
        value.at = at;
        return a.methods("echo").call<{ at: number }>("x", value);
      });
      expect((await Promise.all(calls)).map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, at) => at));
      const state = make();
      b.methods(`next${Object.keys(state).length}`).handle(() => {
        state.at++;
        return state;
      });
      const next = a.methods(`next${Object.keys(state).length}`);
      const replies = await Promise.all(Array.from({ length: 20 }, () => next.call<{ at: number }>("x")));
      expect(replies.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
      const name = `events${Object.keys(state).length}`;
      b.events(name).serve((_, sink) => {
        const event = make();
        for (let at = 0; at < 20; at++) {
          event.at = at;
          void sink.send(event);
        }
        sink.end();
      });
      const events: number[] = [];
      for await (const { at } of a.events(name).listen<{ at: number }>(null, { window: { items: 2 } })) events.push(at);
      expect(events).toEqual(Array.from({ length: 20 }, (_, at) => at));
    }
  });

  test("posts the small values of a tick in one message, and any other value in one of its own", async () => {
    const { a, posted } = await ends();
    posted.length = 0;
    const m = a.methods("echo");
    await Promise.all(Array.from({ length: 100 }, (_, at) => m.call("x", { at, list: [at, "text"] })));
    expect(posted).toEqual([Post.values]);
    await Promise.all([m.call("x", 1), m.call("x", large()), m.call("x", 2), m.call("x", 3)]);
    expect(posted).toEqual([Post.values, Post.values, Post.values, Post.values]);
  });

  test("moves memory with one message a call and no report of its own", async () => {
    const { a, posted } = await ends();
    posted.length = 0;
    let bytes = pattern(1 << 20);
    for (let at = 0; at < 5; at++) {
      const sent = bytes;
      bytes = await a.methods("echo").call("x", move(bytes));
      expect([sent.byteLength, bytes.byteLength]).toEqual([0, 1 << 20]);
    }
    expect(posted).toHaveLength(5);
    expect(posted).not.toContain(Post.taken);
    const { sent, received } = a.stats().ledger;
    expect(sent).toMatchObject({ movedBytes: 5 << 20, copiedBytes: 0, copies: {} });
    expect(received).toEqual({ movedBytes: 5 << 20, sharedBytes: 0, copiedBytes: 0 });
  });

  test("moves a large binary message as a value, which any codec of the other end reads", async () => {
    const { a, b } = await ends();
    const encoded = standardMessageCodec.encode({ list: new Uint8Array(50_000) });
    b.messages("clone").handle((value) => ({ seen: value }));
    b.messages("json", jsonMessageCodec).handle((value) => value);
    const reply = (await a.messages("clone", binaryCodec).send(move(encoded.slice()) as never)) as never as Uint8Array;
    expect(standardMessageCodec.decode(reply)).toEqual({ seen: { list: new Uint8Array(50_000) } });
    const text = new TextEncoder().encode(JSON.stringify("x".repeat(20_000)));
    const json = (await a.messages("json", binaryCodec).send(move(text.slice()) as never)) as never as Uint8Array;
    expect(new TextDecoder().decode(json)).toBe(JSON.stringify("x".repeat(20_000)));
    expect(a.stats().ledger.sent).toMatchObject({ movedBytes: encoded.byteLength + text.byteLength, copiedBytes: 0 });
  });

  test("keeps a large binary message that arrives before its handler, and moves one over the frame limit", async () => {
    const { a, b } = await ends({}, {}, { frameBytesMax: 100_000 });
    const early = a.messages("early", binaryCodec).send(move(pattern(3 << 20)) as never);
    const small = a.messages("early", binaryCodec).send(move(pattern(90_000)) as never);
    await a.methods("echo").call("x");
    b.messages("early", binaryCodec).handle((value) => value);
    expect((await early)?.byteLength).toBe(3 << 20);
    expect((await small)?.byteLength).toBe(90_000);
  });

  test("counts each copied list once, with its reason", async () => {
    const { a, b } = await ends();
    b.methods("sink").handle(() => null);
    await a.methods("sink").call("x", [pattern(100), pattern(20_000), pattern(40_000).subarray(0, 30_000)]);
    expect(a.stats().ledger.sent.copies).toEqual({
      cloned: { count: 1, bytes: 100 },
      "not-moved": { count: 1, bytes: 20_000 },
      "partial-view": { count: 1, bytes: 30_000 },
    });
    expect(b.stats().ledger.received.copiedBytes).toBe(50_100);
  });

  test("sends only the bytes of a view, not the memory around it", async () => {
    const { a, b } = await ends();
    const sizes: number[] = [];
    b.methods("sizes").handle((_, views) => {
      for (const { buffer } of views as Uint8Array[]) sizes.push(buffer.byteLength);
    });
    await a.methods("sizes").call("x", [pattern(9000).subarray(5, 10), pattern(100_000).subarray(0, 50_000)]);
    expect(sizes).toEqual([5, 50_000]);
  });

  test("moves a port under move(), and only the listed objects of a list", async () => {
    const { a, b } = await ends();
    b.methods("port").handle((_, port) => void (port as MessagePort).postMessage("moved"));
    const { port1, port2 } = new MessageChannel();
    const heard = new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
    });
    await a.methods("port").call("x", move(port2));
    expect(await heard).toBe("moved");
    port1.close();
    const [listed, other] = [pattern(10), pattern(10)];
    await a.methods("echo").call("x", move([listed, other], [listed.buffer]));
    expect([listed.byteLength, other.byteLength]).toEqual([0, 10]);
  });

  test("refuses a value that cannot cross with not-cloneable, and carries the others of its tick", async () => {
    const { a, b } = await ends();
    const m = a.methods("echo");
    const stream = a.events("none").listen();
    const bad = [
      () => 1,
      Symbol("x"),
      { inside: () => 1 },
      { stream },
      [{ ...large(), port: new MessageChannel().port1 }],
    ];
    const calls = bad.flatMap((value) => [
      m.call("x", 1),
      m.call("x", value),
      a.messages("back").send(value),
      m.call("x", 2),
    ]);
    const results = await Promise.allSettled(calls);
    for (const [at, result] of results.entries())
      if (at % 4 === 0 || at % 4 === 3) expect(result).toEqual({ status: "fulfilled", value: at % 4 === 0 ? 1 : 2 });
      else expect(result).toMatchObject({ status: "rejected", reason: { code: "not-cloneable" } });
    expect(await rejection(a.messages("back").post(() => 1))).toMatchObject({ code: "not-cloneable" });
    b.methods("bad").handle(async () => ({ inside: () => 1 }));
    expect(await rejection(a.methods("bad").call("x"))).toMatchObject({ name: "RemoteError", code: "not-cloneable" });
    const failing = {
      get x() {
        throw new Error("a getter threw");
      },
    };
    expect(await rejection(m.call("x", failing))).toMatchObject({ message: "a getter threw" });
    expect(await m.call("x", "still")).toBe("still");
    const sent: unknown[] = [];
    b.events("odd").serve(async (_, sink) => {
      for (const event of [1, { bad: () => 1 }, 2, { bad: () => 1 }, 3])
        sent.push(await sink.send(event).catch((error) => error.code));
    });
    const seen: unknown[] = [];
    for await (const event of a.events("odd").listen(null, { window: { items: 1 } })) seen.push(event);
    expect([seen, sent]).toEqual([
      [1, 2, 3],
      [true, "not-cloneable", true, "not-cloneable", true],
    ]);
  });

  test("refuses memory that was moved away, and copies under strict and move()", async () => {
    const { a } = await ends({ strict: true });
    const m = a.methods("echo");
    const gone = pattern(20_000);
    structuredClone(gone, { transfer: [gone.buffer] });
    expect(await rejection(m.call("x", { gone }))).toMatchObject({ code: "released" });
    expect(await rejection(m.call("x", { list: pattern(20_000) }))).toMatchObject({ code: "would-copy" });
    expect(await rejection(m.call("x", move([pattern(10).subarray(1)])))).toMatchObject({ code: "would-copy" });
    expect(await m.call("x", pattern(10))).toEqual(pattern(10));
  });

  test("lets a getter in a value send other messages", async () => {
    const { a } = await ends();
    const m = a.methods("echo");
    const inner: Promise<unknown>[] = [];
    const value = {
      ...large(),
      get more() {
        inner.push(m.call("x", "inner"), m.call("x", large()));
        return 1;
      },
    };
    expect(await m.call("x", value)).toEqual({ ...large(), more: 1 });
    for (const each of await Promise.all(inner)) expect(["inner", large()]).toContainEqual(each);
  });

  test("refuses a value over the frame limit, and one that is nested too deep", async () => {
    const { a } = await ends({}, {}, { frameBytesMax: 10_000 });
    const m = a.methods("echo");
    expect(await rejection(m.call("x", pattern(20_000)))).toMatchObject({ code: "too-large" });
    let deep: unknown = 0;
    for (let at = 0; at < 600; at++) deep = [deep];
    expect(await rejection(m.call("x", deep))).toMatchObject({ code: "not-cloneable" });
    expect(await m.call("x", 1)).toBe(1);
  });
});

describe("two ends that connect", () => {
  test("use the standard codec if one of them says so, or takes no values", async () => {
    for (const [here, there] of [
      ["standard", undefined],
      [undefined, "standard"],
      ["standard", "standard"],
    ] as const) {
      const { a, b } = await ends(here ? { codec: here } : {}, there ? { codec: there } : {});
      expect([a.codec, b.codec]).toEqual(["standard", "standard"]);
      expect(await rejection(a.methods("echo").call("x", new Date()))).toMatchObject({ code: "not-encodable" });
      expect(await a.methods("echo").call("x", [1])).toEqual([1]);
    }
  });

  test("refuse to connect if one of them insists on clone and the other cannot", async () => {
    const { port1, port2 } = new MessageChannel();
    const [here, there] = await Promise.all([
      rejection(connect(portTransport(port1), { codec: "clone" })),
      connect(portTransport(port2), { codec: "standard" }).catch((error) => error),
    ]);
    expect(here).toMatchObject({
      code: "protocol",
      message: expect.stringContaining('set codec: "clone" at both ends'),
    });
    const reason = there instanceof Error ? there : await (there as Endpoint).closed;
    expect(reason.message).toContain('set codec: "clone" at both ends');
    const [a, b] = memoryPair();
    void connect(b).catch(() => {});
    expect(await rejection(connect(a, { codec: "clone" }))).toMatchObject({
      code: "protocol",
      message: expect.stringContaining('the transport "memory" carries only bytes'),
    });
  });

  test("use bytes with a ring unless both ask for clone", async () => {
    expect((await ends({}, {}, { ring: "offer" })).a.codec).toBe("standard");
    const { a } = await ends({ codec: "clone" }, { codec: "clone" }, { ring: "offer" });
    expect(a.codec).toBe("clone");
    for (let at = 0; at < 200; at++) {
      const value = at % 2 === 0 ? at : { at, ...large() };
      expect(await a.methods("echo").call("x", value)).toEqual(value);
    }
    expect(await rejection(a.methods("echo").call("x", { no: () => 1 }))).toMatchObject({ code: "not-cloneable" });
    expect(await a.methods("echo").call("x", 1)).toBe(1);
  });

  test("refuse an invalid codec, and clone on the plain wire", async () => {
    const { port1, port2 } = new MessageChannel();
    const bad = connect(portTransport(port1), { codec: "clones" as never });
    expect(await rejection(bad)).toMatchObject({ code: "invalid-argument", message: expect.stringContaining("codec") });
    const plain = connect(portTransport(port1), { codec: "clone", wire: "plain", hello: false });
    expect(await rejection(plain)).toMatchObject({ code: "invalid-argument" });
    port1.close();
    port2.close();
  });

  test("read a channel that names the standard codec at one end only, and refuse one that names another", async () => {
    const { a, b } = await ends();
    b.methods("named", standardMethodCodec).handle((_, value) => value);
    expect(await a.methods("named").call("x", { list: [1, 2] })).toEqual({ list: [1, 2] });
    expect(await a.methods("echo", standardMethodCodec).call("x", { list: [1, 2] })).toEqual({ list: [1, 2] });
    expect(await rejection(a.methods("named").call("x", new Date()))).toMatchObject({
      code: "malformed",
      message: expect.stringContaining("Name the same codec at both ends"),
    });
    b.methods("json", jsonMethodCodec).handle((_, value) => value);
    expect(await rejection(a.methods("json").call("x", 1))).toMatchObject({ code: "malformed" });
    b.messages("text", jsonMessageCodec).handle((value) => value);
    expect(await a.messages("text", jsonMessageCodec).send({ x: [1] })).toEqual({ x: [1] });
  });
});
