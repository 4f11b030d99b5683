// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { Codec } from "../../../src/channel/codec/codec.js";
import { jsonMessageCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { float64 } from "../../../src/channel/codec/tags.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import type { WireName } from "../../../src/channel/wire/frame.js";
import { move } from "../../../src/transfer/move.js";
import { pattern } from "../transports/contract.js";
import { endpoints, rejection, transports } from "./pairs.js";

const start = async (carrier: string, options: EndpointOptions = {}) => {
  const ends = await endpoints(transports[carrier]!(), options);
  const seen: unknown[] = [];
  ends.b.methods("m").handle({
    keep(args: unknown) {
      seen.push(args);
    },
    make: (bytes: number) => ({ bytes: pattern(bytes) }),
  });
  return { ...ends, m: ends.a.methods("m"), seen };
};

describe.each(["memory", "port", "port and ring"])("attachments over %s:", (carrier) => {
  test("a list of any size under move() is moved without a copy", async () => {
    const { a, b, m, seen } = await start(carrier);
    const [large, small] = [pattern(100_000), pattern(8)];
    await m.call("keep", move({ large, inside: [small] }));
    expect([large.byteLength, small.byteLength]).toEqual([0, 0]);
    expect(seen).toEqual([{ large: pattern(100_000), inside: [pattern(8)] }]);
    const { sent } = a.stats().ledger;
    expect(sent.movedBytes).toBe(100_008);
    // By structured clone, only binary memory counts.
    expect(Object.keys(sent.copies)).toEqual(a.codec === "clone" ? [] : ["encoded"]);
    expect(sent.copiedBytes).toBeLessThan(100);
    expect(b.stats().ledger.received.movedBytes).toBe(100_008);
  });

  test("bytes arrive whole at a codec that does not decode them, and are decoded when they come back", async () => {
    const { a, b } = await start(carrier);
    const bare: (Uint8Array | null)[] = [];
    b.messages("echo", binaryCodec).handle((bytes) => {
      bare.push(bytes?.slice() ?? null);
      return bytes;
    });
    const value = { half: new Float64Array(5000).fill(0.5), whole: float64(3), text: "x", list: pattern(100_000) };
    expect(await a.messages("echo").send(value)).toEqual({ ...value, whole: 3 });
    expect(bare).toEqual([standardMessageCodec.encode(value)]);
    b.messages("call", binaryCodec).handle((call) => {
      expect(call).toEqual(standardMethodCodec.call.encode({ method: "m", args: [1, pattern(50_000)] }));
      return standardMethodCodec.reply.encode({ kind: "success", value: { back: pattern(60_000) } });
    });
    expect(await a.methods("call").call("m", [1, pattern(50_000)])).toEqual({ back: pattern(60_000) });
  });

  test("a list without move() is copied once into an attachment, and the sender keeps its own", async () => {
    const { a, m, seen } = await start(carrier);
    const large = pattern(100_000);
    await m.call("keep", large);
    expect(large).toEqual(pattern(100_000));
    expect(seen).toEqual([pattern(100_000)]);
    expect(a.stats().ledger.sent.copies["not-moved"]).toEqual({ count: 1, bytes: 100_000 });
  });

  test("a result's lists are moved when they cover their whole buffer", async () => {
    const { b, m } = await start(carrier);
    expect(await m.call("make", 50_000)).toEqual({ bytes: pattern(50_000) });
    expect(b.stats().ledger.sent).toMatchObject({ movedBytes: 50_000 });
    expect(await m.call("make", 100)).toEqual({ bytes: pattern(100) });
    expect(b.stats().ledger.sent.movedBytes).toBe(50_000);
  });

  test("an event's lists are moved when they cover their whole buffer", async () => {
    const { a, b } = await start(carrier);
    b.events("frames").serve(function* () {
      for (let n = 0; n < 5; n++) yield pattern(100_000, n);
    });
    let n = 0;
    for await (const frame of a.events("frames").listen()) expect(frame).toEqual(pattern(100_000, n++));
    expect([n, b.stats().ledger.sent.movedBytes]).toEqual([5, 500_000]);
  });

  test("a part of a buffer is copied, and the bytes around it do not cross", async () => {
    const { a, b, m, seen } = await start(carrier);
    const around = pattern(100_000);
    await m.call("keep", around.subarray(10, 50_010));
    await m.call("keep", move(around.subarray(10, 50_010)));
    expect(seen).toEqual([around.slice(10, 50_010), around.slice(10, 50_010)]);
    expect((seen[1] as Uint8Array).buffer.byteLength).toBe(50_000);
    expect((seen[0] as Uint8Array).buffer.byteLength).toBe(50_000);
    b.methods("part").handle({ get: () => pattern(100_000).subarray(10, 50_010) });
    expect(await a.methods("part").call("get")).toEqual(around.slice(10, 50_010));
    expect(b.stats().ledger.sent.copies["partial-view"]).toEqual({ count: 1, bytes: 50_000 });
  });

  test("lists of every width keep their class, and equal memory stays shared", async () => {
    const { a, m, seen } = await start(carrier);
    const floats = new Float64Array(5000).fill(1.5);
    const value = {
      floats,
      again: floats,
      bytes: new Uint8Array(floats.buffer),
      ints: new Int32Array(5000).fill(-1),
      longs: new BigInt64Array(5000).fill(-1n),
      singles: new Float32Array(5000).fill(0.5),
      clamped: new Uint8ClampedArray(20_000).fill(3),
    };
    await m.call("keep", move(value));
    const got = seen[0] as typeof value;
    expect(got.floats).toEqual(new Float64Array(5000).fill(1.5));
    expect(got.ints).toEqual(new Int32Array(5000).fill(-1));
    expect(got.longs).toEqual(new BigInt64Array(5000).fill(-1n));
    expect(got.singles).toEqual(new Float32Array(5000).fill(0.5));
    expect(got.clamped).toEqual(new (a.codec === "clone" ? Uint8ClampedArray : Uint8Array)(20_000).fill(3));
    expect(got.again.buffer).toBe(got.floats.buffer);
    expect(got.bytes.buffer).toBe(got.floats.buffer);
  });

  test("a message of the binary codec is itself the attachment", async () => {
    const { a, b } = await start(carrier);
    b.messages("bytes", binaryCodec).handle((bytes) => bytes);
    const bytes = pattern(1 << 20);
    const reply = await a.messages("bytes", binaryCodec).send(move(bytes) as unknown as Uint8Array);
    expect(bytes.byteLength).toBe(0);
    expect(reply).toEqual(pattern(1 << 20));
    for (const end of [a, b]) expect(end.stats().ledger.sent).toMatchObject({ movedBytes: 1 << 20, copiedBytes: 0 });
  });

  test("strict throws instead of copying", async () => {
    const { m } = await start(carrier, { strict: true });
    expect(await rejection(m.call("keep", pattern(50_000)))).toMatchObject({ code: "would-copy" });
    await m.call("keep", pattern(100));
    await m.call("keep", move(pattern(50_000)));
  });

  test.runIf(typeof SharedArrayBuffer === "function")("shared memory is shared, not copied", async () => {
    const { a, m, seen } = await start(carrier);
    const shared = new Int32Array(new SharedArrayBuffer(80_000));
    await m.call("keep", { shared: shared.subarray(0, 10_000) });
    Atomics.store(shared, 5, 42);
    expect((seen[0] as { shared: Int32Array }).shared[5]).toBe(42);
    expect(a.stats().ledger.sent.sharedBytes).toBe(40_000);
  });

  test("memory that was transferred before is refused, and its call fails", async () => {
    const { m } = await start(carrier);
    const bytes = pattern(50_000);
    await m.call("keep", move(bytes));
    expect(await rejection(m.call("keep", move(bytes)))).toMatchObject({ code: "released" });
  });
});

describe("attachments over a transport of bytes", () => {
  test("are in the frame behind the message, copied once", async () => {
    const { a, b, m, seen } = await start("bytes");
    await m.call("keep", { a: pattern(50_001), b: new Float64Array(4000).fill(2.5) });
    expect(seen).toEqual([{ a: pattern(50_001), b: new Float64Array(4000).fill(2.5) }]);
    expect(a.stats().ledger.sent.copies["byte-transport"]).toEqual({ count: 2, bytes: 82_001 });
    expect(b.stats().ledger.received.copiedBytes).toBeGreaterThan(82_001);
    expect(await m.call("make", 50_000)).toEqual({ bytes: pattern(50_000) });
  });

  test("fail under move(), because the transport cannot move memory", async () => {
    const { m } = await start("bytes");
    const bytes = pattern(50_000);
    expect(await rejection(m.call("keep", move(bytes)))).toMatchObject({ code: "would-copy" });
    expect(bytes.byteLength).toBe(50_000);
  });
});

describe("attachments and a foreign endpoint:", () => {
  test("large lists are inside the message, as the plain wire requires", async () => {
    const { a, m, seen } = await start("memory", { wire: "plain" });
    const floats = new Float64Array(10_000).fill(1.25);
    await m.call("keep", { floats });
    expect(seen).toEqual([{ floats }]);
    expect(floats.length).toBe(10_000);
    expect(Object.keys(a.stats().ledger.sent.copies)).toEqual(["encoded"]);
    expect(await rejection(m.call("keep", move({ floats })))).toMatchObject({ code: "would-copy" });
  });
});

/** Stands for a cipher. */
const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xff);

/** Returns a changed copy of a codec, as an app makes one that seals its messages. */
function sealing<T, Written>(codec: Codec<T, Written>): Codec<T, Written> {
  return {
    ...codec,
    encode: (value) => flipped(codec.encode(value)),
    decode: (bytes) => codec.decode(flipped(bytes)),
  };
}

describe.each(["memory", "bytes", "port", "port and ring"])("a codec of the app, over %s,", (carrier) => {
  test("has the whole message: nothing of a value crosses beside it", async () => {
    const { a, b } = await start(carrier);
    const sealed = sealing(standardMessageCodec);
    const { call, reply } = standardMethodCodec;
    const methods = { ...standardMethodCodec, call: sealing(call), reply: sealing(reply) };
    const binary = sealing(binaryCodec);
    b.messages("sealed", sealed).handle((value) => value);
    b.messages("binary", binary).handle((value) => value);
    b.methods("methods", methods).handle({ echo: (value: unknown) => value });
    const lists = { bytes: pattern(100_000), floats: new Float64Array(5000).fill(0.5) };
    expect(await a.messages("sealed", sealed).send(lists)).toEqual(lists);
    expect(await a.messages("binary", binary).send(pattern(100_000))).toEqual(pattern(100_000));
    expect(await a.methods("methods", methods).call("echo", move(lists))).toEqual(lists);
    for (const end of [a, b]) {
      const { sent } = end.stats().ledger;
      expect([Object.keys(sent.copies), sent.movedBytes]).toEqual([["encoded"], 0]);
    }
  });

  test("reads the attachments of the standard codec as a part of the message", async () => {
    const { a, b } = await start(carrier);
    const seen: unknown[] = [];
    const counting = {
      ...standardMessageCodec,
      decode: (bytes: Uint8Array) => {
        seen.push(bytes.length);
        return standardMessageCodec.decode(bytes);
      },
    };
    b.messages("counted", counting).handle((value) => void seen.push(value));
    const value = { list: pattern(100_000) };
    await a.messages("counted", standardMessageCodec).send(value);
    expect(seen).toEqual([standardMessageCodec.encode(value).length, value]);
  });

  test("may encode another message while the JSON codec runs, which has its lists inside", async () => {
    const { a, b } = await start(carrier);
    const inner = { list: pattern(20_000) };
    const message = { toJSON: () => [...standardMessageCodec.encode(inner)] };
    b.messages("json", jsonMessageCodec).handle((value) => value);
    expect(await a.messages("json", jsonMessageCodec).send(message)).toEqual(message.toJSON());
  });
});

// One list that occurs many times in a value makes a message that is far larger than the value. A peer can send such a value in few bytes, as
// an attachment with many references, and a handler may return it.
const frameBytesMax = 1 << 20;
const listBytes = 16_000;
// An attachment takes no memory here. A message has at most this number of them.
const attachmentsMax = 1024;

/** Returns a list with one array of bytes 10,000 times, and how many of them were read. */
function repeated(): { value: unknown[]; reads: () => number } {
  let reads = 0;
  const value = new Proxy(Array<unknown>(10_000).fill(new Uint8Array(listBytes)), {
    get(target, key, receiver) {
      if (typeof key === "string" && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  return { value, reads: () => reads };
}

const pair = (wire: WireName) => endpoints(transports["bytes"]!({ frameBytesMax }), { wire, onError: () => {} });

describe.each(["clearway", "plain"] as const)("on the %s wire, a list that occurs 10,000 times", (wire) => {
  test.each(["result", "event", "argument", "details"])(
    "is refused as a part of the %s once its message is too large",
    async (place) => {
      const { a, b } = await pair(wire);
      const { value, reads } = repeated();
      b.methods("m", standardMethodCodec).handle({
        result: () => value,
        details: () => {
          throw new RemoteError("own", "with details", { details: value });
        },
      });
      b.events("e", standardMethodCodec).serve(async function* () {
        yield value;
      });
      const methods = a.methods("m", standardMethodCodec);
      const failure = (await rejection(
        place === "event"
          ? a.events("e", standardMethodCodec).listen().next()
          : methods.call(place, place === "argument" ? value : null),
      )) as { code: string; details?: unknown };
      if (place === "details") expect(failure).toMatchObject({ code: "own", details: null });
      else expect(failure.code).toBe("too-large");
      // The details are tried once alone, and once in the error.
      expect(reads()).toBeLessThan(2 * (attachmentsMax + frameBytesMax / listBytes + 2));
    },
  );
});
