// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import vectors from "../../../../../spec/vectors/channel.json" with { type: "json" };
import { standardMessageCodec } from "../../../src/channel/codec/standard.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Post, portMark } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { Op, Status, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { Log } from "../transports/contract.js";
import { endWithTest, rejection, until } from "./pairs.js";

const bytes = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const text = new TextEncoder();

/** Connects an endpoint with pending work of every kind to the raw other end of its transport. */
async function raw(wire: "clearway" | "plain") {
  const [ta, tb] = memoryPair();
  const log = new Log();
  tb.open(log);
  tb.send(writeHello({ version: 1, wires: [wire], frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 9 }));
  const end = await connect(ta, { wire, earlyMs: 5, callsMax: 8, onError: () => {} });
  end.methods("math").handle({ add: ([a, b]: number[]) => a! + b! });
  end.messages("größe").handle((message) => message);
  end.messages("b").handle((message) => message);
  end.events("frames").serve(function* () {
    for (let n = 0; n < 5; n++) yield n;
  });
  const mine = [end.methods("there").call("x"), end.events("there").listen().next()].map((each) =>
    each.catch(() => {}),
  );
  return { end, tb, log, mine };
}

const frame = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc.constantFrom(...vectors.frames.map((each) => each.hex)).map(bytes),
  fc
    .record({
      op: fc.integer({ min: 0, max: 20 }),
      flags: fc.integer({ min: 0, max: 255 }).map((flags) => flags & ~1),
      id: fc.constantFrom(0, 1, 2, 3, 0xffff_ffff),
      a: fc.constantFrom(0, 1, 2, 9, 0xffff_ffff),
      b: fc.constantFrom(0, 1, 1000, 0xffff_ffff),
      c: fc.constantFrom(0, 1, 0xffff),
      name: fc.constantFrom("", "math", "frames", "b", "there", "nobody").map((name) => text.encode(name)),
      body: fc.oneof(
        fc
          .constantFrom("", "00", "000301000000", "07066c697374656e00", "07036164640c0203010000000302000000")
          .map(bytes),
        fc.uint8Array({ maxLength: 30 }),
      ),
      inlineAttachments: fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 2 }),
    })
    .map((parts) => writeFrame({ ...parts, op: parts.op as Op })),
);

describe("an endpoint that sends arbitrary frames", () => {
  test.each(["clearway", "plain"] as const)(
    "never makes the other endpoint throw or hang, on the %s wire",
    async (wire) => {
      await fc.assert(
        fc.asyncProperty(fc.array(frame, { maxLength: 12 }), async (frames) => {
          const { end, tb, mine } = await raw(wire);
          for (const each of frames) tb.send(each.slice());
          await new Promise((resolve) => setTimeout(resolve));
          end.terminate();
          await Promise.all(mine);
          const { calls, handling, listening, serving } = end.stats();
          expect([calls, handling, listening, serving]).toEqual([0, 0, 0, 0]);
        }),
        { numRuns: cases(300) },
      );
    },
  );

  test.each([
    [
      "an event without credit",
      Array.from({ length: 17 }, () => ({ op: Op.event, id: 1, body: bytes("000301000000") })),
    ],
    ["two calls with the same number", [1, 1].map((id) => ({ op: Op.call, id, name: text.encode("nobody") }))],
    ["two streams with the same number", [1, 1].map((id) => ({ op: Op.listen, id, name: text.encode("never") }))],
    ["a name that is not UTF-8", [{ op: Op.call, id: 1, name: new Uint8Array([0xff]) }]],
    ["a name that is too long", [{ op: Op.call, id: 1, name: new Uint8Array(256).fill(65) }]],
    ["a second hello", [{ op: Op.hello }]],
    ["a plain message on the other wire", [{ op: Op.message, name: text.encode("b") }]],
  ])("is closed with `protocol` on a violation: %s", async (_, frames) => {
    const { end, tb, log } = await raw("clearway");
    for (const parts of frames) tb.send(writeFrame(parts));
    expect((await log.end()).code).toBe("protocol");
    expect((await end.closed).code).toBe("protocol");
  });

  test.each([
    ["bytes that the codec cannot decode", bytes("ff")],
    ["a text instead of a list", standardMessageCodec.encode("lost")],
    ["null instead of a list", bytes("00")],
  ])("fails the call with `protocol` when it sends an error without a list: %s", async (_, body) => {
    const { end, tb } = await raw("clearway");
    const call = end.methods("there").call("x");
    tb.send(writeFrame({ op: Op.reply, id: 2, a: Status.error, body }));
    await expect(call).rejects.toMatchObject({ name: "ClearwayError", code: "protocol" });
    end.terminate();
  });
});

describe("an end with a hostile peer", () => {
  // An endpoint, and a port at which the test posts raw messages.
  const victim = async (options: EndpointOptions = {}) => {
    const { port1, port2 } = new MessageChannel();
    const answers: unknown[][] = [];
    port2.onmessage = ({ data }) => void answers.push(data);
    const hello = connect(portTransport(port1), { codec: "clone", ...options });
    await until(() => answers.some((each) => each[1] === Post.frames));
    const own = answers.find((each) => each[1] === Post.frames) as unknown[];
    port2.postMessage([portMark, Post.frames, own[2], own[3], undefined, 1]);
    const endpoint = await hello;
    endWithTest(endpoint);
    const values = (...flat: unknown[]): void => port2.postMessage([portMark, Post.values, flat, 0]);
    const call = (id: number, channel: string, method: unknown, value: unknown, bytes = 0): void =>
      values(1, 8, id, 0, 0, 0, channel, method, value, bytes, 0, 0, 0);
    const replies = (): unknown[] => answers.filter((each) => each[1] === Post.values || each[1] === Post.frames);
    return { endpoint, port: port2, values, call, replies };
  };

  test("closes with protocol or too-large for messages that are no frames", async () => {
    const good = [1, 8, 1, 0, 0, 0, "m", "x", null, 0, 0, 0, 0];
    const bad: unknown[] = [undefined, null, 7, "text", {}, [], [1], good.slice(1), [...good, 1], { length: 13 }];
    for (const [at, each] of good.entries())
      for (const other of [-1, 1.5, Number.NaN, 2 ** 32, "1", null, {}, []])
        if (at !== 8 && !(at === 7 && other === "1") && !(at === 6 && other === "1"))
          bad.push(good.map((value, index) => (index === at ? other : value)).concat(each === other ? [1] : []));
    for (const flat of bad) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.values, flat, 0]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    for (const taken of [undefined, "1", {}]) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.values, good, taken]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    for (const taken of ["1", {}, null]) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.frames, [], new Uint8Array(), undefined, undefined, taken]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    // Structured clone keeps holes, and properties that are named like methods.
    for (const list of [new Array(1), new Array(2 ** 32 - 1), Object.assign([], { every: 1 })]) {
      const { endpoint, port } = await victim();
      port.postMessage([portMark, Post.frames, [], new Uint8Array(), list]);
      expect((await endpoint.closed).code).toBe("protocol");
    }
    const { endpoint, call } = await victim();
    call(1, "m", "x", null, 0xffff_ffff);
    expect((await endpoint.closed).code).toBe("too-large");
  });

  test("closes with protocol for values that it does not take, or that come before the hello", async () => {
    const good = [1, 8, 1, 0, 0, 0, "m", "x", null, 0, 0, 0, 0];
    const { endpoint, port } = await victim({ codec: "standard" });
    port.postMessage([portMark, Post.values, good, 0]);
    expect((await endpoint.closed).code).toBe("protocol");
    const { port1, port2 } = new MessageChannel();
    const early = connect(portTransport(port1));
    port2.postMessage([portMark, Post.values, good, 0]);
    expect(await rejection(early)).toMatchObject({ code: "protocol" });
    port2.close();
  });

  test("answers any value, and stays open", async () => {
    const { endpoint, call, values, replies } = await victim({ valuesMax: 100 });
    const seen: unknown[] = [];
    endpoint.methods("m").handle((method, args) => void seen.push([method, args]));
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    call(1, "m", undefined, 1);
    call(2, "m", "x", cyclic);
    call(3, "m", "x", new Array(101).fill(0));
    call(4, "m", "x", new Map(Array.from({ length: 51 }, (_, at) => [at, at])));
    call(5, "m", "x", Object.fromEntries(Array.from({ length: 51 }, (_, at) => [at, at])));
    call(6, "m", "x", [[new Array(60).fill(0)], [new Array(60).fill(0)]]);
    values(1, 0, 7, 0, 0, 0, "m", "x", "no value", 0, 0, 0, 0);
    values(1, 10, 10, 0, 0, 0, "m", "x", "no bytes", 0, 0, 0, 0);
    values(1, 10, 11, 0, 0, 0, "m", undefined, new Uint8Array([99, 99]), 0, 0, 0, 0);
    values(2, 8, 99, 0, 0, 0, "", undefined, "a reply to nothing", 0, 0, 0, 0);
    values(6, 8, 99, 0, 0, 0, "", undefined, "an event of nothing", 0, 0, 0, 0);
    call(9, "m", "x", Object.assign([1], { forEach: 5, map: 5 }));
    call(8, "m", "last", new Array(99).fill(0));
    await until(() => seen.length === 3);
    expect(seen).toEqual([
      ["x", cyclic],
      ["x", Object.assign([1], { forEach: 5, map: 5 })],
      ["last", new Array(99).fill(0)],
    ]);
    await until(() => replies().length >= 3);
    expect(endpoint.stats().handling).toBe(0);
  });

  test("charges early values by their own size, whatever the peer says", async () => {
    const { endpoint, call } = await victim({ earlyBytesMax: 10_000 });
    call(1, "later", "x", "y".repeat(50_000));
    call(2, "later", "x", new Uint8Array(50_000));
    call(3, "later", "x", "small");
    const holes: unknown[] = [];
    holes.length = 2 ** 24;
    call(4, "later", "x", holes);
    await until(() => endpoint.stats().handling === 2);
    const seen: unknown[] = [];
    endpoint.methods("later").handle((_, args) => void seen.push(args));
    await until(() => seen.length > 1);
    expect(seen[0]).toEqual("small");
    expect(seen[1]).toHaveLength(2 ** 24);
  });
});
