// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { countBytes } from "../../../src/transport/port.js";
import { Op } from "../../../src/transport/protocol.js";
import { at, headerBytes } from "../../../src/transport/ring/layout.js";
import { RingPort } from "../../../src/transport/ring/ring-port.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { gate } from "../../fixtures/pools.js";
import { carrierContract } from "../carrier.js";
import { pair, ringMemory } from "./pair.js";

const shared = typeof SharedArrayBuffer === "function";

/** Passes uncaught errors to `take`, instead of to the runner, which would fail the test. Returns a function that undoes this. */
function strayTo(take: (reason: unknown) => void): () => void {
  if (typeof process === "object" && typeof process.versions?.node === "string") {
    const listeners = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", take);
    return () => {
      process.removeAllListeners("uncaughtException");
      for (const listener of listeners) process.on("uncaughtException", listener);
    };
  }
  const heard = (event: ErrorEvent): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
    take(event.error);
  };
  globalThis.addEventListener("error", heard, { capture: true });
  return () => globalThis.removeEventListener("error", heard, { capture: true });
}

/** Sends while the receiver parks at the worst moment: after the sender's check, and before the sender publishes. */
function parkingDuring(words: Int32Array, send: () => void): void {
  const { store } = Atomics;
  Atomics.store = ((array: Int32Array, index: number, value: number) => {
    if (index === at.toWorker.tail) store(words, at.toWorker.parked, 1);
    return store(array, index, value);
  }) as typeof Atomics.store;
  try {
    send();
  } finally {
    Atomics.store = store;
  }
}

if (shared) {
  // A receiver that polls in every turn, like one that is awake.
  carrierContract(
    "ring, beside a port,",
    (refused) => {
      const { transport, arrived, worker, deliver } = pair(4096, refused);
      const turns = async (count: number): Promise<void> => {
        for (let turn = 0; turn < count; turn++) {
          await Promise.resolve();
          while (deliver() || worker.drain());
        }
      };
      void turns(30);
      return { transport, arrived: () => turns(30).then(() => arrived) };
    },
    true,
  );
  // A receiver that parks whenever it has read everything, and that the port's messages wake.
  carrierContract("port, beside a ring whose reader sleeps,", (refused) => {
    const both = pair(4096, refused);
    both.worker.park();
    const deliver = (): void => {
      while (both.deliver()) both.worker.drain();
      both.worker.park();
    };
    const post = both.port.push.bind(both.port);
    both.port.push = (...messages) => {
      const length = post(...messages);
      deliver();
      return length;
    };
    return {
      transport: both.transport,
      arrived: async () => {
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        return both.arrived;
      },
    };
  });
}

describe.runIf(shared)("a ring", () => {
  test("keeps the order of frames by ring and port, whenever the receiver polls and the port delivers", () => {
    const big = new ArrayBuffer(1024);
    const step = fc.constantFrom("small", "large", "port", "flush", "drain", "deliver", "pause");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.constantFrom(64, 256, 4096), (steps, capacity) => {
        const { transport, worker, deliver, ids, errors } = pair(capacity);
        let last = 0;
        for (const each of steps) {
          if (each === "small") transport.send(Op.Result, ++last, last);
          else if (each === "large") transport.send(Op.Result, ++last, "x".repeat(40));
          else if (each === "port") transport.send(Op.Result, ++last, big);
          else if (each === "drain") worker.drain();
          else if (each === "deliver") deliver();
          else transport.flush();
        }
        transport.flush();
        while (deliver() || worker.drain());
        expect(ids()).toEqual(Array.from({ length: last }, (_, index) => index + 1));
        expect(errors).toEqual([]);
      }),
      { numRuns: cases(1000) },
    );
  });

  test("stops at a mark until its message arrives, and then continues", () => {
    const { transport, worker, deliver, ids } = pair();
    transport.send(Op.Result, 1, "a");
    transport.send(Op.Result, 2, 1n);
    transport.flush();
    transport.send(Op.Result, 3, "c");
    worker.drain();
    expect([ids(), worker.blocked]).toEqual([[1], true]);
    worker.drain();
    expect(ids()).toEqual([1]);
    deliver();
    worker.drain();
    expect([ids(), worker.blocked]).toEqual([[1, 2, 3], false]);
  });

  test("sends by port while the ring is full, and by ring when there is room again", () => {
    const { transport, worker, deliver, ids, port } = pair(64);
    for (let id = 1; id <= 6; id++) {
      transport.send(Op.Result, id, id);
      transport.flush();
    }
    expect(port.length).toBeGreaterThan(0);
    while (deliver() || worker.drain());
    const before = port.length;
    transport.send(Op.Result, 7, 7);
    transport.flush();
    worker.drain();
    expect(port.length).toBe(before);
    expect(ids()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("sends the rest of a tick by port once one of its frames goes by port", () => {
    const { transport, port } = pair();
    transport.send(Op.Result, 1, 1n);
    transport.send(Op.Result, 2, "small");
    transport.flush();
    expect(port).toEqual([
      [Op.Mark, 1, undefined, undefined, Op.Result, 1, 1n, undefined, Op.Result, 2, "small", undefined],
    ]);
  });

  test("wakes a parked receiver with one message that carries the tick, and posts none to an awake one", () => {
    const { transport, worker, deliver, port, ids } = pair();
    worker.park();
    for (let id = 1; id <= 50; id++) transport.send(Op.Result, id, id);
    transport.flush();
    expect(port).toHaveLength(1);
    deliver();
    transport.send(Op.Result, 51, 51);
    transport.flush();
    expect(port).toHaveLength(0);
    worker.drain();
    expect(ids()).toHaveLength(51);
  });

  test("wakes a receiver that parked during a send with an empty message", () => {
    const { transport, worker, words, wakes, ids } = pair();
    parkingDuring(words, () => transport.send(Op.Result, 1, 1));
    transport.flush();
    transport.flush();
    expect(wakes()).toBe(1);
    worker.drain();
    expect(ids()).toEqual([1]);
  });

  test.each([
    ["the only later frame is", [() => 1]],
    ["all later frames are", [() => 1, Symbol("odd")]],
  ])("wakes a receiver that parked during a send when %s refused", (_which, refused) => {
    const ids: number[] = [];
    const { transport, worker, words, wakes, deliver, ids: arrived } = pair(4096, (_op, id) => ids.push(id));
    parkingDuring(words, () => transport.send(Op.Result, 1, 1));
    for (const [index, value] of refused.entries()) transport.send(Op.Result, 2 + index, value);
    transport.flush();
    expect(ids).toEqual(refused.map((_each, index) => 2 + index));
    expect(wakes()).toBe(1);
    deliver();
    expect(arrived()).toEqual([1]);
    expect(worker.waiting).toBe(false);
  });

  test("carries nothing after its transport is closed", () => {
    const { transport, worker, port } = pair();
    transport.close();
    transport.send(Op.Result, 1, 1);
    expect(transport.sendByRing(Op.Result, 2, 2, undefined)).toBe(false);
    transport.post(Op.Result, 3, 3);
    transport.flush();
    expect([worker.waiting, port]).toEqual([false, []]);
  });

  test("leaves no frame unread by a receiver that sleeps, whenever it parks and whatever is refused", () => {
    const step = fc.constantFrom(
      "send",
      "send while it parks",
      "refused",
      "large",
      "flush",
      "deliver",
      "drain",
      "park",
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { transport, worker, words, deliver, errors } = pair(512);
        let last = 0;
        // What a receiver does when it has read everything.
        const read = (): void => {
          while (worker.drain());
        };
        for (const each of steps) {
          if (each === "send") transport.send(Op.Result, ++last, last);
          else if (each === "send while it parks") parkingDuring(words, () => transport.send(Op.Result, ++last, last));
          else if (each === "refused") transport.send(Op.Result, ++last, () => 1);
          else if (each === "large") transport.send(Op.Result, ++last, "x".repeat(600));
          else if (each === "flush") transport.flush();
          else if (each === "deliver") deliver();
          else if (each === "drain") read();
          else if (!worker.park()) read();
        }
        transport.flush();
        const asleep = words[at.toWorker.parked] === 1;
        while (deliver());
        if (asleep) expect(worker.waiting).toBe(false);
        expect(errors).toEqual([]);
      }),
    );
  });

  test("does not park when a frame arrived meanwhile", () => {
    const { transport, worker } = pair();
    transport.send(Op.Result, 1, 1);
    expect(worker.park()).toBe(false);
    worker.drain();
    expect(worker.park()).toBe(true);
  });

  test("still knows that the receiver is parked when a message could not be posted", () => {
    const { transport, worker, port } = pair();
    worker.park();
    transport.send(Op.Result, 1, () => 1);
    transport.flush();
    transport.send(Op.Result, 2, 2);
    transport.flush();
    expect(port).toHaveLength(1);
  });

  test("counts the bytes of memory in a chunk as the stream's window does", () => {
    const { caller, worker, arrived } = pair();
    expect(caller.send(Op.Chunk, 1, [new Uint8Array(5), new Uint8Array(7)], countBytes)).toBe(true);
    worker.drain();
    expect([caller.binaryBytes, arrived[0]![3]]).toEqual([12, 12]);
  });

  test("delivers the frames before a broken one, reports the error once, and stops reading", () => {
    const { transport, worker, words, ids, errors } = pair();
    transport.send(Op.Result, 1, 1);
    transport.send(Op.Result, 2, 2);
    // Gives the second frame's first value an unknown tag.
    words[headerBytes / 4 + 4 + 2] = 250;
    for (let again = 0; again < 3; again++) worker.drain();
    expect(ids()).toEqual([1]);
    expect(errors).toMatchObject([{ code: "protocol" }]);
  });

  test("reports an error when a message arrives out of order", () => {
    const { worker, errors } = pair();
    worker.receive([Op.Mark, 2, undefined, undefined]);
    expect(errors).toMatchObject([{ code: "protocol" }]);
  });

  test("reports an error for an invalid head, and sends by port", () => {
    const { transport, words, errors, port } = pair(64);
    words[at.toWorker.head] = 1000;
    for (let id = 1; id <= 10; id++) transport.send(Op.Result, id, id);
    transport.flush();
    expect(errors).toMatchObject([{ code: "protocol" }]);
    expect(port.length).toBe(1);
  });

  test.each<[string, (words: Int32Array) => void]>([
    ["without the magic word", (words) => words.fill(1, at.magic, at.magic + 1)],
    ["of another version", (words) => words.fill(9, at.version, at.version + 1)],
    ["of another length", (words) => words.fill(8192, at.capacity, at.capacity + 1)],
    ["whose capacity is no power of two", (words) => words.fill(4095, at.capacity, at.capacity + 1)],
  ])("refuses memory %s", (_name, harm) => {
    const memory = ringMemory(4096);
    harm(new Int32Array(memory));
    const owner = { message: () => {}, frame: () => {}, drained: () => {}, broken: () => {}, copied: () => {} };
    expect(() => new RingPort(memory, "worker", { post: () => {} }, owner)).toThrow(
      expect.objectContaining({ code: "protocol" }),
    );
  });

  test("keeps working when a frame's handler throws, and reports the error as uncaught", async () => {
    const stray = gate<unknown>();
    const memory = ringMemory(4096);
    const ids: number[] = [];
    const boom = new RangeError("not mine to catch");
    const owner = {
      message: () => {},
      drained: () => {},
      copied: () => {},
      broken: (error: unknown) => stray.tell(error),
    };
    const sender = new RingPort(memory, "caller", { post: () => {} }, { ...owner, frame: () => {} });
    const receiver = new RingPort(
      memory,
      "worker",
      { post: () => {} },
      {
        ...owner,
        frame: (_op, id) => {
          ids.push(id);
          if (id === 2) throw boom;
        },
      },
    );
    const restore = strayTo((reason) => stray.tell(reason));
    for (const id of [1, 2, 3]) sender.send(Op.Call, id, 0, []);
    expect(receiver.drain()).toBe(true);
    sender.send(Op.Call, 4, 0, []);
    expect(receiver.drain()).toBe(true);
    expect(ids).toEqual([1, 2, 3, 4]);
    expect(await stray.promise).toBe(boom);
    restore();
  });

  test("continues after a lost message once the next one has arrived", () => {
    const { transport, worker, port, arrived, deliver, ids, errors } = pair();
    const large = new ArrayBuffer(1024);
    transport.send(Op.Call, 1, 0, []);
    transport.send(Op.Call, 2, large);
    transport.flush();
    transport.send(Op.Call, 3, 0, []);
    transport.send(Op.Call, 4, large);
    transport.flush();
    transport.send(Op.Call, 5, 0, []);
    // This message carries call 2.
    port.shift();
    worker.lost();
    while (deliver() || worker.drain());
    expect(ids()).toEqual([1, 3, 4, 5]);
    expect(errors).toEqual([]);
    expect(arrived.length).toBeGreaterThan(0);
    transport.send(Op.Call, 6, large);
    transport.flush();
    deliver();
    expect(ids()).toEqual([1, 3, 4, 5, 6]);
  });

  test("ignores the loss of a message that is not its own", () => {
    const { transport, worker, deliver, ids, errors } = pair();
    worker.lost();
    for (let id = 1; id <= 4; id++) {
      transport.send(Op.Call, id, id % 2 ? 0 : new ArrayBuffer(1024));
      transport.flush();
    }
    while (deliver() || worker.drain());
    expect(ids()).toEqual([1, 2, 3, 4]);
    expect(errors).toEqual([]);
  });
});
