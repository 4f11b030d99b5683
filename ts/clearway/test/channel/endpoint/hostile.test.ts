// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import vectors from "../../../../../spec/vectors/channel.json" with { type: "json" };
import { standardMessageCodec } from "../../../src/channel/codec/standard.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Op, Status, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { Log } from "../transports/contract.js";

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

  test("cannot run more than callsMax handlers at once", async () => {
    const { end, tb, log } = await raw("clearway");
    for (let id = 1; id <= 20; id++) tb.send(writeFrame({ op: Op.call, id, name: text.encode("nobody") }));
    await log.until(() => log.frames.filter((each) => each[0] === Op.reply && each[8] === 7).length === 12);
    expect(end.stats().handling).toBe(8);
    end.terminate();
  });
});
