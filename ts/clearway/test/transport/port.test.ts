// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { PortTransport } from "../../src/transport/port.js";
import { frameSlots, isFrames, Op } from "../../src/transport/protocol.js";
import { carrierContract } from "./carrier.js";

// An endpoint that records messages, copied by the same algorithm that a port uses.
carrierContract("port", (refused) => {
  const messages: unknown[][] = [];
  const transport = new PortTransport(
    {
      post: (message, transfer) => {
        messages.push(structuredClone(message, { transfer: transfer as Transferable[] }) as unknown[]);
      },
    },
    refused,
  );
  return {
    transport,
    arrived: async () => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      return messages;
    },
  };
});

// The same contract over a real port whose other end is in this thread.
carrierContract("port (a live MessageChannel)", (refused) => {
  const { port1, port2 } = new MessageChannel();
  const messages: unknown[][] = [];
  let drained: (() => void) | undefined;
  port2.onmessage = ({ data }) => {
    if (data === "drained") {
      port2.close();
      drained?.();
    } else messages.push(data);
  };
  const transport = new PortTransport(
    { post: (message, transfer) => port1.postMessage(message, transfer as Transferable[]) },
    refused,
  );
  return {
    transport,
    arrived: async () => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      await new Promise<void>((resolve) => {
        drained = resolve;
        port1.postMessage("drained");
      });
      return messages;
    },
  };
});

describe("many calls of one tick", () => {
  test("leave in messages of 128 before the tick ends, so that the worker runs them meanwhile, and the rest at its end", async () => {
    const sizes: number[] = [];
    const transport = new PortTransport(
      { post: (message) => void sizes.push((message as unknown[]).length / frameSlots) },
      () => {},
    );
    for (let id = 0; id < 300; id++) transport.send(Op.Call, id, 0, [id]);
    expect(sizes).toEqual([128, 128]);
    await Promise.resolve();
    expect(sizes).toEqual([128, 128, 44]);
  });
});

describe("a message", () => {
  test.each([
    ["frames", [Op.Pong, 1, 2, undefined], true],
    ["nothing", [], false],
    ["half a frame", [Op.Pong, 1], false],
    ["text", "abcd", false],
    ["a foreign array", ["a", 1, 2, 3], false],
    ["null", null, false],
  ])("of %s is recognized as frames only if it has whole frames", (_name, message, ours) => {
    expect(isFrames(message)).toBe(ours);
  });
});
