// SPDX-License-Identifier: MIT OR Apache-2.0
// Chained hops: one, two and three ways to hand an event on in a row. Shows how their tails add up. The order is that of the authors'
// conclusion: a direct call, then a queue, then a stream; in front of them, for a sender in a worker, the message from the worker.
import { openWorker } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { pushMechanism, type Receiver, type Send } from "./measure.js";
import { emit, type PushEvent } from "./pace.js";

/** A hop passes each event to `next`. `close` resolves when it has passed on all of them. */
interface OpenHop {
  send: Send;
  close(): Promise<void>;
}

type Hop = (next: Send, count: number) => OpenHop;

/** A call through an object's property, as a delegate. */
const delegate: Hop = (next) => {
  const receiver: { onEvent: Send } = { onEvent: next };
  return { send: (event) => receiver.onEvent(event), close: async () => {} };
};

const queue: Hop = (next, count) => {
  const events = new AsyncQueue();
  let passed = 0;
  const all = (async () => {
    while (passed < count) {
      for (const event of await events.take()) {
        next(event);
        passed++;
      }
    }
  })();
  return { send: (event) => events.push(event), close: () => all };
};

const stream: Hop = (next) => {
  let controller!: ReadableStreamDefaultController<PushEvent>;
  const source = new ReadableStream<PushEvent>({
    start(own) {
      controller = own;
    },
  });
  const all = (async () => {
    const reader = source.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) next(read.value);
  })();
  return {
    send: (event) => controller.enqueue(event),
    close: () => {
      controller.close();
      return all;
    },
  };
};

const HOPS = [delegate, queue, stream];

/** Opens the first `length` hops in a row. The last one calls `receive`. */
export function openChain(length: number, receive: Send, count: number): OpenHop {
  const opened: OpenHop[] = [];
  let next = receive;
  for (const hop of HOPS.slice(0, length).reverse()) {
    const own = hop(next, count);
    opened.unshift(own);
    next = own.send;
  }
  return {
    send: next,
    close: async () => {
      // From the sender to the receiver: a hop must have passed on everything before the one behind it closes.
      for (const each of opened) await each.close();
    },
  };
}

function sameThread(length: number): Mechanism {
  return pushMechanism(async () => ({
    run: async (load, receiver) => {
      const chain = openChain(length, receiver.receive, load.count);
      await emit(load, receiver.sent, chain.send);
      await chain.close();
    },
    close: async () => {},
  }));
}

/** The worker's message is the first hop. */
function fromWorker(length: number): Mechanism {
  return pushMechanism(async () => {
    const worker = openWorker("push-bare");
    let send: Send = () => {};
    await new Promise<void>((ready) => {
      worker.listen((message) => (message === "ready" ? ready() : send(message as PushEvent)));
    });
    return {
      run: async (load, receiver: Receiver) => {
        const chain = openChain(length - 1, receiver.receive, load.count);
        send = chain.send;
        worker.post({ kind: "post", load, sent: receiver.sent });
        await receiver.done;
        await chain.close();
      },
      close: () => worker.end(),
    };
  });
}

export const chains: Record<string, Mechanism> = {
  "one-hop": sameThread(1),
  "two-hops": sameThread(2),
  "three-hops": sameThread(3),
  "worker-one-hop": fromWorker(1),
  "worker-two-hops": fromWorker(2),
  "worker-three-hops": fromWorker(3),
};

// A hand-written queue for one reader: one side calls `push`, the other awaits `take`.

export class AsyncQueue {
  #items: PushEvent[] = [];
  #wake: (() => void) | undefined;

  push(event: PushEvent): void {
    this.#items.push(event);
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Returns all waiting events, and waits for the first one if there is none. */
  async take(): Promise<PushEvent[]> {
    if (this.#items.length === 0) await new Promise<void>((wake) => (this.#wake = wake));
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
