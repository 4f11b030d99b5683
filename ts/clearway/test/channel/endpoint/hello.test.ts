// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/channel/endpoint/connect.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Op, writeFrame } from "../../../src/channel/wire/frame.js";
import { helloMagic, writeHello } from "../../../src/channel/wire/hello.js";
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
  ] as const)("an end that speaks %s and one that speaks %s agree on %s", async (here, there, agreed) => {
    const { a, b } = await endpoints(memoryPair(), { wire: here }, { wire: there });
    expect([a.wire, b.wire]).toEqual([agreed, agreed]);
    a.terminate();
  });

  test("without a wire in common neither end goes on, and both say why", async () => {
    const [ta, tb] = memoryPair();
    const both = await Promise.allSettled([connect(ta, { wire: "clearway" }), connect(tb, { wire: "plain" })]);
    for (const each of both) {
      expect(each).toMatchObject({ status: "rejected" });
      expect((each as PromiseRejectedResult).reason.message).toMatch(/no wire in common/);
    }
  });

  test("what is no hello is never taken for an end of either wire", async () => {
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

  test("another version is refused with both numbers", async () => {
    const [ta, tb] = memoryPair();
    const hello = writeHello({ ...limits, wires: ["clearway"] });
    hello[8] = 2; // the version
    tb.send(hello);
    expect(await rejection(connect(ta))).toMatchObject({ message: expect.stringMatching(/version 2 .* 1$/) });
  });

  test("a silent end is not waited for without end", async () => {
    const [ta, tb] = memoryPair();
    const silent = new Log();
    tb.open(silent);
    expect(await rejection(connect(ta, { helloMs: 5 }))).toMatchObject({ code: "deadline" });
    expect(await silent.end()).toMatchObject({ code: "timeout" });
  });

  test("a signal ends the waiting, before and after it began", async () => {
    const reason = new Error("no more");
    expect(await rejection(connect(memoryPair()[0], { signal: AbortSignal.abort(reason) }))).toBe(reason);
    const controller = new AbortController();
    const waiting = rejection(connect(memoryPair()[0], { signal: controller.signal }));
    controller.abort(reason);
    expect(await waiting).toBe(reason);
  });

  test("a transport that is closed before it is told", async () => {
    const [ta, tb] = memoryPair();
    tb.close({ code: "refused", message: "not you" });
    expect(await rejection(connect(ta))).toMatchObject({ code: "transport-closed", reason: { code: "refused" } });
  });

  test("the smaller limit of both ends holds", async () => {
    const [ta, tb] = memoryPair();
    tb.send(writeHello({ ...limits, frameBytesMax: 1024, nameBytesMax: 5, wires: ["clearway"] }));
    const end = await connect(ta);
    expect(await rejection(end.messages("m").send("x".repeat(1000)))).toMatchObject({ code: "too-large" });
    await expect(end.messages("longer").send(1)).rejects.toThrow("name must be at most 5 bytes");
    end.terminate();
  });

  test("wrong options are refused, and nothing is sent", async () => {
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
