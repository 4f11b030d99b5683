// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's functions for mechanisms. Node's counterpart is node.ts; the build picks one as #lab-host.
import type { Endpoint } from "comlink";
import type { Work } from "../protocol/measured.js";
import { type LabParent, type LabWorker, type PortEnd, type Progress, type Upload, uploadOf } from "./common.js";

export const hostName = "page" as const;

/** A page has no serializer that returns bytes. It has structured clone only. */
export const serializer = undefined;

/**
 * Returns a time in milliseconds that all threads of the page can compare: the thread's time origin plus the thread's clock. The
 * clock of an isolated page has steps of 5 us.
 */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

// A message to the same thread is the fastest way to let the event loop turn. A timer is clamped to 4 ms, and a microtask does not
// yield.
const turnChannel = new MessageChannel();
const pendingTurns: (() => void)[] = [];
turnChannel.port2.onmessage = () => pendingTurns.shift()?.();

/** Lets the event loop turn once, without sleeping. */
export function turn(): Promise<void> {
  return new Promise((done) => {
    pendingTurns.push(done);
    turnChannel.port1.postMessage(0);
  });
}

/** Returns the URL of a worker's built file. The build writes all workers into one flat folder. */
export function workerUrl(name: string): URL {
  return new URL(`./work-${name}.js`, import.meta.url);
}

/** Starts a worker without Clearway, for the reference mechanisms. The caller ends it. */
export function openWorker(name: string): LabWorker {
  const worker = new Worker(workerUrl(name), { type: "module" });
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    listen: (receive) => worker.addEventListener("message", (event) => receive(event.data)),
    onEnd: () => {},
    end: async () => worker.terminate(),
    endpoint: () => worker as Endpoint,
  };
}

/** Returns the other end of `openWorker`. Call it inside the worker. */
export function parent(): LabParent {
  const scope = globalThis as unknown as Worker;
  return {
    post: (message, transfer = []) => scope.postMessage(message, transfer),
    listen: (receive) => scope.addEventListener("message", (event) => receive(event.data)),
    endpoint: () => scope as unknown as Endpoint,
  };
}

/** Wraps one end of a MessageChannel. Works in any thread. */
export function portEnd(port: MessagePort): PortEnd {
  return {
    port,
    post: (message, transfer = []) => port.postMessage(message, transfer),
    listen: (receive) => {
      port.onmessage = (event) => receive(event.data);
    },
    endpoint: () => port as Endpoint,
    close: () => port.close(),
  };
}

/** Returns an upload of the cell's size. Its source is a Blob, which is sent to a worker by reference. */
export function openUpload(work: Work): Upload {
  const upload = uploadOf(work, "");
  return { ...upload, source: new Blob([new Uint8Array(upload.bytes).fill(7)]) };
}

/**
 * Sends the Blob in slices, one POST per slice, because Chromium cannot stream request bodies over HTTP/1.1. Calls `progress`
 * after the server has confirmed a slice. Resolves to the number of bytes that the server confirmed.
 */
export async function sendInChunks(
  upload: Upload,
  progress: (progress: Progress) => void,
  signal?: AbortSignal,
): Promise<number> {
  let receivedBytes = 0;
  for (let from = 0; from < upload.bytes; from += upload.chunkBytes) {
    const to = Math.min(from + upload.chunkBytes, upload.bytes);
    const body = await (upload.source as Blob).slice(from, to).arrayBuffer();
    const response = await fetch(upload.url, { method: "POST", body, ...(signal ? { signal } : {}) });
    receivedBytes += ((await response.json()) as { receivedBytes: number }).receivedBytes;
    progress({ sentBytes: to });
  }
  return receivedBytes;
}
