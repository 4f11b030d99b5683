// SPDX-License-Identifier: MIT OR Apache-2.0
// A long-lived HTTP/2 connection with a feed in either direction, held by the main thread or by a worker. The chunks cross between the
// threads one by one. Node only.
import { move, pool } from "clearway";
import { openWorker, workerUrl } from "#lab-host";
import { type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import type { FeedLoad, FeedMessage } from "./feed-client.js";
import { FeedClient } from "./feed-client.js";
import { metered } from "./metered.js";

/** A holder of the connection. The chunks end, or begin, on the main thread. */
interface FeedHolder {
  /** Passes each chunk to the main thread. */
  receive(load: FeedLoad, take: (chunk: Uint8Array) => void): Promise<void>;
  /** Sends the main thread's chunks. Resolves to the number of bytes that the server confirmed. */
  send(load: FeedLoad, chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<number>;
  close(): Promise<void>;
}

/** Bytes of the warm-up, which also opens the connection. */
const WARM_UP_BYTES = 4 << 20;

function feedMechanism(open: (url: string) => Promise<FeedHolder>): Mechanism {
  return async ({ params, fixture }) => {
    const load: FeedLoad = {
      url: fixture.feedUrl,
      bytes: numberParam(params, "feedBytes"),
      chunkBytes: numberParam(params, "chunkBytes"),
    };
    const direction = textParam(params, "direction");
    if (direction !== "from the server" && direction !== "to the server")
      throw new RangeError(`direction must be "from the server" or "to the server": direction=${direction}`);
    const holder = await open(load.url);
    const carry = direction === "from the server" ? received : sent;
    try {
      await carry(holder, { ...load, bytes: Math.min(load.bytes, WARM_UP_BYTES) });
      const measured = await metered(async () => ({ bytes: await carry(holder, load) }));
      const seconds = measured.values["totalRuntime"]!.value / 1000;
      const throughput = { unit: "MB/s" as const, value: load.bytes / 2 ** 20 / seconds };
      return { ...measured, values: { ...measured.values, throughput } };
    } finally {
      await holder.close();
    }
  };
}

async function received(holder: FeedHolder, load: FeedLoad): Promise<number> {
  let bytes = 0;
  await holder.receive(load, (chunk) => {
    bytes += chunk.length;
  });
  return bytes;
}

function sent(holder: FeedHolder, load: FeedLoad): Promise<number> {
  return holder.send(load, chunksOf(load));
}

/** Makes the chunks that the main thread sends. Each has memory of its own, which may be moved. */
async function* chunksOf({ bytes, chunkBytes }: FeedLoad): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let left = bytes; left > 0; left -= chunkBytes) yield new Uint8Array(Math.min(chunkBytes, left)).fill(7);
}

const mainThread = feedMechanism(async (url) => {
  const client = await FeedClient.open(url);
  return {
    receive: async ({ bytes, chunkBytes }, take) => {
      for await (const chunk of client.receive(bytes, chunkBytes)) take(chunk);
    },
    send: (_load, chunks) => client.send(chunks),
    close: async () => client.close(),
  };
});

/** A hand-written worker. One chunk at a time is on its way, and its buffer is transferred. */
const bareWorker = feedMechanism(async () => {
  const worker = openWorker("feed-bare");
  let receive: (message: FeedMessage) => void = () => {};
  worker.listen((message) => receive(message as FeedMessage));
  const post = (message: FeedMessage, transfer: Transferable[] = []) => worker.post(message, transfer);
  return {
    receive: (load, take) =>
      new Promise((resolve, reject) => {
        receive = (message) => {
          if (message.op === "failed") reject(new Error(message.message));
          if (message.op === "end") resolve();
          if (message.op !== "chunk") return;
          take(message.chunk);
          post({ op: "next" });
        };
        post({ op: "receive", load });
      }),
    send: (load, chunks) =>
      new Promise((resolve, reject) => {
        const iterator = chunks[Symbol.asyncIterator]();
        receive = (message) => {
          if (message.op === "failed") reject(new Error(message.message));
          if (message.op === "end") resolve(message.bytes ?? 0);
          if (message.op !== "next") return;
          iterator.next().then(({ done, value }) => {
            if (done) post({ op: "end" });
            else post({ op: "chunk", chunk: value }, [value.buffer]);
          }, reject);
        };
        post({ op: "send", load });
      }),
    close: () => worker.end(),
  };
});

/** Moves the memory of each chunk, as the hand-written worker's transfer list does. A stream into a task copies otherwise. */
async function* moved(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>) {
  for await (const chunk of chunks) yield move(chunk);
}

const clearway = feedMechanism(async () => {
  const workers = pool<typeof import("../work/feed-tasks.js")>(workerUrl("feed-tasks"), { size: 1 });
  return {
    receive: async (load, take) => {
      for await (const chunk of workers.call.receive(load)) take(chunk);
    },
    send: (load, chunks) => workers.call.send(load, moved(chunks)),
    close: () => workers.close(),
  };
});

export const feeds: Record<string, Mechanism> = {
  "main-thread": mainThread,
  "worker-postmessage": bareWorker,
  clearway,
};
