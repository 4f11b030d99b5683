// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { helloMagic, Op, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import { Log } from "../transports/contract.js";
import { endpoints, rejection } from "./pairs.js";

const limits = { version: 1, frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 10 };

describe("the hello", () => {
  test.each([
    ["clearway", "clearway", "clearway"],
    ["either", "either", "clearway"],
    ["either", "plain", "plain"],
    ["clearway", "either", "clearway"],
    ["plain", "plain", "plain"],
  ] as const)("lets an endpoint with wire %s and one with %s agree on %s", async (here, there, agreed) => {
    const { a, b } = await endpoints(memoryPair(), { wire: here }, { wire: there });
    expect([a.wire, b.wire]).toEqual([agreed, agreed]);
    a.terminate();
  });

  test("closes both endpoints with the reason when they have no wire in common", async () => {
    const [ta, tb] = memoryPair();
    const both = await Promise.allSettled([connect(ta, { wire: "clearway" }), connect(tb, { wire: "plain" })]);
    for (const each of both) {
      expect(each).toMatchObject({ status: "rejected" });
      expect((each as PromiseRejectedResult).reason.message).toMatch(/no wire in common/);
    }
  });

  test("is not sent over the transport of another endpoint, which stays open", async () => {
    const pair = memoryPair();
    const { a, b } = await endpoints(pair);
    expect(await rejection(connect(pair[0]))).toMatchObject({ code: "invalid-argument" });
    const signal = AbortSignal.abort();
    expect(await rejection(connect(pair[0], { signal }))).toMatchObject({ code: "invalid-argument" });
    b.messages("echo").handle((value) => value);
    expect(await a.messages("echo").send(1)).toBe(1);
    a.terminate();
  });

  test("is required: any other first frame closes both endpoints on either wire", async () => {
    for (const frame of [
      writeFrame({ op: Op.message, id: 1, name: new Uint8Array([97]) }),
      writeFrame({ op: Op.hello, id: helloMagic + 1, body: new Uint8Array(12) }),
      writeFrame({ op: Op.hello, id: helloMagic, body: new Uint8Array(11) }),
      new Uint8Array([1, 2, 3]),
    ]) {
      const [ta, tb] = memoryPair();
      const foreign = new Log();
      tb.open(foreign);
      tb.send(frame);
      expect(await rejection(connect(ta, { wire: "either" }))).toMatchObject({ code: "protocol" });
      expect(await foreign.end()).toMatchObject({ code: "protocol" });
    }
  });

  test("of another version is refused, and the error has both version numbers", async () => {
    const [ta, tb] = memoryPair();
    const hello = writeHello({ ...limits, wires: ["clearway"] });
    hello[8] = 2; // the version
    tb.send(hello);
    expect(await rejection(connect(ta))).toMatchObject({ message: expect.stringMatching(/version 2 .* 1$/) });
  });

  test("times out after helloMs when the other endpoint is silent", async () => {
    const [ta, tb] = memoryPair();
    const silent = new Log();
    tb.open(silent);
    expect(await rejection(connect(ta, { helloMs: 5 }))).toMatchObject({ code: "deadline" });
    expect(await silent.end()).toMatchObject({ code: "timeout" });
  });

  test("can be cancelled by a signal, before and while it waits", async () => {
    const reason = new Error("no more");
    expect(await rejection(connect(memoryPair()[0], { signal: AbortSignal.abort(reason) }))).toBe(reason);
    const controller = new AbortController();
    const waiting = rejection(connect(memoryPair()[0], { signal: controller.signal }));
    controller.abort(reason);
    expect(await waiting).toBe(reason);
  });

  test("fails with the reason when the transport closes first", async () => {
    const [ta, tb] = memoryPair();
    tb.close({ code: "refused", message: "not you" });
    expect(await rejection(connect(ta))).toMatchObject({ code: "transport-closed", reason: { code: "refused" } });
  });

  test("applies the smaller limit of both endpoints", async () => {
    const [ta, tb] = memoryPair();
    tb.send(writeHello({ ...limits, frameBytesMax: 1024, nameBytesMax: 5, wires: ["clearway"] }));
    const end = await connect(ta);
    expect(await rejection(end.messages("m").send("x".repeat(1000)))).toMatchObject({ code: "too-large" });
    await expect(end.messages("longer").send(1)).rejects.toThrow("name must be at most 5 bytes");
    end.terminate();
  });

  test("is not sent when an option is invalid", async () => {
    const [ta, tb] = memoryPair();
    const log = new Log();
    tb.open(log);
    for (const options of [
      { wire: "flutter" as "plain" },
      { hello: false },
      { callsMax: 0 },
      { early: -1 },
      { nameBytesMax: 70_000 },
      { helloMs: Number.NaN },
    ])
      expect(await rejection(connect(ta, options))).toMatchObject({ code: "invalid-argument" });
    expect(await rejection(connect({} as never))).toMatchObject({ code: "invalid-argument" });
    expect(log.frames).toEqual([]);
  });
});

test.each(["clearway", "plain"] as const)(
  "a name that is too long for the other endpoint fails calls, posts and listens, but no handler, on the %s wire",
  async (wire) => {
    const { a, b } = await endpoints(memoryPair(), { wire }, { wire, nameBytesMax: 2 });
    const refused = {
      code: "invalid-argument",
      message: expect.stringContaining("at most 2 bytes, as the other end takes"),
    };
    // Handlers are set up whatever the other end announces.
    const methods = a.methods("long");
    methods.handle({ one: () => 1 });
    a.messages("long 2").handle(() => 1);
    a.events("long 3").serve(() => {});
    expect(await rejection(methods.call("one"))).toMatchObject(refused);
    expect(await rejection(a.messages("long").send(1))).toMatchObject(refused);
    expect(await rejection((async () => a.messages("long").post(1))())).toMatchObject(refused);
    expect(await rejection((async () => a.events("long").listen().next())())).toMatchObject(refused);
    expect(a.stats()).toMatchObject({ calls: 0, listening: 0 });
    b.methods("ok").handle({ one: () => 1 });
    expect(await a.methods("ok").call("one")).toBe(1);
    a.terminate();
    b.terminate();
  },
);

test("a name that is too long for this endpoint is refused when its channel is made", async () => {
  const { a, b } = await endpoints(memoryPair(), { nameBytesMax: 2 });
  for (const make of [() => a.methods("long"), () => a.messages("long"), () => a.events("long")])
    expect(make).toThrow(/name must be at most 2 bytes/);
  a.terminate();
  b.terminate();
});
