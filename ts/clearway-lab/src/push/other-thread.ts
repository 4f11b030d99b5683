// SPDX-License-Identifier: MIT OR Apache-2.0
// Mechanisms that push events from a worker to the main thread.
import * as Comlink from "comlink";
import { openWorker } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import type { ComlinkSender } from "../work/push-comlink.js";
import { type PushConnection, pushMechanism } from "./measure.js";
import type { PushEvent } from "./pace.js";

/** The bare worker posts "ready" once and then sends events. A run ends when the receiver has all of them. */
export async function openPostMessage(): Promise<PushConnection> {
  const worker = openWorker("push-bare");
  let receive: (event: PushEvent) => void = () => {};
  await new Promise<void>((ready) => {
    worker.listen((message) => (message === "ready" ? ready() : receive(message as PushEvent)));
  });
  return {
    run: async (load, receiver) => {
      receive = receiver.receive;
      worker.post({ kind: "post", load, sent: receiver.sent });
      await receiver.done;
    },
    close: () => worker.end(),
  };
}

/** The worker keeps the writing end of a stream and transfers its reading end to the main thread. */
const webStreamsTransferred = pushMechanism(async () => {
  const worker = openWorker("push-bare");
  let onStream: (stream: ReadableStream<PushEvent>) => void = () => {};
  await new Promise<void>((ready) => {
    worker.listen((message) => (message === "ready" ? ready() : onStream(message as ReadableStream<PushEvent>)));
  });
  return {
    run: async (load, receiver) => {
      const stream = new Promise<ReadableStream<PushEvent>>((resolve) => (onStream = resolve));
      worker.post({ kind: "stream", load, sent: receiver.sent });
      const reader = (await stream).getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) receiver.receive(next.value);
    },
    close: () => worker.end(),
  };
});

const comlinkCallback = pushMechanism(async () => {
  const worker = openWorker("push-comlink");
  const sender = Comlink.wrap<ComlinkSender>(worker.endpoint());
  return {
    run: async (load, receiver) => {
      await sender.send(load, receiver.sent, Comlink.proxy(receiver.receive));
      await receiver.done;
    },
    close: async () => {
      sender[Comlink.releaseProxy]();
      await worker.end();
    },
  };
});

/** WebKit cannot move a stream to another thread. */
function movesStreams(): boolean {
  const stream = new ReadableStream();
  try {
    structuredClone(stream, { transfer: [stream] });
    return true;
  } catch {
    return false;
  }
}

export const otherThread: Record<string, Mechanism | { unavailable: string }> = {
  "worker-postmessage": pushMechanism(openPostMessage),
  "web-streams-transferred": movesStreams()
    ? webStreamsTransferred
    : { unavailable: "streams cannot move to another thread in this browser: use Chromium or Firefox" },
  "comlink-callback": comlinkCallback,
};
