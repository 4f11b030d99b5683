// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { jsonMessageCodec, jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import type { ChannelTransport } from "../../../src/channel/transport/transport.js";
import { readError } from "../../../src/channel/wire/error-body.js";
import { Op, readFrame, Status, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import { revoked } from "../../fixtures/misdeeds.js";
import { Log } from "../transports/contract.js";
import { endpoints, endWithTest, rejection, transports } from "./pairs.js";

const wires = ["clearway", "plain"] as const;
const text = new TextEncoder();

/** Connects an endpoint to a raw transport that has sent some limits in its hello. */
async function bare(limits: { frameBytesMax?: number; nameBytesMax?: number }, options: EndpointOptions = {}) {
  const [ta, tb] = memoryPair();
  const log = new Log();
  tb.open(log);
  const wire = options.wire === "plain" ? "plain" : "clearway";
  tb.send(writeHello({ version: 1, wires: [wire], frameBytesMax: 1024, nameBytesMax: 255, callsMax: 9, ...limits }));
  const end = await connect(ta, { onError: () => {}, ...options });
  endWithTest(end);
  return { end, tb, log };
}

/** Errors that are too large for a small frame in some part, or that cannot be read. */
const errors: Record<string, () => unknown> = {
  "a long message": () => new Error("ü".repeat(100_000)),
  "control characters": () => new Error("\u0001".repeat(100_000)),
  "a long code": () => Object.assign(new Error("x"), { code: "C".repeat(100_000) }),
  "large properties": () => Object.assign(new Error("x"), { query: "select ".repeat(100_000) }),
  "many causes": () => Array.from({ length: 50 }).reduce((cause) => new Error("x".repeat(999), { cause }), undefined),
  "a text": () => "t".repeat(100_000),
  "a getter that throws": () =>
    Object.defineProperty(new Error("x"), "code", {
      get() {
        throw new Error("getter");
      },
    }),
  "no prototype": () => Object.create(null),
  "a revoked proxy": revoked,
};

describe("a hello", () => {
  test.each([0, 1, 23, 24, 1023])("is refused when it accepts frames of at most %i bytes", async (frameBytesMax) => {
    const error = await rejection(bare({ frameBytesMax }));
    expect(error).toMatchObject({
      code: "protocol",
      message: `the other end takes frames of ${frameBytesMax} bytes; at least 1024 are needed`,
    });
  });

  test("is not sent over a transport whose frames are too small", async () => {
    const [ta] = memoryPair({ frameBytesMax: 1023 });
    expect(await rejection(connect(ta))).toMatchObject({
      code: "invalid-argument",
      message: "transport.frameBytesMax must be at least 1024: transport.frameBytesMax=1023",
    });
  });
});

describe.each(wires)("an endpoint that accepts frames of 1024 bytes, on the %s wire,", (wire) => {
  test.each(Object.keys(errors))("receives a handler's error that has %s", async (name) => {
    const { tb, log, end } = await bare({}, { wire });
    end.methods("m").handle({ fails: () => Promise.reject(errors[name]!()) });
    const frame = { op: wire === "plain" ? Op.message : Op.call, id: 1, name: text.encode("m") };
    tb.send(writeFrame({ ...frame, body: new Uint8Array([7, 5, ...text.encode("fails"), 0]) }));
    await log.count(2);
    expect(log.frames[1]!.length).toBeLessThanOrEqual(1024);
    const { op, body } = readFrame(log.frames[1]!, [])!;
    expect([op, body.length > 0]).toEqual([wire === "plain" ? Op.answer : Op.reply, true]);
  });

  test.each(Object.keys(errors))("receives a source's error that has %s", async (name) => {
    const { tb, log, end } = await bare({}, { wire });
    end.events("e").serve(async (_, sink) => {
      await Promise.resolve();
      sink.fail(errors[name]!());
    });
    const listen = { op: wire === "plain" ? Op.message : Op.listen, id: 1, name: text.encode("e"), a: 1, b: 1 };
    tb.send(writeFrame({ ...listen, body: new Uint8Array([7, 6, ...text.encode("listen"), 0]) }));
    // On the plain wire: the hello, the answer, the error and the end.
    const frames = wire === "plain" ? 4 : 2;
    await log.count(frames);
    for (const frame of log.frames) expect(frame.length).toBeLessThanOrEqual(1024);
    expect(readFrame(log.frames.at(wire === "plain" ? -2 : -1)!, [])!.body.length).toBeGreaterThan(0);
  });
});

describe("an error whose body is too large", () => {
  test.each(wires)("arrives with its code and the beginning of its message, on the %s wire", async (wire) => {
    const { a, b } = await endpoints(memoryPair({ frameBytesMax: 2048 }), { wire });
    b.methods("m").handle({
      fails() {
        throw Object.assign(new Error(`it failed because ${"x".repeat(5000)}`), { code: "E_LONG" });
      },
    });
    const error = (await rejection(a.methods("m").call("fails"))) as Error;
    expect(error).toMatchObject({ code: "E_LONG", message: expect.stringMatching(/^it failed because x+…$/) });
  });
});

describe("a transport that throws", () => {
  test.each(["cancel", "credit", "reply"])("is closed when it throws on a %s", async (when) => {
    const [ta, tb] = memoryPair();
    let refuses = false;
    const faulty: ChannelTransport = Object.assign(Object.create(ta) as ChannelTransport, {
      open: (sink: never) => ta.open(sink),
      close: (reason: never) => ta.close(reason),
      send(frame: Uint8Array) {
        if (refuses) throw new Error("no");
        return ta.send(frame);
      },
      moves: false,
      shares: false,
      name: "faulty",
      frameBytesMax: ta.frameBytesMax,
    });
    const { a, b } = await endpoints([faulty, tb], { onError: () => {} });
    b.methods("m").handle({ never: () => new Promise(() => {}) });
    b.events("e").serve(function* () {
      for (;;) yield 1;
    });
    a.methods("m").handle({ now: () => 1 });
    const controller = new AbortController();
    const call = rejection(a.methods("m").call("never", null, { signal: controller.signal }));
    const stream = a.events("e").listen(null, { window: { items: 1 } });
    if (when === "credit") await stream.next();
    refuses = true;
    if (when === "cancel") controller.abort();
    else if (when === "credit") void stream.next();
    else
      b.methods("m")
        .call("now")
        .catch(() => {});
    expect(await a.closed).toMatchObject({ code: "failed", message: "the transport threw" });
    controller.abort();
    await call;
  });
});

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

test("an endpoint with valuesMax refuses an error with more values", async () => {
  const { a, b } = await pair({ valuesMax: 100 });
  a.methods("c").handle({
    go: (count) => {
      throw new RemoteError("big", "m", { details: nulls(count as number) });
    },
  });
  expect(await rejection(b.methods("c").call("go", 200))).toMatchObject({ code: "protocol" });
  expect(await rejection(b.methods("c").call("go", 50))).toMatchObject({ code: "big" });
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

test("an endpoint refuses to put attachments back into more than valuesMax values", async () => {
  const { end, tb, log } = await bare({}, { valuesMax: 1000 });
  end.messages("bytes", binaryCodec).handle(() => undefined);
  for (const nulls of [1000, 1001]) {
    const message = { body: new Uint8Array(nulls), inlineAttachments: [new Uint8Array(1)] };
    tb.send(writeFrame({ op: Op.call, id: nulls, name: text.encode("bytes") }, message));
  }
  await log.count(3);
  const [, done, refused] = log.frames.map((each) => readFrame(each, [])!);
  expect([done!.a, refused!.a]).toEqual([Status.done, Status.error]);
  expect(readError(refused!.body, "bytes", 1 << 20)).toMatchObject({ code: "too-large" });
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
