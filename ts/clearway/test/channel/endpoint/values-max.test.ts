// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { jsonMessageCodec, jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { endpoints, rejection, transports } from "./pairs.js";

/** Connects two endpoints. Only the second has a limit. */
async function pair(options: EndpointOptions, carrier = "bytes") {
  const { a, b } = await endpoints(transports[carrier]!(), { onError: () => {} }, { onError: () => {}, ...options });
  return { a, b };
}

const nulls = (count: number): null[] => Array<null>(count).fill(null);
const codecs = [
  ["standard", standardMessageCodec, standardMethodCodec],
  ["json", jsonMessageCodec, jsonMethodCodec],
] as const;

describe.each(codecs)("an endpoint with valuesMax and the %s codec", (_, message, method) => {
  test("refuses a larger message and call with too-large, runs no handler for them, and goes on", async () => {
    const { a, b } = await pair({ valuesMax: 1000 });
    const ran: string[] = [];
    const handler = (name: string) => (value: unknown) => {
      ran.push(name);
      return (value as unknown[]).length;
    };
    b.messages("m", message).handle(handler("message"));
    b.methods("c", method).handle({ go: handler("call") });
    const messages = a.messages("m", message);
    const methods = a.methods("c", method);
    expect(await rejection(messages.send(nulls(1001)))).toMatchObject({ code: "too-large" });
    expect(await rejection(methods.call("go", nulls(1002)))).toMatchObject({ code: "too-large" });
    expect(ran).toEqual([]);
    expect([await messages.send(nulls(1000)), await methods.call("go", nulls(990))]).toEqual([1000, 990]);
  });

  test("rejects a call whose reply has more values, and ends a stream whose event has more", async () => {
    const { a, b } = await pair({ valuesMax: 1000 });
    a.methods("c", method).handle({ go: (count) => nulls(count as number) });
    a.events("e", method).serve(async function* () {
      yield nulls(3);
      yield nulls(1001);
    });
    expect(await rejection(b.methods("c", method).call("go", 1001))).toMatchObject({ code: "too-large" });
    expect(await b.methods("c", method).call("go", 990)).toHaveLength(990);
    const stream = b.events("e", method).listen();
    expect((await stream.next()).value).toHaveLength(3);
    expect(await rejection(stream.next())).toMatchObject({ code: "too-large" });
  });
});

test("an endpoint with valuesMax limits a message that is only bytes, and one whose attachments are put back", async () => {
  const { a, b } = await pair({ valuesMax: 2 }, "port");
  b.messages("m").handle((value) => (value as unknown[]).length);
  b.messages("bytes", binaryCodec).handle((value) => value);
  const long = new Uint8Array(20_000);
  expect(await a.messages("m").send([long, long])).toBe(2);
  expect(await rejection(a.messages("m").send([long, long, long]))).toMatchObject({ code: "too-large" });
  expect(await rejection(a.messages("bytes").send([long, long, long]))).toMatchObject({ code: "too-large" });
  const encoded = new Uint8Array(20_000);
  encoded.set([12, 3]);
  expect(await rejection(a.messages("m", binaryCodec).send(encoded))).toMatchObject({ code: "too-large" });
});

test("an endpoint refuses more than 2^20 values by default, but 2^24 from another part of its process", async () => {
  const other = await pair({});
  const same = await pair({}, "memory");
  for (const { b } of [other, same]) b.messages("m").handle((value) => (value as unknown[]).length);
  const most = nulls(1 << 20);
  expect(await other.a.messages("m").send(most)).toBe(1 << 20);
  most.push(null);
  expect(await rejection(other.a.messages("m").send(most))).toMatchObject({ code: "too-large" });
  expect(await same.a.messages("m").send(most)).toBe((1 << 20) + 1);
});

test.each([0, -1, 1.5, "9", 2 ** 31])(
  "valuesMax is refused when it is no whole number of 1 or more: %s",
  async (given) => {
    const [transport] = memoryPair();
    expect(await rejection(connect(transport, { valuesMax: given as number }))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("valuesMax") as string,
    });
  },
);
