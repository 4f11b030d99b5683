// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { WorkerRingPort } from "../../../src/task/worker-ring-port.js";
import { PortTransport } from "../../../src/transport/port.js";
import { frameSlots, Op } from "../../../src/transport/protocol.js";
import { at } from "../../../src/transport/ring/layout.js";
import { RingPort } from "../../../src/transport/ring/ring-port.js";
import { ringMemory } from "./pair.js";

const quiet = { broken: () => {}, copied: () => {}, drained: () => {}, busy: () => false };

/** Connects a worker, which can send by port before its ring is open, with a caller that is awake. */
function opening() {
  const memory = ringMemory(4096);
  const port: unknown[] = [];
  const values: unknown[] = [];
  const take = (op: Op, a: unknown): void => void (op === Op.Chunk && values.push(a));
  const caller = new RingPort(
    memory,
    "caller",
    { post: () => {} },
    {
      ...quiet,
      message: (frames) => {
        for (let slot = 0; slot < frames.length; slot += frameSlots) take(frames[slot] as Op, frames[slot + 2]);
      },
      frame: (op, _id, a) => take(op, a),
    },
  );
  const endpoint = { post: (message: unknown) => void port.push(structuredClone(message)) };
  const transport = new PortTransport(endpoint, () => {});
  const open = (): void => {
    transport.flush();
    transport.ring = new WorkerRingPort(memory, endpoint, { ...quiet, message: () => {}, frame: () => {} });
  };
  return { caller, transport, open, port, values, words: new Int32Array(memory) };
}

describe.runIf(typeof SharedArrayBuffer === "function")("a worker's ring", () => {
  test("does not overtake frames that left by port before it was opened", () => {
    const { caller, transport, open, port, values } = opening();
    for (let value = 0; value < 6; value++) transport.send(Op.Chunk, 7, value, 0);
    open();
    transport.send(Op.Chunk, 7, 6, 0);
    transport.flush();
    // The caller reads the ring before its event loop delivers the port's messages.
    caller.drain();
    expect(values).toEqual([]);
    while (port.length > 0) {
      caller.receive(port.shift());
      caller.drain();
    }
    expect(values).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("wakes a parked caller when it opens, so that its frames are read", () => {
    const { caller, transport, open, port, values, words } = opening();
    words[at.toCaller.parked] = 1;
    open();
    transport.send(Op.Chunk, 7, 0, 0);
    transport.flush();
    expect(port.length).toBeGreaterThan(0);
    while (port.length > 0) caller.receive(port.shift());
    expect(values).toEqual([0]);
  });
});
