// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { binaryCodec, stringCodec } from "../../../src/channel/codec/text.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { notImplemented } from "../../../src/channel/endpoint/methods.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { outcome, RemoteError } from "../../../src/channel/endpoint/outcome.js";
import { Post } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { globals } from "../../../src/globals.js";
import { move } from "../../../src/transfer/move.js";
import { revoked } from "../../fixtures/misdeeds.js";
import { endpoints, endWithTest, rejection, transports } from "./pairs.js";

for (const [carrier, pair] of Object.entries(transports)) {
  for (const wire of ["clearway", "plain"] as const) {
    const start = (options: EndpointOptions = {}) => endpoints(pair(), { wire, ...options });

    describe(`calls on the ${wire} wire over ${carrier}`, () => {
      test("carry messages and replies in both directions", async () => {
        const { a, b } = await start();
        a.messages("up").handle((message) => ({ got: message }));
        b.messages("down").handle(async (message) => [message, "later"]);
        expect(await b.messages("up").send({ n: 1, bytes: new Uint8Array([1, 2]) })).toEqual({
          got: { n: 1, bytes: new Uint8Array([1, 2]) },
        });
        expect(await a.messages("down").send("x")).toEqual(["x", "later"]);
        expect([a.wire, b.wire]).toEqual([wire, wire]);
      });

      test("keep the order of messages, also of those without a reply", async () => {
        const { a, b } = await start();
        const got: unknown[] = [];
        b.messages("log", stringCodec).handle((line) => {
          got.push(line);
          return undefined;
        });
        for (let index = 0; index < 50; index++) await a.messages("log", stringCodec).post(`line ${index}`);
        await a.messages("log", stringCodec).send("last");
        expect(got).toEqual([...Array.from({ length: 50 }, (_, index) => `line ${index}`), "last"]);
      });

      test("without a reply raise no unhandled rejection when the other end has closed", async () => {
        const { a, b } = await start();
        b.terminate();
        await a.closed;
        // An unhandled rejection fails the tests.
        void a.messages("log").post("late");
        expect(await rejection(a.messages("log").post("late"))).toMatchObject({ code: "transport-closed" });
      });

      test("return each its own result when a thousand are made at once", async () => {
        const { a, b } = await start();
        b.methods("math").handle({ double: (value: number) => value * 2 });
        const results = await Promise.all(
          Array.from({ length: 1000 }, (_, at) => a.methods("math").call("double", at)),
        );
        expect(results).toEqual(Array.from({ length: 1000 }, (_, at) => at * 2));
        expect([a.stats().calls, b.stats().handling]).toEqual([0, 0]);
      });

      test("to a missing method are not implemented, and a handler can answer so itself", async () => {
        const { a, b } = await start();
        b.methods("some").handle({ one: () => 1 });
        b.methods("any", jsonMethodCodec).handle((method) => (method === "one" ? 1 : notImplemented));
        for (const [channel, codec] of [["some"], ["any", jsonMethodCodec]] as const) {
          expect(await a.methods(channel, codec).call("one")).toBe(1);
          expect(await outcome(a.methods(channel, codec).call("two"))).toMatchObject({ kind: "not-implemented" });
          expect(await outcome(a.methods(channel, codec).call("toString"))).toMatchObject({ kind: "not-implemented" });
        }
      });

      test("reject with the handler's error: its code, message and details", async () => {
        const { a, b } = await start();
        b.methods("m").handle({
          chosen: () => {
            throw new RemoteError("UNAVAILABLE", "no battery", { details: { level: 0 } });
          },
          async thrown() {
            throw Object.assign(new RangeError("out"), { code: "E_RANGE" });
          },
          odd: () => Promise.reject("a text"),
        });
        const chosen = (await rejection(a.methods("m").call("chosen"))) as RemoteError;
        expect(chosen).toBeInstanceOf(RemoteError);
        expect({ ...chosen, message: chosen.message, details: { ...(chosen.details as object) } }).toMatchObject({
          code: "UNAVAILABLE",
          message: "no battery",
          details: { level: 0 },
          channel: "m",
        });
        expect(await rejection(a.methods("m").call("thrown"))).toMatchObject({ code: "E_RANGE", message: "out" });
        expect(await rejection(a.methods("m").call("odd"))).toMatchObject({ code: "error", message: "a text" });
      });

      test("return null as a result, distinct from no reply", async () => {
        const { a, b } = await start();
        b.methods("m").handle({ nothing: () => undefined, null: () => null });
        expect(await a.methods("m").call("nothing")).toBe(null);
        expect(await outcome(a.methods("m").call("null"))).toEqual({ kind: "result", value: null });
      });

      test("reject with the signal's reason at once when aborted", async () => {
        const { a, b } = await start();
        b.methods("m").handle({ never: () => new Promise(() => {}) });
        const controller = new AbortController();
        const call = a.methods("m").call("never", null, { signal: controller.signal });
        const reason = new Error("enough");
        controller.abort(reason);
        expect(await rejection(call)).toBe(reason);
        expect(await rejection(a.methods("m").call("never", null, { signal: controller.signal }))).toBe(reason);
        expect(await outcome(call, controller.signal)).toEqual({ kind: "cancelled", error: reason });
        expect(a.stats().calls).toBe(0);
      });

      test("whose signal aborts with a revoked proxy reject with that proxy, and outcome() tells of the cancel", async () => {
        const { a, b } = await start();
        b.methods("m").handle({ never: () => new Promise(() => {}) });
        b.messages("n").handle(() => new Promise(() => {}));
        const controller = new AbortController();
        const { signal } = controller;
        const told = outcome(a.methods("m").call("never", null, { signal }), signal);
        const reason = revoked();
        // A promise cannot be fulfilled with the proxy, and no matcher can read it.
        const sent = a.messages("n").send({ n: 1 }, { signal });
        const isReason = sent.catch((error: unknown) => error === reason);
        controller.abort(reason);
        const { kind, error } = (await told) as { kind: string; error: unknown };
        expect([kind, error === reason, await isReason]).toEqual(["cancelled", true, true]);
      });

      test("without an answer end at their deadline or timeout", async () => {
        const { a, b } = await start();
        b.methods("m").handle({ never: () => new Promise(() => {}) });
        expect(await outcome(a.methods("m").call("never", null, { deadlineMs: 5 }))).toMatchObject({
          kind: "deadline",
        });
        expect(await outcome(a.methods("m").call("never", null, { timeoutMs: 5 }))).toMatchObject({ kind: "timeout" });
      });

      test("that are invalid fail at the caller, and others still work", async () => {
        const { a, b } = await start({ callsMax: 3 });
        b.methods("m").handle({ echo: (value) => value, never: () => new Promise(() => {}) });
        const m = a.methods("m");
        const refused = a.codec === "clone" ? "not-cloneable" : "not-encodable";
        expect(await rejection(m.call("echo", () => 1))).toMatchObject({ code: refused });
        expect(await rejection(m.call("echo", 1, { deadlineMs: -1 }))).toMatchObject({ code: "invalid-argument" });
        expect(() => a.methods("x".repeat(256))).toThrow("name must be at most 255 bytes");
        expect(() => b.methods("m").handle({})).toThrow("channel must be handled once");
        for (let index = 0; index < 3; index++) m.call("never").catch(() => {});
        expect(await outcome(m.call("echo", 2))).toMatchObject({ kind: "queue-full" });
      });

      test("with a message over the transport's limit are refused, and with a reply over it fail", async () => {
        const ends = await endpoints(pair({ frameBytesMax: 4096 }), { wire, onError: () => {} });
        ends.b.methods("m").handle({ echo: (value) => value, much: () => "x".repeat(5000) });
        expect(await rejection(ends.a.methods("m").call("echo", "x".repeat(5000)))).toMatchObject({
          code: "too-large",
        });
        expect(await rejection(ends.a.methods("m").call("much"))).toMatchObject({ code: "too-large" });
        expect(await ends.a.methods("m").call("echo", "y")).toBe("y");
      });

      test("reject when the transport ends, and their handlers' signals abort", async () => {
        const { a, b } = await start();
        let signal: AbortSignal | undefined;
        b.methods("m").handle({
          never: (_: unknown, context) => {
            signal = context.signal;
            return new Promise(() => {});
          },
        });
        const call = outcome(a.methods("m").call("never"));
        await rejection(a.methods("m").call("none"));
        b.terminate({ code: "closed", message: "power cut" });
        expect(await call).toMatchObject({ kind: "closed", error: { reason: { message: "power cut" } } });
        expect(signal?.aborted).toBe(true);
        expect(await outcome(a.methods("m").call("never"))).toMatchObject({ kind: "closed" });
        expect([await a.closed, await b.closed].map(({ message }) => message)).toEqual(["power cut", "power cut"]);
      });

      test("in both directions finish during close(), which refuses new ones", async () => {
        const { a, b } = await start();
        let go = (_: string): void => {};
        const waits = new Promise<string>((resolve) => {
          go = resolve;
        });
        a.methods("m").handle({ slow: () => waits });
        b.methods("m").handle({ slow: () => waits });
        const calls = [a.methods("m").call("slow"), b.methods("m").call("slow")];
        await rejection(a.methods("m").call("none"));
        const closing = a.close();
        expect(await outcome(a.methods("m").call("slow"))).toMatchObject({ kind: "closed" });
        go("done");
        expect(await Promise.all(calls)).toEqual(["done", "done"]);
        await closing;
        expect((await b.closed).code).toBe("closed");
        await b.close();
      });

      test("are given up by a close() with a limit of time, also during another close()", async () => {
        const { a, b } = await start();
        b.methods("m").handle({ never: () => new Promise(() => {}) });
        const call = outcome(a.methods("m").call("never"));
        const closing = a.close({ timeoutMs: Number.POSITIVE_INFINITY });
        await a.close({ timeoutMs: 1 });
        await closing;
        expect(await call).toMatchObject({ kind: "closed" });
      });
    });
  }
}

// Counts what a message of a channel costs where it can be counted exactly: posts, timers and copied bytes.
afterEach(() => void vi.restoreAllMocks());

/** Records the kinds of the messages that a port posts. */
function recorded(port: MessagePort): number[] {
  const kinds: number[] = [];
  const post = port.postMessage.bind(port);
  port.postMessage = (message: unknown[], transfer: never) => {
    kinds.push(message[1] as number);
    post(message, transfer);
  };
  return kinds;
}

async function ends() {
  const { port1, port2 } = new MessageChannel();
  const posted = [recorded(port1), recorded(port2)] as const;
  const [a, b] = await Promise.all([connect(portTransport(port1)), connect(portTransport(port2))]);
  endWithTest(a, b);
  b.methods("echo").handle((_, value) => value);
  b.messages("back").handle((value) => value);
  b.messages("later").handle(async (value) => value);
  b.messages("binary", binaryCodec).handle((value) => value);
  for (const each of posted) each.length = 0;
  return { a, b, posted };
}

const megabyte = (): Uint8Array => new Uint8Array(1 << 20);
const values: unknown[] = [
  null,
  "text",
  { id: 1, list: [1, 2, { three: 3 }] },
  { bytes: new Uint8Array(500), at: new Date(1) },
  Array.from({ length: 500 }, (_, at) => at),
];

describe("a call between two ends on a port", () => {
  test("takes one message, and its reply takes another, whatever the value", async () => {
    const { a, posted } = await ends();
    for (const value of values) {
      await a.methods("echo").call("x", value);
      await a.messages("back").send(value);
      await a.messages("later").send(value);
    }
    const each = Array.from({ length: 3 * values.length }, () => Post.values);
    expect(posted).toEqual([each, each]);
  });

  test("takes at most one message a value with three in flight, and fewer for small values", async () => {
    const { a, posted } = await ends();
    for (const value of values) {
      for (const kinds of posted) kinds.length = 0;
      const lane = async (): Promise<void> => {
        for (let at = 0; at < 100; at++) await a.messages("back").send(value);
      };
      await Promise.all([lane(), lane(), lane()]);
      const most = value === null || typeof value === "string" ? 202 : 300;
      for (const kinds of posted) expect(kinds.length).toBeLessThanOrEqual(most);
    }
  });

  test("takes no message for a report of taken bytes if the next message follows", async () => {
    const { a, posted } = await ends();
    let bytes = megabyte();
    for (let at = 0; at < 5; at++)
      bytes = (await a.messages("binary", binaryCodec).send(move(bytes) as never)) as never;
    let value: unknown = megabyte();
    for (let at = 0; at < 5; at++) value = await a.messages("back").send(move(value));
    for (const kinds of posted) {
      expect(kinds).toHaveLength(10);
      // Half of the window of 8 MiB was sent twice.
      expect(kinds).toContain(Post.valuesAsking);
      expect(kinds).not.toContain(Post.taken);
    }
  });

  test("copies no byte of a moved message", async () => {
    const { a, b } = await ends();
    let bytes = megabyte();
    for (let at = 0; at < 5; at++)
      bytes = (await a.messages("binary", binaryCodec).send(move(bytes) as never)) as never;
    for (const { ledger } of [a.stats(), b.stats()]) {
      expect([ledger.sent.copiedBytes, ledger.received.copiedBytes]).toEqual([0, 0]);
      expect([ledger.sent.movedBytes, ledger.received.movedBytes]).toEqual([5 << 20, 5 << 20]);
    }
  });

  test("counts the copied binary memory of both directions", async () => {
    const { a, b } = await ends();
    await a.messages("back").send([new Uint8Array(300), new Float64Array(25)]);
    for (const { ledger } of [a.stats(), b.stats()])
      expect([ledger.sent.copiedBytes, ledger.received.copiedBytes]).toEqual([500, 500]);
  });

  test("arms no timer without a limit of time, and one with a limit", async () => {
    const { a } = await ends();
    const armed = vi.spyOn(globals, "setTimeout");
    for (const value of values) {
      await a.methods("echo").call("x", value);
      await a.messages("later").send(value);
    }
    expect(armed).toHaveBeenCalledTimes(0);
    await a.messages("back").send(1, { deadlineMs: 60_000 });
    expect(armed).toHaveBeenCalledTimes(1);
  });
});
