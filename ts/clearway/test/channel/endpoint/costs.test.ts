// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts what a message of a channel costs where it can be counted exactly: posts, timers and copied bytes.
import { afterEach, describe, expect, test, vi } from "vitest";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { Post } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { globals } from "../../../src/globals.js";
import { move } from "../../../src/transfer/move.js";
import { endWithTest } from "./pairs.js";

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
