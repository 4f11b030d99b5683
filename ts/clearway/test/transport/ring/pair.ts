// SPDX-License-Identifier: MIT OR Apache-2.0
import { type OnRefused, PortTransport } from "../../../src/transport/port.js";
import { frameSlots, Op } from "../../../src/transport/protocol.js";
import { Decoder } from "../../../src/transport/ring/decode.js";
import { at, headerBytes, magic, version } from "../../../src/transport/ring/layout.js";
import { RingPort } from "../../../src/transport/ring/ring-port.js";

/** Returns memory for two rings, as a caller initializes it. */
export function ringMemory(capacity: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(headerBytes + 2 * capacity);
  const words = new Int32Array(memory);
  words[at.magic] = magic;
  words[at.version] = version;
  words[at.capacity] = capacity;
  return memory;
}

/** Decodes the two values of a frame. */
export function decoded(words: Int32Array, count = words.length): [a: unknown, b: unknown] {
  const decoder = new Decoder(words);
  decoder.open(count);
  const values: [unknown, unknown] = [decoder.value(), decoder.value()];
  decoder.close();
  return values;
}

/** Connects a caller's transport with its ring to the worker's ring, in one thread. The port delivers only on demand. */
export function pair(capacity = 4096, refused: OnRefused = () => {}) {
  const memory = ringMemory(capacity);
  const port: unknown[] = [];
  /** The received frames, one entry per delivery, without marks. */
  const arrived: unknown[][] = [];
  const read: unknown[] = [];
  const errors: unknown[] = [];
  let wakes = 0;
  const worker = new RingPort(
    memory,
    "worker",
    { post: () => {} },
    {
      message: (frames) => arrived.push(frames[0] === Op.Mark ? frames.slice(frameSlots) : frames),
      frame: (...frame) => read.push(...frame),
      drained: () => arrived.push(read.splice(0)),
      broken: (error) => errors.push(error),
      copied: () => {},
    },
  );
  const endpoint = {
    post: (message: unknown, transfer: readonly object[]) => {
      port.push(structuredClone(message, { transfer: transfer as Transferable[] }));
      if ((message as unknown[])[1] === 0) wakes++;
    },
  };
  const caller = new RingPort(memory, "caller", endpoint, {
    message: () => {},
    frame: () => {},
    drained: () => {},
    broken: (error) => errors.push(error),
    copied: () => {},
  });
  const transport = new PortTransport(endpoint, refused);
  transport.ring = caller;
  return {
    transport,
    caller,
    worker,
    arrived,
    errors,
    port,
    words: new Int32Array(memory),
    wakes: () => wakes,
    /** Delivers the port's oldest message. Returns false when there is none. */
    deliver: (): boolean => {
      if (port.length === 0) return false;
      worker.receive(port.shift());
      return true;
    },
    ids: () => arrived.flatMap((frames) => frames.filter((_, slot) => slot % frameSlots === 1)),
  };
}
