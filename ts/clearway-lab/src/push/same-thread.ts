// SPDX-License-Identifier: MIT OR Apache-2.0
// Mechanisms that push on one thread. They show the cost of the hand-over itself, without a second thread.
import { hostName } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { AsyncQueue } from "./chains.js";
import { type PushConnection, pushMechanism, senderMechanism, sharedNumber } from "./measure.js";
import { emit, type PushEvent, produce } from "./pace.js";

const direct = senderMechanism(({ receive }) => ({ send: receive }));

const lock = senderMechanism(({ receive }) => {
  const mutex = sharedNumber();
  return {
    send: (event) => {
      // The lock is never contended here. This measures taking and releasing a free lock, the usual case for a stream.
      while (Atomics.compareExchange(mutex, 0, 0, 1) !== 0);
      try {
        receive(event);
      } finally {
        Atomics.store(mutex, 0, 0);
        Atomics.notify(mutex, 0, 1);
      }
    },
  };
});

/** A DOM event that carries a pushed event. */
class PushDomEvent extends Event {
  constructor(readonly detail: PushEvent) {
    super("push");
  }
}

const eventTarget = senderMechanism(({ receive }) => {
  const target = new EventTarget();
  target.addEventListener("push", (event) => receive((event as PushDomEvent).detail));
  return { send: (event) => void target.dispatchEvent(new PushDomEvent(event)) };
});

const microtask = senderMechanism(({ receive }) => ({ send: (event) => queueMicrotask(() => receive(event)) }));

const messageChannel = senderMechanism(({ receive }) => {
  const { port1, port2 } = new MessageChannel();
  port2.onmessage = (event: MessageEvent<PushEvent>) => receive(event.data);
  return { send: (event) => port1.postMessage(event), end: () => port1.close() };
});

const asyncGenerator = pushMechanism(async () => ({
  run: async (load, receiver) => {
    for await (const event of produce(load, receiver.sent)) receiver.receive(event);
  },
  close: async () => {},
}));

const asyncQueue = pushMechanism(async () => ({
  run: async (load, receiver) => {
    const queue = new AsyncQueue();
    const allRead = (async () => {
      while (receiver.received < load.count) for (const event of await queue.take()) receiver.receive(event);
    })();
    await emit(load, receiver.sent, (event) => queue.push(event));
    await allRead;
  },
  close: async () => {},
}));

const webStreams = pushMechanism(
  async (): Promise<PushConnection> => ({
    run: async (load, receiver) => {
      let controller!: ReadableStreamDefaultController<PushEvent>;
      const stream = new ReadableStream<PushEvent>({
        start(streamController) {
          controller = streamController;
        },
      });
      const allRead = (async () => {
        const reader = stream.getReader();
        for (let next = await reader.read(); !next.done; next = await reader.read()) receiver.receive(next.value);
      })();
      await emit(load, receiver.sent, (event) => controller.enqueue(event));
      controller.close();
      await allRead;
    },
    close: async () => {},
  }),
);

export const sameThread: Record<string, Mechanism> = {
  direct,
  lock,
  "event-target": eventTarget,
  microtask,
  "message-channel": messageChannel,
  "async-generator": asyncGenerator,
  "async-queue": asyncQueue,
  "web-streams": webStreams,
};

if (hostName === "node") {
  const { EventEmitter } = await import("node:events");
  sameThread["event-emitter"] = senderMechanism(({ receive }) => {
    const emitter = new EventEmitter();
    emitter.on("push", receive);
    return { send: (event) => void emitter.emit("push", event) };
  });
}
